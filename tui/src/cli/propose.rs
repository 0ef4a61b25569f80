//! `quorate policy draft|new|change|remove`.

use std::collections::BTreeSet;

use serde_json::json;

use super::decide::{cast, check_flags};
use super::loaded::LoadedOrganization;
use super::policy_arguments::ProposeArguments;
use crate::ballot::ActivityRequest;
use crate::book::Book;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::link::look_up;
use crate::output::Answer;
use crate::policies::{Body, Draft, DraftError, ResolvedNames, removal};
use crate::proof::{DraftContext, Mark, Review, json as review_json, plain_text};
use crate::session::{Session, pin_keys};

/// Returns a policy, or a template for a new one, as text to edit.
pub(super) fn draft(loaded: Option<&LoadedOrganization>, policy: Option<&str>) -> Result<Answer> {
    let draft = match (loaded, policy) {
        (Some(loaded), Some(policy)) => Draft::of(loaded.policy(policy)?),
        _ => Draft::blank(),
    };
    let text = draft.text();
    Ok(Answer::one(json!({"draft": text}), text))
}

/// Builds the request for a new policy.
pub(super) fn new(text: &str) -> Result<ActivityRequest> {
    Ok(Draft::read(text).map_err(|error| draft_failure(&error))?.creation())
}

/// Builds the request that changes a policy to a draft.
pub(super) fn change(loaded: &LoadedOrganization, policy: &str, text: &str) -> Result<ActivityRequest> {
    let policy = loaded.policy(policy)?;
    Draft::read(text).and_then(|draft| draft.change(policy)).map_err(|error| draft_failure(&error))
}

/// Builds the request that removes a policy.
pub(super) fn remove(loaded: &LoadedOrganization, policy: &str) -> Result<ActivityRequest> {
    Ok(removal(loaded.policy(policy)?))
}

fn draft_failure(error: &DraftError) -> Failure {
    Failure::lines(Exit::Usage, &format!("invalid draft: {error}"))
}

/// Proposes a request if the flags of its review are accepted by name. A dry run only shows the review.
pub(super) async fn propose(
    session: &Session,
    loaded: &LoadedOrganization,
    request: &ActivityRequest,
    options: &ProposeArguments,
) -> Result<Answer> {
    let viewer = session.identity.viewer_in(&loaded.organization);
    let no_key = || Failure::new(Exit::Usage, viewer.no_signer(&loaded.organization));
    let known_keys = pin_keys(&session.folders, &loaded.organization)?;
    let book = Book::load(&session.folders.book())?;
    let mut signers = ResolvedNames::new();
    let body = Body::of(request.activity_type, &request.parameters);
    look_up(&session.client, loaded.id, &body, &mut signers, &mut BTreeSet::new()).await?;
    let context = DraftContext {
        organization: &loaded.organization,
        viewer: &viewer,
        public_key: session.identity.public_key.as_deref().ok_or_else(no_key)?,
        known_keys: &known_keys,
        book: &book,
        signers: &signers,
        strict_deny_errors: loaded.strict,
        now: now_millis(),
    };
    let mut review =
        Review::of_request(request, &context).map_err(|error| Failure::new(Exit::Usage, error))?;
    session.compare_with_earlier_transfers(&mut review).await?;
    if options.dry_run {
        return Ok(Answer::one(review_json(&review), plain_text(&review)));
    }
    if review.blocked() {
        return Err(blocked(&review).with(review_json(&review)));
    }
    check_flags(&review, &options.allow_flag)?;
    let ballot = review.draft.as_ref().map(|draft| draft.ballot.clone()).ok_or_else(no_key)?;
    cast(session, &review, &ballot, None).await
}

/// Returns why a draft is not sent.
fn blocked(review: &Review) -> Failure {
    let failed = review.checks.iter().find(|check| check.id == "K10" && check.mark == Mark::Failed);
    if let Some(check) = failed {
        return Failure::new(Exit::Verification, format!("{}; nothing was sent", check.text));
    }
    let outlook = review.draft.as_ref().map(|draft| draft.outlook.as_str()).unwrap_or_default();
    Failure::new(Exit::Denied, format!("the proposal would not succeed: {outlook}; nothing was sent"))
}
