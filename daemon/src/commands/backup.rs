//! `quorated backup`: writes all records of a store to one file.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use quorate_common::console::custody::{BackupFailure, StoredBackup};
use serde_json::{Value, json};

use super::serve::{data, read};
use super::{daemon, stop_signal};
use crate::activity_log;
use crate::backup::{self, BackupError, Checked, Checker, Source};
use crate::clock;
use crate::config::Config;
use crate::private_file::Draft;
use crate::service::{self, StartError};
use crate::vault::Header;

/// Time between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(1);
/// Number of bytes in a mebibyte.
const MIB: u64 = 1024 * 1024;

/// Arguments of `quorated backup`.
#[derive(Debug, Args)]
pub struct BackupArguments {
    /// Configuration file (TOML), which names the socket of the daemon, and the store
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// File to create, or `-` for the standard output
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Writes a backup, through the running daemon if there is one.
///
/// # Errors
/// Returns an error if the store cannot be read, or the backup cannot be written whole.
pub async fn run(arguments: &BackupArguments) -> Result<(), StartError> {
    let BackupArguments { config, to, json } = arguments;
    let config = read(config)?;
    let is_output = to == Path::new("-");
    let stop = stop_signal()?;
    let output = Output::begin(to)?;
    let draft = output.draft();
    // What is written to may block for any time.
    let written = tokio::spawn(write(config, to.clone(), output));
    let checked = tokio::select! {
        written = written => written.map_err(|error| StartError::Other(error.to_string()))??,
        () = stop.cancelled() => {
            if let Some(draft) = draft {
                // What remains of it is useless, but harmless.
                let _ = fs::remove_file(draft);
            }
            return Err(StartError::Other("stopped: no backup was written".to_owned()));
        }
    };
    report(&checked, is_output, *json)
}

/// Writes a backup, and records that it is durable.
async fn write(config: Config, to: PathBuf, mut output: Output) -> Result<Checked, StartError> {
    let mut parts = match daemon::stream(&config, "backup").await {
        Ok(parts) => parts,
        Err(StartError::NoDaemon(_)) => {
            // Files and databases are read.
            let written = tokio::task::spawn_blocking(move || offline(&config, output)).await;
            return written.map_err(|error| StartError::Other(error.to_string()))?;
        }
        Err(error) => return Err(error),
    };
    // A connection that ends leaves the backup incomplete.
    while let Some(part) = parts.next().await.unwrap_or_default() {
        output.write_all(&part).map_err(|error| unwritten(&to, &error))?;
    }
    let checked = match output.finish() {
        Err(BackupError::Damaged(_)) => return Err(incomplete(&config).await),
        Err(BackupError::System(error)) => return Err(unwritten(&to, &error)),
        checked => checked?,
    };
    let stored = StoredBackup { ended: checked.trailer.ended };
    // The backup is whole, whether the daemon records that or not.
    let recorded: Result<Value, StartError> = daemon::request(&config, "backup/stored", Some(&stored)).await;
    if let Err(error) = recorded {
        let _ = writeln!(io::stderr(), "the daemon does not know of the backup: {error}");
    }
    Ok(checked)
}

/// Returns why the daemon did not complete the backup.
async fn incomplete(config: &Config) -> StartError {
    let failure: Result<BackupFailure, _> = daemon::request(config, "backup", None::<&Value>).await;
    let why = failure.ok().and_then(|failure| failure.failure);
    let why = why.unwrap_or_else(|| "the connection to the daemon ended".to_owned());
    StartError::Other(format!("no backup was written: {why}"))
}

fn unwritten(to: &Path, error: &io::Error) -> StartError {
    let error = io::Error::new(error.kind(), format!("{}: {error}", to.display()));
    BackupError::System(error).into()
}

/// Writes a backup of a store that no daemon serves.
fn offline(config: &Config, mut output: Output) -> Result<Checked, StartError> {
    let data = data(config, false)?;
    let barrier = service::open_store(&data)?;
    let local = Header::read(&data.folder)?;
    let stored = service::database_header(barrier.store().as_ref(), &data.folder)?;
    let header = stored.or(local).ok_or_else(|| StartError::Other("the store has no header".to_owned()))?;
    let source = Source {
        store: barrier.store().as_ref(),
        keys: barrier.vault().backups(),
        header: &header,
        log: activity_log::checkpoint(&barrier)?,
        recorder: None,
        is_served: false,
        flush: &|| Ok(()),
    };
    backup::write(&source, &mut output)?;
    Ok(output.finish()?)
}

fn report(Checked { head, trailer }: &Checked, is_output: bool, json: bool) -> Result<(), StartError> {
    let text = if json {
        json!({ "storeId": head.store_id, "begun": head.begun, "ended": trailer.ended, "records": trailer.records,
            "changes": trailer.changes, "bytes": trailer.bytes, "publicKey": head.public_key })
        .to_string()
    } else {
        format!(
            "backup of store {}: {} records and {} changes until {}, signed with the key {}",
            head.store_id,
            trailer.records,
            trailer.changes,
            clock::text(trailer.ended),
            head.public_key
        )
    };
    if is_output {
        // The standard output has the backup.
        return writeln!(io::stderr(), "{text}").map_err(|error| BackupError::from(error).into());
    }
    super::print(&text)
}

/// Where a backup is written. Checks what is written.
struct Output {
    to: Target,
    checker: Checker,
    written: u64,
    shown: Option<Instant>,
}

enum Target {
    File(Draft),
    Standard(io::Stdout),
}

impl Output {
    fn begin(to: &Path) -> Result<Self, StartError> {
        let to = if to == Path::new("-") {
            if io::stdout().is_terminal() {
                return Err(StartError::Usage(
                    "a backup cannot be shown in a terminal: name a file".to_owned(),
                ));
            }
            Target::Standard(io::stdout())
        } else {
            let failed = |error| StartError::Usage(format!("{}: {error}", to.display()));
            Target::File(Draft::begin(to).map_err(failed)?)
        };
        let shown = io::stderr().is_terminal().then(Instant::now);
        Ok(Self { to, checker: Checker::default(), written: 0, shown })
    }

    /// Returns the path of the file that has no name yet.
    fn draft(&self) -> Option<PathBuf> {
        match &self.to {
            Target::File(draft) => Some(draft.temporary().to_owned()),
            Target::Standard(_) => None,
        }
    }

    /// Ends the backup, which must be whole.
    fn finish(self) -> Result<Checked, BackupError> {
        let checked = self.checker.finish()?;
        match self.to {
            Target::File(draft) => draft.finish()?,
            Target::Standard(mut output) => output.flush()?,
        }
        Ok(checked)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            Target::File(draft) => draft.write_all(bytes)?,
            Target::Standard(output) => output.write_all(bytes)?,
        }
        self.checker.feed(bytes).map_err(io::Error::other)?;
        self.written = self.written.saturating_add(bytes.len() as u64);
        if self.shown.is_some_and(|shown| shown.elapsed() > PROGRESS) {
            // Progress is not worth an error.
            let _ = write!(io::stderr(), "\r{} MiB", self.written / MIB);
            self.shown = Some(Instant::now());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
