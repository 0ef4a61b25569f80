//! The records of one organization that are not part of its snapshot, including its secrets.

use quorate_chain::address::AddressFormat;
use quorate_chain::curve::{Curve, SecretKey};
use quorate_chain::derive::{Path, derive};
use quorate_chain::mnemonic::{Mnemonic, Seed};
use quorate_common::ids::{
    OrganizationId, OtpId, SecretId, SmartContractInterfaceId, UserId, VerificationTokenId, WalletAccountId,
    WalletId,
};
use zeroize::Zeroizing;

use crate::error::Corrupt;
use crate::model::layout::{self, Key, SecretOf, sign_in};
use crate::model::one_time_code::{ATTEMPTS, OneTimeCode, SentCode, TokenUsage};
use crate::model::record::Record as _;
use crate::model::{ImportTarget, InterfaceText, PrivateKey, Purpose, WalletAccount};
use crate::records;
use crate::secret;
use crate::world::{Page, Records, World};

/// Read access to the records of one organization. Callers pass ids instead of keys of the store, or keys
/// that are checked, so that no record of another organization can be read.
#[derive(Clone, Copy)]
pub struct OwnRecords<'a> {
    world: &'a dyn World,
    organization: OrganizationId,
}

impl<'a> OwnRecords<'a> {
    /// Creates the view of one organization.
    pub(crate) fn of(world: &'a dyn World, organization: OrganizationId) -> Self {
        Self { world, organization }
    }

    fn records(&self) -> &'a dyn Records {
        self.world.records()
    }

    /// Returns whether the id belonged to a user who was deleted.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn is_deleted_user(&self, user: UserId) -> Result<bool, Corrupt> {
        Ok(self.records().read(&layout::deleted_user(self.organization, user))?.is_some())
    }

    /// Returns whether the organization has sub-organizations.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn has_children(&self) -> Result<bool, Corrupt> {
        Ok(!self.records().keys(Page::first(&layout::children(self.organization), 1))?.is_empty())
    }

    /// Reads the account with this id.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is damaged.
    pub fn account(&self, id: WalletAccountId) -> Result<Option<WalletAccount>, Corrupt> {
        records::account(self.records(), self.organization, id)
    }

    /// Reads up to `limit` ids of accounts with this name, and the key after which the next page starts.
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

    /// Looks up the account of a wallet with the curve, path and address format.
    ///
    /// # Errors
    /// If the store cannot be read, or the index entry is damaged.
    pub fn account_of_path(
        &self,
        wallet: WalletId,
        (curve, path, format): (Curve, &Path, AddressFormat),
    ) -> Result<Option<WalletAccountId>, Corrupt> {
        let path = path.to_string();
        let key = layout::account_path(self.world.index(), wallet, curve.name(), &path, format.name());
        let id = self.records().read(&key)?;
        let id = id.map(|id| <[u8; 16]>::try_from(id).map_err(|_| Corrupt::Record("account path")));
        Ok(id.transpose()?.map(WalletAccountId::from_bytes))
    }

    /// Reads up to `limit` index entries of the signers with this address or public key: each entry's key,
    /// and the key of the record that it refers to.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn signers(&self, text: &str, after: Option<&Key>, limit: usize) -> Result<Vec<(Key, Key)>, Corrupt> {
        let prefix = layout::signers(self.world.index(), self.organization, text);
        self.records().page(Page { after: after.map(Key::as_slice), ..Page::first(&prefix, limit) })
    }

    /// Reads the account at a key that [`Self::signers`] returned. Returns `None` if it was removed since.
    ///
    /// # Errors
    /// If the key is not one of an account of this organization, the store cannot be read, or the record is
    /// damaged.
    pub fn account_at(&self, key: &[u8]) -> Result<Option<WalletAccount>, Corrupt> {
        if !key.starts_with(&layout::accounts(self.organization, None)) {
            return Err(Corrupt::Record("signer"));
        }
        records::account_at(self.records(), key)
    }

    /// Reads the text of a smart contract interface. Returns `None` if it was deleted since the snapshot was
    /// read.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is damaged.
    pub fn interface_text(&self, id: SmartContractInterfaceId) -> Result<Option<InterfaceText>, Corrupt> {
        records::interface_text(self.records(), self.organization, id)
    }

    /// Reads the store keys of up to `limit` import keys of a user, newest first.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn import_targets(&self, user: UserId, purpose: Purpose, limit: usize) -> Result<Vec<Key>, Corrupt> {
        self.records().keys(Page::last(&layout::import_targets(self.organization, user, purpose), limit))
    }

    /// Reads an import key of a user. Returns `None` if it was used since its store key was read.
    ///
    /// # Errors
    /// If `key` is not one of an import key of this user, the store cannot be read, or the record is damaged.
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

    /// Reads a one-time code. Returns `None` if it is unknown or was used.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is damaged.
    pub fn code(&self, id: OtpId) -> Result<Option<OneTimeCode>, Corrupt> {
        let record = self.records().read(&sign_in::code(self.organization, id))?.map(Zeroizing::new);
        record.map(|record| OneTimeCode::decode(&record)).transpose()
    }

    /// Returns how often a code was tried.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn attempts(&self, id: OtpId) -> Result<usize, Corrupt> {
        Ok(self.records().keys(Page::first(&sign_in::attempts(self.organization, id), ATTEMPTS))?.len())
    }

    /// Reads up to `limit` codes that were sent to a receiver, with their numbers, the newest first.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn sent_codes(&self, receiver: &[&str; 2], limit: usize) -> Result<Vec<(u32, SentCode)>, Corrupt> {
        self.counted(&sign_in::sent(self.world.index(), self.organization, receiver), limit)
    }

    /// Reads messages that users of the sub-organizations of `parent`, the parent of this organization, had sent to a
    /// receiver, as [`Self::sent_codes`] does. Those of registered tenants are read with [`layout::NO_PARENT`].
    ///
    /// # Errors
    /// As [`Self::sent_codes`].
    pub fn sent_by_children(
        &self,
        parent: OrganizationId,
        receiver: &[&str; 2],
        limit: usize,
    ) -> Result<Vec<(u32, SentCode)>, Corrupt> {
        self.counted(&sign_in::sent_by_children(self.world.index(), parent, receiver), limit)
    }

    fn counted(&self, prefix: &[u8], limit: usize) -> Result<Vec<(u32, SentCode)>, Corrupt> {
        let rows = self.records().page(Page::last(prefix, limit))?;
        let number = |key: &[u8]| sign_in::sent_number(key).ok_or(Corrupt::Record("sent code"));
        rows.iter().map(|(key, record)| Ok((number(key)?, SentCode::decode(record)?))).collect()
    }

    /// Returns whether a verification token, which the organization or its parent issued, was already used in
    /// this way.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn is_token_used(
        &self,
        issuer: OrganizationId,
        token: VerificationTokenId,
        usage: TokenUsage,
    ) -> Result<bool, Corrupt> {
        Ok(self.records().read(&sign_in::token_use(issuer, token, usage as u8))?.is_some())
    }

    fn secret(&self, of: SecretOf, noun: &'static str) -> Result<Zeroizing<Vec<u8>>, Corrupt> {
        let record = self.records().read(&layout::secret(self.organization, of))?;
        record.map(Zeroizing::new).ok_or(Corrupt::Record(noun))
    }

    /// Reads the seed of a wallet.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is missing or damaged.
    pub fn wallet_seed(&self, wallet: WalletId) -> Result<Seed, Corrupt> {
        secret::seed(&self.secret(SecretOf::Wallet(wallet), "wallet secret")?)
    }

    /// Reads the mnemonic of a wallet, and its passphrase, which may be empty.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is missing or damaged.
    pub fn wallet_mnemonic(&self, wallet: WalletId) -> Result<(Mnemonic, Zeroizing<String>), Corrupt> {
        secret::mnemonic(&self.secret(SecretOf::Wallet(wallet), "wallet secret")?)
    }

    /// Derives the secret key of an account from the seed of its wallet.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is missing or damaged.
    pub fn account_secret(&self, account: &WalletAccount) -> Result<SecretKey, Corrupt> {
        let seed = self.wallet_seed(account.wallet)?;
        derive(account.curve, &seed, &account.path).map_err(|_| Corrupt::Record("wallet account"))
    }

    /// Reads the secret scalar of a private key.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is missing or damaged.
    pub fn private_key_secret(&self, key: &PrivateKey) -> Result<SecretKey, Corrupt> {
        let record = self.secret(SecretOf::PrivateKey(key.id), "private key secret")?;
        secret::private_key(key.curve, &record)
    }

    /// Reads the stored value of an imported secret; [`secret::value`] decodes it.
    ///
    /// # Errors
    /// If the store cannot be read, or the record is missing.
    pub fn secret_value(&self, id: SecretId) -> Result<Zeroizing<Vec<u8>>, Corrupt> {
        self.secret(SecretOf::Secret(id), "secret value")
    }
}
