//! Changes or removes the email address of a user.

use quorate_common::bounded::EMAIL_LIMIT;

use crate::kinds::prelude::*;
use crate::make::user;
use crate::make::verification::{self, Proof};
use crate::model::one_time_code::Contact;
use crate::params::credential::VerificationToken;
use crate::params::user::UserResult;

/// Changes or removes the email address of a user.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    user_id: UserId,
    /// New email address. An empty text removes it.
    user_email: Text<EMAIL_LIMIT>,
    /// Token that proves the new email address. Without one, it is not verified.
    verification_token: Option<VerificationToken>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_USER_EMAIL";
    const NUMBER: u16 = 90;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Update, Resource::User));
    type Plan = (User, Option<Proof>);
    type Outcome = UserResult;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let email = user::contact(self.user_email.as_str(), Email::parse_new, "userEmail")?;
        let contact = email.clone().map(Contact::Email);
        let proof = verification::prove(self.verification_token.as_ref(), contact.as_ref(), view)?;
        Ok((view.user(self.user_id)?.clone().with_email(email, proof.is_some()), proof))
    }

    fn has_secret(&self) -> bool {
        self.verification_token.is_some()
    }

    fn execute(self, plan: Self::Plan, context: &mut Execution<'_>) -> Result<UserResult, RequestError> {
        verification::put_contact(plan, context)
    }
}
