//! Changes or removes the phone number of a user.

use crate::kinds::prelude::*;
use crate::make::user;
use crate::make::verification::{self, Proof};
use crate::model::one_time_code::Contact;
use crate::params::credential::VerificationToken;
use crate::params::user::UserResult;

/// Longest phone number, in bytes.
const PHONE: usize = 16;

/// Changes or removes the phone number of a user.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    /// New phone number. An empty text removes it.
    user_phone_number: Text<PHONE>,
    /// Token that proves the new phone number. Without one, it is not verified.
    verification_token: Option<VerificationToken>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER";
    const NUMBER: u16 = 91;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::User));
    type Plan = (User, Option<Proof>);
    type Outcome = UserResult;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let phone = user::contact(self.user_phone_number.as_str(), Phone::parse, "userPhoneNumber")?;
        let contact = phone.clone().map(Contact::Phone);
        let proof = verification::prove(self.verification_token.as_ref(), contact.as_ref(), view)?;
        Ok((User { phone, phone_verified: proof.is_some(), ..view.user(self.user_id)?.clone() }, proof))
    }

    fn has_secret(&self) -> bool {
        self.verification_token.is_some()
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<UserResult, RequestError> {
        verification::put_contact(plan, context)
    }
}
