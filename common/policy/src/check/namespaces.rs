//! The table of namespaces: every root and member that an expression may read, with its type.
//!
//! A member that is not in the table is an error when the policy is created. A member that is in the table
//! but is not available for an activity is an error when it is read.

use crate::expression_kind::ExpressionKind;
use crate::types::Declared::{self, Bool, Dynamic, Integer, List, Map, Quantity, Struct, Text, Timestamp};
use crate::types::Field;

/// Returns the roots of one kind of expression.
pub(crate) fn roots(kind: ExpressionKind) -> &'static [Field] {
    match kind {
        ExpressionKind::Condition => CONDITION,
        ExpressionKind::Consensus => CONSENSUS,
        ExpressionKind::Time => TIME,
    }
}

/// Returns whether a name is a root of any kind of expression and so cannot name a variable.
pub(crate) fn is_reserved(name: &str) -> bool {
    [CONDITION, CONSENSUS, TIME].into_iter().flatten().any(|root| root.name == name)
}

/// Returns whether a root of conditions only groups namespaces, as `eth` groups `eth.tx` and `eth.eip_712`.
pub(crate) fn is_divided(root: &str) -> bool {
    let declared = CONDITION.iter().find(|known| known.name == root);
    declared.is_some_and(|root| match root.declared {
        Struct(members) => members.iter().all(|member| matches!(member.declared, Struct(_))),
        _ => false,
    })
}

const fn field(name: &'static str, declared: Declared) -> Field {
    Field { name, canonical: name, declared }
}

const fn alias(name: &'static str, canonical: &'static str, declared: Declared) -> Field {
    Field { name, canonical, declared }
}

const TEXTS: Declared = List(&Text);
const INTEGERS: Declared = List(&Integer);

static CONSENSUS: &[Field] =
    &[field("approvers", List(&Struct(USER))), field("credentials", List(&Struct(CREDENTIAL)))];

static TIME: &[Field] = &[field("time", Struct(&[field("now", Timestamp)]))];

static CONDITION: &[Field] = &[
    field("activity", Struct(ACTIVITY)),
    field("bitcoin", Struct(&[field("tx", Struct(BITCOIN_TX))])),
    field("eth", Struct(ETH)),
    field("private_key", Struct(PRIVATE_KEY)),
    field("secret", Struct(&[field("static_properties", Map(&Text))])),
    field("solana", Struct(&[field("tx", Struct(SOLANA_TX))])),
    field("tempo", Struct(&[field("tx", Struct(TEMPO_TX))])),
    field("tron", Struct(&[field("tx", Struct(TRON_TX))])),
    field("wallet", Struct(WALLET)),
    field("wallet_account", Struct(WALLET_ACCOUNT)),
    field("wallets", List(&Struct(WALLET))),
];

// Consensus.

static USER: &[Field] =
    &[field("id", Text), field("tags", TEXTS), field("email", Text), field("alias", Text)];

static CREDENTIAL: &[Field] = &[
    field("id", Text),
    field("user_id", Text),
    field("type", Text),
    field("credential_id", Text),
    field("public_key", Text),
];

// Activity, wallets, keys.

static ACTIVITY: &[Field] = &[
    field("type", Text),
    field("kind", Text),
    field("resource", Text),
    field("action", Text),
    field("params", Struct(ACTIVITY_PARAMS)),
];

static ACTIVITY_PARAMS: &[Field] = &[
    field("api_key_ids", TEXTS),
    field("claim", Dynamic),
    field("encoding", Text),
    field("endpoint_id", Text),
    field("hash_function", Text),
    field("lightning_receive", Struct(&[field("threshold", Integer), field("operator_recipients", Dynamic)])),
    field("otp_length", Integer),
    field("session_profile_id", Text),
    field("sign_with", Text),
    field("signatures", List(&Struct(&[field("derivation", Struct(SPARK_DERIVATION))]))),
    field("target_public_key", Text),
    field("transfer", Struct(SPARK_TRANSFER)),
    field("type", Text),
    field("user_id", Text),
    field("user_ids", TEXTS),
    field("wallet_id", Text),
];

static SPARK_DERIVATION: &[Field] = &[
    field("type", Text),
    field("signing_leaf", Struct(&[field("leaf_id", Text)])),
    field("static_deposit", Struct(&[field("index", Integer)])),
];

static SPARK_TRANSFER: &[Field] = &[
    field("transfer_id", Text),
    field("leaves", Dynamic),
    field("threshold", Integer),
    field("operator_recipients", Dynamic),
    field("receiver_public_key", Text),
];

static WALLET: &[Field] =
    &[field("id", Text), field("label", Text), field("imported", Bool), field("exported", Bool)];

static PRIVATE_KEY: &[Field] = &[
    field("id", Text),
    field("label", Text),
    field("tags", TEXTS),
    field("imported", Bool),
    field("exported", Bool),
];

static WALLET_ACCOUNT: &[Field] = &[
    field("address", Text),
    field("path", Text),
    field("path_indexes", INTEGERS),
    field("path_hardened", List(&Bool)),
    field("wallet_id", Text),
    field("curve", Text),
    field("address_format", Text),
];

// Ethereum.

static ETH: &[Field] = &[
    field("tx", Struct(ETH_TX)),
    field("eip_712", Struct(EIP_712)),
    field("eip_7702_authorization", Struct(EIP_7702_AUTHORIZATION)),
];

static ETH_TX: &[Field] = &[
    field("from", Text),
    field("to", Text),
    field("data", Text),
    field("value", Integer),
    field("gas", Integer),
    field("gas_price", Integer),
    field("nonce", Integer),
    field("chain_id", Integer),
    field("max_fee_per_gas", Integer),
    field("max_priority_fee_per_gas", Integer),
    field("max_fee_per_blob_gas", Integer),
    field("type", Text),
    field("function_name", Text),
    field("function_signature", Text),
    field("contract_call_args", Map(&Dynamic)),
];

static EIP_712: &[Field] =
    &[field("primary_type", Text), field("domain", Struct(EIP_712_DOMAIN)), field("message", Map(&Dynamic))];

static EIP_712_DOMAIN: &[Field] = &[
    field("name", Text),
    field("version", Text),
    field("chain_id", Integer),
    field("verifying_contract", Text),
];

static EIP_7702_AUTHORIZATION: &[Field] =
    &[field("address", Text), field("chain_id", Quantity), field("nonce", Quantity)];

// Solana.

static SOLANA_TX: &[Field] = &[
    field("account_keys", TEXTS),
    alias("static_account_keys", "account_keys", TEXTS),
    field("program_keys", TEXTS),
    alias("top_level_program_keys", "program_keys", TEXTS),
    field("instructions", List(&Struct(SOLANA_INSTRUCTION))),
    alias("top_level_instructions", "instructions", List(&Struct(SOLANA_INSTRUCTION))),
    field("transfers", List(&Struct(SOLANA_TRANSFER))),
    field("spl_transfers", List(&Struct(SOLANA_SPL_TRANSFER))),
    field("recent_blockhash", Text),
    field("address_table_lookups", List(&Struct(SOLANA_TABLE_LOOKUP))),
    field("address_table_lookup_references", List(&Struct(SOLANA_TABLE_REFERENCE))),
];

static SOLANA_INSTRUCTION: &[Field] = &[
    field("program_key", Text),
    field("accounts", List(&Struct(SOLANA_ACCOUNT))),
    field("instruction_data_hex", Text),
    field("address_table_lookups", List(&Struct(SOLANA_TABLE_REFERENCE))),
    field("parsed_instruction_data", Struct(SOLANA_PARSED_INSTRUCTION)),
];

static SOLANA_ACCOUNT: &[Field] =
    &[field("account_key", Text), field("signer", Bool), field("writable", Bool)];

static SOLANA_PARSED_INSTRUCTION: &[Field] = &[
    field("instruction_name", Text),
    field("discriminator", Text),
    field("named_accounts", Map(&Text)),
    alias("named_account", "named_accounts", Map(&Text)),
    field("program_call_args", Map(&Dynamic)),
];

static SOLANA_TRANSFER: &[Field] = &[field("from", Text), field("to", Text), field("amount", Integer)];

static SOLANA_SPL_TRANSFER: &[Field] = &[
    field("from", Text),
    field("to", Text),
    field("amount", Integer),
    field("owner", Text),
    field("signers", TEXTS),
    field("token_mint", Text),
];

static SOLANA_TABLE_LOOKUP: &[Field] = &[
    field("address_table_key", Text),
    field("writable_indexes", INTEGERS),
    field("readonly_indexes", INTEGERS),
];

static SOLANA_TABLE_REFERENCE: &[Field] =
    &[field("address_table_key", Text), field("index", Integer), field("writable", Bool)];

// Tron.

static TRON_TX: &[Field] = &[
    field("ref_block_bytes", Text),
    field("ref_block_hash", Text),
    field("expiration", Integer),
    field("timestamp", Integer),
    field("fee_limit", Integer),
    field("data", Text),
    field("contract", List(&Struct(TRON_CONTRACT))),
];

/// Members of all contract types; the facts contain only the members of the actual type.
static TRON_CONTRACT: &[Field] = &[
    field("type", Text),
    field("permission_id", Integer),
    field("owner_address", Text),
    field("to_address", Text),
    field("amount", Integer),
    field("contract_address", Text),
    field("call_value", Integer),
    field("data", Text),
    field("call_token_value", Integer),
    field("token_id", Integer),
    field("resource", Text),
    field("balance", Integer),
    field("receiver_address", Text),
    field("lock", Bool),
    field("lock_period", Integer),
    field("frozen_balance", Integer),
    field("unfreeze_balance", Integer),
    field("owner", Struct(TRON_PERMISSION)),
    field("witness", Struct(TRON_PERMISSION)),
    field("actives", List(&Struct(TRON_PERMISSION))),
];

static TRON_PERMISSION: &[Field] = &[
    field("type", Text),
    field("id", Integer),
    field("permission_name", Text),
    field("threshold", Integer),
    field("parent_id", Integer),
    field("operations", Text),
    field("keys", List(&Struct(&[field("address", Text), field("weight", Integer)]))),
];

// Bitcoin.

static BITCOIN_TX: &[Field] = &[
    field("version", Text),
    field("inputs", List(&Struct(BITCOIN_INPUT))),
    field("outputs", List(&Struct(BITCOIN_OUTPUT))),
    field("locktime", Struct(&[field("amount", Integer), field("type", Text)])),
    field("fee", Integer),
];

static BITCOIN_INPUT: &[Field] = &[field("tx_id", Text), field("vout", Integer), field("sequence", Integer)];

static BITCOIN_OUTPUT: &[Field] = &[
    field("value", Integer),
    field("script_pubkey", Text),
    field("address", Text),
    field("address_type", Text),
];

// Tempo.

static TEMPO_TX: &[Field] = &[
    field("chain_id", Integer),
    field("from", Text),
    field("nonce", Integer),
    field("gas_limit", Integer),
    field("max_fee_per_gas", Integer),
    field("max_priority_fee_per_gas", Integer),
    field("fee_token", Text),
    field("valid_before", Integer),
    field("valid_after", Integer),
    field("calls", List(&Struct(TEMPO_CALL))),
];

static TEMPO_CALL: &[Field] = &[field("to", Text), field("input", Text), field("function_signature", Text)];

#[cfg(test)]
mod tests {
    use super::*;

    fn check_fields(path: &str, fields: &'static [Field]) {
        for (index, field) in fields.iter().enumerate() {
            let twice = fields.iter().skip(index.saturating_add(1)).any(|later| later.name == field.name);
            assert!(!twice, "{path}.{} is declared twice", field.name);
            let target = fields.iter().find(|target| target.name == field.canonical);
            let same = target.is_some_and(|target| target.declared == field.declared);
            assert!(same, "{path}.{} has another type than the target of the alias", field.name);
            let mut declared = field.declared;
            while let List(inner) | Map(inner) = declared {
                declared = *inner;
            }
            if let Struct(inner) = declared {
                check_fields(&format!("{path}.{}", field.name), inner);
            }
        }
    }

    #[test]
    fn names_are_unique_and_aliases_have_the_type_of_their_target() {
        check_fields("condition", CONDITION);
        check_fields("consensus", CONSENSUS);
        check_fields("time", TIME);
    }
}
