//! Fail points: named points on the path of a commit and around it, at which tests stop, delay or abort the
//! process.
//!
//! They exist only with the feature `fail_points`, which the test package enables and release builds reject.
//! `FAIL_POINTS` configures them in the syntax of the crate `fail`:
//! `attempt.queued=3*off->return;feed.publish=sleep(20)`. The action `return` aborts the process.

#[cfg(all(feature = "fail_points", not(debug_assertions)))]
compile_error!("the feature `fail_points` is for tests: build `-p quorated` without it");

/// Names of all fail points. A test kills the daemon at each of them.
#[cfg(feature = "fail_points")]
pub const NAMES: [&str; 73] = [
    "answer.render",
    "answer.send",
    "attempt.decide",
    "attempt.decided",
    "attempt.clash",
    "attempt.seal",
    "attempt.sealed",
    "attempt.queued",
    "attempt.committed",
    "backup.page",
    "cleanup.read",
    "cleanup.remove",
    "cleanup.removed",
    "commit.group",
    "commit.publish",
    "commit.answer",
    "copy.rows",
    "copy.compare",
    "copy.mark",
    "copy.begin",
    "copy.header",
    "exchange.claim",
    "exchange.claimed",
    "exchange.made",
    "feed.publish",
    "file.draft",
    "file.name",
    "file.named",
    "guard.write",
    "guard.written",
    "identity.store",
    "identity.stored",
    "journal.append",
    "journal.appended",
    "key.load",
    "key.signed",
    "key.forget",
    "mail.read",
    "mail.send",
    "mail.sent",
    "mail.record",
    "mail.recorded",
    "outbox.read",
    "outbox.send",
    "outbox.sent",
    "outbox.record",
    "outbox.recorded",
    "request.received",
    "log.append",
    "log.appended",
    "log.page",
    "restore.begin",
    "restore.journal",
    "restore.loaded",
    "restore.rows",
    "seal_again.done",
    "seal_again.read",
    "start.folder",
    "start.store",
    "start.vault",
    "start.guard",
    "start.compare",
    "start.identity",
    "start.serve",
    "store.check",
    "store.apply",
    "store.applied",
    "store.synced",
    "snapshot.read",
    "term.begin",
    "term.begun",
    "term.forget",
    "term.forgotten",
];

/// Performs the action that is configured for a fail point.
#[cfg(not(feature = "fail_points"))]
#[inline]
pub fn reach(_name: &'static str) {}

/// Performs the action that is configured for a fail point.
#[cfg(feature = "fail_points")]
pub fn reach(name: &'static str) {
    use std::sync::Once;
    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(configure);
    debug_assert!(NAMES.contains(&name), "{name} is not in the list of fail points");
    fail::fail_point!(name, |_| abort(name));
}

#[cfg(feature = "fail_points")]
fn abort(name: &str) {
    tracing::error!(name, "aborted at a fail point");
    std::process::abort();
}

/// Reads the environment. An unknown name or action aborts the process, so that no test passes by mistake.
#[cfg(feature = "fail_points")]
fn configure() {
    let text = std::env::var("FAIL_POINTS").unwrap_or_default();
    for point in text.split(';').filter(|point| !point.is_empty()) {
        let (name, actions) = point.split_once('=').unwrap_or((point, ""));
        if !NAMES.contains(&name) || fail::cfg(name, actions).is_err() {
            tracing::error!(point, "FAIL_POINTS: unknown fail point or action");
            std::process::abort();
        }
    }
}
