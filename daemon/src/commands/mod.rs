//! The command line of the daemon.

mod credentials;
mod demo;
pub mod dev;
pub mod init;
pub mod serve;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use tokio_util::sync::CancellationToken;

use crate::service::StartError;

/// Key management that a team runs itself: the daemon.
#[derive(Debug, Parser)]
#[command(name = "quorated", version, about, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What the daemon can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve for real, as the configuration says
    Serve {
        /// Configuration file (TOML)
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Found an organization: its root users, how many of them must agree, and their public keys
    Init(init::InitArguments),
    /// Serve a throw-away organization on this machine, with something to approve
    Dev(dev::DevArguments),
}

/// Cancelled by SIGTERM or SIGINT.
pub(crate) fn stop_signal() -> Result<CancellationToken, StartError> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| StartError::Other(format!("signals cannot be handled: {error}"));
    let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
    let stop = CancellationToken::new();
    let cancelled = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        cancelled.cancel();
    });
    Ok(stop)
}

/// Writes a file for its owner only, whole or not at all.
pub(crate) fn write_private(path: &std::path::Path, bytes: &[u8]) -> Result<(), StartError> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let failed =
        |error: std::io::Error| StartError::Other(format!("cannot write {}: {error}", path.display()));
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let temporary = PathBuf::from(name);
    let mut options = std::fs::OpenOptions::new();
    let mut file =
        options.write(true).create(true).truncate(true).mode(0o600).open(&temporary).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&temporary, path).map_err(failed)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = std::fs::File::open(folder.unwrap_or(std::path::Path::new("."))).map_err(failed)?;
    folder.sync_all().map_err(failed)
}

/// Prints a line of data to standard output.
pub(crate) fn print(text: &str) -> Result<(), StartError> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{text}")
        .map_err(|error| StartError::Other(format!("cannot write to standard output: {error}")))
}
