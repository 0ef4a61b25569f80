//! Returns what the console shows of an organization.
//!
//! - `{"path": "", "validUntilMs": 1767225660000}` is answered.
//! - `{"path": "status", "validUntilMs": 1767225660000}` is answered.
//! - `{"path": "organizations?limit=2", "validUntilMs": 1767225660000}` is answered.
//! - `{"path": "inbox?limit=2", "validUntilMs": 1767225660000}` is answered.
//! - `{"path": "activities/$activity", "validUntilMs": 1767225660000}` is answered.
//! - `{"path": "webhooks", "validUntilMs": 1767225660000}` is refused with 404: no console view found with the given ID
//! - `{"path": "", "validUntilMs": 1767225599999}` is refused with 400: request is too old: `validUntilMs` is in the past
//! - `{"path": "", "validUntilMs": 1767226000000}` is refused with 400: request is ahead of time: `validUntilMs` is more than five minutes ahead

use quorate_common::console::{
    Mode, PROTOCOL, REMOTE_CHILDREN, REMOTE_STATUS, REMOTE_VALID_MILLIS, RemoteStatus,
};
use serde_json::value::RawValue;

use crate::console_routes::{self, Parameters};
use crate::error::Corrupt;
use crate::operator;
use crate::policy::DenyErrors;
use crate::queries::prelude::*;

/// Maximum length of a path with its parameters.
const PATH_LIMIT: usize = 8192;

// The answer of a route of the console, rendered already.
#[derive(Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Rendered(#[schemars(with = "serde_json::Value")] Box<RawValue>);

/// Returns what the console shows of an organization. The query is answered for a limited time, so that nobody who
/// sees it can read with it later.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetConsoleView {
    /// Path below the organization in the console protocol, with its parameters.
    #[schemars(length(max = PATH_LIMIT))]
    path: String,
    /// Time until which the query is answered, in milliseconds since 1970: at most five minutes ahead.
    valid_until_ms: u64,
}

impl Query for GetConsoleView {
    const EXPIRES: bool = true;
    type Answer = Rendered;

    fn answer(self, context: &QueryContext<'_>) -> Result<Rendered, RequestError> {
        self.check_time(context.now)?;
        if self.path.len() > PATH_LIMIT {
            return Err(Intent::Text("invalid request body: `path`: too long").into());
        }
        let (path, parameters) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let body = body(context, &parts, &Parameters::of(parameters))?;
        let text = String::from_utf8(body).ok().and_then(|text| RawValue::from_string(text).ok());
        Ok(Rendered(text.ok_or(Corrupt::Invariant("an answer is not JSON"))?))
    }
}

impl GetConsoleView {
    fn check_time(&self, now: u64) -> Result<(), RequestError> {
        if self.valid_until_ms < now {
            return Err(Intent::Time("request is too old: `validUntilMs` is in the past").into());
        }
        if self.valid_until_ms > now.saturating_add(REMOTE_VALID_MILLIS) {
            let text = "request is ahead of time: `validUntilMs` is more than five minutes ahead";
            return Err(Intent::Time(text).into());
        }
        Ok(())
    }
}

fn body(
    context: &QueryContext<'_>,
    parts: &[&str],
    parameters: &Parameters,
) -> Result<Vec<u8>, RequestError> {
    let (world, id) = (context.world, context.id());
    let is_child = context.organization.head.parent.is_some();
    match parts {
        [REMOTE_STATUS] => console_routes::json(&status(context)),
        [REMOTE_CHILDREN] => {
            let (after, limit) = (parameters.id("after")?, parameters.limit()?);
            let page = match parameters.text("contact") {
                None => operator::organizations(world, Some(id), after, limit)?,
                Some(contact) => operator::with_contact(world, id, &contact, after, limit)?,
            };
            console_routes::json(&page)
        }
        // The parent keeps the events of messages.
        ["messages"] if is_child => Err(Intent::ClosedToChildren("list message events").into()),
        [] if is_child => {
            let organization = operator::organization(world, id)?;
            console_routes::json(&wire::OrganizationDetail { invitation_mails: Vec::new(), ..organization })
        }
        _ => console_routes::answer(world, id, parts, parameters, context.now)?
            .ok_or_else(|| Missing::Other("console view").into()),
    }
}

fn status(context: &QueryContext<'_>) -> RemoteStatus {
    let installation = context.world.installation();
    RemoteStatus {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mode: if installation.is_dev() { Mode::Dev } else { Mode::Production },
        now_millis: context.now,
        quorum_public_key: installation.quorum_key().public_key(),
        strict_deny_errors: installation.deny_errors() == DenyErrors::Deny,
        organization_version: context.organization.head.version,
    }
}
