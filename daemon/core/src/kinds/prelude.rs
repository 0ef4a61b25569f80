//! What every kind needs.

pub(super) use quorate_common::bounded::{AtMost, Label};
pub(super) use quorate_common::catalog::{Action, Gate, Resource};
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};

pub(super) use crate::cx::Cx;
pub(super) use crate::kind::{Entry, Form, Kind, entry};
pub(super) use crate::limits::BATCH;
pub(super) use crate::model::Change;
pub(super) use crate::policy::Facts;
pub(super) use crate::refusal::{Intent as Wrong, Missing, Refusal};
pub(super) use crate::view::{View, distinct, not_empty, room};

/// A result without members.
#[derive(Serialize, JsonSchema)]
pub(super) struct Empty {}
