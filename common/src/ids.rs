//! Typed identifiers. On the wire each is a UUID in its canonical 8-4-4-4-12 form (RFC 9562 §4).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

/// The text is not a UUID in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a UUID of the form 8-4-4-4-12")]
pub struct NotAnId;

fn parse(text: &str) -> Result<Uuid, NotAnId> {
    if text.len() != 36 {
        return Err(NotAnId);
    }
    Uuid::try_parse(text).map_err(|_| NotAnId)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// The id of these 16 bytes, in network order.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The 16 bytes, in network order.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// A version 4 id of these random bytes (RFC 9562 §5.4).
            pub fn random(bytes: [u8; 16]) -> Self {
                Self(uuid::Builder::from_random_bytes(bytes).into_uuid().into_bytes())
            }

            /// A version 7 id: `millis` since 1970 first, so that ids sort by time (RFC 9562 §5.7).
            pub fn timed(millis: u64, bytes: [u8; 10]) -> Self {
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid().into_bytes())
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
            type Err = NotAnId;

            fn from_str(text: &str) -> Result<Self, NotAnId> {
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

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "format": "uuid", "maxLength": 36})
            }
        }
    };
}

id!(
    /// Names an organization or a sub-organization.
    OrganizationId
);
id!(
    /// Names a user within an organization.
    UserId
);
id!(
    /// Names an activity. Version 7, so that ids sort by the time of submission.
    ActivityId
);
id!(
    /// Names one vote on an activity.
    VoteId
);
id!(
    /// Names an API key.
    ApiKeyId
);
id!(
    /// Names an authenticator (passkey or security key).
    AuthenticatorId
);
id!(
    /// Names an OAuth provider of a user.
    ProviderId
);
id!(
    /// Names a wallet.
    WalletId
);
id!(
    /// Names an account derived from a wallet.
    WalletAccountId
);
id!(
    /// Names a single private key.
    PrivateKeyId
);
id!(
    /// Names a tag of users or of private keys.
    TagId
);
id!(
    /// Names a policy.
    PolicyId
);
id!(
    /// Names an invitation to become a user.
    InvitationId
);
id!(
    /// Names an endpoint that receives webhooks.
    EndpointId
);
id!(
    /// Names a session profile.
    SessionProfileId
);
id!(
    /// Names a secret that was brought in.
    SecretId
);
id!(
    /// Names the interface of a smart contract.
    SmartContractInterfaceId
);
id!(
    /// Names what policies said at one vote.
    EvaluationId
);
id!(
    /// Names a payment method that came without an id of its own.
    PaymentMethodId
);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn text_form_is_canonical_only() {
        let text = "00000000-0000-4000-8000-000000000001";
        assert_eq!(text.parse::<UserId>().unwrap().to_string(), text);
        for bad in ["", "0", "00000000000040008000000000000001", "{00000000-0000-4000-8000-000000000001}"] {
            assert_eq!(bad.parse::<UserId>(), Err(NotAnId));
        }
    }

    #[test]
    fn timed_ids_sort_by_time() {
        assert!(ActivityId::timed(1, [255; 10]) < ActivityId::timed(2, [0; 10]));
        assert_eq!(ActivityId::timed(1, [255; 10]).to_string().as_bytes().get(14), Some(&b'7'));
        assert_eq!(UserId::random([0; 16]).to_string().as_bytes().get(14), Some(&b'4'));
    }
}
