//! The filter and the order of a list of activities, as a request to the daemon.

use std::fmt::Write as _;

use quorate_common::activity::Status;
use quorate_common::console::HistoryOrder;
use quorate_common::ids::UserId;
use serde::Serialize;

use super::escape::escaped;

/// The filter and the order of a list of activities. An empty list means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) statuses: Vec<Status>,
    /// Activity types; votes are left out if there are none.
    pub(crate) types: Vec<String>,
    pub(crate) proposers: Vec<UserId>,
    /// Each word must occur in the request, or start the id.
    pub(crate) words: Vec<String>,
    /// Only activities from before this time, in milliseconds since the Unix epoch.
    pub(crate) before: Option<u64>,
    pub(crate) order: HistoryOrder,
    /// Whether to read from the end of the list.
    pub(crate) reverse: bool,
}

impl History {
    /// Returns the parameters of the request.
    pub(super) fn parameters(&self) -> String {
        let mut out = String::new();
        let names = |values: &[Status]| values.iter().filter_map(name).collect::<Vec<_>>();
        let proposers: Vec<String> = self.proposers.iter().map(ToString::to_string).collect();
        for (key, values) in
            [("status", &names(&self.statuses)), ("type", &self.types), ("proposer", &proposers)]
        {
            if !values.is_empty() {
                let _ = write!(out, "&{key}={}", escaped(&values.join(",")));
            }
        }
        if !self.words.is_empty() {
            let _ = write!(out, "&text={}", escaped(&self.words.join(" ")));
        }
        if let Some(before) = self.before {
            let _ = write!(out, "&before={before}");
        }
        if let Some(order) = name(&self.order) {
            let _ = write!(out, "&order={order}&reverse={}", self.reverse);
        }
        out
    }
}

/// Returns the name of a value on the wire.
fn name<T: Serialize>(value: &T) -> Option<String> {
    Some(serde_json::to_value(value).ok()?.as_str()?.to_owned())
}
