//! `quorated join`: a new daemon begins to share the store of others. They may be running.

use std::path::PathBuf;

use clap::Args;

use super::serve::{data, read};
use crate::service::{self, ServiceSettings, StartError};
use crate::store::engine::Engine;

/// Arguments of `quorated join`.
#[derive(Debug, Args)]
pub struct JoinArguments {
    /// Configuration file (TOML), which names the database and the root key of the other daemons
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
}

/// Creates the data directory and the guard file of a new daemon.
///
/// # Errors
/// Returns an error if the store is in a directory, if this daemon has a guard file already, or if the store or the data
/// directory cannot be opened.
pub fn run(arguments: &JoinArguments) -> Result<(), StartError> {
    let config = read(&arguments.config)?;
    let mut data = data(&config, false)?;
    if data.engine != Some(Engine::Postgres) {
        let text = "only a store on PostgreSQL can be shared: set engine = \"postgres\" and url in [store]";
        return Err(StartError::Usage(text.to_owned()));
    }
    if data.guard.exists() {
        let text = format!(
            "the guard file {} exists: this daemon shares the store already; run 'quorated serve'",
            data.guard.display()
        );
        return Err(StartError::Other(text));
    }
    data.joins = true;
    drop(service::open(&data, config.limits.resources.clone(), &ServiceSettings::default())?);
    super::print("joined: start the daemon with 'quorated serve'")
}
