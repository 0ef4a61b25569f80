//! Findings about the daemon, from its figures.

use quorate_common::console::custody::JournalStatus;
use quorate_common::console::{Health, Mode, PROTOCOL, QueueFigures, StoreState};

use super::Finding;
use crate::clock::CLOCK_DIFFERENCE_MILLIS;
use crate::link::LinkError;
use crate::proof::{silent_daemons, store_word};
use crate::text::{bytes, clean, counted, date_time, duration};
use crate::witness::WitnessError;

/// Age of the oldest waiting delivery above which receivers count as failing, in milliseconds.
const OLD_DELIVERY_MILLIS: u64 = 15 * 60_000;
/// Time until the next attempt at a message above which its server counts as failing, in milliseconds.
const LATE_MESSAGE_MILLIS: u64 = 30_000;
/// Free space in percent of the file system below which a warning is shown.
const FREE_PERCENT: u64 = 10;
/// Lag of the daemon's clock above which a warning is shown, in milliseconds.
const CLOCK_LAG_MILLIS: u64 = 2000;

/// Age of the newest backup above which a warning is shown, in milliseconds.
const OLD_BACKUP_MILLIS: u64 = 2 * 24 * 60 * 60_000;
/// Engine of a store in a database.
const DATABASE: &str = "postgres";

/// What the console knows about its daemon.
#[derive(Clone, Copy)]
pub(crate) struct Daemon<'a> {
    /// Figures of the daemon, or why there are none.
    pub(crate) health: Result<&'a Health, &'a LinkError>,
    /// Time of the figures by the clock of this host, in milliseconds since the Unix epoch.
    pub(crate) received: u64,
    /// Whether this console runs on the daemon's host, if that is known.
    pub(crate) is_same_host: Option<bool>,
}

/// Returns the findings about a daemon.
pub(crate) fn of_daemon(daemon: &Daemon<'_>) -> Vec<Finding> {
    let health = match daemon.health {
        Ok(health) => health,
        Err(error) => return vec![unreachable(error)],
    };
    let checks = [
        store(health),
        held(health),
        durability(health),
        daemons(health),
        clocks(health, daemon.received),
        clock_behind(health),
        disk(health),
        version(health),
        keys(health),
        passkeys(health),
        webhooks(health, daemon.received),
        parked(health),
        messages(health, "mail", &health.mail),
        messages(health, "sms", &health.sms),
        limits(health),
        host(health, daemon.is_same_host),
        mode(health),
        backups(health),
        journal(health),
    ];
    checks.into_iter().flatten().chain(health.warnings.iter().map(|text| configuration(text))).collect()
}

fn configuration(text: &str) -> Finding {
    let advice = "Correct the configuration and restart the daemon, or create what the configuration names.";
    Finding::warning("daemon-configuration", clean(text), advice)
}

fn unreachable(error: &LinkError) -> Finding {
    let what = error.to_string();
    match error {
        LinkError::Down(place) if place.starts_with("http") => Finding::problem(
            "daemon-down",
            what,
            "Check the URL and the network, and whether the daemon runs.",
        ),
        LinkError::Down(_) => Finding::problem(
            "daemon-down",
            what,
            "Start the daemon with `quorated serve`, or name its socket with --socket.",
        ),
        LinkError::Unreachable { .. } => {
            Finding::problem("daemon-down", what, "Check the URL, and the network of this host.")
        }
        LinkError::NotSocket(_) => {
            Finding::problem("socket-other", what, "Name the socket of the daemon with --socket.")
        }
        LinkError::Forbidden(_) => Finding::problem(
            "socket-forbidden",
            what,
            "Add this user to the group in `[socket]` of the daemon's configuration, and log in again.",
        ),
        LinkError::Protocol { .. } => {
            Finding::problem("protocol", what, "Install the console and the daemon of the same version.")
        }
        error if error.is_sealed() => {
            Finding::problem("daemon-sealed", what, "Unseal the daemon on its host.")
        }
        error if error.is_missing() => Finding::warning(
            "no-figures",
            "the daemon does not report figures",
            "Upgrade the daemon to the version of this console.",
        ),
        LinkError::LocalOnly => Finding::note(
            "daemon-remote",
            "the daemon is at a URL, which states nothing about its store, its queues and its host",
            "Run `quorate doctor` on the host of the daemon.",
        ),
        LinkError::Untrusted(_) => Finding::problem(
            "server-untrusted",
            what,
            "Compare the key with the operator by another channel before you pin it.",
        ),
        LinkError::Clock => Finding::problem(
            "clock-differs",
            what,
            "Set the clock that is wrong: of this host, or of the daemon's.",
        ),
        LinkError::Unselected | LinkError::Unstamped | LinkError::Stamp(_) => {
            Finding::problem("remote-key", what, "Name organization and key in config.toml.")
        }
        LinkError::NotDaemon { .. } => Finding::problem("daemon-answer", what, "Check the URL."),
        LinkError::Witness(WitnessError::File(_)) => Finding::problem(
            "checkpoints",
            what,
            "Let this user read and write the file, or restore it from a backup of this console.",
        ),
        LinkError::Witness(_) => Finding::problem(
            "activity-log",
            what,
            "Ask the operator of the daemon; `quorate log accept --help` explains how to continue.",
        ),
        LinkError::Older { .. } => {
            Finding::problem("daemon-answer", what, "Ask the operator whether a backup was restored.")
        }
        LinkError::Lost(_) | LinkError::Api(_) | LinkError::Unreadable(_) => {
            Finding::problem("daemon-answer", what, "Read the log of the daemon.")
        }
    }
}

fn store(health: &Health) -> Option<Finding> {
    let store = health.status.store.as_ref()?;
    let what = format!(
        "the store is {} since {}: {}",
        store_word(store.state).to_lowercase(),
        date_time(store.since.millis()),
        clean(&store.detail)
    );
    Some(match store.state {
        StoreState::Full => Finding::problem(
            "store-full",
            what,
            "Free space on the file system of the store; the daemon then accepts changes by itself.",
        ),
        StoreState::Altered => Finding::problem(
            "store-altered",
            what,
            "Stop the daemon, run `quorated verify`, and restore a backup as the guide Recover a damaged store explains.",
        ),
        StoreState::Recovering | StoreState::Unknown => Finding::problem(
            "store-failed",
            what,
            if health.status.engine.as_ref().is_some_and(|engine| engine.name == DATABASE) {
                "Check the database server and the network to it; the daemon then continues by itself."
            } else {
                "Read the log of the daemon and the kernel log for errors of the disk."
            },
        ),
    })
}

fn durability(health: &Health) -> Option<Finding> {
    let warning = health.status.engine.as_ref()?.warning.as_deref()?;
    Some(Finding::warning(
        "store-durability",
        format!("acknowledged changes can be lost: {}", clean(warning)),
        "Change the settings of the database server as the guide High availability of the database explains. The daemon notices it by itself.",
    ))
}

/// Describes daemons that share the store and give no sign of life. One that was stopped is not in the list.
fn daemons(health: &Health) -> Option<Finding> {
    let silent: Vec<String> = silent_daemons(health.status.engine.as_deref()).collect();
    (!silent.is_empty()).then(|| {
        Finding::warning(
            "daemon-silent",
            format!(
                "{} of the store {} no sign of life: {}",
                counted(silent.len() as u64, "other daemon"),
                if silent.len() == 1 { "gives" } else { "give" },
                silent.join(", ")
            ),
            "Start the daemon again, or check its host; one that was replaced disappears from the list after a day.",
        )
    })
}

fn clocks(health: &Health, received: u64) -> Option<Finding> {
    let difference = health.status.now_millis.abs_diff(received);
    (difference > CLOCK_DIFFERENCE_MILLIS).then(|| {
        Finding::problem(
            "clock-differs",
            format!("the clock of this host differs from the daemon's by {}", duration(difference)),
            "Synchronize both clocks with NTP; requests signed here may be refused.",
        )
    })
}

fn clock_behind(health: &Health) -> Option<Finding> {
    let behind = health.clock_behind_millis;
    (behind > CLOCK_LAG_MILLIS).then(|| {
        Finding::warning(
            "clock-behind",
            format!("the daemon's clock is {} behind the newest recorded time", duration(behind)),
            "Correct the clock of the daemon's host, or run `quorated accept-clock` if the recorded time is wrong.",
        )
    })
}

fn disk(health: &Health) -> Option<Finding> {
    let (free, size) = (health.disk_free_bytes?, health.disk_bytes?);
    let is_low = free < size / 100 * FREE_PERCENT || free < health.reserve_bytes.saturating_mul(2);
    (is_low && health.status.store.is_none()).then(|| {
        Finding::warning(
            "disk-low",
            format!("{} of {} are free on the file system of the store", bytes(free), bytes(size)),
            format!(
                "Free space or enlarge the disk: below {} the daemon rejects changes.",
                bytes(health.reserve_bytes)
            ),
        )
    })
}

fn version(health: &Health) -> Option<Finding> {
    let own = env!("CARGO_PKG_VERSION");
    let theirs = &health.status.version;
    (theirs != own).then(|| {
        Finding::warning(
            "version-differs",
            format!("the daemon has version {}, this console has version {own}", clean(theirs)),
            format!("Install the same version of both; they share console protocol {PROTOCOL}."),
        )
    })
}

fn keys(health: &Health) -> Option<Finding> {
    (!health.status.keys_locked).then(|| {
        Finding::warning(
            "keys-not-locked",
            "decrypted keys may be swapped to disk",
            "Raise the limit of locked memory of the daemon (LimitMEMLOCK in its unit, or `ulimit -l`).",
        )
    })
}

fn passkeys(health: &Health) -> Option<Finding> {
    let count = health.passkey_counters_went_back;
    (count > 0).then(|| {
        Finding::warning(
            "passkey-copied",
            format!("{} of a passkey whose signature counter went back", counted(count, "use")),
            "Look at the screen Access for [!], and revoke the passkey if its owner cannot explain it.",
        )
    })
}

fn webhooks(health: &Health, now: u64) -> Option<Finding> {
    let oldest = health.webhooks.oldest_at.as_ref()?.millis();
    let age = now.saturating_sub(oldest);
    (age > OLD_DELIVERY_MILLIS).then(|| {
        Finding::warning(
            "webhooks-late",
            format!("the oldest waiting webhook delivery is {} old", duration(age)),
            "Check the receivers of the endpoints that `quorate org get` lists, and repair or delete those that fail.",
        )
    })
}

fn parked(health: &Health) -> Option<Finding> {
    let count = |outcome: &str| health.deliveries.get(outcome).copied().unwrap_or(0);
    let lost = count("parked").saturating_add(count("unreadable")).saturating_add(count("given_up"));
    (lost > 0).then(|| {
        Finding::warning(
            "webhooks-lost",
            format!(
                "{} parked or given up since the start",
                counted_of(lost, "webhook delivery was", "webhook deliveries were")
            ),
            "Run `quorate webhook parked`, and have the receivers query the activities that it names.",
        )
    })
}

/// Describes messages that wait because of their server. What it states does not depend on the time of the next attempt, so
/// it stays the same until the server accepts a message.
fn messages(health: &Health, channel: &'static str, queue: &QueueFigures) -> Option<Finding> {
    let (late, unavailable, section, noun) = match channel {
        "mail" => ("mail-late", "mail-unavailable", "mail", "mail"),
        _ => ("sms-late", "sms-unavailable", "sms", "SMS"),
    };
    if queue.waiting == 0 {
        return None;
    }
    let advice =
        format!("Look at the screen Messages for the answers of the server, and check `[{section}]`.");
    if let Some(since) = &queue.unavailable_since {
        let what = format!(
            "the {noun} server is unavailable since {}: {} {noun} waiting",
            date_time(since.millis()),
            queue.waiting
        );
        return Some(Finding::problem(unavailable, what, advice));
    }
    let delayed = queue.delayed.unwrap_or_default();
    if delayed > 0 {
        let what = format!("{} {noun} waiting, {delayed} of them not taken by the server yet", queue.waiting);
        return Some(Finding::warning(late, what, advice));
    }
    let next = queue.next_at.as_ref()?.millis();
    let wait = next.saturating_sub(health.status.now_millis);
    (wait > LATE_MESSAGE_MILLIS).then(|| {
        let what =
            format!("{} {noun} waiting, the next attempt follows in {}", queue.waiting, duration(wait));
        Finding::warning(late, what, advice)
    })
}

fn limits(health: &Health) -> Option<Finding> {
    let reached: Vec<String> =
        health.limits_reached.iter().map(|(limit, count)| format!("{} {count}", clean(limit))).collect();
    (!reached.is_empty()).then(|| {
        Finding::note(
            "limits-reached",
            format!("requests were rejected because of limits: {}", reached.join(", ")),
            "Raise these keys of `[limits]` if the clients are yours and need more.",
        )
    })
}

fn host(health: &Health, is_same_host: Option<bool>) -> Option<Finding> {
    let is_warned = is_same_host == Some(true) && health.status.mode == Mode::Production;
    is_warned.then(|| {
        Finding::note(
            "same-host",
            "this console runs on the daemon's host: who controls the host controls both",
            "Approve what matters with a console on another host, or compare the fingerprint there.",
        )
    })
}

fn mode(health: &Health) -> Option<Finding> {
    (health.status.mode == Mode::Dev).then(|| {
        Finding::note(
            "dev-mode",
            "the daemon runs in DEV mode: its keys are in a file and its data is thrown away",
            "Use `quorated init` and `quorated serve` for keys that matter.",
        )
    })
}

fn held(health: &Health) -> Option<Finding> {
    health.status.awaits_release.then(|| {
        let what = "the store was restored from a backup and accepts no changes";
        Finding::problem(
            "store-held",
            what,
            "Compare its users, keys and policies, then run `quorated release`.",
        )
    })
}

fn journal(health: &Health) -> Option<Finding> {
    match health.status.journal.as_deref() {
        Some(JournalStatus { failure: Some(failure), .. }) => Some(Finding::problem(
            "journal",
            format!("the journal cannot be written, so organizations cannot be changed: {}", clean(failure)),
            "Free space on its disk, or put the file back; the daemon tries again each second.",
        )),
        Some(_) => None,
        None => (health.status.mode == Mode::Production).then(|| {
            Finding::note(
                "journal",
                "no journal is written: what is revoked after a backup is back when that is restored",
                "Name a file on another disk than the store as `path` of `[journal]`.",
            )
        }),
    }
}

fn backups(health: &Health) -> Option<Finding> {
    if let Some(last) = health.status.last_backup {
        let age = health.status.now_millis.saturating_sub(last);
        return (age > OLD_BACKUP_MILLIS).then(|| {
            let what = format!("the newest backup is {} old", duration(age));
            Finding::warning("backups", what, "Run `quorated backup`, and let a timer run it daily.")
        });
    }
    let is_database = health.status.engine.as_ref().is_some_and(|engine| engine.name == DATABASE);
    let advice = if is_database {
        "Check that a backup of the database is made daily, and that `quorated verify` accepts a restored one."
    } else {
        "Run `quorated backup` daily by a timer, and keep the files on another machine than the root key."
    };
    (health.status.mode == Mode::Production).then(|| {
        let what = "no backup was made with `quorated backup`, and others are not known here";
        Finding::note("backups", what, advice)
    })
}

/// Formats a number with the form of a noun that agrees with it.
fn counted_of(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}
