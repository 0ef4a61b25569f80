//! Queries, which users of an organization and of its parent may make.

use std::sync::Arc;

use quorate_common::ids::OrganizationId;
use quorate_common::json::Document;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::authn::{self, Authenticated, Credentials, Reach, Stamped};
use crate::error::{Corrupt, RequestError};
use crate::model::{Millis, Organization, Tag, TagKind};
use crate::pipeline::Attempt;
use crate::view::Caller;
use crate::world::World;

mod activities;
mod keys;
mod organizations;
mod secrets;
mod settings;
mod users;
mod wallets;

/// The context of a query.
pub(crate) struct QueryContext<'a> {
    pub(crate) world: &'a dyn World,
    pub(crate) organization: &'a Organization,
    pub(crate) caller: &'a Caller,
    pub(crate) now: Millis,
}

impl QueryContext<'_> {
    pub(crate) fn id(&self) -> OrganizationId {
        self.organization.id()
    }
}

type Run = fn(&QueryContext<'_>, &Document) -> Result<Vec<u8>, RequestError>;

/// The cost of answering a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Reads a few records at most.
    Small,
    /// Grows with the size of the organization, or evaluates policies.
    Large,
}

/// A row of the table of queries.
struct Entry {
    name: &'static str,
    reach: Reach,
    cost: Cost,
    run: Run,
}

const fn small(name: &'static str, run: Run) -> Entry {
    Entry { name, reach: Reach::Usual, cost: Cost::Small, run }
}

const fn large(name: &'static str, run: Run) -> Entry {
    Entry { cost: Cost::Large, ..small(name, run) }
}

const ENTRIES: &[Entry] = &[
    large("get_activity", activities::get_activity),
    small("get_api_key", users::get_api_key),
    large("get_api_keys", users::get_api_keys),
    small("get_authenticator", users::get_authenticator),
    small("get_authenticators", users::get_authenticators),
    small("get_ip_allowlist", settings::get_ip_allowlist),
    large("get_oauth_providers", users::get_oauth_providers),
    large("get_organization", organizations::get_organization),
    small("get_organization_configs", organizations::get_organization_configs),
    small("get_policy", organizations::get_policy),
    large("get_policy_evaluations", activities::get_policy_evaluations),
    small("get_private_key", keys::get_private_key),
    small("get_session_profile", settings::get_session_profile),
    large("get_session_profiles", settings::get_session_profiles),
    large("get_smart_contract_interface", settings::get_smart_contract_interface),
    small("get_user", users::get_user),
    small("get_wallet", wallets::get_wallet),
    small("get_wallet_account", wallets::get_wallet_account),
    large("list_activities", activities::list_activities),
    large("list_policies", organizations::list_policies),
    large("list_private_key_tags", keys::list_private_key_tags),
    large("list_private_keys", keys::list_private_keys),
    large("list_secrets", secrets::list_secrets),
    large("list_smart_contract_interfaces", settings::list_smart_contract_interfaces),
    large("list_suborgs", organizations::list_suborgs),
    large("list_user_tags", users::list_user_tags),
    large("list_users", users::list_users),
    large("list_verified_suborgs", organizations::list_verified_suborgs),
    large("list_wallet_accounts", wallets::list_wallet_accounts),
    large("list_wallets", wallets::list_wallets),
    large("list_webhook_endpoints", settings::list_webhook_endpoints),
    Entry { reach: Reach::Children, ..small("whoami", users::whoami) },
];

/// Queries of the API that this service does not implement.
const UNIMPLEMENTED: &[&str] = &[
    "get_active_policies",
    "get_attestation_document",
    "get_boot_proof",
    "get_latest_boot_proof",
    "get_mfa_policies",
    "get_mfa_policy",
    "get_mfa_status",
    "get_oauth2_credential",
    "list_app_proofs",
    "list_oauth2_credentials",
];

/// Returns the names of all queries, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// The classification of a path under `/public/v1/query/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// A query that this service implements.
    Implemented,
    /// A query of the API that this service does not implement.
    Unimplemented,
    /// No query of the API.
    Unknown,
}

/// Classifies the name of a query.
pub fn known(name: &str) -> Known {
    if names().any(|known| known == name) {
        Known::Implemented
    } else if UNIMPLEMENTED.contains(&name) {
        Known::Unimplemented
    } else {
        Known::Unknown
    }
}

/// Authenticates and answers a query.
pub fn query(world: &dyn World, now: Millis, name: &str, credentials: &Credentials, body: &[u8]) -> Attempt {
    match admit(world, now, name, credentials, body) {
        Ok(admitted) => admitted.answer(world),
        Err(error) => Attempt::error(&error),
    }
}

/// A query whose caller is authenticated.
pub struct Admitted {
    entry: &'static Entry,
    organization: Arc<Organization>,
    caller: Caller,
    tenant: OrganizationId,
    document: Document,
    now: Millis,
}

impl Admitted {
    /// Returns the cost of the answer.
    pub const fn cost(&self) -> Cost {
        self.entry.cost
    }

    /// Returns the tenant that the work is charged to: the caller's organization, or its parent. A tenant may
    /// have any number of sub-organizations.
    pub const fn tenant(&self) -> OrganizationId {
        self.tenant
    }

    /// Returns the organization that is queried.
    pub fn organization(&self) -> OrganizationId {
        self.organization.id()
    }

    /// Answers the query.
    pub fn answer(self, world: &dyn World) -> Attempt {
        let Self { entry, organization, caller, document, now, .. } = self;
        let context = QueryContext { world, organization: &organization, caller: &caller, now };
        (entry.run)(&context, &document).map_or_else(|error| Attempt::error(&error), Attempt::answer)
    }
}

/// Authenticates a query, and reads nothing beyond what that requires.
///
/// # Errors
/// The reason why the query is not answered.
pub fn admit(
    world: &dyn World,
    now: Millis,
    name: &str,
    credentials: &Credentials,
    body: &[u8],
) -> Result<Admitted, RequestError> {
    let entry = ENTRIES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| crate::error::Unimplemented::Type(name.to_owned()))?;
    let Stamped { authenticated, document } = authn::stamped(world, credentials, body, entry.reach, now)?;
    reject_activity_members(&document)?;
    let Authenticated { caller, home, target } = authenticated;
    let tenant = home.head.parent.unwrap_or(home.id());
    Ok(Admitted { entry, organization: target, caller, tenant, document, now })
}

/// Rejects a body with a member that only bodies of activities have. Votes contain such bodies with their
/// stamps. Anyone who reads a vote, such as the receiver of a webhook, could otherwise query in the name of
/// the voter.
fn reject_activity_members(document: &Document) -> Result<(), RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ActivityMembers {
        r#type: Option<IgnoredAny>,
        timestamp_ms: Option<IgnoredAny>,
        parameters: Option<IgnoredAny>,
    }
    let ActivityMembers { r#type, timestamp_ms, parameters } = document.typed()?;
    let members = [("type", r#type), ("timestampMs", timestamp_ms), ("parameters", parameters)];
    match members.into_iter().find(|(_, value)| value.is_some()) {
        None => Ok(()),
        Some((member, _)) => {
            let text = format!("invalid request body: `{member}`: not allowed in a query");
            Err(crate::error::Intent::Detail(text).into())
        }
    }
}

/// Parses the members of a query.
pub(crate) fn read<T: DeserializeOwned>(document: &Document) -> Result<T, RequestError> {
    Ok(document.typed()?)
}

/// Serializes an answer with one member.
pub(crate) fn one<T: Serialize>(name: &str, value: &T) -> Result<Vec<u8>, RequestError> {
    let json =
        serde_json::to_string(value).map_err(|_| Corrupt::Invariant("an answer cannot be serialized"))?;
    Ok(format!("{{\"{name}\":{json}}}").into_bytes())
}

/// Answers with all tags of a kind, oldest first.
pub(crate) fn tags(context: &QueryContext<'_>, kind: TagKind, name: &str) -> Result<Vec<u8>, RequestError> {
    let mut tags: Vec<_> = context.organization.tags().filter(|tag| tag.kind == kind).collect();
    tags.sort_by_key(|tag| (tag.created, tag.id));
    one(name, &tags.into_iter().map(Tag::wire).collect::<Vec<_>>())
}

/// `paginationOptions`: the limit as a string, and ids as cursors.
#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct Pagination {
    limit: Option<quorate_common::bounded::Decimal>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// Default page size.
const PAGE_DEFAULT: usize = 10;
/// Maximum page size.
const PAGE_LIMIT: usize = 100;

impl Pagination {
    /// Returns the page size: 1 to 100, 10 by default.
    pub(crate) fn limit(&self) -> Result<usize, RequestError> {
        match self.limit.map(|limit| usize::try_from(limit.0).unwrap_or(usize::MAX)) {
            None | Some(0) => Ok(PAGE_DEFAULT),
            Some(limit) if limit <= PAGE_LIMIT => Ok(limit),
            Some(_) => {
                let text = "invalid request body: `paginationOptions.limit`: expected 1 to 100";
                Err(crate::error::Intent::Text(text).into())
            }
        }
    }

    /// Returns the cursor and its direction. An empty text counts as absent.
    pub(crate) fn cursor(&self) -> Result<Option<Cursor<'_>>, RequestError> {
        let given =
            |text: &'_ Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        match (given(&self.before), given(&self.after)) {
            (Some(_), Some(_)) => Err(crate::error::Intent::Text(
                "invalid request body: `paginationOptions` must not have both `before` and `after`",
            )
            .into()),
            (None, None) => Ok(None),
            (Some(_), None) => Ok(self.before.as_deref().map(Cursor::Before)),
            (None, Some(_)) => Ok(self.after.as_deref().map(Cursor::After)),
        }
    }
}

/// The position of a page relative to an object.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cursor<'a> {
    /// The page that ends immediately before the object.
    Before(&'a str),
    /// The page that starts immediately after the object.
    After(&'a str),
}
