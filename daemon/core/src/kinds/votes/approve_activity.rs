//! Approves an activity that waits for votes.

use quorate_common::activity::Selection;
use quorate_common::fingerprint::Fingerprint;

use crate::kind::Ballot;
use crate::kinds::prelude::*;

/// Approves the activity with this fingerprint.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    fingerprint: Fingerprint,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_APPROVE_ACTIVITY";
    const NUMBER: u16 = 18;
}

impl Kind for Intent {
    const GATE: Gate = Gate::Vote;
    // As a step of an MFA policy only, see `Voters::admits_token`.
    const ATTESTED: bool = true;
    type Plan = ();
    type Outcome = Empty;

    fn rules(&self, _: &View<'_>) -> Result<(), RequestError> {
        Ok(())
    }

    fn execute(self, (): (), _: &mut Execution<'_>) -> Result<Empty, RequestError> {
        Ok(Empty {})
    }

    fn ballot(&self) -> Option<Ballot> {
        Some(Ballot { fingerprint: self.fingerprint, selection: Selection::Approved })
    }
}
