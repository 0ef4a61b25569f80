//! A wallet and the accounts derived from it.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::Curve;
use quorate_chain::derive::Path;
use quorate_common::bounded::Label;
use quorate_common::ids::{OrganizationId, WalletAccountId, WalletId};
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::layout::Entity;
use super::record::Record;
use super::shelf::shelved;

/// A wallet. Its seed is a secret of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Wallet {
    /// Id.
    pub id: WalletId,
    /// Name.
    pub name: Label,
    /// How many accounts were ever created; the next one gets this ordinal.
    pub accounts: u32,
    /// Whether it ever left by export.
    pub exported: bool,
    /// Whether it came by import.
    pub imported: bool,
    /// Keyed digest of the seed, if it came by import: one seed is imported once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed_digest: Option<[u8; 16]>,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Record for Wallet {
    const NOUN: &'static str = "wallet";
}

shelved!(Wallet, WalletId, Entity::Wallet, wallets);

impl Wallet {
    /// As queries show it.
    pub fn wire(&self) -> wire::Wallet {
        wire::Wallet {
            wallet_id: self.id,
            wallet_name: self.name.to_string(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.updated),
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
    /// Wallet.
    pub wallet: WalletId,
    /// Place among the accounts of the wallet, from zero.
    pub ordinal: u32,
    /// Curve.
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
    /// Whether its key ever left by export, other than with its wallet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exported: bool,
    /// Created at.
    pub created: Millis,
    /// Last changed at; zero if it never was.
    #[serde(default)]
    pub updated: Millis,
}

impl Record for WalletAccount {
    const NOUN: &'static str = "wallet account";
}

impl WalletAccount {
    /// As queries show it.
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
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.created.max(self.updated)),
            public_key: Some(self.public_key.clone()),
            wallet_details: details.map(Wallet::wire),
            name: self.name.as_ref().map(ToString::to_string),
        }
    }
}
