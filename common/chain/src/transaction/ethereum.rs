//! Unsigned Ethereum transactions of the five types of mainnet.
//!
//! The decoder rejects bytes that the library would encode differently, so that the displayed and evaluated
//! data is the signed data.

use alloy_consensus::transaction::{RlpEcdsaDecodableTx, RlpEcdsaEncodableTx};
use alloy_consensus::{EthereumTypedTransaction, SignableTransaction, Transaction as _, TxEip4844, TxLegacy};
use alloy_primitives::{B256, Signature as Parts, keccak256};
use alloy_rlp::Decodable;

use quorate_policy::Value;

use super::{Signer, Slot};
use crate::address::{AddressFormat, address};
use crate::authorization::{Authorization, Signed as SignedAuthorization};
use crate::contract::{Call, Interfaces};
use crate::curve::{Message, Signature};

/// An unsigned transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    inner: Typed,
    /// keccak256 of the bytes that the transaction was decoded from.
    digest: [u8; 32],
}

/// A transaction of one of the five types. Blobs travel beside a transaction and are not signed.
type Typed = EthereumTypedTransaction<TxEip4844>;

/// Error returned for bytes that are not an unsigned transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EthereumError {
    /// There are no bytes.
    #[error("the data is empty")]
    Empty,
    /// The first byte is an unknown transaction type (EIP-2718).
    #[error("unknown transaction type {0}")]
    Type(u8),
    /// The bytes cannot be decoded. Holds the error of the library.
    #[error("{0}")]
    Malformed(String),
    /// The encoding is not canonical: it has a signature, bytes follow the end, or numbers are longer than
    /// necessary.
    #[error("already signed, or not in canonical form")]
    NotCanonical,
}

impl Transaction {
    /// Decodes the bytes that a key signs: RLP of six or nine members (EIP-155), or a type byte and RLP
    /// (EIP-2718).
    ///
    /// # Errors
    /// The [`EthereumError`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, EthereumError> {
        let (first, rest) = bytes.split_first().ok_or(EthereumError::Empty)?;
        let inner = match *first {
            0x01 => fields(rest).map(Typed::Eip2930),
            0x02 => fields(rest).map(Typed::Eip1559),
            0x03 => fields(rest).map(Typed::Eip4844),
            0x04 => fields(rest).map(Typed::Eip7702),
            list if list >= 0xc0 => TxLegacy::decode(&mut &*bytes).map(Typed::Legacy),
            other => return Err(EthereumError::Type(other)),
        };
        let inner = inner.map_err(|error| EthereumError::Malformed(error.to_string()))?;
        if inner.encoded_for_signing() == bytes {
            Ok(Self { inner, digest: keccak256(bytes).0 })
        } else {
            Err(EthereumError::NotCanonical)
        }
    }

    /// Returns keccak256 of the unsigned bytes.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Returns the only signature slot.
    pub(super) fn slots(&self) -> Vec<Slot> {
        vec![Slot { message: Message::Digest(self.digest), index: 0 }]
    }

    /// Returns the signed transaction in network encoding, or the original bytes if there is no signature.
    pub(super) fn signed(&self, signatures: &[(usize, Signature)]) -> Vec<u8> {
        let Some((_, signature)) = signatures.first() else { return self.inner.encoded_for_signing() };
        let is_odd = signature.v == 1;
        let parts = Parts::from_scalars_and_parity(B256::from(signature.r), B256::from(signature.s), is_odd);
        let mut bytes = Vec::new();
        self.inner.eip2718_encode(&parts, &mut bytes);
        bytes
    }

    /// Returns the facts that policies can query. A number outside of their range is unreadable: policies
    /// that access it fail.
    pub(super) fn facts(&self, signer: &Signer<'_>, interfaces: &dyn Interfaces) -> Value {
        let from = address(AddressFormat::Ethereum, signer.key).ok();
        let to = self.to().map(const_hex::encode_prefixed).unwrap_or_default();
        let (max_fee, priority_fee) = self.fees();
        let call = self.call(interfaces);
        Value::record([
            ("type", Some(Value::text(self.kind()))),
            ("to", Some(Value::folded(to))),
            ("data", Some(Value::text(const_hex::encode_prefixed(self.data())))),
            ("value", Some(Value::int(self.inner.value()))),
            ("gas", Some(Value::int(self.gas()))),
            ("nonce", Some(Value::int(self.nonce()))),
            ("from", from.map(Value::folded)),
            ("chain_id", self.chain_id().map(Value::int)),
            // A transaction without a gas price has its maximum fee per gas as the price.
            ("gas_price", Some(Value::int(max_fee))),
            ("max_fee_per_gas", priority_fee.map(|_| Value::int(max_fee))),
            ("max_priority_fee_per_gas", priority_fee.map(Value::int)),
            ("max_fee_per_blob_gas", self.inner.max_fee_per_blob_gas().map(Value::int)),
            ("function_name", call.as_ref().map(|call| Value::text(call.name.clone()))),
            (
                "function_signature",
                call.as_ref().map(|call| Value::text(const_hex::encode_prefixed(call.selector))),
            ),
            ("contract_call_args", call.as_ref().and_then(Call::arguments)),
        ])
    }

    /// Decodes the call, if the recipient has an interface with the selector of the data.
    pub fn call(&self, interfaces: &dyn Interfaces) -> Option<Call> {
        interfaces.abi(&self.to()?)?.call(self.data())
    }

    /// Returns the maximum fee per gas in wei, and the maximum priority fee per gas if the type has one
    /// (EIP-1559).
    pub fn fees(&self) -> (u128, Option<u128>) {
        (self.inner.max_fee_per_gas(), self.inner.max_priority_fee_per_gas())
    }

    /// Returns the gas limit.
    pub fn gas(&self) -> u64 {
        self.inner.gas_limit()
    }

    /// Returns the nonce: the number of earlier transactions of the signer.
    pub fn nonce(&self) -> u64 {
        self.inner.nonce()
    }

    /// Returns the call data, or the code of the contract that the transaction creates.
    pub fn data(&self) -> &[u8] {
        self.inner.input()
    }

    /// Returns the number of addresses in the access list.
    pub fn access_list_len(&self) -> usize {
        self.inner.access_list().map_or(0, |list| list.len())
    }

    /// Returns the number of blobs and their maximum total fee in wei (EIP-4844). The fee saturates at the
    /// largest number.
    pub fn blobs(&self) -> Option<(usize, u128)> {
        let (hashes, fee) = (self.inner.blob_versioned_hashes()?, self.inner.max_fee_per_blob_gas()?);
        Some((hashes.len(), fee.saturating_mul(self.inner.blob_gas_used()?.into())))
    }

    /// Returns the authorizations, which set the code of accounts (EIP-7702).
    pub fn authorizations(&self) -> Vec<SignedAuthorization> {
        let signed = self.inner.authorization_list().unwrap_or_default().iter().map(|signed| {
            let signature =
                Signature { r: signed.r().to_be_bytes(), s: signed.s().to_be_bytes(), v: signed.y_parity() };
            Authorization::signed(signed.address().0.0, *signed.chain_id(), signed.nonce(), &signature)
        });
        signed.collect()
    }

    /// Returns `LEGACY`, or `TYPE_` and the number of the type (EIP-2718).
    pub fn kind(&self) -> &'static str {
        match &self.inner {
            Typed::Legacy(_) => "LEGACY",
            Typed::Eip2930(_) => "TYPE_1",
            Typed::Eip1559(_) => "TYPE_2",
            Typed::Eip4844(_) => "TYPE_3",
            Typed::Eip7702(_) => "TYPE_4",
        }
    }

    /// Returns the chain id. Legacy transactions may have none.
    pub fn chain_id(&self) -> Option<u64> {
        self.inner.chain_id()
    }

    /// Returns the recipient, or `None` if the transaction creates a contract.
    pub fn to(&self) -> Option<[u8; 20]> {
        self.inner.to().map(|address| address.0.0)
    }

    /// Returns the transferred value in wei, big-endian.
    pub fn value(&self) -> [u8; 32] {
        self.inner.value().to_be_bytes()
    }
}

/// Decodes the fields of a typed transaction.
fn fields<T: RlpEcdsaDecodableTx>(mut bytes: &[u8]) -> alloy_rlp::Result<T> {
    T::rlp_decode(&mut bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use alloy_consensus::SignableTransaction as _;
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::{EthereumError, Transaction};
    use crate::curve::{Curve, Message};
    use crate::vectors::{rows, secret};

    #[derive(Deserialize)]
    struct Row {
        case: String,
        private: String,
        unsigned: String,
        digest: Option<String>,
        signed: String,
        chain: Option<u64>,
    }

    fn samples() -> Vec<Row> {
        rows(include_str!("../../../../assets/vectors/chain/ethereum.json"))
    }

    #[test]
    fn signatures_match_published_transactions() {
        for row in samples() {
            let unsigned = const_hex::decode(&row.unsigned).unwrap();
            let transaction = Transaction::decode(&unsigned).unwrap();
            if let Some(digest) = row.digest {
                assert_eq!(const_hex::encode(transaction.digest()), digest, "{}", row.case);
            }
            let key = secret(Curve::Secp256k1, &row.private);
            let signature = key.sign(&Message::Digest(transaction.digest())).unwrap();
            let signed = transaction.signed(&[(0, signature)]);
            assert_eq!(const_hex::encode(&signed), row.signed, "{}", row.case);
            assert_eq!(transaction.chain_id(), row.chain, "{}", row.case);
            assert_eq!(transaction.to(), Some([0x35; 20]), "{}", row.case);
            assert_eq!(transaction.value()[24..], 1_000_000_000_000_000_000_u64.to_be_bytes());
            assert!(Transaction::decode(&signed).is_err(), "{}: a signed transaction is rejected", row.case);
        }
    }

    #[derive(Deserialize)]
    struct Reviewed {
        case: String,
        unsigned: String,
    }

    #[test]
    fn authorizations_recover_their_accounts() {
        let rows = rows::<Reviewed>(include_str!("../../../../assets/vectors/chain/ethereum_reviewed.json"));
        let authorizations = |wanted: &str| {
            let row = rows.iter().find(|row| row.case.starts_with(wanted)).unwrap();
            let transaction = Transaction::decode(&const_hex::decode(&row.unsigned).unwrap()).unwrap();
            transaction.authorizations()
        };
        let owner = Some("0x9858EfFD232B4033E47d90003D41EC34EcaEda94");
        let one = authorizations("delegates one account");
        assert_eq!(one.len(), 1);
        assert_eq!(one.first().unwrap().authority.as_deref(), owner);
        assert_eq!(one.first().unwrap().authorization.address(), &[0x11; 20]);
        let several = authorizations("revokes a delegation");
        let owners: Vec<_> = several.iter().map(|signed| signed.authority.as_deref()).collect();
        assert_eq!(owners, [owner, owner, None]);
        assert!(several.first().unwrap().authorization.is_revocation());
        assert!(authorizations("two blobs").is_empty());
    }

    #[test]
    fn rejects_truncated_and_extended_transactions() {
        for row in samples() {
            let unsigned = const_hex::decode(&row.unsigned).unwrap();
            for length in 0..unsigned.len() {
                assert!(
                    Transaction::decode(unsigned.get(..length).unwrap()).is_err(),
                    "{} {length}",
                    row.case
                );
            }
            for more in [&[0][..], &[0x80], &[0x80, 0x80, 0x80], &[0xc0]] {
                let longer = [unsigned.as_slice(), more].concat();
                assert!(Transaction::decode(&longer).is_err(), "{} {more:?}", row.case);
            }
        }
    }

    #[test]
    fn errors_state_the_cause() {
        let error = |bytes: &[u8]| Transaction::decode(bytes).unwrap_err();
        assert_eq!(error(&[]), EthereumError::Empty);
        assert_eq!(error(&[0x05, 0xc0]), EthereumError::Type(5));
        assert_eq!(error(&[0x76, 0xc0]), EthereumError::Type(0x76));
        assert!(matches!(error(&[0xc0]), EthereumError::Malformed(_)));
        // Eight bytes of length: more than there is memory.
        assert!(matches!(error(&[0xff; 9]), EthereumError::Malformed(_)));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), first in 0_u8..5) {
            let _ = Transaction::decode(&bytes);
            let _ = Transaction::decode(&[&[first], bytes.as_slice()].concat());
        }

        #[test]
        fn decoded_bytes_are_the_signed_bytes(index in 0_usize..120, byte in any::<u8>()) {
            for row in samples() {
                let mut bytes = const_hex::decode(&row.unsigned).unwrap();
                if let Some(changed) = bytes.get_mut(index) {
                    *changed = byte;
                }
                if let Ok(read) = Transaction::decode(&bytes) {
                    prop_assert_eq!(read.inner.encoded_for_signing(), bytes);
                }
            }
        }
    }
}
