//! The application of changes: a new snapshot, the writes that store it, and their effects.

use quorate_common::bounded::Label;
use quorate_common::ids::{
    OrganizationId, PolicyId, PrivateKeyId, SecretId, SmartContractInterfaceId, UserId, WalletId,
};
use zeroize::Zeroizing;

use super::entries::{
    account_entries, account_removal, child_entry, name_key, path_key, possible_lookup_keys,
    private_signer_keys, user_lookup_keys,
};
use super::{Change, NewOrganization};
use crate::error::Corrupt;
use crate::model::contents::RecordDigest;
use crate::model::import_target;
use crate::model::layout::{self, Class, IndexKey, Key, Lookup, SecretOf, sign_in};
use crate::model::organization::{Head, Organization};
use crate::model::write::{Effect, Write};
use crate::model::{
    AnyRecord, Millis, PrivateKey, RECORDS, RecordId, Secret, SmartContractInterface, SnapshotRecord, User,
    Wallet, WalletAccount,
};
use crate::secret::SecretBytes;

/// A snapshot with changes applied, and the writes and conditions that store it.
pub struct Applied {
    /// Snapshot after the changes.
    pub after: Organization,
    /// Writes, including the head.
    pub writes: Vec<Write>,
    /// Keys that must not exist yet.
    pub must_not_exist: Vec<Key>,
    /// Prefixes that no existing key may have.
    pub must_be_empty: Vec<Key>,
}

/// Applies changes to a clone of a snapshot, and returns its next version.
///
/// # Errors
/// If a record cannot be encoded, or the expressions of a policy do not parse.
pub fn apply(
    before: &Organization,
    changes: Vec<Change>,
    now: Millis,
    index: &IndexKey,
) -> Result<Applied, Corrupt> {
    let mut after = before.clone();
    after.head.version = before.head.version.saturating_add(1);
    after.head.updated = now;
    let mut applied =
        Applied { after, writes: Vec::new(), must_not_exist: Vec::new(), must_be_empty: Vec::new() };
    for change in changes {
        applied.apply(change, now, index)?;
    }
    applied.digest();
    let head = &applied.after.head;
    applied.writes.push(Write::put(layout::organization(head.id), head)?);
    Ok(applied)
}

/// Builds a new organization with version 1.
///
/// # Errors
/// If a record cannot be encoded, or the expressions of a policy do not parse.
pub fn create(new_organization: NewOrganization, now: Millis, index: &IndexKey) -> Result<Applied, Corrupt> {
    let mut applied =
        apply(&Organization::empty(new_organization.head), new_organization.changes, now, index)?;
    let head = &applied.after.head;
    let name = applied.name_entry(&head.name, index);
    applied.must_not_exist.push(layout::organization(head.id));
    applied.writes.push(Write::mark(child_entry(head), &[]));
    applied.mark(name);
    Ok(applied)
}

impl Applied {
    /// Computes the digest over the records of the snapshot and the waiting activities, and sets it in the
    /// head.
    fn digest(&mut self) {
        let prefix = layout::entities(self.id());
        for Write { key, value, .. } in self.writes.iter().filter(|write| write.key.starts_with(&prefix)) {
            match value {
                Some(record) => self.after.contents.put(key, RecordDigest::of(record)),
                None => self.after.contents.remove(key),
            }
        }
        self.after.head.contents = Some(self.after.contents.digest());
    }

    fn id(&self) -> OrganizationId {
        self.after.id()
    }

    fn apply(&mut self, change: Change, now: Millis, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        match change {
            Change::PutUser(user) => self.put_user(user, index)?,
            Change::RemoveUser(user) => self.remove_user(user, index),
            Change::AddAuthProxy(user, secret) => {
                self.add_secret(SecretOf::AuthProxy(user.id), secret);
                self.after.head.auth_proxy = Some(user.id);
                self.put_user(user, index)?;
            }
            Change::Put(record) => self.put(record)?,
            Change::Remove(record) => self.remove(record, index),
            Change::AddAccount(account) => self.add_account(&account, index)?,
            Change::AddPrivateKey(key) => self.add_private_key(key, index)?,
            Change::RenameAccount(account, name) => self.rename_account(account, name, now, index)?,
            Change::ExportAccount(account) => {
                self.put_account(&WalletAccount { exported: true, ..account })?;
            }
            Change::AddImportTarget(target) => {
                self.writes.push(import_target::removal(&target.record_key));
                let value = Some(target.encode());
                self.writes.push(Write { replaces: false, ..Write::of(target.record_key, value) });
            }
            Change::RemoveImportTarget(key) => self.writes.push(Write::remove(key)),
            Change::RemoveAccount(account) => {
                self.writes.extend(account_removal(&self.after.head, &account, index));
            }
            Change::PutPolicy(policy) => {
                let key = layout::entity(id, Class::POLICY, policy.id.as_bytes());
                self.writes.push(Write::put(key, &policy)?);
                self.after.put_policy(policy)?;
            }
            Change::RemovePolicy(policy) => self.remove_policy(policy),
            Change::AddSecret(of, secret) => self.add_secret(of, secret),
            Change::AddSmartContractInterface(interface, text) => {
                self.writes.push(Write::put_new(layout::interface_text(id, interface.id), &text)?);
                self.put(Box::new(interface))?;
            }
            Change::PutWaiting(activity, record) => {
                self.after.contents.put(&layout::activity(id, activity), record);
                self.writes
                    .push(Write::mark(layout::waiting(index, self.after.head.tenant(), id, activity), &[]));
            }
            Change::RemoveWaiting(activity) => {
                self.after.contents.remove(&layout::activity(id, activity));
                self.writes.push(Write::remove(layout::waiting(
                    index,
                    self.after.head.tenant(),
                    id,
                    activity,
                )));
            }
            Change::Delete => self.delete(now, index),
            Change::SetName(name) => self.set_name(name, index),
            Change::SetQuorum(quorum) => self.after.head.quorum = quorum,
            Change::SetFeature(name, value) => {
                if self.after.head.features.insert(name, value).is_none() {
                    self.after.head.features_since.insert(name, now);
                }
            }
            Change::RemoveFeature(name) => {
                self.after.head.features.remove(&name);
                self.after.head.features_since.remove(&name);
            }
            Change::SetIpAllowlist(list) => self.after.head.ip_allowlist = list,
            Change::SetPaymentMethod(method) => self.after.head.payment_method = method,
            Change::SetBillingTier(product) => self.after.head.billing_tier = Some(product),
        }
        Ok(())
    }

    /// Adds a record to its collection, or replaces it.
    fn put(&mut self, record: Box<dyn AnyRecord>) -> Result<(), Corrupt> {
        let (id, value) = (record.record_id(), Zeroizing::new(record.encoded()?));
        let write = Write::of(id.key(self.id()), Some(value));
        self.writes.push(Write { effect: effect_of(id.class), ..write });
        record.put_into(&mut self.after.records);
        Ok(())
    }

    /// Removes a record from its collection, with everything that belongs to it.
    fn remove(&mut self, record: RecordId, index: &IndexKey) {
        let (id, class) = (self.id(), record.class);
        self.writes.push(Write { effect: effect_of(class), ..Write::remove(record.key(id)) });
        if class == Wallet::CLASS {
            let wallet = WalletId::from_bytes(record.id);
            let secret = Write::remove(layout::secret(id, SecretOf::Wallet(wallet)));
            self.writes.push(secret.with(Effect::ForgetAccounts(layout::accounts(id, Some(wallet)))));
            self.writes.push(Write::mark(layout::tombstone(id, wallet), &[]).with(Effect::Tombstone));
        } else if class == PrivateKey::CLASS {
            let key = PrivateKeyId::from_bytes(record.id);
            let signers = self.after.private_key(key).map(|old| private_signer_keys(id, old, index));
            self.writes.extend(signers.into_iter().flatten().map(Write::remove));
            self.writes.push(Write::remove(layout::secret(id, SecretOf::PrivateKey(key))));
        } else if class == Secret::CLASS {
            let secret = SecretOf::Secret(SecretId::from_bytes(record.id));
            self.writes.push(Write::remove(layout::secret(id, secret)));
        } else if class == SmartContractInterface::CLASS {
            let interface = SmartContractInterfaceId::from_bytes(record.id);
            self.writes.push(Write::remove(layout::interface_text(id, interface)));
        }
        record.remove_from(&mut self.after.records);
    }

    fn remove_policy(&mut self, policy: PolicyId) {
        self.writes.push(Write::remove(layout::entity(self.id(), Class::POLICY, policy.as_bytes())));
        self.after.remove_policy(policy);
    }

    fn add_secret(&mut self, of: SecretOf, secret: SecretBytes) {
        let key = layout::secret(self.id(), of);
        self.writes.push(Write { replaces: false, ..Write::of(key, Some(secret.into_record())) });
    }

    /// Removes all records but the head, and the index entries of the organization.
    fn delete(&mut self, now: Millis, index: &IndexKey) {
        let before = self.after.clone();
        before.users().for_each(|user| self.remove_user(user.id, index));
        before.policies().for_each(|parsed| self.remove_policy(parsed.policy.id));
        let records = RECORDS.iter().flat_map(|class| (class.ids)(&before.records));
        records.for_each(|record| self.remove(record, index));
        let head = &mut self.after.head;
        head.features.clear();
        (head.ip_allowlist, head.payment_method, head.billing_tier) = (None, None, None);
        head.quorum.members.clear();
        head.deleted = Some(now);
        // A sub-organization that is created at the same time would be left without a parent.
        self.must_be_empty.push(layout::children(head.id));
        self.writes.push(Write::remove(child_entry(&self.after.head)));
        self.writes.extend(self.name_entry(&self.after.head.name, index).map(Write::remove));
    }

    /// Returns the key of the index entry of a sub-organization by its name.
    fn name_entry(&self, name: &Label, index: &IndexKey) -> Option<Key> {
        let head = &self.after.head;
        let of = head.id.as_bytes();
        Some(layout::lookup_entry(index, head.parent?, Lookup::Name, name.as_str(), head.id, of))
    }

    fn set_name(&mut self, name: Label, index: &IndexKey) {
        let old = std::mem::replace(&mut self.after.head.name, name);
        let name = &self.after.head.name;
        if old != *name {
            let (removed, added) = (self.name_entry(&old, index), self.name_entry(name, index));
            self.writes.extend(removed.map(Write::remove));
            self.mark(added);
        }
    }

    /// Adds index entries without a value.
    fn mark(&mut self, keys: impl IntoIterator<Item = Key>) {
        self.writes.extend(keys.into_iter().map(|key| Write::mark(key, &[])));
    }

    fn put_user(&mut self, user: User, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        self.replace_lookups(user.id, Some(&user), index);
        self.writes.push(Write::put(layout::entity(id, Class::USER, user.id.as_bytes()), &user)?);
        self.after.put_user(user);
        Ok(())
    }

    /// Replaces the index entries of a user by those of its new record, if it has one. Entries of keys that were used stay
    /// as long as the user has the keys.
    fn replace_lookups(&mut self, id: UserId, new: Option<&User>, index: &IndexKey) {
        let (head, old) = (&self.after.head, self.after.user(id));
        let keys = |user: Option<&User>, of: fn(&Head, &User, &IndexKey) -> Vec<Key>| {
            user.map(|user| of(head, user, index)).unwrap_or_default()
        };
        let (before, after) = (keys(old, user_lookup_keys), keys(new, user_lookup_keys));
        let (possible, kept) = (keys(old, possible_lookup_keys), keys(new, possible_lookup_keys));
        self.writes.extend(possible.into_iter().filter(|key| !kept.contains(key)).map(Write::remove));
        self.mark(after.into_iter().filter(|key| !before.contains(key)));
    }

    fn remove_user(&mut self, user: UserId, index: &IndexKey) {
        let id = self.id();
        self.replace_lookups(user, None, index);
        self.writes.push(Write::remove(layout::entity(id, Class::USER, user.as_bytes())));
        self.writes.push(Write::mark(layout::deleted_user(id, user), &[]));
        self.writes.push(Write::remove(sign_in::last_uses(id, user)));
        if self.after.head.auth_proxy == Some(user) {
            self.after.head.auth_proxy = None;
            self.writes.push(Write::remove(layout::secret(id, SecretOf::AuthProxy(user))));
        }
        self.after.remove_user(user);
    }

    fn add_account(&mut self, account: &WalletAccount, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let account_key = layout::account(id, account.wallet, account.ordinal);
        let path = path_key(account, index);
        self.must_not_exist.extend([account_key.clone(), path.clone()]);
        self.writes.extend(account_entries(&self.after.head, account, &account_key, index));
        self.writes.push(Write::mark(path, account.id.as_bytes()));
        self.put_account(account)
    }

    fn put_account(&mut self, account: &WalletAccount) -> Result<(), Corrupt> {
        let key = layout::account(self.id(), account.wallet, account.ordinal);
        self.writes.push(Write::put(key, account)?);
        Ok(())
    }

    fn rename_account(
        &mut self,
        account: WalletAccount,
        name: Label,
        now: Millis,
        index: &IndexKey,
    ) -> Result<(), Corrupt> {
        let id = self.id();
        self.writes.extend(name_key(id, &account, index).map(Write::remove));
        let account = WalletAccount { name: Some(name), updated: now, ..account };
        self.mark(name_key(id, &account, index));
        self.put_account(&account)
    }

    fn add_private_key(&mut self, key: PrivateKey, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let record_key = PrivateKey::key(id, key.id);
        for signer in private_signer_keys(id, &key, index) {
            self.writes.push(Write::mark(signer, &record_key));
        }
        self.put(Box::new(key))
    }
}

/// Returns the effect of a write of a record. A private key that is changed may have been disabled.
fn effect_of(class: Class) -> Option<Effect> {
    (class == Class::PRIVATE_KEY).then_some(Effect::ForgetKey)
}
