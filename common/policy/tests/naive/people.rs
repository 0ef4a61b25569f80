//! The electorate of the naive evaluator: who has approved, who still could, and whether a consensus is
//! reachable.
//!
//! The specification leaves two points open. Here, possible further votes follow the cast votes in the order
//! of the candidates. If a predicate that is evaluated for the proposer alone reads the roots itself, it
//! reads the current approvals.

use quorate_policy::decide::{Approver, Credential, Proposer};

use crate::evaluator::{Scope, evaluate};
use crate::fact::Fact;
use crate::tree::{Quantifier, Tree};

/// A credential of a [`User`].
#[derive(Clone, Debug)]
pub(crate) struct OwnCredential {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    /// Present for passkeys only.
    pub(crate) credential_id: Option<String>,
}

/// A user with the credential of a vote, or with all valid credentials.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: &'static str,
    pub(crate) tags: Vec<&'static str>,
    pub(crate) email: &'static str,
    pub(crate) credentials: Vec<OwnCredential>,
}

/// The electorate of one request.
#[derive(Clone, Debug)]
pub(crate) struct People {
    pub(crate) proposer: &'static str,
    pub(crate) is_root: bool,
    /// One user per vote, in the order of the votes.
    pub(crate) approvals: Vec<User>,
    pub(crate) candidates: Vec<User>,
}

impl User {
    fn fact(&self) -> Fact {
        Fact::record(vec![
            ("id", Fact::text(self.id)),
            ("tags", Fact::list(self.tags.iter().map(|tag| Fact::text(tag)).collect())),
            ("email", Fact::text(self.email)),
            ("alias", Fact::text(self.id)),
        ])
    }

    fn credential_facts(&self) -> Vec<Fact> {
        let facts = self.credentials.iter().map(|credential| {
            let mut members = vec![
                ("id", Fact::text(&credential.id)),
                ("user_id", Fact::text(self.id)),
                ("type", Fact::text(credential.kind)),
                ("public_key", Fact::text(&credential.id)),
            ];
            members.extend(credential.credential_id.as_ref().map(|id| ("credential_id", Fact::text(id))));
            Fact::record(members)
        });
        facts.collect()
    }

    /// Converts the user to an approver of the crate.
    fn product(&self) -> Approver {
        let credentials = self.credentials.iter().map(|credential| Credential {
            id: credential.id.clone(),
            user_id: self.id.to_owned(),
            credential_type: credential.kind.to_owned(),
            credential_id: credential.credential_id.clone(),
            public_key: credential.id.clone(),
        });
        Approver {
            user_id: self.id.to_owned(),
            tags: self.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            email: self.email.to_owned(),
            alias: self.id.to_owned(),
            credentials: credentials.collect(),
        }
    }

    /// Returns this user with other credentials.
    fn with(&self, credentials: Vec<OwnCredential>) -> Self {
        Self { credentials, ..self.clone() }
    }
}

impl People {
    pub(crate) fn product_approvers(&self) -> Vec<Approver> {
        self.approvals.iter().map(User::product).collect()
    }

    pub(crate) fn product_candidates(&self) -> Vec<Approver> {
        self.candidates.iter().map(User::product).collect()
    }

    pub(crate) fn product_proposer(&self) -> Proposer {
        Proposer { user_id: self.proposer.to_owned(), is_root: self.is_root }
    }

    /// Returns the roots of a consensus over the current approvals.
    pub(crate) fn roots(&self) -> Vec<(&'static str, Fact)> {
        roots(&self.approvals)
    }

    /// Returns whether further votes could make the consensus true and the proposer may wait for them.
    pub(crate) fn can_reach(&self, consensus: &Tree) -> bool {
        (self.is_root || self.contributes(consensus)) && self.could_be_met(consensus)
    }

    fn could_be_met(&self, consensus: &Tree) -> bool {
        let holds = |added: &[&User]| {
            let votes: Vec<User> = self.approvals.iter().chain(added.iter().copied()).cloned().collect();
            evaluate(consensus, &roots(&votes)) == Ok(true)
        };
        let ballots = self.ballots();
        let everyone: Vec<&User> = ballots.iter().map(|ways| &ways[0]).collect();
        if holds(&everyone) {
            return true;
        }
        for (index, ways) in ballots.iter().enumerate() {
            for way in ways {
                let others = ballots[index + 1..].iter().flatten();
                if holds(&[way]) || others.into_iter().any(|other| holds(&[way, other])) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns the ways to vote for each candidate with unused credentials: with all of them, or with one of
    /// them.
    fn ballots(&self) -> Vec<Vec<User>> {
        let used: Vec<&String> = self
            .approvals
            .iter()
            .flat_map(|user| &user.credentials)
            .map(|credential| &credential.id)
            .collect();
        let mut ballots = Vec::new();
        for user in &self.candidates {
            let fresh: Vec<OwnCredential> = user
                .credentials
                .iter()
                .filter(|credential| !used.contains(&&credential.id))
                .cloned()
                .collect();
            if !fresh.is_empty() {
                let mut ways = vec![user.with(fresh.clone())];
                ways.extend(fresh.into_iter().map(|credential| user.with(vec![credential])));
                ballots.push(ways);
            }
        }
        ballots
    }

    /// Returns whether the proposer contributes. A user who is neither approver nor candidate does not.
    fn contributes(&self, consensus: &Tree) -> bool {
        let known = self.approvals.iter().chain(&self.candidates);
        let own: Vec<User> = known.filter(|user| user.id == self.proposer).cloned().collect();
        let (now, roots) = (self.roots(), roots(&own));
        let contribution = Contribution { own: &roots, now: &now };
        !own.is_empty()
            && (counts_everyone(consensus) || contribution.holds_somewhere(consensus, &mut Vec::new()))
    }
}

/// Returns the roots of a consensus over some votes: each user once and each credential once.
fn roots(votes: &[User]) -> Vec<(&'static str, Fact)> {
    let mut users: Vec<&User> = Vec::new();
    let mut seen: Vec<&String> = Vec::new();
    let mut credentials = Vec::new();
    for vote in votes {
        if !users.iter().any(|user| user.id == vote.id) {
            users.push(vote);
        }
        for (credential, fact) in vote.credentials.iter().zip(vote.credential_facts()) {
            if !seen.contains(&&credential.id) {
                seen.push(&credential.id);
                credentials.push(fact);
            }
        }
    }
    let users = users.into_iter().map(User::fact).collect();
    vec![("approvers", Fact::list(users)), ("credentials", Fact::list(credentials))]
}

/// Returns whether the expression counts all approvers without a predicate.
fn counts_everyone(tree: &Tree) -> bool {
    match tree {
        Tree::Count(list) | Tree::BareCount(list) if **list == Tree::Name("approvers") => true,
        _ => tree.parts().into_iter().any(counts_everyone),
    }
}

/// Returns whether a list is a root of the consensus or a filter over one.
fn is_people(tree: &Tree) -> bool {
    match tree {
        Tree::Name(name) => matches!(*name, "approvers" | "credentials"),
        Tree::Lambda(Quantifier::Filter, list, _, _) => is_people(list),
        _ => false,
    }
}

type Variables = Vec<(&'static str, Fact)>;

/// The contribution of one user to a consensus.
struct Contribution<'a> {
    /// The roots as if only this user had voted.
    own: &'a [(&'static str, Fact)],
    /// The roots over the current approvals.
    now: &'a [(&'static str, Fact)],
}

impl Contribution<'_> {
    /// Returns whether the predicate of some `any` or `filter` over people is true for this user.
    fn holds_somewhere(&self, tree: &Tree, variables: &mut Variables) -> bool {
        let Tree::Lambda(quantifier, list, variable, predicate) = tree else {
            return tree.parts().into_iter().any(|part| self.holds_somewhere(part, variables));
        };
        if self.holds_somewhere(list, variables) {
            return true;
        }
        let chooses = *quantifier != Quantifier::All && is_people(list);
        for element in self.elements(list, variables) {
            variables.push((variable, element));
            let holds =
                (chooses && self.truth(predicate, variables)) || self.holds_somewhere(predicate, variables);
            variables.pop();
            if holds {
                return true;
            }
        }
        false
    }

    /// Returns the elements that a lambda ranges over: only this user for a list of people, otherwise all
    /// elements.
    fn elements(&self, list: &Tree, variables: &Variables) -> Vec<Fact> {
        let roots = if is_people(list) { self.own } else { self.now };
        match list {
            Tree::Lambda(_, inner, variable, predicate) if is_people(list) => {
                let mut elements = self.elements(inner, variables);
                elements.retain(|element| {
                    let mut variables = variables.clone();
                    variables.push((variable, element.clone()));
                    self.truth(predicate, &variables)
                });
                elements
            }
            _ => Scope { roots, variables: variables.clone() }.list(list).unwrap_or_default(),
        }
    }

    fn truth(&self, predicate: &Tree, variables: &Variables) -> bool {
        Scope { roots: self.now, variables: variables.clone() }.truth(predicate) == Ok(true)
    }
}
