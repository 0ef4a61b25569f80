//! `quorated verify`: checks the records of a store. The daemon must not be running.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::serve::{data, read};
use crate::guard::{self, IndexState};
use crate::service::{self, StartError};
use crate::verify::{self, Report};

/// Printed if the index of waiting activities was not compared.
const OUTDATED: &str = "the index of waiting activities was not compared, because an earlier version of the daemon has changed \
     the store; the daemon builds it again after its next start";

/// Arguments of `quorated verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Configuration file (TOML), which names the store and the root key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// Checks the store and prints the result.
///
/// # Errors
/// Returns an error if the store is damaged, was changed outside the service, or does not match what was
/// acknowledged.
pub fn run(arguments: &VerifyArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let data = data(&config, false)?;
    let barrier = service::open_store(&data)?;
    let Report { records, organizations, problems, index } = verify::verify(&barrier)?;
    if index == IndexState::Outdated {
        // The check is complete without this line, so an error of the stream is ignored.
        let _ = writeln!(std::io::stderr(), "{OUTDATED}");
    }
    for problem in &problems {
        super::print(problem)?;
    }
    let guarded = guard::check(&data.guard, &barrier);
    if problems.is_empty() {
        let noun = if organizations == 1 { "organization" } else { "organizations" };
        super::print(&format!("{records} records of {organizations} {noun} are complete and unchanged"))?;
        return Ok(guarded?);
    }
    if let Err(loss) = guarded {
        super::print(&loss.to_string())?;
    }
    Err(StartError::Altered(problems.len()))
}
