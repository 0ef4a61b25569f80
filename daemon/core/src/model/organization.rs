//! An organization as one immutable snapshot, with everything that is bounded in number. Wallet accounts,
//! activities and sub-organizations are not limited in number and stay in the store.

mod member;

pub use member::{Member, ParsedPolicy};

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use quorate_common::bounded::Label;
use quorate_common::ids::{OrganizationId, PolicyId, PrivateKeyId, TagId, UserId, WalletId};
use quorate_common::stamp::ApiKeyCurve;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::contents::{Contents, ContentsDigest};
use super::record::Record;
use super::{
    ApiKey, Authenticator, Collections, FeatureName, IpAllowlist, Millis, Passkey, PaymentMethod, Policy,
    PrivateKey, RECORDS, Tag, User, Wallet, origins,
};
use crate::error::Corrupt;

/// The users who act as root together, and how many of them must agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootQuorum {
    /// Number of members who must agree: at least one, at most all.
    pub threshold: u32,
    /// Ids of the members, without duplicates.
    pub members: Vec<UserId>,
}

/// The head of an organization, which is one record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Id.
    pub id: OrganizationId,
    /// Parent of a sub-organization; `None` for a top-level organization.
    pub parent: Option<OrganizationId>,
    /// Name.
    pub name: Label,
    /// Version, which is incremented by each change of the snapshot.
    pub version: u64,
    /// Current root quorum.
    pub quorum: RootQuorum,
    /// Features that are on, with their values.
    pub features: BTreeMap<FeatureName, Option<String>>,
    /// Since when the features are on without interruption. Absent for those that were on when the organization was
    /// created, or that an earlier version enabled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub features_since: BTreeMap<FeatureName, Millis>,
    /// Addresses from which requests are admitted; `None` admits every address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_allowlist: Option<IpAllowlist>,
    /// Recorded payment method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_method: Option<PaymentMethod>,
    /// Product of the active billing tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_tier: Option<String>,
    /// User in whose name the authentication proxy stamps requests. The daemon holds the API key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_proxy: Option<UserId>,
    /// Whether anybody could create the organization: it was registered over the API, or is a sub-organization of such
    /// a tenant.
    #[serde(default)]
    pub registered: bool,
    /// Digest over the records of the snapshot and of the activities that wait for votes. Absent in heads
    /// that version 0.1 wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<ContentsDigest>,
    /// Time of deletion. Only the head and the activities of a deleted organization remain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Millis>,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl Head {
    /// Creates the head of a new organization with a name and a root quorum. Its version is zero until it is
    /// stored.
    pub fn new(
        id: OrganizationId,
        parent: Option<OrganizationId>,
        name: Label,
        quorum: RootQuorum,
        now: Millis,
    ) -> Self {
        Self {
            id,
            parent,
            name,
            version: 0,
            quorum,
            features: BTreeMap::new(),
            features_since: BTreeMap::new(),
            ip_allowlist: None,
            payment_method: None,
            billing_tier: None,
            auth_proxy: None,
            registered: false,
            contents: None,
            deleted: None,
            created: now,
            updated: now,
        }
    }

    /// Returns the id of the top-level organization.
    pub fn tenant(&self) -> OrganizationId {
        self.parent.unwrap_or(self.id)
    }

    /// Returns whether the organization lets a user recover with a key: a feature that permits it is on, and was so all
    /// the time since the key was made. A key that ended with its feature therefore never works again.
    pub fn admits_recovery(&self, user: UserId, key: &ApiKey) -> bool {
        let is_on_since = |name: FeatureName| {
            let since = self.features_since.get(&name).copied().unwrap_or_default();
            self.features.contains_key(&name) && since <= key.created
        };
        is_on_since(FeatureName::EmailRecovery)
            || self.quorum.members.contains(&user) && is_on_since(FeatureName::RootUserEmailRecovery)
    }
}

impl Record for Head {
    const NOUN: &'static str = "organization";
}

/// Memory of the head of an organization and the empty collections, in bytes.
const HEAD_BYTES: usize = 8 * 1024;

/// A snapshot of an organization.
#[derive(Debug, Clone)]
pub struct Organization {
    /// Id, name, version, quorum, features.
    pub head: Head,
    /// Digests of the records of the snapshot, and of the activities that wait for votes.
    pub(crate) contents: Contents,
    members: BTreeMap<UserId, Arc<Member>>,
    policies: BTreeMap<PolicyId, Arc<ParsedPolicy>>,
    by_key: HashMap<(ApiKeyCurve, String), UserId>,
    by_credential: HashMap<String, UserId>,
    /// The records of all other classes.
    pub records: Collections,
}

impl Organization {
    /// Creates a snapshot with nothing but its head.
    pub fn empty(head: Head) -> Self {
        Self {
            head,
            contents: Contents::default(),
            members: BTreeMap::new(),
            policies: BTreeMap::new(),
            by_key: HashMap::new(),
            by_credential: HashMap::new(),
            records: Collections::default(),
        }
    }

    /// Returns the id of the organization.
    pub const fn id(&self) -> OrganizationId {
        self.head.id
    }

    /// Returns the user with this id.
    pub fn user(&self, id: UserId) -> Option<&User> {
        self.members.get(&id).map(|member| &member.user)
    }

    /// Returns the user with this id, with their cached values.
    pub fn member(&self, id: UserId) -> Option<&Member> {
        self.members.get(&id).map(Arc::as_ref)
    }

    /// Returns the number of API keys and passkeys of all users together.
    pub fn credentials(&self) -> usize {
        self.by_key.len().saturating_add(self.by_credential.len())
    }

    /// Returns the approximate memory of the snapshot in bytes.
    pub fn bytes(&self) -> usize {
        let members = self.members.values().map(|member| member.bytes);
        let policies = self.policies.values().map(|policy| policy.bytes);
        let collections = RECORDS.iter().map(|class| (class.bytes)(&self.records));
        members.chain(policies).chain(collections).fold(HEAD_BYTES, usize::saturating_add)
    }

    /// Returns the approximate memory of a cached snapshot in bytes: the snapshot, and the digests of
    /// records. The latter include those of waiting activities, which have a separate limit.
    pub fn cached_bytes(&self) -> usize {
        self.bytes().saturating_add(self.contents.bytes())
    }

    /// Returns the total length of the expressions of all policies and MFA policies, in bytes.
    pub fn policy_bytes(&self) -> usize {
        let mfa_policies = self.users().flat_map(|user| &user.mfa_policies);
        let conditions: usize = mfa_policies.map(|policy| policy.condition.as_str().len()).sum();
        let policies = self.policies().map(|parsed| parsed.policy.expression_bytes());
        policies.fold(conditions, usize::saturating_add)
    }

    /// Returns the users, in order of their ids.
    pub fn users(&self) -> impl Iterator<Item = &User> {
        self.members.values().map(|member| &member.user)
    }

    /// Returns the user whose API key has this public key.
    pub fn holder(&self, curve: ApiKeyCurve, public_key: &str) -> Option<&Member> {
        let id = self.by_key.get(&(curve, public_key.to_owned()))?;
        self.member(*id)
    }

    /// Returns the user whose passkey has this credential id, and the passkey.
    pub fn passkey(&self, credential_id: &str) -> Option<(&User, &Authenticator, &Passkey)> {
        let user = self.user(*self.by_credential.get(credential_id)?)?;
        let (authenticator, passkey) =
            user.passkeys().find(|(authenticator, _)| authenticator.credential_id == credential_id)?;
        Some((user, authenticator, passkey))
    }

    /// Returns the web origins from which passkeys are accepted; empty if the organization lists none.
    pub fn origins(&self) -> Vec<String> {
        self.feature(FeatureName::WebauthnOrigins).flatten().map(origins).unwrap_or_default()
    }

    /// Returns the wallets, in order of their ids.
    pub fn wallets(&self) -> impl Iterator<Item = &Wallet> {
        self.records.wallets.iter()
    }

    /// Returns the wallet with this id.
    pub fn wallet(&self, id: WalletId) -> Option<&Wallet> {
        self.records.wallets.get(id)
    }

    /// Returns the private keys, in order of their ids.
    pub fn private_keys(&self) -> impl Iterator<Item = &PrivateKey> {
        self.records.private_keys.iter()
    }

    /// Returns the private key with this id.
    pub fn private_key(&self, id: PrivateKeyId) -> Option<&PrivateKey> {
        self.records.private_keys.get(id)
    }

    /// Returns the tags, in order of their ids.
    pub fn tags(&self) -> impl Iterator<Item = &Tag> {
        self.records.tags.iter()
    }

    /// Returns the tag with this id.
    pub fn tag(&self, id: TagId) -> Option<&Tag> {
        self.records.tags.get(id)
    }

    /// Returns the policy with this id.
    pub fn policy(&self, id: PolicyId) -> Option<&ParsedPolicy> {
        self.policies.get(&id).map(Arc::as_ref)
    }

    /// Returns the policies, in order of their ids.
    pub fn policies(&self) -> impl Iterator<Item = &ParsedPolicy> {
        self.policies.values().map(Arc::as_ref)
    }

    /// Returns whether the user is a member of the root quorum.
    pub fn is_root(&self, user: UserId) -> bool {
        self.head.quorum.members.contains(&user)
    }

    /// Returns the value of a feature: `None` if it is off, `Some(None)` if it is on without a value.
    pub fn feature(&self, name: FeatureName) -> Option<Option<&str>> {
        self.head.features.get(&name).map(Option::as_deref)
    }

    /// Returns the IP allowlist of the API key with this public key, or that of the organization if
    /// `public_key` is `None`.
    pub fn ip_allowlist(&self, public_key: Option<&str>) -> Option<&IpAllowlist> {
        let Some(public_key) = public_key else { return self.head.ip_allowlist.as_ref() };
        let mut keys = self.users().flat_map(|user| &user.api_keys);
        keys.find_map(|key| key.ip_allowlist.as_ref().filter(|_| key.public_key == public_key))
    }

    /// Returns the features in the wire form.
    pub fn features(&self) -> Vec<wire::Feature> {
        let rows = self.head.features.iter();
        rows.map(|(name, value)| wire::Feature { name: name.name().to_owned(), value: value.clone() })
            .collect()
    }

    /// Returns the root quorum in the wire form.
    pub fn quorum(&self) -> wire::Quorum {
        wire::Quorum { threshold: self.head.quorum.threshold, user_ids: self.head.quorum.members.clone() }
    }

    /// Returns the times of creation and of the last change in the wire form.
    pub fn times(&self) -> (Timestamp, Timestamp) {
        (Timestamp::from_millis(self.head.created), Timestamp::from_millis(self.head.updated))
    }

    /// Adds a user, or replaces the user with the same id.
    pub fn put_user(&mut self, user: User) {
        self.remove_user(user.id);
        for key in &user.api_keys {
            self.by_key.insert((key.curve, key.public_key.clone()), user.id);
        }
        for (authenticator, _) in user.passkeys() {
            self.by_credential.insert(authenticator.credential_id.clone(), user.id);
        }
        self.members.insert(user.id, Arc::new(Member::new(user)));
    }

    /// Removes a user and the index entries of their keys.
    pub fn remove_user(&mut self, id: UserId) {
        if let Some(member) = self.members.remove(&id) {
            for key in &member.user.api_keys {
                self.by_key.remove(&(key.curve, key.public_key.clone()));
            }
            for (authenticator, _) in member.user.passkeys() {
                self.by_credential.remove(&authenticator.credential_id);
            }
        }
    }

    /// Removes a policy.
    pub fn remove_policy(&mut self, id: PolicyId) {
        self.policies.remove(&id);
    }

    /// Adds a policy, or replaces the policy with the same id.
    ///
    /// # Errors
    /// If the expressions do not parse, which the creation of a policy rules out.
    pub fn put_policy(&mut self, policy: Policy) -> Result<(), Corrupt> {
        self.policies.insert(policy.id, Arc::new(ParsedPolicy::new(policy)?));
        Ok(())
    }
}
