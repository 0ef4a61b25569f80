//! What the token of an attested stamp proved about its user, as it is stored with the vote. The token itself is a
//! bearer token, and is stored nowhere.

use quorate_common::activity::{AttestedIdentity, VoteAttestation};
use quorate_common::ids::ProviderId;
use quorate_common::wire::AuthenticationType;
use serde::{Deserialize, Serialize};

use super::one_time_code::{Contact, OtpType};
use super::{OauthProvider, User};

/// What a token proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum AttestedProof {
    /// The user received a one-time code at this contact.
    Contact(Contact),
    /// The user signed in with this OAuth identity.
    Identity(ProvenIdentity),
}

/// An OAuth identity that an ID token proved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvenIdentity {
    /// OAuth provider of the user.
    pub provider: ProviderId,
    /// Claim `iss`.
    pub issuer: String,
    /// Claim `aud`, as registered.
    pub audience: String,
    /// Claim `sub`.
    pub subject: String,
}

impl ProvenIdentity {
    /// Returns the identity of an OAuth provider.
    pub fn of(provider: &OauthProvider) -> Self {
        Self {
            provider: provider.id,
            issuer: provider.issuer.clone(),
            audience: provider.audience.clone(),
            subject: provider.subject.clone(),
        }
    }

    /// Returns whether a user still has the identity.
    pub fn is_of(&self, user: &User) -> bool {
        let mut providers = user.oauth_providers.iter();
        providers.any(|one| one.id == self.provider && one.is(&self.issuer, &self.audience, &self.subject))
    }
}

impl AttestedProof {
    /// Converts to the wire form.
    pub fn wire(&self) -> VoteAttestation {
        match self {
            Self::Contact(contact) => VoteAttestation {
                authentication_type: match contact.otp_type() {
                    OtpType::Email => AuthenticationType::EmailOtp,
                    OtpType::Sms => AuthenticationType::SmsOtp,
                },
                contact: Some(contact.as_str().to_owned()),
                identity: None,
            },
            Self::Identity(identity) => VoteAttestation {
                authentication_type: AuthenticationType::Oauth,
                contact: None,
                identity: Some(AttestedIdentity {
                    provider_id: identity.provider,
                    issuer: identity.issuer.clone(),
                    audience: identity.audience.clone(),
                    subject: identity.subject.clone(),
                }),
            },
        }
    }
}
