//! Facts about Tron transactions for policies. Addresses are in base58 and compare exactly.

use quorate_policy::Value;

use super::permission::Permission;
use super::{Contract, Transaction};
use crate::address::of_tron_account;

impl Transaction {
    /// Returns the facts that policies can query. Fields that the contract type does not have are missing.
    /// Fields without a value are 0, false or empty, as for the network.
    pub(in crate::transaction) fn facts(&self) -> Value {
        Value::record([
            ("ref_block_bytes", hex(&self.ref_block_bytes)),
            ("ref_block_hash", hex(&self.ref_block_hash)),
            ("expiration", Value::int(self.expiration)),
            ("timestamp", Value::int(self.timestamp)),
            ("fee_limit", Value::int(self.fee_limit)),
            ("data", hex(&self.memo)),
            ("contract", Value::list([self.contract_facts()])),
        ])
    }

    fn contract_facts(&self) -> Value {
        let common = [
            ("type", Some(Value::text(self.contract.name()))),
            ("permission_id", Some(Value::int(self.permission_id))),
            ("owner_address", Some(account(&self.owner))),
        ];
        Value::record(common.into_iter().chain(members(&self.contract)))
    }
}

/// Returns the fields that are specific to the contract type.
fn members(contract: &Contract) -> Vec<(&'static str, Option<Value>)> {
    let members = match contract {
        Contract::Transfer { to, amount } => {
            vec![("to_address", account(to)), ("amount", Value::int(*amount))]
        }
        Contract::Trigger { contract, call_value, data, call_token_value, token_id } => vec![
            ("contract_address", account(contract)),
            ("call_value", Value::int(*call_value)),
            ("data", hex(data)),
            ("call_token_value", Value::int(*call_token_value)),
            ("token_id", Value::int(*token_id)),
        ],
        Contract::Delegate { resource, balance, receiver, lock, lock_period } => vec![
            ("resource", Value::text(resource.name())),
            ("balance", Value::int(*balance)),
            ("receiver_address", account(receiver)),
            ("lock", Value::from(*lock)),
            ("lock_period", Value::int(*lock_period)),
        ],
        Contract::Undelegate { resource, balance, receiver } => vec![
            ("resource", Value::text(resource.name())),
            ("balance", Value::int(*balance)),
            ("receiver_address", account(receiver)),
        ],
        Contract::Freeze { resource, balance } => {
            vec![("resource", Value::text(resource.name())), ("frozen_balance", Value::int(*balance))]
        }
        Contract::Unfreeze { resource, balance } => {
            vec![("resource", Value::text(resource.name())), ("unfreeze_balance", Value::int(*balance))]
        }
        Contract::Permissions { owner, witness, actives } => {
            return vec![
                ("owner", owner.as_ref().map(permission)),
                ("witness", witness.as_ref().map(permission)),
                ("actives", Some(actives.iter().map(permission).collect())),
            ];
        }
    };
    members.into_iter().map(|(name, value)| (name, Some(value))).collect()
}

fn permission(permission: &Permission) -> Value {
    let keys = permission.keys.iter().map(|(address, weight)| {
        Value::record([("address", account(address)), ("weight", Value::int(*weight))])
    });
    Value::record([
        ("type", Value::text(permission.kind.name())),
        ("id", Value::int(permission.id)),
        ("permission_name", Value::text(permission.name.clone())),
        ("threshold", Value::int(permission.threshold)),
        ("parent_id", Value::int(permission.parent_id)),
        ("operations", hex(&permission.operations)),
        ("keys", keys.collect()),
    ])
}

fn account(account: &[u8; 20]) -> Value {
    Value::text(of_tron_account(account))
}

fn hex(bytes: &[u8]) -> Value {
    Value::text(const_hex::encode(bytes))
}
