//! Typed identifiers. On the wire, each is a UUID in its canonical 8-4-4-4-12 form (RFC 9562 §4).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

use crate::inline_schema;

/// Error returned for a text that is not a UUID in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a UUID of the form 8-4-4-4-12")]
pub struct InvalidId;

fn parse(text: &str) -> Result<Uuid, InvalidId> {
    if text.len() != 36 {
        return Err(InvalidId);
    }
    Uuid::try_parse(text).map_err(|_| InvalidId)
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Creates an id from its 16 bytes in network byte order.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// Returns the 16 bytes in network byte order.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// Creates a version 4 id from random bytes (RFC 9562 §5.4).
            pub fn random(bytes: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(bytes).into_uuid().into_bytes())
            }

            /// Creates a version 7 id from milliseconds since 1970 and random bytes (RFC 9562 §5.7). Such ids
            /// sort by time.
            pub fn timed(millis: u64, bytes: [u8; 10]) -> Self {
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().into_bytes())
            }

            /// Returns the milliseconds since 1970 of a version 7 id. Other ids have no time.
            pub fn millis(&self) -> Option<u64> {
                let (seconds, nanos) = Uuid::from_bytes(self.0).get_timestamp()?.to_unix();
                Some(seconds.saturating_mul(1000).saturating_add(u64::from(nanos) / 1_000_000))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Uuid::from_bytes(self.0).hyphenated().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Ok(Self(parse(text)?.into_bytes()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut buffer = Uuid::encode_buffer();
                serializer.serialize_str(Uuid::from_bytes(self.0).hyphenated().encode_lower(&mut buffer))
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }

        inline_schema!($name, {"type": "string", "format": "uuid", "maxLength": 36});
    )+};
}

ids! {
    /// Identifies an organization or a sub-organization.
    OrganizationId,
    /// Identifies a user within an organization.
    UserId,
    /// Identifies an activity. It is a version 7 id, so that ids sort by the time of submission.
    ActivityId,
    /// Identifies one vote on an activity.
    VoteId,
    /// Identifies an API key.
    ApiKeyId,
    /// Identifies an authenticator (passkey or security key).
    AuthenticatorId,
    /// Identifies an OAuth provider of a user.
    ProviderId,
    /// Identifies a wallet.
    WalletId,
    /// Identifies an account derived from a wallet.
    WalletAccountId,
    /// Identifies a single private key.
    PrivateKeyId,
    /// Identifies a tag of users or of private keys.
    TagId,
    /// Identifies a policy.
    PolicyId,
    /// Identifies an invitation to become a user.
    InvitationId,
    /// Identifies an endpoint that receives webhooks.
    EndpointId,
    /// Identifies a session profile.
    SessionProfileId,
    /// Identifies an MFA policy of a user.
    MfaPolicyId,
    /// Identifies what an MFA policy requires by its id: an authenticator, an API key, an OAuth provider or a session
    /// profile.
    MethodId,
    /// Identifies the credential of an application at an OAuth 2.0 provider.
    Oauth2CredentialId,
    /// Identifies an imported secret.
    SecretId,
    /// Identifies the interface of a smart contract.
    SmartContractInterfaceId,
    /// Identifies the record of the policy outcomes at one vote.
    EvaluationId,
    /// Identifies a payment method that was submitted without an id of its own.
    PaymentMethodId,
    /// Identifies a one-time code.
    OtpId,
    /// Identifies a verification token.
    VerificationTokenId,
    /// Identifies an event in the delivery of a message. It is a version 7 id, so that ids sort by time.
    MessageEventId,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn accepts_only_the_canonical_text_form() {
        let text = "00000000-0000-4000-8000-000000000001";
        assert_eq!(text.parse::<UserId>().unwrap().to_string(), text);
        for bad in ["", "0", "00000000000040008000000000000001", "{00000000-0000-4000-8000-000000000001}"] {
            assert_eq!(bad.parse::<UserId>(), Err(InvalidId));
        }
    }

    #[test]
    fn timed_ids_sort_by_time() {
        assert!(ActivityId::timed(1, [255; 10]) < ActivityId::timed(2, [0; 10]));
        assert_eq!(ActivityId::timed(1, [255; 10]).to_string().as_bytes().get(14), Some(&b'7'));
        assert_eq!(UserId::random([0; 16]).to_string().as_bytes().get(14), Some(&b'4'));
    }
}
