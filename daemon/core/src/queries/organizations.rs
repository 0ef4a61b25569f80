//! Organizations: configuration, policies, and finding sub-organizations.

use quorate_common::ids::{OrganizationId, PolicyId};
use quorate_common::json::Document;
use quorate_common::wire;
use serde::{Deserialize, Serialize};

use super::{Asked, Cursor, Pagination, one, read};
use crate::model::layout::{self, Key, Lookup};
use crate::model::{Invitation, PrivateKey, SmartContractInterface, Tag, User, Wallet};
use crate::records;
use crate::refusal::{Intent, Missing, Refusal, Unoffered};
use crate::world::{Order, Page};

/// Features and root quorum.
pub(super) fn get_organization_configs(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Serialize)]
    struct Configs {
        features: Vec<quorate_common::wire::Feature>,
        quorum: quorate_common::wire::Quorum,
    }
    one("configs", &Configs { features: asked.organization.features(), quorum: asked.organization.quorum() })
}

/// All that an organization holds, but for what is unbounded.
pub(super) fn get_organization(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Data<'a> {
        organization_id: OrganizationId,
        name: &'a str,
        users: Vec<wire::User>,
        policies: Vec<wire::Policy>,
        private_keys: Vec<wire::PrivateKey>,
        invitations: Vec<wire::Invitation>,
        tags: Vec<wire::Tag>,
        root_quorum: wire::Quorum,
        features: Vec<wire::Feature>,
        wallets: Vec<wire::Wallet>,
        smart_contract_interface_references: Vec<wire::SmartContractInterfaceReference>,
    }
    let organization = asked.organization;
    let data = Data {
        organization_id: asked.id(),
        name: organization.head.name.as_str(),
        users: organization.users().map(User::wire).collect(),
        policies: organization.policies().map(|parsed| parsed.policy.wire()).collect(),
        private_keys: organization.private_keys().map(PrivateKey::wire).collect(),
        invitations: organization.invitations.iter().map(Invitation::wire).collect(),
        tags: organization.tags().map(Tag::wire).collect(),
        root_quorum: organization.quorum(),
        features: organization.features(),
        wallets: organization.wallets().map(Wallet::wire).collect(),
        smart_contract_interface_references: organization
            .smart_contract_interfaces
            .iter()
            .map(SmartContractInterface::reference)
            .collect(),
    };
    one("organizationData", &data)
}

/// One policy.
pub(super) fn get_policy(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        policy_id: PolicyId,
    }
    let query: Query = read(value)?;
    let found = asked.organization.policy(query.policy_id).ok_or(Missing::Thing("policy"))?;
    one("policy", &found.policy.wire())
}

/// All policies.
pub(super) fn list_policies(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    let mut policies: Vec<_> = asked.organization.policies().map(|parsed| &parsed.policy).collect();
    policies.sort_by_key(|policy| (policy.created, policy.id));
    one("policies", &policies.into_iter().map(crate::model::Policy::wire).collect::<Vec<_>>())
}

/// Ids of sub-organizations: all, or those that a value finds.
pub(super) fn list_suborgs(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        #[serde(default)]
        filter_type: String,
        #[serde(default)]
        filter_value: String,
        pagination_options: Option<Pagination>,
    }
    let query: Query = read(value)?;
    let pagination = query.pagination_options.unwrap_or_default();
    let text = query.filter_value;
    let ids = match query.filter_type.as_str() {
        "" => children(asked, &pagination)?,
        "NAME" => found(asked, Lookup::Name, &text, &pagination)?,
        "USERNAME" => found(asked, Lookup::Username, &text, &pagination)?,
        "EMAIL" => found(asked, Lookup::Email, &text.to_lowercase(), &pagination)?,
        "PHONE_NUMBER" => found(asked, Lookup::PhoneNumber, &text, &pagination)?,
        "CREDENTIAL_ID" => found(asked, Lookup::CredentialId, &text, &pagination)?,
        "PUBLIC_KEY" => found(asked, Lookup::PublicKey, &text.to_ascii_lowercase(), &pagination)?,
        "WALLET_ACCOUNT_ADDRESS" => found(asked, Lookup::WalletAccountAddress, &text, &pagination)?,
        "OIDC_TOKEN" => {
            return Err(Unoffered::Feature("sub-organizations are not found by OIDC token".to_owned()).into());
        }
        _ => return Err(Intent::Text("invalid request body: `filterType`: unknown name").into()),
    };
    one("organizationIds", &ids)
}

/// Ids of sub-organizations of whom a user has proven a contact.
pub(super) fn list_verified_suborgs(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        filter_type: String,
        filter_value: String,
        pagination_options: Option<Pagination>,
    }
    let query: Query = read(value)?;
    let (lookup, text) = match query.filter_type.as_str() {
        "EMAIL" => (Lookup::VerifiedEmail, query.filter_value.to_lowercase()),
        "PHONE_NUMBER" => (Lookup::VerifiedPhoneNumber, query.filter_value),
        _ => return Err(Intent::Text("invalid request body: `filterType`: unknown name").into()),
    };
    one("organizationIds", &found(asked, lookup, &text, &query.pagination_options.unwrap_or_default())?)
}

fn children(asked: &Asked<'_>, pagination: &Pagination) -> Result<Vec<OrganizationId>, Refusal> {
    let prefix = layout::children(asked.id());
    let place = |text: &str| -> Result<Key, Refusal> {
        let id: OrganizationId = text.parse().map_err(|_| Intent::Cursor)?;
        // One that was deleted since still has its place in the order.
        let child = records::head(asked.world.records(), id)?;
        let child = child.filter(|child| child.parent == Some(asked.id())).ok_or(Intent::Cursor)?;
        Ok(layout::child(asked.id(), child.created, id))
    };
    page(asked, &prefix, pagination, place, layout::organization_id)
}

/// A page of the children that a value finds. A child may be found by several of its things, which stand together.
fn found(
    asked: &Asked<'_>,
    lookup: Lookup,
    text: &str,
    pagination: &Pagination,
) -> Result<Vec<OrganizationId>, Refusal> {
    let prefix = layout::finds(asked.world.index(), asked.id(), lookup, text);
    let place = |text: &str| text.parse::<OrganizationId>().map_err(|_| Intent::Cursor);
    let (order, cursor) = match pagination.cursor()? {
        None => (Order::Ascending, None),
        Some(Cursor::After(text)) => (Order::Ascending, Some(place(text)?)),
        Some(Cursor::Before(text)) => (Order::Descending, Some(place(text)?)),
    };
    let limit = pagination.limit()?;
    let mut ids: Vec<OrganizationId> = Vec::new();
    let mut last = cursor;
    while ids.len() < limit {
        let after = last.map(|id| beyond(&prefix, id, order));
        let keys =
            asked.world.records().keys(Page { prefix: &prefix, after: after.as_deref(), order, limit })?;
        let children = keys.iter().filter_map(|key| layout::found_child(key));
        ids.extend(children.filter(|id| Some(*id) != last));
        ids.dedup();
        if keys.len() < limit {
            break;
        }
        last = ids.last().copied();
    }
    ids.truncate(limit);
    if order == Order::Descending {
        ids.reverse();
    }
    Ok(ids)
}

/// The key from which a page goes on that is through with all things of a child.
fn beyond(prefix: &[u8], child: OrganizationId, order: Order) -> Key {
    let mut key = [prefix, child.as_bytes()].concat();
    if order == Order::Ascending {
        // Behind each of its things.
        key.extend_from_slice(&[0xff; 17]);
    }
    key
}

fn page(
    asked: &Asked<'_>,
    prefix: &[u8],
    pagination: &Pagination,
    place: impl Fn(&str) -> Result<Key, Refusal>,
    id: impl Fn(&[u8]) -> Option<OrganizationId>,
) -> Result<Vec<OrganizationId>, Refusal> {
    let (after, order) = match pagination.cursor()? {
        None => (None, Order::Ascending),
        Some(Cursor::After(text)) => (Some(place(text)?), Order::Ascending),
        Some(Cursor::Before(text)) => (Some(place(text)?), Order::Descending),
    };
    let limit = pagination.limit()?;
    let keys = asked.world.records().keys(Page { prefix, after: after.as_deref(), order, limit })?;
    let mut ids: Vec<_> = keys.iter().filter_map(|key| id(key)).collect();
    if order == Order::Descending {
        ids.reverse();
    }
    Ok(ids)
}
