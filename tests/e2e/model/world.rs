//! The expected state of the daemon as plain data. Written from the wire specification; independent of
//! requests and answers.

use std::collections::{BTreeMap, BTreeSet};

use super::activities::{Activity, Vote};
use super::decision::{Condition, Consensus};
use super::mfa::MfaPolicy;

mod relatives;
mod settings;

pub(super) use relatives::Relatives;
pub(super) use settings::{Allowlist, Block, ContractInterface, Invitation, InvitationStatus};
pub(super) use settings::{PaymentMethod, SessionProfile, Subscription, WebhookEndpoint};

/// All organizations. The first is the parent of the others.
#[derive(Default)]
pub(super) struct World {
    pub(super) organizations: Vec<Organization>,
    /// Deleted sub-organizations in their last state.
    pub(super) deleted: Vec<Organization>,
    /// Whether there is a mail server.
    pub(super) sends_mail: bool,
    /// All filters with values that ever matched a sub-organization.
    pub(super) traces: Vec<(&'static str, String)>,
}

/// An organization and its resources. Lists are in creation order.
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
    /// IP allowlist of the organization.
    pub(super) allowlist: Option<Allowlist>,
    pub(super) payment_method: Option<PaymentMethod>,
    /// Read-only sessions, the oldest first.
    pub(super) sessions: Vec<Session>,
    /// Names with values.
    pub(super) features: BTreeMap<String, Option<String>>,
    pub(super) activities: Vec<Activity>,
    /// Ids of deleted resources.
    pub(super) deleted_ids: Vec<String>,
    /// All derived addresses, which never change.
    pub(super) derived: Vec<Derived>,
}

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
    pub(super) mfa_policies: Vec<MfaPolicy>,
}

/// A read-only session of a user.
pub(super) struct Session {
    pub(super) user: String,
    /// Its token, unless only another user got the answer.
    pub(super) token: Option<String>,
}

/// An API key. Here and below, ids that no result reports are learned when first listed.
#[derive(Clone)]
pub(super) struct ApiKey {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) public_key: String,
    /// Curve without its prefix.
    pub(super) curve: &'static str,
    pub(super) life_seconds: Option<u64>,
    /// IP allowlist of the key.
    pub(super) allowlist: Option<Allowlist>,
}

#[derive(Clone)]
pub(super) struct Authenticator {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) credential: String,
    pub(super) public_key: String,
    pub(super) transports: Vec<&'static str>,
}

/// An OAuth identity.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) issuer: String,
    pub(super) audience: String,
    pub(super) subject: String,
}

/// Noun that a tag is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tagged {
    Users,
    PrivateKeys,
}

/// A tag. Its holders have its id.
pub(super) struct Tag {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) tagged: Tagged,
}

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

pub(super) struct Wallet {
    pub(super) id: String,
    pub(super) name: String,
}

pub(super) struct Account {
    pub(super) id: Option<String>,
    pub(super) wallet: String,
    pub(super) name: Option<String>,
    pub(super) derivation: Derivation,
    pub(super) address: String,
    pub(super) public_key: Option<String>,
}

/// Derivation of an account in a wallet.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Derivation {
    /// Curve without its prefix.
    pub(super) curve: &'static str,
    pub(super) path: String,
    /// Format of the address without its prefix.
    pub(super) format: &'static str,
}

/// An address that was reported for a derivation in a wallet, of an account or only derived.
pub(super) struct Derived {
    pub(super) wallet: String,
    pub(super) derivation: Derivation,
    pub(super) address: String,
}

pub(super) struct Policy {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) is_denial: bool,
    pub(super) condition: Condition,
    pub(super) consensus: Consensus,
    pub(super) notes: String,
}

impl World {
    /// Returns the organizations in which this public key is registered, the parent first.
    pub(super) fn organizations_with_key(&self, public_key: &str) -> Vec<&Organization> {
        self.organizations.iter().filter(|organization| organization.holder(public_key).is_some()).collect()
    }
}

impl Organization {
    /// Returns the limit of tags.
    pub(super) fn tag_limit(&self) -> usize {
        if self.is_child { 10 } else { 100 }
    }

    pub(super) fn user(&self, id: &str) -> Option<&User> {
        self.users.iter().find(|user| user.id == id)
    }

    pub(super) fn user_mut(&mut self, id: &str) -> &mut User {
        self.users.iter_mut().find(|user| user.id == id).expect("an existing user")
    }

    /// Returns the user with this API key or passkey.
    pub(super) fn holder(&self, public_key: &str) -> Option<&User> {
        self.users.iter().find(|user| user.public_keys().iter().any(|key| key == public_key))
    }

    /// Returns whether this user approved with a current key of theirs. Other approvals do not count.
    pub(super) fn has_approved(&self, activity: &Activity, user: &str) -> bool {
        self.is_approved_by(&activity.votes, user)
    }

    /// Returns whether this user is among those who approved with a current key of theirs.
    pub(super) fn is_approved_by(&self, votes: &[Vote], user: &str) -> bool {
        votes.iter().any(|vote| {
            vote.is_approval
                && vote.user == user
                && self.holder(&vote.public_key).is_some_and(|holder| holder.id == user)
        })
    }

    /// Returns the tag with this id if it is for this noun.
    pub(super) fn tag(&self, tagged: Tagged, id: &str) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.tagged == tagged && tag.id == id)
    }

    pub(super) fn private_key(&self, id: &str) -> Option<&PrivateKey> {
        self.private_keys.iter().find(|key| key.id == id)
    }

    pub(super) fn wallet(&self, id: &str) -> Option<&Wallet> {
        self.wallets.iter().find(|wallet| wallet.id == id)
    }

    pub(super) fn account(&self, id: &str) -> Option<&Account> {
        self.accounts.iter().find(|account| account.id.as_deref() == Some(id))
    }

    pub(super) fn policy(&self, id: &str) -> Option<&Policy> {
        self.policies.iter().find(|policy| policy.id == id)
    }

    /// Returns the holders of such tags: ids with tags.
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

    /// Returns the ids of the possible holders of such tags.
    pub(super) fn holder_ids(&self, tagged: Tagged) -> Vec<String> {
        match tagged {
            Tagged::Users => self.user_ids(),
            Tagged::PrivateKeys => self.private_key_ids(),
        }
    }

    pub(super) fn user_ids(&self) -> Vec<String> {
        self.users.iter().map(|user| user.id.clone()).collect()
    }

    pub(super) fn tag_ids(&self, tagged: Tagged) -> Vec<String> {
        let tags = self.tags.iter().filter(|tag| tag.tagged == tagged);
        tags.map(|tag| tag.id.clone()).collect()
    }

    pub(super) fn private_key_ids(&self) -> Vec<String> {
        self.private_keys.iter().map(|key| key.id.clone()).collect()
    }

    pub(super) fn wallet_ids(&self) -> Vec<String> {
        self.wallets.iter().map(|wallet| wallet.id.clone()).collect()
    }

    /// Returns the known ids of accounts.
    pub(super) fn account_ids(&self) -> Vec<String> {
        self.accounts.iter().filter_map(|account| account.id.clone()).collect()
    }

    pub(super) fn policy_ids(&self) -> Vec<String> {
        self.policies.iter().map(|policy| policy.id.clone()).collect()
    }

    /// Returns all known ids of existing resources.
    pub(super) fn ids(&self) -> Vec<String> {
        let credentials = self.users.iter().flat_map(User::credential_ids);
        let tags = self.tags.iter().map(|tag| tag.id.clone());
        let mut ids: Vec<String> = credentials.chain(tags).chain(self.user_ids()).collect();
        ids.extend(self.private_key_ids().into_iter().chain(self.wallet_ids()));
        ids.extend(self.account_ids().into_iter().chain(self.policy_ids()));
        ids.extend(self.setting_ids());
        ids
    }

    /// Returns how many of these users have a stamping key that never expires.
    pub(super) fn lasting<'a>(&self, users: impl IntoIterator<Item = &'a String>) -> usize {
        users.into_iter().filter(|id| self.user(id).is_some_and(User::can_always_stamp)).count()
    }

    /// Returns the members of the root quorum who can stamp, each with their public keys.
    pub(super) fn voters(&self) -> Vec<(String, Vec<String>)> {
        let members = self.users.iter().filter(|user| self.members.contains(&user.id));
        let voters = members.filter(|user| user.can_stamp());
        voters.map(|user| (user.id.clone(), user.public_keys())).collect()
    }
}

impl User {
    /// Returns the number of credentials, not counting contacts.
    pub(super) fn credential_count(&self) -> usize {
        self.api_keys.len() + self.authenticators.len() + self.providers.len()
    }

    /// Returns the known ids of the credentials and MFA policies, which end with the user.
    pub(super) fn credential_ids(&self) -> Vec<String> {
        let keys = self.api_keys.iter().map(|key| &key.id);
        let authenticators = self.authenticators.iter().map(|authenticator| &authenticator.id);
        let providers = self.providers.iter().map(|provider| &provider.id);
        let policies = self.mfa_policies.iter().map(|policy| policy.id.clone());
        keys.chain(authenticators).chain(providers).flatten().cloned().chain(policies).collect()
    }

    /// Returns the public keys of API keys and passkeys.
    pub(super) fn public_keys(&self) -> Vec<String> {
        let keys = self.api_keys.iter().map(|key| key.public_key.clone());
        keys.chain(self.authenticators.iter().map(|passkey| passkey.public_key.clone())).collect()
    }

    /// Returns whether the user has a stamping key that does not expire.
    pub(super) fn can_always_stamp(&self) -> bool {
        self.api_keys.iter().any(|key| key.life_seconds.is_none()) || !self.authenticators.is_empty()
    }

    /// Returns whether the user has a stamping key.
    pub(super) fn can_stamp(&self) -> bool {
        !(self.api_keys.is_empty() && self.authenticators.is_empty())
    }
}

impl Derivation {
    /// Returns parts that are equal if the derived key is: on Ed25519 every step is hardened in either
    /// notation.
    pub(super) fn key(&self, wallet: &str) -> [String; 4] {
        let path = if self.curve == "ED25519" { self.path.replace('\'', "") } else { self.path.clone() };
        [wallet.to_owned(), self.curve.to_owned(), path, self.format.to_owned()]
    }
}
