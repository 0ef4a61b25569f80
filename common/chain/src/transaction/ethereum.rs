//! Transactions before they are signed: the five kinds that the main network has.
//!
//! Reading refuses whatever the library would write in another way, so that what is shown and judged is what is signed.

use alloy_consensus::transaction::RlpEcdsaDecodableTx;
use alloy_consensus::{SignableTransaction, TxEip1559, TxEip2930, TxEip4844, TxEip7702, TxLegacy};
use alloy_primitives::{B256, Signature as Parts, TxKind, U256, keccak256};
use alloy_rlp::Decodable;

use quorate_policy::{Integer, Value};

use super::{Signer, Slot};
use crate::address::{AddressFormat, address};
use crate::authorization::{Authorization, Signed as SignedAuthorization};
use crate::contract::{Call, Interfaces};
use crate::curve::{Message, Signature};

/// A transaction that nobody has signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    form: Form,
    /// keccak256 of the bytes that it was read from.
    digest: [u8; 32],
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Legacy(TxLegacy),
    Eip2930(TxEip2930),
    Eip1559(TxEip1559),
    Eip4844(TxEip4844),
    Eip7702(TxEip7702),
}

impl Form {
    /// The bytes of which the hash is signed.
    fn unsigned(&self) -> Vec<u8> {
        match self {
            Self::Legacy(transaction) => transaction.encoded_for_signing(),
            Self::Eip2930(transaction) => transaction.encoded_for_signing(),
            Self::Eip1559(transaction) => transaction.encoded_for_signing(),
            Self::Eip4844(transaction) => transaction.encoded_for_signing(),
            Self::Eip7702(transaction) => transaction.encoded_for_signing(),
        }
    }
}

/// Why bytes are no unsigned transaction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// There are none.
    #[error("it is empty")]
    Empty,
    /// The first byte names a type that is not read here (EIP-2718).
    #[error("type {0} is not known")]
    Type(u8),
    /// They cannot be read. Holds where the reading ended.
    #[error("{0}")]
    Malformed(String),
    /// They can be read, and would be written in another way: a signature, bytes behind the end, or numbers that are
    /// longer than they need be.
    #[error("it is signed already, or not written the one way there is")]
    NotCanonical,
}

impl Transaction {
    /// Reads what a key signs: `rlp` of six or nine members (EIP-155), or a byte for the type and `rlp` (EIP-2718).
    ///
    /// # Errors
    /// The [`Flaw`] that applies first.
    pub fn decode(bytes: &[u8]) -> Result<Self, Flaw> {
        let (first, rest) = bytes.split_first().ok_or(Flaw::Empty)?;
        let form = match *first {
            0x01 => fields(rest).map(Form::Eip2930),
            0x02 => fields(rest).map(Form::Eip1559),
            0x03 => fields(rest).map(Form::Eip4844),
            0x04 => fields(rest).map(Form::Eip7702),
            list if list >= 0xc0 => TxLegacy::decode(&mut &*bytes).map(Form::Legacy),
            other => return Err(Flaw::Type(other)),
        };
        let form = form.map_err(|flaw| Flaw::Malformed(flaw.to_string()))?;
        if form.unsigned() == bytes {
            Ok(Self { form, digest: keccak256(bytes).0 })
        } else {
            Err(Flaw::NotCanonical)
        }
    }

    /// keccak256 of the unsigned bytes.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// The one place for a signature.
    pub(super) fn slots(&self) -> Vec<Slot> {
        vec![Slot { message: Message::Digest(self.digest), place: 0 }]
    }

    /// The transaction with its signature, as the network takes it; without one, as it was read.
    pub(super) fn signed(&self, signatures: &[(usize, Signature)]) -> Vec<u8> {
        let Some((_, signature)) = signatures.first() else { return self.form.unsigned() };
        let is_odd = signature.v == 1;
        let parts = Parts::from_scalars_and_parity(B256::from(signature.r), B256::from(signature.s), is_odd);
        let mut bytes = Vec::new();
        match self.form.clone() {
            Form::Legacy(transaction) => transaction.into_signed(parts).eip2718_encode(&mut bytes),
            Form::Eip2930(transaction) => transaction.into_signed(parts).eip2718_encode(&mut bytes),
            Form::Eip1559(transaction) => transaction.into_signed(parts).eip2718_encode(&mut bytes),
            Form::Eip4844(transaction) => transaction.into_signed(parts).eip2718_encode(&mut bytes),
            Form::Eip7702(transaction) => transaction.into_signed(parts).eip2718_encode(&mut bytes),
        }
        bytes
    }

    /// What policies may ask about it. Numbers beyond what they can read are refused when they are asked for.
    pub(super) fn facts(&self, signer: &Signer<'_>, interfaces: &dyn Interfaces) -> Value {
        let from = address(AddressFormat::Ethereum, signer.key).ok();
        let to = self.to().map(const_hex::encode_prefixed).unwrap_or_default();
        let value = Integer::from_be_bytes(&self.value()).map_or(Value::Unreadable, Value::int);
        let (most, tip) = self.fees();
        let call = self.call(interfaces);
        let blob = match &self.form {
            Form::Eip4844(tx) => Some(Value::int(tx.max_fee_per_blob_gas)),
            _ => None,
        };
        Value::record([
            ("type", Some(Value::text(self.kind()))),
            ("to", Some(Value::folded(to))),
            ("data", Some(Value::text(const_hex::encode_prefixed(self.data())))),
            ("value", Some(value)),
            ("gas", Some(Value::int(self.gas()))),
            ("nonce", Some(Value::int(self.nonce()))),
            ("from", from.map(Value::folded)),
            ("chain_id", self.chain_id().map(Value::int)),
            // What a unit of gas costs at most is the price of those that name none.
            ("gas_price", Some(Value::int(most))),
            ("max_fee_per_gas", tip.map(|_| Value::int(most))),
            ("max_priority_fee_per_gas", tip.map(Value::int)),
            ("max_fee_per_blob_gas", blob),
            ("function_name", call.as_ref().map(|call| Value::text(call.name.clone()))),
            (
                "function_signature",
                call.as_ref().map(|call| Value::text(const_hex::encode_prefixed(call.selector))),
            ),
            ("contract_call_args", call.as_ref().and_then(Call::arguments)),
        ])
    }

    /// What it calls, if whom it calls has an interface, and that has a function with the first bytes of the data.
    pub fn call(&self, interfaces: &dyn Interfaces) -> Option<Call> {
        interfaces.abi(&self.to()?)?.call(self.data())
    }

    /// What a unit of gas costs at most, in wei, and how much of that whoever includes it gets at most, where that is
    /// said apart (EIP-1559).
    pub fn fees(&self) -> (u128, Option<u128>) {
        match &self.form {
            Form::Legacy(tx) => (tx.gas_price, None),
            Form::Eip2930(tx) => (tx.gas_price, None),
            Form::Eip1559(tx) => (tx.max_fee_per_gas, Some(tx.max_priority_fee_per_gas)),
            Form::Eip4844(tx) => (tx.max_fee_per_gas, Some(tx.max_priority_fee_per_gas)),
            Form::Eip7702(tx) => (tx.max_fee_per_gas, Some(tx.max_priority_fee_per_gas)),
        }
    }

    /// How much gas it may use.
    pub fn gas(&self) -> u64 {
        match &self.form {
            Form::Legacy(tx) => tx.gas_limit,
            Form::Eip2930(tx) => tx.gas_limit,
            Form::Eip1559(tx) => tx.gas_limit,
            Form::Eip4844(tx) => tx.gas_limit,
            Form::Eip7702(tx) => tx.gas_limit,
        }
    }

    /// The number of transactions of the signer before it.
    pub fn nonce(&self) -> u64 {
        match &self.form {
            Form::Legacy(tx) => tx.nonce,
            Form::Eip2930(tx) => tx.nonce,
            Form::Eip1559(tx) => tx.nonce,
            Form::Eip4844(tx) => tx.nonce,
            Form::Eip7702(tx) => tx.nonce,
        }
    }

    /// What it calls with, or the code of the contract that it creates.
    pub fn data(&self) -> &[u8] {
        match &self.form {
            Form::Legacy(tx) => &tx.input,
            Form::Eip2930(tx) => &tx.input,
            Form::Eip1559(tx) => &tx.input,
            Form::Eip4844(tx) => &tx.input,
            Form::Eip7702(tx) => &tx.input,
        }
    }

    /// How many addresses it says that it will touch.
    pub fn accessed(&self) -> usize {
        match &self.form {
            Form::Legacy(_) => 0,
            Form::Eip2930(tx) => tx.access_list.len(),
            Form::Eip1559(tx) => tx.access_list.len(),
            Form::Eip4844(tx) => tx.access_list.len(),
            Form::Eip7702(tx) => tx.access_list.len(),
        }
    }

    /// How many blobs it carries, and what all of them cost at most, in wei (EIP-4844); the largest number if it is more.
    pub fn blobs(&self) -> Option<(usize, u128)> {
        let Form::Eip4844(transaction) = &self.form else { return None };
        let gas = u128::from(transaction.blob_gas());
        Some((transaction.blob_versioned_hashes.len(), transaction.max_fee_per_blob_gas.saturating_mul(gas)))
    }

    /// Whose code it sets to which (EIP-7702).
    pub fn authorizations(&self) -> Vec<SignedAuthorization> {
        let Form::Eip7702(transaction) = &self.form else { return Vec::new() };
        let signed = transaction.authorization_list.iter().map(|signed| {
            let signature =
                Signature { r: signed.r().to_be_bytes(), s: signed.s().to_be_bytes(), v: signed.y_parity() };
            let chain_id = signed.chain_id().to_be_bytes();
            Authorization::signed(signed.address().0.0, chain_id, signed.nonce(), &signature)
        });
        signed.collect()
    }

    /// `LEGACY`, or `TYPE_` and its number (EIP-2718).
    pub fn kind(&self) -> &'static str {
        match &self.form {
            Form::Legacy(_) => "LEGACY",
            Form::Eip2930(_) => "TYPE_1",
            Form::Eip1559(_) => "TYPE_2",
            Form::Eip4844(_) => "TYPE_3",
            Form::Eip7702(_) => "TYPE_4",
        }
    }

    /// The chain that it is for; older ones may name none.
    pub fn chain_id(&self) -> Option<u64> {
        match &self.form {
            Form::Legacy(transaction) => transaction.chain_id,
            Form::Eip2930(transaction) => Some(transaction.chain_id),
            Form::Eip1559(transaction) => Some(transaction.chain_id),
            Form::Eip4844(transaction) => Some(transaction.chain_id),
            Form::Eip7702(transaction) => Some(transaction.chain_id),
        }
    }

    /// Whom it calls or pays; nobody if it creates a contract.
    pub fn to(&self) -> Option<[u8; 20]> {
        let of = |kind: TxKind| kind.to().map(|address| address.0.0);
        match &self.form {
            Form::Legacy(transaction) => of(transaction.to),
            Form::Eip2930(transaction) => of(transaction.to),
            Form::Eip1559(transaction) => of(transaction.to),
            Form::Eip4844(transaction) => Some(transaction.to.0.0),
            Form::Eip7702(transaction) => Some(transaction.to.0.0),
        }
    }

    /// How much it pays, in wei, big-endian.
    pub fn value(&self) -> [u8; 32] {
        let value: U256 = match &self.form {
            Form::Legacy(transaction) => transaction.value,
            Form::Eip2930(transaction) => transaction.value,
            Form::Eip1559(transaction) => transaction.value,
            Form::Eip4844(transaction) => transaction.value,
            Form::Eip7702(transaction) => transaction.value,
        };
        value.to_be_bytes()
    }
}

/// The members of a typed transaction.
fn fields<T: RlpEcdsaDecodableTx>(mut bytes: &[u8]) -> alloy_rlp::Result<T> {
    T::rlp_decode(&mut bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;
    use serde::Deserialize;

    use super::{Flaw, Transaction};
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
    fn published_transactions() {
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
            assert!(
                Transaction::decode(&signed).is_err(),
                "{}: what is signed is not signed again",
                row.case
            );
        }
    }

    #[derive(Deserialize)]
    struct Reviewed {
        case: String,
        unsigned: String,
    }

    #[test]
    fn authorizations_tell_whose_they_are() {
        let rows = rows::<Reviewed>(include_str!("../../../../assets/vectors/chain/ethereum_reviewed.json"));
        let told = |wanted: &str| {
            let row = rows.iter().find(|row| row.case.starts_with(wanted)).unwrap();
            let transaction = Transaction::decode(&const_hex::decode(&row.unsigned).unwrap()).unwrap();
            transaction.authorizations()
        };
        let owner = Some("0x9858EfFD232B4033E47d90003D41EC34EcaEda94");
        let one = told("delegates one account");
        assert_eq!(one.len(), 1);
        assert_eq!(one.first().unwrap().authority.as_deref(), owner);
        assert_eq!(one.first().unwrap().authorization.address(), &[0x11; 20]);
        let several = told("revokes a delegation");
        let owners: Vec<_> = several.iter().map(|signed| signed.authority.as_deref()).collect();
        assert_eq!(owners, [owner, owner, None]);
        assert!(several.first().unwrap().authorization.is_revocation());
        assert!(told("two blobs").is_empty());
    }

    #[test]
    fn lengths_and_ends_are_checked() {
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
    fn flaws_are_told() {
        let told = |bytes: &[u8]| Transaction::decode(bytes).unwrap_err();
        assert_eq!(told(&[]), Flaw::Empty);
        assert_eq!(told(&[0x05, 0xc0]), Flaw::Type(5));
        assert_eq!(told(&[0x76, 0xc0]), Flaw::Type(0x76));
        assert!(matches!(told(&[0xc0]), Flaw::Malformed(_)));
        // Eight bytes of length: more than there is memory.
        assert!(matches!(told(&[0xff; 9]), Flaw::Malformed(_)));
    }

    proptest! {
        #[test]
        fn anything_is_answered(bytes in prop::collection::vec(any::<u8>(), 0..200), first in 0_u8..5) {
            let _ = Transaction::decode(&bytes);
            let _ = Transaction::decode(&[&[first], bytes.as_slice()].concat());
        }

        #[test]
        fn what_is_read_is_what_is_signed(place in 0_usize..120, byte in any::<u8>()) {
            for row in samples() {
                let mut bytes = const_hex::decode(&row.unsigned).unwrap();
                if let Some(changed) = bytes.get_mut(place) {
                    *changed = byte;
                }
                if let Ok(read) = Transaction::decode(&bytes) {
                    prop_assert_eq!(read.form.unsigned(), bytes);
                }
            }
        }
    }
}
