//! The index entries of records: the keys by which an organization, its users and its keys are found.

use quorate_common::ids::OrganizationId;

use crate::model::layout::{self, IndexKey, Key, Lookup};
use crate::model::organization::Head;
use crate::model::user::IdentityProof;
use crate::model::write::{Effect, Write};
use crate::model::{Millis, OauthProvider, PrivateKey, User, WalletAccount};

/// Returns the key of the list entry of an organization under its parent, or among the top-level
/// organizations.
pub(super) fn child_entry(head: &Head) -> Key {
    layout::child(head.parent.unwrap_or(layout::NO_PARENT), head.created, head.id)
}

/// Returns the writes that remove an account and its index entries.
pub fn account_removal(head: &Head, account: &WalletAccount, index: &IndexKey) -> Vec<Write> {
    let record = layout::account(head.id, account.wallet, account.ordinal);
    let entries = account_entries(head, account, &record, index).into_iter().map(|entry| entry.key);
    let mut writes: Vec<Write> = entries.chain([path_key(account, index)]).map(Write::remove).collect();
    writes.push(Write::remove(record).with(Effect::ForgetKey));
    writes
}

/// Returns the index entries of an account, whose record has this key: by its address and public key, by its
/// name and by its id.
pub(super) fn account_entries(
    head: &Head,
    account: &WalletAccount,
    record: &[u8],
    index: &IndexKey,
) -> Vec<Write> {
    let of = account.id.as_bytes();
    let signer = |text| Write::mark(layout::signer(index, head.id, text, of), record);
    let mut entries = vec![signer(&account.address), signer(&account.public_key)];
    let lookup = Lookup::WalletAccountAddress;
    let found = |parent| layout::lookup_entry(index, parent, lookup, &account.address, head.id, of);
    let unvalued = head.parent.map(found).into_iter().chain(name_key(head.id, account, index));
    entries.extend(unvalued.map(|key| Write::mark(key, &[])));
    entries.push(Write::mark(layout::account_index(head.id, account.id), record));
    entries
}

/// Returns the key of the index entry of an account by its name.
pub(super) fn name_key(id: OrganizationId, account: &WalletAccount, index: &IndexKey) -> Option<Key> {
    Some(layout::account_name(index, id, account.name.as_ref()?.as_str(), account.id))
}

/// Returns the keys of the index entries of a private key by its public key and addresses.
pub(super) fn private_signer_keys(id: OrganizationId, key: &PrivateKey, index: &IndexKey) -> Vec<Key> {
    let mut texts = vec![key.public_key.as_str()];
    texts.extend(key.addresses.iter().map(|address| address.address.as_str()));
    texts.dedup();
    texts.into_iter().map(|text| layout::signer(index, id, text, key.id.as_bytes())).collect()
}

/// Returns the key of the index entry of an account by its curve, path and address format.
pub(super) fn path_key(account: &WalletAccount, index: &IndexKey) -> Key {
    let (curve, path, format) = (account.curve.name(), account.path.to_string(), account.format.name());
    layout::account_path(index, account.wallet, curve, &path, format)
}

/// Returns the keys of the index entries of a sub-organization by the name, contacts and credentials of a
/// user.
pub(super) fn user_lookup_keys(head: &Head, user: &User, index: &IndexKey) -> Vec<Key> {
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
    let proven = user.oauth_providers.iter().filter(|one| one.proof > IdentityProof::Claim);
    values.extend(proven.map(|one| (Lookup::OauthIdentity, identity(one))));
    values.extend(established_from_the_start(head, user));
    keys_of(head, user, values, index)
}

/// Returns the keys of all index entries that a user may have: those of [`user_lookup_keys`], and those of keys that were
/// used.
pub(super) fn possible_lookup_keys(head: &Head, user: &User, index: &IndexKey) -> Vec<Key> {
    let lasting = user.api_keys.iter().filter(|key| key.expiration_seconds.is_none());
    let lasting = lasting.map(|key| (Lookup::EstablishedKey, key.public_key.clone())).collect();
    [user_lookup_keys(head, user, index), keys_of(head, user, lasting, index)].concat()
}

/// Returns the values by which a user is known to be found: their credentials that were created together with the
/// organization, by its parent or by the authentication proxy, which checks sign-ups; and identities that a token proved.
fn established_from_the_start(head: &Head, user: &User) -> Vec<(Lookup, String)> {
    let is_first = |created: Millis| created <= head.created;
    let keys = user.api_keys.iter().filter(|key| is_first(key.created));
    let passkeys = user.authenticators.iter().filter(|one| is_first(one.created));
    let identities = user.oauth_providers.iter().filter(|one| match one.proof {
        IdentityProof::Token => true,
        IdentityProof::SamePerson => is_first(one.created),
        IdentityProof::Claim => false,
    });
    keys.map(|key| (Lookup::EstablishedKey, key.public_key.clone()))
        .chain(passkeys.map(|one| (Lookup::EstablishedPasskey, one.credential_id.clone())))
        .chain(identities.map(|one| (Lookup::EstablishedIdentity, identity(one))))
        .collect()
}

fn identity(one: &OauthProvider) -> String {
    layout::identity(&one.issuer, &one.audience, &one.subject)
}

fn keys_of(head: &Head, user: &User, values: Vec<(Lookup, String)>, index: &IndexKey) -> Vec<Key> {
    let Some(parent) = head.parent else { return Vec::new() };
    let of = user.id.as_bytes();
    let key =
        |(lookup, value): (Lookup, String)| layout::lookup_entry(index, parent, lookup, &value, head.id, of);
    values.into_iter().map(key).collect()
}
