//! Wallets, and the accounts that are derived from them.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::Curve;
use quorate_chain::derive::Path;
use quorate_common::bounded::Label;
use quorate_common::ids::{OrganizationId, WalletAccountId, WalletId};
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::record::Record;

/// A wallet without its seed, which is a separate record.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wallet {
    /// Id.
    pub id: WalletId,
    /// Name.
    pub name: Label,
    /// Number of accounts that were ever created, which is the ordinal of the next one.
    pub accounts: u32,
    /// Whether the wallet was ever exported.
    pub exported: bool,
    /// Whether the wallet was imported.
    pub imported: bool,
    /// Keyed digest of the seed of an imported wallet: a seed can be imported only once.
    pub seed_digest: Option<[u8; 16]>,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl Wallet {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Wallet {
        wire::Wallet {
            wallet_id: self.id,
            wallet_name: self.name.to_string(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
            exported: self.exported,
            imported: self.imported,
        }
    }
}

/// An account of a wallet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WalletAccount {
    /// Id.
    pub id: WalletAccountId,
    /// Wallet that the account is derived from.
    pub wallet: WalletId,
    /// Ordinal among the accounts of the wallet, from zero.
    pub ordinal: u32,
    /// Curve of the key.
    pub curve: Curve,
    /// Derivation path as given.
    pub path: Path,
    /// Format of the address.
    pub format: AddressFormat,
    /// Text of the address.
    pub address: String,
    /// Public key, hex.
    pub public_key: String,
    /// Name.
    pub name: Option<Label>,
    /// Whether the key was ever exported, other than with its wallet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exported: bool,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change; zero if it was never changed.
    #[serde(default)]
    pub updated: Millis,
}

impl Record for WalletAccount {
    const NOUN: &'static str = "wallet account";
}

impl WalletAccount {
    /// Converts to the wire form.
    pub fn wire(&self, organization: OrganizationId, details: Option<&Wallet>) -> wire::WalletAccount {
        wire::WalletAccount {
            wallet_account_id: self.id,
            organization_id: organization,
            wallet_id: self.wallet,
            curve: self.curve.name().to_owned(),
            path_format: "PATH_FORMAT_BIP32".to_owned(),
            path: self.path.to_string(),
            address_format: self.format.name().to_owned(),
            address: self.address.clone(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.created.max(self.updated)),
            public_key: Some(self.public_key.clone()),
            wallet_details: details.map(Wallet::wire),
            name: self.name.as_ref().map(ToString::to_string),
        }
    }
}
