//! The routes of the console below an organization, which the local socket serves without a caller, and the query
//! `get_console_view` to users of the organization. This module only reads.

use std::str::FromStr;

use quorate_common::activity::Status;
use quorate_common::console::PAGE_LIMIT;
use quorate_common::ids::OrganizationId;
use serde::Serialize;

use crate::activity_log;
use crate::advice;
use crate::error::{Corrupt, Intent, Missing, RequestError};
use crate::model::Millis;
use crate::operator::{self, ActivityQuery, HistoryQuery};
use crate::world::World;

/// Answers the path after `/console/v1/organizations/ID/`, in parts. Returns `None` if there is no such path.
///
/// # Errors
/// If the path names nothing, a parameter is invalid, or the store cannot be read.
pub fn answer(
    world: &dyn World,
    id: OrganizationId,
    parts: &[&str],
    query: &Parameters,
    now: Millis,
) -> Result<Option<Vec<u8>>, RequestError> {
    let body = match parts {
        [] => json(&operator::organization(world, id)?),
        ["signer"] => json(&operator::signer(world, id, &query.text("name").unwrap_or_default(), now)?),
        ["messages"] => json(&operator::messages(world, id, query.id("after")?, query.limit()?)?),
        ["history"] => json(&operator::history(world, id, &history(query)?, now)?),
        ["inbox"] => {
            let after = query.text("after");
            json(&operator::inbox(world, id, after.as_deref(), query.limit()?, now)?)
        }
        ["activities"] => json(&operator::activities(world, id, &activities(query)?, now)?),
        ["policies", "findings"] => json(&serde_json::json!({"findings": advice::findings(world, id, now)?})),
        ["activities", reference, "explanation"] => json(&advice::explained(world, id, reference, now)?),
        ["activities", reference, "location"] => json(&operator::location(world, id, reference)?),
        ["checkpoint"] => {
            // Callers of other organizations, and those of none, get the same at a public path.
            world.organization(id)?.ok_or(Missing::Organization)?;
            json(&activity_log::checkpoint(world, query.number("from")?)?)
        }
        ["activities", reference] => {
            json(&operator::review(world, id, reference, query.number("from")?, now)?)
        }
        ["wallets", wallet, "accounts"] => {
            let wallet = parsed(wallet)?;
            json(&operator::accounts(world, id, wallet, query.id("after")?, query.limit()?)?)
        }
        _ => return Ok(None),
    };
    body.map(Some)
}

fn activities(query: &Parameters) -> Result<ActivityQuery, RequestError> {
    Ok(ActivityQuery {
        statuses: query.statuses()?,
        types: query.list("type"),
        ids: query.list("id").iter().map(|id| parsed(id)).collect::<Result<_, _>>()?,
        after: query.id("after")?,
        limit: query.limit()?,
    })
}

fn history(query: &Parameters) -> Result<HistoryQuery, RequestError> {
    let order = query.text("order").unwrap_or_else(|| "time".to_owned());
    Ok(HistoryQuery {
        statuses: query.statuses()?,
        types: query.list("type"),
        proposers: query.list("proposer").iter().map(|id| parsed(id)).collect::<Result<_, _>>()?,
        words: query.text("text").unwrap_or_default().split_whitespace().map(str::to_lowercase).collect(),
        before: query.number("before")?,
        order: serde_json::from_value(serde_json::Value::String(order))
            .map_err(|_| Intent::Text("unknown order"))?,
        reverse: query.text("reverse").is_some_and(|text| text == "true"),
        after: query.text("after"),
        limit: query.limit()?,
    })
}

pub(crate) fn json<T: Serialize>(value: &T) -> Result<Vec<u8>, RequestError> {
    let error = Corrupt::Invariant("an answer cannot be serialized");
    Ok(serde_json::to_vec(value).map_err(|_| error)?)
}

fn parsed<T: FromStr>(text: &str) -> Result<T, RequestError> {
    text.parse().map_err(|_| Intent::Text("expected an id").into())
}

/// The parameters in the query part of a request target.
pub struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Decodes the query part, without the `?`.
    pub fn of(text: &str) -> Self {
        Self(url::form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// Returns the value of a parameter, unless it is empty.
    pub fn text(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    }

    /// Returns the value of a parameter that is a decimal number.
    ///
    /// # Errors
    /// If it is not.
    pub fn number(&self, name: &str) -> Result<Option<u64>, RequestError> {
        let text = self.text(name);
        Ok(text.map(|text| text.parse().map_err(|_| Intent::Text("expected a number"))).transpose()?)
    }

    fn list(&self, name: &str) -> Vec<String> {
        let text = self.text(name).unwrap_or_default();
        text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    fn statuses(&self) -> Result<Vec<Status>, RequestError> {
        let unknown = || RequestError::from(Intent::Text("unknown status"));
        let status = |name: &String| {
            serde_json::from_value(serde_json::Value::String(name.clone())).map_err(|_| unknown())
        };
        self.list("status").iter().map(status).collect()
    }

    /// Returns the id that a parameter is.
    ///
    /// # Errors
    /// If it is no id.
    pub fn id<T: FromStr>(&self, name: &str) -> Result<Option<T>, RequestError> {
        self.text(name).map(|text| parsed(&text)).transpose()
    }

    /// Returns the number of entries on a page, which is at most [`PAGE_LIMIT`].
    ///
    /// # Errors
    /// If it is no number.
    pub fn limit(&self) -> Result<usize, RequestError> {
        match self.text("limit") {
            None => Ok(PAGE_LIMIT),
            Some(text) => {
                let limit: usize = text.parse().map_err(|_| Intent::Text("expected a number as `limit`"))?;
                Ok(limit.clamp(1, PAGE_LIMIT))
            }
        }
    }
}
