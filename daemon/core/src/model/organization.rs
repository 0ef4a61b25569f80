//! An organization as one immutable snapshot: everything that is bounded in number. Wallet accounts,
//! activities and sub-organizations are unbounded and stay in the store.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use quorate_common::bounded::{Label, Text};
use quorate_common::ids::{OrganizationId, PolicyId, PrivateKeyId, TagId, UserId, WalletId};
use quorate_common::stamp::{ApiKeyCurve, StampKey};
use quorate_common::wire::{self, Timestamp};
use quorate_policy::decide::PolicyProgram;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::contents::{Contents, ContentsDigest};
use super::record::Record;
use super::{
    ApiKey, Authenticator, FeatureName, Invitation, IpAllowlist, Millis, Passkey, PaymentMethod, Policy,
    PrivateKey, Secret, SessionProfile, Shelf, SmartContractInterface, Tag, User, Wallet, WebhookEndpoint,
    origins,
};
use crate::refusal::Corrupt;

/// Who may act as root, and how many must agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootQuorum {
    /// How many must agree; at least one, at most as many as there are members.
    pub threshold: u32,
    /// Members, each once.
    pub members: Vec<UserId>,
}

/// The part of an organization that is a record of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Id.
    pub id: OrganizationId,
    /// Parent, for a sub-organization.
    pub parent: Option<OrganizationId>,
    /// Name.
    pub name: Label,
    /// Grows with every change of what this snapshot holds.
    pub version: u64,
    /// Root quorum.
    pub quorum: RootQuorum,
    /// Features that are on, with their values.
    pub features: BTreeMap<FeatureName, Option<String>>,
    /// From which addresses requests are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip_allowlist: Option<IpAllowlist>,
    /// How the service is paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_method: Option<PaymentMethod>,
    /// Product of the billing tier that was activated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub billing_tier: Option<String>,
    /// Digest over the records of the snapshot and of the activities that wait for votes; absent in heads that version 0.1 wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents: Option<ContentsDigest>,
    /// Deleted at. What is left of the organization is its record of activities.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Millis>,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Head {
    /// A new organization: nothing but a name and a root quorum. Its first version is yet to come.
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
            ip_allowlist: None,
            payment_method: None,
            billing_tier: None,
            contents: None,
            deleted: None,
            created: now,
            updated: now,
        }
    }
}

impl Record for Head {
    const NOUN: &'static str = "organization";
}

/// A user with what is computed from the record once.
#[derive(Debug)]
pub struct Member {
    /// The user.
    pub user: User,
    stamp_keys: Vec<OnceLock<Option<StampKeyBox>>>,
    wire: OnceLock<Option<Box<RawValue>>>,
    /// What it takes in memory, once all of it is computed.
    bytes: usize,
}

/// What a parsed API key and its entry in the index take in memory, in bytes.
const KEY_BYTES: usize = 512;
/// What the head of an organization and the empty collections take in memory, in bytes.
const HEAD_BYTES: usize = 8 * 1024;

struct StampKeyBox(StampKey);

impl std::fmt::Debug for StampKeyBox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StampKey")
    }
}

impl Member {
    fn new(user: User) -> Self {
        let stamp_keys: Vec<_> = user.api_keys.iter().map(|_| OnceLock::new()).collect();
        // Beside the user it may hold what votes show of them, which is as long.
        let bytes =
            stamp_keys.len().saturating_mul(KEY_BYTES).saturating_add(user.memory().saturating_mul(2));
        Self { user, stamp_keys, wire: OnceLock::new(), bytes }
    }

    /// The parsed form of the API key with this public key, and the key itself.
    pub fn stamp_key(&self, curve: ApiKeyCurve, public_key: &str) -> Option<(&ApiKey, &StampKey)> {
        let place =
            self.user.api_keys.iter().position(|key| key.curve == curve && key.public_key == public_key)?;
        let key = self.user.api_keys.get(place)?;
        let parsed = self.stamp_keys.get(place)?;
        let parsed = parsed.get_or_init(|| StampKey::parse(key.curve, &key.public_key).ok().map(StampKeyBox));
        parsed.as_ref().map(|parsed| (key, &parsed.0))
    }

    /// The user as votes show them, rendered once.
    pub fn rendered(&self) -> Option<&RawValue> {
        self.wire.get_or_init(|| serde_json::value::to_raw_value(&self.user.wire()).ok()).as_deref()
    }
}

/// A policy with its expressions parsed once.
#[derive(Debug)]
pub struct ParsedPolicy {
    /// The record.
    pub policy: Policy,
    /// The parsed form.
    pub program: PolicyProgram,
    /// What both take in memory.
    bytes: usize,
}

impl ParsedPolicy {
    fn new(policy: Policy) -> Result<Self, Corrupt> {
        let text = Text::as_str;
        let program = PolicyProgram::parse(
            policy.effect.into(),
            policy.condition.as_ref().map(text),
            policy.consensus.as_ref().map(text),
            policy.time.as_ref().map(text),
        );
        let program = program.map_err(|_| Corrupt::Record(Policy::NOUN))?;
        let bytes = policy.memory().saturating_add(program.bytes());
        Ok(Self { policy, program, bytes })
    }
}

/// A snapshot of an organization.
#[derive(Debug, Clone)]
pub struct Organization {
    /// Id, name, version, quorum, features.
    pub head: Head,
    /// Digests of what is stored of it, and of the activities that wait for votes.
    pub(crate) contents: Contents,
    members: BTreeMap<UserId, Arc<Member>>,
    policies: BTreeMap<PolicyId, Arc<ParsedPolicy>>,
    by_key: HashMap<(ApiKeyCurve, String), UserId>,
    by_credential: HashMap<String, UserId>,
    pub(super) wallets: Shelf<Wallet>,
    pub(super) private_keys: Shelf<PrivateKey>,
    pub(super) tags: Shelf<Tag>,
    /// Invitations.
    pub invitations: Shelf<Invitation>,
    /// Endpoints that receive webhooks.
    pub webhook_endpoints: Shelf<WebhookEndpoint>,
    /// Secrets that were brought in, without their values.
    pub secrets: Shelf<Secret>,
    /// What sessions may be limited to.
    pub session_profiles: Shelf<SessionProfile>,
    /// Interfaces of smart contracts, without their texts.
    pub smart_contract_interfaces: Shelf<SmartContractInterface>,
}

impl Organization {
    /// An organization with nothing in it but its head.
    pub fn empty(head: Head) -> Self {
        Self {
            head,
            contents: Contents::default(),
            members: BTreeMap::new(),
            policies: BTreeMap::new(),
            by_key: HashMap::new(),
            by_credential: HashMap::new(),
            wallets: Shelf::default(),
            private_keys: Shelf::default(),
            tags: Shelf::default(),
            invitations: Shelf::default(),
            webhook_endpoints: Shelf::default(),
            secrets: Shelf::default(),
            session_profiles: Shelf::default(),
            smart_contract_interfaces: Shelf::default(),
        }
    }

    /// Id.
    pub const fn id(&self) -> OrganizationId {
        self.head.id
    }

    /// The user, if there is one of this id.
    pub fn user(&self, id: UserId) -> Option<&User> {
        self.members.get(&id).map(|member| &member.user)
    }

    /// The user with their parsed keys.
    pub fn member(&self, id: UserId) -> Option<&Member> {
        self.members.get(&id).map(Arc::as_ref)
    }

    /// How many credentials all users have together.
    pub fn credentials(&self) -> usize {
        self.by_key.len().saturating_add(self.by_credential.len())
    }

    /// Roughly how many bytes the snapshot takes in memory.
    pub fn bytes(&self) -> usize {
        let members = self.members.values().map(|member| member.bytes);
        let policies = self.policies.values().map(|policy| policy.bytes);
        let shelves = [
            self.wallets.bytes(),
            self.private_keys.bytes(),
            self.tags.bytes(),
            self.invitations.bytes(),
            self.webhook_endpoints.bytes(),
            self.secrets.bytes(),
            self.session_profiles.bytes(),
            self.smart_contract_interfaces.bytes(),
        ];
        members.chain(policies).chain(shelves).fold(HEAD_BYTES, usize::saturating_add)
    }

    /// Roughly how many bytes a cache needs for it: the snapshot, and the digests of records, among them those of
    /// activities that wait, which have a limit of their own.
    pub fn cached_bytes(&self) -> usize {
        self.bytes().saturating_add(self.contents.bytes())
    }

    /// The expressions of all policies together, in bytes.
    pub fn policy_bytes(&self) -> usize {
        self.policies().map(|parsed| parsed.policy.expression_bytes()).sum()
    }

    /// Users, in order of their ids.
    pub fn users(&self) -> impl Iterator<Item = &User> {
        self.members.values().map(|member| &member.user)
    }

    /// The user whose API key has this public key.
    pub fn holder(&self, curve: ApiKeyCurve, public_key: &str) -> Option<&Member> {
        let id = self.by_key.get(&(curve, public_key.to_owned()))?;
        self.member(*id)
    }

    /// The user whose passkey has this credential id, and the passkey.
    pub fn passkey(&self, credential_id: &str) -> Option<(&User, &Authenticator, &Passkey)> {
        let user = self.user(*self.by_credential.get(credential_id)?)?;
        let (authenticator, passkey) =
            user.passkeys().find(|(authenticator, _)| authenticator.credential_id == credential_id)?;
        Some((user, authenticator, passkey))
    }

    /// Web origins from which passkeys are taken; none means that it does not say.
    pub fn origins(&self) -> Vec<String> {
        self.feature(FeatureName::WebauthnOrigins).flatten().map(origins).unwrap_or_default()
    }

    /// Wallets, in order of their ids.
    pub fn wallets(&self) -> impl Iterator<Item = &Wallet> {
        self.wallets.iter()
    }

    /// The wallet, if there is one of this id.
    pub fn wallet(&self, id: WalletId) -> Option<&Wallet> {
        self.wallets.get(id)
    }

    /// Private keys, in order of their ids.
    pub fn private_keys(&self) -> impl Iterator<Item = &PrivateKey> {
        self.private_keys.iter()
    }

    /// The private key, if there is one of this id.
    pub fn private_key(&self, id: PrivateKeyId) -> Option<&PrivateKey> {
        self.private_keys.get(id)
    }

    /// Tags, in order of their ids.
    pub fn tags(&self) -> impl Iterator<Item = &Tag> {
        self.tags.iter()
    }

    /// The tag, if there is one of this id.
    pub fn tag(&self, id: TagId) -> Option<&Tag> {
        self.tags.get(id)
    }

    /// The policy, if there is one of this id.
    pub fn policy(&self, id: PolicyId) -> Option<&ParsedPolicy> {
        self.policies.get(&id).map(Arc::as_ref)
    }

    /// Policies, in order of their ids.
    pub fn policies(&self) -> impl Iterator<Item = &ParsedPolicy> {
        self.policies.values().map(Arc::as_ref)
    }

    /// Whether the user is a member of the root quorum.
    pub fn is_root(&self, user: UserId) -> bool {
        self.head.quorum.members.contains(&user)
    }

    /// Value of a feature: `None` when it is off, `Some(None)` when it is on without a value.
    pub fn feature(&self, name: FeatureName) -> Option<Option<&str>> {
        self.head.features.get(&name).map(Option::as_deref)
    }

    /// The IP allowlist of the API key with this public key, or of the organization.
    pub fn ip_allowlist(&self, public_key: Option<&str>) -> Option<&IpAllowlist> {
        let Some(public_key) = public_key else { return self.head.ip_allowlist.as_ref() };
        let mut keys = self.users().flat_map(|user| &user.api_keys);
        keys.find_map(|key| key.ip_allowlist.as_ref().filter(|_| key.public_key == public_key))
    }

    /// Features as the wire lists them.
    pub fn features(&self) -> Vec<wire::Feature> {
        let rows = self.head.features.iter();
        rows.map(|(name, value)| wire::Feature { name: name.name().to_owned(), value: value.clone() })
            .collect()
    }

    /// The root quorum as the wire shows it.
    pub fn quorum(&self) -> wire::Quorum {
        wire::Quorum { threshold: self.head.quorum.threshold, user_ids: self.head.quorum.members.clone() }
    }

    /// Times as the wire shows them: created, updated.
    pub fn times(&self) -> (Timestamp, Timestamp) {
        (Timestamp::of_millis(self.head.created), Timestamp::of_millis(self.head.updated))
    }

    /// Puts a user in the place of the one with the same id.
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

    /// Takes a user out, with their keys.
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

    /// Takes a policy out.
    pub fn remove_policy(&mut self, id: PolicyId) {
        self.policies.remove(&id);
    }

    /// Puts a policy in the place of the one with the same id. Fails when its expressions do not parse, which
    /// creation has ruled out.
    pub fn put_policy(&mut self, policy: Policy) -> Result<(), Corrupt> {
        self.policies.insert(policy.id, Arc::new(ParsedPolicy::new(policy)?));
        Ok(())
    }
}
