//! Queries of organizations: configuration, policies, and sub-organizations.

use quorate_common::ids::{OrganizationId, PolicyId};
use quorate_common::json::Document;
use quorate_common::wire;
use serde::{Deserialize, Serialize};

use super::{Cursor, Pagination, QueryContext, one, read};
use crate::error::{Intent, Missing, RequestError, Unimplemented};
use crate::model::layout::{self, Key, Lookup};
use crate::model::{Invitation, PrivateKey, SmartContractInterface, Tag, User, Wallet};
use crate::records;
use crate::world::{Order, Page};

/// Answers with the features and the root quorum.
pub(super) fn get_organization_configs(
    context: &QueryContext<'_>,
    _: &Document,
) -> Result<Vec<u8>, RequestError> {
    #[derive(Serialize)]
    struct Configs {
        features: Vec<quorate_common::wire::Feature>,
        quorum: quorate_common::wire::Quorum,
    }
    one(
        "configs",
        &Configs { features: context.organization.features(), quorum: context.organization.quorum() },
    )
}

/// Answers with everything in an organization that is bounded in number.
pub(super) fn get_organization(context: &QueryContext<'_>, _: &Document) -> Result<Vec<u8>, RequestError> {
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
    let organization = context.organization;
    let data = Data {
        organization_id: context.id(),
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

/// Answers with one policy.
pub(super) fn get_policy(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        policy_id: PolicyId,
    }
    let query: Query = read(value)?;
    let found = context.organization.policy(query.policy_id).ok_or(Missing::Other("policy"))?;
    one("policy", &found.policy.wire())
}

/// Answers with all policies, oldest first.
pub(super) fn list_policies(context: &QueryContext<'_>, _: &Document) -> Result<Vec<u8>, RequestError> {
    let mut policies: Vec<_> = context.organization.policies().map(|parsed| &parsed.policy).collect();
    policies.sort_by_key(|policy| (policy.created, policy.id));
    one("policies", &policies.into_iter().map(crate::model::Policy::wire).collect::<Vec<_>>())
}

/// Answers with a page of the ids of sub-organizations: all, or those that match a filter.
pub(super) fn list_suborgs(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
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
        "" => children(context, &pagination)?,
        "NAME" => matching(context, Lookup::Name, &text, &pagination)?,
        "USERNAME" => matching(context, Lookup::Username, &text, &pagination)?,
        "EMAIL" => matching(context, Lookup::Email, &text.to_lowercase(), &pagination)?,
        "PHONE_NUMBER" => matching(context, Lookup::PhoneNumber, &text, &pagination)?,
        "CREDENTIAL_ID" => matching(context, Lookup::CredentialId, &text, &pagination)?,
        "PUBLIC_KEY" => matching(context, Lookup::PublicKey, &text.to_ascii_lowercase(), &pagination)?,
        "WALLET_ACCOUNT_ADDRESS" => matching(context, Lookup::WalletAccountAddress, &text, &pagination)?,
        "OIDC_TOKEN" => {
            return Err(Unimplemented::Feature(
                "sub-organizations cannot be filtered by OIDC token".to_owned(),
            )
            .into());
        }
        _ => return Err(Intent::Text("invalid request body: `filterType`: unknown name").into()),
    };
    one("organizationIds", &ids)
}

/// Answers with a page of the ids of sub-organizations that have a user with this verified contact.
pub(super) fn list_verified_suborgs(
    context: &QueryContext<'_>,
    value: &Document,
) -> Result<Vec<u8>, RequestError> {
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
    one("organizationIds", &matching(context, lookup, &text, &query.pagination_options.unwrap_or_default())?)
}

fn children(
    context: &QueryContext<'_>,
    pagination: &Pagination,
) -> Result<Vec<OrganizationId>, RequestError> {
    let prefix = layout::children(context.id());
    let cursor_key = |text: &str| -> Result<Key, RequestError> {
        let id: OrganizationId = text.parse().map_err(|_| Intent::Cursor)?;
        // A sub-organization that was deleted since still has its position in the order.
        let child = records::head(context.world.records(), id)?;
        let child = child.filter(|child| child.parent == Some(context.id())).ok_or(Intent::Cursor)?;
        Ok(layout::child(context.id(), child.created, id))
    };
    page(context, &prefix, pagination, cursor_key, layout::organization_id)
}

/// Returns a page of the sub-organizations with a value. The entries of a sub-organization that has the value
/// several times are adjacent.
fn matching(
    context: &QueryContext<'_>,
    lookup: Lookup,
    text: &str,
    pagination: &Pagination,
) -> Result<Vec<OrganizationId>, RequestError> {
    let prefix = layout::lookup_entries(context.world.index(), context.id(), lookup, text);
    let parse = |text: &str| text.parse::<OrganizationId>().map_err(|_| Intent::Cursor);
    let (order, cursor) = match pagination.cursor()? {
        None => (Order::Ascending, None),
        Some(Cursor::After(text)) => (Order::Ascending, Some(parse(text)?)),
        Some(Cursor::Before(text)) => (Order::Descending, Some(parse(text)?)),
    };
    let limit = pagination.limit()?;
    let mut ids: Vec<OrganizationId> = Vec::new();
    let mut last = cursor;
    while ids.len() < limit {
        let after = last.map(|id| beyond_child(&prefix, id, order));
        let keys =
            context.world.records().keys(Page { prefix: &prefix, after: after.as_deref(), order, limit })?;
        let children = keys.iter().filter_map(|key| layout::lookup_child(key));
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

/// Returns the key after which a page continues past all entries of a sub-organization.
fn beyond_child(prefix: &[u8], child: OrganizationId, order: Order) -> Key {
    let mut key = [prefix, child.as_bytes()].concat();
    if order == Order::Ascending {
        // Longer than each of its entries.
        key.extend_from_slice(&[0xff; 17]);
    }
    key
}

fn page(
    context: &QueryContext<'_>,
    prefix: &[u8],
    pagination: &Pagination,
    cursor_key: impl Fn(&str) -> Result<Key, RequestError>,
    id: impl Fn(&[u8]) -> Option<OrganizationId>,
) -> Result<Vec<OrganizationId>, RequestError> {
    let (after, order) = match pagination.cursor()? {
        None => (None, Order::Ascending),
        Some(Cursor::After(text)) => (Some(cursor_key(text)?), Order::Ascending),
        Some(Cursor::Before(text)) => (Some(cursor_key(text)?), Order::Descending),
    };
    let limit = pagination.limit()?;
    let keys = context.world.records().keys(Page { prefix, after: after.as_deref(), order, limit })?;
    let mut ids: Vec<_> = keys.iter().filter_map(|key| id(key)).collect();
    if order == Order::Descending {
        ids.reverse();
    }
    Ok(ids)
}
