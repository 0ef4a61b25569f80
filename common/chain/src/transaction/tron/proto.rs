//! Messages of the protocol (java-tron, `core/Tron.proto` and `core/contract/*.proto`), as far as they are
//! supported.
//!
//! Enumerations are declared as their wire numbers. Fields that are not declared here are lost on decoding,
//! so that a message with such a field is not encoded to the same bytes.

use prost::Message;

/// The signed data: `protocol.Transaction.raw`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Raw {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) ref_block_bytes: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) ref_block_hash: Vec<u8>,
    #[prost(int64, tag = "8")]
    pub(super) expiration: i64,
    #[prost(bytes = "vec", tag = "10")]
    pub(super) data: Vec<u8>,
    #[prost(message, repeated, tag = "11")]
    pub(super) contract: Vec<Contract>,
    #[prost(int64, tag = "14")]
    pub(super) timestamp: i64,
    #[prost(int64, tag = "18")]
    pub(super) fee_limit: i64,
}

/// `protocol.Transaction`, with the signed data as its exact bytes.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Signed {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) raw_data: Vec<u8>,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub(super) signature: Vec<Vec<u8>>,
}

/// `protocol.Transaction.Contract`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Contract {
    #[prost(int32, tag = "1")]
    pub(super) r#type: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) parameter: Option<Any>,
    #[prost(int32, tag = "5")]
    pub(super) permission_id: i32,
}

/// `google.protobuf.Any`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Any {
    #[prost(string, tag = "1")]
    pub(super) type_url: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TransferContract {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) owner_address: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) to_address: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub(super) amount: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct TriggerSmartContract {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) owner_address: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) contract_address: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub(super) call_value: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) data: Vec<u8>,
    #[prost(int64, tag = "5")]
    pub(super) call_token_value: i64,
    #[prost(int64, tag = "6")]
    pub(super) token_id: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DelegateResourceContract {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) owner_address: Vec<u8>,
    #[prost(int32, tag = "2")]
    pub(super) resource: i32,
    #[prost(int64, tag = "3")]
    pub(super) balance: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) receiver_address: Vec<u8>,
    #[prost(bool, tag = "5")]
    pub(super) lock: bool,
    #[prost(int64, tag = "6")]
    pub(super) lock_period: i64,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct UnDelegateResourceContract {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) owner_address: Vec<u8>,
    #[prost(int32, tag = "2")]
    pub(super) resource: i32,
    #[prost(int64, tag = "3")]
    pub(super) balance: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub(super) receiver_address: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct FreezeBalanceV2Contract {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) owner_address: Vec<u8>,
    #[prost(int64, tag = "2")]
    pub(super) frozen_balance: i64,
    #[prost(int32, tag = "3")]
    pub(super) resource: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct UnfreezeBalanceV2Contract {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) owner_address: Vec<u8>,
    #[prost(int64, tag = "2")]
    pub(super) unfreeze_balance: i64,
    #[prost(int32, tag = "3")]
    pub(super) resource: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct AccountPermissionUpdateContract {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) owner_address: Vec<u8>,
    #[prost(message, optional, tag = "2")]
    pub(super) owner: Option<Permission>,
    #[prost(message, optional, tag = "3")]
    pub(super) witness: Option<Permission>,
    #[prost(message, repeated, tag = "4")]
    pub(super) actives: Vec<Permission>,
}

#[derive(Clone, PartialEq, Message)]
#[expect(clippy::struct_field_names, reason = "the names of the protocol")]
pub(super) struct Permission {
    #[prost(int32, tag = "1")]
    pub(super) r#type: i32,
    #[prost(int32, tag = "2")]
    pub(super) id: i32,
    #[prost(string, tag = "3")]
    pub(super) permission_name: String,
    #[prost(int64, tag = "4")]
    pub(super) threshold: i64,
    #[prost(int32, tag = "5")]
    pub(super) parent_id: i32,
    #[prost(bytes = "vec", tag = "6")]
    pub(super) operations: Vec<u8>,
    #[prost(message, repeated, tag = "7")]
    pub(super) keys: Vec<Key>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Key {
    #[prost(bytes = "vec", tag = "1")]
    pub(super) address: Vec<u8>,
    #[prost(int64, tag = "2")]
    pub(super) weight: i64,
}
