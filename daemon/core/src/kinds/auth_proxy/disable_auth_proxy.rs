//! Deletes the user in whose name the authentication proxy stamps requests.

use crate::kinds::prelude::*;
use crate::make::invitation;

/// Deletes the user in whose name the authentication proxy stamps requests, with the API key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(extend("properties" = {}))]
pub(in crate::kinds) struct Intent {}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DISABLE_AUTH_PROXY";
    const NUMBER: u16 = 96;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::AuthProxy));
    type Plan = UserId;
    type Outcome = Empty;

    fn rules(&self, view: &View<'_>) -> Result<UserId, RequestError> {
        let user = view.organization.head.auth_proxy;
        let user = user.ok_or(Wrong::Text("the authentication proxy is not enabled"))?;
        if view.organization.is_root(user) { Err(Wrong::QuorumUsers.into()) } else { Ok(user) }
    }

    fn execute(self, user: UserId, context: &mut Execution<'_>) -> Result<Empty, RequestError> {
        invitation::revoke_sent_by(&[user], context);
        context.change(Change::RemoveUser(user));
        Ok(Empty {})
    }
}
