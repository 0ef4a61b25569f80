//! Signals that end or stop the program.

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{SignalKind, signal};

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
