//! Users and their credentials.

use quorate_common::bounded::{Email, Label, Phone};
use quorate_common::ids::{ApiKeyId, AuthenticatorId, ProviderId, SessionProfileId, TagId, UserId};
use quorate_common::stamp::{ApiKeyCurve, Scheme};
use quorate_common::wire::{self, Timestamp};
use quorate_common::wire_enum;
use serde::{Deserialize, Serialize};

use super::record::Record;
use super::{IpAllowlist, MfaPolicy, Millis};

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
    /// Whether the mail address is verified.
    #[serde(default)]
    pub email_verified: bool,
    /// Whether the telephone number is verified.
    #[serde(default)]
    pub phone_verified: bool,
    /// API keys, in the order of registration.
    pub api_keys: Vec<ApiKey>,
    /// Authenticators, in the order of registration.
    pub authenticators: Vec<Authenticator>,
    /// OAuth identities, in the order of registration.
    pub oauth_providers: Vec<OauthProvider>,
    /// Read-only sessions, in the order of creation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only_sessions: Vec<ReadOnlySession>,
    /// MFA policies, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mfa_policies: Vec<MfaPolicy>,
    /// Ids of the tags of the user.
    pub tags: Vec<TagId>,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

wire_enum! {
    /// The flow that created an API key, as `CREDENTIAL_TYPE_*`. All but the first create keys that expire.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub enum KeySource {
        /// It was registered with its public key. The wire names the curve instead.
        #[default]
        Registration = "CREDENTIAL_TYPE_API_KEY",
        /// Email recovery.
        Recovery = "CREDENTIAL_TYPE_RECOVER_USER_KEY_P256",
        /// Email authentication.
        EmailAuth = "CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256",
        /// A one-time code.
        OtpAuth = "CREDENTIAL_TYPE_OTP_AUTH_KEY_P256",
        /// A read-write session.
        ReadWriteSession = "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256",
        /// A token of an OpenID provider.
        Oauth = "CREDENTIAL_TYPE_OAUTH_KEY_P256",
        /// A login, which returns a session token.
        Login = "CREDENTIAL_TYPE_LOGIN",
    }
}

impl KeySource {
    /// Returns whether the key is made and mailed before anybody has proven anything.
    pub fn is_mailed(self) -> bool {
        matches!(self, Self::EmailAuth | Self::Recovery)
    }

    /// Returns whether the key was registered with its public key.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_registration(&self) -> bool {
        *self == Self::Registration
    }
}

/// An API key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Id.
    pub id: ApiKeyId,
    /// Name.
    pub name: Label,
    /// Curve of the public key.
    pub curve: ApiKeyCurve,
    /// Public key, lowercase hex.
    pub public_key: String,
    /// Lifetime in seconds from creation; `None` for a key that does not expire.
    pub expiration_seconds: Option<u64>,
    /// Addresses from which requests with this key are admitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_allowlist: Option<IpAllowlist>,
    /// Flow that created the key.
    #[serde(default, skip_serializing_if = "KeySource::is_registration")]
    pub source: KeySource,
    /// Session profile that limits what the key may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_profile: Option<SessionProfileId>,
    /// Time of creation.
    pub created: Millis,
}

/// A session that can query and do nothing else. It ends with its user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadOnlySession {
    /// SHA-256 digest of the random token, which is stored nowhere.
    pub digest: [u8; 32],
    /// Time at which the session ends.
    pub expires: Millis,
}

impl ReadOnlySession {
    /// Returns an id that reveals nothing about the token: the beginning of its digest.
    pub fn id(&self) -> u64 {
        self.digest.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
    }

    /// Converts to the form in which the console shows the session.
    pub fn wire(&self, user: UserId) -> wire::ReadOnlySession {
        wire::ReadOnlySession {
            session_id: format!("{:016x}", self.id()),
            user_id: user,
            expires_at_millis: self.expires,
        }
    }
}

impl ApiKey {
    /// Returns the time at which the key expires.
    pub fn expires_at(&self) -> Option<Millis> {
        self.expiration_seconds.map(|seconds| self.created.saturating_add(seconds.saturating_mul(1000)))
    }

    /// Returns whether the key has expired.
    pub fn is_expired(&self, now: Millis) -> bool {
        self.expires_at().is_some_and(|end| now >= end)
    }

    /// Returns whether the key has ended because the store was restored after its creation, and what should end by itself did
    /// so then.
    pub const fn ended_with(&self, restored: Millis) -> bool {
        self.expiration_seconds.is_some() && self.created < restored
    }

    /// Returns whether the key was created by a sign-in, and not registered with its public key.
    pub fn is_session(&self) -> bool {
        self.source != KeySource::Registration
    }

    /// Returns whether the key can only register an authenticator of its user.
    pub fn is_recovery(&self) -> bool {
        self.source == KeySource::Recovery
    }

    /// Returns the `CREDENTIAL_TYPE_*` of the key.
    pub fn credential_type(&self) -> &'static str {
        match (self.source, self.curve) {
            (KeySource::Registration, ApiKeyCurve::P256) => "CREDENTIAL_TYPE_API_KEY_P256",
            (KeySource::Registration, ApiKeyCurve::Secp256k1) => "CREDENTIAL_TYPE_API_KEY_SECP256K1",
            (KeySource::Registration, ApiKeyCurve::Ed25519) => "CREDENTIAL_TYPE_API_KEY_ED25519",
            (source, _) => source.name(),
        }
    }

    /// Converts to the wire form.
    pub fn wire(&self) -> wire::ApiKey {
        wire::ApiKey {
            credential: wire::Credential {
                public_key: self.public_key.clone(),
                credential_type: self.credential_type().to_owned(),
            },
            api_key_id: self.id,
            api_key_name: self.name.to_string(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.created),
            expiration_seconds: self.expiration_seconds.map(|seconds| seconds.to_string()),
        }
    }
}

/// A passkey or security key.
#[serde_with::skip_serializing_none]
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
    /// Result of the verified registration. `None` for an authenticator that an earlier version stored
    /// without verification; it cannot authenticate.
    pub passkey: Option<Passkey>,
    /// Time of creation.
    pub created: Millis,
}

/// The result of the verified registration of an authenticator.
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
    /// Signature counter at the registration; zero if the authenticator does not count. The counters of uses are in
    /// [`super::last_use::LastUses`].
    pub signature_count: u32,
}

/// `CREDENTIAL_TYPE_*` of an authenticator.
pub const AUTHENTICATOR: &str = "CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR";

impl Authenticator {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Authenticator {
        let from_passkey = |field: fn(&Passkey) -> &String| self.passkey.as_ref().map(field).cloned();
        wire::Authenticator {
            transports: self.transports.clone(),
            attestation_type: from_passkey(|passkey| &passkey.attestation_type)
                .unwrap_or_else(|| "none".to_owned()),
            aaguid: from_passkey(|passkey| &passkey.aaguid).unwrap_or_default(),
            credential_id: self.credential_id.clone(),
            model: "Security key".to_owned(),
            credential: wire::Credential {
                public_key: from_passkey(|passkey| &passkey.public_key).unwrap_or_default(),
                credential_type: AUTHENTICATOR.to_owned(),
            },
            authenticator_id: self.id,
            authenticator_name: self.name.to_string(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.created),
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
    /// Why the identity is believed to be that of the user.
    #[serde(default, skip_serializing_if = "IdentityProof::is_claim")]
    pub proof: IdentityProof,
    /// Time of creation.
    pub created: Millis,
}

/// Why an OAuth identity is believed to be that of its user. Anybody can claim an identity of somebody else, which lets
/// that person sign in as the user. It must not keep them from signing in elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum IdentityProof {
    /// It was registered by its claims.
    #[default]
    Claim,
    /// It was registered by its claims beside a token of the same person, for another audience.
    SamePerson,
    /// Its issuer signed a token.
    Token,
}

impl IdentityProof {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_claim(&self) -> bool {
        *self == Self::Claim
    }
}

impl OauthProvider {
    /// Returns whether this is the identity with these claims.
    pub fn is(&self, issuer: &str, audience: &str, subject: &str) -> bool {
        self.issuer == issuer && self.audience == audience && self.subject == subject
    }

    /// Converts to the wire form.
    pub fn wire(&self) -> wire::OauthProvider {
        wire::OauthProvider {
            provider_id: self.id,
            provider_name: self.name.clone(),
            issuer: self.issuer.clone(),
            audience: self.audience.clone(),
            subject: self.subject.clone(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.created),
        }
    }
}

impl Record for User {
    const NOUN: &'static str = "user";
    /// Since version 2, a key can be limited by a session profile; since version 3, a user can have MFA policies. Older
    /// programs must not read it, since they would ignore that.
    const VERSION: u8 = 3;
    const OLDEST: u8 = 1;
}

impl User {
    /// Returns the user with another email address, which is not proved yet unless `verified`. Keys that were mailed to
    /// the address before end, also those in use: they prove nothing but the receipt of the mail.
    #[must_use]
    pub fn with_email(mut self, email: Option<Email>, verified: bool) -> Self {
        if self.email != email {
            self.api_keys.retain(|key| !key.source.is_mailed());
        }
        (self.email, self.email_verified) = (email, verified);
        self
    }

    /// Returns whether the user has any credential, including those that need a sign-in.
    pub fn has_credential(&self) -> bool {
        !(self.api_keys.is_empty() && self.authenticators.is_empty() && self.oauth_providers.is_empty())
    }

    /// Returns whether the user has an API key, even an expired one, or a passkey. Recovery keys do not count.
    pub fn has_key(&self) -> bool {
        self.api_keys.iter().any(|key| !key.is_recovery()) || self.passkeys().next().is_some()
    }

    /// Returns whether the user has an API key that does not expire, or a passkey.
    pub fn has_lasting_key(&self) -> bool {
        self.api_keys.iter().any(|key| key.expiration_seconds.is_none()) || self.passkeys().next().is_some()
    }

    /// Returns whether the user can stamp activities and votes at this time. Recovery keys cannot.
    pub fn can_stamp(&self, now: Millis) -> bool {
        self.api_keys.iter().any(|key| !key.is_expired(now) && !key.is_recovery())
            || self.passkeys().next().is_some()
    }

    /// Returns whether the user has the key of a stamp.
    pub fn holds(&self, scheme: Scheme, public_key: &str) -> bool {
        match scheme.curve() {
            Some(curve) => self.api_keys.iter().any(|key| key.curve == curve && key.public_key == public_key),
            None if scheme == Scheme::Webauthn => {
                self.passkeys().any(|(_, passkey)| passkey.public_key == public_key)
            }
            None => false,
        }
    }

    /// Returns the authenticators that can stamp.
    pub fn passkeys(&self) -> impl Iterator<Item = (&Authenticator, &Passkey)> {
        self.authenticators.iter().filter_map(|one| Some((one, one.passkey.as_ref()?)))
    }

    /// Converts to the wire form.
    pub fn wire(&self) -> wire::User {
        wire::User { mfa_policies: self.mfa_policies.iter().map(MfaPolicy::wire).collect(), ..self.voter() }
    }

    /// Converts to the form in which votes show the user: without MFA policies, which can be long.
    pub fn voter(&self) -> wire::User {
        wire::User {
            user_id: self.id,
            user_name: self.name.to_string(),
            user_email: self.email.as_ref().map(ToString::to_string),
            user_phone_number: self.phone.as_ref().map(ToString::to_string),
            authenticators: self.authenticators.iter().map(Authenticator::wire).collect(),
            api_keys: self.api_keys.iter().map(ApiKey::wire).collect(),
            user_tags: self.tags.clone(),
            oauth_providers: self.oauth_providers.iter().map(OauthProvider::wire).collect(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
            mfa_policies: Vec::new(),
        }
    }
}
