//! Returns the outcomes of policies at each vote on an activity.
//!
//! - `{"activityId": "$activity"}` is answered.
//! - `{"activityId": "$unknown"}` is refused with 404: no activity found with the given ID

use quorate_common::activity::Selection;
use quorate_common::ids::{EvaluationId, VoteId};
use quorate_common::wire::Timestamp;
use sha2::{Digest, Sha256};

use crate::model::Evaluation;
use crate::queries::prelude::*;

/// Returns the outcomes of policies at each approval of an activity.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct GetPolicyEvaluations {
    activity_id: ActivityId,
}

impl Query for GetPolicyEvaluations {
    type Answer = Vec<wire::PolicyEvaluation>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::PolicyEvaluation>, RequestError> {
        let record = super::activity(context, self.activity_id)?;
        // A rejection ends an activity without evaluating policies.
        let approvals = record.votes.iter().filter(|vote| vote.selection == Selection::Approved);
        let evaluations = approvals.map(|vote| wire::PolicyEvaluation {
            id: evaluation_id(vote.id),
            activity_id: record.id,
            organization_id: record.organization,
            vote_id: vote.id,
            policy_evaluations: vote.evaluations.iter().map(Evaluation::wire).collect(),
            created_at: Timestamp::from_millis(vote.created),
        });
        Ok(evaluations.collect())
    }
}

/// Derives the id of the evaluations of a vote from the id of the vote.
fn evaluation_id(vote: VoteId) -> EvaluationId {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(Sha256::digest(vote.as_bytes())).for_each(|(to, from)| *to = from);
    EvaluationId::random(bytes)
}
