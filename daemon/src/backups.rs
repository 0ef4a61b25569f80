//! Backups that a running daemon writes, on the local socket.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::Method;
use quorate_common::api_error::{ApiError, Code};
use quorate_common::console::custody::{BackupFailure, StoredBackup};
use quorate_core::pipeline::Commit;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

use crate::activity_log;
use crate::backup::{self, BackupError, Recorder, Source, Trailer};
use crate::custody::Headers;
use crate::executor::Executor;
use crate::listener::{Answer, Incoming};

/// Number of parts that wait to be sent.
const WAITING: usize = 4;

/// Writes backups of the store, one at a time.
pub struct Backups {
    executor: Arc<Executor>,
    headers: Arc<Headers>,
    turn: Arc<Semaphore>,
    /// Why the newest backup was not completed.
    failure: Mutex<Option<String>>,
}

impl Backups {
    /// Creates it for a running daemon.
    pub fn new(executor: Arc<Executor>, headers: Arc<Headers>) -> Arc<Self> {
        Arc::new(Self { executor, headers, turn: Arc::new(Semaphore::new(1)), failure: Mutex::default() })
    }

    /// Answers a request for the path after `/console/v1/`; returns `None` for other paths.
    pub async fn answer(self: &Arc<Self>, rest: &str, incoming: &Incoming) -> Option<Answer> {
        if !["backup", "backup/stored", "release"].contains(&rest) {
            return None;
        }
        let is_query = rest == "backup" && incoming.method == Method::GET;
        if incoming.method != Method::POST && !is_query {
            return Some(Answer::wrong_method());
        }
        if !incoming.listener.is_owner() {
            let text = "only the user who runs the daemon, or root, can do this";
            return Some(Answer::error(&ApiError::new(Code::PermissionDenied, text)));
        }
        if is_query {
            let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let text = serde_json::to_vec(&BackupFailure { failure }).unwrap_or_default();
            return Some(Answer::ok(text).cached("no-store"));
        }
        Some(match rest {
            "release" => self.release().await,
            "backup/stored" => self.stored(&incoming.body).await,
            _ => self.begin(),
        })
    }

    /// Records that a backup is durable where it was written.
    async fn stored(&self, body: &[u8]) -> Answer {
        let stored: StoredBackup = match serde_json::from_slice(body) {
            Ok(stored) => stored,
            Err(error) => return Answer::error(&ApiError::new(Code::InvalidArgument, error.to_string())),
        };
        match self.executor.backup_is_stored(stored.ended).await {
            Ok(()) => Answer::ok(Bytes::from_static(b"{}")),
            Err(error) => Answer::error(&ApiError::new(Code::Unavailable, error.to_string())),
        }
    }

    async fn release(&self) -> Answer {
        match self.executor.release().await {
            Ok(false) => {
                let text = "nothing to release: the store accepts changes";
                Answer::error(&ApiError::new(Code::FailedPrecondition, text))
            }
            Ok(true) => {
                tracing::info!("the restored store accepts changes, as requested");
                Answer::ok(Bytes::from_static(b"{}"))
            }
            Err(error) => Answer::error(&ApiError::new(Code::Unavailable, error.to_string())),
        }
    }

    /// Begins to write a backup.
    fn begin(self: &Arc<Self>) -> Answer {
        let Ok(turn) = Arc::clone(&self.turn).try_acquire_owned() else {
            let text = "another backup is being written; wait until it has ended";
            return Answer::error(&ApiError::new(Code::FailedPrecondition, text));
        };
        let (sender, parts) = mpsc::channel(WAITING);
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let (backups, runtime) = (Arc::clone(self), Handle::current());
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            match backups.write(&runtime, sender) {
                Ok(Trailer { records, changes, .. }) => {
                    tracing::info!(records, changes, "a backup was written");
                }
                // Who reads it notices that its end is missing.
                Err(error) => {
                    tracing::error!(cause = %error, "a backup was not completed");
                    *backups.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                }
            }
        });
        Answer::backup(parts)
    }

    fn write(&self, runtime: &Handle, sender: mpsc::Sender<Bytes>) -> Result<Trailer, BackupError> {
        // What others commit to a shared store is in its snapshot.
        let recorder = (!self.executor.is_shared()).then(|| Arc::new(Recorder::default()));
        if let Some(recorder) = &recorder {
            self.executor.record(recorder);
        }
        let flush = || {
            let flushed = runtime.block_on(self.executor.commit(Commit::default()));
            flushed.map_err(|_| BackupError::Interrupted)
        };
        let header = self.headers.read().map_err(|error| io::Error::other(error.to_string()))?;
        let barrier = self.executor.world().barrier();
        let source = Source {
            store: barrier.store().as_ref(),
            keys: barrier.vault().backups(),
            header: &header,
            log: activity_log::checkpoint(barrier).map_err(|error| io::Error::other(error.to_string()))?,
            recorder: recorder.as_deref(),
            is_served: true,
            flush: &flush,
        };
        backup::write(&source, &mut io::BufWriter::with_capacity(PART, Sender(sender)))
    }
}

/// Length of a part that is sent, in bytes.
const PART: usize = 256 * 1024;

/// Sends what is written. Waits while too much waits to be sent.
struct Sender(mpsc::Sender<Bytes>);

impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Bytes::copy_from_slice(bytes));
        sent.map_err(|_| io::Error::new(io::ErrorKind::BrokenPipe, "the connection ended"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
