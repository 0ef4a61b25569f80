//! Sends a one-time code to a contact, which need not be that of a user.

use quorate_common::ids::OtpId;

use crate::bundles;
use crate::error::Corrupt;
use crate::kinds::prelude::*;
use crate::make::code_request::{self, Delivery};
use crate::make::one_time_code::Flow;
use crate::params::one_time_code::{AppCodeParams, CodeParams, CodeRequest, OtpResult};

/// Sends a one-time code to an email address or a phone number.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V1(CodeParams);

/// Sends a one-time code in the name of an application.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V2(AppCodeParams);

/// Sends a one-time code, and returns the key that it must be encrypted to.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::kinds) struct V3(AppCodeParams);

/// A code that is sent back as it is.
pub(in crate::kinds) struct Plain(CodeRequest);

/// A code that is sent back encrypted.
pub(in crate::kinds) struct Encrypted(CodeRequest);

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct EncryptedOutcome {
    otp_id: OtpId,
    otp_encryption_target_bundle: String,
}

impl Version for V1 {
    type Kind = Plain;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_OTP";
    const NUMBER: u16 = 84;
}

impl Version for V2 {
    type Kind = Plain;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_OTP_V2";
    const NUMBER: u16 = 112;
    const RESULT: Option<&'static str> = Some("initOtpResult");
}

impl Version for V3 {
    type Kind = Encrypted;
    const TYPE: &'static str = "ACTIVITY_TYPE_INIT_OTP_V3";
    const NUMBER: u16 = 118;
    const RESULT: Option<&'static str> = Some("initOtpResultV2");
}

convert_wrapped!(V1, V2 => Plain);
convert_wrapped!(V3 => Encrypted);

impl Kind for Plain {
    const ACTS: Acts = Some((Action::Create, Resource::Otp));
    type Plan = Delivery;
    type Outcome = OtpResult;

    fn rules(&self, view: &View<'_>) -> Result<Delivery, RequestError> {
        code_request::check(&self.0, view)
    }

    fn facts(&self, delivery: &Delivery, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(code_request::facts(&self.0, delivery, view))
    }

    fn execute(self, delivery: Delivery, context: &mut Execution<'_>) -> Result<OtpResult, RequestError> {
        Ok(OtpResult { otp_id: code_request::send(&self.0, delivery, Flow::Plain, context)?.id })
    }
}

impl Kind for Encrypted {
    const ACTS: Acts = Some((Action::Create, Resource::Otp));
    type Plan = Delivery;
    type Outcome = EncryptedOutcome;

    fn rules(&self, view: &View<'_>) -> Result<Delivery, RequestError> {
        code_request::check(&self.0, view)
    }

    fn facts(&self, delivery: &Delivery, view: &View<'_>) -> Result<Facts, RequestError> {
        Ok(code_request::facts(&self.0, delivery, view))
    }

    fn execute(
        self,
        delivery: Delivery,
        context: &mut Execution<'_>,
    ) -> Result<EncryptedOutcome, RequestError> {
        let sent = code_request::send(&self.0, delivery, Flow::Encrypted, context)?;
        let target = sent.target.ok_or(Corrupt::Invariant("an encrypted code has no key"))?;
        let otp_encryption_target_bundle = bundles::code_target(&target, &context.view())?;
        Ok(EncryptedOutcome { otp_id: sent.id, otp_encryption_target_bundle })
    }
}
