//! `quorated verify`: checks the records of a store, whose daemon must not be running, or a backup or a journal.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;

use super::restore;
use super::serve::{data, read};
use crate::backup::Checked;
use crate::barrier::Barrier;
use crate::clock;
use crate::config::Config;
use crate::epoch::Epoch;
use crate::guard::{self, IndexState};
use crate::journal::{Head, History, JournalError, Reader, Seen};
use crate::private_file;
use crate::service::{self, STORE, StartError};
use crate::store::engine::{Engine, Settings};
use crate::vault::{KeySource, Vault};
use crate::verify::{self, Report};

/// Printed if the index of waiting activities was not compared.
const OUTDATED: &str = "the index of waiting activities was not compared, because an earlier version of the daemon has changed \
     the store; the daemon builds it again after its next start";

/// Arguments of `quorated verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Backup or journal to check in place of the store
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Configuration file (TOML), which names the store and the root key; for a file, its key decrypts all records
    #[arg(long, value_name = "FILE", required_unless_present = "file")]
    config: Option<PathBuf>,
}

/// Checks the store, or a backup or a journal, and prints the result.
///
/// # Errors
/// Returns an error if the store or the file is damaged, was changed outside the service, or does not match what was
/// acknowledged.
pub async fn run(VerifyArguments { file, config }: &VerifyArguments) -> Result<(), StartError> {
    let config = config.as_deref().map(read).transpose()?;
    match file {
        // The arguments require one of both.
        None => config.as_ref().map_or(Ok(()), verify_store),
        Some(file) if Reader::is_journal(file) => verify_journal(file, config.as_ref()),
        Some(file) => verify_backup(file, config.as_ref()).await,
    }
}

/// Checks a journal. Its frames are sealed, so nothing of them can be checked without the key.
fn verify_journal(path: &Path, config: Option<&Config>) -> Result<(), StartError> {
    let mut reader = Reader::open(path)?;
    let Head { store_id, begun, .. } = reader.head.clone();
    let begin = format!("journal of store {store_id}, begun {}", clock::text(begun));
    let Some(config) = config else {
        return super::print(&format!(
            "{begin}: what it contains was not decrypted: name the configuration of its daemon (--config)"
        ));
    };
    let data = data(config, false)?;
    let vault = Vault::open(&data.folder, &data.key)?;
    if vault.store_id() != store_id {
        return Err(JournalError::OtherStore(path.to_owned()).into());
    }
    let all = reader.all(vault.journal())?;
    let history = History::of(&all);
    let committed: Vec<&Seen> = history.committed.iter().filter_map(|at| all.get(*at)).collect();
    let changes: usize = committed.iter().map(|seen| seen.changes).sum();
    let until = committed.last().map(|seen| format!(" until {}", clock::text(seen.time))).unwrap_or_default();
    let noun = if changes == 1 { "change" } else { "changes" };
    let state = if reader.is_whole() { "whole" } else { "its last frame was not written completely" };
    super::print(&format!("{begin}: {state}, with {changes} {noun} of organizations{until}"))?;
    for (after, until) in &history.gaps {
        super::print(&format!(
            "changes between {} and {} are missing",
            clock::text(*after),
            clock::text(*until)
        ))?;
    }
    Ok(())
}

async fn verify_backup(backup: &Path, config: Option<&Config>) -> Result<(), StartError> {
    let (file, checked, header) = restore::open(backup)?;
    let Checked { head, trailer } = &checked;
    super::print(&format!(
        "backup of store {}: whole, with {} records and {} changes until {}; the signature is valid for the key {}",
        head.store_id,
        trailer.records,
        trailer.changes,
        clock::text(trailer.ended),
        head.public_key
    ))?;
    let Some(config) = config else {
        return super::print(
            "what it contains was not decrypted: name a configuration with its root key (--config)",
        );
    };
    let data = data(config, false)?;
    warn_of_key(backup, &data.key);
    let vault = restore::vault(config, &data, &header).await?;
    let failed = |error: std::io::Error| StartError::Backup(error.into());
    let private = std::fs::Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().permissions(private).tempdir().map_err(failed)?;
    let settings = Settings { engine: Engine::Redb, ..Settings::default() };
    let store = settings.create(&folder.path().join(STORE))?;
    report(&restore::load(&file, &checked, vault, store)?)
}

/// Warns if the backup lies beside the key that opens it.
fn warn_of_key(backup: &Path, key: &KeySource) {
    let folder = private_file::folder(backup).canonicalize();
    let KeySource::File(key) = key else { return };
    let is_beside = folder.is_ok_and(|folder| key.canonicalize().is_ok_and(|key| key.starts_with(folder)));
    if is_beside {
        // The check is complete without this line, so an error of the stream is ignored.
        let _ = writeln!(
            std::io::stderr(),
            "the key {} is in the folder of the backup: who has both can read everything",
            key.display()
        );
    }
}

/// Checks the store of a configuration.
fn verify_store(config: &Config) -> Result<(), StartError> {
    let data = data(config, false)?;
    let barrier = service::open_store(&data)?;
    let reported = report(&barrier);
    let guarded = guard::check(&data.guard, &barrier).and_then(|()| match &data.journal {
        Some(journal) => guard::check_journal(&data.guard, &barrier, journal, Epoch::read(&barrier)?.number),
        None => Ok(()),
    });
    if reported.is_ok() {
        return Ok(guarded?);
    }
    if let Err(loss) = guarded {
        super::print(&loss.to_string())?;
    }
    reported
}

/// Checks all records and prints what is wrong with them.
fn report(barrier: &Barrier) -> Result<(), StartError> {
    let Report { records, organizations, problems, index } = verify::verify(barrier)?;
    if index == IndexState::Outdated {
        // The check is complete without this line, so an error of the stream is ignored.
        let _ = writeln!(std::io::stderr(), "{OUTDATED}");
    }
    for problem in &problems {
        super::print(problem)?;
    }
    if problems.is_empty() {
        let noun = if organizations == 1 { "organization" } else { "organizations" };
        return super::print(&format!(
            "{records} records of {organizations} {noun} are complete and unchanged"
        ));
    }
    Err(StartError::Altered(problems.len()))
}
