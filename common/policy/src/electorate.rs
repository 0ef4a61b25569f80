//! The electorate of a request: the proposer, the users who approved, and the users who still could.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::operand::{Elements, Operand};
use crate::value::Value;

/// A user with credentials, as a consensus reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approver {
    /// Id of the user.
    pub user_id: String,
    /// Ids of the tags of the user.
    pub tags: Vec<String>,
    /// Email address; empty if the user has none.
    pub email: String,
    /// Name of the user.
    pub alias: String,
    /// For an approval, the credential that signed it; for a candidate, all currently valid credentials.
    pub credentials: Vec<Credential>,
}

/// A credential, as a consensus reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Id of the API key or authenticator.
    pub id: String,
    /// Id of the user who owns the credential.
    pub user_id: String,
    /// Type on the wire, `CREDENTIAL_TYPE_…`.
    pub credential_type: String,
    /// Credential id of a passkey; absent for API keys.
    pub credential_id: Option<String>,
    /// Public key in hexadecimal, as stored.
    pub public_key: String,
}

/// The user who proposed the request. The proposal counts as an approval and is one of the approvals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposer {
    /// Id of the user.
    pub user_id: String,
    /// Whether the user belongs to the root quorum, which can always complete the request.
    pub is_root: bool,
}

/// The users who decide on one request.
pub struct Electorate<'a> {
    proposer: Proposer,
    approvers: Vec<Voter>,
    /// Credentials of the approvals in the order of the votes: index of the approver, and index in their
    /// credentials.
    signed: Vec<(usize, usize)>,
    candidates: LazyCell<Vec<Voter>, Box<dyn FnOnce() -> Vec<Voter> + 'a>>,
}

impl<'a> Electorate<'a> {
    /// Creates the electorate of a request.
    ///
    /// `approvers` are the approvals that count, including the proposer's, in the order of the votes. Several
    /// approvals of one user become one approver with several credentials, so no user counts twice.
    /// `candidates` returns the users who have a valid credential and have not rejected. It is called at most
    /// once, and only if a consensus is not met.
    pub fn new(
        proposer: Proposer,
        approvers: Vec<Approver>,
        candidates: impl FnOnce() -> Vec<Approver> + 'a,
    ) -> Self {
        let lazy: Box<dyn FnOnce() -> Vec<Voter> + 'a> = Box::new(move || distinct(candidates()).0);
        let (approvers, signed) = distinct(approvers);
        Self { proposer, approvers, signed, candidates: LazyCell::new(lazy) }
    }

    /// Returns the user who proposed the request.
    pub fn proposer(&self) -> &Proposer {
        &self.proposer
    }

    /// Returns whether a user is among the approvers.
    pub(crate) fn has_approved(&self, user_id: &str) -> bool {
        self.approvers.iter().any(|voter| voter.user_id == user_id)
    }

    /// Returns the number of approvers plus the number of their credentials.
    pub(crate) fn len(&self) -> usize {
        self.approvers.iter().map(|voter| voter.credentials.len().saturating_add(1)).sum()
    }
}

/// An approver or candidate as a record that expressions read.
struct Voter {
    user_id: String,
    record: Value,
    /// Id and record of each credential.
    credentials: Vec<(String, Value)>,
}

impl Voter {
    /// Creates a voter without credentials.
    fn new(user_id: String, tags: Vec<String>, email: String, alias: String) -> Self {
        let record = Value::record([
            ("id", Value::text(user_id.clone())),
            ("tags", Value::texts(tags)),
            ("email", Value::text(email)),
            ("alias", Value::text(alias)),
        ]);
        Self { user_id, record, credentials: Vec::new() }
    }
}

fn credential_record(credential: Credential) -> (String, Value) {
    let record = Value::record([
        ("id", Some(Value::text(credential.id.clone()))),
        ("user_id", Some(Value::text(credential.user_id))),
        ("type", Some(Value::text(credential.credential_type))),
        ("credential_id", credential.credential_id.map(Value::text)),
        ("public_key", Some(Value::text(credential.public_key))),
    ]);
    (credential.id, record)
}

/// Merges approvers into one voter per user with each credential once, in the order of first appearance.
///
/// Also returns the index pairs of voter and credential in the order in which the credentials first appear.
fn distinct(approvers: Vec<Approver>) -> (Vec<Voter>, Vec<(usize, usize)>) {
    let mut voters: Vec<Voter> = Vec::with_capacity(approvers.len());
    let mut order = Vec::with_capacity(approvers.len());
    let mut indexes: BTreeMap<String, usize> = BTreeMap::new();
    let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
    for Approver { user_id, tags, email, alias, credentials } in approvers {
        let index = *indexes.entry(user_id.clone()).or_insert(voters.len());
        if index == voters.len() {
            voters.push(Voter::new(user_id, tags, email, alias));
        }
        let Some(voter) = voters.get_mut(index) else { continue };
        for credential in credentials {
            if seen.insert((index, credential.id.clone())) {
                order.push((index, voter.credentials.len()));
                voter.credentials.push(credential_record(credential));
            }
        }
    }
    (voters, order)
}

/// Root that lists the users who approve.
pub(crate) const APPROVERS: &str = "approvers";
/// Root that lists the credentials that sign the approvals.
pub(crate) const CREDENTIALS: &str = "credentials";

/// A possible further vote.
#[derive(Clone)]
pub(crate) struct Ballot<'a> {
    pub(crate) user_id: &'a str,
    /// Record of the user; `None` if the user has already approved, so that only credentials are added.
    user: Option<&'a Value>,
    credentials: Vec<&'a Value>,
}

/// The two roots of a consensus over one set of votes.
#[derive(Clone)]
pub(crate) struct Voters<'a> {
    approvers: Elements<'a>,
    credentials: Elements<'a>,
}

impl<'a> Voters<'a> {
    pub(crate) fn root(&self, name: &str) -> Option<Operand<'a>> {
        match name {
            APPROVERS => Some(Operand::List(self.approvers.clone())),
            CREDENTIALS => Some(Operand::List(self.credentials.clone())),
            _ => None,
        }
    }
}

impl Electorate<'_> {
    /// Returns the roots of a consensus over the approvals and additional ballots.
    pub(crate) fn voters<'e>(&'e self, added: &[&Ballot<'e>]) -> Voters<'e> {
        let approved = self.approvers.iter().map(|voter| &voter.record);
        let signed = self.signed.iter().filter_map(|(index, credential)| {
            self.approvers.get(*index)?.credentials.get(*credential).map(|(_, record)| record)
        });
        Voters {
            approvers: elements(approved.chain(added.iter().filter_map(|ballot| ballot.user))),
            credentials: elements(
                signed.chain(added.iter().flat_map(|ballot| ballot.credentials.iter().copied())),
            ),
        }
    }

    /// Returns one ballot for each candidate who can add something: themselves or an unused credential.
    pub(crate) fn ballots(&self) -> Vec<Ballot<'_>> {
        let approved: BTreeMap<&str, &Voter> =
            self.approvers.iter().map(|voter| (voter.user_id.as_str(), voter)).collect();
        let ballots = self.candidates.iter().map(|candidate| {
            let known = approved.get(candidate.user_id.as_str()).copied();
            candidate.ballot(known)
        });
        ballots.filter(|ballot| ballot.user.is_some() || !ballot.credentials.is_empty()).collect()
    }

    /// Returns a user who is an approver, a candidate or both; `None` for any other user.
    pub(crate) fn member<'e>(&'e self, user_id: &str) -> Option<Member<'e>> {
        let named = |voter: &&'e Voter| voter.user_id == user_id;
        let approver = self.approvers.iter().find(named);
        let candidate = self.candidates.iter().find(named);
        let record = &approver.or(candidate)?.record;
        let added = candidate.map(|candidate| candidate.ballot(approver));
        let used = approver.into_iter().flat_map(|voter| &voter.credentials);
        let unused = added.iter().flat_map(|ballot| ballot.credentials.iter().copied());
        let credentials = used.map(|(_, record)| record).chain(unused).collect();
        Some(Member { record, credentials, added })
    }
}

/// A user of an electorate.
pub(crate) struct Member<'e> {
    pub(crate) record: &'e Value,
    /// Credentials of the approvals, and all unused valid ones.
    pub(crate) credentials: Vec<&'e Value>,
    /// Ballot that the user can still cast.
    pub(crate) added: Option<Ballot<'e>>,
}

impl Voter {
    /// Returns the ballot of this candidate; `cast` is the same user as an approver.
    fn ballot<'a>(&'a self, cast: Option<&Self>) -> Ballot<'a> {
        let unused = self
            .credentials
            .iter()
            .filter(|(id, _)| cast.is_none_or(|cast| cast.credentials.iter().all(|(known, _)| known != id)));
        Ballot {
            user_id: &self.user_id,
            user: cast.is_none().then_some(&self.record),
            credentials: unused.map(|(_, record)| record).collect(),
        }
    }
}

impl Ballot<'_> {
    /// Returns the number of credentials plus one for the user.
    pub(crate) fn len(&self) -> usize {
        self.credentials.len().saturating_add(1)
    }

    /// Returns the ways to cast this ballot: with all credentials, and with each credential alone.
    pub(crate) fn ways(&self) -> Vec<Self> {
        let mut ways = vec![self.clone()];
        if self.credentials.len() > 1 {
            ways.extend(
                self.credentials.iter().map(|credential| Self { credentials: vec![credential], ..*self }),
            );
        }
        ways
    }
}

fn elements<'a>(records: impl Iterator<Item = &'a Value>) -> Elements<'a> {
    let operands: Rc<[Operand<'a>]> = records.filter_map(|record| Operand::of(record).ok()).collect();
    Elements::Computed(operands)
}
