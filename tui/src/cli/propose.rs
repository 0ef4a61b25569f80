//! `quorate policy draft|new|change|remove`.

use serde_json::json;

use super::Answer;
use super::arguments::ProposeArguments;
use super::decide::{cast, unnamed_flags};
use super::policies::House;
use super::review;
use crate::ballot::Wish;
use crate::clock::now_millis;
use crate::failure::{Exit, Failure};
use crate::policies::{Draft, DraftFlaw, removal};
use crate::proof::{Ground, Review, json as told};
use crate::session::Session;

/// A policy as text to edit: one that is, or the beginning of a new one.
pub(super) fn draft(house: Option<&House>, policy: Option<&str>) -> Result<Answer, Failure> {
    let draft = match (house, policy) {
        (Some(house), Some(policy)) => Draft::of(house.policy(policy)?),
        _ => Draft::blank(),
    };
    let text = draft.text();
    Ok(Answer::one(json!({"draft": text}), text))
}

/// What asks for a new policy.
pub(super) fn new(text: &str) -> Result<Wish, Failure> {
    Ok(Draft::read(text).map_err(|error| flaw(&error))?.creation())
}

/// What asks for a policy to become what a draft says.
pub(super) fn change(house: &House, policy: &str, text: &str) -> Result<Wish, Failure> {
    let policy = house.policy(policy)?;
    Draft::read(text).and_then(|draft| draft.change(policy)).map_err(|error| flaw(&error))
}

/// What asks for a policy to go.
pub(super) fn remove(house: &House, policy: &str) -> Result<Wish, Failure> {
    Ok(removal(house.policy(policy)?))
}

fn flaw(flaw: &DraftFlaw) -> Failure {
    Failure::lines(Exit::Usage, &format!("the draft makes no policy: {flaw}"))
}

/// Asks for it, if the flags of its review are accepted by name; tells the review only, if no more is wanted.
pub(super) async fn propose(
    session: &Session,
    house: &House,
    wish: &Wish,
    wanted: &ProposeArguments,
) -> Result<Answer, Failure> {
    let viewer = session.viewer_in(&house.organization);
    let nobody = || Failure::new(Exit::Usage, "no user and key are chosen: see quorate key add");
    let ground = Ground {
        organization: &house.organization,
        viewer: &viewer,
        public_key: session.public_key().ok_or_else(nobody)?,
        strict_deny_errors: house.strict,
        now: now_millis(),
    };
    let review = Review::of_wish(wish, &ground).map_err(|refusal| Failure::new(Exit::Usage, refusal))?;
    if wanted.dry_run {
        return Ok(Answer::one(told(&review), review::text(&review)));
    }
    if review.blocked() {
        let outlook = review.draft.as_ref().map(|draft| draft.outlook.clone()).unwrap_or_default();
        return Err(Failure::new(Exit::Denied, format!("{outlook}; nothing was sent")).with(told(&review)));
    }
    unnamed_flags(&review, &wanted.allow_flag)?;
    let ballot = review.draft.as_ref().map(|draft| draft.ballot.clone()).ok_or_else(nobody)?;
    cast(session, &review, &ballot, None).await
}
