//! The command line of the daemon.

pub mod accept_clock;
pub mod accept_loss;
pub mod backup;
pub mod clear_ip_allowlist;
mod credentials;
mod daemon;
mod demo;
pub mod dev;
pub mod init;
pub mod join;
pub mod manual;
pub mod quorum_key;
pub mod rekey;
pub mod release;
pub mod remove_mfa_policies;
pub mod restore;
pub mod rotate;
pub mod seal;
pub mod serve;
pub mod slot;
pub mod store;
pub mod verify;

use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use tokio_util::sync::CancellationToken;

use crate::private_file;
use crate::service::StartError;

/// Text after the help.
const EXAMPLES: &str = "\
Examples:
  quorated dev                                      try it; its data is removed when it ends
  quorated init --config quorated.toml --name treasury --threshold 2 \\
    --root-user mira=02ab... --root-user jo=03cd...  create an organization
  quorated serve --config quorated.toml             serve it
  quorated verify --config quorated.toml            check every record of the store

Exit codes are in the book, on the page Exit codes.";

/// The Quorate daemon: self-hosted key management for teams
#[derive(Debug, Parser)]
#[command(name = "quorated", version, about, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    /// Subcommand to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Subcommands of `quorated`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the API and the console socket as configured
    Serve {
        /// Configuration file (TOML)
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
        /// Wait for shares, whatever else the configuration names
        #[arg(long)]
        sealed: bool,
    },
    /// Create an organization with its root users, their public keys and the approval threshold
    Init(init::InitArguments),
    /// Let a new daemon share the store of others on PostgreSQL
    ///
    /// Run it once on the machine of the new daemon, with a configuration that names the same database and root key.
    Join(join::JoinArguments),
    /// Remove the IP allowlist of an organization whose users are all locked out
    ClearIpAllowlist(clear_ip_allowlist::ClearArguments),
    /// Remove the MFA policies of a user who lost a required authentication method
    RemoveMfaPolicies(remove_mfa_policies::RemoveArguments),
    /// Show the public keys with which clients verify that a bundle comes from this service
    ///
    /// While the daemon runs, it serves them at GET /public/v1/discovery/quorum-key, also on the local socket,
    /// and `quorate status` shows `quorumPublicKey`.
    QuorumKey(quorum_key::QuorumKeyArguments),
    /// Check that every record of the store is complete and unchanged
    ///
    /// Opening the store truncates the log of sled at the first byte that cannot be read, and returns a damaged file of
    /// redb to its last complete commit. If the store may be damaged, copy the data directory first.
    Verify(verify::VerifyArguments),
    /// Write all records of the store to one encrypted file, also while the daemon serves
    ///
    /// The file contains the header of the store with its slots: what opens the store also opens the backup.
    Backup(backup::BackupArguments),
    /// Create a store from a backup
    ///
    /// The new store begins another epoch: requests from before are refused, what expires has ended, and it accepts changes
    /// only after 'quorated release'.
    Restore(restore::RestoreArguments),
    /// Let a restored store accept changes
    Release(release::ReleaseArguments),
    /// Continue with a store that lost acknowledged changes
    AcceptLoss(accept_loss::AcceptLossArguments),
    /// Continue from the system clock after it was far ahead and was set back
    AcceptClock(accept_clock::AcceptClockArguments),
    /// Split the key of a new slot into shares, one letter for each holder
    ///
    /// The daemon must be running. The slot opens the store once enough holders have given their shares with 'quorate
    /// unseal'; until then, nothing changes.
    Rekey(rekey::RekeyArguments),
    /// Seal all records with another key from now on
    ///
    /// The daemon does so by itself after 90 days or 2^31 sealings. Records of earlier keys are sealed again in the background.
    Rotate(rotate::RotateArguments),
    /// Forget all keys until enough holders have given their shares
    ///
    /// The daemon ends all requests and starts again without keys. It then answers its local socket only.
    Seal(seal::SealArguments),
    /// List, add or remove what opens the store
    #[command(subcommand)]
    Slot(slot::SlotCommand),
    /// Show what a store contains, or copy it to another engine or folder
    Store(store::StoreArguments),
    /// Serve a throwaway organization on this machine, with demo activities to approve
    Dev(Box<dev::DevArguments>),
    /// Print a completion script for a shell
    Completion {
        /// Shell that runs the script
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command to a folder
    #[command(hide = true)]
    Man {
        /// Folder, which is created if missing
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

/// Prints why the arguments are invalid, and ends the program. A subcommand that exists below another one is suggested.
pub fn reject(mut error: clap::Error) -> ! {
    if let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(full) = nested(typed)
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![full]));
    }
    error.exit()
}

/// Returns the names of a subcommand that another one has.
fn nested(name: &str) -> Option<String> {
    let program = Arguments::command();
    let has = |outer: &&clap::Command| outer.find_subcommand(name).is_some();
    let outer = program.get_subcommands().find(has)?;
    Some(format!("{} {name}", outer.get_name()))
}

/// Returns a token that SIGTERM or SIGINT cancels.
pub(crate) fn stop_signal() -> Result<CancellationToken, StartError> {
    use tokio::signal::unix::{SignalKind, signal};
    let failed = |error: std::io::Error| StartError::Other(format!("cannot handle signals: {error}"));
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

/// Writes a file atomically, readable by its owner only.
pub(crate) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), StartError> {
    private_file::replace(path, bytes)
        .map_err(|error| StartError::Other(format!("cannot write {}: {error}", path.display())))
}

/// Returns an error unless the confirmation is given as an argument or typed after this question.
pub(crate) fn confirm(question: &str, word: &str, given: Option<&str>) -> Result<(), StartError> {
    let typed = match given {
        Some(given) => given.to_owned(),
        None => typed(question, word)?,
    };
    if typed == word {
        Ok(())
    } else {
        Err(StartError::Other(format!(
            "nothing was changed: type the word `{word}` to confirm, or add --confirm {word}"
        )))
    }
}

fn typed(question: &str, word: &str) -> Result<String, StartError> {
    use std::io::{BufRead, Write};
    let failed = |error: std::io::Error| StartError::Other(format!("cannot use the terminal: {error}"));
    let mut out = std::io::stderr().lock();
    write!(out, "{question}\nType `{word}` to continue: ").and_then(|()| out.flush()).map_err(failed)?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(failed)?;
    Ok(line.trim().to_owned())
}

/// Prints a line to standard output.
pub(crate) fn print(text: &str) -> Result<(), StartError> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{text}")
        .map_err(|error| StartError::Other(format!("cannot write to standard output: {error}")))
}
