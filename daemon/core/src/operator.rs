//! What the console may read: every organization, without a caller. Only reads; votes need stamps.

use std::collections::BTreeMap;

use quorate_chain::transaction::{TransactionType, Unsigned};
use quorate_common::activity::{Status, VOTE_WINDOW_MILLIS};
use quorate_common::console::{
    AccountPage, ActivityPage, ActivityRow, Grounds, OrganizationDetail, OrganizationHead, OrganizationPage,
    PAGE_LIMIT, ParkedDeliveries, ParkedPage, ReviewRecord, Signer, Waiting, WaitingReason, WaitingRule,
};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{ActivityId, OrganizationId, UserId, WalletAccountId, WalletId};
use quorate_common::wire::{self, Timestamp};
use quorate_policy::request::{kind_of, names_of};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answer;
use crate::consensus;
use crate::kinds;
use crate::listing::{self, ActivityFilter};
use crate::model::layout::{self, outbox::Destination};
use crate::model::organization::Head;
use crate::model::{
    ActivityRecord, Evaluation, InterfaceText, Invitation, Millis, Organization, PaymentMethod, PrivateKey,
    Secret, SessionProfile, WalletAccount,
};
use crate::outbox;
use crate::pipeline::{self, Voters};
use crate::policy::{self, Decision, DenyErrors, Rule};
use crate::records;
use crate::refusal::{Denied, Intent, Missing, Refusal};
use crate::signing;
use crate::view::View;
use crate::world::{Order, Page, World};

/// How many bytes of activities one page may hold; a page that would hold more ends early.
const PAGE_BYTES: usize = 1024 * 1024;
/// How many keys are counted at once.
const COUNTED: usize = 1000;

/// Which activities to list.
#[derive(Debug, Default)]
pub struct ActivityQuery {
    /// Statuses; empty means all.
    pub statuses: Vec<Status>,
    /// Types by name; empty means all.
    pub types: Vec<String>,
    /// Only these activities; statuses and types do not matter then.
    pub ids: Vec<ActivityId>,
    /// Continue behind this one.
    pub after: Option<ActivityId>,
    /// Page size, at most [`PAGE_LIMIT`].
    pub limit: usize,
}

/// A page of the children of an organization, or of the organizations without parent.
pub fn organizations(
    world: &dyn World,
    parent: Option<OrganizationId>,
    after: Option<OrganizationId>,
    limit: usize,
) -> Result<OrganizationPage, Refusal> {
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
        // One may be deleted between the two reads.
        let found = records::head(world.records(), id)?.filter(|head| head.deleted.is_none());
        organizations.extend(found.map(|found| head(&found)));
    }
    Ok(OrganizationPage { organizations, next })
}

/// A page of what is parked in the outbox, behind a cursor of an earlier page.
///
/// # Errors
/// If the cursor is none, or the store cannot be read.
pub fn parked(world: &dyn World, after: Option<&str>, limit: usize) -> Result<ParkedPage, Refusal> {
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
            first_parked_at: Timestamp::of_millis(parked.first),
            last_parked_at: Timestamp::of_millis(parked.last),
            oldest_activity_id: parked.oldest,
            newest_activity_id: parked.newest,
        })
    });
    Ok(ParkedPage { destinations: destinations.collect(), next })
}

/// The destination of a cursor: an organization, and its endpoint if it has one.
fn destination(text: &str) -> Option<Destination> {
    let (organization, endpoint) = match text.split_once('.') {
        Some((organization, endpoint)) => (organization, Some(endpoint.parse().ok()?)),
        None => (text, None),
    };
    Some(Destination { organization: organization.parse().ok()?, endpoint })
}

/// An organization with all that is bounded.
pub fn organization(world: &dyn World, id: OrganizationId) -> Result<OrganizationDetail, Refusal> {
    Ok(detail(&*the_organization(world, id)?))
}

/// A page of the accounts of a wallet.
pub fn accounts(
    world: &dyn World,
    organization: OrganizationId,
    wallet: WalletId,
    after: Option<WalletAccountId>,
    limit: usize,
) -> Result<AccountPage, Refusal> {
    let limit = limit.clamp(1, PAGE_LIMIT);
    the_organization(world, organization)?.wallet(wallet).ok_or(Missing::Thing("wallet"))?;
    let after = match after {
        None => None,
        Some(id) => Some(records::account_place(world.records(), organization, id)?.ok_or(Intent::Cursor)?),
    };
    let rows = records::accounts(world.records(), organization, Some(wallet), after.as_deref(), limit)?;
    let next = rows.last().map(|last| last.id).filter(|_| rows.len() == limit);
    Ok(AccountPage { accounts: rows.iter().map(|account| account.wire(organization, None)).collect(), next })
}

/// What signs under a name, or has it for its id, and the interface of the contract that has it for its address.
pub fn signer(
    world: &dyn World,
    organization: OrganizationId,
    name: &str,
    now: Millis,
) -> Result<Signer, Refusal> {
    let snapshot = the_organization(world, organization)?;
    let contract = contract(world, &snapshot, name)?;
    let account_of = |account: &WalletAccount, contract| Signer {
        wallet_account: Some(account.wire(organization, None)),
        contract,
        ..Signer::default()
    };
    if let Ok(id) = name.parse::<WalletAccountId>()
        && let Some(place) = records::account_place(world.records(), organization, id)?
        && let Some(account) = records::account_at(world.records(), &place)?
    {
        return Ok(account_of(&account, contract));
    }
    // Who asks plays no part in what a name stands for.
    let nobody = UserId::from_bytes([0; 16]);
    let view = View::new(world, &snapshot, nobody, None, now);
    let signer = match signing::resolve(&view, name) {
        Ok(signer) => signer,
        Err(Refusal::Missing(_)) if contract.is_some() => {
            return Ok(Signer { contract, ..Signer::default() });
        }
        Err(refusal) => return Err(refusal),
    };
    if let Some(account) = signer.account() {
        return Ok(account_of(account, contract));
    }
    let private_key = signer.private_key().map(PrivateKey::wire);
    Ok(Signer { private_key, contract, ..Signer::default() })
}

/// The interface of the contract with this address, with its text.
fn contract(
    world: &dyn World,
    organization: &Organization,
    address: &str,
) -> Result<Option<wire::SmartContractInterface>, Refusal> {
    let mut interfaces = organization.smart_contract_interfaces.iter();
    let Some(found) = interfaces.find(|one| one.is_at(address)) else { return Ok(None) };
    let text = records::interface_text(world.records(), organization.id(), found.id)?;
    Ok(text.map(|text| found.wire(organization.id(), text)))
}

/// The addresses of the contracts that a request to sign a transaction calls.
fn contracts(activity_type: &str, parameters: &RawValue) -> Vec<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Asked {
        unsigned_transaction: String,
        #[serde(rename = "type")]
        kind: TransactionType,
    }
    if kind_of(activity_type) != "SIGN_TRANSACTION" {
        return Vec::new();
    }
    let asked: Option<Asked> = serde_json::from_str(parameters.get()).ok();
    let read = asked.and_then(|asked| Unsigned::read(asked.kind, &asked.unsigned_transaction).ok());
    read.map(|transaction| transaction.contracts()).unwrap_or_default()
}

/// A page of activities, newest first.
pub fn activities(
    world: &dyn World,
    organization: OrganizationId,
    query: &ActivityQuery,
    now: Millis,
) -> Result<ActivityPage, Refusal> {
    let snapshot = the_organization(world, organization)?;
    let limit = query.limit.clamp(1, PAGE_LIMIT);
    let number = |name: &String| kinds::number_of(name).ok_or(Refusal::Intent(Intent::Type));
    let numbers = query.types.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let filter = ActivityFilter { statuses: &query.statuses, numbers: &numbers };
    let is_named = !query.ids.is_empty();
    let found = if is_named {
        newest_first(&query.ids)
    } else {
        listing::activities(world.records(), organization, filter, query.after, Order::Descending, limit)?
    };
    // The page goes on behind the last one that was looked at.
    let mut next = found.last().copied().filter(|_| found.len() == limit && !is_named);
    let is_inbox = query.statuses == [Status::ConsensusNeeded] && query.types.is_empty();
    let is_first = !is_named && query.after.is_none();
    let waiting = (is_inbox && is_first).then(|| waiting(world, organization)).transpose()?;
    let mut activities: Vec<ActivityRow> = Vec::with_capacity(found.len());
    let mut bytes = 0_usize;
    for id in found {
        let record = records::activity(world, &snapshot, id)?;
        // One that was there a moment ago may be gone, or have another status.
        let Some(record) = record.filter(|record| filter.takes(record)) else { continue };
        bytes = bytes.saturating_add(record.votes.iter().map(|vote| vote.message.len()).sum());
        let last = activities.last().map(|last| last.activity.id);
        if bytes > PAGE_BYTES && last.is_some() {
            next = last;
            break;
        }
        let row = row(world, &record, &snapshot, now)?;
        // What a row says is true only if policies were asked to their end.
        if world.budget().steps_left() == 0 && last.is_some() {
            next = last;
            break;
        }
        activities.push(row);
    }
    Ok(ActivityPage { activities, next, waiting })
}

/// These activities, each once, as many as fit on a page.
fn newest_first(ids: &[ActivityId]) -> Vec<ActivityId> {
    let mut ids: Vec<ActivityId> = ids.iter().copied().take(PAGE_LIMIT).collect();
    ids.sort_unstable_by(|one, other| other.cmp(one));
    ids.dedup();
    ids
}

/// How many activities of an organization wait for votes, of which there is a limit. Opens no record.
fn waiting(world: &dyn World, organization: OrganizationId) -> Result<u64, Refusal> {
    let prefix = layout::activities_of_status(organization, Status::ConsensusNeeded);
    let mut count: u64 = 0;
    let mut last = None;
    loop {
        let page = Page { after: last.as_deref(), ..Page::first(&prefix, COUNTED) };
        let keys = world.records().keys(page)?;
        count = count.saturating_add(u64::try_from(keys.len()).unwrap_or(u64::MAX));
        match keys.into_iter().next_back() {
            Some(key) => last = Some(key),
            None => return Ok(count),
        }
    }
}

/// Everything a review of an activity needs, in one snapshot.
pub fn review(
    world: &dyn World,
    organization: OrganizationId,
    reference: &str,
    now: Millis,
) -> Result<ReviewRecord, Refusal> {
    let snapshot = the_organization(world, organization)?;
    let record = found(world, &snapshot, reference, now)?;
    let row = row(world, &record, &snapshot, now)?;
    let grounds = row.waiting.is_some().then(|| grounds(world, &record, now)).transpose()?;
    Ok(ReviewRecord { row, organization: detail(&snapshot), grounds })
}

/// What the rule is applied with that a stored activity waits for.
fn grounds(world: &dyn World, record: &ActivityRecord, now: Millis) -> Result<Grounds, Refusal> {
    let (entry, ready) = pipeline::proposal_of(record)?;
    let parameters = policy::parameters(ready.intent());
    let names = parameters.map(|parameters| {
        let called = contracts(entry.activity_type, parameters);
        names_of(entry.activity_type, parameters).into_iter().chain(called)
    });
    let mut signers = BTreeMap::new();
    for name in names.into_iter().flatten() {
        match signer(world, record.organization, &name, now) {
            Ok(found) => drop(signers.insert(name, found)),
            Err(Refusal::Corrupt(flaw)) => return Err(flaw.into()),
            Err(_) => {}
        }
    }
    Ok(Grounds { signers, strict_deny_errors: world.deny_errors() == DenyErrors::Deny })
}

/// The activity of an organization by its id or fingerprint.
pub(crate) fn found(
    world: &dyn World,
    organization: &Organization,
    reference: &str,
    now: Millis,
) -> Result<ActivityRecord, Refusal> {
    let found = match (reference.parse::<ActivityId>(), reference.parse::<Fingerprint>()) {
        (Ok(id), _) => records::activity(world, organization, id)?,
        (_, Ok(fingerprint)) => records::activity_by_fingerprint(world, organization, &fingerprint, now)?,
        _ => return Err(Intent::Text("expected an activity id or a fingerprint").into()),
    };
    found.ok_or(Refusal::Missing(Missing::Activity))
}

fn the_organization(world: &dyn World, id: OrganizationId) -> Result<std::sync::Arc<Organization>, Refusal> {
    world.organization(id)?.ok_or(Refusal::Missing(Missing::Organization))
}

fn head(head: &Head) -> OrganizationHead {
    OrganizationHead {
        organization_id: head.id,
        organization_name: head.name.to_string(),
        parent_organization_id: head.parent,
        version: head.version,
        root_quorum: wire::Quorum { threshold: head.quorum.threshold, user_ids: head.quorum.members.clone() },
        created_at: wire::Timestamp::of_millis(head.created),
        updated_at: wire::Timestamp::of_millis(head.updated),
    }
}

/// The lists of addresses of an organization and of its API keys.
fn ip_allowlists(organization: &Organization) -> Vec<wire::IpAllowlist> {
    let id = organization.id();
    let own = organization.head.ip_allowlist.iter().map(|list| list.wire(id, None));
    let keys = organization.users().flat_map(|user| &user.api_keys);
    let keys = keys.filter_map(|key| Some(key.ip_allowlist.as_ref()?.wire(id, Some(key.public_key.clone()))));
    own.chain(keys).collect()
}

fn detail(organization: &Organization) -> OrganizationDetail {
    let id = organization.id();
    let mut users: Vec<_> = organization.users().collect();
    users.sort_by_key(|user| (user.created, user.id));
    let mut wallets: Vec<_> = organization.wallets().collect();
    wallets.sort_by_key(|wallet| (wallet.created, wallet.id));
    let mut keys: Vec<_> = organization.private_keys().collect();
    keys.sort_by_key(|key| (key.created, key.id));
    OrganizationDetail {
        head: head(&organization.head),
        users: users.into_iter().map(crate::model::User::wire).collect(),
        wallets: wallets.into_iter().map(crate::model::Wallet::wire).collect(),
        private_keys: keys.into_iter().map(crate::model::PrivateKey::wire).collect(),
        tags: organization.tags().map(crate::model::Tag::wire).collect(),
        policies: organization.policies().map(|parsed| parsed.policy.wire()).collect(),
        features: organization.features(),
        invitations: organization.invitations.iter().map(Invitation::wire).collect(),
        webhook_endpoints: organization.webhook_endpoints.iter().map(|one| one.wire(id)).collect(),
        secrets: organization.secrets.iter().map(Secret::wire).collect(),
        session_profiles: organization.session_profiles.iter().map(SessionProfile::wire).collect(),
        smart_contract_interfaces: organization
            .smart_contract_interfaces
            .iter()
            .map(|one| one.wire(id, InterfaceText::default()))
            .collect(),
        ip_allowlists: ip_allowlists(organization),
        payment_method: organization.head.payment_method.as_ref().map(PaymentMethod::wire),
        billing_tier: organization.head.billing_tier.clone(),
    }
}

fn row(
    world: &dyn World,
    record: &ActivityRecord,
    organization: &Organization,
    now: Millis,
) -> Result<ActivityRow, Refusal> {
    let activity = answer::activity(record, organization)?;
    if record.status != Status::ConsensusNeeded {
        return Ok(ActivityRow { activity, waiting: None });
    }
    let Voters { open_to, approvals, decided } = pipeline::voters(world, record, organization, now)?;
    let counted = consensus::users(&approvals);
    let oldest = approvals.iter().map(|approval| approval.created).min();
    let reason = match decided.decision {
        Decision::Allow => WaitingReason::NextVote,
        Decision::Wait(Rule::Policy) => WaitingReason::PolicyConsensus,
        Decision::Wait(Rule::Denied) | Decision::Deny(Denied::Explicit(_)) => WaitingReason::PolicyDenies,
        Decision::Wait(Rule::RootQuorumOnly) => WaitingReason::RootQuorumOnly,
        Decision::Wait(Rule::RootQuorum) | Decision::Deny(_) => WaitingReason::NoPolicyAllows,
    };
    let waiting = Waiting {
        rule: match reason {
            WaitingReason::PolicyConsensus => WaitingRule::Policy,
            _ => WaitingRule::RootQuorum,
        },
        reason,
        policy_evaluations: decided.evaluations.iter().map(Evaluation::wire).collect(),
        needed: organization.head.quorum.threshold,
        open_to: open_to.into_iter().filter(|user| !counted.contains(user)).collect(),
        counted,
        lapses_at_millis: oldest.map(|created| created.saturating_add(VOTE_WINDOW_MILLIS)),
    };
    Ok(ActivityRow { activity, waiting: Some(waiting) })
}
