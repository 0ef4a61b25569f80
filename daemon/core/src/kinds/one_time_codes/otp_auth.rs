//! Opens a session for the user who received a one-time code.

use quorate_common::bounded::ExpirationSeconds;
use quorate_common::ids::OtpId;

use crate::kinds::prelude::*;
use crate::make::session::BundledSession;
use crate::make::{code_request, one_time_code};
use crate::model::user::KeySource;
use crate::params::one_time_code::CODE;
use crate::params::secret_text::SecretText;
use crate::params::session::BundledSessionResult;

/// Opens a session for the user who received a one-time code, and returns its key encrypted to the target key.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    otp_id: OtpId,
    otp_code: SecretText<CODE>,
    target_public_key: Text<130>,
    api_key_name: Option<Label>,
    expiration_seconds: Option<ExpirationSeconds>,
    invalidate_existing: Option<bool>,
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
    type Plan = BundledSession;
    type Outcome = BundledSessionResult;

    fn rules(&self, view: &View<'_>) -> Result<BundledSession, RequestError> {
        let (target, name) = (&self.target_public_key, self.api_key_name.as_ref());
        BundledSession::check(target, name, "OTP Auth", view)
    }

    fn execute(
        self,
        session: BundledSession,
        context: &mut Execution<'_>,
    ) -> Result<BundledSessionResult, RequestError> {
        let accepted = one_time_code::accept_auth(self.otp_id, self.otp_code.reveal(), context)?;
        code_request::check_feature(&accepted.contact, context.organization)?;
        // The user may have another contact by now, which the code does not prove.
        let user = context.organization.user(accepted.flow).filter(|user| accepted.contact.is_of(user));
        let user = accepted.contact.verified(user.ok_or(Wrong::OtpCode)?.clone());
        let replaces = self.invalidate_existing == Some(true);
        session.open(user, KeySource::OtpAuth, self.expiration_seconds, replaces, context)
    }
}
