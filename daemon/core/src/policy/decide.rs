//! The decision on an activity: root quorum, policies, and changes of the caller's own credentials.

use quorate_common::catalog::Gate;
use quorate_common::ids::UserId;
use quorate_policy::decide::{
    Effect, PolicyOutcome, PolicyProgram, SubjectOutcomes, VerdictContext, strictest,
};
use quorate_policy::{Budget, Program, REQUEST_STEP_LIMIT, contributors};

use super::input::{DecisionInput, electorate, outcomes};
use super::mfa::{self, MfaState};
use crate::consensus::{self, Approval};
use crate::error::Denied;
use crate::model::{Evaluation, Organization};

/// The decision on an activity.
pub enum Decision {
    /// The activity may run.
    Allow(Granted),
    /// The activity waits for votes, or for proofs of its proposer.
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
    /// The proposer must meet their MFA policies first.
    Authenticators,
}

/// A decision, and the outcomes of the policies if they were evaluated.
pub struct Decided {
    /// Decision on the activity.
    pub decision: Decision,
    /// Outcome of each policy for each subject of the activity.
    pub evaluations: Vec<Evaluation>,
    /// MFA policies that apply to the proposer and to the users who approved.
    pub mfa: Vec<MfaState>,
}

impl Decided {
    /// Returns whether a user must still prove an authentication method.
    pub fn must_authenticate(&self, user: UserId) -> bool {
        self.mfa.iter().any(|state| state.user == user && !state.is_met())
    }

    /// Returns the approvals that count, one for each user and key: those of users who meet their MFA policies, and
    /// those of the proposer, without whom nothing runs. What only proves a step of an MFA policy is no approval.
    pub fn counted(&self, approvals: &[Approval], proposer: UserId) -> Vec<Approval> {
        let counts =
            |one: &&Approval| one.consents() && (one.user == proposer || !self.must_authenticate(one.user));
        consensus::one_per_key(approvals.iter().filter(counts))
    }
}

/// The decision without regard to the MFA policies of the proposer.
enum Ruling {
    Allow,
    Wait(Rule),
    Deny(Denied),
}

/// Decides an activity by the same rules that the console applies.
pub fn decide(input: &DecisionInput<'_>) -> Decided {
    decide_within(input, &mut Budget::new(REQUEST_STEP_LIMIT))
}

/// Decides like [`decide`], within a budget. A policy that is not completely evaluated permits nothing.
pub fn decide_within(input: &DecisionInput<'_>, budget: &mut Budget) -> Decided {
    let mfa = mfa::states(input, budget);
    let mut decided =
        Decided { decision: Decision::Wait(Rule::Authenticators), evaluations: Vec::new(), mfa };
    let approvals = decided.counted(input.approvals, input.proposer);
    let (ruling, evaluations) = rule_on(&DecisionInput { approvals: &approvals, ..*input }, budget);
    decided.evaluations = evaluations;
    decided.decision = match ruling {
        Ruling::Deny(denied) => Decision::Deny(denied),
        Ruling::Allow | Ruling::Wait(_) if decided.must_authenticate(input.proposer) => {
            Decision::Wait(Rule::Authenticators)
        }
        Ruling::Wait(rule) => Decision::Wait(rule),
        Ruling::Allow => Decision::Allow(Granted { _private: () }),
    };
    decided
}

/// Decides with approvals that count, and returns the outcome of each policy.
fn rule_on(input: &DecisionInput<'_>, budget: &mut Budget) -> (Ruling, Vec<Evaluation>) {
    match input.gate {
        // What a caller may do for themselves gives them nothing that they do not have.
        // The stamp proves possession of the mailed secret, and the rules check which invitation it belongs
        // to. The stamp of a registrant proves possession of the new passkey, and there is nobody else who
        // could decide.
        Gate::Caller | Gate::Invitation | Gate::Registrant => {
            return (Ruling::Allow, Vec::new());
        }
        Gate::RootUser if !input.organization.is_root(input.proposer) => {
            return (Ruling::Deny(Denied::Policies(Vec::new())), Vec::new());
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
    let ruling = match outcome {
        PolicyOutcome::Allow => Ruling::Allow,
        PolicyOutcome::RequiresConsensus => Ruling::Wait(rule(context, &evaluations)),
        PolicyOutcome::DenyExplicit => Ruling::Deny(Denied::Explicit(evaluations.clone())),
        PolicyOutcome::DenyImplicit | PolicyOutcome::Error | PolicyOutcome::TimeInactive => {
            Ruling::Deny(Denied::Policies(evaluations.clone()))
        }
    };
    (ruling, evaluations)
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
