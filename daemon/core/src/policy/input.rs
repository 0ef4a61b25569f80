//! The input of a decision on an activity, and the evaluation of policies on it.

use std::collections::BTreeMap;

use quorate_common::catalog::{Action, Gate, Resource};
use quorate_common::ids::UserId;
use quorate_policy::decide::{DenyErrors, Electorate, PolicyProgram, SubjectOutcomes, evaluate_policies};
use quorate_policy::request::{Request, RequestFacts, Subject};
use quorate_policy::{Budget, Timestamp};
use serde_json::value::RawValue;

use super::Facts;
use crate::consensus::{self, Approval};
use crate::model::{Millis, Organization};

/// The input of a decision on an activity.
#[derive(Clone, Copy)]
pub struct DecisionInput<'a> {
    /// Organization acted upon.
    pub organization: &'a Organization,
    /// Activity type on the wire.
    pub activity_type: &'static str,
    /// Who decides whether the activity runs.
    pub gate: Gate,
    /// Action and resource that policies match on.
    pub acts: Option<(Action, Resource)>,
    /// `intent` of the wire: an object with one member, which contains the parameters.
    pub intent: &'a RawValue,
    /// Further facts that policies can query.
    pub facts: &'a Facts,
    /// Proposer of the activity.
    pub proposer: UserId,
    /// Whether an attested stamp proposes the activity.
    pub is_attested: bool,
    /// Approvals by current users with current credentials, including the proposer's own, and attested proofs of these
    /// users, in their order. Those of another user count once that user meets their MFA policies.
    pub approvals: &'a [Approval],
    /// How errors of denying policies are handled.
    pub deny_errors: DenyErrors,
    /// Time of the decision.
    pub now: Millis,
}

/// Evaluates policies for each subject.
pub(super) fn outcomes(
    programs: &[&PolicyProgram],
    input: &DecisionInput<'_>,
    budget: &mut Budget,
) -> Vec<SubjectOutcomes> {
    let electorate = electorate(input);
    let request = Request {
        activity_type: input.activity_type,
        acts: input.acts.map(|(action, resource)| (action.name(), resource.name())),
        parameters: parameters(input.intent).unwrap_or(input.intent),
        now: instant(input.now),
    };
    let none = [Subject::default()];
    let subjects = if input.facts.subjects.is_empty() { none.as_slice() } else { &input.facts.subjects };
    let subject_outcomes = |subject| {
        let facts = RequestFacts::new(request, subject);
        evaluate_policies(programs.iter().copied(), &facts, &electorate, input.deny_errors, budget)
    };
    subjects.iter().map(subject_outcomes).collect()
}

/// Returns the parameters in an `intent`, which is an object with one member.
pub(crate) fn parameters(intent: &RawValue) -> Option<&RawValue> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(intent.get()).ok()?;
    members.into_values().next()
}

/// Converts a time to the timestamp of the policy language.
pub(crate) fn instant(now: Millis) -> Option<Timestamp> {
    let seconds = i64::try_from(now / 1000).ok()?;
    Timestamp::new(seconds, u32::try_from(now % 1000).ok()?.checked_mul(1_000_000)?)
}

/// Returns the proposer, the approvers and the users as the policy language sees them.
pub(super) fn electorate<'a>(input: &DecisionInput<'a>) -> Electorate<'a> {
    consensus::electorate(input.organization, input.proposer, input.approvals, input.now)
}
