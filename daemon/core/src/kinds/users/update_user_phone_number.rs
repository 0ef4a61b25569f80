//! Changes or removes the phone number of a user.

use crate::kinds::prelude::*;
use crate::make::user;
use crate::params::credential::VerificationToken;
use crate::params::user::UserResult;

/// Longest phone number, in bytes.
const PHONE: usize = 16;

/// Changes or removes the phone number of a user.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    /// New phone number. An empty text removes it.
    user_phone_number: Text<PHONE>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verification_token: Option<VerificationToken>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER";
    const NUMBER: u16 = 91;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::User));
    type Plan = User;
    type Outcome = UserResult;

    fn rules(&self, view: &View<'_>) -> Result<User, RequestError> {
        let token = self.verification_token.as_ref().map_or("", Text::as_str);
        user::reject_verification_token(!token.is_empty())?;
        let phone = user::contact(self.user_phone_number.as_str(), Phone::parse, "userPhoneNumber")?;
        Ok(User { phone, phone_verified: false, ..view.user(self.user_id)?.clone() })
    }

    fn execute(self, user: User, context: &mut Execution<'_>) -> Result<UserResult, RequestError> {
        context.update_user(user);
        Ok(UserResult { user_id: self.user_id })
    }
}
