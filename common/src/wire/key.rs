//! Wallets, their accounts, and private keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use crate::ids::{OrganizationId, PrivateKeyId, TagId, WalletAccountId, WalletId};

/// Address of a private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Address {
    /// `ADDRESS_FORMAT_*`.
    pub format: String,
    /// Address in the notation of its chain.
    pub address: String,
}

/// A single private key, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKey {
    /// Unique id of the private key.
    pub private_key_id: PrivateKeyId,
    /// Public key in hex.
    pub public_key: String,
    /// Display name.
    pub private_key_name: String,
    /// `CURVE_*`.
    pub curve: String,
    /// Addresses in the order in which they were requested.
    pub addresses: Vec<Address>,
    /// Ids of the tags that the key has.
    pub private_key_tags: Vec<TagId>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Whether the key was ever exported.
    pub exported: bool,
    /// Whether the key was imported.
    pub imported: bool,
}

/// A wallet: key pairs that are derived from one seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wallet {
    /// Unique id of the wallet.
    pub wallet_id: WalletId,
    /// Display name.
    pub wallet_name: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Whether the seed was ever exported.
    pub exported: bool,
    /// Whether the seed was imported.
    pub imported: bool,
}

/// An account derived from a wallet.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletAccount {
    /// Unique id of the account.
    pub wallet_account_id: WalletAccountId,
    /// Organization that owns the wallet.
    pub organization_id: OrganizationId,
    /// Wallet that the account is derived from.
    pub wallet_id: WalletId,
    /// `CURVE_*`.
    pub curve: String,
    /// `PATH_FORMAT_*`.
    pub path_format: String,
    /// Derivation path as submitted.
    pub path: String,
    /// `ADDRESS_FORMAT_*`.
    pub address_format: String,
    /// Address in the notation of its chain.
    pub address: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Public key in hex.
    pub public_key: Option<String>,
    /// Wallet of the account; present only if the query requests it.
    pub wallet_details: Option<Wallet>,
    /// Display name, if one is set.
    pub name: Option<String>,
}
