//! `quorate vote sign|submit`: a vote that is signed on one machine and sent from another.

use std::path::Path;

use quorate_common::ids::UserId;
use serde_json::json;

use super::decide::{
    add_warning, already_approved, blocked_failure, check_expected, check_flags, send, stamped,
};
use super::input::given;
use super::proof::{Reviewed, failure, read};
use super::proof_arguments::{SignArguments, VoteCommand};
use crate::ballot::{Ballot, Choice};
use crate::book::Book;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::files;
use crate::journal::{self, Entry};
use crate::output::{Answer, file_text};
use crate::proof::{Evidence, PinnedBy, Record, Review, Siblings, Viewer, difference, json as review_json};
use crate::session::{Session, pin_keys};
use crate::text::{clean, date_time, duration};
use crate::vote_file::{VOTE_FILE_LIMIT, VoteFile, VoteFileError};

/// Time after signing during which the daemon accepts a vote, in milliseconds.
const SIGNED_MILLIS: u64 = 60 * 60 * 1000;
/// Time by which the daemon accepts that the clock of the signing machine is ahead, in milliseconds.
const AHEAD_MILLIS: u64 = 5 * 60 * 1000;
/// Name of the flag of an organization of which nothing is known.
const NO_KNOWN_KEYS: &str = "no-known-keys";

pub(super) async fn run(session: &Session, command: &VoteCommand) -> Result<Answer> {
    match command {
        VoteCommand::Sign(options) => sign(session, options).await,
        VoteCommand::Submit { file } => submit(session, file).await,
    }
}

/// Signs a vote on a bundle under the rules of `quorate approve`.
async fn sign(session: &Session, options: &SignArguments) -> Result<Answer> {
    let reviewed = Reviewed::of(session, read(&options.file)?, None)?;
    let review = &reviewed.review;
    if let Some(mismatch) = session.identity.mismatch(&review.organization) {
        return Err(mismatch);
    }
    check_fingerprint(review, options)?;
    check_selected(session)?;
    let error = if options.reject { review.rejection_error() } else { review.approval_error() };
    if let Some(error) = error {
        return Err(blocked_failure(review, &error));
    }
    let (organization, fingerprint) =
        review.vote_target().map_err(|error| blocked_failure(review, &error))?;
    let is_allowed = options.expected.allow_flag.iter().any(|name| name == NO_KNOWN_KEYS);
    if !reviewed.knows_organization && !is_allowed {
        let text = format!(
            "you have no known keys of this organization, so only the file states whose keys these are: import those of \
             a member with `quorate known-keys import`, or accept it by name: --allow-flag {NO_KNOWN_KEYS}; nothing was \
             signed"
        );
        return Err(Failure::new(Exit::Verification, text).with(review_json(review)));
    }
    let nobody = || Failure::new(Exit::Usage, review.viewer.no_signer(&review.organization));
    let user = review.viewer.user.ok_or_else(nobody)?;
    let now = now_millis();
    let ballot = Ballot::vote(!options.reject, organization, fingerprint, now);
    let stamp = stamped(session, &ballot).await?;
    let vote = VoteFile::new(user, &ballot, &stamp, &options.expected.allow_flag, &reviewed.bundle);
    files::create_private(&options.output, file_text(&vote.json()).as_bytes())?;
    let entry =
        Entry::of(review, &ballot, (review.activity.id, "signed, not sent"), options.note.as_deref(), now);
    let written = journal::append(&session.folders.journal(), entry);
    let file = options.output.display().to_string();
    let mut text = format!(
        "{}\nVote signed: {}. Nothing was sent. Written to {}.\nSubmit it before {} with: quorate vote submit FILE\n",
        review.sentence,
        ballot.choice.word(),
        clean(&file),
        date_time(now.saturating_add(SIGNED_MILLIS)),
    );
    add_warning(&mut text, written);
    let data = json!({
        "file": file,
        "activityId": review.activity.id,
        "fingerprint": fingerprint,
        "choice": ballot.choice.word(),
        "vote": "signed",
        "expiresAtMillis": now.saturating_add(SIGNED_MILLIS),
        "sentence": review.sentence,
    });
    Ok(Answer::one(data, text))
}

/// Fails if organization, user or key are not selected: all that is missing in one error.
fn check_selected(session: &Session) -> Result<()> {
    let identity = &session.identity;
    let (viewer, is_named) = (&identity.viewer, identity.user_name.is_some());
    let needed = [
        (viewer.organization.is_some(), "--organization ID"),
        (viewer.user.is_some() || is_named || identity.public_key.is_some(), "--user USER"),
        (identity.public_key.is_some(), "--key KEY"),
    ];
    let missing: Vec<&str> =
        needed.iter().filter(|(is_there, _)| !is_there).map(|(_, option)| *option).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = format!(
        "to sign without a connection, name your organization by its id, your user and your key, here or in config.toml; \
         missing: {}; nothing was signed",
        missing.join(" ")
    );
    Err(Failure::new(Exit::Usage, text))
}

/// Fails if the fingerprint is not the expected one or, for an approval, a check failed or a flag is not accepted.
fn check_fingerprint(review: &Review, options: &SignArguments) -> Result<()> {
    let expected = &options.expected;
    if !options.reject {
        return check_expected(review, expected);
    }
    match review.proposal.as_ref().map(|proposal| proposal.fingerprint) {
        Some(fingerprint) if fingerprint != expected.expect_sha256 => {
            let text = format!(
                "the fingerprint is {fingerprint}, but {} was expected; nothing was signed",
                expected.expect_sha256
            );
            Err(Failure::new(Exit::Verification, text).with(review_json(review)))
        }
        _ => Ok(()),
    }
}

/// Sends a signed vote if the activity still is what was reviewed.
async fn submit(session: &Session, file: &Path) -> Result<Answer> {
    let vote = VoteFile::read(&given(file, VOTE_FILE_LIMIT)?).map_err(|error| match error {
        VoteFileError::Bundle(error) => failure(&error),
        error if error.is_mismatch() => Failure::new(Exit::Verification, error.to_string()),
        error => Failure::new(Exit::Usage, error.to_string()),
    })?;
    check_pinned(session, &vote)?;
    check_age(&vote, now_millis())?;
    session.daemon_status().await?;
    let id = vote.bundle.activity_id().to_string();
    let record = Record::from(session.client.record(vote.organization(), &id).await?);
    let siblings = session.siblings(vote.organization(), &record.row.activity).await?;
    let fresh = reviews(session, &vote, (&record, &siblings))?;
    if vote.ballot.choice == Choice::Approve
        && let Some(answer) = already_approved(&fresh)
    {
        return Ok(answer);
    }
    let is_approval = vote.ballot.choice == Choice::Approve;
    let error = if is_approval { fresh.approval_error() } else { fresh.rejection_error() };
    if let Some(error) = error {
        return Err(blocked_failure(&fresh, &error));
    }
    check_key(&fresh, &vote)?;
    if is_approval {
        check_flags(&fresh, &vote.accepted_flags)?;
    }
    send(session, &fresh, (&vote.ballot, &vote.stamp), None).await
}

/// Returns the review of the daemon's record. Fails if it differs from that of the bundle, with the same known keys.
fn reviews(session: &Session, vote: &VoteFile, (record, siblings): (&Record, &Siblings)) -> Result<Review> {
    let known_keys = pin_keys(&session.folders, &record.organization)?;
    let book = Book::load(&session.folders.book())?;
    let viewer = Viewer {
        organization: Some(vote.organization()),
        user: Some(vote.user),
        pinned_by: PinnedBy::Id,
        ..Viewer::default()
    };
    let now = now_millis();
    let review = |record: &Record, siblings: &Siblings| {
        Review::of(&Evidence {
            record,
            siblings,
            known_keys: &known_keys,
            book: &book,
            viewer: &viewer,
            now,
            reference: None,
        })
    };
    let (shown, fresh) = (review(&vote.bundle.record(), &vote.bundle.siblings()), review(record, siblings));
    let is_counted = vote.ballot.choice == Choice::Approve && fresh.own_vote().is_some();
    let is_decided = is_counted || !fresh.activity.status.waits();
    match difference(&shown, &fresh).filter(|_| !is_decided) {
        Some(changed) => {
            let text = format!(
                "changed since the export: {changed}; nothing was sent. Export, review and sign it again"
            );
            Err(Failure::new(Exit::Verification, text).with(review_json(&fresh)))
        }
        None => Ok(fresh),
    }
}

fn check_pinned(session: &Session, vote: &VoteFile) -> Result<()> {
    let signed = vote.organization();
    match session.identity.viewer.organization.filter(|pinned| *pinned != signed) {
        Some(pinned) => {
            let text = format!(
                "the vote was signed for organization {signed}, but {pinned} is pinned; nothing was sent"
            );
            Err(Failure::new(Exit::Verification, text))
        }
        None => Ok(()),
    }
}

fn check_age(vote: &VoteFile, now: u64) -> Result<()> {
    let age = now.saturating_sub(vote.signed_at);
    let ahead = vote.signed_at.saturating_sub(now);
    let text = if age > SIGNED_MILLIS {
        format!(
            "the vote has expired: it was signed {} ago, and the daemon accepts it for one hour; sign it again",
            duration(age)
        )
    } else if ahead > AHEAD_MILLIS {
        format!(
            "the vote was signed {} ahead of this clock: set the clock of the signing machine",
            duration(ahead)
        )
    } else {
        return Ok(());
    };
    Err(Failure::new(Exit::Denied, format!("{text}; nothing was sent")))
}

fn check_key(fresh: &Review, vote: &VoteFile) -> Result<()> {
    let has_key = |user: UserId| {
        let user = fresh.organization.users.iter().find(|known| known.user_id == user);
        user.is_some_and(|user| {
            user.public_keys().any(|key| key.eq_ignore_ascii_case(&vote.stamp.public_key))
        })
    };
    if has_key(vote.user) {
        return Ok(());
    }
    let text = format!(
        "the key that signed the vote is not a key of user {} in this organization; nothing was sent",
        vote.user
    );
    Err(Failure::new(Exit::Denied, text))
}
