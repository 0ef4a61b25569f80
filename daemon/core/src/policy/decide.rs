//! The decision: root quorum, policies, and what users may do to their own credentials.

use std::collections::BTreeMap;

use quorate_common::catalog::Gate;
use quorate_common::ids::UserId;
use quorate_policy::decide::{
    DenyErrors, Electorate, PolicyOutcome, PolicyProgram, Ruling, Standing, consult, strictest,
};
use quorate_policy::request::{Request, RequestFacts, Subject};
use quorate_policy::{Budget, Program, REQUEST_STEP_LIMIT, Timestamp, contributors};
use serde_json::value::RawValue;

use super::Facts;
use crate::consensus::{self, Approval};
use crate::kind::Entry;
use crate::model::{Evaluation, Millis, Organization};
use crate::refusal::Denied;

/// An activity that is to be decided.
pub struct Case<'a> {
    /// The organization acted upon.
    pub organization: &'a Organization,
    /// The kind.
    pub entry: &'a Entry,
    /// Its `intent`: an object of one member, which holds the parameters.
    pub intent: &'a RawValue,
    /// What policies may ask beside that.
    pub facts: &'a Facts,
    /// Who asked.
    pub proposer: UserId,
    /// Approvals that count, the proposer's own among them.
    pub approvals: &'a [Approval],
    /// What becomes of denying policies that fail.
    pub deny_errors: DenyErrors,
    /// Now.
    pub now: Millis,
}

/// What a case comes to.
pub enum Decision {
    /// It may run.
    Allow,
    /// It waits for votes.
    Wait(Rule),
    /// It may not run.
    Deny(Denied),
}

/// Which rule an activity waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The root quorum must agree, and policies are not asked.
    RootQuorumOnly,
    /// The root quorum must agree, because no policy permits it.
    RootQuorum,
    /// The root quorum must agree, because a policy denies it.
    Denied,
    /// A policy's consensus must hold; the root quorum can complete it too.
    Policy,
}

/// What a case comes to, and what each policy said of it where policies were asked.
pub struct Decided {
    /// What it comes to.
    pub decision: Decision,
    /// What each policy said of each thing that the case is about.
    pub evaluations: Vec<Evaluation>,
}

impl From<Decision> for Decided {
    fn from(decision: Decision) -> Self {
        Self { decision, evaluations: Vec::new() }
    }
}

/// Decides, by the rules that the console applies, too.
pub fn decide(case: &Case<'_>) -> Decided {
    decide_within(case, &mut Budget::new(REQUEST_STEP_LIMIT))
}

/// Decides as [`decide`] does, if the budget allows it. Policies that are not asked to their end permit nothing.
pub fn decide_within(case: &Case<'_>, budget: &mut Budget) -> Decided {
    match case.entry.gate {
        // Who holds the secret was proven, and which invitation it opens is checked by the rules.
        // Whoever founds an organization was proven to hold its passkey, and there is nobody else to ask.
        Gate::Invitation | Gate::Founder => return Decision::Allow.into(),
        Gate::RootUser if !case.organization.is_root(case.proposer) => {
            return Decision::Deny(Denied::Policies(Vec::new())).into();
        }
        Gate::Policy | Gate::RootQuorum | Gate::OwnCredential | Gate::Vote | Gate::RootUser => {}
    }
    let standing = standing(case);
    // Where the root quorum alone decides, policies are not asked.
    let unasked = standing.root_quorum_is_met || standing.root_quorum_only;
    let rulings = if unasked { vec![Ruling::default()] } else { rulings(case, budget) };
    let outcome = strictest(rulings.iter().map(|ruling| ruling.verdict(standing)));
    let evaluations = evaluations(case.organization, &rulings);
    let decision = match outcome {
        PolicyOutcome::Allow => Decision::Allow,
        PolicyOutcome::RequiresConsensus => Decision::Wait(rule(standing, &evaluations)),
        PolicyOutcome::DenyExplicit => Decision::Deny(Denied::Explicit(evaluations.clone())),
        PolicyOutcome::DenyImplicit | PolicyOutcome::Error | PolicyOutcome::TimeInactive => {
            Decision::Deny(Denied::Policies(evaluations.clone()))
        }
    };
    Decided { decision, evaluations }
}

/// What the organization knows about a case apart from its policies.
fn standing(case: &Case<'_>) -> Standing {
    let organization = case.organization;
    let roots =
        consensus::users(case.approvals).into_iter().filter(|user| organization.is_root(*user)).count();
    let threshold = usize::try_from(organization.head.quorum.threshold).unwrap_or(usize::MAX);
    let own = case.facts.own_credentials_of == Some(case.proposer);
    Standing {
        root_quorum_is_met: roots >= threshold,
        root_quorum_only: case.entry.gate == Gate::RootQuorum,
        requester_is_root: organization.is_root(case.proposer),
        is_self_service: case.entry.gate == Gate::OwnCredential && own,
    }
}

/// A denial can be overridden by the root quorum only; otherwise a policy that lacks votes is what is waited for.
fn rule(standing: Standing, evaluations: &[Evaluation]) -> Rule {
    let has = |wanted| evaluations.iter().any(|said| said.outcome == wanted);
    if standing.root_quorum_only {
        Rule::RootQuorumOnly
    } else if has(PolicyOutcome::DenyExplicit) {
        Rule::Denied
    } else if has(PolicyOutcome::RequiresConsensus) {
        Rule::Policy
    } else {
        Rule::RootQuorum
    }
}

/// What all policies say of each subject.
fn rulings(case: &Case<'_>, budget: &mut Budget) -> Vec<Ruling> {
    let organization = case.organization;
    if organization.policies().next().is_none() {
        return vec![Ruling::default()];
    }
    let electorate = electorate(case);
    let request = Request {
        activity_type: case.entry.activity_type,
        acts: case.entry.acts.map(|(action, resource)| (action.name(), resource.name())),
        parameters: parameters(case.intent).unwrap_or(case.intent),
        now: instant(case.now),
    };
    let none = [Subject::default()];
    let subjects = if case.facts.subjects.is_empty() { none.as_slice() } else { &case.facts.subjects };
    let said = |subject| {
        let facts = RequestFacts::new(request, subject);
        let programs = organization.policies().map(|parsed| &parsed.program);
        consult(programs, &facts, &electorate, case.deny_errors, budget)
    };
    subjects.iter().map(said).collect()
}

/// The parameters within an `intent`, which is an object of one member.
pub(crate) fn parameters(intent: &RawValue) -> Option<&RawValue> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(intent.get()).ok()?;
    members.into_values().next()
}

/// A time as the policy language has it.
pub(crate) fn instant(now: Millis) -> Option<Timestamp> {
    let seconds = i64::try_from(now / 1000).ok()?;
    Timestamp::new(seconds, u32::try_from(now % 1000).ok()?.checked_mul(1_000_000)?)
}

fn electorate<'a>(case: &Case<'a>) -> Electorate<'a> {
    consensus::electorate(case.organization, case.proposer, case.approvals, case.now)
}

/// What each policy said, of one subject after the other.
fn evaluations(organization: &Organization, rulings: &[Ruling]) -> Vec<Evaluation> {
    let said = rulings.iter().flat_map(|ruling| {
        let policies = organization.policies().map(|parsed| parsed.policy.id);
        policies.zip(ruling.outcomes.iter().copied())
    });
    said.map(|(policy, outcome)| Evaluation { policy, outcome }).collect()
}

/// Which of these users could still help a case along, by what policies said of it: root users, and users whom a
/// policy's consensus would count.
pub fn voters(
    case: &Case<'_>,
    evaluations: &[Evaluation],
    users: &[UserId],
    budget: &mut Budget,
) -> Vec<UserId> {
    let organization = case.organization;
    // Where the root quorum is met already, policies were not asked; still, whoever they count may complete it.
    let asked = match evaluations {
        [] if case.entry.gate != Gate::RootQuorum => self::evaluations(organization, &rulings(case, budget)),
        asked => asked.to_vec(),
    };
    // A denial is overridden by the root quorum and nobody else.
    let denied = asked.iter().any(|said| said.outcome == PolicyOutcome::DenyExplicit);
    let waits = |id| {
        !denied
            && asked.iter().any(|said| said.policy == id && said.outcome == PolicyOutcome::RequiresConsensus)
    };
    let waiting = organization.policies().filter(|parsed| waits(parsed.policy.id));
    let programs: Vec<_> = waiting.filter_map(|parsed| consensus_of(&parsed.program)).collect();
    let names: Vec<String> = users.iter().map(ToString::to_string).collect();
    let counted = contributors(&programs, &electorate(case), &names, budget);
    let helps = |(user, counts): (UserId, bool)| (counts || organization.is_root(user)).then_some(user);
    users.iter().copied().zip(counted).filter_map(helps).collect()
}

fn consensus_of(program: &PolicyProgram) -> Option<&Program> {
    program.consensus.as_ref()
}
