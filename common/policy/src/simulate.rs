//! Simulates the decision about a request by all policies, the root quorum and self-service, with reasons.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::budget::Budget;
use crate::contribution::contributors;
use crate::decide::{
    Approver, DenyErrors, Electorate, PolicyOutcome, PolicyProgram, Proposer, SubjectOutcomes,
    VerdictContext, evaluate_policies, strictest,
};
use crate::explain::{Explanation, explain};
use crate::program::Program;
use crate::request::{Request, RequestFacts, Subject};
use crate::{DECISION_STEP_LIMIT, REQUEST_STEP_LIMIT};

/// A policy with its id and name.
#[derive(Clone, Debug)]
pub struct NamedPolicy {
    /// Id of the policy.
    pub id: String,
    /// Name of the policy.
    pub name: String,
    /// Effect and parsed expressions.
    pub program: PolicyProgram,
}

/// Everything in an organization that decides on requests.
#[derive(Clone, Debug, Default)]
pub struct OrganizationRules {
    /// Users, each with all valid credentials.
    pub users: Vec<Approver>,
    /// Ids of the users of the root quorum.
    pub roots: Vec<String>,
    /// Number of root users who must approve.
    pub threshold: usize,
    /// Policies of the organization.
    pub policies: Vec<NamedPolicy>,
    /// Treatment of deny policies whose evaluation fails.
    pub deny_errors: DenyErrors,
}

/// Who decides on requests of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// The root quorum or a policy.
    Policy,
    /// The root quorum only.
    RootQuorum,
    /// As [`Self::Policy`]; in addition, a user may change their own credentials.
    OwnCredential,
    /// As [`Self::Policy`], but only a root user may propose it.
    RootUser,
}

/// A request to simulate, real or hypothetical.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedRequest<'a> {
    /// Type and parameters of the request.
    pub request: Request<'a>,
    /// Subjects of the request; an empty slice counts as one subject without facts.
    pub subjects: &'a [Subject],
    /// Who decides on the request.
    pub gate: Gate,
    /// Id of the user whose credentials the request changes, if it changes nothing else.
    pub own_credentials_of: Option<&'a str>,
    /// Id of the user who proposes the request.
    pub proposer: &'a str,
    /// Approvals that count, including the proposer's, each with the credential that signed it.
    pub approvals: &'a [Approver],
}

/// The outcome of one policy for one subject of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyReport {
    /// Id of the policy.
    pub policy_id: String,
    /// Name of the policy.
    pub policy_name: String,
    /// Outcome of the policy and the result of each expression.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The deciding part in one line.
    pub reason: String,
}

/// The simulated decision about a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulation {
    /// Decision of the organization: allow, deny, or wait for approvals.
    pub verdict: PolicyOutcome,
    /// Reason for the verdict in one sentence.
    pub because: String,
    /// Report of each policy for each subject, in the order of the subjects; empty if policies are not
    /// consulted.
    pub policies: Vec<PolicyReport>,
    /// Ids of the users whose approval would count while the request waits.
    pub open_to: Vec<String>,
}

/// Maximum number of policies that a reason names. More are counted; each has a report of its own.
const NAMED_POLICIES: usize = 3;
/// Reason for denying a request because the policies exceed [`DECISION_STEP_LIMIT`].
const EXHAUSTED: &str = "the policies need more evaluation steps than one decision may take";

impl<'a> SimulatedRequest<'a> {
    /// Returns the subjects, or one subject without facts if the request names no subject.
    fn all_subjects(&self) -> impl Iterator<Item = &'a Subject> {
        static EMPTY: Subject = Subject {
            wallet: None,
            wallets: Vec::new(),
            account: None,
            private_key: None,
            content: Vec::new(),
        };
        let placeholder = self.subjects.is_empty().then_some(&EMPTY);
        self.subjects.iter().chain(placeholder)
    }
}

impl OrganizationRules {
    /// Returns the verdict on a request without reasons.
    pub fn verdict(&self, simulated: &SimulatedRequest<'_>) -> PolicyOutcome {
        if simulated.gate == Gate::RootUser && !self.is_root(simulated.proposer) {
            return PolicyOutcome::DenyImplicit;
        }
        let context = self.context(simulated);
        if context.root_quorum_is_met || context.root_quorum_only {
            return SubjectOutcomes::default().verdict(context);
        }
        let electorate = self.electorate(simulated);
        let mut budget = Budget::new(REQUEST_STEP_LIMIT);
        let by_subject = simulated
            .all_subjects()
            .map(|subject| self.evaluate_subject(simulated, subject, &electorate, &mut budget));
        strictest(by_subject.map(|subject_outcomes| subject_outcomes.verdict(context)))
    }

    fn is_root(&self, id: &str) -> bool {
        self.roots.iter().any(|root| root == id)
    }

    /// Returns how many root users have approved. A user with several keys counts once.
    fn approving(&self, simulated: &SimulatedRequest<'_>) -> usize {
        let users = simulated.approvals.iter().map(|approval| approval.user_id.as_str());
        let users: BTreeSet<&str> = users.filter(|user| self.is_root(user)).collect();
        users.len()
    }

    fn context(&self, simulated: &SimulatedRequest<'_>) -> VerdictContext {
        VerdictContext {
            root_quorum_is_met: self.approving(simulated) >= self.threshold,
            root_quorum_only: simulated.gate == Gate::RootQuorum,
            proposer_is_root: self.is_root(simulated.proposer),
            is_self_service: simulated.gate == Gate::OwnCredential
                && simulated.own_credentials_of == Some(simulated.proposer),
        }
    }

    fn electorate<'a>(&'a self, simulated: &SimulatedRequest<'_>) -> Electorate<'a> {
        let proposer =
            Proposer { user_id: simulated.proposer.to_owned(), is_root: self.is_root(simulated.proposer) };
        Electorate::new(proposer, simulated.approvals.to_vec(), || self.users.clone())
    }

    fn evaluate_subject(
        &self,
        simulated: &SimulatedRequest<'_>,
        subject: &Subject,
        electorate: &Electorate<'_>,
        budget: &mut Budget,
    ) -> SubjectOutcomes {
        let facts = RequestFacts::new(simulated.request, subject);
        let programs = self.policies.iter().map(|policy| &policy.program);
        evaluate_policies(programs, &facts, electorate, self.deny_errors, budget)
    }

    /// Simulates the decision about a request.
    pub fn simulate(&self, simulated: &SimulatedRequest<'_>) -> Simulation {
        if simulated.gate == Gate::RootUser && !self.is_root(simulated.proposer) {
            return Simulation {
                verdict: PolicyOutcome::DenyImplicit,
                because: "only a root user may propose this".to_owned(),
                policies: Vec::new(),
                open_to: Vec::new(),
            };
        }
        let (context, approving) = (self.context(simulated), self.approving(simulated));
        let electorate = self.electorate(simulated);
        let is_bypassed = context.root_quorum_is_met || context.root_quorum_only;
        let (by_subject, policies) = if is_bypassed {
            (vec![SubjectOutcomes::default()], Vec::new())
        } else {
            self.consulted(simulated, &electorate)
        };
        let verdict = strictest(by_subject.iter().map(|subject_outcomes| subject_outcomes.verdict(context)));
        let because = self.because(verdict, context, approving, &by_subject, &policies);
        let open_to = match verdict {
            PolicyOutcome::RequiresConsensus => self.open_to(&electorate, &policies),
            _ => Vec::new(),
        };
        Simulation { verdict, because, policies, open_to }
    }

    /// Evaluates the policies. Returns the outcomes for each subject and a report for each policy and subject.
    fn consulted(
        &self,
        simulated: &SimulatedRequest<'_>,
        electorate: &Electorate<'_>,
    ) -> (Vec<SubjectOutcomes>, Vec<PolicyReport>) {
        let mut by_subject = Vec::new();
        let mut reports = Vec::new();
        let mut budget = Budget::new(REQUEST_STEP_LIMIT);
        for subject in simulated.all_subjects() {
            let facts = RequestFacts::new(simulated.request, subject);
            let subject_outcomes = self.evaluate_subject(simulated, subject, electorate, &mut budget);
            for (policy, outcome) in self.policies.iter().zip(&subject_outcomes.outcomes) {
                let (explanation, reason) = if subject_outcomes.is_exhausted {
                    // Finding the reasons would take as many steps again.
                    (Explanation { outcome: *outcome, parts: Vec::new() }, EXHAUSTED.to_owned())
                } else {
                    let explanation = explain(&policy.program, &facts, electorate);
                    let reason = explanation.reason();
                    // The outcome of the policies applies: it takes `deny_errors` into account.
                    (Explanation { outcome: *outcome, ..explanation }, reason)
                };
                let (policy_id, policy_name) = (policy.id.clone(), policy.name.clone());
                reports.push(PolicyReport { policy_id, policy_name, explanation, reason });
            }
            by_subject.push(subject_outcomes);
        }
        (by_subject, reports)
    }

    fn because(
        &self,
        verdict: PolicyOutcome,
        context: VerdictContext,
        approving: usize,
        by_subject: &[SubjectOutcomes],
        policies: &[PolicyReport],
    ) -> String {
        let named = |outcome| {
            let matching = policies.iter().filter(|report| report.explanation.outcome == outcome);
            let mut names: Vec<&str> = matching.map(|report| report.policy_name.as_str()).collect();
            names.dedup();
            if names.len() > NAMED_POLICIES {
                return format!("any of {} policies", names.len());
            }
            // The quotes keep a name from reading as a part of the sentence.
            let quoted = |name: &str| format!("\"{}\"", name.replace('"', "'"));
            names.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
        };
        let quorum = format!("{approving} of {} root approvals so far", self.threshold);
        let denied = named(PolicyOutcome::DenyExplicit);
        match verdict {
            PolicyOutcome::Allow if context.root_quorum_is_met => "the root quorum approved it".to_owned(),
            PolicyOutcome::Allow if named(PolicyOutcome::Allow).is_empty() => {
                "users may change their own credentials".to_owned()
            }
            PolicyOutcome::Allow => format!("allowed by {}", named(PolicyOutcome::Allow)),
            PolicyOutcome::DenyExplicit => format!("denied by {denied}"),
            PolicyOutcome::RequiresConsensus if context.root_quorum_only => {
                format!("only the root quorum can approve it; {quorum}")
            }
            PolicyOutcome::RequiresConsensus if !denied.is_empty() => {
                format!("denied by {denied}; only the root quorum can override a denial; {quorum}")
            }
            PolicyOutcome::RequiresConsensus if !named(PolicyOutcome::RequiresConsensus).is_empty() => {
                format!("waiting for approvals required by {}", named(PolicyOutcome::RequiresConsensus))
            }
            PolicyOutcome::RequiresConsensus => {
                format!("no policy allows it; {quorum}")
            }
            _ if by_subject.iter().any(|subject_outcomes| subject_outcomes.is_exhausted) => {
                EXHAUSTED.to_owned()
            }
            _ => "no policy allows it".to_owned(),
        }
    }

    /// Returns the users who have not approved and whose approval would count: root users, and contributors
    /// to the consensus of a waiting policy.
    fn open_to(&self, electorate: &Electorate<'_>, policies: &[PolicyReport]) -> Vec<String> {
        // Only the root quorum overrides a denial.
        let denied = policies.iter().any(|report| report.explanation.outcome == PolicyOutcome::DenyExplicit);
        let waits = |policy: &&NamedPolicy| {
            !denied
                && policies.iter().any(|report| {
                    report.policy_id == policy.id
                        && report.explanation.outcome == PolicyOutcome::RequiresConsensus
                })
        };
        let waiting = self.policies.iter().filter(waits);
        let programs: Vec<&Program> =
            waiting.filter_map(|policy| policy.program.consensus.as_ref()).collect();
        let users = self.users.iter().filter(|user| !electorate.has_approved(&user.user_id));
        let ids: Vec<String> = users.map(|user| user.user_id.clone()).collect();
        let counted = contributors(&programs, electorate, &ids, &mut Budget::new(DECISION_STEP_LIMIT));
        let eligible = |(id, counts): (String, bool)| (counts || self.roots.contains(&id)).then_some(id);
        ids.into_iter().zip(counted).filter_map(eligible).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn approval(user_id: &str) -> Approver {
        let (tags, email, alias) = (Vec::new(), String::new(), String::new());
        Approver { user_id: user_id.to_owned(), tags, email, alias, credentials: Vec::new() }
    }

    #[test]
    fn root_user_counts_once_with_several_keys() {
        let roots = ["r1", "r2"].map(str::to_owned).to_vec();
        let rules = OrganizationRules { roots, threshold: 2, ..OrganizationRules::default() };
        let verdict = |users: &[&str]| {
            let approvals: Vec<Approver> = users.iter().map(|user| approval(user)).collect();
            let request = Request {
                activity_type: "ACTIVITY_TYPE_CREATE_WALLET",
                acts: Some(("CREATE", "WALLET")),
                parameters: RawValue::NULL,
                now: None,
            };
            rules.verdict(&SimulatedRequest {
                request,
                subjects: &[],
                gate: Gate::Policy,
                own_credentials_of: None,
                proposer: "r1",
                approvals: &approvals,
            })
        };
        assert_eq!(verdict(&["r1", "r1"]), PolicyOutcome::RequiresConsensus);
        assert_eq!(verdict(&["r1", "u1"]), PolicyOutcome::RequiresConsensus);
        assert_eq!(verdict(&["r1", "r1", "r2"]), PolicyOutcome::Allow);
    }
}
