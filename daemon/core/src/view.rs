//! What a kind may look at: one organization, and what the service offers to all of them.

mod own;

pub use own::OwnRecords;

use std::sync::Arc;

use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_common::bounded::Label;
use quorate_common::ids::{
    InvitationId, OrganizationId, PolicyId, PrivateKeyId, TagId, UserId, WalletAccountId, WalletId,
};
use quorate_common::stamp::Stamp;

use crate::interfaces::Interface;
use crate::limits::Limits;
use crate::model::{
    Millis, Organization, Policy, PrivateKey, Shelved, SmartContractInterface, Tag, TagKind, User, Wallet,
    WalletAccount, layout,
};
use crate::origins;
use crate::policy::DenyErrors;
use crate::refusal::{Clash, Corrupt, Intent, Limit, Missing, Refusal};
use crate::signing::Signer;
use crate::world::{QuorumKey, World};

/// How many accounts of a name are looked at in one page.
const NAMED: usize = 64;

/// Who asks, as proven by a stamp.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Organization of the user.
    pub organization: OrganizationId,
    /// The user.
    pub user: UserId,
    /// Id of the credential that stamped: of an API key, an authenticator or an invitation.
    pub credential: [u8; 16],
    /// The invitation whose key stamped, in place of a user's.
    pub invitation: Option<InvitationId>,
    /// The stamp.
    pub stamp: Stamp,
}

/// The organization acted upon, the caller and the instant. The rest of the world is out of reach: whoever holds a view
/// can read the records of this organization and sign with its keys, and nothing of another one.
#[derive(Clone, Copy)]
pub struct View<'a> {
    world: &'a dyn World,
    /// The organization acted upon.
    pub organization: &'a Organization,
    /// Who asked.
    pub proposer: UserId,
    /// The invitation by which they ask, if they are no user yet.
    pub invitation: Option<InvitationId>,
    /// Now.
    pub now: Millis,
}

impl<'a> View<'a> {
    /// A view of one organization.
    pub fn new(
        world: &'a dyn World,
        organization: &'a Organization,
        proposer: UserId,
        invitation: Option<InvitationId>,
        now: Millis,
    ) -> Self {
        Self { world, organization, proposer, invitation, now }
    }

    /// Records of the organization that belong to no snapshot.
    pub fn records(&self) -> OwnRecords<'a> {
        OwnRecords::of(self.world, self.organization.id())
    }

    /// Limits of the installation.
    pub fn limits(&self) -> &'a Limits {
        self.world.limits()
    }

    /// Whether mail can be sent.
    pub fn sends_mail(&self) -> bool {
        self.world.sends_mail()
    }

    /// Whether a text may be set as the URL of a webhook. The error says why not.
    pub fn webhook_allowed(&self, url: &str) -> Result<(), &'static str> {
        self.world.webhook_allowed(url)
    }

    /// Whether passkeys are taken from this web origin.
    pub fn takes_origin(&self, origin: &str) -> Result<bool, Corrupt> {
        origins::takes(self.world, self.organization, origin)
    }

    /// What becomes of denying policies that fail.
    pub fn deny_errors(&self) -> DenyErrors {
        self.world.deny_errors()
    }

    /// The key that vouches for bundles.
    pub fn quorum_key(&self) -> &'a dyn QuorumKey {
        self.world.quorum_key()
    }

    /// Tells seeds apart without telling anything of them.
    pub fn seed_digest(&self, seed: &[u8; 64]) -> [u8; 16] {
        self.world.index().of_seed(seed)
    }

    /// Who signs in this version of the organization under a name, resolved if it is not at hand.
    pub fn signer(
        &self,
        name: &str,
        resolve: &mut dyn FnMut() -> Result<Signer, Refusal>,
    ) -> Result<Arc<Signer>, Refusal> {
        let head = &self.organization.head;
        let version = head.version.to_be_bytes();
        let name = [head.id.as_bytes(), version.as_slice(), name.as_bytes()].concat();
        self.world.keyring().signer(name, resolve)
    }

    /// Signs with the key of this organization that belongs to a record, loaded if it is not at hand.
    pub fn sign(
        &self,
        place: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, Refusal>,
        message: &Message,
    ) -> Result<Signature, Refusal> {
        if !layout::is_of(place, self.organization.id()) {
            return Err(Corrupt::Invariant("a key of another organization").into());
        }
        self.world.keyring().sign(place, load, message)
    }

    /// An interface of the organization, read if it is not at hand.
    pub fn interface(&self, of: &SmartContractInterface) -> Result<Arc<Interface>, Refusal> {
        let known = self.shelved::<SmartContractInterface>(of.id)?;
        let records = self.records();
        let mut read = || {
            let text = records.interface_text(known.id)?;
            Ok(Interface::parse(&known.interface_type, text.as_ref().map_or("", |text| text.0.as_str())))
        };
        self.world.library().interface(known.id, &mut read)
    }

    /// The user of this id.
    pub fn user(&self, id: UserId) -> Result<&'a User, Refusal> {
        self.organization.user(id).ok_or(Refusal::Missing(Missing::User(id, self.organization.id())))
    }

    /// The wallet of this id.
    pub fn wallet(&self, id: WalletId) -> Result<&'a Wallet, Refusal> {
        self.organization.wallet(id).ok_or_else(|| missing("wallet", id))
    }

    /// The wallet account of this id.
    pub fn wallet_account(&self, id: WalletAccountId) -> Result<WalletAccount, Refusal> {
        self.live_account(id)?.ok_or_else(|| missing("wallet account", id))
    }

    /// The wallet account of this id. Those of a deleted wallet are still in the store until they are swept.
    fn live_account(&self, id: WalletAccountId) -> Result<Option<WalletAccount>, Corrupt> {
        let found = self.records().account(id)?;
        Ok(found.filter(|account| self.organization.wallet(account.wallet).is_some()))
    }

    /// The private key of this id.
    pub fn private_key(&self, id: PrivateKeyId) -> Result<&'a PrivateKey, Refusal> {
        self.organization.private_key(id).ok_or_else(|| missing("private key", id))
    }

    /// The record of this id on its shelf.
    pub fn shelved<T: Shelved>(&self, id: T::Id) -> Result<&'a T, Refusal> {
        T::shelf(self.organization).get(id).ok_or_else(|| missing(T::NOUN, id))
    }

    /// The policy of this id.
    pub fn policy(&self, id: PolicyId) -> Result<&'a Policy, Refusal> {
        let found = self.organization.policy(id);
        found.map(|parsed| &parsed.policy).ok_or_else(|| missing("policy", id))
    }

    /// The tag of this id, if it groups things of this kind.
    pub fn tag(&self, id: TagId, kind: TagKind) -> Result<&'a Tag, Refusal> {
        let found = self.organization.tag(id).filter(|tag| tag.kind == kind);
        found.ok_or_else(|| missing(kind.noun(), id))
    }

    /// All these tags exist and group things of this kind.
    pub fn tags_exist(&self, tags: &[TagId], kind: TagKind) -> Result<(), Refusal> {
        tags.iter().try_for_each(|id| self.tag(*id, kind).map(drop))
    }

    /// No wallet bears this name.
    pub fn wallet_name_is_free(&self, name: &Label) -> Result<(), Refusal> {
        free(self.organization.wallets().any(|wallet| wallet.name == *name), "wallet")
    }

    /// No wallet account bears this name.
    pub fn account_name_is_free(&self, name: &Label) -> Result<(), Refusal> {
        let mut after: Option<layout::Key> = None;
        loop {
            let (ids, last) = self.records().accounts_named(name.as_str(), after.as_ref(), NAMED)?;
            let is_last = ids.len() < NAMED;
            for id in ids {
                if self.live_account(id)?.is_some_and(|account| account.name.as_ref() == Some(name)) {
                    return free(true, "wallet account");
                }
            }
            if is_last {
                return Ok(());
            }
            after = last;
        }
    }

    /// No secret bears this name.
    pub fn secret_name_is_free(&self, name: &Label) -> Result<(), Refusal> {
        free(self.organization.secrets.iter().any(|one| one.name.as_ref() == Some(name)), "secret")
    }

    /// No private key bears this name.
    pub fn private_key_name_is_free(&self, name: &Label) -> Result<(), Refusal> {
        free(self.organization.private_keys().any(|key| key.name == *name), "private key")
    }
}

fn missing(noun: &'static str, id: impl std::fmt::Display) -> Refusal {
    Missing::Record(noun, id.to_string()).into()
}

fn free(taken: bool, noun: &'static str) -> Result<(), Refusal> {
    if taken { Err(Clash::Name(noun).into()) } else { Ok(()) }
}

/// A list that needs at least one element has one.
pub fn not_empty<T>(list: &[T], name: &'static str) -> Result<(), Refusal> {
    if list.is_empty() { Err(Intent::Empty(name).into()) } else { Ok(()) }
}

/// No two elements are equal.
pub fn distinct<T: Ord>(items: impl IntoIterator<Item = T>, name: &'static str) -> Result<(), Refusal> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    let twice = items.array_windows().any(|[a, b]| a == b);
    if twice { Err(Intent::Twice(name).into()) } else { Ok(()) }
}

/// There is room for `more` beside the `present` ones. `key` names the limit in `[limits]`.
pub fn room(
    present: usize,
    more: usize,
    limit: usize,
    nouns: &'static str,
    key: &'static str,
) -> Result<(), Refusal> {
    let is_over = present.saturating_add(more) > limit;
    if is_over { Err(Limit::Count(nouns, limit, Some(key)).into()) } else { Ok(()) }
}
