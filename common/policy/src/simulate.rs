//! What would happen to a request: all policies, the root quorum and self-service together, with reasons.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::budget::Budget;
use crate::contribution::contributors;
use crate::decide::{
    Approver, DenyErrors, Electorate, PolicyOutcome, PolicyProgram, Requester, Ruling, Standing, consult,
    strictest,
};
use crate::explain::{Explanation, explain};
use crate::program::Program;
use crate::request::{Request, RequestFacts, Subject};
use crate::{DECISION_STEP_LIMIT, REQUEST_STEP_LIMIT};

/// A policy with what it is called by.
#[derive(Clone, Debug)]
pub struct NamedPolicy {
    /// Id.
    pub id: String,
    /// Name.
    pub name: String,
    /// What it says.
    pub program: PolicyProgram,
}

/// An organization, as far as it decides.
#[derive(Clone, Debug, Default)]
pub struct House {
    /// Users with all credentials that are valid.
    pub users: Vec<Approver>,
    /// Ids of the users of the root quorum.
    pub roots: Vec<String>,
    /// How many of them must agree.
    pub threshold: usize,
    /// Policies.
    pub policies: Vec<NamedPolicy>,
    /// What becomes of denying policies that fail.
    pub deny_errors: DenyErrors,
}

/// Who decides on requests of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Root quorum, or a policy.
    Policy,
    /// Root quorum only.
    RootQuorum,
    /// As [`Self::Policy`], and whoever asks may do it to credentials of their own.
    OwnCredential,
    /// As [`Self::Policy`], but a root user must ask.
    RootUser,
}

/// A request that is made, or only thought of.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What is asked.
    pub request: Request<'a>,
    /// What it is about; none counts as one without facts of its own.
    pub subjects: &'a [Subject],
    /// Who decides on it.
    pub gate: Gate,
    /// The user whose credentials it changes, if it changes nothing else.
    pub own_credentials_of: Option<&'a str>,
    /// Id of the user who asks.
    pub requester: &'a str,
    /// Approvals that count, each with the credential that signed it, that of the requester among them.
    pub approvals: &'a [Approver],
}

/// What one policy says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// Id of the policy.
    pub policy_id: String,
    /// Its name.
    pub policy_name: String,
    /// What it says, and why.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The part that decided, in a line.
    pub reason: String,
}

/// What would happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulation {
    /// What the organization says: allow, deny, or wait for votes.
    pub verdict: PolicyOutcome,
    /// Why, in a sentence.
    pub because: String,
    /// What each policy says of each subject, subject by subject; nothing where policies are not asked.
    pub policies: Vec<Said>,
    /// Ids of users whose approval would help, if it waits.
    pub open_to: Vec<String>,
}

/// Why nothing is permitted, whatever policies would say.
const EXHAUSTED: &str = "the policies ask for more work than a decision may cause";

impl<'a> Asked<'a> {
    /// What it is about, at least one.
    fn each(&self) -> impl Iterator<Item = &'a Subject> {
        static NONE: Subject = Subject {
            wallet: None,
            wallets: Vec::new(),
            account: None,
            private_key: None,
            content: Vec::new(),
        };
        let none = self.subjects.is_empty().then_some(&NONE);
        self.subjects.iter().chain(none)
    }
}

impl House {
    /// What the organization would say to a request, without reasons.
    pub fn verdict(&self, asked: &Asked<'_>) -> PolicyOutcome {
        if asked.gate == Gate::RootUser && !self.is_root(asked.requester) {
            return PolicyOutcome::DenyImplicit;
        }
        let standing = self.standing(asked);
        if standing.root_quorum_is_met || standing.root_quorum_only {
            return Ruling::default().verdict(standing);
        }
        let electorate = self.electorate(asked);
        let mut budget = Budget::new(REQUEST_STEP_LIMIT);
        let rulings = asked.each().map(|subject| self.ruling(asked, subject, &electorate, &mut budget));
        strictest(rulings.map(|ruling| ruling.verdict(standing)))
    }

    fn is_root(&self, id: &str) -> bool {
        self.roots.iter().any(|root| root == id)
    }

    /// How many of the root quorum have approved, each counted once whatever the keys.
    fn approving(&self, asked: &Asked<'_>) -> usize {
        let users = asked.approvals.iter().map(|approval| approval.user_id.as_str());
        let users: BTreeSet<&str> = users.filter(|user| self.is_root(user)).collect();
        users.len()
    }

    fn standing(&self, asked: &Asked<'_>) -> Standing {
        Standing {
            root_quorum_is_met: self.approving(asked) >= self.threshold,
            root_quorum_only: asked.gate == Gate::RootQuorum,
            requester_is_root: self.is_root(asked.requester),
            is_self_service: asked.gate == Gate::OwnCredential
                && asked.own_credentials_of == Some(asked.requester),
        }
    }

    fn electorate<'a>(&'a self, asked: &Asked<'_>) -> Electorate<'a> {
        let requester =
            Requester { user_id: asked.requester.to_owned(), is_root: self.is_root(asked.requester) };
        Electorate::new(requester, asked.approvals.to_vec(), || self.users.clone())
    }

    fn ruling(
        &self,
        asked: &Asked<'_>,
        subject: &Subject,
        electorate: &Electorate<'_>,
        budget: &mut Budget,
    ) -> Ruling {
        let facts = RequestFacts::new(asked.request, subject);
        let programs = self.policies.iter().map(|policy| &policy.program);
        consult(programs, &facts, electorate, self.deny_errors, budget)
    }

    /// What would happen to a request.
    pub fn simulate(&self, asked: &Asked<'_>) -> Simulation {
        if asked.gate == Gate::RootUser && !self.is_root(asked.requester) {
            return Simulation {
                verdict: PolicyOutcome::DenyImplicit,
                because: "only a root user may ask for this".to_owned(),
                policies: Vec::new(),
                open_to: Vec::new(),
            };
        }
        let (standing, approving) = (self.standing(asked), self.approving(asked));
        let electorate = self.electorate(asked);
        let unasked = standing.root_quorum_is_met || standing.root_quorum_only;
        let (rulings, policies) =
            if unasked { (vec![Ruling::default()], Vec::new()) } else { self.consulted(asked, &electorate) };
        let verdict = strictest(rulings.iter().map(|ruling| ruling.verdict(standing)));
        let because = self.because(verdict, standing, approving, &rulings, &policies);
        let open_to = match verdict {
            PolicyOutcome::RequiresConsensus => self.open_to(&electorate, &policies),
            _ => Vec::new(),
        };
        Simulation { verdict, because, policies, open_to }
    }

    /// What policies say, as rulings and one by one.
    fn consulted(&self, asked: &Asked<'_>, electorate: &Electorate<'_>) -> (Vec<Ruling>, Vec<Said>) {
        let mut rulings = Vec::new();
        let mut said = Vec::new();
        let mut budget = Budget::new(REQUEST_STEP_LIMIT);
        for subject in asked.each() {
            let facts = RequestFacts::new(asked.request, subject);
            let ruling = self.ruling(asked, subject, electorate, &mut budget);
            for (policy, outcome) in self.policies.iter().zip(&ruling.outcomes) {
                let (explanation, reason) = if ruling.is_exhausted {
                    // To tell the reasons would take as long again.
                    (Explanation { outcome: *outcome, parts: Vec::new() }, EXHAUSTED.to_owned())
                } else {
                    let explanation = explain(&policy.program, &facts, electorate);
                    let reason = explanation.reason();
                    // The ruling is what counts: it knows what is strict.
                    (Explanation { outcome: *outcome, ..explanation }, reason)
                };
                let (policy_id, policy_name) = (policy.id.clone(), policy.name.clone());
                said.push(Said { policy_id, policy_name, explanation, reason });
            }
            rulings.push(ruling);
        }
        (rulings, said)
    }

    fn because(
        &self,
        verdict: PolicyOutcome,
        standing: Standing,
        approving: usize,
        rulings: &[Ruling],
        policies: &[Said],
    ) -> String {
        let named = |outcome| {
            let found = policies.iter().filter(|said| said.explanation.outcome == outcome);
            let mut names: Vec<&str> = found.map(|said| said.policy_name.as_str()).collect();
            names.dedup();
            names.join(", ")
        };
        let quorum = format!("{approving} of {} of the root quorum", self.threshold);
        let denied = named(PolicyOutcome::DenyExplicit);
        match verdict {
            PolicyOutcome::Allow if standing.root_quorum_is_met => "the root quorum agrees".to_owned(),
            PolicyOutcome::Allow if named(PolicyOutcome::Allow).is_empty() => {
                "users may change credentials of their own".to_owned()
            }
            PolicyOutcome::Allow => format!("allowed by {}", named(PolicyOutcome::Allow)),
            PolicyOutcome::DenyExplicit => format!("denied by {denied}"),
            PolicyOutcome::RequiresConsensus if standing.root_quorum_only => {
                format!("only the root quorum decides; so far {quorum}")
            }
            PolicyOutcome::RequiresConsensus if !denied.is_empty() => {
                format!("denied by {denied}, which only the root quorum overrides; so far {quorum}")
            }
            PolicyOutcome::RequiresConsensus if !named(PolicyOutcome::RequiresConsensus).is_empty() => {
                format!("waits for the consensus of {}", named(PolicyOutcome::RequiresConsensus))
            }
            PolicyOutcome::RequiresConsensus => format!("no policy allows it; so far {quorum}"),
            _ if rulings.iter().any(|ruling| ruling.is_exhausted) => EXHAUSTED.to_owned(),
            _ => "no policy allows it".to_owned(),
        }
    }

    /// Root users, and users whom the consensus of a policy that waits would count, unless they approved already.
    fn open_to(&self, electorate: &Electorate<'_>, policies: &[Said]) -> Vec<String> {
        // A denial is overridden by the root quorum and nobody else.
        let denied = policies.iter().any(|said| said.explanation.outcome == PolicyOutcome::DenyExplicit);
        let waits = |policy: &&NamedPolicy| {
            !denied
                && policies.iter().any(|said| {
                    said.policy_id == policy.id
                        && said.explanation.outcome == PolicyOutcome::RequiresConsensus
                })
        };
        let waiting = self.policies.iter().filter(waits);
        let programs: Vec<&Program> =
            waiting.filter_map(|policy| policy.program.consensus.as_ref()).collect();
        let users = self.users.iter().filter(|user| !electorate.has_approved(&user.user_id));
        let ids: Vec<String> = users.map(|user| user.user_id.clone()).collect();
        let counted = contributors(&programs, electorate, &ids, &mut Budget::new(DECISION_STEP_LIMIT));
        let helps = |(id, counts): (String, bool)| (counts || self.roots.contains(&id)).then_some(id);
        ids.into_iter().zip(counted).filter_map(helps).collect()
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
    fn a_root_user_counts_once_whatever_the_keys() {
        let roots = ["r1", "r2"].map(str::to_owned).to_vec();
        let house = House { roots, threshold: 2, ..House::default() };
        let verdict = |users: &[&str]| {
            let approvals: Vec<Approver> = users.iter().map(|user| approval(user)).collect();
            let request = Request {
                activity_type: "ACTIVITY_TYPE_CREATE_WALLET",
                acts: Some(("CREATE", "WALLET")),
                parameters: RawValue::NULL,
                now: None,
            };
            house.verdict(&Asked {
                request,
                subjects: &[],
                gate: Gate::Policy,
                own_credentials_of: None,
                requester: "r1",
                approvals: &approvals,
            })
        };
        assert_eq!(verdict(&["r1", "r1"]), PolicyOutcome::RequiresConsensus);
        assert_eq!(verdict(&["r1", "u1"]), PolicyOutcome::RequiresConsensus);
        assert_eq!(verdict(&["r1", "r1", "r2"]), PolicyOutcome::Allow);
    }
}
