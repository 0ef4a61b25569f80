//! The records of one organization that belong to no snapshot, its secrets among them.

use quorate_chain::curve::SecretKey;
use quorate_chain::derive::derive;
use quorate_chain::mnemonic::{Mnemonic, Seed};
use quorate_common::ids::{
    OrganizationId, SecretId, SmartContractInterfaceId, UserId, WalletAccountId, WalletId,
};
use zeroize::Zeroizing;

use crate::model::layout::{self, Key, SecretOf};
use crate::model::{ImportTarget, InterfaceText, PrivateKey, Purpose, WalletAccount};
use crate::params::WalletAccountParams;
use crate::records;
use crate::refusal::Corrupt;
use crate::secret;
use crate::world::{Page, Records, World};

/// Reads records of one organization. Callers name things and never keys of the store, so nothing of another organization
/// can be read.
#[derive(Clone, Copy)]
pub struct OwnRecords<'a> {
    world: &'a dyn World,
    organization: OrganizationId,
}

impl<'a> OwnRecords<'a> {
    pub(super) fn of(world: &'a dyn World, organization: OrganizationId) -> Self {
        Self { world, organization }
    }

    fn records(&self) -> &'a dyn Records {
        self.world.records()
    }

    /// Whether the id belonged to a user who was deleted.
    pub fn is_departed(&self, user: UserId) -> Result<bool, Corrupt> {
        Ok(self.records().read(&layout::departed(self.organization, user))?.is_some())
    }

    /// Whether the organization has sub-organizations.
    pub fn has_children(&self) -> Result<bool, Corrupt> {
        Ok(!self.records().keys(Page::first(&layout::children(self.organization), 1))?.is_empty())
    }

    /// The account of this id.
    pub fn account(&self, id: WalletAccountId) -> Result<Option<WalletAccount>, Corrupt> {
        records::account(self.records(), self.organization, id)
    }

    /// Up to `limit` ids of accounts that have this name, and the key after which the next page begins.
    pub(super) fn accounts_named(
        &self,
        name: &str,
        after: Option<&Key>,
        limit: usize,
    ) -> Result<(Vec<WalletAccountId>, Option<Key>), Corrupt> {
        let prefix = layout::account_names(self.world.index(), self.organization, name);
        let page = Page { after: after.map(Key::as_slice), ..Page::first(&prefix, limit) };
        let keys = self.records().keys(page)?;
        let ids = keys.iter().filter_map(|key| layout::named_account(key)).collect();
        Ok((ids, keys.into_iter().next_back()))
    }

    /// The account of a wallet of this organization that has the curve, path and format of the parameters.
    pub fn account_of_path(
        &self,
        wallet: WalletId,
        account: &WalletAccountParams,
    ) -> Result<Option<WalletAccountId>, Corrupt> {
        let (curve, path) = (account.curve.name(), account.path.to_string());
        let key =
            layout::account_path(self.world.index(), wallet, curve, &path, account.address_format.name());
        let id = self.records().read(&key)?;
        let id = id.map(|id| <[u8; 16]>::try_from(id).map_err(|_| Corrupt::Record("account path")));
        Ok(id.transpose()?.map(WalletAccountId::from_bytes))
    }

    /// Up to `limit` keys of what signs under this text, each with where it says that this is.
    pub fn signers(&self, text: &str, after: Option<&Key>, limit: usize) -> Result<Vec<(Key, Key)>, Corrupt> {
        let prefix = layout::signers(self.world.index(), self.organization, text);
        self.records().page(Page { after: after.map(Key::as_slice), ..Page::first(&prefix, limit) })
    }

    /// The account at a key that [`Self::signers`] gave, unless it was removed since.
    pub fn account_at(&self, key: &[u8]) -> Result<Option<WalletAccount>, Corrupt> {
        if !key.starts_with(&layout::accounts(self.organization, None)) {
            return Err(Corrupt::Record("signer"));
        }
        records::account_at(self.records(), key)
    }

    /// The text of a smart contract interface, unless it was deleted since the snapshot was taken.
    pub fn interface_text(&self, id: SmartContractInterfaceId) -> Result<Option<InterfaceText>, Corrupt> {
        records::interface_text(self.records(), self.organization, id)
    }

    /// Up to `limit` keys of what a user may import something to, newest first.
    pub fn import_targets(&self, user: UserId, purpose: Purpose, limit: usize) -> Result<Vec<Key>, Corrupt> {
        self.records().keys(Page::last(&layout::import_targets(self.organization, user, purpose), limit))
    }

    /// What a user may import something to, unless it was used up since its key was read.
    pub fn import_target(
        &self,
        user: UserId,
        purpose: Purpose,
        key: Key,
    ) -> Result<Option<ImportTarget>, Corrupt> {
        if !key.starts_with(&layout::import_targets(self.organization, user, purpose)) {
            return Err(Corrupt::Record("import target"));
        }
        let record = self.records().read(&key)?.map(Zeroizing::new);
        record.map(|record| ImportTarget::decode(key, &record)).transpose()
    }

    fn secret(&self, of: SecretOf, noun: &'static str) -> Result<Zeroizing<Vec<u8>>, Corrupt> {
        let record = self.records().read(&layout::secret(self.organization, of))?;
        record.map(Zeroizing::new).ok_or(Corrupt::Record(noun))
    }

    /// The seed of a wallet.
    pub fn wallet_seed(&self, wallet: WalletId) -> Result<Seed, Corrupt> {
        secret::seed(&self.secret(SecretOf::Wallet(wallet), "wallet secret")?)
    }

    /// The mnemonic of a wallet, and its passphrase, which may be empty.
    pub fn wallet_mnemonic(&self, wallet: WalletId) -> Result<(Mnemonic, Zeroizing<String>), Corrupt> {
        secret::mnemonic(&self.secret(SecretOf::Wallet(wallet), "wallet secret")?)
    }

    /// The secret key of an account, derived from the seed of its wallet.
    pub fn account_secret(&self, account: &WalletAccount) -> Result<SecretKey, Corrupt> {
        let seed = self.wallet_seed(account.wallet)?;
        derive(account.curve, &seed, &account.path).map_err(|_| Corrupt::Record("wallet account"))
    }

    /// The secret key of a private key.
    pub fn private_key_secret(&self, key: &PrivateKey) -> Result<SecretKey, Corrupt> {
        let record = self.secret(SecretOf::PrivateKey(key.id), "private key secret")?;
        secret::private_key(key.curve, &record)
    }

    /// The stored value of a secret that was imported, see [`secret::value`].
    pub fn secret_value(&self, id: SecretId) -> Result<Zeroizing<Vec<u8>>, Corrupt> {
        self.secret(SecretOf::Secret(id), "secret value")
    }
}
