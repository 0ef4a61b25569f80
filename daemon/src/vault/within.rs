//! Calls of other programs and libraries, which may never return.

use std::sync::mpsc;
use std::time::Duration;

/// Returns what `work` returns, unless it takes longer. It then goes on in its thread.
pub(super) fn within<T: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        // Nobody may wait for it anymore.
        let _ = sender.send(work());
    });
    receiver.recv_timeout(time).ok()
}
