//! Opens a session for the user who received a one-time code.

use quorate_common::bounded::ExpirationSeconds;
use quorate_common::bundle::TargetPublicKey;
use quorate_common::ids::OtpId;

use crate::bundles;
use crate::kinds::prelude::*;
use crate::make::session::{self, NewSession};
use crate::make::{code_request, one_time_code};
use crate::model::user::KeySource;
use crate::params::one_time_code::CODE;
use crate::params::secret_text::SecretText;

/// Opens a session for the user who received a one-time code, and returns its key encrypted to the target key.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    otp_id: OtpId,
    otp_code: SecretText<CODE>,
    target_public_key: Text<130>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    api_key_name: Option<Label>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expiration_seconds: Option<ExpirationSeconds>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    invalidate_existing: Option<bool>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    user_id: UserId,
    api_key_id: ApiKeyId,
    credential_bundle: String,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_OTP_AUTH";
    const NUMBER: u16 = 78;
    const MASKS: bool = true;
}

impl Kind for Intent {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const OPEN_TO_PARENT: bool = true;
    const WAITS: bool = false;
    type Plan = (TargetPublicKey, Label);
    type Outcome = Outcome;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let target = bundles::target(self.target_public_key.as_str())?;
        let name = self.api_key_name.clone().map_or_else(|| session::label("OTP Auth", view), Ok)?;
        Ok((target, name))
    }

    fn execute(
        self,
        (target, name): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<Outcome, RequestError> {
        let accepted = one_time_code::accept_auth(self.otp_id, self.otp_code.reveal(), context)?;
        code_request::check_feature(&accepted.contact, context.organization)?;
        // The user may have another contact by now, which the code does not prove.
        let user = context.organization.user(accepted.flow).filter(|user| accepted.contact.is_of(user));
        let user = accepted.contact.verified(user.ok_or(Wrong::OtpCode)?.clone());
        let (credential_bundle, public_key) = bundles::new_credential(&target, context)?;
        let new = NewSession {
            key: session::p256_key(name, public_key, session::seconds(self.expiration_seconds)),
            source: KeySource::OtpAuth,
            invalidates_existing: self.invalidate_existing == Some(true),
            profile: None,
        };
        let user_id = user.id;
        Ok(Outcome { user_id, api_key_id: new.open(user, context), credential_bundle })
    }
}
