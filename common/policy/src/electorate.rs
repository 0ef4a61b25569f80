//! Who has voted, who still could, and who asked: what a consensus is about.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::operand::{Elements, Operand};
use crate::value::Value;

/// A user as a consensus sees it, with credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approver {
    /// The user's id.
    pub user_id: String,
    /// Ids of the user's tags.
    pub tags: Vec<String>,
    /// The e-mail address, or `""`.
    pub email: String,
    /// The user's name.
    pub alias: String,
    /// In an approval, the credential that signed it; in a candidate, all credentials that are valid now.
    pub credentials: Vec<Credential>,
}

/// A credential as a consensus sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// Id of the API key or authenticator.
    pub id: String,
    /// Id of the user it belongs to.
    pub user_id: String,
    /// Its `CREDENTIAL_TYPE_…` name.
    pub credential_type: String,
    /// The credential id of a passkey; absent for API keys.
    pub credential_id: Option<String>,
    /// The public key in hexadecimal, as stored.
    pub public_key: String,
}

/// Who submitted the request. The submission is a vote and stands among the approvals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requester {
    /// The user's id.
    pub user_id: String,
    /// Whether the user belongs to the root quorum, which can always complete the request.
    pub is_root: bool,
}

/// The people around one request.
pub struct Electorate<'a> {
    requester: Requester,
    approvers: Vec<Voter>,
    /// The credentials of the approvals in the order of the votes: place of the approver, and place among theirs.
    signed: Vec<(usize, usize)>,
    candidates: LazyCell<Vec<Voter>, Box<dyn FnOnce() -> Vec<Voter> + 'a>>,
}

impl<'a> Electorate<'a> {
    /// Gathers the people around a request.
    ///
    /// `approvers` are the approvals that count, the requester's submission included, in the order of the votes. Several
    /// approvals of one user become one approver with several credentials: nobody counts twice. `candidates` gives the users
    /// who have a valid credential and have not rejected; it is called at most once, and only if a consensus is not met.
    pub fn new(
        requester: Requester,
        approvers: Vec<Approver>,
        candidates: impl FnOnce() -> Vec<Approver> + 'a,
    ) -> Self {
        let lazily: Box<dyn FnOnce() -> Vec<Voter> + 'a> = Box::new(move || distinct(candidates()).0);
        let (approvers, signed) = distinct(approvers);
        Self { requester, approvers, signed, candidates: LazyCell::new(lazily) }
    }

    /// Who submitted the request.
    pub fn requester(&self) -> &Requester {
        &self.requester
    }

    /// Whether the approval of a user counts now.
    pub(crate) fn has_approved(&self, user_id: &str) -> bool {
        self.approvers.iter().any(|voter| voter.user_id == user_id)
    }

    /// Users whose approval counts now, and their credentials.
    pub(crate) fn len(&self) -> usize {
        self.approvers.iter().map(|voter| voter.credentials.len().saturating_add(1)).sum()
    }
}

/// An approver in the form in which expressions read it.
struct Voter {
    user_id: String,
    record: Value,
    /// Id and record of each credential.
    credentials: Vec<(String, Value)>,
}

impl Voter {
    /// Without any credential yet.
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

/// One voter per user, in the order of first appearance, with each credential once; and where the credentials are, in
/// the order of their first appearance.
fn distinct(approvers: Vec<Approver>) -> (Vec<Voter>, Vec<(usize, usize)>) {
    let mut voters: Vec<Voter> = Vec::with_capacity(approvers.len());
    let mut order = Vec::with_capacity(approvers.len());
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
    for Approver { user_id, tags, email, alias, credentials } in approvers {
        let place = *places.entry(user_id.clone()).or_insert(voters.len());
        if place == voters.len() {
            voters.push(Voter::new(user_id, tags, email, alias));
        }
        let Some(voter) = voters.get_mut(place) else { continue };
        for credential in credentials {
            if seen.insert((place, credential.id.clone())) {
                order.push((place, voter.credentials.len()));
                voter.credentials.push(credential_record(credential));
            }
        }
    }
    (voters, order)
}

/// Root that lists the users of the votes.
pub(crate) const APPROVERS: &str = "approvers";
/// Root that lists the credentials of the votes.
pub(crate) const CREDENTIALS: &str = "credentials";

/// A vote that could be added to those already cast.
#[derive(Clone)]
pub(crate) struct Ballot<'a> {
    pub(crate) user_id: &'a str,
    /// `None` if the user has voted already and this adds credentials only.
    user: Option<&'a Value>,
    credentials: Vec<&'a Value>,
}

/// The two roots of a consensus for one set of votes.
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
    /// What a consensus sees when these ballots are added to the approvals.
    pub(crate) fn voters<'e>(&'e self, added: &[&Ballot<'e>]) -> Voters<'e> {
        let approved = self.approvers.iter().map(|voter| &voter.record);
        let signed = self.signed.iter().filter_map(|(place, credential)| {
            self.approvers.get(*place)?.credentials.get(*credential).map(|(_, record)| record)
        });
        Voters {
            approvers: gathered(approved.chain(added.iter().filter_map(|ballot| ballot.user))),
            credentials: gathered(
                signed.chain(added.iter().flat_map(|ballot| ballot.credentials.iter().copied())),
            ),
        }
    }

    /// One ballot for each candidate who has something to add: himself, or a credential not used yet.
    pub(crate) fn ballots(&self) -> Vec<Ballot<'_>> {
        let approved: BTreeMap<&str, &Voter> =
            self.approvers.iter().map(|voter| (voter.user_id.as_str(), voter)).collect();
        let ballots = self.candidates.iter().map(|candidate| {
            let known = approved.get(candidate.user_id.as_str()).copied();
            candidate.ballot(known)
        });
        ballots.filter(|ballot| ballot.user.is_some() || !ballot.credentials.is_empty()).collect()
    }

    /// A user as approver, candidate or both; `None` for someone who is neither.
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

/// Everything an electorate knows about one user.
pub(crate) struct Member<'e> {
    pub(crate) record: &'e Value,
    /// Those of the approvals and all that are valid.
    pub(crate) credentials: Vec<&'e Value>,
    /// What the user can add to the approvals.
    pub(crate) added: Option<Ballot<'e>>,
}

impl Voter {
    /// What this voter adds to what is already cast under the same name.
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
    /// What is added: the user and credentials.
    pub(crate) fn len(&self) -> usize {
        self.credentials.len().saturating_add(1)
    }

    /// The ways to cast this ballot: with all credentials, and with each one alone.
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

fn gathered<'a>(records: impl Iterator<Item = &'a Value>) -> Elements<'a> {
    let operands: Rc<[Operand<'a>]> = records.filter_map(|record| Operand::of(record).ok()).collect();
    Elements::Gathered(operands)
}
