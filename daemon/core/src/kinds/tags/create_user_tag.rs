//! Creates a tag for users and assigns it to some of them.

use quorate_common::ids::{TagId, UserId};

use crate::kinds::prelude::*;
use crate::make::tag;
use crate::model::User;

pub(in crate::kinds) struct CreateUserTag;

/// Creates a tag for users and assigns it to some of them.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_tag_name: Label,
    #[serde(default)]
    user_ids: AtMost<UserId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_tag_id: TagId,
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = CreateUserTag;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_USER_TAG";
    const NUMBER: u16 = 14;
    const RESULT: &'static str = "createUserTagResult";
}

impl Kind for CreateUserTag {
    const ACTS: Option<(Action, Resource)> = Some((Action::Create, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        tag::check_new::<User>(view, &intent.user_tag_name, &intent.user_ids, "userIds")?;
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        let user_tag_id = tag::create::<User>(intent.user_tag_name, &intent.user_ids, context)?;
        Ok(Outcome { user_tag_id, user_ids: intent.user_ids })
    }
}
