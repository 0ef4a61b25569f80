//! Credentials as clients describe them.

use quorate_common::bounded::{AtMost, ExpirationSeconds, Label, Text};
use quorate_common::ids::UserId;
use quorate_common::stamp::ApiKeyCurve;
use quorate_common::webauthn::{Attestation, AttestationFlaw, NewCredential};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::{Intent, Refusal};

/// Longest hex text of a public key: an uncompressed point, with room.
const PUBLIC_KEY: usize = 140;
/// Longest token that proves a contact, in bytes.
pub const TOKEN: usize = 8 * 1024;
/// Longest part of an attestation, in bytes.
const ATTESTATION: usize = 32 * 1024;

/// An API key on a P-256 curve.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyParams {
    api_key_name: Label,
    public_key: Text<PUBLIC_KEY>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expiration_seconds: Option<ExpirationSeconds>,
}

/// An API key on a curve of choice.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyParamsV2 {
    api_key_name: Label,
    public_key: Text<PUBLIC_KEY>,
    #[serde(default = "p256")]
    curve_type: ApiKeyCurve,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expiration_seconds: Option<ExpirationSeconds>,
}

/// Older clients leave the curve out and mean P-256.
const fn p256() -> ApiKeyCurve {
    ApiKeyCurve::P256
}

/// An API key to be registered.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// Name.
    pub name: Label,
    /// Curve.
    pub curve: ApiKeyCurve,
    /// Lowercase hex; not yet checked to be a point.
    pub public_key: String,
    /// Life in seconds.
    pub expiration_seconds: Option<u64>,
}

impl From<ApiKeyParams> for NewApiKey {
    fn from(params: ApiKeyParams) -> Self {
        Self {
            name: params.api_key_name,
            curve: ApiKeyCurve::P256,
            public_key: params.public_key.as_str().to_ascii_lowercase(),
            expiration_seconds: params.expiration_seconds.map(|ExpirationSeconds(seconds)| seconds),
        }
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

/// How an authenticator talks to its host.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
pub enum AuthenticatorTransport {
    /// Bluetooth low energy.
    #[serde(rename = "AUTHENTICATOR_TRANSPORT_BLE")]
    Ble,
    /// Part of the host.
    #[serde(rename = "AUTHENTICATOR_TRANSPORT_INTERNAL")]
    Internal,
    /// Near field.
    #[serde(rename = "AUTHENTICATOR_TRANSPORT_NFC")]
    Nfc,
    /// USB.
    #[serde(rename = "AUTHENTICATOR_TRANSPORT_USB")]
    Usb,
    /// Another device nearby.
    #[serde(rename = "AUTHENTICATOR_TRANSPORT_HYBRID")]
    Hybrid,
}

impl AuthenticatorTransport {
    const fn name(self) -> &'static str {
        match self {
            Self::Ble => "AUTHENTICATOR_TRANSPORT_BLE",
            Self::Internal => "AUTHENTICATOR_TRANSPORT_INTERNAL",
            Self::Nfc => "AUTHENTICATOR_TRANSPORT_NFC",
            Self::Usb => "AUTHENTICATOR_TRANSPORT_USB",
            Self::Hybrid => "AUTHENTICATOR_TRANSPORT_HYBRID",
        }
    }
}

/// What a browser answers to a registration, older form.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicKeyCredentialWithAttestation {
    id: Text<256>,
    #[serde(rename = "type")]
    credential_type: Text<32>,
    raw_id: Text<256>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authenticator_attachment: Option<Text<32>>,
    response: AuthenticatorResponse,
    #[serde(default)]
    client_extension_results: ClientExtensionResults,
}

/// The response within the older form.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorResponse {
    client_data_json: Text<ATTESTATION>,
    attestation_object: Text<ATTESTATION>,
    #[serde(default)]
    transports: AtMost<AuthenticatorTransport, 8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    authenticator_attachment: Option<Text<32>>,
}

/// Extensions within the older form.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientExtensionResults {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    appid: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    appid_exclude: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cred_props: Option<CredentialProperties>,
}

/// Whether the credential is discoverable.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CredentialProperties {
    rk: bool,
}

/// An authenticator, older form.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorParams {
    authenticator_name: Label,
    user_id: UserId,
    attestation: PublicKeyCredentialWithAttestation,
    challenge: Text<256>,
}

/// What a browser answers to a registration.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    credential_id: Text<256>,
    client_data_json: Text<ATTESTATION>,
    attestation_object: Text<ATTESTATION>,
    #[serde(default)]
    transports: AtMost<AuthenticatorTransport, 8>,
}

/// An authenticator.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticatorParamsV2 {
    authenticator_name: Label,
    challenge: Text<256>,
    attestation: Registration,
}

impl AuthenticatorParamsV2 {
    /// Name.
    pub fn name(&self) -> Label {
        self.authenticator_name.clone()
    }
}

/// An authenticator to be registered.
#[derive(Debug, Clone)]
pub struct NewAuthenticator {
    /// Name.
    pub name: Label,
    /// `AUTHENTICATOR_TRANSPORT_*`.
    pub transports: Vec<String>,
    /// Whose it is to be, where its form says so.
    pub user: Option<UserId>,
    challenge: Text<256>,
    registration: Registration,
    /// Whether the form calls it a public key credential by its own id, where it says so.
    is_coherent: bool,
}

impl NewAuthenticator {
    /// What its registration tells, which holds (W3C Web Authentication Level 2 §7.1) but for the origin.
    pub fn credential(&self) -> Result<NewCredential, Refusal> {
        let told = Attestation {
            challenge: self.challenge.as_str(),
            credential_id: self.registration.credential_id.as_str(),
            client_data_json: self.registration.client_data_json.as_str(),
            attestation_object: self.registration.attestation_object.as_str(),
        };
        let told = if self.is_coherent { told.verify() } else { Err(AttestationFlaw::Invalid) };
        told.map_err(|flaw| Intent::Attestation(flaw).into())
    }
}

impl From<AuthenticatorParams> for NewAuthenticator {
    fn from(params: AuthenticatorParams) -> Self {
        let PublicKeyCredentialWithAttestation { id, credential_type, raw_id, response, .. } =
            params.attestation;
        let is_coherent = credential_type.as_str() == "public-key" && id.as_str() == raw_id.as_str();
        let registration = Registration {
            credential_id: raw_id,
            client_data_json: response.client_data_json,
            attestation_object: response.attestation_object,
            transports: response.transports,
        };
        Self {
            user: Some(params.user_id),
            is_coherent,
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
            is_coherent: true,
        }
    }
}

/// An OAuth identity by its token.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthProviderParams {
    provider_name: Label,
    oidc_token: Text<ATTESTATION>,
}

/// An OAuth identity by its token or by its claims.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OauthProviderParamsV2 {
    provider_name: Label,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    oidc_token: Option<Text<ATTESTATION>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    oidc_claims: Option<OidcClaims>,
}

/// The claims that name an identity.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OidcClaims {
    iss: Text<1024>,
    sub: Text<1024>,
    aud: Text<1024>,
}

/// An OAuth identity to be registered.
#[derive(Debug, Clone)]
pub struct NewOauthProvider {
    name: Label,
    claims: Option<OidcClaims>,
}

/// Name and claims of an OAuth identity.
pub struct Identity {
    /// Name.
    pub name: String,
    /// Claim `iss`.
    pub issuer: String,
    /// Claim `aud`.
    pub audience: String,
    /// Claim `sub`.
    pub subject: String,
}

impl NewOauthProvider {
    /// The identity. One that comes by its token alone is refused: no issuer is known that could vouch for it.
    pub fn identity(&self) -> Result<Identity, Refusal> {
        let claims = self.claims.as_ref().ok_or(Intent::OidcToken)?;
        let given = [&claims.iss, &claims.sub, &claims.aud].iter().all(|claim| !claim.as_str().is_empty());
        if !given {
            return Err(Intent::OidcToken.into());
        }
        Ok(Identity {
            name: self.name.to_string(),
            issuer: claims.iss.as_str().to_owned(),
            audience: claims.aud.as_str().to_owned(),
            subject: claims.sub.as_str().to_owned(),
        })
    }
}

impl From<OauthProviderParams> for NewOauthProvider {
    fn from(params: OauthProviderParams) -> Self {
        Self { name: params.provider_name, claims: None }
    }
}

impl From<OauthProviderParamsV2> for NewOauthProvider {
    fn from(params: OauthProviderParamsV2) -> Self {
        let claims = params.oidc_claims.filter(|_| params.oidc_token.is_none());
        Self { name: params.provider_name, claims }
    }
}
