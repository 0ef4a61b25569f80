//! Opens a session that can query and do nothing else.

use quorate_common::ids::{OrganizationId, UserId};
use sha2::{Digest, Sha256};

use crate::kinds::prelude::*;
use crate::limits::{READ_ONLY_SESSION_MILLIS, READ_ONLY_SESSIONS};
use crate::model::User;
use crate::model::user::ReadOnlySession;

/// Opens a session for the caller that can query their organization for one hour and do nothing else.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(extend("properties" = {}))]
pub(in crate::kinds) struct Intent {}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    organization_id: OrganizationId,
    organization_name: String,
    user_id: UserId,
    username: String,
    /// Value of the header `X-Session`. The answer to the request shows it once; it is empty from then on.
    session: String,
    /// Time at which the session ends, in seconds since 1970.
    session_expiry: String,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION";
    const NUMBER: u16 = 64;
}

impl Kind for Intent {
    const GATE: Gate = Gate::Caller;
    const SCOPE: CredentialScope = CredentialScope::SubOrganizations;
    type Plan = ();
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        view.user(view.proposer).map(drop)
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let now = context.now();
        let token: [u8; 32] = context.random();
        let mut user: User = context.user(context.proposer)?.clone();
        let sessions = &mut user.read_only_sessions;
        sessions.retain(|session| session.expires > now);
        let excess = sessions.len().saturating_add(1).saturating_sub(READ_ONLY_SESSIONS);
        sessions.drain(..excess);
        let expires = now.saturating_add(READ_ONLY_SESSION_MILLIS);
        sessions.push(ReadOnlySession { digest: Sha256::digest(token).into(), expires });
        let outcome = Outcome {
            organization_id: context.organization.id(),
            organization_name: context.organization.head.name.to_string(),
            user_id: user.id,
            username: user.name.to_string(),
            session: const_hex::encode(token),
            session_expiry: (expires / 1000).to_string(),
        };
        context.update_user(user);
        Ok(outcome)
    }

    fn mask(outcome: &mut Outcome) -> bool {
        outcome.session.clear();
        true
    }
}
