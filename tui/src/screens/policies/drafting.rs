//! Policy drafts: written in the user's editor, reviewed like proposals of others, then signed.

use quorate_common::ids::PolicyId;

use super::state::{Drafting, State};
use crate::ballot::ActivityRequest;
use crate::policies::{Draft, removal};
use crate::screens::overlay::Overlay;
use crate::screens::request::{Effect, Request};
use crate::screens::shared::Shared;
use crate::text::clean;

impl State {
    /// Opens the editor for a new policy.
    pub(super) fn write_new(&mut self) -> Vec<Request> {
        self.edit(None, &Draft::blank())
    }

    /// Opens the editor for a change of the selected policy.
    pub(super) fn write_change(&mut self, shared: &Shared) -> Vec<Request> {
        let Some(policy) = self.selected(shared) else { return Vec::new() };
        self.edit(Some(policy.policy_id), &Draft::of(policy))
    }

    /// Opens the review of a removal of the selected policy.
    pub(super) fn remove(&self, shared: &Shared) -> Vec<Request> {
        let policy = self.selected(shared);
        policy.map(|policy| Request::review(shared.review_request(&removal(policy)))).into_iter().collect()
    }

    /// Continues an earlier draft of the same policy that was not valid.
    fn edit(&mut self, of: Option<PolicyId>, fresh: &Draft) -> Vec<Request> {
        let kept = self.drafting.take().filter(|kept| kept.of == of);
        let drafting = kept.unwrap_or_else(|| Drafting { of, text: fresh.text() });
        let effect = Effect::Edit(drafting.text.clone());
        self.drafting = Some(drafting);
        vec![effect.into()]
    }

    /// Applies the result of the editor.
    pub(super) fn apply_edited(&mut self, shared: &Shared, result: Result<String, String>) -> Vec<Request> {
        let Some(drafting) = &mut self.drafting else { return Vec::new() };
        let text = match result {
            Ok(text) if text == drafting.text => {
                self.drafting = None;
                return vec![Request::Notice("the draft was not changed".to_owned())];
            }
            Ok(text) => text,
            Err(why) => return vec![Request::Notice(format!("[!] {why}"))],
        };
        drafting.text.clone_from(&text);
        vec![match request(shared, drafting.of, &text) {
            Ok(request) => Request::review(shared.review_request(&request)),
            Err(error) => invalid(&error, if drafting.of.is_some() { "E" } else { "n" }),
        }]
    }
}

/// Shows why a draft is invalid, and the key that continues it.
fn invalid(error: &str, key: &str) -> Request {
    let mut paragraphs: Vec<String> = error.lines().map(|line| format!("[!] {}", clean(line))).collect();
    paragraphs.push(String::new());
    paragraphs.push(format!("Nothing was sent. The draft is kept; press {key} to edit it again."));
    Request::Overlay(Overlay::text("The draft is not a valid policy", paragraphs))
}

fn request(shared: &Shared, of: Option<PolicyId>, text: &str) -> Result<ActivityRequest, String> {
    let draft = Draft::read(text).map_err(|error| error.to_string())?;
    let Some(id) = of else { return Ok(draft.creation()) };
    let policies = shared.organization.iter().flat_map(|organization| &organization.policies);
    let known = policies.into_iter().find(|policy| policy.policy_id == id);
    let policy = known.ok_or_else(|| "the policy was deleted in the meantime".to_owned())?;
    draft.change(policy).map_err(|error| error.to_string())
}
