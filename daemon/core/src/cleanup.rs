//! Cleanup in the background: removes the accounts of deleted wallets in steps, since they may be too many
//! for one commit. A deleted wallet leaves a tombstone until its accounts are removed. Also removes the records of
//! sign-in flows, the events of messages, and import keys, at their due times.

use crate::error::Corrupt;
use crate::model::change::account_removal;
use crate::model::import_target;
use crate::model::layout::{self, Key, sign_in};
use crate::model::record::Record;
use crate::model::write::Write;
use crate::model::{Millis, WalletAccount};
use crate::pipeline::Commit;
use crate::records;
use crate::world::{Page, World};

/// Maximum number of accounts that one step removes.
const STEP: usize = 64;

/// Maximum number of tombstones that one step examines, to find one that can be cleaned up.
const TOMBSTONES: usize = 64;

/// Returns the next step, or `None` if there is nothing to clean up. A step may be repeated. A tombstone that
/// cannot be cleaned up is skipped.
///
/// # Errors
/// If every tombstone that was examined is skipped, or the store cannot be read.
pub fn step(world: &dyn World, now: Millis) -> Result<Option<Commit>, Corrupt> {
    let due = due_records(world, now)?;
    if !due.writes.is_empty() {
        return Ok(Some(due));
    }
    let tombstones = world.records().keys(Page::first(layout::TOMBSTONES, TOMBSTONES))?;
    let mut error = None;
    for tombstone in tombstones {
        match step_of(world, tombstone) {
            Ok(commit) => return Ok(Some(commit)),
            Err(corrupt) => error = Some(corrupt),
        }
    }
    error.map_or(Ok(None), Err)
}

/// Returns a commit that schedules the removal of some import keys, and the last of their store keys, after which the
/// next call continues; `None` after the last one. Earlier versions scheduled none.
///
/// # Errors
/// If the store cannot be read.
pub fn schedule_import_keys(
    world: &dyn World,
    after: Option<&[u8]>,
) -> Result<Option<(Commit, Key)>, Corrupt> {
    let page = Page { after, ..Page::first(layout::IMPORT_TARGETS, STEP) };
    let keys = world.records().keys(page)?;
    let writes = keys.iter().map(|key| import_target::removal(key)).collect();
    Ok(keys.into_iter().next_back().map(|last| (Commit { writes, ..Commit::default() }, last)))
}

/// Returns the removal of the records that are due.
fn due_records(world: &dyn World, now: Millis) -> Result<Commit, Corrupt> {
    let mut commit = Commit::default();
    for scheduled in world.records().keys(Page::first(sign_in::SCHEDULE, STEP))? {
        let (due, record) = sign_in::of_due(&scheduled).ok_or(Corrupt::Record("schedule of removals"))?;
        if due > now {
            break;
        }
        commit.writes.extend(sign_in::listing(&record).map(|(listed, _)| Write::remove(listed)));
        commit.writes.extend([Write::remove(record), Write::remove(scheduled)]);
    }
    Ok(commit)
}

fn step_of(world: &dyn World, tombstone: Key) -> Result<Commit, Corrupt> {
    let (organization, wallet) = layout::tombstone_wallet(&tombstone).ok_or(Corrupt::Record("tombstone"))?;
    let head = records::head(world.records(), organization)?.ok_or(Corrupt::Record("tombstone"))?;
    let prefix = layout::accounts(organization, Some(wallet));
    let rows = world.records().page(Page::first(&prefix, STEP))?;
    let mut commit = Commit::default();
    for (_, bytes) in &rows {
        let account = WalletAccount::decode(bytes)?;
        commit.writes.extend(account_removal(&head, &account, world.index()));
    }
    if rows.len() < STEP {
        commit.writes.push(Write::remove(tombstone));
    }
    Ok(commit)
}
