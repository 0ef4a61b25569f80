//! The path of a query: authentication first, then the answer, possibly on another thread.

use std::sync::Arc;

use quorate_common::ids::OrganizationId;
use quorate_common::json::Document;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::Entry;
use super::query::QueryContext;
use crate::authn::{self, Authenticated, Credentials, Stamped};
use crate::error::{Authn, Intent, RequestError};
use crate::model::{Millis, Organization};
use crate::pipeline::Attempt;
use crate::view::Caller;
use crate::world::World;

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
        let answer = (entry.answer)(entry, &context, &document);
        let attempt = answer.map_or_else(|error| Attempt::error(&error), Attempt::answer);
        Attempt { used: caller.use_at(now), ..attempt }
    }
}

/// Authenticates a query, and reads nothing beyond what that requires.
///
/// # Errors
/// The reason why the query is not answered.
pub fn admit(
    world: &dyn World,
    now: Millis,
    entry: &'static Entry,
    credentials: &Credentials,
    body: &[u8],
) -> Result<Admitted, RequestError> {
    let Stamped { authenticated, document } = authn::for_query(world, credentials, body, entry.scope, now)?;
    reject_other_members(entry, &document)?;
    let Authenticated { caller, home, target } = authenticated;
    if caller.attestation.is_some() && !entry.attested {
        return Err(Authn::AttestedOnly.into());
    }
    let tenant = home.head.tenant();
    Ok(Admitted { entry, organization: target, caller, tenant, document, now })
}

/// Rejects a body with a member that only other bodies have.
///
/// Bodies of activities: votes contain them with their stamps. Anyone who reads a vote, such as the receiver of a webhook,
/// could otherwise query in the name of the voter. Bodies of queries that expire: anyone who sees one could otherwise
/// send other queries with it, which do not expire.
fn reject_other_members(entry: &Entry, document: &Document) -> Result<(), RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct OtherMembers {
        r#type: Option<IgnoredAny>,
        timestamp_ms: Option<IgnoredAny>,
        parameters: Option<IgnoredAny>,
        valid_until_ms: Option<IgnoredAny>,
    }
    let OtherMembers { r#type, timestamp_ms, parameters, valid_until_ms } = document.typed()?;
    let valid_until_ms = valid_until_ms.filter(|_| !entry.expires);
    let members = [
        ("type", r#type),
        ("timestampMs", timestamp_ms),
        ("parameters", parameters),
        ("validUntilMs", valid_until_ms),
    ];
    match members.into_iter().find(|(_, value)| value.is_some()) {
        None => Ok(()),
        Some((member, _)) => {
            let text = format!("invalid request body: `{member}`: not allowed in a query");
            Err(Intent::Detail(text).into())
        }
    }
}
