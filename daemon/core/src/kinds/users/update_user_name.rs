//! Renames a user.

use crate::kinds::prelude::*;
use crate::params::user::UserResult;

/// Renames a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    user_name: Label,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_NAME";
    const NUMBER: u16 = 89;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::User));
    type Plan = User;
    type Outcome = UserResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        Ok(view.user(self.user_id)?.clone())
    }

    fn execute(self, user: User, context: &mut Execution<'_>) -> Result<UserResult, RequestError> {
        context.update_user(User { name: self.user_name, ..user });
        Ok(UserResult { user_id: self.user_id })
    }
}
