//! Deletes users with all their credentials.

use crate::kinds::prelude::*;
use crate::make::invitation;
use crate::params::user::UsersResult;

/// Deletes users with all their credentials, and revokes the open invitations that they sent.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    #[serde(default)]
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_DELETE_USERS";
    const NUMBER: u16 = 9;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Delete, Resource::User));
    type Plan = ();
    type Outcome = UsersResult;

    fn rules(&self, view: &View<'_>) -> Result<(), RequestError> {
        look_up_each(&self.user_ids, "userIds", |id| view.user(id))?;
        let has_root = self.user_ids.iter().any(|id| view.organization.is_root(*id));
        if has_root { Err(Wrong::QuorumUsers.into()) } else { Ok(()) }
    }

    fn execute(self, (): (), context: &mut Execution<'_>) -> Result<UsersResult, RequestError> {
        invitation::revoke_sent_by(&self.user_ids, context);
        context.change_all(self.user_ids.iter().copied().map(Change::RemoveUser));
        Ok(UsersResult { user_ids: self.user_ids })
    }
}
