//! Keys of index entries by values, of which they contain keyed digests.

use hmac::{Hmac, KeyInit, Mac};
use quorate_common::ids::{ActivityId, OrganizationId, OtpId, WalletAccountId, WalletId};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::{Key, Letter, NO_PARENT, below, key, last_id};

/// The key of the digests of values that are looked up, so that keys of the store do not reveal these values.
#[derive(Clone)]
pub struct IndexKey(Zeroizing<[u8; 32]>);

impl IndexKey {
    /// Creates a key from its secret bytes.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(Zeroizing::new(secret))
    }

    /// Returns a keyed digest that identifies a seed without revealing it.
    pub fn of_seed(&self, seed: &[u8; 64]) -> [u8; 16] {
        self.digest(&[b"seed", seed])
    }

    /// Returns a keyed digest that identifies a receiver of one-time codes without revealing it.
    pub fn of_receiver(&self, [word, receiver]: &[&str; 2]) -> [u8; 16] {
        self.digest(&[b"receiver", word.as_bytes(), receiver.as_bytes()])
    }

    /// Returns a keyed digest that identifies an event in the delivery of a message.
    pub fn of_event(&self, activity: ActivityId, number: u32, sequence: u16) -> [u8; 16] {
        self.digest(&[b"event", activity.as_bytes(), &number.to_be_bytes(), &sequence.to_be_bytes()])
    }

    /// Returns a keyed digest of a one-time code, from which the code cannot be found without the key.
    pub fn of_code(&self, organization: OrganizationId, id: OtpId, code: &str) -> [u8; 16] {
        self.digest(&[b"code", organization.as_bytes(), id.as_bytes(), code.as_bytes()])
    }

    /// Returns a keyed digest that identifies an authorization code of an OAuth 2.0 provider without revealing it.
    pub fn of_authorization_code(&self, code: &str) -> [u8; 16] {
        self.digest(&[b"authorization code", code.as_bytes()])
    }

    fn digest(&self, parts: &[&[u8]]) -> [u8; 16] {
        let mut out = [0; 16];
        // HMAC accepts keys of any length, so this cannot fail; an all-zero digest would only be a useless
        // index.
        if let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(self.0.as_slice()) {
            for part in parts {
                mac.update(&(part.len() as u64).to_be_bytes());
                mac.update(part);
            }
            for (to, from) in out.iter_mut().zip(mac.finalize().into_bytes()) {
                *to = from;
            }
        }
        out
    }
}

/// The values by which sub-organizations can be looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// Name of the organization.
    Name = 1,
    /// Name of a user.
    Username = 2,
    /// Mail address of a user, lowercase.
    Email = 3,
    /// Telephone number of a user.
    PhoneNumber = 4,
    /// Credential id of an authenticator.
    CredentialId = 5,
    /// Public key of an API key, lowercase.
    PublicKey = 6,
    /// Address of a wallet account.
    WalletAccountAddress = 7,
    /// Verified mail address of a user, lowercase.
    VerifiedEmail = 8,
    /// Verified telephone number of a user.
    VerifiedPhoneNumber = 9,
    /// OAuth identity of a user, as [`identity`] writes it. Identities that were only claimed have no entry.
    OauthIdentity = 10,
    /// Public key of an API key that was created together with the sub-organization or used there, lowercase.
    EstablishedKey = 11,
    /// Credential id of an authenticator that was created together with the sub-organization.
    EstablishedPasskey = 12,
    /// OAuth identity that a token proved, or that was created together with the sub-organization.
    EstablishedIdentity = 13,
    /// Activities that wait for votes, in the organization itself too; see [`waiting`].
    Waiting = 14,
}

impl Lookup {
    /// Returns the lookup that finds only credentials that are known to be those of their users. Everybody with a
    /// sub-organization can add entries to the other one for credentials of other people.
    pub const fn established(self) -> Option<Self> {
        match self {
            Self::PublicKey => Some(Self::EstablishedKey),
            Self::CredentialId => Some(Self::EstablishedPasskey),
            Self::OauthIdentity => Some(Self::EstablishedIdentity),
            _ => None,
        }
    }
}

/// Returns the text by which an OAuth identity is looked up: its claims as a JSON array, which is unambiguous.
pub fn identity(issuer: &str, audience: &str, subject: &str) -> String {
    serde_json::json!([issuer, audience, subject]).to_string()
}

/// Returns the key of the index entry of an account by its curve, path and address format.
pub fn account_path(index: &IndexKey, wallet: WalletId, curve: &str, path: &str, format: &str) -> Key {
    let digest = index.digest(&[curve.as_bytes(), path.as_bytes(), format.as_bytes()]);
    key(Letter::AccountPath, &[wallet.as_bytes(), &digest])
}

/// Returns the prefix of the index entries of the accounts of an organization with a name.
pub fn account_names(index: &IndexKey, organization: OrganizationId, name: &str) -> Key {
    key(Letter::AccountName, &[organization.as_bytes(), &index.digest(&[name.as_bytes()])])
}

/// Returns the key of the index entry of an account by its name.
pub fn account_name(
    index: &IndexKey,
    organization: OrganizationId,
    name: &str,
    account: WalletAccountId,
) -> Key {
    below(account_names(index, organization, name), account.as_bytes())
}

/// Parses the account id at the end of a key under [`account_names`].
pub fn named_account(key: &[u8]) -> Option<WalletAccountId> {
    last_id(key).map(WalletAccountId::from_bytes)
}

/// Returns the prefix of the index entries of the signers with a text (address or public key).
pub fn signers(index: &IndexKey, organization: OrganizationId, text: &str) -> Key {
    key(Letter::Signer, &[organization.as_bytes(), &index.digest(&[text.as_bytes()])])
}

/// Returns the key of the index entry of a signer with a text; `id` distinguishes signers with the same text.
pub fn signer(index: &IndexKey, organization: OrganizationId, text: &str, id: &[u8; 16]) -> Key {
    below(signers(index, organization, text), id)
}

/// Returns the key of the index entry of a sub-organization by a value; `of` is the id of the object with the
/// value.
pub fn lookup_entry(
    index: &IndexKey,
    parent: OrganizationId,
    lookup: Lookup,
    value: &str,
    child: OrganizationId,
    of: &[u8; 16],
) -> Key {
    below(below(lookup_entries(index, parent, lookup, value), child.as_bytes()), of)
}

/// Returns the prefix of the index entries of the sub-organizations with a value.
pub fn lookup_entries(index: &IndexKey, parent: OrganizationId, lookup: Lookup, value: &str) -> Key {
    let digest = index.digest(&[value.as_bytes()]);
    key(Letter::LookupEntry, &[parent.as_bytes(), &[lookup as u8], &digest])
}

/// Parses the id of the sub-organization in a key under [`lookup_entries`].
pub fn lookup_child(key: &[u8]) -> Option<OrganizationId> {
    Some(OrganizationId::from_bytes(key.get(34..50)?.try_into().ok()?))
}

/// Returns the key of the index entry of an activity that waits for votes. A tenant, which is a top-level organization,
/// lists those of all its sub-organizations and its own.
pub fn waiting(
    index: &IndexKey,
    tenant: OrganizationId,
    organization: OrganizationId,
    id: ActivityId,
) -> Key {
    lookup_entry(index, tenant, Lookup::Waiting, "", organization, id.as_bytes())
}

/// Returns the prefix of the keys of [`waiting`] of a tenant, or of one of its organizations, oldest first.
pub fn waiting_of(index: &IndexKey, tenant: OrganizationId, only: Option<OrganizationId>) -> Key {
    let mut prefix = lookup_entries(index, tenant, Lookup::Waiting, "");
    if let Some(organization) = only {
        prefix.extend_from_slice(organization.as_bytes());
    }
    prefix
}

/// Returns whether a key is one of [`waiting`] or [`waiting_is_complete`].
pub fn is_waiting(key: &[u8]) -> bool {
    Letter::LookupEntry.starts(key) && key.get(17) == Some(&(Lookup::Waiting as u8))
}

/// Parses the organization and the activity in a key of [`waiting`].
pub fn waiting_activity(key: &[u8]) -> Option<(OrganizationId, ActivityId)> {
    Some((lookup_child(key)?, ActivityId::from_bytes(last_id(key.get(50..)?)?)))
}

/// Returns the key that exists once all waiting activities have an entry of [`waiting`]. Stores of earlier versions
/// have none.
pub fn waiting_is_complete(index: &IndexKey) -> Key {
    lookup_entries(index, NO_PARENT, Lookup::Waiting, "complete")
}
