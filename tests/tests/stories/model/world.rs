//! What the daemon should hold, as plain data, and questions about it. Written from the contract of the wire;
//! knows no request and no answer.

use std::collections::{BTreeMap, BTreeSet};

use super::activities::Activity;
use super::decision::{Condition, Consensus};

mod kin;
mod settings;

pub(super) use kin::Kin;
pub(super) use settings::{Allowlist, Block, ContractInterface, Invitation, InvitationStatus};
pub(super) use settings::{PaymentMethod, SessionProfile, Subscription, WebhookEndpoint};

/// All organizations. The first is the parent of the others.
#[derive(Default)]
pub(super) struct World {
    pub(super) organizations: Vec<Organization>,
    /// Sub-organizations that were deleted, as they were.
    pub(super) departed: Vec<Organization>,
    /// Whether there is a mail server.
    pub(super) sends_mail: bool,
    /// All that a sub-organization could ever be found by: filter and value.
    pub(super) traces: Vec<(&'static str, String)>,
}

/// An organization and all that is in it. Lists are in the order in which things were made.
#[derive(Default)]
pub(super) struct Organization {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_child: bool,
    pub(super) threshold: usize,
    /// Ids of the root quorum.
    pub(super) members: BTreeSet<String>,
    pub(super) users: Vec<User>,
    pub(super) tags: Vec<Tag>,
    pub(super) private_keys: Vec<PrivateKey>,
    pub(super) wallets: Vec<Wallet>,
    pub(super) accounts: Vec<Account>,
    pub(super) policies: Vec<Policy>,
    pub(super) invitations: Vec<Invitation>,
    pub(super) webhook_endpoints: Vec<WebhookEndpoint>,
    pub(super) session_profiles: Vec<SessionProfile>,
    pub(super) contract_interfaces: Vec<ContractInterface>,
    /// From where requests of everybody are taken.
    pub(super) allowlist: Option<Allowlist>,
    pub(super) payment_method: Option<PaymentMethod>,
    /// Names with values.
    pub(super) features: BTreeMap<String, Option<String>>,
    pub(super) activities: Vec<Activity>,
    /// Ids of what was deleted.
    pub(super) gone: Vec<String>,
    /// What was ever derived: it stays the same for ever.
    pub(super) derived: Vec<Derived>,
}

/// A user with credentials.
#[derive(Clone, Default)]
pub(super) struct User {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) email: Option<String>,
    pub(super) phone: Option<String>,
    pub(super) tags: BTreeSet<String>,
    pub(super) api_keys: Vec<ApiKey>,
    pub(super) authenticators: Vec<Authenticator>,
    pub(super) providers: Vec<Provider>,
}

/// An API key. Ids that no result tells are learned when they are first listed, here and below.
#[derive(Clone)]
pub(super) struct ApiKey {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) public_key: String,
    /// Curve without its prefix.
    pub(super) curve: &'static str,
    pub(super) life_seconds: Option<u64>,
    /// From where requests with this key are taken.
    pub(super) allowlist: Option<Allowlist>,
}

/// An authenticator.
#[derive(Clone)]
pub(super) struct Authenticator {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) credential: String,
    pub(super) public_key: String,
    pub(super) transports: Vec<&'static str>,
}

/// An identity at an issuer.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) issuer: String,
    pub(super) audience: String,
    pub(super) subject: String,
}

/// What tags are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tagged {
    Users,
    PrivateKeys,
}

/// A tag. Who has it stands with its holders.
pub(super) struct Tag {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) tagged: Tagged,
}

/// A private key.
pub(super) struct PrivateKey {
    pub(super) id: String,
    pub(super) name: String,
    /// Curve without its prefix.
    pub(super) curve: &'static str,
    pub(super) formats: Vec<&'static str>,
    pub(super) addresses: Option<Vec<String>>,
    pub(super) public_key: Option<String>,
    pub(super) tags: BTreeSet<String>,
    pub(super) is_disabled: bool,
}

/// A wallet.
pub(super) struct Wallet {
    pub(super) id: String,
    pub(super) name: String,
}

/// An account of a wallet.
pub(super) struct Account {
    pub(super) id: Option<String>,
    pub(super) wallet: String,
    pub(super) name: Option<String>,
    pub(super) place: Place,
    pub(super) address: String,
    pub(super) public_key: Option<String>,
}

/// Where in a wallet an account stands.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Curve without its prefix.
    pub(super) curve: &'static str,
    pub(super) path: String,
    /// Format of the address without its prefix.
    pub(super) format: &'static str,
}

/// An address that was told for a place of a wallet, kept or only computed.
pub(super) struct Derived {
    pub(super) wallet: String,
    pub(super) place: Place,
    pub(super) address: String,
}

/// A policy.
pub(super) struct Policy {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_denial: bool,
    pub(super) condition: Condition,
    pub(super) consensus: Consensus,
    pub(super) notes: String,
}

impl World {
    /// The organizations in which this public key is registered, the parent first.
    pub(super) fn homes(&self, public_key: &str) -> Vec<&Organization> {
        self.organizations.iter().filter(|organization| organization.holder(public_key).is_some()).collect()
    }
}

impl Organization {
    /// How many tags there may be.
    pub(super) fn tag_limit(&self) -> usize {
        if self.is_child { 10 } else { 100 }
    }

    /// The user of this id.
    pub(super) fn user(&self, id: &str) -> Option<&User> {
        self.users.iter().find(|user| user.id == id)
    }

    /// The user of this id, to be changed.
    pub(super) fn user_mut(&mut self, id: &str) -> &mut User {
        self.users.iter_mut().find(|user| user.id == id).expect("a user that is there")
    }

    /// The user with this API key or passkey.
    pub(super) fn holder(&self, public_key: &str) -> Option<&User> {
        self.users.iter().find(|user| user.public_keys().iter().any(|key| key == public_key))
    }

    /// Whether this user approved with a key that is still theirs: nothing else counts.
    pub(super) fn has_approved(&self, activity: &Activity, user: &str) -> bool {
        activity.votes.iter().any(|vote| {
            vote.is_approval
                && vote.user == user
                && self.holder(&vote.public_key).is_some_and(|holder| holder.id == user)
        })
    }

    /// The tag of this id, if it is for such things.
    pub(super) fn tag(&self, tagged: Tagged, id: &str) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.tagged == tagged && tag.id == id)
    }

    /// The private key of this id.
    pub(super) fn private_key(&self, id: &str) -> Option<&PrivateKey> {
        self.private_keys.iter().find(|key| key.id == id)
    }

    /// The wallet of this id.
    pub(super) fn wallet(&self, id: &str) -> Option<&Wallet> {
        self.wallets.iter().find(|wallet| wallet.id == id)
    }

    /// The account of this id.
    pub(super) fn account(&self, id: &str) -> Option<&Account> {
        self.accounts.iter().find(|account| account.id.as_deref() == Some(id))
    }

    /// The policy of this id.
    pub(super) fn policy(&self, id: &str) -> Option<&Policy> {
        self.policies.iter().find(|policy| policy.id == id)
    }

    /// Whatever can have such tags: ids with tags.
    pub(super) fn holders_mut(
        &mut self,
        tagged: Tagged,
    ) -> Box<dyn Iterator<Item = (&str, &mut BTreeSet<String>)> + '_> {
        match tagged {
            Tagged::Users => Box::new(self.users.iter_mut().map(|user| (user.id.as_str(), &mut user.tags))),
            Tagged::PrivateKeys => {
                Box::new(self.private_keys.iter_mut().map(|key| (key.id.as_str(), &mut key.tags)))
            }
        }
    }

    /// Ids of whatever can have such tags.
    pub(super) fn holder_ids(&self, tagged: Tagged) -> Vec<String> {
        match tagged {
            Tagged::Users => self.user_ids(),
            Tagged::PrivateKeys => self.private_key_ids(),
        }
    }

    /// Ids of the users.
    pub(super) fn user_ids(&self) -> Vec<String> {
        self.users.iter().map(|user| user.id.clone()).collect()
    }

    /// Ids of the tags for such things.
    pub(super) fn tag_ids(&self, tagged: Tagged) -> Vec<String> {
        let tags = self.tags.iter().filter(|tag| tag.tagged == tagged);
        tags.map(|tag| tag.id.clone()).collect()
    }

    /// Ids of the private keys.
    pub(super) fn private_key_ids(&self) -> Vec<String> {
        self.private_keys.iter().map(|key| key.id.clone()).collect()
    }

    /// Ids of the wallets.
    pub(super) fn wallet_ids(&self) -> Vec<String> {
        self.wallets.iter().map(|wallet| wallet.id.clone()).collect()
    }

    /// Ids of the accounts, as far as they are known.
    pub(super) fn account_ids(&self) -> Vec<String> {
        self.accounts.iter().filter_map(|account| account.id.clone()).collect()
    }

    /// Ids of the policies.
    pub(super) fn policy_ids(&self) -> Vec<String> {
        self.policies.iter().map(|policy| policy.id.clone()).collect()
    }

    /// Every id of something that is there, as far as it is known.
    pub(super) fn ids(&self) -> Vec<String> {
        let credentials = self.users.iter().flat_map(User::credential_ids);
        let tags = self.tags.iter().map(|tag| tag.id.clone());
        let mut ids: Vec<String> = credentials.chain(tags).chain(self.user_ids()).collect();
        ids.extend(self.private_key_ids().into_iter().chain(self.wallet_ids()));
        ids.extend(self.account_ids().into_iter().chain(self.policy_ids()));
        ids.extend(self.setting_ids());
        ids
    }

    /// How many of these users can stamp for ever.
    pub(super) fn lasting<'a>(&self, users: impl IntoIterator<Item = &'a String>) -> usize {
        users.into_iter().filter(|id| self.user(id).is_some_and(User::can_always_stamp)).count()
    }

    /// Members of the root quorum who can stamp, each with the public keys to stamp with.
    pub(super) fn voters(&self) -> Vec<(String, Vec<String>)> {
        let members = self.users.iter().filter(|user| self.members.contains(&user.id));
        let voters = members.filter(|user| user.can_stamp());
        voters.map(|user| (user.id.clone(), user.public_keys())).collect()
    }
}

impl User {
    /// Whether there is anything but contacts to sign in with.
    pub(super) fn credential_count(&self) -> usize {
        self.api_keys.len() + self.authenticators.len() + self.providers.len()
    }

    /// Ids of the credentials, as far as they are known.
    pub(super) fn credential_ids(&self) -> Vec<String> {
        let keys = self.api_keys.iter().map(|key| &key.id);
        let authenticators = self.authenticators.iter().map(|authenticator| &authenticator.id);
        let providers = self.providers.iter().map(|provider| &provider.id);
        keys.chain(authenticators).chain(providers).flatten().cloned().collect()
    }

    /// Public keys of the API keys and the passkeys.
    pub(super) fn public_keys(&self) -> Vec<String> {
        let keys = self.api_keys.iter().map(|key| key.public_key.clone());
        keys.chain(self.authenticators.iter().map(|passkey| passkey.public_key.clone())).collect()
    }

    /// Whether there is a key to stamp with that does not expire.
    pub(super) fn can_always_stamp(&self) -> bool {
        self.api_keys.iter().any(|key| key.life_seconds.is_none()) || !self.authenticators.is_empty()
    }

    /// Whether there is a key to stamp with.
    pub(super) fn can_stamp(&self) -> bool {
        !(self.api_keys.is_empty() && self.authenticators.is_empty())
    }
}

impl Place {
    /// The place of a wallet in words that are equal where the derived key is: on Ed25519 every step is
    /// hardened, however it is written.
    pub(super) fn key(&self, wallet: &str) -> [String; 4] {
        let path = if self.curve == "ED25519" { self.path.replace('\'', "") } else { self.path.clone() };
        [wallet.to_owned(), self.curve.to_owned(), path, self.format.to_owned()]
    }
}
