//! Changes of an organization as data. They are applied to a snapshot and turned into writes.

use quorate_common::bounded::Label;
use quorate_common::ids::{
    ActivityId, EndpointId, InvitationId, OrganizationId, PolicyId, PrivateKeyId, SecretId,
    SmartContractInterfaceId, TagId, UserId, WalletId,
};

use super::contents::RecordDigest;
use super::layout::{self, Entity, IndexKey, Key, Lookup, SecretOf};
use super::organization::{Head, Organization, RootQuorum};
use super::write::Write;
use super::{
    CollectionItem, FeatureName, ImportTarget, InterfaceText, Invitation, IpAllowlist, Millis, PaymentMethod,
    Policy, PrivateKey, Secret, SessionProfile, SmartContractInterface, Tag, User, Wallet, WalletAccount,
    WebhookEndpoint,
};
use crate::error::Corrupt;
use crate::secret::SecretBytes;

/// A change of an organization.
pub enum Change {
    /// Adds or replaces a user.
    PutUser(User),
    /// Removes a user.
    RemoveUser(UserId),
    /// Adds or replaces a wallet.
    PutWallet(Wallet),
    /// Removes a wallet and its secret. Its accounts, whose number is not limited, are removed in the
    /// background.
    RemoveWallet(WalletId),
    /// Adds an account.
    AddAccount(WalletAccount),
    /// Adds a private key.
    AddPrivateKey(PrivateKey),
    /// Replaces a private key. Its public key and addresses must be unchanged.
    PutPrivateKey(PrivateKey),
    /// Removes a private key and its secret.
    RemovePrivateKey(PrivateKeyId),
    /// Renames an account, given as it was before.
    RenameAccount(WalletAccount, Label),
    /// Removes an account.
    RemoveAccount(WalletAccount),
    /// Adds or replaces a tag.
    PutTag(Tag),
    /// Removes a tag.
    RemoveTag(TagId),
    /// Adds or replaces a policy.
    PutPolicy(Policy),
    /// Removes a policy.
    RemovePolicy(PolicyId),
    /// Adds the secret of a wallet or private key.
    AddSecret(SecretOf, SecretBytes),
    /// Marks an account, given as it was before, as exported.
    ExportAccount(WalletAccount),
    /// Adds an import key of a user.
    AddImportTarget(ImportTarget),
    /// Removes an import key, by its key in the store.
    RemoveImportTarget(Key),
    /// Renames the organization.
    SetName(Label),
    /// Replaces the root quorum.
    SetQuorum(RootQuorum),
    /// Turns a feature on, with this value.
    SetFeature(FeatureName, Option<String>),
    /// Turns a feature off.
    RemoveFeature(FeatureName),
    /// Adds or replaces an invitation.
    PutInvitation(Invitation),
    /// Removes an invitation.
    RemoveInvitation(InvitationId),
    /// Adds or replaces a webhook endpoint.
    PutWebhookEndpoint(WebhookEndpoint),
    /// Removes a webhook endpoint.
    RemoveWebhookEndpoint(EndpointId),
    /// Adds an imported secret and its value.
    ImportSecret(Secret, SecretBytes),
    /// Removes an imported secret and its value.
    RemoveSecret(SecretId),
    /// Adds a session profile.
    AddSessionProfile(SessionProfile),
    /// Adds a smart contract interface and its text.
    AddSmartContractInterface(SmartContractInterface, InterfaceText),
    /// Removes a smart contract interface and its text.
    RemoveSmartContractInterface(SmartContractInterfaceId),
    /// Sets the IP allowlist; `None` admits every address.
    SetIpAllowlist(Option<IpAllowlist>),
    /// Sets or removes the payment method.
    SetPaymentMethod(Option<PaymentMethod>),
    /// Sets the product of the active billing tier.
    SetBillingTier(String),
    /// Sets the digest of the record of a waiting activity. The record and its index entry are written
    /// separately.
    PutWaiting(ActivityId, RecordDigest),
    /// Removes the digest of an activity that no longer waits.
    RemoveWaiting(ActivityId),
    /// Deletes the organization with everything in it. Accounts, whose number is not limited, are removed in
    /// the background; the records of activities are kept.
    Delete,
}

/// An organization to create.
pub struct NewOrganization {
    /// Head of the organization.
    pub head: Head,
    /// Changes that add its initial records.
    pub changes: Vec<Change>,
}

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
    applied.writes.extend(name.map(|key| Write::mark(key, &[])));
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
            Change::PutWallet(wallet) => self.put(wallet)?,
            Change::RemoveWallet(wallet) => self.remove_wallet(wallet),
            Change::AddAccount(account) => self.add_account(&account, index)?,
            Change::AddPrivateKey(key) => self.add_private_key(key, index)?,
            Change::PutPrivateKey(key) => self.put(key)?,
            Change::RemovePrivateKey(key) => self.remove_private_key(key, index),
            Change::RenameAccount(account, name) => self.rename_account(account, name, now, index)?,
            Change::ExportAccount(account) => {
                let account = WalletAccount { exported: true, ..account };
                let account_key = layout::account(id, account.wallet, account.ordinal);
                self.writes.push(Write::put(account_key, &account)?);
            }
            Change::AddImportTarget(target) => {
                let value = Some(target.encode());
                self.writes.push(Write { key: target.record_key, value, replaces: false });
            }
            Change::RemoveImportTarget(key) => self.writes.push(Write::remove(key)),
            Change::RemoveAccount(account) => {
                self.writes.extend(account_removal(&self.after.head, &account, index));
            }
            Change::PutTag(tag) => self.put(tag)?,
            Change::RemoveTag(tag) => self.remove::<Tag>(tag),
            Change::PutPolicy(policy) => {
                self.writes.push(Write::put(layout::entity(id, Entity::Policy(policy.id)), &policy)?);
                self.after.put_policy(policy)?;
            }
            Change::RemovePolicy(policy) => {
                self.writes.push(Write::remove(layout::entity(id, Entity::Policy(policy))));
                self.after.remove_policy(policy);
            }
            Change::AddSecret(of, secret) => self.add_secret(of, secret),
            Change::PutInvitation(invitation) => self.put(invitation)?,
            Change::RemoveInvitation(invitation) => self.remove::<Invitation>(invitation),
            Change::PutWebhookEndpoint(endpoint) => self.put(endpoint)?,
            Change::RemoveWebhookEndpoint(endpoint) => self.remove::<WebhookEndpoint>(endpoint),
            Change::ImportSecret(secret, value) => {
                self.add_secret(SecretOf::Secret(secret.id), value);
                self.put(secret)?;
            }
            Change::RemoveSecret(secret) => self.remove_secret(secret),
            Change::AddSessionProfile(profile) => self.put(profile)?,
            Change::AddSmartContractInterface(interface, text) => {
                self.writes.push(Write::put_new(layout::interface_text(id, interface.id), &text)?);
                self.put(interface)?;
            }
            Change::RemoveSmartContractInterface(interface) => self.remove_interface(interface),
            Change::PutWaiting(activity, record) => {
                self.after.contents.put(&layout::activity(id, activity), record);
            }
            Change::RemoveWaiting(activity) => self.after.contents.remove(&layout::activity(id, activity)),
            Change::Delete => self.delete(now, index),
            Change::SetName(name) => self.set_name(name, index),
            Change::SetQuorum(quorum) => self.after.head.quorum = quorum,
            Change::SetFeature(name, value) => {
                self.after.head.features.insert(name, value);
            }
            Change::RemoveFeature(name) => {
                self.after.head.features.remove(&name);
            }
            Change::SetIpAllowlist(list) => self.after.head.ip_allowlist = list,
            Change::SetPaymentMethod(method) => self.after.head.payment_method = method,
            Change::SetBillingTier(product) => self.after.head.billing_tier = Some(product),
        }
        Ok(())
    }

    /// Adds a record to its collection, or replaces it.
    fn put<T: CollectionItem>(&mut self, record: T) -> Result<(), Corrupt> {
        self.writes.push(Write::put(layout::entity(self.id(), T::entity(record.id())), &record)?);
        T::collection_mut(&mut self.after).put(record);
        Ok(())
    }

    /// Removes a record from its collection.
    fn remove<T: CollectionItem>(&mut self, id: T::Id) {
        self.writes.push(Write::remove(layout::entity(self.id(), T::entity(id))));
        T::collection_mut(&mut self.after).remove(id);
    }

    fn add_secret(&mut self, of: SecretOf, secret: SecretBytes) {
        let key = layout::secret(self.id(), of);
        self.writes.push(Write { key, value: Some(secret.into_record()), replaces: false });
    }

    fn remove_secret(&mut self, secret: SecretId) {
        self.remove::<Secret>(secret);
        self.writes.push(Write::remove(layout::secret(self.id(), SecretOf::Secret(secret))));
    }

    fn remove_wallet(&mut self, wallet: WalletId) {
        let id = self.id();
        self.remove::<Wallet>(wallet);
        self.writes.push(Write::remove(layout::secret(id, SecretOf::Wallet(wallet))));
        self.writes.push(Write::mark(layout::tombstone(id, wallet), &[]));
    }

    fn remove_interface(&mut self, interface: SmartContractInterfaceId) {
        self.remove::<SmartContractInterface>(interface);
        self.writes.push(Write::remove(layout::interface_text(self.id(), interface)));
    }

    /// Removes all records but the head, and the index entries of the organization.
    fn delete(&mut self, now: Millis, index: &IndexKey) {
        let before = self.after.clone();
        before.users().for_each(|user| self.remove_user(user.id, index));
        before.wallets().for_each(|wallet| self.remove_wallet(wallet.id));
        before.private_keys().for_each(|key| self.remove_private_key(key.id, index));
        before.tags().for_each(|tag| self.remove::<Tag>(tag.id));
        for policy in before.policies().map(|parsed| parsed.policy.id) {
            self.writes.push(Write::remove(layout::entity(self.id(), Entity::Policy(policy))));
            self.after.remove_policy(policy);
        }
        before.invitations.iter().for_each(|one| self.remove::<Invitation>(one.id));
        before.webhook_endpoints.iter().for_each(|one| self.remove::<WebhookEndpoint>(one.id));
        before.secrets.iter().for_each(|one| self.remove_secret(one.id));
        before.session_profiles.iter().for_each(|one| self.remove::<SessionProfile>(one.id));
        before.smart_contract_interfaces.iter().for_each(|one| self.remove_interface(one.id));
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
            self.writes.extend(added.map(|key| Write::mark(key, &[])));
        }
    }

    fn put_user(&mut self, user: User, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let old = self
            .after
            .user(user.id)
            .map(|old| user_lookup_keys(&self.after.head, old, index))
            .unwrap_or_default();
        let new = user_lookup_keys(&self.after.head, &user, index);
        self.writes.extend(old.iter().filter(|key| !new.contains(key)).cloned().map(Write::remove));
        self.writes
            .extend(new.iter().filter(|key| !old.contains(key)).map(|key| Write::mark(key.clone(), &[])));
        self.writes.push(Write::put(layout::entity(id, Entity::User(user.id)), &user)?);
        self.after.put_user(user);
        Ok(())
    }

    fn remove_user(&mut self, user: UserId, index: &IndexKey) {
        let id = self.id();
        if let Some(old) = self.after.user(user) {
            let keys = user_lookup_keys(&self.after.head, old, index);
            self.writes.extend(keys.into_iter().map(Write::remove));
        }
        self.writes.push(Write::remove(layout::entity(id, Entity::User(user))));
        self.writes.push(Write::mark(layout::deleted_user(id, user), &[]));
        self.after.remove_user(user);
    }

    fn add_account(&mut self, account: &WalletAccount, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let account_key = layout::account(id, account.wallet, account.ordinal);
        let path = path_key(account, index);
        self.must_not_exist.extend([account_key.clone(), path.clone()]);
        for key in signer_keys(id, account, index) {
            self.writes.push(Write::mark(key, &account_key));
        }
        if let Some(key) = account_lookup_key(&self.after.head, account, index) {
            self.writes.push(Write::mark(key, &[]));
        }
        self.writes.extend(name_key(id, account, index).map(|key| Write::mark(key, &[])));
        self.writes.push(Write::mark(layout::account_index(id, account.id), &account_key));
        self.writes.push(Write::mark(path, account.id.as_bytes()));
        self.writes.push(Write::put(account_key, account)?);
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
        self.writes.extend(name_key(id, &account, index).map(|key| Write::mark(key, &[])));
        let account_key = layout::account(id, account.wallet, account.ordinal);
        self.writes.push(Write::put(account_key, &account)?);
        Ok(())
    }

    fn add_private_key(&mut self, key: PrivateKey, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let record_key = layout::entity(id, Entity::PrivateKey(key.id));
        for signer in private_signer_keys(id, &key, index) {
            self.writes.push(Write::mark(signer, &record_key));
        }
        self.put(key)
    }

    fn remove_private_key(&mut self, key: PrivateKeyId, index: &IndexKey) {
        let id = self.id();
        if let Some(old) = self.after.private_key(key) {
            self.writes.extend(private_signer_keys(id, old, index).into_iter().map(Write::remove));
        }
        self.remove::<PrivateKey>(key);
        self.writes.push(Write::remove(layout::secret(id, SecretOf::PrivateKey(key))));
    }
}

/// Returns the key of the list entry of an organization under its parent, or among the top-level
/// organizations.
fn child_entry(head: &Head) -> Key {
    layout::child(head.parent.unwrap_or(layout::NO_PARENT), head.created, head.id)
}

/// Returns the writes that remove an account and its index entries.
pub fn account_removal(head: &Head, account: &WalletAccount, index: &IndexKey) -> Vec<Write> {
    let mut keys = signer_keys(head.id, account, index);
    keys.extend(account_lookup_key(head, account, index));
    keys.extend(name_key(head.id, account, index));
    keys.push(layout::account_index(head.id, account.id));
    keys.push(path_key(account, index));
    keys.push(layout::account(head.id, account.wallet, account.ordinal));
    keys.into_iter().map(Write::remove).collect()
}

/// Returns the key of the index entry of a sub-organization by the address of an account.
fn account_lookup_key(head: &Head, account: &WalletAccount, index: &IndexKey) -> Option<Key> {
    let lookup = Lookup::WalletAccountAddress;
    let of = account.id.as_bytes();
    Some(layout::lookup_entry(index, head.parent?, lookup, &account.address, head.id, of))
}

/// Returns the key of the index entry of an account by its name.
fn name_key(id: OrganizationId, account: &WalletAccount, index: &IndexKey) -> Option<Key> {
    Some(layout::account_name(index, id, account.name.as_ref()?.as_str(), account.id))
}

/// Returns the keys of the index entries of an account by its address and public key.
fn signer_keys(id: OrganizationId, account: &WalletAccount, index: &IndexKey) -> Vec<Key> {
    let texts = [&account.address, &account.public_key];
    texts.map(|text| layout::signer(index, id, text, account.id.as_bytes())).into()
}

/// Returns the keys of the index entries of a private key by its public key and addresses.
fn private_signer_keys(id: OrganizationId, key: &PrivateKey, index: &IndexKey) -> Vec<Key> {
    let mut texts = vec![key.public_key.as_str()];
    texts.extend(key.addresses.iter().map(|address| address.address.as_str()));
    texts.dedup();
    texts.into_iter().map(|text| layout::signer(index, id, text, key.id.as_bytes())).collect()
}

/// Returns the key of the index entry of an account by its curve, path and address format.
fn path_key(account: &WalletAccount, index: &IndexKey) -> Key {
    let (curve, path, format) = (account.curve.name(), account.path.to_string(), account.format.name());
    layout::account_path(index, account.wallet, curve, &path, format)
}

/// Returns the keys of the index entries of a sub-organization by the name, contacts and credentials of a
/// user.
fn user_lookup_keys(head: &Head, user: &User, index: &IndexKey) -> Vec<Key> {
    let Some(parent) = head.parent else { return Vec::new() };
    let of = user.id.as_bytes();
    let mut values = vec![(Lookup::Username, user.name.to_string())];
    if let Some(email) = &user.email {
        let email = email.as_str().to_lowercase();
        values.extend(user.email_verified.then(|| (Lookup::VerifiedEmail, email.clone())));
        values.push((Lookup::Email, email));
    }
    if let Some(phone) = &user.phone {
        values.extend(user.phone_verified.then(|| (Lookup::VerifiedPhoneNumber, phone.to_string())));
        values.push((Lookup::PhoneNumber, phone.to_string()));
    }
    values.extend(user.api_keys.iter().map(|key| (Lookup::PublicKey, key.public_key.clone())));
    values.extend(user.authenticators.iter().map(|one| (Lookup::CredentialId, one.credential_id.clone())));
    let keys = values.into_iter();
    keys.map(|(lookup, value)| layout::lookup_entry(index, parent, lookup, &value, head.id, of)).collect()
}
