//! A policy: who may do what, in two expressions.

use quorate_common::bounded::{Label, Text};
use quorate_common::ids::PolicyId;
use quorate_common::wire::{self, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::record::{Record, from_json};
use crate::refusal::Corrupt;

/// Longest expression, in bytes.
pub const EXPRESSION_LIMIT: usize = 64 * 1024;
/// Longest note, in bytes.
pub const NOTES_LIMIT: usize = 4096;

/// What a policy does where it applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Effect {
    /// Allows.
    #[serde(rename = "EFFECT_ALLOW")]
    Allow,
    /// Denies, whatever other policies allow.
    #[serde(rename = "EFFECT_DENY")]
    Deny,
}

impl From<Effect> for quorate_policy::decide::Effect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Allow => Self::Allow,
            Effect::Deny => Self::Deny,
        }
    }
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// Id.
    pub id: PolicyId,
    /// Name.
    pub name: Label,
    /// Effect.
    pub effect: Effect,
    /// Which activities it is about; none means all.
    pub condition: Option<Text<EXPRESSION_LIMIT>>,
    /// Whose approvals it needs; none means nobody's but the asker's.
    pub consensus: Option<Text<EXPRESSION_LIMIT>>,
    /// When it is active; none means always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Text<EXPRESSION_LIMIT>>,
    /// Notes.
    pub notes: Text<NOTES_LIMIT>,
    /// Created at.
    pub created: Millis,
    /// Last changed at.
    pub updated: Millis,
}

impl Record for Policy {
    const NOUN: &'static str = "policy";
    /// Since version 2 a policy may be limited in time, and must not be read by whoever does not know that.
    const VERSION: u8 = 2;

    fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        match bytes.split_first() {
            Some((1 | 2, json)) => from_json(json),
            _ => Err(Corrupt::Record(Self::NOUN)),
        }
    }
}

impl Policy {
    /// Its expressions together, in bytes.
    pub fn expression_bytes(&self) -> usize {
        let expressions = [&self.condition, &self.consensus, &self.time];
        expressions.into_iter().flatten().map(|text| text.as_str().len()).sum()
    }

    /// As queries show it.
    pub fn wire(&self) -> wire::Policy {
        let text = |expression: &Option<Text<EXPRESSION_LIMIT>>| {
            expression.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default()
        };
        wire::Policy {
            policy_id: self.id,
            policy_name: self.name.to_string(),
            effect: match self.effect {
                Effect::Allow => "EFFECT_ALLOW",
                Effect::Deny => "EFFECT_DENY",
            }
            .to_owned(),
            created_at: Timestamp::of_millis(self.created),
            updated_at: Timestamp::of_millis(self.updated),
            notes: self.notes.as_str().to_owned(),
            consensus: text(&self.consensus),
            condition: text(&self.condition),
            time: self.time.as_ref().map(|text| text.as_str().to_owned()),
        }
    }
}
