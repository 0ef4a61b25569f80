//! Replaces the root quorum: its members and its threshold.

use crate::kinds::prelude::*;
use crate::make::quorum;
use crate::model::RootQuorum;

/// Replaces the root quorum: its members and how many of them must agree.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Intent {
    threshold: i32,
    #[serde(default)]
    user_ids: AtMost<UserId, BATCH>,
}

impl Version for Intent {
    type Kind = Self;
    const TYPE: &'static str = "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";
    const NUMBER: u16 = 30;
}

impl Kind for Intent {
    const GATE: Gate = Gate::RootQuorum;
    type Plan = RootQuorum;
    type Outcome = Empty;

    fn rules(&self, view: &View<'_>) -> Result<RootQuorum, RequestError> {
        let threshold = quorum::threshold(self.threshold)?;
        distinct(self.user_ids.iter(), "userIds")?;
        let can_vote = |id: &UserId| view.organization.user(*id).is_some_and(User::has_key);
        if self.user_ids.is_empty() || !self.user_ids.iter().all(can_vote) {
            return Err(Wrong::QuorumUsers.into());
        }
        if usize::try_from(threshold).unwrap_or(usize::MAX) > self.user_ids.len() {
            return Err(
                Wrong::Threshold("quorum threshold must not exceed the number of quorum users").into()
            );
        }
        let members = self.user_ids.iter().copied().collect();
        let root_quorum = RootQuorum { threshold, members };
        quorum::can_be_met(&root_quorum, view.organization)?;
        Ok(root_quorum)
    }

    fn execute(self, quorum: RootQuorum, context: &mut Execution<'_>) -> Result<Empty, RequestError> {
        context.change(Change::SetQuorum(quorum));
        Ok(Empty {})
    }
}
