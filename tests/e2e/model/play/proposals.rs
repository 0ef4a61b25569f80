//! Proposals and their immediate outcome.

use quorate_tests::http::Reply;
use serde_json::{Value, json};

use super::interruptions::Interruption;
use super::{KeyOwner, Play, Waiting};
use crate::model::activities::{Activity, Replay, Status, Vote, activity_type, intent_name, kind};
use crate::model::comparison;
use crate::model::decision::{Decision, DecisionInput, decide};
use crate::model::mfa;
use crate::model::moves::{self, Choose, Move};
use crate::model::objections::Code;
use crate::model::world::Organization;

/// Start of the message of a denial by policies.
const DENIED: &str = "You don't have sufficient permissions to take this action.";

impl Play {
    /// Proposes an activity. If it must wait, others mostly approve it at once.
    pub(super) async fn propose(
        &mut self,
        position: usize,
        choose: Choose,
        interruption: Option<Interruption>,
    ) {
        let action = self.choose(position, choose);
        let proposer = self.proposer(position, action.owner().or(action.senders().first().copied()));
        self.propose_as(position, action, proposer, interruption).await;
    }

    /// Proposes an activity that was chosen already.
    pub(super) async fn propose_as(
        &mut self,
        position: usize,
        action: Box<dyn Move>,
        proposer: KeyOwner,
        interruption: Option<Interruption>,
    ) {
        let caller = self.caller(position, &proposer);
        let body = caller.proposal(&activity_type(action.name()), &action.parameters());
        self.current = format!("in organization {position}: {}", String::from_utf8_lossy(&body));
        let reply = self.send(position, &proposer, action.name(), &body, interruption).await;
        comparison::assert_no_card(&reply.json().to_string());
        let waited_for = self.waiting.len();
        self.answered(position, action, proposer, body, &reply);
        if self.waiting.len() > waited_for && self.choices.below(3) > 0 {
            self.approve_newest().await;
        }
    }

    /// Exceeds limits: of tags in a child, if there is one, and of expiring keys of a member. Waiting
    /// activities may lose an approval by this, and are then voted on.
    pub(super) async fn exceed_limits(&mut self) {
        if let Some(child) = self.playable().get(1).copied() {
            for _ in 0..6 {
                self.propose(child, moves::CREATE_TAG, None).await;
            }
        }
        for _ in 0..3 {
            self.propose(0, moves::CREATE_ENDING_KEYS, None).await;
        }
        for which in (0..self.waiting.len()).rev() {
            // A vote may remove other waiting activities.
            if which < self.waiting.len() {
                self.vote(which, false, None).await;
            }
        }
    }

    /// Checks the answer to a proposal against the model.
    fn answered(
        &mut self,
        position: usize,
        action: Box<dyn Move>,
        proposer: KeyOwner,
        body: Vec<u8>,
        reply: &Reply,
    ) {
        let organization = &self.world.organizations[position];
        let user = proposer.user.clone();
        let vote = Vote { user, public_key: proposer.public_key.clone(), is_approval: true };
        let decision = self.decide(position, action.as_ref(), &proposer.user, std::slice::from_ref(&vote));
        if decision == Decision::Allowed && self.was_deleted_before_answer(position, action.as_ref(), reply) {
            self.remove_organization(position);
            return;
        }
        let mut objections = action.objections(organization);
        objections.invalid(action.senders().iter().any(|sender| *sender != proposer.user), "");
        if decision == Decision::Denied {
            objections.denied(DENIED);
        }
        let mut activity = Activity::new(action.name(), body, vote);
        if !objections.must_fail(reply.status != 200) {
            let reported = reply.activity();
            activity.id = reported["id"].as_str().map(str::to_owned);
            assert_eq!(reported["fingerprint"], activity.fingerprint());
            let index = organization.activities.len();
            if !action.is_repeatable() {
                activity.replay = Replay::Unspecified;
            }
            if decision == Decision::Allowed {
                self.world.organizations[position].activities.push(activity);
                self.complete(position, index, action.as_ref(), &reply.activity_in("COMPLETED"));
            } else {
                activity.status = waiting_status(decision == Decision::NeedsProof);
                assert_eq!(reported["status"], activity.status.name(), "{reported:#}");
                self.waiting.push(Waiting { position, index, action, proposer });
                self.world.organizations[position].activities.push(activity);
            }
            return;
        }
        let code = objections.assert_expected(reply);
        if !code.is_request_error() {
            let is_denied = code == Code::PermissionDenied;
            activity.status = if is_denied { Status::Rejected } else { Status::Failed };
            activity.failure = Some(code.number());
            activity.replay = Replay::Error(reply.status);
            self.world.organizations[position].activities.push(activity);
        }
    }

    /// Decides an activity with these votes.
    pub(super) fn decide(
        &self,
        position: usize,
        action: &dyn Move,
        proposer: &str,
        votes: &[Vote],
    ) -> Decision {
        let organization = &self.world.organizations[position];
        let guards = guards(organization, action, proposer);
        let request = mfa::Request { kind: kind(action.name()), proposer, guards: &guards };
        let must_authenticate = |user: &str| mfa::must_authenticate(organization, &request, votes, user);
        let users = organization.users.iter().map(|user| user.id.as_str());
        let approvers = users.filter(|user| organization.is_approved_by(votes, user));
        // Approvals of others count once their users have met their MFA policies.
        let counted = approvers.filter(|user| *user == proposer || !must_authenticate(user));
        let input = DecisionInput {
            kind: kind(action.name()),
            proposer,
            is_own: action.owner() == Some(proposer),
            approvers: counted.map(str::to_owned).collect(),
        };
        let decision =
            if action.is_decided_by_key() { Decision::Allowed } else { decide(organization, &input) };
        let is_denied = decision == Decision::Denied;
        if !is_denied && must_authenticate(proposer) { Decision::NeedsProof } else { decision }
    }

    /// Applies a completed activity to the model.
    pub(super) fn complete(&mut self, position: usize, index: usize, action: &dyn Move, reported: &Value) {
        let result = reported["result"].as_object().expect("a result");
        assert_eq!(result.keys().collect::<Vec<_>>(), [action.result_name()], "{reported:#}");
        let result = &result[action.result_name()];
        let intent = &reported["intent"][intent_name(action.name())];
        assert!(
            contains(intent, &action.recorded_parameters()),
            "expected the proposed intent: {reported:#}"
        );
        let organization = &mut self.world.organizations[position];
        let activity = &mut organization.activities[index];
        activity.status = Status::Completed;
        activity.result = json!({ (action.result_name()): action.recorded_result(result) });
        action.apply(organization, result);
        if let Some(child) = action.child(result) {
            self.world.organizations.push(child);
        }
        if action.ends_organization() {
            self.remove_organization(position);
        }
    }
}

/// Returns the status of an activity that waits.
pub(super) fn waiting_status(needs_proof: bool) -> Status {
    if needs_proof { Status::NeedsProof } else { Status::Waits }
}

/// Returns the MFA policies that the proposer must meet whatever their conditions are. An activity that breaks a rule
/// changes none.
pub(super) fn guards(organization: &Organization, action: &dyn Move, proposer: &str) -> Vec<String> {
    if action.objections(organization).must_fail(false) {
        return Vec::new();
    }
    action.guards(organization, proposer)
}

/// Returns whether a value contains all members of another one.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(name, part)| whole.get(name).is_some_and(|whole| contains(whole, part)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len() && whole.iter().zip(part).all(|(whole, part)| contains(whole, part))
        }
        (whole, part) => whole == part,
    }
}
