//! Queries: what users of an organization, and of its parent, may read.

use std::sync::Arc;

use quorate_common::ids::OrganizationId;
use quorate_common::json::Document;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use crate::authn::{self, Authenticated, Credentials, Reach, Stamped};
use crate::model::{Millis, Organization, Tag, TagKind};
use crate::pipeline::Turn;
use crate::refusal::{Corrupt, Refusal};
use crate::view::Caller;
use crate::world::World;

mod activities;
mod keys;
mod organizations;
mod secrets;
mod settings;
mod users;
mod wallets;

/// What a query sees.
pub(crate) struct Asked<'a> {
    pub(crate) world: &'a dyn World,
    pub(crate) organization: &'a Organization,
    pub(crate) caller: &'a Caller,
    pub(crate) now: Millis,
}

impl Asked<'_> {
    pub(crate) fn id(&self) -> OrganizationId {
        self.organization.id()
    }
}

type Run = fn(&Asked<'_>, &Document) -> Result<Vec<u8>, Refusal>;

/// What a query costs whoever answers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// A few records at most.
    Small,
    /// It grows with what the organization holds, or policies are asked.
    Large,
}

/// A row of the table: name, reach of the caller's key, cost, function.
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

/// Queries of the API that this service does not have.
const UNOFFERED: &[&str] = &[
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

/// Names of all queries, sorted.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name)
}

/// What a path under `/public/v1/query/` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// A query.
    Offered,
    /// A query of the API that is not here.
    Unoffered,
    /// Nothing.
    Unknown,
}

/// What a name is.
pub fn known(name: &str) -> Known {
    if names().any(|offered| offered == name) {
        Known::Offered
    } else if UNOFFERED.contains(&name) {
        Known::Unoffered
    } else {
        Known::Unknown
    }
}

/// Answers a query.
pub fn query(world: &dyn World, now: Millis, name: &str, credentials: &Credentials, body: &[u8]) -> Turn {
    match admit(world, now, name, credentials, body) {
        Ok(admitted) => admitted.answer(world),
        Err(refusal) => Turn::refuse(&refusal),
    }
}

/// A query whose caller is proven.
pub struct Admitted {
    entry: &'static Entry,
    organization: Arc<Organization>,
    caller: Caller,
    tenant: OrganizationId,
    document: Document,
    now: Millis,
}

impl Admitted {
    /// What the answer costs.
    pub const fn cost(&self) -> Cost {
        self.entry.cost
    }

    /// On whose account the work is done: the caller's organization, or its parent. A tenant may have any number of
    /// sub-organizations.
    pub const fn tenant(&self) -> OrganizationId {
        self.tenant
    }

    /// The organization that is asked about.
    pub fn organization(&self) -> OrganizationId {
        self.organization.id()
    }

    /// Answers it.
    pub fn answer(self, world: &dyn World) -> Turn {
        let Self { entry, organization, caller, document, now, .. } = self;
        let asked = Asked { world, organization: &organization, caller: &caller, now };
        (entry.run)(&asked, &document).map_or_else(|refusal| Turn::refuse(&refusal), Turn::answer)
    }
}

/// Finds out who sent a query, and reads nothing beyond what that takes.
///
/// # Errors
/// Why the query is not answered.
pub fn admit(
    world: &dyn World,
    now: Millis,
    name: &str,
    credentials: &Credentials,
    body: &[u8],
) -> Result<Admitted, Refusal> {
    let entry = ENTRIES
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| crate::refusal::Unoffered::Type(name.to_owned()))?;
    let Stamped { authenticated, document } = authn::stamped(world, credentials, body, entry.reach, now)?;
    is_no_activity(&document)?;
    let Authenticated { caller, home, target } = authenticated;
    let tenant = home.head.parent.unwrap_or(home.id());
    Ok(Admitted { entry, organization: target, caller, tenant, document, now })
}

/// Fails if the body has a member that only bodies of activities have. Votes show such bodies with their stamps, which
/// would let anyone who reads a vote, such as the receiver of a webhook, query in the name of the voter.
fn is_no_activity(document: &Document) -> Result<(), Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct OfActivities {
        r#type: Option<IgnoredAny>,
        timestamp_ms: Option<IgnoredAny>,
        parameters: Option<IgnoredAny>,
    }
    let OfActivities { r#type, timestamp_ms, parameters } = document.typed()?;
    let members = [("type", r#type), ("timestampMs", timestamp_ms), ("parameters", parameters)];
    match members.into_iter().find(|(_, value)| value.is_some()) {
        None => Ok(()),
        Some((member, _)) => {
            let text = format!("invalid request body: `{member}`: a query has none");
            Err(crate::refusal::Intent::Detail(text).into())
        }
    }
}

/// Reads the members of a query.
pub(crate) fn read<T: DeserializeOwned>(document: &Document) -> Result<T, Refusal> {
    Ok(document.typed()?)
}

/// An answer of one member.
pub(crate) fn one<T: Serialize>(name: &str, value: &T) -> Result<Vec<u8>, Refusal> {
    let json =
        serde_json::to_string(value).map_err(|_| Corrupt::Invariant("an answer does not serialize"))?;
    Ok(format!("{{\"{name}\":{json}}}").into_bytes())
}

/// All tags of a kind, oldest first.
pub(crate) fn tags(asked: &Asked<'_>, kind: TagKind, name: &str) -> Result<Vec<u8>, Refusal> {
    let mut tags: Vec<_> = asked.organization.tags().filter(|tag| tag.kind == kind).collect();
    tags.sort_by_key(|tag| (tag.created, tag.id));
    one(name, &tags.into_iter().map(Tag::wire).collect::<Vec<_>>())
}

/// `paginationOptions`: limit as a string, cursors by id.
#[derive(Debug, Default, serde::Deserialize)]
pub(crate) struct Pagination {
    limit: Option<quorate_common::bounded::Decimal>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

/// Page size when none is asked for.
const PAGE_DEFAULT: usize = 10;
/// Largest page.
const PAGE_LIMIT: usize = 100;

impl Pagination {
    /// The page size: 1 to 100, 10 when none is asked for.
    pub(crate) fn limit(&self) -> Result<usize, Refusal> {
        match self.limit.map(|limit| usize::try_from(limit.0).unwrap_or(usize::MAX)) {
            None | Some(0) => Ok(PAGE_DEFAULT),
            Some(limit) if limit <= PAGE_LIMIT => Ok(limit),
            Some(_) => {
                let text = "invalid request body: `paginationOptions.limit`: expected 1 to 100";
                Err(crate::refusal::Intent::Text(text).into())
            }
        }
    }

    /// The cursor: which way from it, and its text. Empty texts count as absent.
    pub(crate) fn cursor(&self) -> Result<Option<Cursor<'_>>, Refusal> {
        let given =
            |text: &'_ Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(str::to_owned);
        match (given(&self.before), given(&self.after)) {
            (Some(_), Some(_)) => Err(crate::refusal::Intent::Text(
                "invalid request body: `paginationOptions` must not have both `before` and `after`",
            )
            .into()),
            (None, None) => Ok(None),
            (Some(_), None) => Ok(self.before.as_deref().map(Cursor::Before)),
            (None, Some(_)) => Ok(self.after.as_deref().map(Cursor::After)),
        }
    }
}

/// Where a page lies.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cursor<'a> {
    /// The nearest page that precedes the object.
    Before(&'a str),
    /// The page that follows the object.
    After(&'a str),
}
