//! Deletes user tags and removes them from all users.

use quorate_common::ids::{TagId, UserId};

use crate::kinds::prelude::*;
use crate::make::{invitation, tag};
use crate::model::User;

/// Maximum number of users in a result. Limits keep organizations below it.
const MEMBERS: usize = 10_000;

pub(in crate::kinds) struct DeleteUserTags;

/// Deletes user tags and removes them from all users.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    user_tag_ids: AtMost<TagId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_tag_ids: AtMost<TagId, BATCH>,
    user_ids: AtMost<UserId, MEMBERS>,
}

impl Version for Intent {
    type Kind = DeleteUserTags;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_USER_TAGS";
    const NUMBER: u16 = 15;
    const RESULT: &'static str = "deleteUserTagsResult";
}

impl Kind for DeleteUserTags {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.user_tag_ids, "userTagIds")?;
        tag::check_delete::<User>(view, &intent.user_tag_ids, "userTagIds")?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        invitation::untag(&intent.user_tag_ids, context);
        let members = tag::delete::<User>(&intent.user_tag_ids, context);
        Ok(Outcome { user_tag_ids: intent.user_tag_ids, user_ids: AtMost::cut(members) })
    }
}
