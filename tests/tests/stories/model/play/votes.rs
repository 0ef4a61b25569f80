//! Votes on what waits, and what comes of it then.

use quorate_tests::http::Reply;
use serde_json::{Value, json};

use super::interruptions::Interruption;
use super::{Asker, Play, Waiting};
use crate::model::activities::{Activity, Replay, Status, Vote, activity_type};
use crate::model::decision::Decision;
use crate::model::objections::Objections;

impl Play {
    /// Others approve the newest waiting activity until it is decided.
    pub(super) async fn agree(&mut self) {
        let count = self.waiting.len();
        while self.waiting.len() == count && self.vote(count - 1, false, None).await {}
    }

    /// Somebody votes on a waiting activity. False if nobody is left who could.
    pub(super) async fn vote(
        &mut self,
        which: usize,
        may_reject: bool,
        interruption: Option<Interruption>,
    ) -> bool {
        let (place, index) = (self.waiting[which].place, self.waiting[which].index);
        let organization = &self.world.organizations[place];
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
        let caller = self.caller(place, &voter);
        let body = caller.proposal(&activity_type(name), &json!({ "fingerprint": fingerprint }));
        let deed = &self.waiting[which].deed;
        self.current = format!("in organization {place}: {name} of {} {}", deed.name(), deed.parameters());
        let answer = self.send(place, &voter, name, &body, interruption).await;
        if is_approval && self.was_the_end(which, &voter, &answer) {
            self.bury(place);
            return true;
        }
        let told = answer.activity();

        let vote = Vote { user: voter.user, public_key: voter.public_key, is_approval };
        let activities = &mut self.world.organizations[place].activities;
        // A vote is an activity of its own, too.
        let replay = Replay::Untold;
        activities.push(Activity {
            replay,
            ..Activity::new(name, body, Vote { is_approval: true, ..vote.clone() })
        });
        activities[index].votes.push(vote);
        if is_approval {
            self.approved(which, &told);
        } else {
            assert_eq!(told["status"], Status::Completed.name(), "a rejection is an activity: {told:#}");
            assert_eq!(told["type"], activity_type(name));
            activities[index].status = Status::Rejected;
            self.waiting.remove(which);
        }
        true
    }

    /// Whether an approval was the last one that its organization needed to go, and its answer was lost.
    fn was_the_end(&self, which: usize, voter: &Asker, reply: &Reply) -> bool {
        let Waiting { place, index, deed, asker } = &self.waiting[which];
        let approvers = [self.approvers(*place, *index), vec![voter.user.clone()]].concat();
        let decision = self.decide(*place, deed.as_ref(), &asker.user, &approvers);
        decision == Decision::Allowed && self.is_over(*place, deed.as_ref(), reply)
    }

    /// Ids of the users whose approvals of an activity count.
    fn approvers(&self, place: usize, index: usize) -> Vec<String> {
        let organization = &self.world.organizations[place];
        let activity = &organization.activities[index];
        let users = organization.users.iter().map(|user| user.id.clone());
        users.filter(|user| organization.has_approved(activity, user)).collect()
    }

    /// An approval was answered with its target.
    fn approved(&mut self, which: usize, told: &Value) {
        let Waiting { place, index, deed, asker } = &self.waiting[which];
        let (place, index) = (*place, *index);
        let organization = &self.world.organizations[place];
        let activity = &organization.activities[index];
        assert_eq!(told["fingerprint"], activity.fingerprint(), "an approval is answered with its target");
        let approvers = self.approvers(place, index);
        let objections = deed.objections(organization);
        let decision = self.decide(place, deed.as_ref(), &asker.user, &approvers);
        if decision != Decision::Allowed {
            assert_eq!(told["status"], Status::Waits.name(), "{told:#}");
        } else if objections.prevail(told["status"] == Status::Failed.name()) {
            self.failed(which, &objections, told);
        } else {
            assert_eq!(told["status"], Status::Completed.name(), "{told:#}");
            let waiting = self.waiting.remove(which);
            self.complete(place, index, waiting.deed.as_ref(), told);
        }
    }

    /// What could have been done when it was asked for can not be done any more.
    fn failed(&mut self, which: usize, objections: &Objections, told: &Value) {
        assert_eq!(told["status"], Status::Failed.name(), "{told:#}");
        let code = told["failure"]["code"].as_i64().expect("the code of a failure");
        objections.met_by_failure(code, told["failure"]["message"].as_str().expect("a message"));
        let waiting = self.waiting.remove(which);
        let activity = &mut self.world.organizations[waiting.place].activities[waiting.index];
        activity.status = Status::Failed;
        activity.failure = Some(code);
        activity.replay = Replay::Untold;
    }
}
