//! Activity types of the API that this service did not offer when they were listed. They are known so that
//! filters accept them, and so that callers learn that the type exists but is not offered. A row in the table of
//! kinds takes precedence over a row here.

use crate::kind::operation_of;

/// Type without its prefix, and its number on the wire.
const TYPES: &[(&str, u16)] = &[
    ("CLAIM_EARN_FEES", 157),
    ("CLAIM_SWAP_FEES", 155),
    ("CREATE_FIAT_ON_RAMP_CREDENTIAL", 106),
    ("CREATE_SWAP_QUOTE", 161),
    ("CREATE_TVC_APP", 114),
    ("CREATE_TVC_DEPLOYMENT", 115),
    ("CREATE_TVC_MANIFEST_APPROVALS", 116),
    ("CREATE_TVC_OPERATOR", 150),
    ("CREATE_TVC_QUORUM_KEY", 151),
    ("DELETE_FIAT_ON_RAMP_CREDENTIAL", 108),
    ("DELETE_TVC_APP_AND_DEPLOYMENTS", 132),
    ("DELETE_TVC_DEPLOYMENT", 131),
    ("EARN_DEPLOY_WRAPPER", 144),
    ("EARN_DEPOSIT", 145),
    ("EARN_SET_WRAPPER_STATE", 156),
    ("EARN_WITHDRAW", 146),
    ("ETH_SEND_RAW_TRANSACTION", 104),
    ("ETH_SEND_TRANSACTION", 105),
    ("ETH_SEND_TRANSACTION_V2", 139),
    ("ETH_UNDELEGATE_7702", 159),
    ("EXECUTE_SWAP", 148),
    ("EXECUTE_SWAP_V2", 160),
    ("INIT_FIAT_ON_RAMP", 92),
    ("POST_TVC_QUORUM_KEY_SHARE", 138),
    ("RESTORE_TVC_DEPLOYMENT", 133),
    ("RE_ENCRYPT_TVC_QUORUM_KEY_SHARE", 152),
    ("SOL_SEND_TRANSACTION", 117),
    ("SOL_SEND_TRANSACTION_V2", 154),
    ("SPARK_CLAIM_TRANSFER", 136),
    ("SPARK_PREPARE_LIGHTNING_RECEIVE", 137),
    ("SPARK_PREPARE_TRANSFER", 135),
    ("SPARK_SIGN_FROST", 134),
    ("UPDATE_AUTH_PROXY_CONFIG", 97),
    ("UPDATE_FIAT_ON_RAMP_CREDENTIAL", 107),
    ("UPDATE_TVC_APP_LIVE_DEPLOYMENT", 130),
    ("UPSERT_GAS_USAGE_CONFIG", 113),
    ("UPSERT_SWAP_CONFIG", 149),
];

/// Returns the number of an activity type that is not offered.
pub(super) fn number(activity_type: &str) -> Option<u16> {
    let name = activity_type.strip_prefix("ACTIVITY_TYPE_")?;
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
}

/// Returns whether a type that is not offered belongs to this operation.
pub(super) fn is_operation(operation: &str) -> bool {
    TYPES.iter().any(|(name, _)| operation_of(name) == operation)
}
