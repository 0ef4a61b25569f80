//! Accepts a one-time code, and returns a token that proves its receipt.

use quorate_common::bundle::Sealed;
use quorate_common::ids::OtpId;
use quorate_common::stamp::{ApiKeyCurve, StampKey};
use quorate_common::token::TokenEnd;

use crate::kinds::prelude::*;
use crate::limits::TOKEN_SECONDS;
use crate::make::{code_request, one_time_code, verification};
use crate::params::one_time_code::{CODE, ENCRYPTED_CODE, TokenLifetime};
use crate::params::secret_text::SecretText;

/// Accepts a one-time code, and returns a token that proves its receipt.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    otp_id: OtpId,
    otp_code: SecretText<CODE>,
    expiration_seconds: Option<TokenLifetime>,
    public_key: Option<Text<140>>,
}

/// Accepts an encrypted one-time code, and returns a token that proves its receipt to the holder of a key.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    otp_id: OtpId,
    encrypted_otp_bundle: SecretText<ENCRYPTED_CODE>,
    expiration_seconds: Option<TokenLifetime>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Outcome {
    /// Token. The answer to the request shows it once; it is empty from then on.
    verification_token: String,
}

impl Version for V1 {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_VERIFY_OTP";
    const NUMBER: u16 = 85;
    const MASKS: bool = true;
}

impl Version for V2 {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_VERIFY_OTP_V2";
    const NUMBER: u16 = 119;
    const RESULT: Option<&'static str> = Some("verifyOtpResult");
    const MASKS: bool = true;
}

impl Kind for V1 {
    const ACTS: Acts = Some((Action::Verify, Resource::Otp));
    const WAITS: bool = false;
    type Plan = Option<String>;
    type Outcome = Outcome;

    fn rules(&self, _: &View<'_>) -> Result<Option<String>, RequestError> {
        self.public_key.as_ref().map(|key| client_key(key.as_str())).transpose()
    }

    fn facts(&self, _: &Option<String>, view: &View<'_>) -> Result<Facts, RequestError> {
        code_request::facts_of_return(self.otp_id, view)
    }

    fn execute(self, key: Option<String>, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let accepted = one_time_code::accept_plain(self.otp_id, self.otp_code.reveal(), context)?;
        code_request::check_feature(&accepted.contact, context.organization)?;
        let exp = TokenEnd::Seconds(end(self.expiration_seconds, context) / 1000);
        Ok(Outcome { verification_token: verification::issue(&accepted, key, exp, context)? })
    }

    fn mask(outcome: &mut Outcome) -> bool {
        outcome.verification_token.clear();
        true
    }
}

impl Kind for V2 {
    const ACTS: Acts = Some((Action::Verify, Resource::Otp));
    const WAITS: bool = false;
    type Plan = Sealed;
    type Outcome = Outcome;

    fn rules(&self, _: &View<'_>) -> Result<Sealed, RequestError> {
        let invalid = || Wrong::Text("invalid request body: `encryptedOtpBundle`: not an encrypted code");
        Ok(Sealed::parse(self.encrypted_otp_bundle.reveal()).map_err(|_| invalid())?)
    }

    fn facts(&self, _: &Sealed, view: &View<'_>) -> Result<Facts, RequestError> {
        code_request::facts_of_return(self.otp_id, view)
    }

    fn execute(self, sealed: Sealed, context: &mut Execution<'_>) -> Result<Outcome, RequestError> {
        let accepted = one_time_code::accept_encrypted(self.otp_id, &sealed, context)?;
        code_request::check_feature(&accepted.contact, context.organization)?;
        let key = Some(client_key(&accepted.flow)?);
        let exp = TokenEnd::Millis(end(self.expiration_seconds, context).to_string());
        Ok(Outcome { verification_token: verification::issue(&accepted, key, exp, context)? })
    }

    fn mask(outcome: &mut Outcome) -> bool {
        outcome.verification_token.clear();
        true
    }
}

/// Returns the end of a token in milliseconds since 1970.
fn end(lifetime: Option<TokenLifetime>, context: &Execution<'_>) -> u64 {
    let seconds = lifetime.map_or(TOKEN_SECONDS, TokenLifetime::seconds);
    context.now().saturating_add(seconds.saturating_mul(1000))
}

/// Checks the key of a client: a compressed P-256 point. Returns it in lower case.
fn client_key(text: &str) -> Result<String, RequestError> {
    let key = text.to_ascii_lowercase();
    StampKey::parse(ApiKeyCurve::P256, &key).map_err(|_| Wrong::PublicKey)?;
    Ok(key)
}
