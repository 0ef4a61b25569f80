//! The command line of the daemon.

pub mod accept_clock;
pub mod accept_loss;
pub mod clear_ip_allowlist;
mod credentials;
mod demo;
pub mod dev;
pub mod init;
pub mod quorum_key;
pub mod serve;
pub mod verify;

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use tokio_util::sync::CancellationToken;

use crate::private_file;
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
    /// Take requests of an organization from any address again, when its IP allowlist has locked everybody out
    ClearIpAllowlist(clear_ip_allowlist::ClearArguments),
    /// Show the public keys by which clients know that a bundle comes from this service
    QuorumKey(quorum_key::QuorumKeyArguments),
    /// Check that every record of the store is complete and unchanged
    Verify(verify::VerifyArguments),
    /// Go on with a store that lost acknowledged changes
    AcceptLoss(accept_loss::AcceptLossArguments),
    /// Go on with the system's clock after it was far ahead and was set back
    AcceptClock(accept_clock::AcceptClockArguments),
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
        let signal = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!(signal, "stopping");
        cancelled.cancel();
    });
    Ok(stop)
}

/// Writes a file for its owner only, whole or not at all.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StartError> {
    private_file::replace(path, bytes)
        .map_err(|error| StartError::Other(format!("cannot write {}: {error}", path.display())))
}

/// Fails unless the word is given, or typed after this question.
pub(crate) fn confirm(question: &str, word: &str, given: Option<&str>) -> Result<(), StartError> {
    let typed = match given {
        Some(given) => given.to_owned(),
        None => typed(question, word)?,
    };
    if typed == word {
        Ok(())
    } else {
        Err(StartError::Other(format!("nothing was changed: the word to type is `{word}`")))
    }
}

fn typed(question: &str, word: &str) -> Result<String, StartError> {
    use std::io::{BufRead, Write};
    let failed = |error: std::io::Error| StartError::Other(format!("the terminal cannot be used: {error}"));
    let mut out = std::io::stderr().lock();
    write!(out, "{question}\nType `{word}` to go on all the same: ")
        .and_then(|()| out.flush())
        .map_err(failed)?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    Ok(line.trim().to_owned())
}

/// Prints a line of data to standard output.
pub(crate) fn print(text: &str) -> Result<(), StartError> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{text}")
        .map_err(|error| StartError::Other(format!("cannot write to standard output: {error}")))
}
