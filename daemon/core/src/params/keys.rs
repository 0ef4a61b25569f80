//! Wallets, accounts and private keys as clients describe them, and results that tell of them.

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

/// A wallet to be created.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletParams {
    /// Name.
    pub wallet_name: Label,
    /// First accounts.
    #[serde(default)]
    pub accounts: AtMost<WalletAccountParams, BATCH>,
    /// Words of the mnemonic; twelve when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mnemonic_length: Option<MnemonicLength>,
}

/// An account to be derived.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletAccountParams {
    /// Curve.
    pub curve: Curve,
    /// Format of the path.
    pub path_format: PathFormat,
    /// Derivation path.
    pub path: Path,
    /// Format of the address.
    pub address_format: AddressFormat,
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Label>,
}

/// A private key to be created.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKeyParams {
    /// Name.
    pub private_key_name: Label,
    /// Curve.
    pub curve: Curve,
    /// Tags.
    #[serde(default)]
    pub private_key_tags: AtMost<TagId, BATCH>,
    /// Formats of the addresses that are wanted.
    #[serde(default)]
    pub address_formats: AtMost<AddressFormat, BATCH>,
}

/// A wallet that was created.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletResult {
    /// Id.
    pub wallet_id: WalletId,
    /// Addresses of the accounts, in the order asked for.
    pub addresses: AtMost<String, BATCH>,
}

/// A private key that was created.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateKeyResult {
    /// Id.
    pub private_key_id: PrivateKeyId,
    /// Addresses in the order asked for.
    pub addresses: AtMost<Address, BATCH>,
}

/// Longest bundle that leaves, in bytes of text: 4 KiB of plaintext, spelled in hexadecimal digits twice.
const BUNDLE: usize = 32 * 1024;

/// Something that was taken out: a signed message in JSON, as a text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ExportBundle(#[schemars(length(max = BUNDLE))] String);

/// A key to import to: a signed message in JSON, as a text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ImportBundle(#[schemars(length(max = BUNDLE))] String);

impl ExportBundle {
    /// Of such a text.
    pub const fn new(text: String) -> Self {
        Self(text)
    }
}

impl ImportBundle {
    /// Of such a text.
    pub const fn new(text: String) -> Self {
        Self(text)
    }
}
