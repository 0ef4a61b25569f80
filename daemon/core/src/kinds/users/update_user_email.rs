//! Changes or removes the email address of a user.

use crate::kinds::prelude::*;
use crate::make::user;
use crate::params::credential::VerificationToken;
use crate::params::user::UserResult;

/// Longest email address, in bytes.
const EMAIL: usize = 254;

/// Changes or removes the email address of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    /// New email address. An empty text removes it.
    user_email: Text<EMAIL>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verification_token: Option<VerificationToken>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_EMAIL";
    const NUMBER: u16 = 90;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::User));
    type Plan = User;
    type Outcome = UserResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        let token = self.verification_token.as_ref().map_or("", Text::as_str);
        user::reject_verification_token(!token.is_empty())?;
        let email = user::contact(self.user_email.as_str(), Email::parse, "userEmail")?;
        Ok(User { email, email_verified: false, ..view.user(self.user_id)?.clone() })
    }

    fn execute(self, user: User, context: &mut Execution<'_>) -> Result<UserResult, RequestError> {
        context.update_user(user);
        Ok(UserResult { user_id: self.user_id })
    }
}
