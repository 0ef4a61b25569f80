//! Authorizations (EIP-7702): an account lets the code of a contract stand for its own, until it authorizes another.

use alloy_primitives::{Address, U256, keccak256};
use alloy_rlp::Encodable;
use quorate_policy::{Integer, Value};

use crate::address::{AddressFormat, address as of_key};
use crate::curve::{PublicKey, Signature};
use crate::json::{self, Flaw};
use crate::typed_data::{address, integer};

/// An authorization that comes with a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// What was signed.
    pub authorization: Authorization,
    /// The account whose key signed it; none where the signature is no account's, and the network passes it over.
    pub authority: Option<String>,
}

/// The first byte of what is hashed (EIP-7702, `MAGIC`).
const MAGIC: u8 = 0x05;

/// An authorization that nobody has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    address: [u8; 20],
    chain_id: [u8; 32],
    nonce: u64,
}

impl Authorization {
    /// Reads an object of `address`, `chainId` and `nonce` and no more. Numbers are whole, as JSON numbers or as texts of
    /// decimal digits or of hexadecimal digits after `0x`.
    ///
    /// # Errors
    /// The first [`Flaw`] that is found.
    pub fn read(text: &str) -> Result<Self, Flaw> {
        let mut members = json::object(text)?;
        let mut taken = |name: &str| members.remove(name).ok_or_else(|| Flaw::at(name, "is missing"));
        let (to, chain, nonce) = (taken("address")?, taken("chainId")?, taken("nonce")?);
        if !members.is_empty() {
            return Err(Flaw::at("", "has members besides address, chainId and nonce"));
        }
        let number = |path: &str, json, bits: usize| {
            let told = || Flaw::at(path, format!("is not an unsigned integer of {bits} bits"));
            integer(json, false, bits).ok_or_else(told)
        };
        let address = address(&to).ok_or_else(|| Flaw::at("address", "is not an address"))?;
        let chain_id = number("chainId", &chain, 256)?;
        // It has 64 bits.
        let nonce = U256::from_be_bytes(number("nonce", &nonce, 64)?).saturating_to();
        Ok(Self { address, chain_id, nonce })
    }

    /// This with a signature.
    pub(crate) fn signed(address: [u8; 20], chain_id: [u8; 32], nonce: u64, signature: &Signature) -> Signed {
        let authorization = Self { address, chain_id, nonce };
        let key = PublicKey::recovered(&authorization.digest(), signature);
        let authority = key.and_then(|key| of_key(AddressFormat::Ethereum, &key).ok());
        Signed { authorization, authority }
    }

    /// The contract whose code would stand for that of the account; zero for none (EIP-7702).
    pub fn address(&self) -> &[u8; 20] {
        &self.address
    }

    /// Whether it leaves the account without code (EIP-7702).
    pub fn is_revocation(&self) -> bool {
        self.address == [0; 20]
    }

    /// The chain that it holds on; zero for every chain (EIP-7702).
    pub fn chain_id(&self) -> Integer {
        Integer::from_be_bytes(&self.chain_id).unwrap_or(Integer::ZERO)
    }

    /// The number of transactions of the account before it.
    pub fn nonce(&self) -> u64 {
        self.nonce
    }

    /// What is signed: keccak256 of 0x05 and the list of chain, address and nonce.
    pub fn digest(&self) -> [u8; 32] {
        let chain_id = U256::from_be_bytes(self.chain_id);
        let address = Address::from(self.address);
        let members: [&dyn Encodable; 3] = [&chain_id, &address, &self.nonce];
        let mut bytes = vec![MAGIC];
        alloy_rlp::encode_list::<_, dyn Encodable>(&members, &mut bytes);
        keccak256(bytes).0
    }

    /// What policies may ask about it.
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
        Authorization::read(&json.to_string()).map_err(|flaw| flaw.to_string())
    }

    #[test]
    fn digests_of_other_implementations() {
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
    fn exactly_three_members() {
        let good = json!({"address": format!("0x{}", "35".repeat(20)), "chainId": 1, "nonce": 0});
        assert!(read(&good).is_ok());
        for (name, value, told) in [
            ("address", json!("0x35"), "`address` is not an address"),
            ("address", json!(null), "`address` is not an address"),
            ("chainId", json!("mainnet"), "`chainId` is not an unsigned integer of 256 bits"),
            ("chainId", json!(1.5), "`chainId` is not an unsigned integer of 256 bits"),
            ("nonce", json!(-1), "`nonce` is not an unsigned integer of 64 bits"),
            ("nonce", json!("18446744073709551616"), "`nonce` is not an unsigned integer of 64 bits"),
            ("gas", json!(1), "it has members besides address, chainId and nonce"),
        ] {
            let mut bad = good.clone();
            bad[name] = value;
            assert_eq!(read(&bad).unwrap_err(), told, "{name}");
        }
        for name in ["address", "chainId", "nonce"] {
            let mut bad = good.clone();
            bad.as_object_mut().unwrap().remove(name);
            assert_eq!(read(&bad).unwrap_err(), format!("`{name}` is missing"));
        }
        assert_eq!(read(&json!([])).unwrap_err(), "it is not an object");
    }
}
