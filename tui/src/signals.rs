//! Signals that end the program.

use tokio::signal::unix::{SignalKind, signal};

/// Returns when the program is asked to end: SIGTERM, SIGHUP or SIGINT.
pub(crate) async fn ended() {
    let mut ends = Vec::new();
    for kind in [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt()] {
        // Without a handler the signal ends the process by itself.
        if let Ok(end) = signal(kind) {
            ends.push(end);
        }
    }
    let waits = ends.iter_mut().map(|end| Box::pin(end.recv()));
    let _ = futures_util::future::select_all(waits).await;
}
