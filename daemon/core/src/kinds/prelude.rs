//! Imports that every kind needs.

pub(super) use quorate_common::bounded::{AtMost, Label};
pub(super) use quorate_common::catalog::{Action, Gate, Resource};
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};

pub(super) use crate::error::{Intent as Wrong, Missing, RequestError};
pub(super) use crate::execution::Execution;
pub(super) use crate::kind::{Acts, Entry, Kind, Version, entry};
pub(super) use crate::limits::BATCH;
pub(super) use crate::model::Change;
pub(super) use crate::policy::Facts;
pub(super) use crate::view::{CredentialScope, View, check_limit, distinct, look_up_each, not_empty};

/// A result without members.
#[derive(Serialize, JsonSchema)]
pub(super) struct Empty {}
