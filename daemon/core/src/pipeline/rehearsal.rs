//! Rehearses a request: applies the rules of its kind, the root quorum and policies as if a user proposed it now. It never
//! executes or stores anything.

use serde_json::Value;
use serde_json::value::to_raw_value;

use super::pending::{Pending, Verdict};
use crate::authentication::Authentication;
use crate::consensus::Approval;
use crate::error::{Corrupt, RequestError};
use crate::kind::Entry;
use crate::model::{Millis, Organization, User};
use crate::view::View;
use crate::world::World;

/// What would happen to a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// Whether it would run without further approvals, unless it breaks a rule.
    pub is_permitted: bool,
    /// The rule that it breaks, if it does.
    pub error: Option<RequestError>,
}

/// Returns what would happen to a request of a user, who stamps it with their first API key.
///
/// # Errors
/// If the parameters do not match the schema of the type, or the store cannot be read.
pub fn rehearse(
    world: &dyn World,
    organization: &Organization,
    user: &User,
    entry: &'static Entry,
    parameters: &Value,
    now: Millis,
) -> Result<Rehearsal, RequestError> {
    let unreadable = || Corrupt::Invariant("parameters of a rehearsal are not JSON");
    let parameters = to_raw_value(parameters).map_err(|_| unreadable())?;
    let prepared = entry.parse(Some(&parameters))?;
    let view = View::new(world, organization, user.id, None, now);
    let pending = Pending::new(world, entry, prepared, view)?;
    let error = pending.rule_error().cloned();
    let key = user.api_keys.first();
    let approval = Approval {
        user: user.id,
        public_key: key.map(|key| key.public_key.clone()).unwrap_or_default(),
        authentication: key.map(|key| Authentication::ApiKey(key.id)),
        created: now,
    };
    let (verdict, _) = pending.decide(&[approval]);
    Ok(Rehearsal { is_permitted: matches!(verdict, Verdict::Allowed(_)), error })
}
