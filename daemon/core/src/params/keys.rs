//! Parameters and results of wallets, accounts and private keys.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::Curve;
use quorate_chain::derive::{Path, PathFormat};
use quorate_chain::mnemonic::MnemonicLength;
use quorate_common::bounded::{AtMost, Label};
use quorate_common::ids::{PrivateKeyId, TagId, WalletId};
use quorate_common::wire::Address;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limits::BATCH;

/// A wallet to create.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletParams {
    /// Name of the wallet, unique in the organization.
    pub wallet_name: Label,
    /// First accounts of the wallet.
    #[serde(default)]
    pub accounts: AtMost<WalletAccountParams, BATCH>,
    /// Number of words of the mnemonic; 12 if absent.
    pub mnemonic_length: Option<MnemonicLength>,
}

/// A wallet account to derive.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletAccountParams {
    /// Curve of the key.
    pub curve: Curve,
    /// Format of the derivation path.
    pub path_format: PathFormat,
    /// Derivation path of the account, unique in the wallet for each curve and address format.
    pub path: Path,
    /// Format of the address.
    pub address_format: AddressFormat,
    /// Name of the account, unique in the organization.
    pub name: Option<Label>,
}

/// A private key to create.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKeyParams {
    /// Name of the private key, unique in the organization.
    pub private_key_name: Label,
    /// Curve of the key.
    pub curve: Curve,
    /// Tags of the private key.
    #[serde(default)]
    pub private_key_tags: AtMost<TagId, BATCH>,
    /// Formats of the addresses to compute.
    #[serde(default)]
    pub address_formats: AtMost<AddressFormat, BATCH>,
}

/// A new wallet.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletResult {
    /// Id of the wallet.
    pub wallet_id: WalletId,
    /// Addresses of the accounts, in the order of the request.
    pub addresses: AtMost<String, BATCH>,
}

/// A new private key.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKeyResult {
    /// Id of the private key.
    pub private_key_id: PrivateKeyId,
    /// Addresses of the private key, in the order of the request.
    pub addresses: AtMost<Address, BATCH>,
}

/// Longest exported bundle, in bytes of text: 4 KiB of plaintext, hex-encoded twice.
const BUNDLE: usize = 32 * 1024;

/// Exported key material: a signed message, as JSON text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ExportBundle(#[schemars(length(max = BUNDLE))] String);

/// An import key: a signed message, as JSON text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ImportBundle(#[schemars(length(max = BUNDLE))] String);

impl ExportBundle {
    /// Wraps the JSON text of a signed message.
    pub const fn new(text: String) -> Self {
        Self(text)
    }
}

impl ImportBundle {
    /// Wraps the JSON text of a signed message.
    pub const fn new(text: String) -> Self {
        Self(text)
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PrivateKeysResult {
    pub(crate) private_key_ids: AtMost<PrivateKeyId, BATCH>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportBundleResult {
    pub(crate) import_bundle: ImportBundle,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewWalletResult {
    pub(crate) wallet_id: WalletId,
    pub(crate) addresses: AtMost<String, BATCH>,
}
