//! The decision: root quorum, policies, and what users may do to their own credentials.

use std::cell::OnceCell;

use quorate_common::catalog::Gate;
use quorate_common::ids::{PolicyId, UserId};
use quorate_policy::decide::{Electorate, PolicyOutcome, Standing, outcome, strictest, verdict};

use super::{Facts, Permit};
use crate::consensus::{self, Approval};
use crate::kind::Entry;
use crate::model::organization::ParsedPolicy;
use crate::model::{Evaluation, Millis, Organization};
use crate::refusal::Denied;

/// An activity that is to be decided.
pub struct Case<'a> {
    /// The organization acted upon.
    pub organization: &'a Organization,
    /// The kind.
    pub entry: &'a Entry,
    /// What policies may ask.
    pub facts: &'a Facts,
    /// Who asked.
    pub proposer: UserId,
    /// Approvals that count, the proposer's own among them.
    pub approvals: &'a [Approval],
    /// Now.
    pub now: Millis,
}

/// What a case comes to.
pub enum Decision {
    /// It may run.
    Permit(Permit),
    /// It waits for votes.
    Wait(Rule),
    /// It may not run.
    Deny(Denied),
}

/// Which rule an activity waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The root quorum must agree.
    RootQuorum,
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
    match case.entry.gate {
        // Who holds the secret was proven, and which invitation it opens is checked by the rules.
        // Whoever founds an organization was proven to hold its passkey, and there is nobody else to ask.
        Gate::Invitation | Gate::Founder => return Decision::Permit(Permit::mint()).into(),
        Gate::RootUser if !case.organization.is_root(case.proposer) => {
            return Decision::Deny(Denied::Policies(Vec::new())).into();
        }
        Gate::Policy | Gate::RootQuorum | Gate::OwnCredential | Gate::Vote | Gate::RootUser => {}
    }
    let standing = standing(case);
    // Where the root quorum alone decides, policies are not asked.
    let unasked = standing.root_quorum_is_met || standing.root_quorum_only;
    let evaluations = if unasked { Vec::new() } else { evaluations(case) };
    let of_one = |said: &[Evaluation]| verdict(standing, said.iter().map(|one| one.outcome));
    let outcome = if evaluations.is_empty() {
        of_one(&[])
    } else {
        strictest(evaluations.chunks(case.organization.policies().count()).map(of_one))
    };
    let decision = match outcome {
        PolicyOutcome::Allow => Decision::Permit(Permit::mint()),
        PolicyOutcome::RequiresConsensus => Decision::Wait(rule(&evaluations)),
        PolicyOutcome::DenyExplicit => Decision::Deny(Denied::Explicit(named(&evaluations))),
        PolicyOutcome::DenyImplicit | PolicyOutcome::Error | PolicyOutcome::TimeInactive => {
            Decision::Deny(Denied::Policies(named(&evaluations)))
        }
    };
    Decided { decision, evaluations }
}

/// What the organization knows about a case apart from its policies.
fn standing(case: &Case<'_>) -> Standing {
    let organization = case.organization;
    let roots = case.approvals.iter().filter(|approval| organization.is_root(approval.user)).count();
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
fn rule(evaluations: &[Evaluation]) -> Rule {
    let has = |wanted| evaluations.iter().any(|said| said.outcome == wanted);
    if has(PolicyOutcome::RequiresConsensus) && !has(PolicyOutcome::DenyExplicit) {
        Rule::Policy
    } else {
        Rule::RootQuorum
    }
}

/// What each policy says, of one thing that the case is about after the other.
fn evaluations(case: &Case<'_>) -> Vec<Evaluation> {
    let mut evaluations = Vec::new();
    if case.organization.policies().next().is_none() {
        return evaluations;
    }
    let electorate = electorate(case);
    for facts in std::iter::once(case.facts).chain(&case.facts.more) {
        let facts = facts.roots(case.entry.activity_type, case.entry.kind_name(), case.entry.acts);
        let said = |parsed: &ParsedPolicy| Evaluation {
            policy: parsed.policy.id,
            outcome: outcome(&parsed.program, &facts, &electorate),
        };
        evaluations.extend(case.organization.policies().map(said));
    }
    evaluations
}

fn electorate<'a>(case: &Case<'a>) -> Electorate<'a> {
    consensus::electorate(case.organization, case.proposer, case.approvals, case.now)
}

fn named(evaluations: &[Evaluation]) -> Vec<(PolicyId, &'static str)> {
    evaluations.iter().map(|said| (said.policy, said.outcome.wire_name())).collect()
}

/// Who could still help a case along: root users, and users whom a policy's consensus would count.
pub fn voters(case: &Case<'_>) -> Vec<UserId> {
    let organization = case.organization;
    let candidates = organization.users().filter(|user| user.has_credential());
    let contributors = OnceCell::new();
    let helps = |user: UserId| {
        organization.is_root(user)
            || (case.entry.gate != Gate::RootQuorum
                && contributors.get_or_init(|| contributing(case)).contains(&user))
    };
    candidates.map(|user| user.id).filter(|user| helps(*user)).collect()
}

fn contributing(case: &Case<'_>) -> Vec<UserId> {
    let waiting: Vec<PolicyId> = evaluations(case)
        .into_iter()
        .filter(|said| said.outcome == PolicyOutcome::RequiresConsensus)
        .map(|said| said.policy)
        .collect();
    let programs = case.organization.policies().filter(|parsed| waiting.contains(&parsed.policy.id));
    let programs: Vec<_> = programs.filter_map(|parsed| parsed.program.consensus.as_ref()).collect();
    let electorate = electorate(case);
    let counted = case.organization.users().map(|user| user.id).filter(|id| {
        let id = id.to_string();
        programs.iter().any(|program| quorate_policy::contributes(program, &electorate, &id))
    });
    counted.collect()
}
