//! Updates a user: name, contacts and tags.

use quorate_common::bounded::{Email, Phone};
use quorate_common::ids::{TagId, UserId};

use crate::kinds::prelude::*;
use crate::model::{TagKind, User};

pub(in crate::kinds) struct UpdateUser;

/// Updates a user: name, contacts and tags.
///
/// Absent members keep their values.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names of the wire")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_name: Option<Label>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_email: Option<Email>,
    /// Replaces all tags of the user. An empty list changes nothing, since clients cannot distinguish it from
    /// an absent one.
    #[serde(default)]
    user_tag_ids: AtMost<TagId, BATCH>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_phone_number: Option<Phone>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
}

impl Version for Intent {
    type Kind = UpdateUser;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER";
    const NUMBER: u16 = 41;
    const RESULT: &'static str = "updateUserResult";
}

impl Kind for UpdateUser {
    const ACTS: Option<(Action, Resource)> = Some((Action::Update, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = User;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), RequestError> {
        distinct(intent.user_tag_ids.iter(), "userTagIds")?;
        let user = view.user(intent.user_id)?.clone();
        view.tags_exist(&intent.user_tag_ids, TagKind::User)?;
        Ok((Facts::default(), user))
    }

    fn execute(
        intent: Intent,
        mut user: User,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        user.name = intent.user_name.unwrap_or(user.name);
        if intent.user_email.is_some() {
            (user.email, user.email_verified) = (intent.user_email, false);
        }
        if intent.user_phone_number.is_some() {
            (user.phone, user.phone_verified) = (intent.user_phone_number, false);
        }
        if !intent.user_tag_ids.is_empty() {
            user.tags = intent.user_tag_ids.into_vec();
        }
        user.updated = context.now();
        context.change(Change::PutUser(user));
        Ok(Outcome { user_id: intent.user_id })
    }
}
