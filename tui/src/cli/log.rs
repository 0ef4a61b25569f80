//! `quorate log verify|accept`.

use std::fmt::Write as _;

use clap::Subcommand;
use quorate_common::activity_log::{ActivityState, Checkpoint, VerifierKey};
use quorate_common::console::activity_log::EntryState;
use quorate_common::ids::OrganizationId;
use serde_json::{Value, json};

use super::complete;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::files;
use crate::output::{Answer, extended};
use crate::session::Session;
use crate::text::{clean, date_time, entries};
use crate::witness::{BeforeRestore, KnownLog, KnownLogs};

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Check that the activity log still has all entries that this console knows, and an activity
    ///
    /// The daemon appends each state of an activity to a log that only grows. This console keeps the newest checkpoint that it
    /// saw. Exits with 11 if the daemon states an earlier state or another history, and with 7 if a proof is not valid or the
    /// log does not have the activity.
    Verify {
        /// Activity id or fingerprint (64 hex digits, optionally with sha256:)
        #[arg(value_name = "REF", add = complete::waiting())]
        reference: Option<String>,
    },
    /// Continue with a log that does not follow what this console knows
    ///
    /// Use this only after the operator explained in person why the store was put back, and read you the key and the root of the
    /// log, which `quorate log verify` shows. What was revoked since may be valid again.
    Accept {
        /// Key of the log
        #[arg(long, value_name = "KEY")]
        verifier_key: String,
        /// Root of the log, in base64
        #[arg(long, value_name = "ROOT")]
        root: String,
    },
}

pub(super) async fn run(session: &Session, command: &LogCommand) -> Result<Answer> {
    match command {
        LogCommand::Verify { reference } => verify(session, reference.as_deref()).await,
        LogCommand::Accept { verifier_key, root } => accept(session, (verifier_key, root)).await,
    }
}

async fn verify(session: &Session, reference: Option<&str>) -> Result<Answer> {
    session.daemon_status().await?;
    let id = session.organization_id().await?;
    let before = KnownLogs::load(&session.folders.checkpoints())?.of(id).cloned();
    // Compares the log with what is known.
    match session.organization().await {
        Err(failure) if failure.exit == Exit::Older => {
            return contradiction(session, id, before, &failure).await;
        }
        compared => compared.map(drop)?,
    }
    let known = KnownLogs::load(&session.folders.checkpoints())?.of(id).cloned();
    let Some(KnownLog { checkpoint, key, before: lost, .. }) = known else {
        let none = "no checkpoint is known: the daemon is of an earlier version, or this console knows too many organizations";
        return Err(Failure::new(Exit::NotFound, none));
    };
    let mut text = described(&checkpoint, &key, lost);
    match &before {
        // What was known is described with the restore.
        Some(before) if before.checkpoint.epoch < checkpoint.epoch => {}
        Some(before) => {
            let (known, since) = (entries(before.checkpoint.size), date_time(before.seen_millis));
            let _ = writeln!(text, "known     [v] begins with the {known} known {since}");
        }
        None => text.push_str("known     nothing until now; this console keeps the checkpoint\n"),
    }
    let included = match reference {
        Some(reference) => Some(included(session, reference, &mut text).await?),
        None => None,
    };
    let more = [
        ("organizationId", json!(id)),
        ("entriesBeforeRestore", json!(lost.map(|lost| lost.entries))),
        ("knownEntries", json!(before.map(|before| before.checkpoint.size))),
        ("entry", json!(included.unwrap_or_default())),
    ];
    let data = extended(figures(&checkpoint, &key), more);
    let answer = Answer::one(data, text);
    Ok(if included == Some(None) { answer.exits(Exit::Verification) } else { answer })
}

/// Shows the log that is known and the one that the daemon states, which contradicts it.
async fn contradiction(
    session: &Session,
    id: OrganizationId,
    known: Option<KnownLog>,
    failure: &Failure,
) -> Result<Answer> {
    let stated = session.client.checkpoint(id, 0).await.ok().and_then(|stated| stated.open().ok());
    let mut text = format!("[x] {}\n", failure.message());
    let known = known.as_ref().map(|known| (&known.checkpoint, &known.key));
    let stated = stated.as_ref().map(|(checkpoint, key)| (checkpoint, key));
    for (title, log) in [("known to this console", known), ("stated by the daemon", stated)] {
        let log = log.map(|(checkpoint, key)| described(checkpoint, key, None));
        let _ = write!(text, "\n{title}:\n{}", log.unwrap_or_else(|| "none\n".to_owned()));
    }
    let data = json!({
        "organizationId": id,
        "contradiction": failure.message(),
        "known": known.map(|(checkpoint, key)| figures(checkpoint, key)),
        "stated": stated.map(|(checkpoint, key)| figures(checkpoint, key)),
    });
    Ok(Answer::one(data, text).exits(Exit::Older))
}

fn figures(checkpoint: &Checkpoint, key: &VerifierKey) -> Value {
    json!({
        "log": checkpoint.origin,
        "verifierKey": key.to_string(),
        "entries": checkpoint.size,
        "root": checkpoint.root_text(),
        "newestAtMillis": checkpoint.time,
        "restoredAtMillis": checkpoint.restored(),
    })
}

fn described(checkpoint: &Checkpoint, key: &VerifierKey, lost: Option<BeforeRestore>) -> String {
    let lost = lost.map(|lost| {
        let (known, since) = (entries(lost.entries), date_time(lost.seen_millis));
        format!("before    [!] {known} were known {since}, before the store was restored or put back\n")
    });
    let restored = checkpoint.restored().map_or_else(|| "never".to_owned(), date_time);
    format!(
        "log       {}\nkey       {}\nentries   {}\nroot      {}\nnewest    {}\nrestored  {}\n",
        clean(&checkpoint.origin),
        clean(&key.to_string()),
        checkpoint.size,
        checkpoint.root_text(),
        if checkpoint.size == 0 { "none".to_owned() } else { date_time(checkpoint.time) },
        restored,
    ) + &lost.unwrap_or_default()
}

/// Checks that the log has an activity. Returns the index of its entry; `None` if the log does not have it.
async fn included(session: &Session, reference: &str, text: &mut String) -> Result<Option<u64>> {
    let review = session.review(reference).await?;
    let Some(entry) = review.log.as_ref() else { return Ok(None) };
    let state = ActivityState::of(&review.activity);
    let (checkpoint, _) = entry.checkpoint.open().map_err(|error| {
        Failure::new(Exit::Verification, format!("the checkpoint of the activity log is not valid: {error}"))
    })?;
    let lines = state.text().lines().skip(1).fold(String::new(), |lines, line| lines + "\n          " + line);
    let (result, line) = match &entry.state {
        EntryState::Included { index, proof } => match state.check_included(*index, proof, &checkpoint) {
            Ok(()) => (
                Some(*index),
                format!("[v] entry {} of {}:{lines}", index.saturating_add(1), checkpoint.size),
            ),
            Err(error) => (None, format!("[x] {error}:{lines}")),
        },
        EntryState::Waiting => {
            (None, format!("[s] not in the log; one that just changed follows within a second:{lines}"))
        }
        EntryState::Earlier => {
            (None, format!("[s] changed before the log began, as the daemon states:{lines}"))
        }
    };
    let _ = writeln!(text, "activity  {line}");
    Ok(result)
}

async fn accept(session: &Session, (expected, root): (&str, &str)) -> Result<Answer> {
    session.daemon_status().await?;
    let id = session.organization_id().await?;
    let stated = session.client.checkpoint(id, 0).await?;
    let (checkpoint, key) = stated
        .open()
        .map_err(|error| Failure::new(Exit::Verification, format!("the checkpoint is not valid: {error}")))?;
    if key.to_string() != expected {
        let message = "nothing was accepted: the log has another key than the one that you were given";
        return Err(Failure::new(Exit::Verification, message));
    }
    if checkpoint.root_text() != root {
        let message = "nothing was accepted: the log has another root than the one that you were given; it changes with each \
                       activity, so let nobody propose or vote until you have accepted";
        return Err(Failure::new(Exit::Verification, message));
    }
    let path = session.folders.checkpoints();
    // No other console changes the file meanwhile.
    let _lock = files::lock(&path)?;
    let mut known = KnownLogs::load(&path)?;
    let before = known.of(id).cloned();
    if before.as_ref().is_some_and(|before| before.note == stated.checkpoint) {
        return Err(Failure::new(Exit::Usage, "nothing to accept: this console knows this log"));
    }
    let lost = before
        .as_ref()
        .map(|before| BeforeRestore { entries: before.checkpoint.size, seen_millis: before.seen_millis });
    let before = before.map(|before| before.checkpoint.size);
    let note = stated.checkpoint;
    let accepted = KnownLog { checkpoint, key, note, seen_millis: now_millis(), before: lost };
    let data = json!({
        "organizationId": id,
        "log": accepted.checkpoint.origin,
        "entries": accepted.checkpoint.size,
        "root": root,
        "knownEntries": before,
    });
    let given_up = before.map_or_else(String::new, |before| format!(" in place of {}", entries(before)));
    let size = entries(accepted.checkpoint.size);
    let text = format!("Accepted: this console continues with {size}{given_up}.\n");
    known.replace(id, accepted);
    known.save(&path)?;
    Ok(Answer::one(data, text))
}
