//! Signals that end or stop the program.

use std::sync::{Mutex, PoisonError};

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};

use crate::failure::{Exit, Failure};

/// Waits for SIGTERM, SIGHUP or SIGINT.
pub(crate) async fn ended() {
    let mut ends = Vec::new();
    for kind in [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()] {
        // If no handler can be installed, the signal ends the process directly.
        if let Ok(end) = signal(kind) {
            ends.push(end);
        }
    }
    let waits = ends.iter_mut().map(|end| Box::pin(end.recv()));
    let _ = futures_util::future::select_all(waits).await;
}

/// What is known of a vote or proposal whose answer is awaited. The first waiter that notices a signal states it.
static AWAITED: Mutex<Option<String>> = Mutex::new(None);

/// States what is known of a vote or proposal if a signal ends the program, until this value is dropped.
pub(crate) struct Awaited(());

impl Awaited {
    pub(crate) fn new(text: String) -> Self {
        *AWAITED.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        Self(())
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        *AWAITED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns the failure of a program that a signal ends, with what is known of a vote or proposal whose answer is awaited.
pub(crate) fn interrupted() -> Failure {
    let awaited = AWAITED.lock().unwrap_or_else(PoisonError::into_inner);
    let text = awaited.as_ref().map_or_else(String::new, |text| format!(": {text}"));
    Failure::new(Exit::Interrupted, format!("interrupted{text}"))
}

/// Waits for SIGTSTP, with which a shell suspends the program, again and again.
pub(crate) struct Stops(Option<tokio::signal::unix::Signal>);

impl Stops {
    /// If no handler can be installed, the signal stops the process directly.
    pub(crate) fn new() -> Self {
        Self(signal(SignalKind::from_raw(Signal::TSTP.as_raw())).ok())
    }

    pub(crate) async fn next(&mut self) {
        match &mut self.0 {
            Some(stops) => {
                stops.recv().await;
            }
            None => std::future::pending().await,
        }
    }
}

/// Stops this process until SIGCONT.
pub(crate) fn stop() {
    let _ = kill_process(getpid(), Signal::STOP);
}
