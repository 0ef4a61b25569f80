//! Replaces the root quorum: its members and its threshold.

use quorate_common::ids::UserId;

use crate::kinds::prelude::*;
use crate::make::quorum;
use crate::model::{RootQuorum, User};

pub(in crate::kinds) struct UpdateRootQuorum;

/// Replaces the root quorum: its members and how many of them must agree.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    threshold: i32,
    #[serde(default)]
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = UpdateRootQuorum;
    type Outcome = Empty;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";
    const NUMBER: u16 = 30;
    const RESULT: &'static str = "updateRootQuorumResult";
}

impl Kind for UpdateRootQuorum {
    const ACTS: Option<(Action, Resource)> = None;
    const GATE: Gate = Gate::RootQuorum;
    type Intent = Intent;
    type Plan = RootQuorum;
    type Outcome = Empty;

    fn rules(intent: &Intent, view: &View<'_>) -> Result<(Facts, RootQuorum), RequestError> {
        let threshold = u32::try_from(intent.threshold).unwrap_or(0);
        if threshold == 0 {
            return Err(Wrong::Threshold("quorum threshold must be non-zero integer").into());
        }
        distinct(intent.user_ids.iter(), "userIds")?;
        let can_vote = |id: &UserId| view.organization.user(*id).is_some_and(User::has_key);
        if intent.user_ids.is_empty() || !intent.user_ids.iter().all(can_vote) {
            return Err(Wrong::QuorumUsers.into());
        }
        if usize::try_from(threshold).unwrap_or(usize::MAX) > intent.user_ids.len() {
            return Err(
                Wrong::Threshold("quorum threshold must not exceed the number of quorum users").into()
            );
        }
        let members = intent.user_ids.iter().copied().collect();
        let root_quorum = RootQuorum { threshold, members };
        quorum::can_be_met(&root_quorum, view.organization)?;
        Ok((Facts::default(), root_quorum))
    }

    fn execute(
        _: Intent,
        quorum: RootQuorum,
        context: &mut ExecutionContext<'_, '_>,
    ) -> Result<Empty, RequestError> {
        context.change(Change::SetQuorum(quorum));
        Ok(Empty {})
    }
}
