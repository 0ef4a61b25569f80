//! Votes on waiting activities, and their outcome.

use quorate_tests::http::Reply;
use serde_json::{Value, json};

use super::interruptions::Interruption;
use super::{KeyOwner, Play, Waiting};
use crate::model::activities::{Activity, Replay, Status, Vote, activity_type};
use crate::model::decision::Decision;
use crate::model::objections::Objections;

impl Play {
    /// Approves the newest waiting activity until it is decided.
    pub(super) async fn approve_newest(&mut self) {
        let count = self.waiting.len();
        while self.waiting.len() == count && self.vote(count - 1, false, None).await {}
    }

    /// Votes on a waiting activity. Returns false if no further user can vote.
    pub(super) async fn vote(
        &mut self,
        which: usize,
        may_reject: bool,
        interruption: Option<Interruption>,
    ) -> bool {
        let (position, index) = (self.waiting[which].position, self.waiting[which].index);
        let organization = &self.world.organizations[position];
        let activity = &organization.activities[index];
        let fingerprint = activity.fingerprint();
        let mut voters = organization.voters();
        voters.retain(|(user, _)| !organization.has_approved(activity, user));
        if voters.is_empty() {
            return false;
        }
        let voter = self.one_of(&voters);
        let is_approval = !(may_reject && self.choices.one_in(6));
        let name = if is_approval { "APPROVE_ACTIVITY" } else { "REJECT_ACTIVITY" };
        let caller = self.caller(position, &voter);
        let body = caller.proposal(&activity_type(name), &json!({ "fingerprint": fingerprint }));
        let action = &self.waiting[which].action;
        self.current =
            format!("in organization {position}: {name} of {} {}", action.name(), action.parameters());
        let answer = self.send(position, &voter, name, &body, interruption).await;
        if is_approval && self.was_last_approval_of_deletion(which, &voter, &answer) {
            self.remove_organization(position);
            return true;
        }
        let reported = answer.activity();

        let vote = Vote { user: voter.user, public_key: voter.public_key, is_approval };
        let activities = &mut self.world.organizations[position].activities;
        // A vote is also an activity.
        let replay = Replay::Unspecified;
        activities.push(Activity {
            replay,
            ..Activity::new(name, body, Vote { is_approval: true, ..vote.clone() })
        });
        activities[index].votes.push(vote);
        if is_approval {
            self.approved(which, &reported);
        } else {
            assert_eq!(
                reported["status"],
                Status::Completed.name(),
                "a rejection is an activity: {reported:#}"
            );
            assert_eq!(reported["type"], activity_type(name));
            activities[index].status = Status::Rejected;
            self.waiting.remove(which);
        }
        true
    }

    /// Returns whether an approval completed the deletion of its organization and its answer was lost.
    fn was_last_approval_of_deletion(&self, which: usize, voter: &KeyOwner, reply: &Reply) -> bool {
        let Waiting { position, index, action, proposer } = &self.waiting[which];
        let approvers = [self.approvers(*position, *index), vec![voter.user.clone()]].concat();
        let decision = self.decide(*position, action.as_ref(), &proposer.user, &approvers);
        decision == Decision::Allowed && self.was_deleted_before_answer(*position, action.as_ref(), reply)
    }

    /// Returns the ids of the users whose approvals of an activity count.
    fn approvers(&self, position: usize, index: usize) -> Vec<String> {
        let organization = &self.world.organizations[position];
        let activity = &organization.activities[index];
        let users = organization.users.iter().map(|user| user.id.clone());
        users.filter(|user| organization.has_approved(activity, user)).collect()
    }

    /// Checks the answer to an approval, which is its target.
    fn approved(&mut self, which: usize, reported: &Value) {
        let Waiting { position, index, action, proposer } = &self.waiting[which];
        let (position, index) = (*position, *index);
        let organization = &self.world.organizations[position];
        let activity = &organization.activities[index];
        assert_eq!(
            reported["fingerprint"],
            activity.fingerprint(),
            "an approval is answered with its target"
        );
        let approvers = self.approvers(position, index);
        let objections = action.objections(organization);
        let decision = self.decide(position, action.as_ref(), &proposer.user, &approvers);
        if decision != Decision::Allowed {
            assert_eq!(reported["status"], Status::Waits.name(), "{reported:#}");
        } else if objections.must_fail(reported["status"] == Status::Failed.name()) {
            self.failed(which, &objections, reported);
        } else {
            assert_eq!(reported["status"], Status::Completed.name(), "{reported:#}");
            let waiting = self.waiting.remove(which);
            self.complete(position, index, waiting.action.as_ref(), reported);
        }
    }

    /// Records the failure of an activity that was possible when proposed, but is not any more.
    fn failed(&mut self, which: usize, objections: &Objections, reported: &Value) {
        assert_eq!(reported["status"], Status::Failed.name(), "{reported:#}");
        let code = reported["failure"]["code"].as_i64().expect("the code of a failure");
        objections.assert_expected_failure(code, reported["failure"]["message"].as_str().expect("a message"));
        let waiting = self.waiting.remove(which);
        let activity = &mut self.world.organizations[waiting.position].activities[waiting.index];
        activity.status = Status::Failed;
        activity.failure = Some(code);
        activity.replay = Replay::Unspecified;
    }
}
