//! Policy drafts: written in the user's editor, reviewed like proposals of others, then signed.

use quorate_common::ids::PolicyId;
use quorate_common::wire::Policy;

use super::{position, shown};
use crate::app::{Effect, Model};
use crate::ballot::ActivityRequest;
use crate::policies::{Draft, DraftError, removal};
use crate::proof::{DraftContext, Review};
use crate::screens::overlay::Overlay;
use crate::screens::review;
use crate::text::clean;

/// A text in the editor, or an edited text that is not a valid policy yet.
pub(super) struct Drafting {
    /// Policy to change; absent for a new policy.
    of: Option<PolicyId>,
    text: String,
}

/// Opens the editor for a new policy.
pub(super) fn new(model: &mut Model) -> Vec<Effect> {
    edit(model, None, &Draft::blank())
}

/// Opens the editor for a change of the selected policy.
pub(super) fn change(model: &mut Model) -> Vec<Effect> {
    let Some(policy) = selected(model) else { return Vec::new() };
    edit(model, Some(policy.policy_id), &Draft::of(&policy))
}

/// Opens the review of a removal of the selected policy.
pub(super) fn remove(model: &mut Model) -> Vec<Effect> {
    let Some(policy) = selected(model) else { return Vec::new() };
    open(model, &removal(&policy))
}

fn selected(model: &Model) -> Option<Policy> {
    let shown = shown(model);
    shown.get(position(model, &shown)).map(|policy| (*policy).clone())
}

/// Continues an earlier draft of the same policy that was not valid.
fn edit(model: &mut Model, of: Option<PolicyId>, fresh: &Draft) -> Vec<Effect> {
    let kept = model.policies.drafting.take().filter(|kept| kept.of == of);
    let drafting = kept.unwrap_or_else(|| Drafting { of, text: fresh.text() });
    let effect = Effect::Edit(drafting.text.clone());
    model.policies.drafting = Some(drafting);
    vec![effect]
}

/// Applies the result of the editor.
pub(crate) fn edited(model: &mut Model, result: Result<String, String>) -> Vec<Effect> {
    let Some(drafting) = &mut model.policies.drafting else { return Vec::new() };
    let text = match result {
        Ok(text) if text == drafting.text => {
            model.policies.drafting = None;
            "the draft was not changed".clone_into(&mut model.notice);
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
    match request(model, of, &text) {
        Ok(request) => open(model, &request),
        Err(error) => {
            let mut paragraphs: Vec<String> =
                error.lines().map(|line| format!("[!] {}", clean(line))).collect();
            let key = if of.is_some() { "E" } else { "n" };
            paragraphs.push(String::new());
            paragraphs.push(format!("Nothing was sent. The draft is kept; press {key} to edit it again."));
            model.overlays.push(Overlay::Text {
                title: "The draft is not a valid policy".to_owned(),
                paragraphs,
                scroll: 0,
            });
            Vec::new()
        }
    }
}

fn request(model: &Model, of: Option<PolicyId>, text: &str) -> Result<ActivityRequest, String> {
    let draft = Draft::read(text).map_err(|error| error.to_string())?;
    let Some(id) = of else { return Ok(draft.creation()) };
    let policies = model.organization.iter().flat_map(|organization| &organization.policies);
    let known = policies.into_iter().find(|policy| policy.policy_id == id);
    let policy = known.ok_or_else(|| "the policy was deleted in the meantime".to_owned())?;
    draft.change(policy).map_err(|error: DraftError| error.to_string())
}

/// Opens the review of a drafted request.
fn open(model: &mut Model, request: &ActivityRequest) -> Vec<Effect> {
    let review = match review_request(model, request) {
        Ok(review) => review,
        Err(error) => {
            model.notice = error;
            return Vec::new();
        }
    };
    let effects = review::replay_order(&review).into_iter().collect();
    model.review = Some(review::State::draft(review));
    effects
}

/// Reviews a drafted request with the current state.
///
/// # Errors
///
/// Returns why it cannot be reviewed: the organization is not loaded, no key is selected, or the viewer
/// cannot propose.
pub(crate) fn review_request(model: &Model, request: &ActivityRequest) -> Result<Review, String> {
    let unread = || "the organization is not loaded yet".to_owned();
    let no_key = || "no user and key are chosen: see quorate key add and config.toml".to_owned();
    let context = DraftContext {
        organization: model.organization.as_ref().ok_or_else(unread)?,
        viewer: &model.viewer,
        public_key: model.identity.public_key.as_deref().ok_or_else(no_key)?,
        strict_deny_errors: model.daemon.as_ref().is_some_and(|daemon| daemon.strict_deny_errors),
        now: model.now,
    };
    Review::of_request(request, &context)
}

/// Discards the draft after it was proposed.
pub(crate) fn discard_draft(model: &mut Model) {
    model.policies.drafting = None;
}
