//! Parameters of credentials.

use std::fmt;

use quorate_common::bounded::{AtMost, ExpirationSeconds, Label, Text};
use quorate_common::ids::{ApiKeyId, AuthenticatorId, ProviderId, UserId};
use quorate_common::stamp::ApiKeyCurve;
use quorate_common::webauthn::{Attestation, AttestationError, NewCredential};
use quorate_common::wire_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::secret_text::SecretText;
use super::session::PUBLIC_KEY;
use crate::error::{Intent, RequestError};
use crate::id_token::{IdToken, MALFORMED};
use crate::limits::BATCH;

/// A token that proves a contact.
pub type VerificationToken = SecretText<{ 8 * 1024 }>;
/// Longest part of an attestation, in bytes.
const ATTESTATION: usize = 32 * 1024;
/// Longest text of an ID token, in bytes.
pub const OIDC_TOKEN: usize = 32 * 1024;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ApiKeysResult {
    pub(crate) api_key_ids: AtMost<ApiKeyId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuthenticatorsResult {
    pub(crate) authenticator_ids: AtMost<AuthenticatorId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OauthProvidersResult {
    pub(crate) provider_ids: AtMost<ProviderId, BATCH>,
}

/// An API key on the curve P-256.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyParams {
    api_key_name: Label,
    public_key: Text<PUBLIC_KEY>,
    expiration_seconds: Option<ExpirationSeconds>,
}

/// An API key on a selectable curve.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyParamsV2 {
    api_key_name: Label,
    public_key: Text<PUBLIC_KEY>,
    #[serde(default = "p256")]
    curve_type: ApiKeyCurve,
    expiration_seconds: Option<ExpirationSeconds>,
}

/// Returns the default curve: older clients omit the curve and mean P-256.
const fn p256() -> ApiKeyCurve {
    ApiKeyCurve::P256
}

/// An API key to register.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// Name of the API key.
    pub name: Label,
    /// Curve of the public key.
    pub curve: ApiKeyCurve,
    /// Public key in lowercase hex; not yet checked to be a point of the curve.
    pub public_key: String,
    /// Lifetime in seconds; none means that the key does not expire.
    pub expiration_seconds: Option<u64>,
}

impl From<ApiKeyParams> for NewApiKey {
    fn from(ApiKeyParams { api_key_name, public_key, expiration_seconds }: ApiKeyParams) -> Self {
        ApiKeyParamsV2 { api_key_name, public_key, curve_type: p256(), expiration_seconds }.into()
    }
}

impl From<ApiKeyParamsV2> for NewApiKey {
    fn from(params: ApiKeyParamsV2) -> Self {
        Self {
            name: params.api_key_name,
            curve: params.curve_type,
            public_key: params.public_key.as_str().to_ascii_lowercase(),
            expiration_seconds: params.expiration_seconds.map(|ExpirationSeconds(seconds)| seconds),
        }
    }
}

wire_enum! {
    /// Transport between an authenticator and its host.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum AuthenticatorTransport {
        /// Bluetooth Low Energy.
        Ble = "AUTHENTICATOR_TRANSPORT_BLE",
        /// Built into the host.
        Internal = "AUTHENTICATOR_TRANSPORT_INTERNAL",
        /// Near-field communication.
        Nfc = "AUTHENTICATOR_TRANSPORT_NFC",
        /// USB.
        Usb = "AUTHENTICATOR_TRANSPORT_USB",
        /// Another device, such as a phone (hybrid transport).
        Hybrid = "AUTHENTICATOR_TRANSPORT_HYBRID",
    }
}

/// Registration response of a browser, in the original format.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicKeyCredentialWithAttestation {
    id: Text<256>,
    #[serde(rename = "type")]
    credential_type: Text<32>,
    raw_id: Text<256>,
    authenticator_attachment: Option<Text<32>>,
    response: AuthenticatorResponse,
    #[serde(default)]
    client_extension_results: ClientExtensionResults,
}

/// Authenticator response in the original format.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorResponse {
    client_data_json: Text<ATTESTATION>,
    attestation_object: Text<ATTESTATION>,
    #[serde(default)]
    transports: AtMost<AuthenticatorTransport, 8>,
    authenticator_attachment: Option<Text<32>>,
}

/// Client extension results in the original format.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientExtensionResults {
    appid: Option<bool>,
    appid_exclude: Option<bool>,
    cred_props: Option<CredentialProperties>,
}

/// Credential properties: whether the credential is discoverable.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CredentialProperties {
    rk: bool,
}

/// An authenticator, in the original format.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorParams {
    authenticator_name: Label,
    user_id: UserId,
    attestation: PublicKeyCredentialWithAttestation,
    challenge: Text<256>,
}

/// Registration response of a browser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    credential_id: Text<256>,
    client_data_json: Text<ATTESTATION>,
    attestation_object: Text<ATTESTATION>,
    #[serde(default)]
    transports: AtMost<AuthenticatorTransport, 8>,
}

/// An authenticator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorParamsV2 {
    authenticator_name: Label,
    challenge: Text<256>,
    attestation: Registration,
}

impl AuthenticatorParamsV2 {
    /// Returns the name of the authenticator.
    pub fn name(&self) -> Label {
        self.authenticator_name.clone()
    }
}

/// An authenticator to register.
#[derive(Debug, Clone)]
pub struct NewAuthenticator {
    /// Name of the authenticator.
    pub name: Label,
    /// Transports: `AUTHENTICATOR_TRANSPORT_*`.
    pub transports: Vec<String>,
    /// User that the authenticator is for, if the parameters contain one.
    pub user: Option<UserId>,
    challenge: Text<256>,
    registration: Registration,
    /// Whether type and ids of the credential agree, as far as the format contains them.
    is_consistent: bool,
}

impl NewAuthenticator {
    /// Verifies the registration, except for the origin, and returns its credential (W3C Web Authentication
    /// Level 2 §7.1).
    ///
    /// # Errors
    /// If the registration is invalid.
    pub fn credential(&self) -> Result<NewCredential, RequestError> {
        let attestation = Attestation {
            challenge: self.challenge.as_str(),
            credential_id: self.registration.credential_id.as_str(),
            client_data_json: self.registration.client_data_json.as_str(),
            attestation_object: self.registration.attestation_object.as_str(),
        };
        let verified = if self.is_consistent { attestation.verify() } else { Err(AttestationError::Invalid) };
        verified.map_err(|error| Intent::Attestation(error).into())
    }
}

impl From<AuthenticatorParams> for NewAuthenticator {
    fn from(params: AuthenticatorParams) -> Self {
        let PublicKeyCredentialWithAttestation { id, credential_type, raw_id, response, .. } =
            params.attestation;
        let is_consistent = credential_type.as_str() == "public-key" && id.as_str() == raw_id.as_str();
        let registration = Registration {
            credential_id: raw_id,
            client_data_json: response.client_data_json,
            attestation_object: response.attestation_object,
            transports: response.transports,
        };
        Self {
            user: Some(params.user_id),
            is_consistent,
            ..AuthenticatorParamsV2 {
                authenticator_name: params.authenticator_name,
                challenge: params.challenge,
                attestation: registration,
            }
            .into()
        }
    }
}

impl From<AuthenticatorParamsV2> for NewAuthenticator {
    fn from(params: AuthenticatorParamsV2) -> Self {
        let transports = params.attestation.transports.iter();
        Self {
            name: params.authenticator_name,
            transports: transports.map(|transport| transport.name().to_owned()).collect(),
            user: None,
            challenge: params.challenge,
            registration: params.attestation,
            is_consistent: true,
        }
    }
}

/// An OAuth identity given by its token.
#[derive(PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthProviderParams {
    provider_name: Label,
    oidc_token: SecretText<OIDC_TOKEN>,
}

/// An OAuth identity given by its token or by its claims.
#[serde_with::skip_serializing_none]
#[derive(PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthProviderParamsV2 {
    provider_name: Label,
    oidc_token: Option<SecretText<OIDC_TOKEN>>,
    oidc_claims: Option<OidcClaims>,
}

/// Claims that identify an OAuth identity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OidcClaims {
    iss: Text<1024>,
    sub: Text<1024>,
    aud: Text<1024>,
}

/// An OAuth identity to register.
#[derive(Clone)]
pub struct NewOauthProvider {
    name: Label,
    evidence: Option<Evidence>,
}

/// What identifies an OAuth identity.
#[derive(Clone)]
enum Evidence {
    Token(SecretText<OIDC_TOKEN>),
    Claims(OidcClaims),
}

impl fmt::Debug for NewOauthProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("NewOauthProvider").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Name and claims of an OAuth identity.
pub struct Identity {
    /// Name of the OAuth provider.
    pub name: String,
    /// Claim `iss`.
    pub issuer: String,
    /// Claim `aud`.
    pub audience: String,
    /// Claim `sub`.
    pub subject: String,
}

impl NewOauthProvider {
    /// Returns the token that proves the identity, if there is one. It is not verified.
    ///
    /// # Errors
    /// If it is not an ID token.
    pub fn token(&self) -> Result<Option<IdToken<'_>>, RequestError> {
        match &self.evidence {
            Some(Evidence::Token(token)) => {
                Ok(Some(IdToken::read(token.reveal()).ok_or(Intent::OidcToken(MALFORMED))?))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether a token proves the identity.
    pub const fn has_token(&self) -> bool {
        matches!(self.evidence, Some(Evidence::Token(_)))
    }

    /// Returns the identity. A token is read and not verified. Of several audiences, the first is registered.
    ///
    /// # Errors
    /// If the token cannot be read, or claims are missing or empty.
    pub fn identity(&self) -> Result<Identity, RequestError> {
        let [issuer, audience, subject] = match (&self.evidence, self.token()?) {
            (_, Some(token)) => {
                let audience = token.audiences().first().ok_or(Intent::OidcToken(MALFORMED))?;
                [token.issuer().to_owned(), audience.clone(), token.subject().to_owned()]
            }
            (Some(Evidence::Claims(claims)), None) => {
                [&claims.iss, &claims.aud, &claims.sub].map(|claim| claim.as_str().to_owned())
            }
            _ => return Err(Intent::OidcToken("there is neither a token nor claims").into()),
        };
        if [&issuer, &audience, &subject].iter().any(|claim| claim.is_empty()) {
            return Err(Intent::OidcToken("a claim is empty").into());
        }
        Ok(Identity { name: self.name.to_string(), issuer, audience, subject })
    }
}

impl From<OauthProviderParams> for NewOauthProvider {
    fn from(params: OauthProviderParams) -> Self {
        Self { name: params.provider_name, evidence: Some(Evidence::Token(params.oidc_token)) }
    }
}

impl From<OauthProviderParamsV2> for NewOauthProvider {
    fn from(params: OauthProviderParamsV2) -> Self {
        let evidence = match (params.oidc_token, params.oidc_claims) {
            (Some(token), None) => Some(Evidence::Token(token)),
            (None, Some(claims)) => Some(Evidence::Claims(claims)),
            _ => None,
        };
        Self { name: params.provider_name, evidence }
    }
}
