//! `quorated accept-loss`: goes on with a store that is not what was acknowledged. The daemon must not be running.

use std::path::PathBuf;

use clap::Args;
use quorate_core::refusal::Corrupt;

use super::serve::{data, read};
use crate::clock;
use crate::guard::{self, Guard, GuardError};
use crate::service::{self, StartError};

/// What must be typed.
const WORD: &str = "lost";

/// Arguments of `quorated accept-loss`.
#[derive(Debug, Args)]
pub struct AcceptLossArguments {
    /// Configuration file (TOML); names the store and the key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Confirm without a terminal: the word `lost`
    #[arg(long, value_name = "WORD")]
    confirm: Option<String>,
}

/// Makes the guard take the store as it is, after a typed word.
///
/// # Errors
/// When nothing was lost, the word is not typed, or the store or the guard file cannot be written.
pub fn run(arguments: &AcceptLossArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let data = data(&config, false)?;
    let barrier = service::open_store(&data)?;
    let compared = guard::compare(&barrier);
    let altered = matches!(compared, Err(GuardError::Altered));
    let loss = match (guard::check(&data.guard, &barrier), compared) {
        (_, Err(error)) if !altered => return Err(error.into()),
        (Ok(()), Ok(())) => return super::print("the store is what its guard has seen: nothing was lost"),
        // Nothing would be left to go on with.
        (Err(GuardError::Lost { found: None, .. }), _) => return Err(GuardError::Empty.into()),
        (
            Err(
                error
                @ (GuardError::Store(_) | GuardError::Corrupt(Corrupt::Store(_) | Corrupt::Unavailable)),
            ),
            _,
        ) => return Err(error.into()),
        (Ok(()), Err(loss)) | (Err(loss), _) => loss,
    };
    if altered && !matches!(loss, GuardError::Altered) {
        super::print(&GuardError::Altered.to_string())?;
    }
    let question = format!(
        "{loss}\n\nChanges that were acknowledged may be undone: deleted keys may work again, and requests that ran may \
         run again."
    );
    super::confirm(&question, WORD, arguments.confirm.as_deref())?;
    let end = guard::end(&barrier).unwrap_or_default();
    Guard::accept(&data.guard, &barrier, clock::now(), !altered)?;
    if matches!(loss, GuardError::Altered) {
        return super::print("accepted: the records are taken as they are; start the daemon");
    }
    let after = end.map_or_else(|| "the last backup".to_owned(), clock::text);
    if matches!(loss, GuardError::Missing(_) | GuardError::Damaged(_)) {
        return super::print(&format!(
            "accepted: the store is taken as complete up to {after}; start the daemon"
        ));
    }
    super::print(&format!("accepted: changes after {after} are lost; start the daemon"))
}
