//! Opens a session for the user whose contact a verification token proves.

use quorate_common::bounded::ExpirationSeconds;

use crate::kinds::prelude::*;
use crate::make::session::{self, Login};
use crate::make::verification::{self, Proof};
use crate::make::{code_request, sign_in};
use crate::model::one_time_code::TokenUsage;
use crate::params::credential::VerificationToken;
use crate::params::one_time_code::ClientSignature;
use crate::params::session::{LoginParams, LoginResult, PUBLIC_KEY};

/// Opens a session for the user whose contact the token proves.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V1 {
    verification_token: VerificationToken,
    public_key: Text<PUBLIC_KEY>,
    expiration_seconds: Option<ExpirationSeconds>,
    invalidate_existing: Option<bool>,
    client_signature: Option<ClientSignature>,
    session_profile_id: Option<SessionProfileId>,
}

/// Opens a session for the user whose contact the token proves. The key of the token must sign the login.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct V2 {
    verification_token: VerificationToken,
    public_key: Text<PUBLIC_KEY>,
    client_signature: ClientSignature,
    expiration_seconds: Option<ExpirationSeconds>,
    invalidate_existing: Option<bool>,
    session_profile_id: Option<SessionProfileId>,
}

/// The version-independent parameters.
pub(in crate::kinds) struct Request {
    token: VerificationToken,
    login: LoginParams,
    client_signature: Option<ClientSignature>,
    is_bound: bool,
}

impl Version for V1 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_OTP_LOGIN";
    const NUMBER: u16 = 86;
    const MASKS: bool = true;
}

impl Version for V2 {
    type Kind = Request;
    const TYPE: &'static str = "ACTIVITY_TYPE_OTP_LOGIN_V2";
    const NUMBER: u16 = 120;
    const RESULT: Option<&'static str> = Some("otpLoginResult");
    const MASKS: bool = true;
}

impl From<V1> for Request {
    fn from(intent: V1) -> Self {
        let V1 { verification_token, public_key, client_signature, .. } = intent;
        let V1 { expiration_seconds, invalidate_existing, session_profile_id, .. } = intent;
        let login = LoginParams { public_key, expiration_seconds, invalidate_existing, session_profile_id };
        Self { token: verification_token, login, client_signature, is_bound: false }
    }
}

impl From<V2> for Request {
    fn from(intent: V2) -> Self {
        let V2 { verification_token, public_key, client_signature, .. } = intent;
        let V2 { expiration_seconds, invalidate_existing, session_profile_id, .. } = intent;
        let login = LoginParams { public_key, expiration_seconds, invalidate_existing, session_profile_id };
        Self { token: verification_token, login, client_signature: Some(client_signature), is_bound: true }
    }
}

impl Kind for Request {
    const ACTS: Acts = Some((Action::Create, Resource::Auth));
    const OPEN_TO_PARENT: bool = true;
    const WAITS: bool = false;
    type Plan = (Proof, User, Login);
    type Outcome = LoginResult;

    fn rules(&self, view: &View<'_>) -> Result<Self::Plan, RequestError> {
        let proof = verification::read(self.token.reveal(), view)?;
        if self.is_bound {
            proof.check_bound()?;
        }
        proof.check_login(self.client_signature.as_ref(), self.login.public_key.as_str())?;
        code_request::check_feature(&proof.contact, view.organization)?;
        let user = sign_in::holder(&proof.contact, view.organization)?.clone();
        Ok((proof, user, session::check_login(&self.login, view)?))
    }

    fn execute(
        self,
        (proof, user, login): Self::Plan,
        context: &mut Execution<'_>,
    ) -> Result<LoginResult, RequestError> {
        proof.use_once(TokenUsage::Login, context)?;
        Ok(LoginResult { session: login.open(proof.contact.verified(user), context)? })
    }
}
