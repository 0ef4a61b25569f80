//! Changes as data: what an execution leaves behind, applied to a snapshot and turned into writes.

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
    FeatureName, ImportTarget, InterfaceText, Invitation, IpAllowlist, Millis, PaymentMethod, Policy,
    PrivateKey, Secret, SessionProfile, Shelved, SmartContractInterface, Tag, User, Wallet, WalletAccount,
    WebhookEndpoint,
};
use crate::refusal::Corrupt;
use crate::secret::SecretBytes;

/// One change of an organization.
pub enum Change {
    /// A user, new or changed.
    PutUser(User),
    /// A user is gone.
    RemoveUser(UserId),
    /// A wallet, new or changed.
    PutWallet(Wallet),
    /// A wallet is gone, and its secret with it. Its accounts, of which there may be any number, are removed by
    /// and by.
    RemoveWallet(WalletId),
    /// A new account.
    AddAccount(WalletAccount),
    /// A new private key.
    AddPrivateKey(PrivateKey),
    /// A private key, changed in what it does not sign under.
    PutPrivateKey(PrivateKey),
    /// A private key is gone, and its secret with it.
    RemovePrivateKey(PrivateKeyId),
    /// An account, as it was, with another name.
    RenameAccount(WalletAccount, Label),
    /// An account is gone.
    RemoveAccount(WalletAccount),
    /// A tag, new or changed.
    PutTag(Tag),
    /// A tag is gone.
    RemoveTag(TagId),
    /// A policy, new or changed.
    PutPolicy(Policy),
    /// A policy is gone.
    RemovePolicy(PolicyId),
    /// A new secret.
    AddSecret(SecretOf, SecretBytes),
    /// An account, as it was, that was taken out.
    ExportAccount(WalletAccount),
    /// A new key that a user may import something to.
    AddImportTarget(ImportTarget),
    /// A key to which nothing can be imported any more, by its place.
    RemoveImportTarget(Key),
    /// Another name of the organization.
    SetName(Label),
    /// Another root quorum.
    SetQuorum(RootQuorum),
    /// A feature is on, with this value.
    SetFeature(FeatureName, Option<String>),
    /// A feature is off.
    RemoveFeature(FeatureName),
    /// An invitation, new or changed.
    PutInvitation(Invitation),
    /// An invitation is forgotten.
    RemoveInvitation(InvitationId),
    /// A webhook endpoint, new or changed.
    PutWebhookEndpoint(WebhookEndpoint),
    /// A webhook endpoint is gone.
    RemoveWebhookEndpoint(EndpointId),
    /// A secret was brought in, with its value.
    ImportSecret(Secret, SecretBytes),
    /// A secret that was brought in is gone, and its value with it.
    RemoveSecret(SecretId),
    /// A new session profile.
    AddSessionProfile(SessionProfile),
    /// A new smart contract interface with its text.
    AddSmartContractInterface(SmartContractInterface, InterfaceText),
    /// A smart contract interface is gone, and its text with it.
    RemoveSmartContractInterface(SmartContractInterfaceId),
    /// From which addresses requests are taken; nothing means from anywhere.
    SetIpAllowlist(Option<IpAllowlist>),
    /// How the service is paid for.
    SetPaymentMethod(Option<PaymentMethod>),
    /// Product of the billing tier that was activated.
    SetBillingTier(String),
    /// An activity waits for votes, with the digest of its record. The record and its index entry are written beside.
    PutWaiting(ActivityId, RecordDigest),
    /// An activity waits no longer.
    RemoveWaiting(ActivityId),
    /// The organization is gone with all that it held. Accounts, of which there may be any number, are removed
    /// by and by; the record of its activities stays.
    Delete,
}

/// A new organization and what it starts with.
pub struct Founding {
    /// Its head.
    pub head: Head,
    /// What it starts with.
    pub changes: Vec<Change>,
}

/// Applies the changes to a copy of the snapshot and says what to write and which keys must still be free.
pub struct Applied {
    /// The snapshot afterwards.
    pub after: Organization,
    /// Writes, the head among them.
    pub writes: Vec<Write>,
    /// Keys that must not exist yet.
    pub absent: Vec<Key>,
    /// What no key may begin with.
    pub vacant: Vec<Key>,
}

/// See [`Applied`].
pub fn apply(
    before: &Organization,
    changes: Vec<Change>,
    now: Millis,
    index: &IndexKey,
) -> Result<Applied, Corrupt> {
    let mut after = before.clone();
    after.head.version = before.head.version.saturating_add(1);
    after.head.updated = now;
    let mut applied = Applied { after, writes: Vec::new(), absent: Vec::new(), vacant: Vec::new() };
    for change in changes {
        applied.take(change, now, index)?;
    }
    applied.digest();
    let head = &applied.after.head;
    applied.writes.push(Write::put(layout::organization(head.id), head)?);
    Ok(applied)
}

/// Builds a new organization. Its version is one.
pub fn found(founding: Founding, now: Millis, index: &IndexKey) -> Result<Applied, Corrupt> {
    let mut applied = apply(&Organization::empty(founding.head), founding.changes, now, index)?;
    let head = &applied.after.head;
    let name = applied.name_place(&head.name, index);
    applied.absent.push(layout::organization(head.id));
    applied.writes.push(Write::mark(child_place(head), &[]));
    applied.writes.extend(name.map(|place| Write::mark(place, &[])));
    Ok(applied)
}

impl Applied {
    /// Binds the records of the snapshot, and those of the activities that wait, to its head.
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

    fn take(&mut self, change: Change, now: Millis, index: &IndexKey) -> Result<(), Corrupt> {
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
                let at = layout::account(id, account.wallet, account.ordinal);
                self.writes.push(Write::put(at, &account)?);
            }
            Change::AddImportTarget(target) => {
                let value = Some(target.encode());
                self.writes.push(Write { key: target.place, value, replaces: false });
            }
            Change::RemoveImportTarget(place) => self.writes.push(Write::remove(place)),
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

    /// Puts a record on its shelf.
    fn put<T: Shelved>(&mut self, one: T) -> Result<(), Corrupt> {
        self.writes.push(Write::put(layout::entity(self.id(), T::entity(one.id())), &one)?);
        T::shelf_mut(&mut self.after).put(one);
        Ok(())
    }

    /// Takes a record off its shelf.
    fn remove<T: Shelved>(&mut self, one: T::Id) {
        self.writes.push(Write::remove(layout::entity(self.id(), T::entity(one))));
        T::shelf_mut(&mut self.after).remove(one);
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
        self.writes.push(Write::mark(layout::leftover(id, wallet), &[]));
    }

    fn remove_interface(&mut self, interface: SmartContractInterfaceId) {
        self.remove::<SmartContractInterface>(interface);
        self.writes.push(Write::remove(layout::interface_text(self.id(), interface)));
    }

    /// Takes everything out but the head, and the organization out of where it is found.
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
        // A child that is founded at the same time would be left without a parent.
        self.vacant.push(layout::children(head.id));
        self.writes.push(Write::remove(child_place(&self.after.head)));
        self.writes.extend(self.name_place(&self.after.head.name, index).map(Write::remove));
    }

    /// Where a sub-organization is found by its name.
    fn name_place(&self, name: &Label, index: &IndexKey) -> Option<Key> {
        let head = &self.after.head;
        let of = head.id.as_bytes();
        Some(layout::found_by(index, head.parent?, Lookup::Name, name.as_str(), head.id, of))
    }

    fn set_name(&mut self, name: Label, index: &IndexKey) {
        let old = std::mem::replace(&mut self.after.head.name, name);
        let name = &self.after.head.name;
        if old != *name {
            let (gone, new) = (self.name_place(&old, index), self.name_place(name, index));
            self.writes.extend(gone.map(Write::remove));
            self.writes.extend(new.map(|place| Write::mark(place, &[])));
        }
    }

    fn put_user(&mut self, user: User, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let old = self
            .after
            .user(user.id)
            .map(|old| finding_keys(&self.after.head, old, index))
            .unwrap_or_default();
        let new = finding_keys(&self.after.head, &user, index);
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
            let keys = finding_keys(&self.after.head, old, index);
            self.writes.extend(keys.into_iter().map(Write::remove));
        }
        self.writes.push(Write::remove(layout::entity(id, Entity::User(user))));
        self.writes.push(Write::mark(layout::departed(id, user), &[]));
        self.after.remove_user(user);
    }

    fn add_account(&mut self, account: &WalletAccount, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let at = layout::account(id, account.wallet, account.ordinal);
        let path = path_key(account, index);
        self.absent.extend([at.clone(), path.clone()]);
        for key in signer_keys(id, account, index) {
            self.writes.push(Write::mark(key, &at));
        }
        if let Some(key) = account_finding_key(&self.after.head, account, index) {
            self.writes.push(Write::mark(key, &[]));
        }
        self.writes.extend(name_key(id, account, index).map(|key| Write::mark(key, &[])));
        self.writes.push(Write::mark(layout::account_place(id, account.id), &at));
        self.writes.push(Write::mark(path, account.id.as_bytes()));
        self.writes.push(Write::put(at, account)?);
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
        let at = layout::account(id, account.wallet, account.ordinal);
        self.writes.push(Write::put(at, &account)?);
        Ok(())
    }

    fn add_private_key(&mut self, key: PrivateKey, index: &IndexKey) -> Result<(), Corrupt> {
        let id = self.id();
        let at = layout::entity(id, Entity::PrivateKey(key.id));
        for signer in private_signer_keys(id, &key, index) {
            self.writes.push(Write::mark(signer, &at));
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

/// Where an organization stands among the children of its parent, or among those without one.
fn child_place(head: &Head) -> Key {
    layout::child(head.parent.unwrap_or(layout::NO_PARENT), head.created, head.id)
}

/// Removes all that is stored of an account.
pub fn account_removal(head: &Head, account: &WalletAccount, index: &IndexKey) -> Vec<Write> {
    let mut keys = signer_keys(head.id, account, index);
    keys.extend(account_finding_key(head, account, index));
    keys.extend(name_key(head.id, account, index));
    keys.push(layout::account_place(head.id, account.id));
    keys.push(path_key(account, index));
    keys.push(layout::account(head.id, account.wallet, account.ordinal));
    keys.into_iter().map(Write::remove).collect()
}

/// The key under which an account lets a sub-organization be found.
fn account_finding_key(head: &Head, account: &WalletAccount, index: &IndexKey) -> Option<Key> {
    let lookup = Lookup::WalletAccountAddress;
    let of = account.id.as_bytes();
    Some(layout::found_by(index, head.parent?, lookup, &account.address, head.id, of))
}

/// The key that says that an account bears its name.
fn name_key(id: OrganizationId, account: &WalletAccount, index: &IndexKey) -> Option<Key> {
    Some(layout::account_name(index, id, account.name.as_ref()?.as_str(), account.id))
}

/// The keys of what an account signs under.
fn signer_keys(id: OrganizationId, account: &WalletAccount, index: &IndexKey) -> Vec<Key> {
    let texts = [&account.address, &account.public_key];
    texts.map(|text| layout::signer(index, id, text, account.id.as_bytes())).into()
}

/// The keys of what a private key signs under.
fn private_signer_keys(id: OrganizationId, key: &PrivateKey, index: &IndexKey) -> Vec<Key> {
    let mut texts = vec![key.public_key.as_str()];
    texts.extend(key.addresses.iter().map(|address| address.address.as_str()));
    texts.dedup();
    texts.into_iter().map(|text| layout::signer(index, id, text, key.id.as_bytes())).collect()
}

/// The key by which the path of an account is taken.
fn path_key(account: &WalletAccount, index: &IndexKey) -> Key {
    let (curve, path, format) = (account.curve.name(), account.path.to_string(), account.format.name());
    layout::account_path(index, account.wallet, curve, &path, format)
}

/// The keys under which a user lets a sub-organization be found.
fn finding_keys(head: &Head, user: &User, index: &IndexKey) -> Vec<Key> {
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
    keys.map(|(lookup, value)| layout::found_by(index, parent, lookup, &value, head.id, of)).collect()
}
