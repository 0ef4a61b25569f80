//! MFA policies of users, stored with their user.

use quorate_common::bounded::{AtMost, Label, Text};
use quorate_common::ids::MfaPolicyId;
use quorate_common::wire::{self, MFA_STEPS, RequiredAuthenticationMethod, Timestamp};
use serde::{Deserialize, Serialize};

use super::Millis;
use super::policy::{EXPRESSION_LIMIT, NOTES_LIMIT};

/// The steps that an MFA policy requires, in their order.
pub type MfaSteps = AtMost<RequiredAuthenticationMethod, MFA_STEPS>;

/// A requirement of further authentication for activities of one user.
#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MfaPolicy {
    /// Id.
    pub id: MfaPolicyId,
    /// Name.
    pub name: Label,
    /// Activities that the policy applies to.
    pub condition: Text<EXPRESSION_LIMIT>,
    /// Steps that must be proven, at least one.
    pub steps: MfaSteps,
    /// Position among the MFA policies of the user, which no other of them has.
    pub order: u32,
    /// Notes of the author.
    pub notes: Option<Text<NOTES_LIMIT>>,
    /// Time of creation.
    pub created: Millis,
    /// Time of the last change.
    pub updated: Millis,
}

impl MfaPolicy {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::MfaPolicy {
        wire::MfaPolicy {
            mfa_policy_id: self.id,
            mfa_policy_name: self.name.to_string(),
            condition: self.condition.as_str().to_owned(),
            required_authentication_methods: self.steps.clone(),
            order: self.order,
            notes: self.notes.as_ref().map(|notes| notes.as_str().to_owned()),
            created_at: Timestamp::from_millis(self.created),
            updated_at: Timestamp::from_millis(self.updated),
        }
    }
}
