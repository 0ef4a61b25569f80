//! The view that a kind gets: one organization, and what the service offers to all of them.

mod interfaces;
mod oauth2;
mod own;

pub use interfaces::KnownInterfaces;
pub use own::OwnRecords;

use std::sync::Arc;

use quorate_chain::curve::{Message, SecretKey, Signature};
use quorate_common::bounded::Label;
use quorate_common::ids::{
    InvitationId, OrganizationId, OtpId, PolicyId, PrivateKeyId, SessionProfileId, TagId, UserId,
    WalletAccountId, WalletId,
};
use quorate_common::stamp::Stamp;

use crate::authentication::Attestation;
use crate::error::{Conflict, Corrupt, Intent, Limit, Missing, RequestError};
use crate::id_token::IssuerKeys;
use crate::interfaces::Interface;
use crate::limits::Limits;
use crate::messages;
use crate::model::last_use::{Credential, CredentialUse, UsedCounter};
use crate::model::record::Record as _;
use crate::model::{
    Millis, Organization, Policy, PrivateKey, SessionProfile, SmartContractInterface, SnapshotRecord, Tag,
    TagKind, User, Wallet, WalletAccount, layout,
};
use crate::origins;
use crate::signer::Signer;
use crate::world::{Installation, World};

/// How many accounts with one name are read at once.
const NAME_CHUNK: usize = 64;

/// The caller, as proven by a stamp.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Organization of the caller.
    pub organization: OrganizationId,
    /// User who stamped the request; zero bytes for a caller who is not a user yet.
    pub user: UserId,
    /// Id of the credential that stamped the request: an API key, an authenticator or an invitation.
    pub credential: [u8; 16],
    /// Credential whose use is recorded. Every session has one of its own.
    pub used: Option<Credential>,
    /// Signature counter that the stamp of a passkey states; zero for others.
    pub signature_count: u32,
    /// Invitation whose key stamped the request, instead of a user's key.
    pub invitation: Option<InvitationId>,
    /// Profile that limits the session of the caller.
    pub session_profile: Option<SessionProfileId>,
    /// Whether a recovery key stamped the request.
    pub is_recovery: bool,
    /// Sign-in that the stamp attests, if its key is registered nowhere.
    pub attestation: Option<Attestation>,
    /// Stamp of the request.
    pub stamp: Stamp,
}

impl Caller {
    /// Returns a user of an organization whose credential has no limits of its own, and no recorded uses.
    pub fn new(organization: &Organization, user: UserId, credential: [u8; 16], stamp: Stamp) -> Self {
        Self {
            organization: organization.id(),
            user,
            credential,
            used: None,
            signature_count: 0,
            invitation: None,
            session_profile: None,
            is_recovery: false,
            attestation: None,
            stamp,
        }
    }

    /// Returns the use of the caller's credential at this time.
    pub fn use_at(&self, at: Millis) -> Option<CredentialUse> {
        let (organization, user) = (self.organization, self.user);
        let value = self.signature_count;
        let counter = (value != 0).then_some(UsedCounter { value, is_new: false, after: 0 });
        self.used.map(|credential| CredentialUse { organization, user, credential, at, counter })
    }
}

/// Where the credential of a stamp is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialScope {
    /// In the organization that the request names, and in its parent.
    OrganizationAndParent,
    /// In the sub-organizations as well: for operations that look up where a key belongs.
    SubOrganizations,
    /// Among the invitations of the organization only.
    Invitations,
}

/// The organization acted upon, the proposer and the time. A view gives access to the records and the keys of
/// this organization only.
#[derive(Clone, Copy)]
pub struct View<'a> {
    world: &'a dyn World,
    /// Organization acted upon.
    pub organization: &'a Organization,
    /// Proposer of the activity.
    pub proposer: UserId,
    /// Invitation that authenticates the proposer, if they are not a user yet.
    pub invitation: Option<InvitationId>,
    /// Time of the request.
    pub now: Millis,
}

impl<'a> View<'a> {
    /// Creates a view of one organization.
    pub fn new(
        world: &'a dyn World,
        organization: &'a Organization,
        proposer: UserId,
        invitation: Option<InvitationId>,
        now: Millis,
    ) -> Self {
        Self { world, organization, proposer, invitation, now }
    }

    /// Returns the records of the organization that are not part of its snapshot.
    pub fn records(&self) -> OwnRecords<'a> {
        OwnRecords::of(self.world, self.organization.id())
    }

    /// Returns the limits of the installation.
    pub fn limits(&self) -> &'a Limits {
        self.world.limits()
    }

    /// Returns how the service is installed.
    pub fn installation(&self) -> &'a dyn Installation {
        self.world.installation()
    }

    /// Returns whether mail can be sent.
    pub fn sends_mail(&self) -> bool {
        self.world.sends_mail()
    }

    /// Returns whether the proposer may customize the sender, the logo and the link of mail: users of a top-level
    /// organization, also in its sub-organizations, unless anybody could register it.
    pub fn allows_branding(&self) -> bool {
        !self.is_registered() && !self.limits_child()
    }

    /// Returns a name for a message that the proposer has sent: as it is, or in plain letters if the tenant may not know who
    /// chose it.
    pub fn shown_name(&self, name: &str) -> String {
        if self.allows_branding() { name.to_owned() } else { messages::plain_name(name) }
    }

    /// Returns whether the messages that the proposer requests are limited because they belong to a sub-organization.
    pub fn limits_child(&self) -> bool {
        let is_child = self.organization.head.parent.is_some();
        is_child
            && self.organization.user(self.proposer).is_some()
            && !self.installation().allows_child_branding()
    }

    /// Returns whether anybody could register the tenant, and the operator does not trust it.
    pub fn is_registered(&self) -> bool {
        let head = &self.organization.head;
        head.registered && !self.installation().trusts(head.tenant())
    }

    /// Returns the parent, if the proposer is a user of a sub-organization.
    ///
    /// # Errors
    /// If the parent does not exist, or its records cannot be read.
    pub fn parent_of_proposer(&self) -> Result<Option<Arc<Organization>>, RequestError> {
        let parent =
            self.organization.head.parent.filter(|_| self.organization.user(self.proposer).is_some());
        let Some(parent) = parent else { return Ok(None) };
        Ok(Some(self.world.organization(parent)?.ok_or(Missing::Organization)?))
    }

    /// Returns the signing keys of an OpenID Connect issuer, as [`World::issuer_keys`] does.
    ///
    /// # Errors
    /// If the issuer is not allowed, or its keys cannot be read.
    pub fn issuer_keys(&self, issuer: &str, key_id: Option<&str>) -> Result<Arc<IssuerKeys>, RequestError> {
        self.world.issuer_keys(issuer, key_id)
    }

    /// Returns whether passkeys are accepted from this web origin.
    ///
    /// # Errors
    /// If the parent organization cannot be read.
    pub fn accepts_origin(&self, origin: &str) -> Result<bool, Corrupt> {
        origins::accepts(self.world, self.organization, origin)
    }

    /// Returns a keyed digest that identifies a seed without revealing it.
    pub fn seed_digest(&self, seed: &[u8; 64]) -> [u8; 16] {
        self.world.index().of_seed(seed)
    }

    /// Returns the keyed digest under which a one-time code of the organization is stored.
    pub fn code_digest(&self, id: OtpId, code: &str) -> [u8; 16] {
        self.world.index().of_code(self.organization.id(), id, code)
    }

    /// Returns the signer with this name in this version of the organization, and resolves it if it is not
    /// cached.
    ///
    /// # Errors
    /// If `resolve` fails.
    pub fn signer(
        &self,
        name: &str,
        resolve: &mut dyn FnMut() -> Result<Signer, RequestError>,
    ) -> Result<Arc<Signer>, RequestError> {
        let head = &self.organization.head;
        let version = head.version.to_be_bytes();
        let name = [head.id.as_bytes(), version.as_slice(), name.as_bytes()].concat();
        self.world.keyring().signer(name, resolve)
    }

    /// Signs with the secret key that belongs to a record of this organization, and loads it if it is not
    /// cached.
    ///
    /// # Errors
    /// If `load` fails, or the signature fails verification.
    pub fn sign(
        &self,
        record_key: &[u8],
        load: &mut dyn FnMut() -> Result<SecretKey, RequestError>,
        message: &Message,
    ) -> Result<Signature, RequestError> {
        if !layout::is_of(record_key, self.organization.id()) {
            return Err(Corrupt::Invariant("a signer belongs to another organization").into());
        }
        self.world.keyring().sign(record_key, load, message)
    }

    /// Returns an interface of the organization, and reads it if it is not cached.
    ///
    /// # Errors
    /// If the organization does not have the interface, or the store cannot be read.
    pub fn interface(&self, of: &SmartContractInterface) -> Result<Arc<Interface>, RequestError> {
        let known = self.collection_item::<SmartContractInterface>(of.id)?;
        let records = self.records();
        let mut read = || {
            let text = records.interface_text(known.id)?;
            Ok(Interface::parse(known.interface_type, text.as_ref().map_or("", |text| text.0.as_str())))
        };
        self.world.interfaces().interface(known.id, &mut read)
    }

    /// Returns the user with this id.
    ///
    /// # Errors
    /// [`Missing::User`] if no such user exists.
    pub fn user(&self, id: UserId) -> Result<&'a User, RequestError> {
        self.organization.user(id).ok_or(RequestError::Missing(Missing::User(id, self.organization.id())))
    }

    /// Returns the wallet with this id.
    ///
    /// # Errors
    /// [`Missing::Record`] if no such record exists.
    pub fn wallet(&self, id: WalletId) -> Result<&'a Wallet, RequestError> {
        self.organization.wallet(id).ok_or_else(|| missing("wallet", id))
    }

    /// Returns the wallet account with this id.
    ///
    /// # Errors
    /// [`Missing::Record`] if no such record exists, or the error of the store.
    pub fn wallet_account(&self, id: WalletAccountId) -> Result<WalletAccount, RequestError> {
        self.live_account(id)?.ok_or_else(|| missing("wallet account", id))
    }

    /// Reads the wallet account with this id. Accounts of a deleted wallet stay in the store until their
    /// cleanup, and are ignored.
    fn live_account(&self, id: WalletAccountId) -> Result<Option<WalletAccount>, Corrupt> {
        let found = self.records().account(id)?;
        Ok(found.filter(|account| self.organization.wallet(account.wallet).is_some()))
    }

    /// Returns the private key with this id.
    ///
    /// # Errors
    /// [`Missing::Record`] if no such record exists.
    pub fn private_key(&self, id: PrivateKeyId) -> Result<&'a PrivateKey, RequestError> {
        self.organization.private_key(id).ok_or_else(|| missing("private key", id))
    }

    /// Returns the record with this id in its collection.
    ///
    /// # Errors
    /// [`Missing::Record`] if no such record exists.
    pub fn collection_item<T: SnapshotRecord>(&self, id: T::Id) -> Result<&'a T, RequestError> {
        T::collection(&self.organization.records).get(id).ok_or_else(|| missing(T::NOUN, id))
    }

    /// Checks that `more` records can be added to their collection.
    ///
    /// # Errors
    /// [`Limit::Count`] if the limit would be exceeded.
    pub fn check_room<T: SnapshotRecord>(&self, more: usize) -> Result<(), RequestError> {
        let present = T::collection(&self.organization.records).len();
        check_limit(present, more, T::limit(&self.limits().records), T::NOUNS, T::COLLECTION)
    }

    /// Returns the session profile with this id, which a sub-organization shares with its parent.
    ///
    /// # Errors
    /// [`Missing::Record`] if no such record exists, or the error of the store.
    pub fn session_profile(&self, id: SessionProfileId) -> Result<SessionProfile, RequestError> {
        session_profile(self.world, self.organization, id)?.ok_or_else(|| missing(SessionProfile::NOUN, id))
    }

    /// Returns the session profiles of the organization, or of its parent if it is a sub-organization.
    ///
    /// # Errors
    /// If the parent cannot be read.
    pub fn session_profiles(&self) -> Result<Vec<SessionProfile>, Corrupt> {
        session_profiles(self.world, self.organization)
    }

    /// Returns the policy with this id.
    ///
    /// # Errors
    /// [`Missing::Record`] if no such record exists.
    pub fn policy(&self, id: PolicyId) -> Result<&'a Policy, RequestError> {
        let found = self.organization.policy(id);
        found.map(|parsed| &parsed.policy).ok_or_else(|| missing("policy", id))
    }

    /// Returns the tag with this id, if it groups objects of this kind.
    ///
    /// # Errors
    /// [`Missing::Record`] if no such record exists.
    pub fn tag(&self, id: TagId, kind: TagKind) -> Result<&'a Tag, RequestError> {
        let found = self.organization.tag(id).filter(|tag| tag.kind == kind);
        found.ok_or_else(|| missing(kind.noun(), id))
    }

    /// Checks that all these tags exist and group objects of this kind.
    ///
    /// # Errors
    /// [`Missing::Record`] for the first that does not.
    pub fn tags_exist(&self, tags: &[TagId], kind: TagKind) -> Result<(), RequestError> {
        tags.iter().try_for_each(|id| self.tag(*id, kind).map(drop))
    }

    /// Checks that no record of a collection has a name, which `has_name` compares.
    ///
    /// # Errors
    /// [`Conflict::Name`] if one has it.
    pub fn name_is_free<T: SnapshotRecord>(&self, has_name: impl Fn(&T) -> bool) -> Result<(), RequestError> {
        check_free(T::collection(&self.organization.records).iter().any(has_name), T::NOUN)
    }

    /// Checks that no wallet account has this name.
    ///
    /// # Errors
    /// [`Conflict::Name`] if one has it, or the error of the store.
    pub fn account_name_is_free(&self, name: &Label) -> Result<(), RequestError> {
        let mut after: Option<layout::Key> = None;
        loop {
            let (ids, last) = self.records().accounts_named(name.as_str(), after.as_ref(), NAME_CHUNK)?;
            let is_last = ids.len() < NAME_CHUNK;
            for id in ids {
                if self.live_account(id)?.is_some_and(|account| account.name.as_ref() == Some(name)) {
                    return check_free(true, "wallet account");
                }
            }
            if is_last {
                return Ok(());
            }
            after = last;
        }
    }

    /// Checks that all wallets and private keys have been exported.
    ///
    /// # Errors
    /// If one of them has not.
    pub fn all_exported(&self) -> Result<(), RequestError> {
        if self.organization.wallets().any(|wallet| !wallet.exported) {
            return Err(Intent::Text("wallet has not been exported").into());
        }
        if self.organization.private_keys().any(|key| !key.exported) {
            return Err(Intent::Text("private key has not been exported").into());
        }
        Ok(())
    }
}

/// Returns the profiles that sessions of an organization may use: its own, or those of its parent.
///
/// # Errors
/// If the parent cannot be read.
pub fn session_profiles(
    world: &dyn World,
    organization: &Organization,
) -> Result<Vec<SessionProfile>, Corrupt> {
    let own = organization.records.session_profiles.iter().cloned();
    let Some(parent) = organization.head.parent else { return Ok(own.collect()) };
    let parent = world.organization(parent)?;
    Ok(parent.map(|parent| parent.records.session_profiles.iter().cloned().collect()).unwrap_or_default())
}

/// Returns a session profile of an organization or of its parent. Profiles never change, and are never deleted.
///
/// # Errors
/// If the parent cannot be read.
pub fn session_profile(
    world: &dyn World,
    organization: &Organization,
    id: SessionProfileId,
) -> Result<Option<SessionProfile>, Corrupt> {
    let own = organization.records.session_profiles.get(id);
    let Some(parent) = organization.head.parent.filter(|_| own.is_none()) else { return Ok(own.cloned()) };
    Ok(world.organization(parent)?.and_then(|parent| parent.records.session_profiles.get(id).cloned()))
}

fn missing(noun: &'static str, id: impl std::fmt::Display) -> RequestError {
    Missing::Record(noun, id.to_string()).into()
}

fn check_free(is_used: bool, noun: &'static str) -> Result<(), RequestError> {
    if is_used { Err(Conflict::Name(noun).into()) } else { Ok(()) }
}

/// Checks that a list is not empty.
///
/// # Errors
/// [`Intent::Empty`] if it is.
pub fn not_empty<T>(list: &[T], name: &'static str) -> Result<(), RequestError> {
    if list.is_empty() { Err(Intent::Empty(name).into()) } else { Ok(()) }
}

/// Checks that no two elements are equal.
///
/// # Errors
/// [`Intent::Duplicate`] if two are.
pub fn distinct<T: Ord>(items: impl IntoIterator<Item = T>, name: &'static str) -> Result<(), RequestError> {
    let mut items: Vec<T> = items.into_iter().collect();
    items.sort_unstable();
    let has_duplicate = items.array_windows().any(|[a, b]| a == b);
    if has_duplicate { Err(Intent::Duplicate(name).into()) } else { Ok(()) }
}

/// Looks up each id of a list, which must not be empty or contain an id twice.
///
/// # Errors
/// If the list is empty, an id occurs twice, or `find` fails.
pub fn look_up_each<Id: Copy + Ord, T>(
    ids: &[Id],
    name: &'static str,
    find: impl FnMut(Id) -> Result<T, RequestError>,
) -> Result<Vec<T>, RequestError> {
    not_empty(ids, name)?;
    distinct(ids, name)?;
    ids.iter().copied().map(find).collect()
}

/// Checks that `more` objects can be added to the `present` ones. `key` is the name of the limit in
/// `[limits]`.
///
/// # Errors
/// [`Limit::Count`] if the limit would be exceeded.
pub fn check_limit(
    present: usize,
    more: usize,
    limit: usize,
    nouns: &'static str,
    key: &'static str,
) -> Result<(), RequestError> {
    let is_exceeded = present.saturating_add(more) > limit;
    if is_exceeded { Err(Limit::Count(nouns, limit, Some(key)).into()) } else { Ok(()) }
}
