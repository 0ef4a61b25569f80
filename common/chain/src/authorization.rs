//! Authorizations (EIP-7702): an account delegates to the code of a contract until it authorizes another one.

use alloy_primitives::{Address, U256, keccak256};
use alloy_rlp::Encodable;
use quorate_policy::{Integer, Value};

use crate::address::{AddressFormat, address as address_of_key};
use crate::curve::{PublicKey, Signature};
use crate::json::{self, JsonError};
use crate::typed_data::{address, integer};

/// A signed authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The authorization that was signed.
    pub authorization: Authorization,
    /// Account whose key signed; `None` if the signature is invalid, so that the network ignores the
    /// authorization.
    pub authority: Option<String>,
}

/// First byte of the hashed data (EIP-7702, `MAGIC`).
const MAGIC: u8 = 0x05;

/// An unsigned authorization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    address: [u8; 20],
    chain_id: U256,
    nonce: u64,
}

impl Authorization {
    /// Parses a JSON object with exactly the members `address`, `chainId` and `nonce`.
    ///
    /// Integers are JSON numbers, or strings of decimal digits or of hexadecimal digits after `0x`.
    ///
    /// # Errors
    /// The first [`JsonError`] found.
    pub fn read(text: &str) -> Result<Self, JsonError> {
        let mut members = json::object(text)?;
        let mut required = |name: &str| members.remove(name).ok_or_else(|| JsonError::at(name, "is missing"));
        let (to, chain, nonce) = (required("address")?, required("chainId")?, required("nonce")?);
        if !members.is_empty() {
            return Err(JsonError::at("", "has members other than address, chainId and nonce"));
        }
        let number = |path: &str, json, bits: usize| {
            let error = || JsonError::at(path, format!("is not an unsigned integer of {bits} bits"));
            integer(json, false, bits).map(U256::from_be_bytes).ok_or_else(error)
        };
        let address = address(&to).ok_or_else(|| JsonError::at("address", "is not an address"))?;
        let chain_id = number("chainId", &chain, 256)?;
        // The number was checked to have at most 64 bits.
        let nonce = number("nonce", &nonce, 64)?.saturating_to();
        Ok(Self { address, chain_id, nonce })
    }

    /// Combines an authorization with its signature and recovers the account that signed.
    pub(crate) fn signed(address: [u8; 20], chain_id: U256, nonce: u64, signature: &Signature) -> Signed {
        let authorization = Self { address, chain_id, nonce };
        let key = PublicKey::recovered(&authorization.digest(), signature);
        let authority = key.and_then(|key| address_of_key(AddressFormat::Ethereum, &key).ok());
        Signed { authorization, authority }
    }

    /// Returns the contract that the account delegates to; zero for none (EIP-7702).
    pub fn address(&self) -> &[u8; 20] {
        &self.address
    }

    /// Returns whether the authorization removes the delegation of the account (EIP-7702).
    pub fn is_revocation(&self) -> bool {
        self.address == [0; 20]
    }

    /// Returns the id of the chain on which the authorization is valid; zero for every chain (EIP-7702).
    pub fn chain_id(&self) -> Integer {
        self.chain_id.into()
    }

    /// Returns the nonce: the number of earlier transactions of the account.
    pub fn nonce(&self) -> u64 {
        self.nonce
    }

    /// Returns the digest to sign: keccak256 of 0x05 and the RLP list of chain id, address and nonce.
    pub fn digest(&self) -> [u8; 32] {
        let address = Address::from(self.address);
        let members: [&dyn Encodable; 3] = [&self.chain_id, &address, &self.nonce];
        let mut bytes = vec![MAGIC];
        alloy_rlp::encode_list::<_, dyn Encodable>(&members, &mut bytes);
        keccak256(bytes).0
    }

    /// Returns the facts that policies can query.
    pub(crate) fn facts(&self) -> Value {
        Value::record([
            ("address", Value::folded(const_hex::encode_prefixed(self.address))),
            ("chain_id", Value::uint(self.chain_id())),
            ("nonce", Value::int(self.nonce)),
        ])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use serde::Deserialize;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::vectors::rows;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Row {
        address: String,
        chain_id: u64,
        nonce: u64,
        digest: String,
    }

    fn read(json: &Json) -> Result<Authorization, String> {
        Authorization::read(&json.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn digests_match_other_implementations() {
        for row in rows::<Row>(include_str!("../../../assets/vectors/chain/authorization.json")) {
            for (chain, nonce) in [
                (json!(row.chain_id), json!(row.nonce)),
                (json!(row.chain_id.to_string()), json!(format!("{:#x}", row.nonce))),
            ] {
                let read = read(&json!({"address": row.address, "chainId": chain, "nonce": nonce})).unwrap();
                assert_eq!(const_hex::encode(read.digest()), row.digest);
                assert_eq!((read.nonce(), read.chain_id()), (row.nonce, row.chain_id.into()));
                assert_eq!(const_hex::encode_prefixed(read.address()), row.address);
            }
        }
    }

    #[test]
    fn requires_exactly_three_members() {
        let good = json!({"address": format!("0x{}", "35".repeat(20)), "chainId": 1, "nonce": 0});
        assert!(read(&good).is_ok());
        for (name, value, message) in [
            ("address", json!("0x35"), "`address` is not an address"),
            ("address", json!(null), "`address` is not an address"),
            ("chainId", json!("mainnet"), "`chainId` is not an unsigned integer of 256 bits"),
            ("chainId", json!(1.5), "`chainId` is not an unsigned integer of 256 bits"),
            ("nonce", json!(-1), "`nonce` is not an unsigned integer of 64 bits"),
            ("nonce", json!("18446744073709551616"), "`nonce` is not an unsigned integer of 64 bits"),
            ("gas", json!(1), "it has members other than address, chainId and nonce"),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert_eq!(read(&bad).unwrap_err(), message, "{name}");
        }
        for name in ["address", "chainId", "nonce"] {
            let mut bad = good.clone();
            bad.as_object_mut().unwrap().remove(name);
            assert_eq!(read(&bad).unwrap_err(), format!("`{name}` is missing"));
        }
        assert_eq!(read(&json!([])).unwrap_err(), "it is not an object");
    }
}
