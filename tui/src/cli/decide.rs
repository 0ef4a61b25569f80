//! `quorate approve` and `quorate reject`.

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
use crate::journal::{self, Entry};
use crate::kinds::Flag;
use crate::link::{self, LinkError};
use crate::output::Answer;
use crate::proof::{Mark, Review, json, outcome_text};
use crate::session::Session;
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

/// Sends a signed vote or proposal, and checks that the daemon recorded it.
pub(super) async fn send(
    session: &Session,
    review: &Review,
    (ballot, stamp): (&Ballot, &Stamp),
    note: Option<&str>,
) -> Result<Answer> {
    let user = review.viewer.user.ok_or_else(|| Failure::new(Exit::Usage, "no user is selected"))?;
    let organization = review.viewer.organization.unwrap_or(review.activity.organization_id);
    let record = |activity: ActivityId, word: &str| {
        let entry = Entry::of(review, ballot, (activity, word), note, now_millis());
        journal::append(&session.folders.journal(), entry)
    };
    let label = ballot.choice.noun();
    let target = match link::cast(&session.client, organization, ballot, stamp).await {
        Ok(target) => target,
        Err(error) => {
            record(review.activity.id, error.of_vote().word())?;
            return Err(unconfirmed(error, label));
        }
    };
    let outcome = Outcome::of(target.status);
    let is_recorded = ballot::is_recorded(&target, ballot, user, stamp);
    // What the daemon claims of an activity without this vote is not recorded.
    let activity =
        if is_recorded && ballot.choice == Choice::Propose { target.id } else { review.activity.id };
    record(activity, if is_recorded { outcome.word() } else { Unconfirmed::NotInRecord.word() })?;
    if !is_recorded {
        let what = label.to_lowercase();
        let message =
            format!("sent, but the daemon's record does not contain this {what} with your signature");
        return Err(Failure::new(Exit::Verification, message).with(json!({"activity": target})));
    }
    // A person who proposes from a file sees what became of it.
    let proposed =
        if ballot.choice == Choice::Propose { format!("{}\n", review.sentence) } else { String::new() };
    let outcome_text = outcome_text(&target, review);
    let text = format!("{proposed}{label} recorded. {outcome_text}\nactivity: {}\n", target.id);
    Ok(answer(review, ballot.choice, outcome, "recorded", text).with_result(&target))
}

/// Returns the failure of a vote or proposal that was not recorded as far as is known.
fn unconfirmed(error: LinkError, label: &str) -> Failure {
    let fate = error.of_vote();
    let failure = Failure::from(error);
    if fate != Unconfirmed::NoAnswer {
        return failure;
    }
    let text = format!(
        "{}; the {} was sent and may still count within an hour: check the activity, and reject it if in doubt",
        failure.message(),
        label.to_lowercase()
    );
    Failure::new(failure.exit, text).with(failure.details)
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
