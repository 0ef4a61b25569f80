//! Wallet accounts: created or only derived, renamed and deleted. The same derivation in a wallet always has
//! the same address.

use serde_json::{Value, json};

use super::{Move, deletion, new_ids, put, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{Account, Derivation, Derived, Organization};

/// Curves, formats and prefixes of paths.
const DERIVATIONS: [(&str, &str, &str); 6] = [
    ("SECP256K1", "ETHEREUM", "m/44'/60'/0'/0/"),
    ("SECP256K1", "COMPRESSED", "m/44'/60'/0'/0/"),
    ("SECP256K1", "BITCOIN_TESTNET_P2WPKH", "m/84'/1'/0'/0/"),
    ("ED25519", "SOLANA", "m/44'/501'/0'/"),
    ("ED25519", "COMPRESSED", "m/44'/501'/0'/"),
    ("P256", "UNCOMPRESSED", "m/0/"),
];

/// An account to create.
pub(super) struct NewAccount {
    name: Option<String>,
    derivation: Derivation,
    error: Option<&'static str>,
}

impl NewAccount {
    /// Chooses an account.
    pub(super) fn choose(chooser: &mut Chooser<'_>) -> Self {
        let (curve, mut format, start) = chooser.one(&DERIVATIONS);
        let step = chooser.choices.below(3);
        // On Ed25519 both notations of the last step mean the same key.
        let mark = if curve == "ED25519" { chooser.one(&["", "'"]) } else { "" };
        let mut path = format!("{start}{step}{mark}");
        let error = match chooser.choices.below(40) {
            0 => {
                path.push_str("//");
                Some("invalid path")
            }
            1 => {
                format = if curve == "ED25519" { "ETHEREUM" } else { "SOLANA" };
                Some("invalid address format")
            }
            _ => None,
        };
        let name = chooser.maybe(|chooser| chooser.name("account"));
        Self { name, derivation: Derivation { curve, path, format }, error }
    }

    /// Chooses an account in a wallet, possibly with a derivation that was used before.
    fn choose_in(chooser: &mut Chooser<'_>, wallet: &str) -> Self {
        let before = chooser.organization().derived.iter().filter(|derived| derived.wallet == wallet);
        let before: Vec<&Derivation> = before.map(|derived| &derived.derivation).collect();
        match chooser.choices.pick(&before) {
            Some(derivation) if chooser.choices.one_in(3) => {
                Self { name: None, derivation: (*derivation).clone(), error: None }
            }
            _ => Self::choose(chooser),
        }
    }

    /// Returns the JSON of the request.
    pub(super) fn json(&self) -> Value {
        let mut account = json!({
            "curve": format!("CURVE_{}", self.derivation.curve),
            "pathFormat": "PATH_FORMAT_BIP32",
            "path": self.derivation.path,
            "addressFormat": format!("ADDRESS_FORMAT_{}", self.derivation.format),
        });
        put(&mut account, "name", self.name.as_deref());
        account
    }
}

fn object_to_name(objections: &mut Objections, organization: &Organization, name: &str, own: &str) {
    let others = organization.accounts.iter().filter(|account| account.id.as_deref() != Some(own));
    objections.free_label(name, others.filter_map(|account| account.name.as_deref()));
}

/// Adds the objections to creating these accounts in a wallet.
pub(super) fn object_to_accounts(
    objections: &mut Objections,
    organization: &Organization,
    wallet: &str,
    accounts: &[NewAccount],
) {
    object_to_derivations(objections, accounts);
    for account in accounts {
        if let Some(name) = &account.name {
            object_to_name(objections, organization, name, "");
        }
        let mut there = organization.accounts.iter().filter(|other| other.wallet == wallet);
        let is_taken = there.any(|other| other.derivation == account.derivation);
        objections.when(is_taken, Code::AlreadyExists, "path already exists in wallet account");
    }
    objections.distinct(&accounts.iter().filter_map(|account| account.name.as_ref()).collect::<Vec<_>>());
}

/// Adds the objections to deriving these accounts.
fn object_to_derivations(objections: &mut Objections, accounts: &[NewAccount]) {
    for account in accounts {
        objections.invalid(account.error.is_some(), account.error.unwrap_or_default());
        if let Some(name) = &account.name {
            objections.label(name);
        }
    }
    let parts = |account: &NewAccount| {
        let derivation = &account.derivation;
        [derivation.curve.to_owned(), derivation.path.clone(), derivation.format.to_owned()]
    };
    objections.distinct_or(&accounts.iter().map(parts).collect::<Vec<_>>(), "invalid path");
}

/// Compares the reported addresses and, if kept, adds the accounts to the model.
pub(super) fn apply(
    organization: &mut Organization,
    wallet_id: &str,
    accounts: &[NewAccount],
    addresses: &Value,
    is_kept: bool,
) {
    let addresses = new_ids(addresses, accounts.len());
    for (account, address) in accounts.iter().zip(addresses) {
        let key = account.derivation.key(wallet_id);
        let before = organization.derived.iter().find(|other| other.derivation.key(&other.wallet) == key);
        let known_address = before.map(|before| &before.address);
        assert!(
            known_address.is_none_or(|before| *before == address),
            "one derivation, two addresses: {key:?}"
        );
        let (wallet, derivation) = (wallet_id.to_owned(), account.derivation.clone());
        organization.derived.push(Derived { wallet, derivation, address: address.clone() });
        if is_kept {
            let (name, derivation) = (account.name.clone(), account.derivation.clone());
            let wallet = wallet_id.to_owned();
            organization.accounts.push(Account {
                id: None,
                wallet,
                name,
                derivation,
                address,
                public_key: None,
            });
        }
    }
}

struct Create {
    wallet: String,
    accounts: Vec<NewAccount>,
    persist: Option<bool>,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let wallet = chooser.favoured_id(&chooser.organization().wallet_ids());
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 2, 2, 3]);
    let accounts = (0..count).map(|_| NewAccount::choose_in(chooser, &wallet)).collect();
    let persist = chooser.one(&[None, None, None, Some(true), Some(false)]);
    Box::new(Create { wallet, accounts, persist })
}

impl Create {
    /// Returns whether the accounts are created. Otherwise the addresses are only derived.
    fn is_kept(&self) -> bool {
        self.persist != Some(false)
    }
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_WALLET_ACCOUNTS"
    }

    fn result_name(&self) -> &'static str {
        "createWalletAccountsResult"
    }

    fn parameters(&self) -> Value {
        let accounts: Vec<Value> = self.accounts.iter().map(NewAccount::json).collect();
        let mut parameters = json!({ "walletId": self.wallet, "accounts": accounts });
        put(&mut parameters, "persist", self.persist);
        parameters
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.exists(&self.wallet, organization.wallet(&self.wallet).is_some(), "no wallet found");
        objections.batch(&self.accounts);
        if self.is_kept() {
            object_to_accounts(&mut objections, organization, &self.wallet, &self.accounts);
        } else {
            object_to_derivations(&mut objections, &self.accounts);
        }
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        apply(organization, &self.wallet, &self.accounts, &result["addresses"], self.is_kept());
    }
}

struct Rename {
    id: String,
    name: String,
}

pub(super) fn rename(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let id = chooser.id(&chooser.organization().account_ids());
    Box::new(Rename { id, name: chooser.name("account") })
}

impl Move for Rename {
    fn name(&self) -> &'static str {
        "UPDATE_WALLET_ACCOUNT_NAME"
    }

    fn result_name(&self) -> &'static str {
        "updateWalletAccountNameResult"
    }

    fn parameters(&self) -> Value {
        json!({ "walletAccountId": self.id, "name": self.name })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.exists(&self.id, organization.account(&self.id).is_some(), "no wallet account found");
        object_to_name(&mut objections, organization, &self.name, &self.id);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["walletAccountId"], self.id.as_str());
        let mut accounts = organization.accounts.iter_mut();
        let account = accounts.find(|account| account.id.as_ref() == Some(&self.id));
        account.expect("an existing account").name = Some(self.name.clone());
    }
}

struct Delete {
    ids: Vec<String>,
    without_export: Option<bool>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let ids = chooser.ids(&chooser.organization().account_ids());
    Box::new(Delete { ids, without_export: chooser.without_export() })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_WALLET_ACCOUNTS"
    }

    fn result_name(&self) -> &'static str {
        "deleteWalletAccountsResult"
    }

    fn parameters(&self) -> Value {
        deletion("walletAccountIds", &self.ids, self.without_export)
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.ids);
        objections.all_exist(&self.ids, |id| organization.account(id).is_some(), "no wallet account found");
        let is_kept = self.without_export != Some(true);
        let message = "wallet account has not been exported";
        objections.named(is_kept, Code::InvalidArgument, message, "WALLET_ACCOUNT_NOT_EXPORTED");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(texts(&result["walletAccountIds"]), self.ids);
        let is_gone = |account: &Account| account.id.as_ref().is_some_and(|id| self.ids.contains(id));
        organization.accounts.retain(|account| !is_gone(account));
        organization.deleted_ids.extend(self.ids.iter().cloned());
    }
}
