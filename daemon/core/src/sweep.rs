//! Removing, step by step, what may be too much to remove at once: the accounts of wallets that are gone.

use crate::model::WalletAccount;
use crate::model::change::account_removal;
use crate::model::layout::{self, Key};
use crate::model::record::Record;
use crate::model::write::Write;
use crate::pipeline::Commit;
use crate::records;
use crate::refusal::Corrupt;
use crate::world::{Page, World};

/// How many accounts one step removes.
const STEP: usize = 64;

/// How many leftovers are looked at for one that can be swept.
const MARKS: usize = 64;

/// The next step; nothing when nothing is left over. Doing a step twice does no harm. What cannot be read is left
/// where it is, and told if nothing else is left.
pub fn step(world: &dyn World) -> Result<Option<Commit>, Corrupt> {
    let marks = world.records().keys(Page::first(layout::LEFTOVERS, MARKS))?;
    let mut flaw = None;
    for mark in marks {
        match step_of(world, mark) {
            Ok(commit) => return Ok(Some(commit)),
            Err(corrupt) => flaw = Some(corrupt),
        }
    }
    flaw.map_or(Ok(None), Err)
}

fn step_of(world: &dyn World, mark: Key) -> Result<Commit, Corrupt> {
    let (organization, wallet) = layout::leftover_wallet(&mark).ok_or(Corrupt::Record("leftover"))?;
    let head = records::head(world.records(), organization)?.ok_or(Corrupt::Record("leftover"))?;
    let prefix = layout::accounts(organization, Some(wallet));
    let rows = world.records().page(Page::first(&prefix, STEP))?;
    let mut commit = Commit::default();
    for (_, bytes) in &rows {
        let account = WalletAccount::decode(bytes)?;
        commit.writes.extend(account_removal(&head, &account, world.index()));
    }
    if rows.len() < STEP {
        commit.writes.push(Write::remove(mark));
    }
    Ok(commit)
}
