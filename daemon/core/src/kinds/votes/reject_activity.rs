//! Rejects an activity that waits for votes.

use quorate_common::activity::Selection;
use quorate_common::fingerprint::Fingerprint;

use crate::kind::Ballot;
use crate::kinds::prelude::*;

pub(in crate::kinds) struct RejectActivity;

/// Rejects the activity with this fingerprint.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(in crate::kinds) struct Intent {
    fingerprint: Fingerprint,
}

impl Version for Intent {
    type Kind = RejectActivity;
    type Outcome = Empty;
    const TYPE: &'static str = "ACTIVITY_TYPE_REJECT_ACTIVITY";
    const NUMBER: u16 = 19;
    const RESULT: &'static str = "";
}

impl Kind for RejectActivity {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::Vote;
    type Intent = Intent;
    type Plan = ();
    type Outcome = Empty;

    fn rules(_: &Intent, _: &View<'_>) -> Result<(Facts, ()), RequestError> {
        Ok((Facts::default(), ()))
    }

    fn execute(_: Intent, (): (), _: &mut ExecutionContext<'_, '_>) -> Result<Empty, RequestError> {
        Ok(Empty {})
    }

    fn ballot(intent: &Intent) -> Option<Ballot> {
        Some(Ballot { fingerprint: intent.fingerprint, selection: Selection::Rejected })
    }
}
