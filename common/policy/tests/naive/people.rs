//! Who has approved, who still could, and whether a consensus that is not met keeps a request waiting: the rules of the
//! second evaluator, tried out one after the other without any cleverness.
//!
//! Two things the specification leaves open are settled the simple way. Votes that nobody has cast yet come after those that
//! stand, in the order of the candidates. A predicate that is tried on the requester alone sees, where it names the roots
//! itself, the approvals as they stand.

use quorate_policy::decide::{Approver, Credential, Requester};

use crate::evaluator::{Scene, evaluate};
use crate::fact::Fact;
use crate::tree::{Quantifier, Tree};

/// A credential.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) kind: &'static str,
    /// Passkeys only.
    pub(crate) credential_id: Option<String>,
}

/// A user with the credentials of a vote, or all that are valid.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) id: &'static str,
    pub(crate) tags: Vec<&'static str>,
    pub(crate) email: &'static str,
    pub(crate) cards: Vec<Card>,
}

/// The people around one request.
#[derive(Clone, Debug)]
pub(crate) struct People {
    pub(crate) requester: &'static str,
    pub(crate) is_root: bool,
    /// One for each vote, in order.
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

    fn card_facts(&self) -> Vec<Fact> {
        let facts = self.cards.iter().map(|card| {
            let mut members = vec![
                ("id", Fact::text(&card.id)),
                ("user_id", Fact::text(self.id)),
                ("type", Fact::text(card.kind)),
                ("public_key", Fact::text(&card.id)),
            ];
            members.extend(card.credential_id.as_ref().map(|id| ("credential_id", Fact::text(id))));
            Fact::record(members)
        });
        facts.collect()
    }

    /// The same user as the package reads it.
    fn product(&self) -> Approver {
        let credentials = self.cards.iter().map(|card| Credential {
            id: card.id.clone(),
            user_id: self.id.to_owned(),
            credential_type: card.kind.to_owned(),
            credential_id: card.credential_id.clone(),
            public_key: card.id.clone(),
        });
        Approver {
            user_id: self.id.to_owned(),
            tags: self.tags.iter().map(|tag| (*tag).to_owned()).collect(),
            email: self.email.to_owned(),
            alias: self.id.to_owned(),
            credentials: credentials.collect(),
        }
    }

    /// This user with some of the credentials only.
    fn with(&self, cards: Vec<Card>) -> Self {
        Self { cards, ..self.clone() }
    }
}

impl People {
    pub(crate) fn approvers(&self) -> Vec<Approver> {
        self.approvals.iter().map(User::product).collect()
    }

    pub(crate) fn standing_by(&self) -> Vec<Approver> {
        self.candidates.iter().map(User::product).collect()
    }

    pub(crate) fn asking(&self) -> Requester {
        Requester { user_id: self.requester.to_owned(), is_root: self.is_root }
    }

    /// The roots of a consensus over the approvals as they stand.
    pub(crate) fn roots(&self) -> Vec<(&'static str, Fact)> {
        roots(&self.approvals)
    }

    /// Whether more votes could make the consensus true, and the requester takes part.
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
        for (place, ways) in ballots.iter().enumerate() {
            for way in ways {
                let others = ballots[place + 1..].iter().flatten();
                if holds(&[way]) || others.into_iter().any(|other| holds(&[way, other])) {
                    return true;
                }
            }
        }
        false
    }

    /// For each candidate with something to add, the ways to add it: all credentials that have not been used, or one of them.
    fn ballots(&self) -> Vec<Vec<User>> {
        let used: Vec<&String> =
            self.approvals.iter().flat_map(|user| &user.cards).map(|card| &card.id).collect();
        let mut ballots = Vec::new();
        for user in &self.candidates {
            let fresh: Vec<Card> =
                user.cards.iter().filter(|card| !used.contains(&&card.id)).cloned().collect();
            if !fresh.is_empty() {
                let mut ways = vec![user.with(fresh.clone())];
                ways.extend(fresh.into_iter().map(|card| user.with(vec![card])));
                ballots.push(ways);
            }
        }
        ballots
    }

    /// Someone who neither has approved nor could contributes nothing.
    fn contributes(&self, consensus: &Tree) -> bool {
        let known = self.approvals.iter().chain(&self.candidates);
        let own: Vec<User> = known.filter(|user| user.id == self.requester).cloned().collect();
        let (now, roots) = (self.roots(), roots(&own));
        let part = Part { own: &roots, now: &now };
        !own.is_empty() && (counts_everyone(consensus) || part.holds_somewhere(consensus, &mut Vec::new()))
    }
}

/// The users of some votes, each once, and the credentials that signed them, each once.
fn roots(votes: &[User]) -> Vec<(&'static str, Fact)> {
    let mut users: Vec<&User> = Vec::new();
    let mut seen: Vec<&String> = Vec::new();
    let mut credentials = Vec::new();
    for vote in votes {
        if !users.iter().any(|user| user.id == vote.id) {
            users.push(vote);
        }
        for (card, fact) in vote.cards.iter().zip(vote.card_facts()) {
            if !seen.contains(&&card.id) {
                seen.push(&card.id);
                credentials.push(fact);
            }
        }
    }
    let users = users.into_iter().map(User::fact).collect();
    vec![("approvers", Fact::list(users)), ("credentials", Fact::list(credentials))]
}

/// Whether the expression counts the approvers without looking at them.
fn counts_everyone(tree: &Tree) -> bool {
    match tree {
        Tree::Count(list) | Tree::BareCount(list) if **list == Tree::Name("approvers") => true,
        _ => tree.parts().into_iter().any(counts_everyone),
    }
}

/// Whether a list consists of people: a root, or what filters leave of it.
fn is_people(tree: &Tree) -> bool {
    match tree {
        Tree::Name(name) => matches!(*name, "approvers" | "credentials"),
        Tree::Lambda(Quantifier::Filter, list, _, _) => is_people(list),
        _ => false,
    }
}

type Variables = Vec<(&'static str, Fact)>;

/// The part that one user has in a consensus.
struct Part<'a> {
    /// The roots as if nobody else had voted.
    own: &'a [(&'static str, Fact)],
    /// The roots as they stand.
    now: &'a [(&'static str, Fact)],
}

impl Part<'_> {
    /// Whether the predicate of some `any` or `filter` over people is true of this user.
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
            let found =
                (chooses && self.truth(predicate, variables)) || self.holds_somewhere(predicate, variables);
            variables.pop();
            if found {
                return true;
            }
        }
        false
    }

    /// What a lambda ranges over: of people the user alone, of anything else all.
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
            _ => Scene { roots, variables: variables.clone() }.list(list).unwrap_or_default(),
        }
    }

    fn truth(&self, predicate: &Tree, variables: &Variables) -> bool {
        Scene { roots: self.now, variables: variables.clone() }.truth(predicate) == Ok(true)
    }
}
