//! How a caller authenticated: by which credential of a user a request was stamped. MFA policies require such proofs.

use quorate_common::ids::{
    ApiKeyId, AuthenticatorId, MethodId, OrganizationId, ProviderId, SessionProfileId, VerificationTokenId,
};
use quorate_common::stamp::Scheme;
use quorate_common::wire::{AuthenticationMethod, AuthenticationType};

use crate::model::one_time_code::{Claim, Contact, TokenUsage};
use crate::model::{AttestedProof, Millis, Organization, User};

/// Id by which MFA policies name the default session profile.
pub const DEFAULT_SESSION_PROFILE: [u8; 16] = [0; 16];

/// The credential that stamped a request. Two stamps with equal values prove the same thing. A session proves only
/// that it exists: it does not carry the method of the login that created it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authentication {
    /// Passkey.
    Passkey(AuthenticatorId),
    /// API key that was registered with its public key.
    ApiKey(ApiKeyId),
    /// Key of a session, with the profile that limits it; `None` for the default profile.
    Session(Option<SessionProfileId>),
    /// One-time code that was sent to the verified mail address.
    EmailCode,
    /// One-time code that was sent to the verified telephone number.
    SmsCode,
    /// One-time code that could be guessed, which proves no method.
    WeakCode,
    /// Identity at an OAuth provider.
    Oauth(ProviderId),
}

impl Authentication {
    /// Returns what the key of a stamp proves about a user. `None` if the user does not have the key now, or if it is
    /// a recovery key, which proves nothing.
    pub fn of_key(user: &User, scheme: Scheme, public_key: &str) -> Option<Self> {
        let Some(curve) = scheme.curve() else {
            let mut passkeys = user.passkeys().filter(|_| scheme == Scheme::Webauthn);
            return passkeys.find_map(|(one, passkey)| {
                (passkey.public_key == public_key).then_some(Self::Passkey(one.id))
            });
        };
        let mut keys = user.api_keys.iter();
        let key =
            keys.find(|key| key.curve == curve && key.public_key == public_key && !key.is_recovery())?;
        Some(if key.is_session() { Self::Session(key.session_profile) } else { Self::ApiKey(key.id) })
    }

    /// Returns what an earlier attested stamp still proves about a user. `None` once the user does not have the proven
    /// contact or identity anymore, or the organization does not permit codes to the contact.
    pub fn of_proof(proof: &AttestedProof, user: &User, organization: &Organization) -> Option<Self> {
        match proof {
            AttestedProof::Contact(contact) => {
                let is_current =
                    contact.is_verified_by(user) && organization.feature(contact.feature()).is_some();
                is_current.then(|| Self::of_contact(contact))
            }
            AttestedProof::Identity(identity) => {
                identity.is_of(user).then_some(Self::Oauth(identity.provider))
            }
        }
    }

    /// Returns what a code that was received at a contact proves.
    const fn of_contact(contact: &Contact) -> Self {
        match contact {
            Contact::Email(_) => Self::EmailCode,
            Contact::Phone(_) => Self::SmsCode,
        }
    }

    /// Returns whether a token proves this, and no credential of the user.
    pub const fn is_attested(self) -> bool {
        matches!(self, Self::EmailCode | Self::SmsCode | Self::WeakCode | Self::Oauth(_))
    }

    /// Returns whether this proves a method that an MFA policy names.
    pub fn proves(self, method: &AuthenticationMethod) -> bool {
        let (method_type, id) = match self {
            Self::Passkey(id) => (AuthenticationType::Passkey, Some(*id.as_bytes())),
            Self::ApiKey(id) => (AuthenticationType::ApiKey, Some(*id.as_bytes())),
            Self::Session(profile) => {
                let id = profile.map_or(DEFAULT_SESSION_PROFILE, |profile| *profile.as_bytes());
                (AuthenticationType::Session, Some(id))
            }
            Self::EmailCode => (AuthenticationType::EmailOtp, None),
            Self::SmsCode => (AuthenticationType::SmsOtp, None),
            Self::WeakCode => return false,
            Self::Oauth(id) => (AuthenticationType::Oauth, Some(*id.as_bytes())),
        };
        let is_named = |wanted: MethodId| id == Some(*wanted.as_bytes());
        method.method_type == method_type && method.id.is_none_or(is_named)
    }
}

/// The sign-in that an attested stamp proves. The key of such a stamp is registered nowhere.
#[derive(Debug, Clone)]
pub struct Attestation {
    /// What was proved.
    pub proof: AttestedProof,
    /// Verification token that proves it, unless an ID token does.
    pub token: Option<UsedToken>,
    /// Whether it proves a step of an MFA policy. A code that could be guessed does not.
    pub proves_step: bool,
}

impl Attestation {
    /// Returns what the stamp proves.
    pub const fn authentication(&self) -> Authentication {
        match &self.proof {
            AttestedProof::Contact(_) if !self.proves_step => Authentication::WeakCode,
            AttestedProof::Contact(contact) => Authentication::of_contact(contact),
            AttestedProof::Identity(identity) => Authentication::Oauth(identity.provider),
        }
    }
}

/// A verification token whose use is counted.
#[derive(Debug, Clone, Copy)]
pub struct UsedToken {
    /// Organization that issued it.
    pub issuer: OrganizationId,
    /// Id.
    pub id: VerificationTokenId,
    /// Time at which it ends.
    pub ends: Millis,
}

impl UsedToken {
    /// Returns the claim that counts a use.
    pub const fn claim(&self, usage: TokenUsage) -> Claim {
        Claim::TokenUse(self.issuer, self.id, usage)
    }
}
