//! The judgement of an activity: its rules, then the root quorum and policies. Only this module creates
//! permits.

use quorate_common::ids::UserId;
use serde_json::value::RawValue;

use super::commit::Transition;
use super::proposal_of;
use crate::budget::Budget;
use crate::consensus::Approval;
use crate::error::{Corrupt, Denied, RequestError};
use crate::execution::ExecutionContext;
use crate::kind::{Entry, PreparedRequest, RuleOutcome};
use crate::model::{ActivityRecord, Evaluation};
use crate::policy::{self, Decided, Decision, DecisionInput, Facts};
use crate::view::View;
use crate::world::Runtime;

/// A request to which the rules of its kind were applied.
pub(crate) struct CheckedRequest<'a> {
    entry: &'static Entry,
    prepared: Box<dyn PreparedRequest>,
    facts: Facts,
    error: Option<RequestError>,
    view: View<'a>,
}

/// The verdict on a request by its rules, the root quorum and policies.
pub(super) enum Verdict<'a> {
    /// The request may run, or fails because it breaks a rule.
    Allowed(Result<Permit<'a>, RequestError>),
    /// The request needs more approvals. Contains the error of its rules, if it breaks one.
    Waits(Option<RequestError>),
    /// The request is denied.
    Denied(Denied),
}

/// The permission to execute one request, once.
pub(super) struct Permit<'a> {
    prepared: Box<dyn PreparedRequest>,
    view: View<'a>,
}

/// Proof that the executed request has a permit. Only this module can construct it.
pub struct Granted {
    _private: (),
}

impl<'a> CheckedRequest<'a> {
    /// Applies the rules to a request.
    pub(super) fn new(
        entry: &'static Entry,
        mut prepared: Box<dyn PreparedRequest>,
        view: View<'a>,
    ) -> Result<Self, Corrupt> {
        let RuleOutcome { facts, error } = prepared.rules(&view)?;
        Ok(Self { entry, prepared, facts, error, view })
    }

    /// Applies the rules to the proposal of a stored activity again.
    pub(crate) fn from_record(record: &ActivityRecord, view: View<'a>) -> Result<Self, Corrupt> {
        let (entry, prepared) = proposal_of(record)?;
        Self::new(entry, prepared, view)
    }

    /// Returns the row of the activity type.
    pub(crate) fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Returns the `intent` of the wire.
    pub(crate) fn intent(&self) -> &RawValue {
        self.prepared.intent()
    }

    /// Returns the facts that policies can query.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the error of the rules, if the request breaks one.
    pub(super) fn rule_error(&self) -> Option<&RequestError> {
        self.error.as_ref()
    }

    fn input<'c>(&'c self, approvals: &'c [Approval]) -> DecisionInput<'c> {
        DecisionInput {
            organization: self.view.organization,
            entry: self.entry,
            intent: self.prepared.intent(),
            facts: &self.facts,
            proposer: self.view.proposer,
            approvals,
            deny_errors: self.view.deny_errors(),
            now: self.view.now,
        }
    }

    /// Returns the decision with these approvals, and which of these users could still contribute. The policy
    /// steps are charged to a budget.
    pub(super) fn consult(
        &self,
        approvals: &[Approval],
        users: &[UserId],
        budget: &Budget,
    ) -> (Decided, Vec<UserId>) {
        let input = self.input(approvals);
        let decided = budget.with_steps(|steps| policy::decide_within(&input, steps));
        let voters = budget.with_steps(|steps| policy::voters(&input, &decided.evaluations, users, steps));
        (decided, voters)
    }

    /// Returns the verdict with these approvals, and the outcome of each policy.
    pub(super) fn decide(self, approvals: &[Approval]) -> (Verdict<'a>, Vec<Evaluation>) {
        let Decided { decision, evaluations } = policy::decide(&self.input(approvals));
        let verdict = match (decision, self.error) {
            (Decision::Allow, None) => {
                Verdict::Allowed(Ok(Permit { prepared: self.prepared, view: self.view }))
            }
            (Decision::Allow, Some(error)) => Verdict::Allowed(Err(error)),
            (Decision::Wait(_), error) => Verdict::Waits(error),
            (Decision::Deny(denied), _) => Verdict::Denied(denied),
        };
        (verdict, evaluations)
    }
}

impl Permit<'_> {
    /// Executes the permitted request. An error of the execution fails the activity; only an internal error
    /// aborts the transaction attempt.
    pub(super) fn execute(self, runtime: &mut Runtime<'_>) -> Result<Transition, RequestError> {
        let mut own = Runtime { now: runtime.now, order: runtime.order, entropy: &mut *runtime.entropy };
        let mut context = ExecutionContext::new(self.view, &mut own);
        match self.prepared.execute(Granted { _private: () }, &mut context) {
            Ok(result) => Ok(Transition::Completed(result, context.finish())),
            Err(corrupt @ RequestError::Corrupt(_)) => Err(corrupt),
            Err(error) => Ok(Transition::Failed(error.api_error())),
        }
    }
}
