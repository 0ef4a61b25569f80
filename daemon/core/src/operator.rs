//! Reads for the console: of every organization, without a caller. This module only reads; votes need stamps.

mod activities;
mod history;
mod inbox;
mod invitations;
mod location;
mod log;
mod messages;
mod sub_organizations;
mod webhooks;

pub(crate) use activities::find;
pub use activities::{ActivityQuery, activities, review};
pub use history::{HistoryQuery, history};
pub use inbox::inbox;
pub use location::location;
pub use messages::messages;
pub use sub_organizations::with_contact;
pub use webhooks::{Repeated, active_webhook, repeated_webhook, webhook_deliveries, webhook_receivers};

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_chain::transaction::{TransactionType, Unsigned};
use quorate_common::console::{
    AccountPage, OrganizationDetail, OrganizationHead, OrganizationPage, PAGE_LIMIT, ParkedDeliveries,
    ParkedPage, RuleInputs, Signer,
};
use quorate_common::ids::{OrganizationId, UserId, WalletAccountId, WalletId};
use quorate_common::wire::{self, Timestamp};
use quorate_policy::request::{kind_of, lookup_names};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::{Intent, Missing, RequestError};
use crate::last_use;
use crate::model::layout::{self, outbox::Destination};
use crate::model::organization::Head;
use crate::model::{
    ActivityRecord, Millis, Organization, PaymentMethod, PrivateKey, User, Wallet, WalletAccount,
};
use crate::outbox;
use crate::pipeline::Pending;
use crate::policy::{self, DenyErrors};
use crate::records;
use crate::signing;
use crate::view::View;
use crate::world::{Page, World};

/// Returns a page of the sub-organizations of an organization, or of the top-level organizations.
///
/// # Errors
/// If there is no organization `after`, or the store cannot be read.
pub fn organizations(
    world: &dyn World,
    parent: Option<OrganizationId>,
    after: Option<OrganizationId>,
    limit: usize,
) -> Result<OrganizationPage, RequestError> {
    let limit = limit.clamp(1, PAGE_LIMIT);
    let parent = parent.unwrap_or(layout::NO_PARENT);
    let after = match after {
        None => None,
        Some(id) => {
            let head = records::head(world.records(), id)?.ok_or(Missing::Organization)?;
            Some(layout::child(parent, head.created, id))
        }
    };
    let prefix = layout::children(parent);
    let page = Page { after: after.as_deref(), ..Page::first(&prefix, limit) };
    let ids = world.records().keys(page)?;
    let next = ids.last().and_then(|key| layout::organization_id(key)).filter(|_| ids.len() == limit);
    let mut organizations = Vec::with_capacity(ids.len());
    for id in ids.iter().filter_map(|key| layout::organization_id(key)) {
        // An organization may be deleted between the two reads.
        let found = records::head(world.records(), id)?.filter(|head| head.deleted.is_none());
        organizations.extend(found.map(|found| configured_head(world, &found)));
    }
    Ok(OrganizationPage { organizations, next })
}

/// Returns a page of the destinations with parked deliveries, after the cursor of an earlier page.
///
/// # Errors
/// If the cursor is invalid, or the store cannot be read.
pub fn parked(world: &dyn World, after: Option<&str>, limit: usize) -> Result<ParkedPage, RequestError> {
    let limit = limit.clamp(1, PAGE_LIMIT);
    let after = after.map(|text| destination(text).ok_or(Intent::Cursor)).transpose()?;
    let rows = outbox::parked(world.records(), after.as_ref(), limit)?;
    let next = rows.last().filter(|_| rows.len() == limit).map(|(last, _)| match last.endpoint {
        Some(endpoint) => format!("{}.{endpoint}", last.organization),
        None => last.organization.to_string(),
    });
    let destinations = rows.into_iter().filter_map(|(destination, parked)| {
        let parked = parked?;
        Some(ParkedDeliveries {
            organization_id: destination.organization,
            endpoint_id: destination.endpoint,
            parked: parked.parked,
            unreadable: parked.unreadable,
            first_parked_at: Timestamp::from_millis(parked.first),
            last_parked_at: Timestamp::from_millis(parked.last),
            oldest_activity_id: parked.oldest,
            newest_activity_id: parked.newest,
        })
    });
    Ok(ParkedPage { destinations: destinations.collect(), next })
}

/// Parses a cursor: the id of an organization, and the id of an endpoint if the destination has one.
fn destination(text: &str) -> Option<Destination> {
    let (organization, endpoint) = match text.split_once('.') {
        Some((organization, endpoint)) => (organization, Some(endpoint.parse().ok()?)),
        None => (text, None),
    };
    Some(Destination { organization: organization.parse().ok()?, endpoint })
}

/// Returns an organization with everything that is bounded in number.
///
/// # Errors
/// If there is no such organization, or the store cannot be read.
pub fn organization(world: &dyn World, id: OrganizationId) -> Result<OrganizationDetail, RequestError> {
    let organization = load_organization(world, id)?;
    Ok(OrganizationDetail {
        head: configured_head(world, &organization.head),
        read_only_sessions: last_use::read_only_sessions(&organization),
        last_uses: last_use::of_organization(world, &organization)?,
        invitation_mails: invitations::invitation_mails(world, &organization)?,
        ..detail(&organization)
    })
}

/// Returns a page of the accounts of a wallet.
///
/// # Errors
/// If there is no such organization, wallet or account `after`, or the store cannot be read.
pub fn accounts(
    world: &dyn World,
    organization: OrganizationId,
    wallet: WalletId,
    after: Option<WalletAccountId>,
    limit: usize,
) -> Result<AccountPage, RequestError> {
    let limit = limit.clamp(1, PAGE_LIMIT);
    load_organization(world, organization)?.wallet(wallet).ok_or(Missing::Other("wallet"))?;
    let after = match after {
        None => None,
        Some(id) => Some(records::account_key(world.records(), organization, id)?.ok_or(Intent::Cursor)?),
    };
    let rows = records::accounts(world.records(), organization, Some(wallet), after.as_deref(), limit)?;
    let next = rows.last().map(|last| last.id).filter(|_| rows.len() == limit);
    Ok(AccountPage { accounts: rows.iter().map(|account| account.wire(organization, None)).collect(), next })
}

/// Returns the wallet account or private key with this address, public key or id, and the interface of the
/// contract with this address.
///
/// # Errors
/// If nothing has this name, there is no such organization, or the store cannot be read.
pub fn signer(
    world: &dyn World,
    organization: OrganizationId,
    name: &str,
    now: Millis,
) -> Result<Signer, RequestError> {
    let snapshot = load_organization(world, organization)?;
    let contract = contract(world, &snapshot, name)?;
    let account_of = |account: &WalletAccount, contract| Signer {
        wallet_account: Some(account.wire(organization, None)),
        contract,
        ..Signer::default()
    };
    if let Ok(id) = name.parse::<WalletAccountId>()
        && let Some(key) = records::account_key(world.records(), organization, id)?
        && let Some(account) = records::account_at(world.records(), &key)?
    {
        return Ok(account_of(&account, contract));
    }
    // What a name resolves to does not depend on the caller.
    let nobody = UserId::from_bytes([0; 16]);
    let view = View::new(world, &snapshot, nobody, None, now);
    let signer = match signing::resolve(&view, name) {
        Ok(signer) => signer,
        Err(RequestError::Missing(_)) if contract.is_some() => {
            return Ok(Signer { contract, ..Signer::default() });
        }
        Err(error) => return Err(error),
    };
    if let Some(account) = signer.account() {
        return Ok(account_of(account, contract));
    }
    let private_key = signer.private_key().map(PrivateKey::wire);
    Ok(Signer { private_key, contract, ..Signer::default() })
}

/// Returns the interface of the contract with this address, with its text.
fn contract(
    world: &dyn World,
    organization: &Organization,
    address: &str,
) -> Result<Option<wire::SmartContractInterface>, RequestError> {
    let mut interfaces = organization.records.smart_contract_interfaces.iter();
    let Some(found) = interfaces.find(|one| one.is_at(address)) else { return Ok(None) };
    let text = records::interface_text(world.records(), organization.id(), found.id)?;
    Ok(text.map(|text| found.wire(organization.id(), text)))
}

/// Returns the addresses of the contracts that a request to sign a transaction calls.
fn contracts(activity_type: &str, parameters: &RawValue) -> Vec<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Parameters {
        unsigned_transaction: String,
        #[serde(rename = "type")]
        kind: TransactionType,
    }
    if kind_of(activity_type) != "SIGN_TRANSACTION" {
        return Vec::new();
    }
    let parsed: Option<Parameters> = serde_json::from_str(parameters.get()).ok();
    let read = parsed.and_then(|parsed| Unsigned::read(parsed.kind, &parsed.unsigned_transaction).ok());
    read.map(|transaction| transaction.contracts()).unwrap_or_default()
}

/// Returns the signers, contracts and settings that the policies of a waiting activity depend on.
fn rule_inputs(
    world: &dyn World,
    record: &ActivityRecord,
    pending: &Pending<'_>,
    now: Millis,
) -> Result<RuleInputs, RequestError> {
    let activity_type = pending.entry().activity_type;
    let names = policy::parameters(pending.intent()).map(|parameters| {
        let called = contracts(activity_type, parameters);
        lookup_names(activity_type, parameters).into_iter().chain(called)
    });
    let mut signers = BTreeMap::new();
    for name in names.into_iter().flatten() {
        match signer(world, record.organization, &name, now) {
            Ok(found) => drop(signers.insert(name, found)),
            Err(RequestError::Corrupt(error)) => return Err(error.into()),
            Err(_) => {}
        }
    }
    Ok(RuleInputs { signers, strict_deny_errors: world.installation().deny_errors() == DenyErrors::Deny })
}

fn load_organization(world: &dyn World, id: OrganizationId) -> Result<Arc<Organization>, RequestError> {
    world.organization(id)?.ok_or(RequestError::Missing(Missing::Organization))
}

/// Returns the summary of an organization, with what the configuration states about it.
fn configured_head(world: &dyn World, found: &Head) -> OrganizationHead {
    let trusted = found.registered.then(|| world.installation().trusts(found.tenant()));
    OrganizationHead { trusted, ..head(found) }
}

fn head(head: &Head) -> OrganizationHead {
    OrganizationHead {
        organization_id: head.id,
        organization_name: head.name.to_string(),
        parent_organization_id: head.parent,
        version: head.version,
        root_quorum: wire::Quorum { threshold: head.quorum.threshold, user_ids: head.quorum.members.clone() },
        registered: head.registered.then_some(true),
        trusted: None,
        created_at: wire::Timestamp::from_millis(head.created),
        updated_at: wire::Timestamp::from_millis(head.updated),
    }
}

/// Returns the IP allowlists of an organization and of its API keys.
fn ip_allowlists(organization: &Organization) -> Vec<wire::IpAllowlist> {
    let id = organization.id();
    let own = organization.head.ip_allowlist.iter().map(|list| list.wire(id, None));
    let keys = organization.users().flat_map(|user| &user.api_keys);
    let keys = keys.filter_map(|key| Some(key.ip_allowlist.as_ref()?.wire(id, Some(key.public_key.clone()))));
    own.chain(keys).collect()
}

/// Returns an organization with everything that is bounded in number.
pub(crate) fn detail(organization: &Organization) -> OrganizationDetail {
    let mut users: Vec<_> = organization.users().collect();
    users.sort_by_key(|user| (user.created, user.id));
    let mut detail = OrganizationDetail {
        users: users.into_iter().map(User::wire).collect(),
        policies: organization.policies().map(|parsed| parsed.policy.wire()).collect(),
        features: organization.features(),
        ip_allowlists: ip_allowlists(organization),
        payment_method: organization.head.payment_method.as_ref().map(PaymentMethod::wire),
        billing_tier: organization.head.billing_tier.clone(),
        auth_proxy_user_id: organization.head.auth_proxy,
        ..OrganizationDetail::of(head(&organization.head))
    };
    organization.records.show(organization.id(), &mut detail);
    // In the order of creation. Times on the wire have whole seconds only.
    let mut wallets: Vec<_> = organization.wallets().collect();
    wallets.sort_by_key(|wallet| (wallet.created, wallet.id));
    detail.wallets = wallets.into_iter().map(Wallet::wire).collect();
    let mut keys: Vec<_> = organization.private_keys().collect();
    keys.sort_by_key(|key| (key.created, key.id));
    detail.private_keys = keys.into_iter().map(PrivateKey::wire).collect();
    detail
}
