//! `quorate approve` and `quorate reject`.

use std::fmt::Write as _;

use futures_util::FutureExt;
use quorate_common::activity::Activity;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::ActivityId;
use quorate_common::stamp::Stamp;
use serde_json::json;

use super::arguments::ApproveArguments;
use super::proof_arguments::Expected;
use crate::ballot::{self, Ballot, Choice, Outcome, Unconfirmed};
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::files::FileError;
use crate::journal::{self, Entry};
use crate::kinds::Flag;
use crate::link::{self, Confirmation};
use crate::output::{self, Answer};
use crate::proof::{Mark, Review, json, outcome_text};
use crate::session::Session;
use crate::signals::{self, Awaited};
use crate::text::{clean, clock};

/// Approves an activity if it is what the caller expects.
pub(super) async fn approve(session: &Session, options: &ApproveArguments) -> Result<Answer> {
    let review = session.review(&options.reference).await?;
    check_expected(&review, &options.expected)?;
    if let Some(answer) = already_approved(&review) {
        return Ok(answer);
    }
    if let Some(error) = review.approval_error() {
        return Err(blocked_failure(&review, &error));
    }
    let (organization, fingerprint) =
        review.vote_target().map_err(|error| blocked_failure(&review, &error))?;
    let ballot = Ballot::vote(true, organization, fingerprint, now_millis());
    cast(session, &review, &ballot, None).await
}

/// Returns the answer to a second approval, which is not sent.
pub(super) fn already_approved(review: &Review) -> Option<Answer> {
    let vote = review.final_vote()?;
    let (at, outcome_text) = (clock(vote.cast), outcome_text(&review.activity, review));
    let text = format!("You already approved it at {at}. {outcome_text}\n");
    let outcome = Outcome::of(review.activity.status);
    Some(answer(review, Choice::Approve, outcome, "already voted", text))
}

/// Rejects an activity. Only checks of the signed bytes can prevent it. If no bytes prove what the activity
/// is, the caller must name the fingerprint. It is signed as given, for the pinned organization, so that the
/// daemon cannot choose it.
pub(super) async fn reject(
    session: &Session,
    reference: &str,
    expected: Option<Fingerprint>,
    note: Option<&str>,
) -> Result<Answer> {
    let review = session.review(reference).await?;
    let named = expected.or_else(|| named(reference));
    if review.proposal.is_none() {
        return reject_by_fingerprint(session, &review, named, note).await;
    }
    if let Some(error) = review.rejection_error() {
        return Err(blocked_failure(&review, &error));
    }
    let (organization, fingerprint) =
        review.vote_target().map_err(|error| blocked_failure(&review, &error))?;
    if let Some(named) = named.filter(|named| *named != fingerprint) {
        let message = format!("the fingerprint is {fingerprint}, but {named} was expected; nothing was sent");
        return Err(Failure::new(Exit::Verification, message).with(json(&review)));
    }
    let ballot = Ballot::vote(false, organization, fingerprint, now_millis());
    cast(session, &review, &ballot, note).await
}

/// Parses a reference as a fingerprint, if it is one.
fn named(reference: &str) -> Option<Fingerprint> {
    let bare = reference.strip_prefix("sha256:").unwrap_or(reference);
    format!("sha256:{}", bare.to_ascii_lowercase()).parse().ok()
}

async fn reject_by_fingerprint(
    session: &Session,
    review: &Review,
    named: Option<Fingerprint>,
    note: Option<&str>,
) -> Result<Answer> {
    if review.viewer.user.is_none() {
        return Err(Failure::new(Exit::Usage, review.viewer.no_signer(&review.organization)));
    }
    let Some(organization) = review.viewer.organization else {
        return Err(Failure::new(Exit::Usage, review.viewer.no_organization(&review.organization)));
    };
    let Some(fingerprint) = named else {
        let text = "the record contains no signed bytes, so nothing proves what the activity does; nothing was sent. To \
                    reject it anyway, ask its proposer for the fingerprint and run `quorate reject sha256:HASH`";
        return Err(Failure::new(Exit::Verification, text).with(json(review)));
    };
    let ballot = Ballot::vote(false, organization, fingerprint, now_millis());
    cast(session, review, &ballot, note).await
}

pub(super) fn check_expected(review: &Review, options: &Expected) -> Result<()> {
    let differs = |message: String| Failure::new(Exit::Verification, message).with(json(review));
    let Some(proposal) = &review.proposal else {
        let why = review.unprovable().map_or_else(String::new, |why| format!(" ({why})"));
        return Err(differs(format!(
            "the record contains no signed bytes that match the fingerprint{why}; nothing was sent"
        )));
    };
    if proposal.fingerprint != options.expect_sha256 {
        return Err(differs(format!(
            "the fingerprint is {}, but {} was expected; nothing was sent",
            proposal.fingerprint, options.expect_sha256
        )));
    }
    if let Some(kind) = options.expect_type.as_ref().filter(|kind| **kind != proposal.activity_type) {
        let (signed, expected) = (clean(&proposal.activity_type), clean(kind));
        return Err(differs(format!("the type is {signed}, but {expected} was expected; nothing was sent")));
    }
    if review.blocked() {
        let failed: Vec<String> = review
            .checks
            .iter()
            .filter(|check| check.mark == Mark::Failed)
            .map(|check| format!("{} {}", check.id, check.text))
            .collect();
        return Err(differs(format!("a check failed: {}; nothing was sent", failed.join("; "))));
    }
    if review.approval_error().is_none() { check_flags(review, &options.allow_flag) } else { Ok(()) }
}

/// Fails if a HIGH flag was not accepted by name.
pub(super) fn check_flags(review: &Review, allowed: &[String]) -> Result<()> {
    let is_allowed = |flag: &&Flag| allowed.iter().any(|allowed| allowed == flag.name);
    let unnamed: Vec<&Flag> = review.high_flags().filter(|flag| !is_allowed(flag)).collect();
    if unnamed.is_empty() {
        return Ok(());
    }
    let hint: Vec<String> = unnamed.iter().map(|flag| format!("--allow-flag {}", flag.name)).collect();
    let what = if unnamed.len() == 1 { "HIGH flag" } else { "HIGH flags" };
    let texts: Vec<String> = unnamed.iter().map(|flag| format!("  {}: {}", flag.name, flag.text)).collect();
    let message = format!(
        "{} {what} must be accepted by name: {}; nothing was sent\n{}",
        unnamed.len(),
        hint.join(" "),
        texts.join("\n")
    );
    Err(Failure::lines(Exit::Verification, &message).with(json(review)))
}

pub(super) fn blocked_failure(review: &Review, error: &str) -> Failure {
    let exit = match Outcome::of(review.activity.status) {
        Outcome::Rejected => Exit::Rejected,
        Outcome::Executed | Outcome::Failed => Exit::Failed,
        Outcome::Waiting if review.viewer.user.is_none() || review.viewer.organization.is_none() => {
            Exit::Usage
        }
        Outcome::Waiting if review.vote_target().is_err() => Exit::Verification,
        Outcome::Waiting => Exit::Denied,
    };
    Failure::new(exit, format!("{error}; nothing was sent")).with(json(review))
}

/// Signs and sends a vote or a proposal, and checks that the daemon recorded it.
pub(super) async fn cast(
    session: &Session,
    review: &Review,
    ballot: &Ballot,
    note: Option<&str>,
) -> Result<Answer> {
    let stamp = stamped(session, ballot).await?;
    send(session, review, (ballot, &stamp), note).await
}

/// Signs a vote or a proposal.
pub(super) async fn stamped(session: &Session, ballot: &Ballot) -> Result<Stamp> {
    session.prompt_and_sign(&ballot.message).await
}

/// Sends a signed vote or proposal, and checks that the daemon recorded it. It is in the journal before it is sent, however
/// this process ends.
pub(super) async fn send(
    session: &Session,
    review: &Review,
    (ballot, stamp): (&Ballot, &Stamp),
    note: Option<&str>,
) -> Result<Answer> {
    let user = review.viewer.user.ok_or_else(|| Failure::new(Exit::Usage, "no user is selected"))?;
    let organization = review.viewer.organization.unwrap_or(review.activity.organization_id);
    let (journal, at) = (session.folders.journal(), now_millis());
    let record = |activity: ActivityId, word: &str| {
        journal::append(&journal, Entry::of(review, ballot, (activity, word), note, at))
    };
    record(review.activity.id, Unconfirmed::NoAnswer.word()).map_err(unsent)?;
    let noun = ballot.choice.noun();
    let awaited = Awaited::new(ballot::unanswered(ballot, review.activity.id));
    let cast = tokio::select! {
        cast = link::cast(&session.client, (organization, Some(user)), ballot, stamp) => cast,
        failure = signals::ended().map(|()| signals::interrupted()) => return Err(failure),
    };
    drop(awaited);
    let confirmation = match cast {
        Ok(confirmation) => confirmation,
        Err(error) => {
            let word = error.fate.word();
            let is_new = error.fate != Unconfirmed::NoAnswer;
            let written = if is_new { record(review.activity.id, word) } else { Ok(()) };
            let exit = Failure::from(error.error.clone()).exit;
            return Err(warned(Failure::new(exit, error.text(noun)), written));
        }
    };
    let target = &confirmation.activity;
    let outcome = Outcome::of(target.status);
    let is_recorded = ballot::is_recorded(target, ballot, user, stamp);
    // What the daemon claims of an activity without this vote is not recorded.
    let activity =
        if is_recorded && ballot.choice == Choice::Propose { target.id } else { review.activity.id };
    let word = if is_recorded { outcome.word() } else { Unconfirmed::NotInRecord.word() };
    let written = record(activity, word);
    if !is_recorded {
        let what = noun.to_lowercase();
        let message =
            format!("sent, but the daemon's record does not contain this {what} with your signature");
        let failure = Failure::new(Exit::Verification, message).with(json!({"activity": target}));
        return Err(warned(failure, written));
    }
    let mut text = recorded_text(review, ballot, &confirmation);
    add_warning(&mut text, written);
    Ok(answer(review, ballot.choice, outcome, "recorded", text).with_result(target))
}

/// Returns what has become of a vote or proposal that is recorded.
fn recorded_text(review: &Review, ballot: &Ballot, confirmation: &Confirmation) -> String {
    let target = &confirmation.activity;
    // A person who proposes from a file sees what became of it.
    let proposed =
        if ballot.choice == Choice::Propose { format!("{}\n", review.sentence) } else { String::new() };
    let mut text = format!(
        "{proposed}{} recorded. {}\nactivity: {}\n",
        ballot.choice.noun(),
        outcome_text(target, review),
        target.id
    );
    if let Some(error) = &confirmation.despite {
        let warning = format!("it is recorded although an error was answered: {error}");
        output::warn_scripts(&warning);
        let _ = writeln!(text, "[!] {warning}");
    }
    text
}

/// Returns the failure of a vote or proposal that is not sent, because the journal would not contain it.
fn unsent(error: FileError) -> Failure {
    let failure = Failure::from(error);
    Failure::new(
        failure.exit,
        format!("the journal cannot be written: {}; nothing was sent", failure.message()),
    )
}

/// Returns the warning that the journal lacks what became of a vote or proposal.
fn warning(written: Result<(), FileError>) -> Option<String> {
    written.err().map(|error| format!("the journal does not contain this: {error}"))
}

/// Adds a warning to a text if the journal lacks what it states.
pub(super) fn add_warning(text: &mut String, written: Result<(), FileError>) {
    if let Some(warning) = warning(written) {
        output::warn_scripts(&warning);
        let _ = writeln!(text, "warning: {}", clean(&warning));
    }
}

/// Adds a warning to a failure if the journal lacks what it states.
fn warned(failure: Failure, written: Result<(), FileError>) -> Failure {
    match warning(written) {
        Some(warning) => {
            let text = format!("{}; warning: {warning}", failure.message());
            Failure::new(failure.exit, text).with(failure.details)
        }
        None => failure,
    }
}

fn answer(review: &Review, choice: Choice, outcome: Outcome, vote: &str, text: String) -> Answer {
    let exit = match (choice, outcome) {
        (Choice::Reject, Outcome::Rejected) | (Choice::Approve | Choice::Propose, Outcome::Executed) => {
            Exit::Done
        }
        (_, Outcome::Waiting) => Exit::Waiting,
        (Choice::Approve | Choice::Propose, Outcome::Rejected) => Exit::Rejected,
        (_, Outcome::Failed) | (Choice::Reject, Outcome::Executed) => Exit::Failed,
    };
    let data = json!({
        "activityId": review.activity.id,
        "fingerprint": review.proposal.as_ref().map(|proposal| proposal.fingerprint),
        "choice": choice.word(),
        "vote": vote,
        "outcome": outcome.word(),
        "status": review.activity.status,
        "sentence": review.sentence,
    });
    Answer::one(data, text).exits(exit)
}

impl Answer {
    fn with_result(mut self, target: &Activity) -> Self {
        if let Some(members) = self.data.first_mut().and_then(serde_json::Value::as_object_mut) {
            members.insert("activityId".to_owned(), json!(target.id));
            members.insert("status".to_owned(), json!(target.status));
            members.insert("result".to_owned(), target.result.clone());
            members.insert("failure".to_owned(), json!(target.failure));
        }
        self
    }
}
