//! `quorated accept-loss`: continues with a store that does not match what was acknowledged. The daemon must
//! not be running.

use std::path::PathBuf;

use clap::Args;

use super::serve::{data, read};
use crate::barrier::Barrier;
use crate::clock;
use crate::epoch::Epoch;
use crate::guard::{self, Guard, GuardError};
use crate::journal::JournalError;
use crate::service::{self, Data, StartError};
use crate::store::engine::Engine;
use crate::verify;

/// Word that confirms the command.
const WORD: &str = "lost";

/// Arguments of `quorated accept-loss`.
#[derive(Debug, Args)]
pub struct AcceptLossArguments {
    /// Configuration file (TOML), which names the store and the root key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Confirm without a terminal, with the word `lost`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
}

/// Makes the guard accept the store as it is, once the operator has typed the confirmation.
///
/// # Errors
/// Returns an error if nothing was lost, no organization can be read, the confirmation is wrong, or the store or the guard file cannot be
/// written.
pub fn run(arguments: &AcceptLossArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let data = data(&config, false)?;
    let is_shared = data.engine == Some(Engine::Postgres);
    let barrier = service::open_store(&data).map_err(|error| match error {
        error if is_shared => error.advise_in_use(|| {
            format!(
                "or, if what this daemon alone has acknowledged need not be checked, move its data directory {} away and \
                 run 'quorated join'",
                data.folder.display()
            )
        }),
        error => error,
    })?;
    let altered = match guard::compare(&barrier) {
        Ok(()) => false,
        Err(GuardError::Altered) => true,
        Err(error) => return Err(error.into()),
    };
    let is_marked = guard::is_marked(barrier.store().as_ref())?;
    let loss = match guard::check(&data.guard, &barrier) {
        Ok(()) if altered => GuardError::Altered,
        Ok(()) => match check_journal(&data, &barrier) {
            Err(loss @ GuardError::Journal(JournalError::Ahead(_))) => loss,
            checked => {
                checked?;
                return super::print("nothing to accept: the store matches its guard file");
            }
        },
        // The store is empty: there is nothing to continue with.
        Err(GuardError::Lost { .. }) if !is_marked => return Err(GuardError::Empty.into()),
        Err(error) if error.is_of_store() => return Err(error.into()),
        Err(loss) => loss,
    };
    if altered && !matches!(loss, GuardError::Altered) {
        super::print(&GuardError::Altered.to_string())?;
    }
    let (readable, unreadable) = verify::organizations(&barrier)?;
    if readable == 0 && unreadable > 0 {
        return Err(StartError::Unreadable(unreadable));
    }
    // The rest of the message names remedies, this command among them.
    let message = loss.to_string();
    let loss_text = message.split_once("; restore").map_or(message.as_str(), |(what, _)| what);
    let question = format!(
        "{loss_text}\n\nIf you continue, acknowledged changes may be undone: deleted keys may work again, and \
         requests that have been executed may be executed again.{}",
        not_served(readable, unreadable)
    );
    super::confirm(&question, WORD, arguments.confirm.as_deref())?;
    let end = guard::end(&barrier).unwrap_or_default();
    let end = end.map_or_else(|| "the last backup".to_owned(), clock::text);
    let (guard, _) = Guard::accept(&data.guard, &barrier, clock::now(), !altered)?;
    void_journal(&data, &barrier, &guard)?;
    let accepted = match loss {
        GuardError::Altered => "the records are accepted as they are".to_owned(),
        GuardError::Missing(_) | GuardError::MissingOnShared(_) | GuardError::Damaged(_) => {
            format!("the store is accepted as complete up to {end}")
        }
        GuardError::Lost { store_time: Some(time), guard_time, .. } if time > guard_time => {
            "the store is accepted as the other daemons have continued with it".to_owned()
        }
        _ => format!(
            "changes after {end} are lost, and consoles that saw them exit with 11 until 'quorate log accept'"
        ),
    };
    super::print(&format!("accepted: {accepted}; start the daemon"))
}

/// Describes the organizations that cannot be read, if there are any.
fn not_served(readable: u64, unreadable: u64) -> String {
    match unreadable {
        0 => String::new(),
        _ => format!(
            " Organizations that cannot be read and will not be served: {unreadable} of {}.",
            readable.saturating_add(unreadable)
        ),
    }
}

/// Makes changes of the journal void that the store lost.
fn void_journal(data: &Data, barrier: &Barrier, guard: &Guard) -> Result<(), GuardError> {
    match (&data.journal, check_journal(data, barrier)) {
        (Some(path), Err(GuardError::Journal(JournalError::Ahead(_)))) => guard.void_journal(path, barrier),
        // The daemon reports one that cannot be read when it starts.
        _ => Ok(()),
    }
}

/// Checks that the store has all changes of its journal.
fn check_journal(data: &Data, barrier: &Barrier) -> Result<(), GuardError> {
    let Some(journal) = &data.journal else { return Ok(()) };
    guard::check_journal(&data.guard, barrier, journal, Epoch::read(barrier)?.number)
}
