//! The decision on an activity: root quorum, policies, and changes of the caller's own credentials.

use std::collections::BTreeMap;

use quorate_common::catalog::{Action, Gate, Resource};
use quorate_common::ids::UserId;
use quorate_policy::decide::{
    DenyErrors, Effect, Electorate, PolicyOutcome, PolicyProgram, SubjectOutcomes, VerdictContext,
    evaluate_policies, strictest,
};
use quorate_policy::request::{Request, RequestFacts, Subject};
use quorate_policy::{Budget, Program, REQUEST_STEP_LIMIT, Timestamp, contributors};
use serde_json::value::RawValue;

use super::Facts;
use crate::consensus::{self, Approval};
use crate::error::Denied;
use crate::model::{Evaluation, Millis, Organization};

/// The input of a decision on an activity.
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
    /// Approvals that count, including the proposer's own.
    pub approvals: &'a [Approval],
    /// How errors of denying policies are handled.
    pub deny_errors: DenyErrors,
    /// Time of the decision.
    pub now: Millis,
}

/// The decision on an activity.
pub enum Decision {
    /// The activity may run.
    Allow(Granted),
    /// The activity waits for votes.
    Wait(Rule),
    /// The activity is denied.
    Deny(Denied),
}

/// Proof that a request was decided and may be executed, once. Only this module can construct it.
pub struct Granted {
    _private: (),
}

/// The rule that an activity waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The root quorum must agree; policies do not apply.
    RootQuorumOnly,
    /// The root quorum must agree, because no policy allows the activity.
    RootQuorum,
    /// The root quorum must agree, because a policy denies the activity.
    Denied,
    /// The consensus of a policy must be met; the root quorum can complete the activity as well.
    Policy,
}

/// A decision, and the outcomes of the policies if they were evaluated.
pub struct Decided {
    /// Decision on the activity.
    pub decision: Decision,
    /// Outcome of each policy for each subject of the activity.
    pub evaluations: Vec<Evaluation>,
}

impl From<Decision> for Decided {
    fn from(decision: Decision) -> Self {
        Self { decision, evaluations: Vec::new() }
    }
}

/// Decides an activity by the same rules that the console applies.
pub fn decide(input: &DecisionInput<'_>) -> Decided {
    decide_within(input, &mut Budget::new(REQUEST_STEP_LIMIT))
}

/// Decides like [`decide`], within a budget. A policy that is not completely evaluated permits nothing.
pub fn decide_within(input: &DecisionInput<'_>, budget: &mut Budget) -> Decided {
    match input.gate {
        // What a caller may do for themselves gives them nothing that they do not have.
        // The stamp proves possession of the mailed secret, and the rules check which invitation it belongs
        // to. The stamp of a registrant proves possession of the new passkey, and there is nobody else who
        // could decide.
        Gate::Caller | Gate::Invitation | Gate::Registrant => {
            return Decision::Allow(Granted { _private: () }).into();
        }
        Gate::RootUser if !input.organization.is_root(input.proposer) => {
            return Decision::Deny(Denied::Policies(Vec::new())).into();
        }
        Gate::Policy | Gate::RootQuorum | Gate::OwnCredential | Gate::Vote | Gate::RootUser => {}
    }
    let context = context(input);
    // If the root quorum alone decides, policies are not evaluated.
    let skips_policies = context.root_quorum_is_met || context.root_quorum_only;
    let by_subject =
        if skips_policies { vec![SubjectOutcomes::default()] } else { by_subject(input, budget) };
    let outcome = strictest(by_subject.iter().map(|subject_outcomes| subject_outcomes.verdict(context)));
    let evaluations = evaluations(input.organization, &by_subject);
    let decision = match outcome {
        PolicyOutcome::Allow => Decision::Allow(Granted { _private: () }),
        PolicyOutcome::RequiresConsensus => Decision::Wait(rule(context, &evaluations)),
        PolicyOutcome::DenyExplicit => Decision::Deny(Denied::Explicit(evaluations.clone())),
        PolicyOutcome::DenyImplicit | PolicyOutcome::Error | PolicyOutcome::TimeInactive => {
            Decision::Deny(Denied::Policies(evaluations.clone()))
        }
    };
    Decided { decision, evaluations }
}

/// Returns the facts about an activity that do not depend on policies.
fn context(input: &DecisionInput<'_>) -> VerdictContext {
    let organization = input.organization;
    let roots =
        consensus::users(input.approvals).into_iter().filter(|user| organization.is_root(*user)).count();
    let threshold = usize::try_from(organization.head.quorum.threshold).unwrap_or(usize::MAX);
    let is_own = input.facts.own_credentials_of == Some(input.proposer);
    VerdictContext {
        root_quorum_is_met: roots >= threshold,
        root_quorum_only: input.gate == Gate::RootQuorum,
        proposer_is_root: organization.is_root(input.proposer),
        is_self_service: input.gate == Gate::OwnCredential && is_own,
    }
}

/// Returns the rule that an activity waits for. Only the root quorum can override a denial; otherwise a
/// policy that lacks votes comes before the root quorum.
fn rule(context: VerdictContext, evaluations: &[Evaluation]) -> Rule {
    let has = |wanted| evaluations.iter().any(|evaluation| evaluation.outcome == wanted);
    if context.root_quorum_only {
        Rule::RootQuorumOnly
    } else if has(PolicyOutcome::DenyExplicit) {
        Rule::Denied
    } else if has(PolicyOutcome::RequiresConsensus) {
        Rule::Policy
    } else {
        Rule::RootQuorum
    }
}

/// Evaluates all policies for each subject.
fn by_subject(input: &DecisionInput<'_>, budget: &mut Budget) -> Vec<SubjectOutcomes> {
    let programs: Vec<_> = input.organization.policies().map(|parsed| &parsed.program).collect();
    if programs.is_empty() {
        return vec![SubjectOutcomes::default()];
    }
    outcomes(&programs, input, budget)
}

/// Returns whether an activity is within the scope of a session: the condition is true for each subject. A
/// condition that cannot be evaluated permits nothing.
pub fn is_within_scope(scope: &str, input: &DecisionInput<'_>) -> bool {
    let Ok(program) = PolicyProgram::parse(Effect::Allow, Some(scope), None, None) else { return false };
    let by_subject = outcomes(&[&program], input, &mut Budget::new(REQUEST_STEP_LIMIT));
    by_subject.iter().all(|subject| subject.outcomes.iter().all(|one| *one == PolicyOutcome::Allow))
}

/// Evaluates policies for each subject.
fn outcomes(
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

fn electorate<'a>(input: &DecisionInput<'a>) -> Electorate<'a> {
    consensus::electorate(input.organization, input.proposer, input.approvals, input.now)
}

/// Returns the outcome of each policy, subject by subject.
fn evaluations(organization: &Organization, by_subject: &[SubjectOutcomes]) -> Vec<Evaluation> {
    let outcomes = by_subject.iter().flat_map(|subject_outcomes| {
        let policies = organization.policies().map(|parsed| parsed.policy.id);
        policies.zip(subject_outcomes.outcomes.iter().copied())
    });
    outcomes.map(|(policy, outcome)| Evaluation { policy, outcome }).collect()
}

/// Returns which of these users could still contribute to an activity, given the outcomes of policies: root
/// users, and users who count for the consensus of a policy.
pub fn voters(
    input: &DecisionInput<'_>,
    evaluations: &[Evaluation],
    users: &[UserId],
    budget: &mut Budget,
) -> Vec<UserId> {
    let organization = input.organization;
    // If the root quorum is already met, policies were not evaluated; the users they count may still complete
    // it.
    let evaluated = match evaluations {
        [] if input.gate != Gate::RootQuorum => self::evaluations(organization, &by_subject(input, budget)),
        known => known.to_vec(),
    };
    // Only the root quorum can override a denial.
    let is_denied = evaluated.iter().any(|one| one.outcome == PolicyOutcome::DenyExplicit);
    let waits = |id| {
        !is_denied
            && evaluated.iter().any(|one| one.policy == id && one.outcome == PolicyOutcome::RequiresConsensus)
    };
    let waiting = organization.policies().filter(|parsed| waits(parsed.policy.id));
    let programs: Vec<_> = waiting.filter_map(|parsed| consensus_of(&parsed.program)).collect();
    let names: Vec<String> = users.iter().map(ToString::to_string).collect();
    let counted = contributors(&programs, &electorate(input), &names, budget);
    let contributes = |(user, counts): (UserId, bool)| (counts || organization.is_root(user)).then_some(user);
    users.iter().copied().zip(counted).filter_map(contributes).collect()
}

fn consensus_of(program: &PolicyProgram) -> Option<&Program> {
    program.consensus.as_ref()
}
