//! Policies that are thought of: written down in the user's editor, then reviewed like what others ask for, then signed.

use quorate_common::ids::PolicyId;
use quorate_common::wire::Policy;

use super::{position, shown};
use crate::app::{Effect, Model};
use crate::ballot::Wish;
use crate::policies::{Draft, DraftFlaw, removal};
use crate::proof::{Ground, Review};
use crate::screens::overlay::Overlay;
use crate::screens::review;
use crate::text::clean;

/// A text in the editor, or one that came back from it and makes no policy yet.
pub(super) struct Drafting {
    /// The policy that it changes; none if it is a new one.
    of: Option<PolicyId>,
    text: String,
}

/// Opens the editor on a new policy.
pub(super) fn new(model: &mut Model) -> Vec<Effect> {
    edit(model, None, &Draft::blank())
}

/// Opens the editor on the selected policy.
pub(super) fn change(model: &mut Model) -> Vec<Effect> {
    let Some(policy) = selected(model) else { return Vec::new() };
    edit(model, Some(policy.policy_id), &Draft::of(&policy))
}

/// Shows what it would mean to remove the selected policy.
pub(super) fn remove(model: &mut Model) -> Vec<Effect> {
    let Some(policy) = selected(model) else { return Vec::new() };
    open(model, &removal(&policy))
}

fn selected(model: &Model) -> Option<Policy> {
    let shown = shown(model);
    shown.get(position(model, &shown)).map(|policy| (*policy).clone())
}

/// What was written before and makes no policy is taken up again.
fn edit(model: &mut Model, of: Option<PolicyId>, fresh: &Draft) -> Vec<Effect> {
    let kept = model.policies.drafting.take().filter(|kept| kept.of == of);
    let drafting = kept.unwrap_or_else(|| Drafting { of, text: fresh.text() });
    let effect = Effect::Edit(drafting.text.clone());
    model.policies.drafting = Some(drafting);
    vec![effect]
}

/// Takes what came back from the editor.
pub(crate) fn edited(model: &mut Model, result: Result<String, String>) -> Vec<Effect> {
    let Some(drafting) = &mut model.policies.drafting else { return Vec::new() };
    let text = match result {
        Ok(text) if text == drafting.text => {
            model.policies.drafting = None;
            "nothing was changed in the editor".clone_into(&mut model.notice);
            return Vec::new();
        }
        Ok(text) => text,
        Err(why) => {
            model.notice = format!("[!] {why}");
            return Vec::new();
        }
    };
    drafting.text.clone_from(&text);
    let of = drafting.of;
    match wish(model, of, &text) {
        Ok(wish) => open(model, &wish),
        Err(flaw) => {
            let mut paragraphs: Vec<String> =
                flaw.lines().map(|line| format!("[!] {}", clean(line))).collect();
            let key = if of.is_some() { "E" } else { "n" };
            paragraphs.push(String::new());
            paragraphs
                .push(format!("Nothing was sent. {key} takes the draft up again; it is kept until then."));
            model.overlays.push(Overlay::Text {
                title: "The draft makes no policy".to_owned(),
                paragraphs,
                scroll: 0,
            });
            Vec::new()
        }
    }
}

fn wish(model: &Model, of: Option<PolicyId>, text: &str) -> Result<Wish, String> {
    let draft = Draft::read(text).map_err(|flaw| flaw.to_string())?;
    let Some(id) = of else { return Ok(draft.creation()) };
    let policies = model.organization.iter().flat_map(|organization| &organization.policies);
    let known = policies.into_iter().find(|policy| policy.policy_id == id);
    let policy = known.ok_or_else(|| "the policy is gone meanwhile".to_owned())?;
    draft.change(policy).map_err(|flaw: DraftFlaw| flaw.to_string())
}

/// Opens the review of a wish.
fn open(model: &mut Model, wish: &Wish) -> Vec<Effect> {
    let review = match thought(model, wish) {
        Ok(review) => review,
        Err(refusal) => {
            model.notice = refusal;
            return Vec::new();
        }
    };
    let effects = review::wants_replay(&review).into_iter().collect();
    model.review = Some(review::State::draft(review));
    effects
}

/// The review of a wish, as of now, or why there is none.
pub(crate) fn thought(model: &Model, wish: &Wish) -> Result<Review, String> {
    let unread = || "the organization is not read yet".to_owned();
    let no_key = || "no user and key are chosen: see quorate key add and config.toml".to_owned();
    let ground = Ground {
        organization: model.organization.as_ref().ok_or_else(unread)?,
        viewer: &model.viewer,
        public_key: model.identity.public_key.as_deref().ok_or_else(no_key)?,
        strict_deny_errors: model.daemon.as_ref().is_some_and(|daemon| daemon.strict_deny_errors),
        now: model.now,
    };
    Review::of_wish(wish, &ground)
}

/// Forgets what was written, once it was asked for.
pub(crate) fn sent(model: &mut Model) {
    model.policies.drafting = None;
}
