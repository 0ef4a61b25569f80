//! `quorate share` and `quorate unseal`: the letters of a holder, and giving a share to the daemon.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use quorate_common::bundle::TargetPublicKey;
use quorate_common::console::custody::{SealStatus, ShareOutcome, SlotCondition};
use quorate_common::share::{Share, ShareError, ShareLetter};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure, Result};
use crate::files::{self, Folders};
use crate::keys::file::{self, KeyFile};
use crate::keys::passphrase::{self, Source};
use crate::output::Answer;
use crate::session::{Context, Session};
use crate::text::{clean, duration};

/// Maximum size of a letter, in bytes.
const SIZE_LIMIT: u64 = 16 * 1024;

/// Subcommands of `quorate share`.
#[derive(Debug, Subcommand)]
pub(crate) enum ShareCommand {
    /// Decrypt the share in a letter on this machine, and compare it with the set that it was made for
    Check {
        /// File of the letter
        #[arg(value_name = "LETTER")]
        letter: PathBuf,
    },
    /// Show which store, set and holder a letter is for, without a key
    Show {
        /// File of the letter
        #[arg(value_name = "LETTER")]
        letter: PathBuf,
    },
}

pub(super) fn run(folders: &Folders, context: &Context, command: &ShareCommand) -> Result<Answer> {
    match command {
        ShareCommand::Check { letter } => {
            let letter = read(letter)?;
            open(folders, context, &letter)?;
            let text = format!(
                "The share opens with your key, and is the one that was made for this set.\n{}",
                described(&letter)
            );
            Ok(Answer::one(data(&letter, true), text))
        }
        ShareCommand::Show { letter } => {
            let letter = read(letter)?;
            Ok(Answer::one(data(&letter, false), described(&letter)))
        }
    }
}

/// Gives the share in a letter to the daemon.
pub(super) async fn unseal(
    session: &Session,
    folders: &Folders,
    context: &Context,
    letter: &Path,
) -> Result<Answer> {
    let letter = read(letter)?;
    let before = session.client.seal_status().await?;
    let attempt = attempt(&before, &letter)?;
    let share = open(folders, context, &letter)?;
    let mut failed = Ok(());
    let given = share.give(&attempt, &mut |bytes| {
        if getrandom::fill(bytes).is_err() {
            failed = Err(Failure::new(Exit::Failed, "no random bytes available"));
        }
    });
    failed?;
    let outcome = session.client.give_share(&given.map_err(|error| of_letter(&error))?).await?;
    let exit = if outcome.open { Exit::Done } else { Exit::MoreShares };
    let text = outcome_text(&outcome, &letter, before.sealed);
    Ok(Answer { exit, ..Answer::one(serde_json::to_value(&outcome).unwrap_or_default(), text) })
}

/// Returns the key of the attempt that waits for a share of this set.
fn attempt(status: &SealStatus, letter: &ShareLetter) -> Result<TargetPublicKey> {
    let set = &letter.place.set;
    let slot = status.slots.iter().find(|slot| slot.id.as_ref() == Some(set));
    let failed = |text: &str| Err(Failure::new(Exit::Mismatch, text));
    match slot.map(|slot| slot.state) {
        None => failed(
            "the store has no slot for the set of this letter; the letter is of an earlier set, or of another store",
        ),
        Some(SlotCondition::Active) if !status.sealed => Err(Failure::new(
            Exit::Failed,
            "the daemon is open, and the set of this letter is active: nothing waits for its shares",
        )),
        Some(SlotCondition::Pending) if status.sealed => failed(
            "the set of this letter opens nothing yet: its holders have not confirmed it; use the letter of the set before",
        ),
        Some(_) => {
            let key = status.attempt.as_deref().and_then(|key| TargetPublicKey::parse(key).ok());
            key.ok_or_else(|| Failure::new(Exit::Failed, "the daemon waits for no shares"))
        }
    }
}

fn read(path: &Path) -> Result<ShareLetter> {
    let bytes = files::read(path, SIZE_LIMIT)?;
    let missing = || Failure::new(Exit::NotFound, format!("no letter at {}", path.display()));
    ShareLetter::parse(&bytes.ok_or_else(missing)?).map_err(|error| of_letter(&error))
}

/// Decrypts the share with the key file of its holder.
fn open(folders: &Folders, context: &Context, letter: &ShareLetter) -> Result<Share> {
    let key = holder_key(folders, &letter.public_key)?;
    let source = context.passphrase_fd.map_or(Source::Terminal, Source::Descriptor);
    let phrase = passphrase::read(source, "Passphrase of the key: ")?;
    letter.open(&key.decryption_key(&phrase)?).map_err(|error| of_letter(&error))
}

fn holder_key(folders: &Folders, public_key: &str) -> Result<KeyFile> {
    for name in file::names(folders)? {
        let key = KeyFile::load(folders, &name)?;
        if key.public_key() == public_key {
            return Ok(key);
        }
    }
    let text = format!(
        "the letter is for the key {}, of which no key file is here; list yours with `quorate key ls`",
        clean(public_key)
    );
    Err(Failure::new(Exit::NotFound, text))
}

fn of_letter(error: &ShareError) -> Failure {
    let exit = match error {
        ShareError::Letter | ShareError::Version(_) => Exit::Usage,
        _ => Exit::Mismatch,
    };
    Failure::new(exit, error.to_string())
}

fn data(letter: &ShareLetter, is_checked: bool) -> Value {
    let place = &letter.place;
    json!({
        "storeId": place.store_id, "set": place.set, "index": place.index, "threshold": place.threshold,
        "holders": place.holders, "holder": place.holder, "publicKey": letter.public_key,
        "checksum": letter.checksum, "checked": is_checked,
    })
}

fn described(letter: &ShareLetter) -> String {
    let place = &letter.place;
    format!(
        "holder    {}, share {} of {}; {} open the store\nset       {}\nstore     {}\nkey       {}\nchecksum  {}\n",
        clean(&place.holder),
        place.index,
        place.holders,
        place.threshold,
        clean(&place.set),
        clean(&place.store_id),
        clean(&letter.public_key),
        clean(&letter.checksum),
    )
}

/// Returns what the share brought about, and who can give the next one.
fn outcome_text(outcome: &ShareOutcome, letter: &ShareLetter, was_sealed: bool) -> String {
    let holder = clean(&outcome.holder);
    if outcome.open {
        return if was_sealed {
            format!("The share of {holder} opened the store.\n")
        } else {
            format!("The share of {holder} confirmed the set: it opens the store from now on.\n")
        };
    }
    let slot = outcome.status.slots.iter().find(|slot| slot.id.as_ref() == Some(&letter.place.set));
    let others = slot.map(|slot| slot.holders.iter().filter(|holder| !holder.given)).into_iter().flatten();
    let others: Vec<String> = others.map(|holder| clean(&holder.name)).collect();
    let ends = outcome.status.ends_in_seconds.unwrap_or_default().saturating_mul(1000);
    format!(
        "The share of {holder} is given: {} of {}. Give the next one within {}; it can come from {}.\n",
        outcome.given,
        outcome.threshold,
        duration(ends),
        others.join(", "),
    )
}
