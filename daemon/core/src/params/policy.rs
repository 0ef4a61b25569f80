//! Policies as clients describe them.

use quorate_common::bounded::{Label, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::policy::{EXPRESSION_LIMIT, Effect, NOTES_LIMIT};

/// A policy to be created.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyParams {
    /// Name.
    pub policy_name: Label,
    /// What it does where it applies.
    pub effect: Effect,
    /// Which activities it is about; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Text<EXPRESSION_LIMIT>>,
    /// Whose approvals it needs; nobody's but the asker's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consensus: Option<Text<EXPRESSION_LIMIT>>,
    /// Notes.
    #[serde(default)]
    pub notes: Text<NOTES_LIMIT>,
    /// When it applies. Not offered: a policy is never taken without the limits it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Text<EXPRESSION_LIMIT>>,
}
