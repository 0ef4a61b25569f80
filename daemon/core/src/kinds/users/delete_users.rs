//! Deletes users with all their credentials.

use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::invitation;

pub(in crate::kinds) struct DeleteUsers;

/// Deletes users with all their credentials, and revokes the open invitations that they sent.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    user_ids: AtMost<UserId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = DeleteUsers;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_USERS";
    const NUMBER: u16 = 9;
    const RESULT: &'static str = "deleteUsersResult";
}

impl Kind for DeleteUsers {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::User));
    const GATE: Gate = Gate::Policy;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, ()), RequestError> {
        not_empty(&intent.user_ids, "userIds")?;
        distinct(intent.user_ids.iter(), "userIds")?;
        intent.user_ids.iter().try_for_each(|id| view.user(*id).map(drop))?;
        if intent.user_ids.iter().any(|id| view.organization.is_root(*id)) {
            return Err(Wrong::QuorumUsers.into());
        }
        Ok((Facts::default(), ()))
    }

    fn execute(
        intent: Intent,
        (): (),
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Outcome, RequestError> {
        invitation::revoke_sent_by(&intent.user_ids, context);
        intent.user_ids.iter().for_each(|id| context.change(Change::RemoveUser(*id)));
        Ok(Outcome { user_ids: intent.user_ids })
    }
}
