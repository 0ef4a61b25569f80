//! Wallets: created, renamed, deleted with all their accounts.

use serde_json::{Value, json};

use super::accounts::{self, NewAccount};
use super::{Move, deletion, put, text, texts};
use crate::model::chooser::Chooser;
use crate::model::objections::Objections;
use crate::model::world::{Account, Organization, Wallet};

const WALLETS: usize = 100;
const UNKNOWN_WALLET: &str = "no wallet found";

/// A wallet to create.
pub(super) struct NewWallet {
    name: String,
    accounts: Vec<NewAccount>,
    words: Option<u32>,
}

impl NewWallet {
    /// Chooses the values of a request.
    pub(super) fn choose(chooser: &mut Chooser<'_>) -> Self {
        let name = chooser.name("wallet");
        let count = chooser.one(&[0, 1, 1, 2, 3]);
        let accounts = (0..count).map(|_| NewAccount::choose(chooser)).collect();
        let words = chooser.maybe(|chooser| chooser.one(&[12, 15, 18, 21, 24]));
        Self { name, accounts, words: if chooser.rarely() { Some(13) } else { words } }
    }

    /// Returns the JSON of the request.
    pub(super) fn json(&self) -> Value {
        let accounts: Vec<Value> = self.accounts.iter().map(NewAccount::json).collect();
        let mut wallet = json!({ "walletName": self.name, "accounts": accounts });
        put(&mut wallet, "mnemonicLength", self.words);
        wallet
    }

    /// Adds the objections to creating the wallet.
    pub(super) fn object(&self, objections: &mut Objections, organization: &Organization) {
        objections.free_label(&self.name, organization.wallets.iter().map(|wallet| wallet.name.as_str()));
        objections.invalid(self.words == Some(13), "");
        accounts::object_to_accounts(objections, organization, "", &self.accounts);
        objections.capacity(organization.wallets.len(), 1, WALLETS, "");
    }

    /// Adds the wallet to the model, with the reported id and addresses.
    pub(super) fn apply(&self, organization: &mut Organization, result: &Value) {
        let id = text(&result["walletId"]);
        accounts::apply(organization, &id, &self.accounts, &result["addresses"], true);
        organization.wallets.push(Wallet { id, name: self.name.clone() });
    }
}

struct Create {
    wallet: NewWallet,
}

pub(super) fn create(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    Box::new(Create { wallet: NewWallet::choose(chooser) })
}

impl Move for Create {
    fn name(&self) -> &'static str {
        "CREATE_WALLET"
    }

    fn result_name(&self) -> &'static str {
        "createWalletResult"
    }

    fn parameters(&self) -> Value {
        self.wallet.json()
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        self.wallet.object(&mut objections, organization);
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        self.wallet.apply(organization, result);
    }
}

struct Rename {
    id: String,
    name: String,
}

pub(super) fn rename(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let id = chooser.id(&chooser.organization().wallet_ids());
    let name = chooser.name("wallet");
    Box::new(Rename { id, name })
}

impl Move for Rename {
    fn name(&self) -> &'static str {
        "UPDATE_WALLET"
    }

    fn result_name(&self) -> &'static str {
        "updateWalletResult"
    }

    fn parameters(&self) -> Value {
        json!({ "walletId": self.id, "walletName": self.name })
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.exists(&self.id, organization.wallet(&self.id).is_some(), UNKNOWN_WALLET);
        let others = organization.wallets.iter().filter(|wallet| wallet.id != self.id);
        objections.free_label(&self.name, others.map(|wallet| wallet.name.as_str()));
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(result["walletId"], self.id.as_str());
        let wallet = organization.wallets.iter_mut().find(|wallet| wallet.id == self.id);
        wallet.expect("an existing wallet").name.clone_from(&self.name);
    }
}

struct Delete {
    ids: Vec<String>,
    without_export: Option<bool>,
}

pub(super) fn delete(chooser: &mut Chooser<'_>) -> Box<dyn Move> {
    let ids = chooser.ids(&chooser.organization().wallet_ids());
    Box::new(Delete { ids, without_export: chooser.without_export() })
}

impl Move for Delete {
    fn name(&self) -> &'static str {
        "DELETE_WALLETS"
    }

    fn result_name(&self) -> &'static str {
        "deleteWalletsResult"
    }

    fn parameters(&self) -> Value {
        deletion("walletIds", &self.ids, self.without_export)
    }

    fn objections(&self, organization: &Organization) -> Objections {
        let mut objections = Objections::default();
        objections.batch(&self.ids);
        objections.all_exist(&self.ids, |id| organization.wallet(id).is_some(), UNKNOWN_WALLET);
        objections.invalid(self.without_export != Some(true), "wallet has not been exported");
        objections
    }

    fn apply(&self, organization: &mut Organization, result: &Value) {
        assert_eq!(texts(&result["walletIds"]), self.ids);
        let is_deleted = |account: &mut Account| self.ids.contains(&account.wallet);
        let accounts = organization.accounts.extract_if(.., is_deleted).filter_map(|account| account.id);
        organization.deleted_ids.extend(accounts.chain(self.ids.iter().cloned()));
        organization.wallets.retain(|wallet| !self.ids.contains(&wallet.id));
    }
}
