//! `quorate status`.

use quorate_common::console::DaemonStatus;
use serde_json::json;

use super::webhooks::{counted, parked, total};
use crate::clock::{CLOCK_DIFFERENCE_MILLIS, now_millis};
use crate::failure::Result;
use crate::output::{Answer, extended};
use crate::proof::{
    daemons_text, engine_text, journal_text, log_text, mode_word, sealing_key_text, store_word,
};
use crate::session::Session;
use crate::text::{clean, date_time, duration};

pub(super) async fn run(session: &Session) -> Result<Answer> {
    let status = session.daemon_status().await?;
    let difference = status.now_millis.abs_diff(now_millis());
    if session.client.is_remote() {
        return Ok(remote(session, &status, difference));
    }
    // The status is also shown if the store cannot be read.
    let destinations = parked(session).await.ok();
    let parked = destinations.as_deref().map(total);
    let members = [
        ("socket", json!(session.client.address())),
        ("parkedWebhooks", json!(parked)),
        ("parkedDestinations", json!(destinations.as_ref().map(Vec::len))),
        ("clockApartMillis", json!(difference)),
    ];
    let data = extended(serde_json::to_value(&status).unwrap_or_default(), members);
    let started = status.started_at.millis();
    let store = match &status.store {
        Some(store) => {
            let since = date_time(store.since.millis());
            format!("{} since {since}: {}", store_word(store.state), clean(&store.detail))
        }
        None if status.awaits_release => "held after a restore; run `quorated release`".to_owned(),
        None => "ok".to_owned(),
    };
    let webhooks = match (parked, &destinations) {
        (Some(0), _) => "none parked".to_owned(),
        (Some(parked), Some(destinations)) => format!(
            "{parked} parked for {}; run `quorate webhook parked`",
            counted(destinations.len(), "destination")
        ),
        _ => "cannot be read now".to_owned(),
    };
    let clock = clock(difference);
    let backup = match status.last_backup {
        Some(last) => format!("{}, {} ago", date_time(last), duration(now_millis().saturating_sub(last))),
        None => "none with `quorated backup`".to_owned(),
    };
    let journal = journal_text(status.journal.as_deref());
    let log = log_text(status.log.as_deref());
    let daemons = daemons_text(status.engine.as_deref());
    let daemons = daemons.map(|text| format!("daemons   {text}\n")).unwrap_or_default();
    let text = format!(
        "mode      {}\nversion   {} (console protocol {})\nstarted   {}, {} ago\nsocket    {}\nAPI       {}\nengine    {}\n{daemons}store     {store}\nbackup    {backup}\njournal   {journal}\nlog       {log}\nsealing   {}\nclock     {clock}\nwebhooks  {webhooks}\nkeys      {}\nquorum key, which signs bundles\n          {}\n",
        mode_word(status.mode),
        clean(&status.version),
        status.protocol,
        date_time(started),
        duration(now_millis().saturating_sub(started)),
        session.client.address(),
        status.base_url.as_deref().map_or_else(|| "not served".to_owned(), clean),
        engine_text(status.engine.as_deref()),
        sealing_key_text(status.sealing_key.as_deref()),
        if status.keys_locked {
            "locked in memory"
        } else {
            "not locked in memory: they may be swapped to disk"
        },
        clean(&status.quorum_public_key),
    );
    Ok(Answer::one(data, text))
}

/// Describes how much the clocks of this host and of the daemon differ, in milliseconds.
fn clock(difference: u64) -> String {
    if difference > CLOCK_DIFFERENCE_MILLIS {
        format!("differs from this host's by {}; requests may be refused", duration(difference))
    } else {
        "ok".to_owned()
    }
}

/// Returns what users may know of a daemon at a URL.
fn remote(session: &Session, status: &DaemonStatus, difference: u64) -> Answer {
    let transport = session.identity.transport;
    let data = json!({
        "url": session.client.address(),
        "transport": transport,
        "mode": status.mode,
        "version": status.version,
        "protocol": status.protocol,
        "quorumPublicKey": status.quorum_public_key,
        "strictDenyErrors": status.strict_deny_errors,
        "clockApartMillis": difference,
    });
    let text = format!(
        "mode      {}\nversion   {} (console protocol {})\nURL       {}\nserver    {transport}\nclock     {}\nquorum key, which signs bundles\n          {}\n\
         Store, queues and keys of the daemon are shown on its host only.\n",
        mode_word(status.mode),
        clean(&status.version),
        status.protocol,
        session.client.address(),
        clock(difference),
        clean(&status.quorum_public_key),
    );
    Answer::one(data, text)
}
