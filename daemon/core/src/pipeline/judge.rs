//! Judging an activity: its rules, then the root quorum and policies. Permits are made here and nowhere else.

use quorate_common::ids::UserId;
use serde_json::value::RawValue;

use super::commit::Settled;
use super::proposal_of;
use crate::budget::Budget;
use crate::consensus::Approval;
use crate::cx::Cx;
use crate::kind::{Entry, Ready, RuleOutcome};
use crate::model::{ActivityRecord, Evaluation};
use crate::policy::{self, Case, Decided, Decision, Facts};
use crate::refusal::{Corrupt, Denied, Refusal};
use crate::view::View;
use crate::world::Moment;

/// A request to which its rules were applied.
pub(crate) struct Ruled<'a> {
    entry: &'static Entry,
    ready: Box<dyn Ready>,
    facts: Facts,
    refusal: Option<Refusal>,
    view: View<'a>,
}

/// What a request comes to by its rules, the root quorum and policies.
pub(super) enum Verdict<'a> {
    /// It may run, or fails because its rules refuse it.
    Allowed(Result<Permit<'a>, Refusal>),
    /// It needs more approvals. Holds why its rules refuse it, if they do.
    Waits(Option<Refusal>),
    /// It may not run.
    Denied(Denied),
}

/// The right to execute one request, once.
pub(super) struct Permit<'a> {
    ready: Box<dyn Ready>,
    view: View<'a>,
}

/// That a permit was given for what is executed.
pub struct Granted {
    _only_here: (),
}

impl<'a> Ruled<'a> {
    /// Applies the rules to a request.
    pub(super) fn new(
        entry: &'static Entry,
        mut ready: Box<dyn Ready>,
        view: View<'a>,
    ) -> Result<Self, Corrupt> {
        let RuleOutcome { facts, refusal } = ready.rules(&view)?;
        Ok(Self { entry, ready, facts, refusal, view })
    }

    /// Applies the rules to the proposal of a stored activity again.
    pub(crate) fn again(record: &ActivityRecord, view: View<'a>) -> Result<Self, Corrupt> {
        let (entry, ready) = proposal_of(record)?;
        Self::new(entry, ready, view)
    }

    /// The row of its type.
    pub(crate) fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The wire's `intent`.
    pub(crate) fn intent(&self) -> &RawValue {
        self.ready.intent()
    }

    /// What policies may ask about it.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Why its rules refuse it.
    pub(super) fn refusal(&self) -> Option<&Refusal> {
        self.refusal.as_ref()
    }

    fn case<'c>(&'c self, approvals: &'c [Approval]) -> Case<'c> {
        Case {
            organization: self.view.organization,
            entry: self.entry,
            intent: self.ready.intent(),
            facts: &self.facts,
            proposer: self.view.proposer,
            approvals,
            deny_errors: self.view.deny_errors(),
            now: self.view.now,
        }
    }

    /// Returns what it would come to with these approvals, and which of these users could still help it along, at the
    /// cost of a budget.
    pub(super) fn consult(
        &self,
        approvals: &[Approval],
        users: &[UserId],
        budget: &Budget,
    ) -> (Decided, Vec<UserId>) {
        let case = self.case(approvals);
        let decided = budget.with_steps(|steps| policy::decide_within(&case, steps));
        let voters = budget.with_steps(|steps| policy::voters(&case, &decided.evaluations, users, steps));
        (decided, voters)
    }

    /// What it comes to with these approvals, and what each policy said.
    pub(super) fn decide(self, approvals: &[Approval]) -> (Verdict<'a>, Vec<Evaluation>) {
        let Decided { decision, evaluations } = policy::decide(&self.case(approvals));
        let verdict = match (decision, self.refusal) {
            (Decision::Allow, None) => Verdict::Allowed(Ok(Permit { ready: self.ready, view: self.view })),
            (Decision::Allow, Some(refusal)) => Verdict::Allowed(Err(refusal)),
            (Decision::Wait(_), refusal) => Verdict::Waits(refusal),
            (Decision::Deny(denied), _) => Verdict::Denied(denied),
        };
        (verdict, evaluations)
    }
}

impl Permit<'_> {
    /// Executes what is permitted. What goes wrong now is the activity's failure; only faults of ours end the turn.
    pub(super) fn execute(self, moment: &mut Moment<'_>) -> Result<Settled, Refusal> {
        let mut own = Moment { now: moment.now, order: moment.order, entropy: &mut *moment.entropy };
        let mut cx = Cx::new(self.view, &mut own);
        match self.ready.execute(Granted { _only_here: () }, &mut cx) {
            Ok(result) => Ok(Settled::Completed(result, cx.finish())),
            Err(corrupt @ Refusal::Corrupt(_)) => Err(corrupt),
            Err(refusal) => Ok(Settled::Failed(refusal.fault())),
        }
    }
}
