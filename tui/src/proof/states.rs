//! States of activities and of the daemon, in words.

use quorate_common::activity::{Activity, Selection, Status};
use quorate_common::console::activity_log::LogStatus;
use quorate_common::console::custody::{JournalStatus, SealingKeyStatus};
use quorate_common::console::{EngineStatus, Mode, OrganizationDetail, StoreDaemon, StoreState};

use super::proposal::Proposal;
use crate::kinds::{ReviewContext, hidden};
use crate::text::{clean, date_time, duration, entries};

/// Time without a sign of life from which a daemon counts as silent, in milliseconds. Each gives one a second.
const SILENT_MILLIS: u64 = 5000;

/// Returns a status as a word for people.
pub(crate) const fn status_word(status: Status) -> &'static str {
    match status {
        Status::Created => "created",
        Status::Pending => "running",
        Status::Completed => "executed",
        Status::Failed => "failed",
        Status::ConsensusNeeded => "waiting",
        Status::Rejected => "rejected",
        Status::AuthenticatorsNeeded => "waiting for authentication",
    }
}

/// Returns the status of an activity as words for people, with who rejected it. A rejection without a rejecting vote is
/// a denial by a policy.
pub(crate) fn state_text(activity: &Activity, organization: &OrganizationDetail) -> String {
    let word = status_word(activity.status);
    if activity.status != Status::Rejected {
        return word.to_owned();
    }
    let context = ReviewContext::of(organization);
    let rejections = activity.votes.iter().filter(|vote| vote.selection == Selection::Rejected);
    let names: Vec<String> = rejections.map(|vote| context.user_short(&vote.user_id.to_string())).collect();
    if names.is_empty() {
        return "denied by a policy [s]: nobody rejected it".to_owned();
    }
    format!("{word} by {}", names.join(", "))
}

/// Returns whether only the daemon states what a closed activity was, because it does not store the bytes that were
/// signed. Nobody decides on it anymore, so this is shown and not blocked.
pub(super) fn is_only_stated(activity: &Activity, proposal: Option<&Proposal>) -> bool {
    proposal.is_none() && !activity.status.waits() && hidden(&activity.activity_type).is_some()
}

/// Returns the word for a store that accepts no writes. Every screen shows it.
pub(crate) const fn store_word(state: StoreState) -> &'static str {
    match state {
        StoreState::Full => "FULL",
        StoreState::Recovering => "RECOVERING",
        StoreState::Altered => "ALTERED",
        StoreState::Unknown => "NOT READY",
    }
}

/// Returns the engine of the store, with its durability settings and what the daemon warns about.
pub(crate) fn engine_text(engine: Option<&EngineStatus>) -> String {
    let Some(engine) = engine else { return "not stated by this daemon".to_owned() };
    let value = |text: &str| if text.is_empty() { "none".to_owned() } else { clean(text) };
    let settings =
        engine.durability.iter().map(|(name, text)| format!(", {} = {}", clean(name), value(text)));
    let server = engine.server.as_deref().map(|server| format!(" at {}", clean(server)));
    let warning = engine.warning.as_deref().map(|text| format!("; [!] {}", clean(text)));
    let [server, warning] = [server, warning].map(Option::unwrap_or_default);
    format!("{}{server}{}{warning}", clean(&engine.name), settings.collect::<String>())
}

/// Returns the term of the sealing key, and whether records of earlier ones remain.
pub(crate) fn sealing_key_text(key: Option<&SealingKeyStatus>) -> String {
    let Some(key) = key else { return "not stated by this daemon now".to_owned() };
    let since = key.begun.map(|begun| format!(" since {}", date_time(begun))).unwrap_or_default();
    let rest = if key.oldest_term == key.term {
        "it seals all records".to_owned()
    } else {
        format!("records of earlier terms remain, {} sealed again so far", key.sealed_again)
    };
    format!("term {}{since}; {rest}", key.term)
}

/// Returns the size of the activity log, and when it grew.
pub(crate) fn log_text(log: Option<&LogStatus>) -> String {
    match log {
        None => "not stated by this daemon now".to_owned(),
        Some(LogStatus { entries: 0, .. }) => "empty".to_owned(),
        Some(log) => format!("{}, newest {}", entries(log.entries), date_time(log.newest_at_millis)),
    }
}

/// Returns the state of the journal.
pub(crate) fn journal_text(journal: Option<&JournalStatus>) -> String {
    match journal {
        None => "none".to_owned(),
        Some(JournalStatus { failure: Some(failure), .. }) => {
            format!("cannot be written: {}", clean(failure))
        }
        Some(JournalStatus { newest: Some(newest), .. }) => format!("newest change {}", date_time(*newest)),
        Some(_) => "empty".to_owned(),
    }
}

/// Returns the daemons that share the store, if there may be several.
pub(crate) fn daemons_text(engine: Option<&EngineStatus>) -> Option<String> {
    let daemons = &engine?.daemons;
    let (own, others): (Vec<_>, Vec<_>) = daemons.iter().partition(|daemon| daemon.is_queried);
    let version = |daemon: &StoreDaemon| clean(&daemon.version);
    let described = |daemon: &&StoreDaemon| {
        let state = if is_silent(daemon) {
            format!("[!] silent for {}", duration(daemon.silent_millis))
        } else {
            "running".to_owned()
        };
        format!("{} {} {state}", short_id(daemon), version(daemon))
    };
    let own = own.first().map(|daemon| format!("this one {} {}", short_id(daemon), version(daemon)));
    let text: Vec<String> = own.into_iter().chain(others.iter().map(described)).collect();
    let lag = engine.and_then(|engine| engine.notice_lag_millis);
    let lag = lag.map(|millis| format!("; the last change of another one had an effect after {millis} ms"));
    let lag = lag.unwrap_or_default();
    (!text.is_empty()).then(|| format!("{}: {}{lag}", daemons.len(), text.join(", ")))
}

const fn is_silent(daemon: &StoreDaemon) -> bool {
    daemon.silent_millis >= SILENT_MILLIS
}

/// Returns the begin of the id of a daemon, by which people distinguish it.
fn short_id(daemon: &StoreDaemon) -> String {
    clean(daemon.id.split('-').next().unwrap_or_default())
}

/// Returns the ids of the other daemons that share the store and have given no sign of life for a while.
pub(crate) fn silent_daemons(engine: Option<&EngineStatus>) -> impl Iterator<Item = String> {
    let daemons = engine.into_iter().flat_map(|engine| &engine.daemons);
    daemons.filter(|daemon| !daemon.is_queried && is_silent(daemon)).map(short_id)
}

/// Returns the word for the daemon's mode. Every screen shows it.
pub(crate) const fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Dev => "DEV",
        Mode::Production => "PROD",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_sealing_key_is_stated_with_what_remains_of_earlier_ones() {
        let key = SealingKeyStatus {
            term: 2,
            begun: Some(1_780_000_000_000),
            oldest_term: 2,
            sealings: 0,
            most_sealings: 1,
            sealed_again: 7,
        };
        assert_eq!(
            sealing_key_text(Some(&key)),
            "term 2 since 2026-05-28 20:26:40 UTC; it seals all records"
        );
        let rest =
            "term 2 since 2026-05-28 20:26:40 UTC; records of earlier terms remain, 7 sealed again so far";
        assert_eq!(sealing_key_text(Some(&SealingKeyStatus { oldest_term: 0, ..key.clone() })), rest);
        let derived = SealingKeyStatus { term: 0, begun: None, oldest_term: 0, ..key };
        assert_eq!(sealing_key_text(Some(&derived)), "term 0; it seals all records");
        assert_eq!(sealing_key_text(None), "not stated by this daemon now");
    }

    #[test]
    fn an_empty_setting_of_the_database_is_none() {
        let durability = [("synchronous_commit", "on"), ("synchronous_standby_names", "")];
        let durability = durability.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let engine = EngineStatus {
            server: None,
            name: "postgres".to_owned(),
            durability: BTreeMap::from(durability),
            warning: None,
            daemons: Vec::new(),
            notice_lag_millis: None,
        };
        let text = "postgres, synchronous_commit = on, synchronous_standby_names = none";
        assert_eq!(engine_text(Some(&engine)), text);
    }
}
