//! The outcomes of policies, as votes record them and clients read them.

use quorate_common::ids::PolicyId;
use quorate_common::wire;
use quorate_policy::decide::PolicyOutcome;
use serde::{Deserialize, Serialize};

/// The outcome of a policy when a vote was cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Policy that was evaluated.
    pub policy: PolicyId,
    /// Its outcome.
    pub outcome: PolicyOutcome,
}

impl Evaluation {
    /// Converts to the wire form.
    pub fn wire(&self) -> wire::PolicyOutcome {
        wire::PolicyOutcome { policy_id: self.policy, outcome: self.outcome.wire_name().to_owned() }
    }
}
