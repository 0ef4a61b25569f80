//! Votes on waiting activities, and their outcome.

use quorate_tests::http::Reply;
use serde_json::{Value, json};

use super::interruptions::Interruption;
use super::proposals::{guards, waiting_status};
use super::{KeyOwner, Play, Waiting};
use crate::model::activities::{Activity, Replay, Status, Vote, activity_type, kind};
use crate::model::decision::Decision;
use crate::model::mfa;
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
        let fingerprint = self.world.organizations[position].activities[index].fingerprint();
        let (useful, useless) = self.voters(which);
        if interruption.is_none() && !useless.is_empty() && self.choices.one_in(6) {
            let voter = useless[self.choices.below(useless.len())].clone();
            self.prove_nothing(which, &voter, &fingerprint).await;
        }
        if useful.is_empty() {
            return false;
        }
        let voter = useful[self.choices.below(useful.len())].clone();
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

    /// Returns the users with their keys whose approvals are recorded, and those whose approvals prove nothing.
    fn voters(&self, which: usize) -> (Vec<KeyOwner>, Vec<KeyOwner>) {
        let Waiting { position, index, action, proposer } = &self.waiting[which];
        let organization = &self.world.organizations[*position];
        let activity = &organization.activities[*index];
        let votes = &activity.votes;
        let guards = guards(organization, action.as_ref(), &proposer.user);
        let request = mfa::Request { kind: kind(action.name()), proposer: &proposer.user, guards: &guards };
        let decision = self.decide(*position, action.as_ref(), &proposer.user, votes);
        let needs_one_more = decision == Decision::Allowed && activity.status == Status::NeedsProof;
        let (mut useful, mut useless) = (Vec::new(), Vec::new());
        let outsider = organization.user(&proposer.user);
        let outsider = outsider.filter(|user| !organization.members.contains(&user.id) && user.can_stamp());
        let outsider = outsider.map(|user| (user.id.clone(), user.public_keys()));
        for (user, public_keys) in organization.voters().into_iter().chain(outsider) {
            let has_approved = organization.has_approved(activity, &user);
            let is_required = has_approved || user == proposer.user;
            let is_unmet = is_required && mfa::must_authenticate(organization, &request, votes, &user);
            for public_key in public_keys {
                let proves = mfa::proves_step(organization, &request, votes, (&user, &public_key));
                let owner = KeyOwner { user: user.clone(), public_key };
                let is_recorded = if is_unmet { proves } else { needs_one_more || !has_approved };
                if is_recorded {
                    useful.push(owner);
                } else if is_unmet {
                    useless.push(owner);
                }
            }
        }
        (useful, useless)
    }

    /// Approves with a key that does not prove the next step, which changes nothing.
    async fn prove_nothing(&mut self, which: usize, voter: &KeyOwner, fingerprint: &str) {
        let (position, index) = (self.waiting[which].position, self.waiting[which].index);
        let caller = self.caller(position, voter);
        let name = "APPROVE_ACTIVITY";
        self.current = format!("in organization {position}: a proof of nothing for {fingerprint}");
        let body = caller.proposal(&activity_type(name), &json!({ "fingerprint": fingerprint }));
        let reported = self.send(position, voter, name, &body, None).await.activity();
        let activity = &self.world.organizations[position].activities[index];
        assert_eq!(reported["fingerprint"], activity.fingerprint());
        assert_eq!(reported["status"], activity.status.name(), "{reported:#}");
        assert_eq!(reported["votes"].as_array().map(Vec::len), Some(activity.votes.len()), "{reported:#}");
    }

    /// Returns whether an approval completed the deletion of its organization and its answer was lost.
    fn was_last_approval_of_deletion(&self, which: usize, voter: &KeyOwner, reply: &Reply) -> bool {
        let Waiting { position, index, action, proposer } = &self.waiting[which];
        let mut with_last = self.world.organizations[*position].activities[*index].votes.clone();
        let KeyOwner { user, public_key } = voter.clone();
        with_last.push(Vote { user, public_key, is_approval: true });
        let decision = self.decide(*position, action.as_ref(), &proposer.user, &with_last);
        decision == Decision::Allowed && self.was_deleted_before_answer(*position, action.as_ref(), reply)
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
        let objections = action.objections(organization);
        let decision = self.decide(position, action.as_ref(), &proposer.user, &activity.votes);
        let guards = guards(organization, action.as_ref(), &proposer.user);
        let request = mfa::Request { kind: kind(action.name()), proposer: &proposer.user, guards: &guards };
        let needs_proof = mfa::must_authenticate(organization, &request, &activity.votes, &proposer.user);
        if decision != Decision::Allowed {
            let status = waiting_status(needs_proof);
            assert_eq!(reported["status"], status.name(), "{reported:#}");
            self.world.organizations[position].activities[index].status = status;
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
