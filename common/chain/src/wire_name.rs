//! Enumerations of the API: an upper-case name, or the number from the protocol definitions.
//!
//! Number 0 is never accepted; the protocol calls it "unspecified".

use core::fmt;
use core::marker::PhantomData;

use schemars::{Schema, json_schema};
use serde::de::{Deserializer, Error, Visitor};

/// A closed set of values, each with one name on the wire.
pub(crate) trait WireName: Copy + Eq + 'static {
    /// All values in the order of their protocol numbers. The first has number 1.
    const EVERY: &'static [Self];
    /// Error message for any other name or number.
    const ERROR_MESSAGE: &'static str;

    /// Returns the name on the wire.
    fn wire_name(self) -> &'static str;
}

/// Returns the value with this name.
pub(crate) fn by_name<T: WireName>(name: &str) -> Option<T> {
    T::EVERY.iter().copied().find(|value| value.wire_name() == name)
}

/// Returns the value with this protocol number. Numbers start at 1.
pub(crate) fn by_number<T: WireName>(number: u64) -> Option<T> {
    let position = usize::try_from(number.checked_sub(1)?).ok()?;
    T::EVERY.get(position).copied()
}

/// Deserializes a value from its name or its number.
pub(crate) fn deserialize<'de, T: WireName, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(NameOrNumber(PhantomData))
}

/// Returns the JSON Schema of the set: a string with a fixed list of names.
pub(crate) fn schema<T: WireName>() -> Schema {
    let names: Vec<&str> = T::EVERY.iter().map(|value| value.wire_name()).collect();
    json_schema!({ "type": "string", "enum": names })
}

struct NameOrNumber<T>(PhantomData<T>);

impl<T: WireName> Visitor<'_> for NameOrNumber<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of an enumeration value")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        by_name(name).ok_or_else(|| E::custom(T::ERROR_MESSAGE))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        by_number(number).ok_or_else(|| E::custom(T::ERROR_MESSAGE))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        u64::try_from(number).ok().and_then(by_number).ok_or_else(|| E::custom(T::ERROR_MESSAGE))
    }
}

/// Defines an enumeration, in the order of the protocol numbers, with the name of each value on the wire and the
/// error message for any other name. Implements the public lookups, `Display`, serde and `JsonSchema`.
macro_rules! wire_name {
    ($(#[$attribute:meta])* pub enum $type:ident: $error:literal {
        $($(#[$documentation:meta])* $value:ident = $name:literal,)+
    }) => {
        quorate_policy::named_enum! {
            $(#[$attribute])*
            pub enum $type {
                $($(#[$documentation])* $value = $name,)+
            }
        }

        impl $crate::wire_name::WireName for $type {
            const EVERY: &'static [Self] = Self::ALL;
            const ERROR_MESSAGE: &'static str = $error;

            fn wire_name(self) -> &'static str {
                self.name()
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::wire_name::deserialize(deserializer)
            }
        }

        $crate::inline_schema::inline_schema!($type, $crate::wire_name::schema::<Self>());
    };
}
pub(crate) use wire_name;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use schemars::JsonSchema;
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::WireName;
    use crate::address::AddressFormat;
    use crate::curve::Curve;
    use crate::derive::PathFormat;
    use crate::payload::{HashFunction, PayloadEncoding};

    /// Deserializes `sent` and returns the name of the value, or the error message.
    fn read<T: DeserializeOwned + Serialize>(sent: &Value) -> Result<Value, String> {
        serde_json::from_value::<T>(sent.clone())
            .map(|value| serde_json::to_value(value).unwrap())
            .map_err(|error| error.to_string())
    }

    fn check<T>(prefix: &str, error: &str, names: &[&str])
    where
        T: WireName + DeserializeOwned + Serialize + JsonSchema,
    {
        assert_eq!(T::EVERY.len(), names.len());
        for (name, number) in names.iter().zip(1..) {
            let name = format!("{prefix}{name}");
            assert_eq!(read::<T>(&json!(name)), Ok(json!(name)));
            assert_eq!(read::<T>(&json!(number)), Ok(json!(name)));
        }
        let unspecified = format!("{prefix}UNSPECIFIED");
        let beyond = names.len() + 1;
        let wrong_case = format!("{prefix}{}", names.concat()).to_lowercase();
        for sent in [
            json!(unspecified),
            json!(""),
            json!(wrong_case),
            json!(0),
            json!(-1),
            json!(beyond),
            json!(u64::MAX),
        ] {
            assert_eq!(read::<T>(&sent), Err(error.to_owned()), "{sent}");
        }
        for sent in [json!(null), json!(1.5), json!([]), json!({}), json!(true)] {
            assert!(read::<T>(&sent).is_err(), "{sent}");
        }
        let schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
        assert_eq!(schema.get("enum").unwrap().as_array().unwrap().len(), names.len());
    }

    #[test]
    fn curves() {
        check::<Curve>("CURVE_", "invalid curve", &["SECP256K1", "ED25519", "P256"]);
    }

    #[test]
    fn path_formats() {
        check::<PathFormat>("PATH_FORMAT_", "invalid path format", &["BIP32"]);
    }

    #[test]
    fn payload_encodings() {
        check::<PayloadEncoding>(
            "PAYLOAD_ENCODING_",
            "invalid payload encoding",
            &["HEXADECIMAL", "TEXT_UTF8", "EIP712", "EIP7702_AUTHORIZATION"],
        );
    }

    #[test]
    fn hash_functions() {
        check::<HashFunction>(
            "HASH_FUNCTION_",
            "invalid hash function",
            &["NO_OP", "SHA256", "KECCAK256", "NOT_APPLICABLE"],
        );
    }

    #[test]
    fn address_formats() {
        check::<AddressFormat>(
            "ADDRESS_FORMAT_",
            "invalid address format",
            &[
                "UNCOMPRESSED",
                "COMPRESSED",
                "ETHEREUM",
                "SOLANA",
                "COSMOS",
                "TRON",
                "SUI",
                "APTOS",
                "BITCOIN_MAINNET_P2PKH",
                "BITCOIN_MAINNET_P2SH",
                "BITCOIN_MAINNET_P2WPKH",
                "BITCOIN_MAINNET_P2WSH",
                "BITCOIN_MAINNET_P2TR",
                "BITCOIN_TESTNET_P2PKH",
                "BITCOIN_TESTNET_P2SH",
                "BITCOIN_TESTNET_P2WPKH",
                "BITCOIN_TESTNET_P2WSH",
                "BITCOIN_TESTNET_P2TR",
                "BITCOIN_SIGNET_P2PKH",
                "BITCOIN_SIGNET_P2SH",
                "BITCOIN_SIGNET_P2WPKH",
                "BITCOIN_SIGNET_P2WSH",
                "BITCOIN_SIGNET_P2TR",
                "BITCOIN_REGTEST_P2PKH",
                "BITCOIN_REGTEST_P2SH",
                "BITCOIN_REGTEST_P2WPKH",
                "BITCOIN_REGTEST_P2WSH",
                "BITCOIN_REGTEST_P2TR",
                "SEI",
                "XLM",
                "DOGE_MAINNET",
                "DOGE_TESTNET",
                "TON_V3R2",
                "TON_V4R2",
                "XRP",
                "TON_V5R1",
                "SPARK_MAINNET",
                "SPARK_REGTEST",
            ],
        );
    }
}
