//! A user and the credentials that act as them.

use quorate_common::bounded::{Email, Label, Phone};
use quorate_common::ids::{ApiKeyId, AuthenticatorId, ProviderId, TagId, UserId};
use quorate_common::stamp::ApiKeyCurve;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::{IpAllowlist, Millis};

/// A user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct User {
    /// Id.
    pub id: UserId,
    /// Name.
    pub name: Label,
    /// Mail address.
    pub email: Option<Email>,
    /// Telephone number.
    pub phone: Option<Phone>,
    /// Whether the mail address was proven to be theirs.
    #[serde(default)]
    pub email_verified: bool,
    /// Whether the telephone number was proven to be theirs.
    #[serde(default)]
    pub phone_verified: bool,
    /// API keys in the order of registration.
    pub api_keys: Vec<ApiKey>,
    /// Authenticators in the order of registration. They are carried as given and authenticate nobody.
    pub authenticators: Vec<Authenticator>,
    /// OAuth identities in the order of registration.
    pub oauth_providers: Vec<OauthProvider>,
    /// Tags.
    pub tags: Vec<TagId>,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

/// An API key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Id.
    pub id: ApiKeyId,
    /// Name.
    pub name: Label,
    /// Curve.
    pub curve: ApiKeyCurve,
    /// Lowercase hex.
    pub public_key: String,
    /// Life in seconds from creation.
    pub expiration_seconds: Option<u64>,
    /// From which addresses its requests are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_allowlist: Option<IpAllowlist>,
    /// Created at.
    pub created: Millis,
}

impl ApiKey {
    /// The instant from which the key is refused.
    pub fn ends(&self) -> Option<Millis> {
        self.expiration_seconds.map(|seconds| self.created.saturating_add(seconds.saturating_mul(1000)))
    }

    /// Whether the key has come to its end.
    pub fn is_expired(&self, now: Millis) -> bool {
        self.ends().is_some_and(|end| now >= end)
    }

    /// `CREDENTIAL_TYPE_*`.
    pub const fn credential_type(&self) -> &'static str {
        match self.curve {
            ApiKeyCurve::P256 => "CREDENTIAL_TYPE_API_KEY_P256",
            ApiKeyCurve::Secp256k1 => "CREDENTIAL_TYPE_API_KEY_SECP256K1",
            ApiKeyCurve::Ed25519 => "CREDENTIAL_TYPE_API_KEY_ED25519",
        }
    }

    /// As queries show it.
    pub fn wire(&self) -> wire::ApiKey {
        wire::ApiKey {
            credential: wire::Credential {
                public_key: self.public_key.clone(),
                credential_type: self.credential_type().to_owned(),
            },
            api_key_id: self.id,
            api_key_name: self.name.to_string(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.created),
            expiration_seconds: self.expiration_seconds.map(|seconds| seconds.to_string()),
        }
    }
}

/// A passkey or security key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Authenticator {
    /// Id.
    pub id: AuthenticatorId,
    /// Name.
    pub name: Label,
    /// Raw credential id, base64url.
    pub credential_id: String,
    /// `AUTHENTICATOR_TRANSPORT_*`.
    pub transports: Vec<String>,
    /// Created at.
    pub created: Millis,
}

impl Authenticator {
    /// As queries show it. What only a verified attestation tells stays empty.
    pub fn wire(&self) -> wire::Authenticator {
        wire::Authenticator {
            transports: self.transports.clone(),
            attestation_type: "none".to_owned(),
            aaguid: String::new(),
            credential_id: self.credential_id.clone(),
            model: "Security key".to_owned(),
            credential: wire::Credential {
                public_key: String::new(),
                credential_type: "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR".to_owned(),
            },
            authenticator_id: self.id,
            authenticator_name: self.name.to_string(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.created),
        }
    }
}

/// An identity at an OAuth issuer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OauthProvider {
    /// Id.
    pub id: ProviderId,
    /// Name.
    pub name: String,
    /// Claim `iss`.
    pub issuer: String,
    /// Claim `aud`.
    pub audience: String,
    /// Claim `sub`.
    pub subject: String,
    /// Created at.
    pub created: Millis,
}

impl OauthProvider {
    /// As queries show it.
    pub fn wire(&self) -> wire::OauthProvider {
        wire::OauthProvider {
            provider_id: self.id,
            provider_name: self.name.clone(),
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            subject: self.subject.clone(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.created),
        }
    }
}

impl Record for User {
    const NOUN: &'static str = "user";
}

impl User {
    /// Whether somebody can act as this user, now or after a sign-in.
    pub fn has_credential(&self) -> bool {
        !(self.api_keys.is_empty() && self.authenticators.is_empty() && self.oauth_providers.is_empty())
    }

    /// As queries show it.
    pub fn wire(&self) -> wire::User {
        wire::User {
            user_id: self.id,
            user_name: self.name.to_string(),
            user_email: self.email.as_ref().map(ToString::to_string),
            user_phone_number: self.phone.as_ref().map(ToString::to_string),
            authenticators: self.authenticators.iter().map(Authenticator::wire).collect(),
            api_keys: self.api_keys.iter().map(ApiKey::wire).collect(),
            user_tags: self.tags.clone(),
            oauth_providers: self.oauth_providers.iter().map(OauthProvider::wire).collect(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.updated),
            mfa_policies: Vec::new(),
        }
    }
}
