//! Deletes authenticators of a user.

use quorate_common::ids::{AuthenticatorId, UserId};

use crate::kinds::prelude::*;
use crate::make::user;
use crate::model::User;

pub(in crate::kinds) struct DeleteAuthenticators;

/// Deletes authenticators of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    #[serde(default)]
    authenticator_ids: AtMost<AuthenticatorId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    authenticator_ids: AtMost<AuthenticatorId, BATCH>,
}

impl Form for Intent {
    type Kind = DeleteAuthenticators;
    type Outcome = Outcome;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_AUTHENTICATORS";
    const NUMBER: u16 = 20;
    const RESULT: &'static str = "deleteAuthenticatorsResult";
}

impl Kind for DeleteAuthenticators {
    const ACTS: Option<(Action, Resource)> = Some((Action::Delete, Resource::Credential));
    const GATE: Gate = Gate::OwnCredential;
    type Intent = Intent;
    type Plan = User;
    type Outcome = Outcome;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, User), Refusal> {
        let mut user = view.user(intent.user_id)?.clone();
        let missing = |id: &AuthenticatorId| Missing::Record("authenticator", id.to_string());
        user::take_out(
            &mut user.authenticators,
            &intent.authenticator_ids,
            "authenticatorIds",
            |one| &one.id,
            missing,
        )?;
        user::still_gets_in(&user, view.organization)?;
        Ok((Facts::of_own_credentials(intent.user_id), user))
    }

    fn own_credentials_of(intent: &Intent) -> Option<UserId> {
        Some(intent.user_id)
    }

    fn execute(intent: Intent, user: User, cx: &mut Cx<'_, '_>) -> Result<Outcome, Refusal> {
        cx.change(Change::PutUser(User { updated: cx.now(), ..user }));
        Ok(Outcome { authenticator_ids: intent.authenticator_ids })
    }
}
