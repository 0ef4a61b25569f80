//! What a kind or a query may read.

use quorate_common::bounded::Label;
use quorate_common::ids::{
    InvitationId, OrganizationId, PolicyId, PrivateKeyId, TagId, UserId, WalletAccountId, WalletId,
};
use quorate_common::stamp::Stamp;

use crate::model::{
    Millis, Organization, Policy, PrivateKey, Shelved, Tag, TagKind, User, Wallet, WalletAccount, layout,
};
use crate::records;
use crate::refusal::{Clash, Corrupt, Intent, Limit, Missing, Refusal};
use crate::world::{Page, Records, World};

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

/// The organization acted upon, the caller and the instant.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The rest of the world.
    pub world: &'a dyn World,
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
    /// Records that belong to no snapshot.
    pub fn records(&self) -> &'a dyn Records {
        self.world.records()
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
        let found = records::account(self.records(), self.organization.id(), id)?;
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
        let prefix = layout::account_names(self.world.index(), self.organization.id(), name.as_str());
        let mut after: Option<layout::Key> = None;
        loop {
            let page = Page { after: after.as_deref(), ..Page::first(&prefix, NAMED) };
            let keys = self.records().keys(page)?;
            for id in keys.iter().filter_map(|key| layout::named_account(key)) {
                if self.live_account(id)?.is_some_and(|account| account.name.as_ref() == Some(name)) {
                    return free(true, "wallet account");
                }
            }
            if keys.len() < NAMED {
                return Ok(());
            }
            after = keys.into_iter().next_back();
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

/// There is room for `more` beside the `present` ones.
pub fn room(present: usize, more: usize, limit: usize, nouns: &'static str) -> Result<(), Refusal> {
    if present.saturating_add(more) > limit { Err(Limit::Count(nouns, limit).into()) } else { Ok(()) }
}
