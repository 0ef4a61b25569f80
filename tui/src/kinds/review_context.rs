//! The organization as the daemon describes it, used to show names next to ids. These names are stated by the
//! daemon and not proven, so the ids are always shown with them.

use std::collections::BTreeMap;

use quorate_common::console::{OrganizationDetail, Signer};
use quorate_common::ids::UserId;
use quorate_common::wire::{
    ApiKey, Invitation, Policy, PrivateKey, Secret, SmartContractInterface, Tag, User, Wallet,
    WebhookEndpoint,
};

use crate::book::Book;
use crate::text::{clean, quoted};

static NO_BOOK: Book = Book::EMPTY;
static NO_SIGNERS: BTreeMap<String, Signer> = BTreeMap::new();

/// What a kind may read in addition to the signed parameters.
pub(crate) struct ReviewContext<'a> {
    /// The current state of the organization that the activity changes.
    pub(crate) organization: &'a OrganizationDetail,
    /// User who proposed the activity.
    pub(crate) proposer: Option<UserId>,
    /// The viewer's own address book.
    pub(crate) book: &'a Book,
    /// Wallet accounts and keys by the names that the request contains, as the daemon states them.
    pub(crate) signers: &'a BTreeMap<String, Signer>,
}

impl<'a> ReviewContext<'a> {
    /// Creates a context from an organization only: no proposer and an empty address book.
    pub(crate) fn of(organization: &'a OrganizationDetail) -> Self {
        Self { organization, proposer: None, book: &NO_BOOK, signers: &NO_SIGNERS }
    }

    /// Returns the user with this id.
    pub(crate) fn user(&self, id: &str) -> Option<&'a User> {
        by_id(&self.organization.users, id, |one| one.user_id)
    }

    /// Returns the id of the user with an email address, unless several users have it.
    pub(crate) fn only_user_with_email(&self, email: &str) -> Option<String> {
        let same = |own: &str| own.to_lowercase() == email.to_lowercase();
        self.only_user(|user| user.user_email.as_deref().is_some_and(same))
    }

    /// Returns the id of the only user with a contact of one-time codes, in the same way.
    pub(crate) fn only_user_with_contact(&self, contact: &str) -> Option<String> {
        if contact.contains('@') {
            return self.only_user_with_email(contact);
        }
        self.only_user(|user| user.user_phone_number.as_deref() == Some(contact))
    }

    fn only_user(&self, is_holder: impl Fn(&User) -> bool) -> Option<String> {
        let mut holders = self.organization.users.iter().filter(|user| is_holder(user));
        let only = holders.next().filter(|_| holders.next().is_none());
        only.map(|user| user.user_id.to_string())
    }

    /// Returns name and full id of a user.
    pub(crate) fn user_named(&self, id: &str) -> String {
        named(self.user(id).map(|user| user.user_name.as_str()), id)
    }

    /// Returns only the name of a user, marked as stated by the daemon.
    pub(crate) fn user_short(&self, id: &str) -> String {
        self.user(id).map_or_else(|| clean(id), |user| format!("{} [s]", clean(&user.user_name)))
    }

    /// Returns only the name of a user, without the mark: for unverified lists and for challenges.
    pub(crate) fn user_name(&self, id: &str) -> String {
        self.user(id).map_or_else(|| clean(id), |user| clean(&user.user_name))
    }

    /// Returns whether the user is in the root quorum.
    pub(crate) fn is_root(&self, id: &str) -> bool {
        by_id(&self.organization.head.root_quorum.user_ids, id, |member| *member).is_some()
    }

    /// Returns whether another user than this one proposed the activity.
    pub(crate) fn is_proposed_by_other(&self, id: &str) -> bool {
        self.proposer.is_some_and(|proposer| !proposer.to_string().eq_ignore_ascii_case(id))
    }

    /// Returns name and full id of a tag.
    pub(crate) fn tag_named(&self, id: &str) -> String {
        named(self.tag(id).map(|tag| tag.tag_name.as_str()), id)
    }

    /// Returns name and full id of a policy.
    pub(crate) fn policy_named(&self, id: &str) -> String {
        named(self.policy(id).map(|policy| policy.policy_name.as_str()), id)
    }

    /// Returns the policy with this id.
    pub(crate) fn policy(&self, id: &str) -> Option<&'a Policy> {
        by_id(&self.organization.policies, id, |one| one.policy_id)
    }

    /// Returns the tag with this id.
    pub(crate) fn tag(&self, id: &str) -> Option<&'a Tag> {
        by_id(&self.organization.tags, id, |one| one.tag_id)
    }

    /// Returns name and full id of a private key.
    pub(crate) fn private_key_named(&self, id: &str) -> String {
        named(self.private_key(id).map(|key| key.private_key_name.as_str()), id)
    }

    /// Returns the private key with this id.
    pub(crate) fn private_key(&self, id: &str) -> Option<&'a PrivateKey> {
        by_id(&self.organization.private_keys, id, |one| one.private_key_id)
    }

    /// Returns name and full id of a wallet.
    pub(crate) fn wallet_named(&self, id: &str) -> String {
        named(self.wallet(id).map(|wallet| wallet.wallet_name.as_str()), id)
    }

    /// Returns the wallet with this id.
    pub(crate) fn wallet(&self, id: &str) -> Option<&'a Wallet> {
        by_id(&self.organization.wallets, id, |one| one.wallet_id)
    }

    /// Returns name and full id of a secret.
    pub(crate) fn secret_named(&self, id: &str) -> String {
        match self.secret(id) {
            Some(Secret { name: None, .. }) => format!("the unnamed secret ({})", clean(id)),
            found => named(found.and_then(|secret| secret.name.as_deref()), id),
        }
    }

    /// Returns the secret with this id.
    pub(crate) fn secret(&self, id: &str) -> Option<&'a Secret> {
        by_id(&self.organization.secrets, id, |one| one.secret_id)
    }

    /// Returns name and full id of the proposer.
    pub(crate) fn proposer_named(&self) -> String {
        self.proposer
            .map_or_else(|| "the proposer".to_owned(), |proposer| self.user_named(&proposer.to_string()))
    }

    /// Returns receiver name and full id of an invitation.
    pub(crate) fn invitation_named(&self, id: &str) -> String {
        named(self.invitation(id).map(|invitation| invitation.receiver_user_name.as_str()), id)
    }

    /// Returns the invitation with this id.
    pub(crate) fn invitation(&self, id: &str) -> Option<&'a Invitation> {
        by_id(&self.organization.invitations, id, |one| one.invitation_id)
    }

    /// Returns name and full id of a webhook endpoint.
    pub(crate) fn endpoint_named(&self, id: &str) -> String {
        named(self.endpoint(id).map(|endpoint| endpoint.name.as_str()), id)
    }

    /// Returns the webhook endpoint with this id.
    pub(crate) fn endpoint(&self, id: &str) -> Option<&'a WebhookEndpoint> {
        by_id(&self.organization.webhook_endpoints, id, |one| one.endpoint_id)
    }

    /// Returns label and full id of a smart contract interface.
    pub(crate) fn interface_named(&self, id: &str) -> String {
        named(self.interface(id).map(|interface| interface.label.as_str()), id)
    }

    /// Returns the smart contract interface with this id.
    pub(crate) fn interface(&self, id: &str) -> Option<&'a SmartContractInterface> {
        by_id(&self.organization.smart_contract_interfaces, id, |one| one.smart_contract_interface_id)
    }

    /// Returns name, owner and full public key of an API key.
    pub(crate) fn key_named(&self, public_key: &str) -> String {
        let key = clean(public_key);
        match self.key_holder(public_key) {
            Some((user, held)) => {
                let (held, user) = (stated(&held.api_key_name), stated(&user.user_name));
                format!("the API key {held} of {user} (public key {key})")
            }
            None => format!("the API key {key} (not known here)"),
        }
    }

    /// Returns the API key with this public key, and its owner.
    pub(crate) fn key_holder(&self, public_key: &str) -> Option<(&'a User, &'a ApiKey)> {
        self.organization.users.iter().find_map(|user| {
            let mut keys = user.api_keys.iter();
            let held = keys.find(|key| key.credential.public_key.eq_ignore_ascii_case(public_key));
            held.map(|held| (user, held))
        })
    }

    /// Returns the wallet account or the private key of the organization with this name in words, as the daemon
    /// states it.
    pub(crate) fn account_named(&self, name: &str) -> Option<String> {
        let by_record = self.signers.get(name).and_then(|signer| account_text(signer, self.organization));
        by_record.or_else(|| {
            let mut keys = self.organization.private_keys.iter();
            let has = |key: &&PrivateKey| key.addresses.iter().any(|address| address.address == name);
            let held = self.private_key(name).or_else(|| keys.find(has))?;
            Some(format!("private key {}", stated(&held.private_key_name)))
        })
    }

    /// Returns all names by which requests can name the wallet account or the private key with this name, as the daemon
    /// states it.
    pub(crate) fn names_of_signer(&self, name: &str) -> Vec<String> {
        let signer = self.signers.get(name);
        if let Some(account) = signer.and_then(|signer| signer.wallet_account.as_ref()) {
            let mut names = vec![account.address.clone(), account.wallet_account_id.to_string()];
            names.extend(account.public_key.clone());
            return names;
        }
        let by_address = |key: &&PrivateKey| key.addresses.iter().any(|address| address.address == name);
        let stated = signer.and_then(|signer| signer.private_key.as_ref()).or_else(|| self.private_key(name));
        let Some(key) = stated.or_else(|| self.organization.private_keys.iter().find(by_address)) else {
            return Vec::new();
        };
        let mut names: Vec<String> = key.addresses.iter().map(|address| address.address.clone()).collect();
        names.extend([key.private_key_id.to_string(), key.public_key.clone()]);
        names
    }

    /// Returns the name of a private key, found by id or address. Any other signer is named by the given
    /// text.
    pub(crate) fn signer_named(&self, id: &str) -> String {
        let keys = &self.organization.private_keys;
        let by_address = || keys.iter().find(|key| key.addresses.iter().any(|address| address.address == id));
        match self.private_key(id).or_else(by_address) {
            Some(key) => format!("private key {}", named(Some(&key.private_key_name), id)),
            None => format!("the key of {}", clean(id)),
        }
    }
}

/// Returns a wallet account, with its wallet, or a private key in words.
pub(crate) fn account_text(signer: &Signer, organization: &OrganizationDetail) -> Option<String> {
    if let Some(key) = &signer.private_key {
        return Some(format!("private key {}", stated(&key.private_key_name)));
    }
    let account = signer.wallet_account.as_ref()?;
    let mut wallets = organization.wallets.iter();
    let wallet = wallets.find(|wallet| wallet.wallet_id == account.wallet_id);
    let wallet = match wallet {
        Some(wallet) => stated(&wallet.wallet_name),
        None => format!("{} [s]", account.wallet_id),
    };
    let name = account.name.as_ref().map_or_else(String::new, |name| format!("{} ", quoted(name)));
    Some(format!("wallet {wallet}, account {name}{} [s]", clean(&account.path)))
}

/// Finds an object by its id, in either case.
fn by_id<'a, T, I: ToString>(objects: &'a [T], id: &str, id_of: impl Fn(&T) -> I) -> Option<&'a T> {
    objects.iter().find(|one| id_of(one).to_string().eq_ignore_ascii_case(id))
}

/// Returns a name that the daemon states, in quotes and with the mark `[s]`.
pub(crate) fn stated(name: &str) -> String {
    format!("{} [s]", quoted(name))
}

fn named(name: Option<&str>, id: &str) -> String {
    let id = clean(id);
    match name {
        Some(name) => format!("{} ({id})", stated(name)),
        None => format!("{id} (not known here)"),
    }
}

/// Returns a number with its noun: `1 user`, `2 users`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Joins the parts with commas. Returns `none` for an empty list.
pub(crate) fn listed<I: IntoIterator<Item = String>>(parts: I) -> String {
    let parts: Vec<String> = parts.into_iter().collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}
