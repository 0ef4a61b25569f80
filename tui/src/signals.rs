//! Signals that end the program.

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
