//! Policies: an effect, and the expressions that determine when it applies.

use quorate_common::bounded::{Label, Text};
use quorate_common::ids::PolicyId;
use quorate_common::wire::{self, Timestamp};
use quorate_common::wire_enum;
use serde::{Deserialize, Serialize};

use super::Millis;
use super::record::Record;

/// Maximum length of an expression, in bytes.
pub const EXPRESSION_LIMIT: usize = 64 * 1024;
/// Maximum length of the notes, in bytes.
pub const NOTES_LIMIT: usize = 4096;

wire_enum! {
    /// The effect of a policy on the activities that it applies to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
    pub enum Effect {
        /// Allows the activity.
        Allow = "EFFECT_ALLOW",
        /// Denies the activity, whatever other policies allow.
        Deny = "EFFECT_DENY",
    }
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
    /// Effect on the activities that match the condition.
    pub effect: Effect,
    /// Activities that the policy applies to; `None` means all.
    pub condition: Option<Text<EXPRESSION_LIMIT>>,
    /// Approvals that the policy requires; `None` means only the proposer's.
    pub consensus: Option<Text<EXPRESSION_LIMIT>>,
    /// Time at which the policy is active; `None` means always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Text<EXPRESSION_LIMIT>>,
    /// Notes of the author.
    pub notes: Text<NOTES_LIMIT>,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl Record for Policy {
    const NOUN: &'static str = "policy";
    /// Since version 2, a policy can be limited in time. Older programs must not read it, since they would
    /// ignore that.
    const VERSION: u8 = 2;
    const OLDEST: u8 = 1;
}

impl Policy {
    /// Returns the total length of the expressions, in bytes.
    pub fn expression_bytes(&self) -> usize {
        let expressions = [&self.condition, &self.consensus, &self.time];
        expressions.into_iter().flatten().map(|text| text.as_str().len()).sum()
    }

    /// Converts to the wire form.
    pub fn wire(&self) -> wire::Policy {
        let text = |expression: &Option<Text<EXPRESSION_LIMIT>>| {
            expression.as_ref().map(|text| text.as_str().to_owned()).unwrap_or_default()
        };
        wire::Policy {
            policy_id: self.id,
            policy_name: self.name.to_string(),
            effect: self.effect.name().to_owned(),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
            notes: self.notes.as_str().to_owned(),
            consensus: text(&self.consensus),
            condition: text(&self.condition),
            time: self.time.as_ref().map(|text| text.as_str().to_owned()),
        }
    }
}
