//! `quorated verify`: checks a store. The daemon must not be running.

use std::path::PathBuf;

use clap::Args;

use super::serve::{data, read};
use crate::guard;
use crate::service::{self, StartError};
use crate::verify::{self, Report};

/// Arguments of `quorated verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Configuration file (TOML); names the store and the key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// Checks the store and prints what it found.
///
/// # Errors
/// When the store is damaged, changed by others, or not what was acknowledged.
pub fn run(arguments: &VerifyArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let data = data(&config, false)?;
    let barrier = service::open_store(&data)?;
    let guarded = if guard::has_mark(&barrier)? { guard::check(&data.guard, &barrier) } else { Ok(()) };
    let Report { records, organizations, problems } = verify::verify(&barrier)?;
    for problem in &problems {
        super::print(problem)?;
    }
    guarded?;
    if !problems.is_empty() {
        return Err(StartError::Altered(problems.len()));
    }
    super::print(&format!("{records} records of {organizations} organizations are complete and unchanged"))
}
