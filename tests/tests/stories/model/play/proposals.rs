//! What is asked for, and what comes of it at once.

use quorate_tests::http::Reply;
use serde_json::{Value, json};

use super::interruptions::Interruption;
use super::{Asker, Play, Waiting};
use crate::model::activities::{Activity, Replay, Status, Vote, activity_type, intent_name, kind};
use crate::model::comparison;
use crate::model::decision::{Decision, Question, decide};
use crate::model::moves::{self, Choose, Move};
use crate::model::objections::Code;

/// How a denial by the rules begins.
const DENIED: &str = "You don't have sufficient permissions to take this action.";

impl Play {
    /// Somebody asks for something, and if it has to wait, others mostly agree at once.
    pub(super) async fn ask(&mut self, place: usize, choose: Choose, interruption: Option<Interruption>) {
        let deed = self.choose(place, choose);
        let asker = self.asker(place, deed.owner().or(deed.senders().first().copied()));
        self.ask_as(place, deed, asker, interruption).await;
    }

    /// The same for what is chosen already.
    pub(super) async fn ask_as(
        &mut self,
        place: usize,
        deed: Box<dyn Move>,
        asker: Asker,
        interruption: Option<Interruption>,
    ) {
        let caller = self.caller(place, &asker);
        let body = caller.proposal(&activity_type(deed.name()), &deed.parameters());
        self.current = format!("in organization {place}: {}", String::from_utf8_lossy(&body));
        let reply = self.send(place, &asker, deed.name(), &body, interruption).await;
        comparison::holds_no_card(&reply.json().to_string());
        let waited_for = self.waiting.len();
        self.answered(place, deed, asker, body, &reply);
        if self.waiting.len() > waited_for && self.choices.below(3) > 0 {
            self.agree().await;
        }
    }

    /// More of a kind than there is room for: tags in a child, if there is one, and keys that end some day of one
    /// of the members. What waits meanwhile may so lose an approval, and is then voted on.
    pub(super) async fn crowd(&mut self) {
        if let Some(child) = self.playable().get(1).copied() {
            for _ in 0..6 {
                self.ask(child, moves::CREATE_TAG, None).await;
            }
        }
        for _ in 0..3 {
            self.ask(0, moves::CREATE_ENDING_KEYS, None).await;
        }
        for which in (0..self.waiting.len()).rev() {
            // A vote may be the end of others that wait.
            if which < self.waiting.len() {
                self.vote(which, false, None).await;
            }
        }
    }

    /// An answer to a proposal, as the model says.
    fn answered(&mut self, place: usize, deed: Box<dyn Move>, asker: Asker, body: Vec<u8>, reply: &Reply) {
        let organization = &self.world.organizations[place];
        let decision = self.decide(place, deed.as_ref(), &asker.user, std::slice::from_ref(&asker.user));
        if decision == Decision::Allowed && self.is_over(place, deed.as_ref(), reply) {
            self.bury(place);
            return;
        }
        let mut objections = deed.objections(organization);
        objections.invalid(deed.senders().iter().any(|sender| *sender != asker.user), "");
        if decision == Decision::Denied {
            objections.denied(DENIED);
        }
        let user = asker.user.clone();
        let vote = Vote { user, public_key: asker.public_key.clone(), is_approval: true };
        let mut activity = Activity::new(deed.name(), body, vote);
        if !objections.prevail(reply.status != 200) {
            let told = reply.activity();
            activity.id = told["id"].as_str().map(str::to_owned);
            assert_eq!(told["fingerprint"], activity.fingerprint());
            let index = organization.activities.len();
            if decision == Decision::Waits {
                reply.activity_in("CONSENSUS_NEEDED");
                activity.status = Status::Waits;
                self.waiting.push(Waiting { place, index, deed, asker });
                self.world.organizations[place].activities.push(activity);
            } else {
                self.world.organizations[place].activities.push(activity);
                self.complete(place, index, deed.as_ref(), &reply.activity_in("COMPLETED"));
            }
            return;
        }
        let code = objections.met_by(reply);
        if !code.is_of_the_request() {
            let is_denied = code == Code::PermissionDenied;
            activity.status = if is_denied { Status::Rejected } else { Status::Failed };
            activity.failure = Some(code.number());
            activity.replay = Replay::Refused(reply.status);
            self.world.organizations[place].activities.push(activity);
        }
    }

    pub(super) fn decide(
        &self,
        place: usize,
        deed: &dyn Move,
        asker: &str,
        approvers: &[String],
    ) -> Decision {
        if deed.is_decided_by_key() {
            return Decision::Allowed;
        }
        let question = Question {
            kind: kind(deed.name()),
            asker,
            is_own: deed.owner() == Some(asker),
            approvers: approvers.to_vec(),
        };
        decide(&self.world.organizations[place], &question)
    }

    /// Does in the model what the daemon has done.
    pub(super) fn complete(&mut self, place: usize, index: usize, deed: &dyn Move, told: &Value) {
        let result = told["result"].as_object().expect("a result");
        assert_eq!(result.keys().collect::<Vec<_>>(), [deed.result_name()], "{told:#}");
        let result = &result[deed.result_name()];
        let intent = &told["intent"][intent_name(deed.name())];
        assert!(holds(intent, &deed.kept()), "expected what was asked for: {told:#}");
        let organization = &mut self.world.organizations[place];
        let activity = &mut organization.activities[index];
        activity.status = Status::Completed;
        activity.result = json!({ (deed.result_name()): result });
        deed.happen(organization, result);
        if let Some(child) = deed.child(result) {
            self.world.organizations.push(child);
        }
        if deed.is_the_end() {
            self.bury(place);
        }
    }
}

/// Whether a value holds everything that is in another.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| holds(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| holds(whole, part))
        }
        (whole, part) => whole == part,
    }
}
