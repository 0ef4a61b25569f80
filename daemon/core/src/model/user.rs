//! A user and the credentials that act as them.

use quorate_common::bounded::{Email, Label, Phone};
use quorate_common::ids::{ApiKeyId, AuthenticatorId, ProviderId, TagId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Scheme};
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
    /// Authenticators in the order of registration.
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
    /// What its registration told. One that an earlier version carried as given has nothing here, and
    /// authenticates nobody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkey: Option<Passkey>,
    /// Created at.
    pub created: Millis,
}

/// What the verified registration of an authenticator told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    /// COSE key (RFC 9052 §7), base64url.
    pub public_key: String,
    /// SHA-256 of the relying party's id.
    pub relying_party: [u8; 32],
    /// Model of the authenticator, base64url.
    pub aaguid: String,
    /// Format of the attestation statement.
    pub attestation_type: String,
    /// Signature counter. It is kept and never judged by: synced passkeys always show zero.
    pub signature_count: u32,
}

/// `CREDENTIAL_TYPE_*` of an authenticator.
pub const AUTHENTICATOR: &str = "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR";

impl Authenticator {
    /// As queries show it.
    pub fn wire(&self) -> wire::Authenticator {
        let told = |tell: fn(&Passkey) -> &String| self.passkey.as_ref().map(tell).cloned();
        wire::Authenticator {
            transports: self.transports.clone(),
            attestation_type: told(|passkey| &passkey.attestation_type).unwrap_or_else(|| "none".to_owned()),
            aaguid: told(|passkey| &passkey.aaguid).unwrap_or_default(),
            credential_id: self.credential_id.clone(),
            model: "Security key".to_owned(),
            credential: wire::Credential {
                public_key: told(|passkey| &passkey.public_key).unwrap_or_default(),
                credential_type: AUTHENTICATOR.to_owned(),
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

    /// Whether they have a key that stamps, or that did until its end.
    pub fn has_key(&self) -> bool {
        !self.api_keys.is_empty() || self.passkeys().next().is_some()
    }

    /// Whether they have a key that stamps and does not expire.
    pub fn has_lasting_key(&self) -> bool {
        self.api_keys.iter().any(|key| key.expiration_seconds.is_none()) || self.passkeys().next().is_some()
    }

    /// Whether requests of theirs can be stamped at this time.
    pub fn can_stamp(&self, now: Millis) -> bool {
        self.api_keys.iter().any(|key| !key.is_expired(now)) || self.passkeys().next().is_some()
    }

    /// Whether a stamp by this key is one of theirs.
    pub fn holds(&self, scheme: Scheme, public_key: &str) -> bool {
        match scheme.curve() {
            Some(curve) => self.api_keys.iter().any(|key| key.curve == curve && key.public_key == public_key),
            None => self.passkeys().any(|(_, passkey)| passkey.public_key == public_key),
        }
    }

    /// Authenticators that can stamp.
    pub fn passkeys(&self) -> impl Iterator<Item = (&Authenticator, &Passkey)> {
        self.authenticators.iter().filter_map(|one| Some((one, one.passkey.as_ref()?)))
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
