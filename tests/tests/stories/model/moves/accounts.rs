//! Accounts of wallets: made, or only computed; named; deleted. The same place of a wallet always derives to the
//! same address.

use serde_json::{Value, json};

use super::{Move, deletion, new_ids, put, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::{Code, Objections};
use crate::model::world::{Account, Derived, Organization, Place};

/// Curves, formats and the beginning of paths.
const PLACES: [(&str, &str, &str); 6] = [
    ("SECP256K1", "ETHEREUM", "m/44'/60'/0'/0/"),
    ("SECP256K1", "COMPRESSED", "m/44'/60'/0'/0/"),
    ("SECP256K1", "BITCOIN_TESTNET_P2WPKH", "m/84'/1'/0'/0/"),
    ("ED25519", "SOLANA", "m/44'/501'/0'/"),
    ("ED25519", "COMPRESSED", "m/44'/501'/0'/"),
    ("P256", "UNCOMPRESSED", "m/0/"),
];

/// An account to be made.
pub(super) struct NewAccount {
    name: Option<String>,
    place: Place,
    flaw: Option<&'static str>,
}

impl NewAccount {
    /// Chooses one.
    pub(super) fn choose(chooser: &mut Chooser<'_>) -> Self {
        let (curve, mut format, start) = chooser.one(&PLACES);
        let step = chooser.choices.below(3);
        // On Ed25519 both ways to write the last step mean the same key.
        let mark = if curve == "ED25519" { chooser.one(&["", "'"]) } else { "" };
        let mut path = format!("{start}{step}{mark}");
        let flaw = match chooser.choices.below(40) {
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
        Self { name, place: Place { curve, path, format }, flaw }
    }

    /// Chooses one in a wallet, perhaps where there is or was one.
    fn choose_in(chooser: &mut Chooser<'_>, wallet: &str) -> Self {
        let before = chooser.here().derived.iter().filter(|derived| derived.wallet == wallet);
        let before: Vec<&Place> = before.map(|derived| &derived.place).collect();
        match chooser.choices.pick(&before) {
            Some(place) if chooser.choices.one_in(3) => {
                Self { name: None, place: (*place).clone(), flaw: None }
            }
            _ => Self::choose(chooser),
        }
    }

    /// How it is written.
    pub(super) fn json(&self) -> Value {
        let mut account = json!({
            "curve": format!("CURVE_{}", self.place.curve),
            "pathFormat": "PATH_FORMAT_BIP32",
            "path": self.place.path,
            "addressFormat": format!("ADDRESS_FORMAT_{}", self.place.format),
        });
        put(&mut account, "name", self.name.as_deref());
        account
    }
}

fn object_to_name(objections: &mut Objections, organization: &Organization, name: &str, own: &str) {
    let others = organization.accounts.iter().filter(|account| account.id.as_deref() != Some(own));
    objections.free_label(name, others.filter_map(|account| account.name.as_deref()));
}

/// What speaks against making these in a wallet.
pub(super) fn object_to_accounts(
    objections: &mut Objections,
    organization: &Organization,
    wallet: &str,
    accounts: &[NewAccount],
) {
    object_to_forms(objections, accounts);
    for account in accounts {
        if let Some(name) = &account.name {
            object_to_name(objections, organization, name, "");
        }
        let mut there = organization.accounts.iter().filter(|other| other.wallet == wallet);
        let is_taken = there.any(|other| other.place == account.place);
        objections.when(is_taken, Code::AlreadyExists, "path already exists in wallet account");
    }
    objections.distinct(&accounts.iter().filter_map(|account| account.name.as_ref()).collect::<Vec<_>>());
}

/// What speaks against even computing these.
fn object_to_forms(objections: &mut Objections, accounts: &[NewAccount]) {
    for account in accounts {
        objections.invalid(account.flaw.is_some(), account.flaw.unwrap_or_default());
        if let Some(name) = &account.name {
            objections.label(name);
        }
    }
    let written = |account: &NewAccount| {
        let place = &account.place;
        [place.curve.to_owned(), place.path.clone(), place.format.to_owned()]
    };
    objections.distinct_or(&accounts.iter().map(written).collect::<Vec<_>>(), "invalid path");
}

/// Makes them, with the addresses told, or only compares those.
pub(super) fn happen(
    organization: &mut Organization,
    wallet_id: &str,
    accounts: &[NewAccount],
    addresses: &Value,
    is_kept: bool,
) {
    let addresses = new_ids(addresses, accounts.len());
    for (account, address) in accounts.iter().zip(addresses) {
        let key = account.place.key(wallet_id);
        let before = organization.derived.iter().find(|other| other.place.key(&other.wallet) == key);
        let told_before = before.map(|before| &before.address);
        assert!(told_before.is_none_or(|before| *before == address), "one place, two addresses: {key:?}");
        let (wallet, place) = (wallet_id.to_owned(), account.place.clone());
        organization.derived.push(Derived { wallet, place, address: address.clone() });
        if is_kept {
            let (name, place) = (account.name.clone(), account.place.clone());
            let wallet = wallet_id.to_owned();
            organization.accounts.push(Account { id: None, wallet, name, place, address, public_key: None });
        }
    }
}

struct Create {
    wallet: String,
    accounts: Vec<NewAccount>,
    persist: Option<bool>,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let wallet = chooser.favoured_id(&chooser.here().wallet_ids());
    let count = chooser.one(&[0, 1, 1, 1, 1, 1, 1, 2, 2, 3]);
    let accounts = (0..count).map(|_| NewAccount::choose_in(chooser, &wallet)).collect();
    let persist = chooser.one(&[None, None, None, Some(true), Some(false)]);
    Box::new(Create { wallet, accounts, persist })
}

impl Create {
    /// Otherwise the addresses are only computed.
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
        objections.found(&self.wallet, organization.wallet(&self.wallet).is_some(), "no wallet found");
        objections.batch(&self.accounts);
        if self.is_kept() {
            object_to_accounts(&mut objections, organization, &self.wallet, &self.accounts);
        } else {
            object_to_forms(&mut objections, &self.accounts);
        }
        objections
    }

    fn happen(&self, organization: &mut Organization, result: &Value) {
        happen(organization, &self.wallet, &self.accounts, &result["addresses"], self.is_kept());
    }
}

struct Rename {
    id: String,
    name: String,
}

pub(super) fn rename(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let id = chooser.id(&chooser.here().account_ids());
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
        objections.found(&self.id, organization.account(&self.id).is_some(), "no wallet account found");
        object_to_name(&mut objections, organization, &self.name, &self.id);
        objections
    }

    fn happen(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["walletAccountId"], self.id.as_str());
        let mut accounts = organization.accounts.iter_mut();
        let account = accounts.find(|account| account.id.as_ref() == Some(&self.id));
        account.expect("an account that is there").name = Some(self.name.clone());
    }
}

struct Delete {
    ids: Vec<String>,
    without_export: Option<bool>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let ids = chooser.ids(&chooser.here().account_ids());
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
        objections.all_found(&self.ids, |id| organization.account(id).is_some(), "no wallet account found");
        let is_kept = self.without_export != Some(true);
        let message = "wallet account has not been exported";
        objections.named(is_kept, Code::InvalidArgument, message, "WALLET_ACCOUNT_NOT_EXPORTED");
        objections
    }

    fn happen(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(texts(&result["walletAccountIds"]), self.ids);
        let is_gone = |account: &Account| account.id.as_ref().is_some_and(|id| self.ids.contains(id));
        organization.accounts.retain(|account| !is_gone(account));
        organization.gone.extend(self.ids.iter().cloned());
    }
}
