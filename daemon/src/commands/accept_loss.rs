//! `quorated accept-loss`: goes on with a store that is not what was acknowledged. The daemon must not be running.

use std::path::PathBuf;

use clap::Args;

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
    let altered = match guard::compare(&barrier) {
        Ok(()) => false,
        Err(GuardError::Altered) => true,
        Err(error) => return Err(error.into()),
    };
    let loss = match guard::check(&data.guard, &barrier) {
        Ok(()) if altered => GuardError::Altered,
        Ok(()) => return super::print("the store is what its guard has seen: nothing was lost"),
        // Nothing would be left to continue with.
        Err(GuardError::Lost { found: None, .. }) => return Err(GuardError::Empty.into()),
        Err(error) if error.is_of_store() => return Err(error.into()),
        Err(loss) => loss,
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
    let end = end.map_or_else(|| "the last backup".to_owned(), clock::text);
    Guard::accept(&data.guard, &barrier, clock::now(), !altered)?;
    let accepted = match loss {
        GuardError::Altered => "the records are taken as they are".to_owned(),
        GuardError::Missing(_) | GuardError::Damaged(_) => {
            format!("the store is taken as complete up to {end}")
        }
        _ => format!("changes after {end} are lost"),
    };
    super::print(&format!("accepted: {accepted}; start the daemon"))
}
