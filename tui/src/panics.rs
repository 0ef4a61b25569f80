//! Panics of the console. A panic on any thread ends the console in order: the terminal is restored, the key is wiped,
//! and the message states what to do.

use std::panic::PanicHookInfo;
use std::sync::{Mutex, Once, PoisonError};

use tokio::sync::Notify;

use crate::failure::{Exit, Failure};

/// Text of the first panic.
static FIRST: Mutex<Option<String>> = Mutex::new(None);
static HAPPENED: Notify = Notify::const_new();
/// Replaces the panic hook once per process.
static OBSERVED: Once = Once::new();

/// Records panics from now on, instead of printing them over the screen.
pub(crate) fn observe() {
    OBSERVED.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            first().get_or_insert_with(|| text(info));
            HAPPENED.notify_one();
        }));
    });
}

/// Waits for a panic on another thread.
pub(crate) async fn happened() {
    HAPPENED.notified().await;
}

/// Returns the text of the first panic, if there was one.
pub(crate) fn recorded() -> Option<String> {
    first().clone()
}

/// Returns the failure of a console that panicked with this text.
pub(crate) fn failure(text: &str, log: &str) -> Failure {
    let lines = [
        &format!("internal error: {text}"),
        "The terminal was restored and the key was locked. Nothing more is sent.",
        "If a vote or proposal was being sent, it may be recorded: check it with `quorate activity get` before you decide again.",
        &format!("Start `quorate` again, and report the first line, which is also in {log}."),
    ];
    Failure::lines(Exit::Internal, &lines.join("\n"))
}

fn first() -> std::sync::MutexGuard<'static, Option<String>> {
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the message of a panic and where it happened. The message may quote the daemon.
fn text(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    crate::text::clean(&format!("{message}{}", place.unwrap_or_default()))
}
