//! The one path of a submitted activity, start to end: bytes, caller, known body, kind, rules, decision,
//! execution, commit.

mod commit;
mod found;
mod judge;
mod propose;
mod vote;

pub use commit::Commit;
pub use judge::Granted;
pub(crate) use judge::Ruled;

use std::sync::Arc;

use quorate_common::activity::Status;
use quorate_common::bounded::Decimal;
use quorate_common::fault::{Code, Fault};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::json::Document;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{CanFlags, activity_answer};
use crate::authn::{self, Authenticated, Credentials, Reach, Stamped};
use crate::consensus::{Approval, live_approvals};
use crate::kind::{Entry, Ready};
use crate::kinds;
use crate::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS};
use crate::model::{ActivityRecord, Millis, Organization, layout};
use crate::policy;
use crate::records::{self, Taken};
use crate::refusal::{Authn, Corrupt, Denied, Intent, Refusal, Unoffered};
use crate::view::{Caller, View};
use crate::world::{Moment, World};

/// What a request comes to: an answer, and what must be durable before it is given.
pub struct Turn {
    /// The body of the answer, or the fault.
    pub answer: Result<Vec<u8>, Fault>,
    /// What to commit first.
    pub commit: Option<Commit>,
    /// A fault of ours, for the log.
    pub corrupt: Option<Corrupt>,
}

impl Turn {
    /// An answer that changes nothing.
    pub const fn answer(body: Vec<u8>) -> Self {
        Self { answer: Ok(body), commit: None, corrupt: None }
    }

    /// A refusal that changes nothing.
    pub fn refuse(refusal: &Refusal) -> Self {
        let corrupt = match refusal {
            Refusal::Corrupt(corrupt) => Some(corrupt.clone()),
            _ => None,
        };
        Self { answer: Err(refusal.fault()), commit: None, corrupt }
    }
}

/// The members around the parameters.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(rename = "type")]
    activity_type: String,
    #[serde(borrow)]
    timestamp_ms: &'a RawValue,
    #[serde(borrow)]
    parameters: Option<&'a RawValue>,
}

/// A request on its way.
struct Submission<'a> {
    world: &'a dyn World,
    body: &'a [u8],
    /// The body as it is kept, where that is not as it was sent.
    kept: Option<String>,
    fingerprint: Fingerprint,
    /// The time that the body bears.
    stamped: Millis,
    caller: Caller,
    target: Arc<Organization>,
    now: Millis,
}

/// Takes a submitted request.
pub fn submit<'a>(
    world: &'a dyn World,
    moment: &mut Moment<'a>,
    operation: &str,
    credentials: &Credentials,
    body: &'a [u8],
) -> Turn {
    let turn = run(world, moment, operation, credentials, body);
    turn.unwrap_or_else(|refusal| Turn::refuse(&refusal))
}

fn run<'a>(
    world: &'a dyn World,
    moment: &mut Moment<'a>,
    operation: &str,
    credentials: &Credentials,
    body: &'a [u8],
) -> Result<Turn, Refusal> {
    no_session(credentials)?;
    if kinds::founds(operation) {
        return found::found(world, moment, operation, credentials, body);
    }
    let reach = if kinds::admits_invited(operation) { Reach::Invitations } else { Reach::Usual };
    let Stamped { authenticated, document } = authn::stamped(world, credentials, body, reach, moment.now)?;
    let Authenticated { caller, target, .. } = authenticated;
    let organization = target.id();
    let envelope: Envelope<'_> = document.typed()?;
    let entry = entry_of(operation, &envelope.activity_type)?;
    let (fingerprint, stamped) = (Fingerprint::of(body), stamped(envelope.timestamp_ms)?);
    let mut submission =
        Submission { world, body, kept: None, fingerprint, stamped, caller, target, now: moment.now };
    submission.caller_is_inside()?;
    match records::taken_body(world, &submission.target, stamped, &fingerprint)? {
        None => {}
        Some(Taken::Denied) => return Err(Denied::Policies(Vec::new()).into()),
        Some(Taken::Activity(known)) => {
            // What is not kept as it was sent is kept as it was the first time.
            submission.kept = known.proposal().filter(|_| entry.masks).map(str::to_owned);
            return submission.replay(*known, moment);
        }
    }
    in_time(stamped, moment.now)?;
    let ready = entry.parse(envelope.parameters)?;
    if entry.masks {
        submission.kept = Some(masked(&envelope, organization, ready.as_ref())?);
    }
    if let Some(newcomer) = ready.newcomer() {
        submission.names(newcomer)?;
    }
    match ready.ballot() {
        Some(ballot) => submission.vote(entry, ready.as_ref(), ballot, moment),
        None => submission.propose(entry, ready, moment),
    }
}

/// Refuses a submitted request that cannot be authenticated, whatever its body says.
pub fn admit(credentials: &Credentials) -> Result<(), Refusal> {
    no_session(credentials)?;
    authn::admit(credentials)
}

/// Sessions are for queries.
fn no_session(credentials: &Credentials) -> Result<(), Refusal> {
    let Credentials { stamps, webauthn, attested, sessions, .. } = credentials;
    if stamps.is_empty() && webauthn.is_empty() && *attested == 0 && *sessions > 0 {
        return Err(Authn::SessionOnSubmit.into());
    }
    Ok(())
}

/// The body as it is kept of a kind that hides parts of it: the same members, with the parameters as they are
/// echoed, and nothing that the kind does not know.
fn masked(
    envelope: &Envelope<'_>,
    organization: OrganizationId,
    ready: &dyn Ready,
) -> Result<String, Corrupt> {
    let flaw = Corrupt::Invariant("an intent is one member");
    let intent: serde_json::Map<String, Value> =
        serde_json::from_str(ready.intent().get()).map_err(|_| flaw.clone())?;
    let (_, parameters) = intent.into_iter().next().ok_or(flaw)?;
    let body = serde_json::json!({
        "type": envelope.activity_type,
        "timestampMs": envelope.timestamp_ms,
        "organizationId": organization,
        "parameters": parameters,
    });
    Ok(body.to_string())
}

/// The row of a type, if it belongs to the operation.
fn entry_of(operation: &str, activity_type: &str) -> Result<&'static Entry, Refusal> {
    match kinds::find(activity_type) {
        Some(entry) if entry.operation() == operation => Ok(entry),
        None if kinds::is_unoffered(activity_type) => Err(Unoffered::Type(activity_type.to_owned()).into()),
        Some(_) | None => Err(Intent::Type.into()),
    }
}

/// The time that a body bears.
fn stamped(timestamp: &RawValue) -> Result<Millis, Refusal> {
    let flaw = "invalid request body: `timestampMs`: expected milliseconds since 1970 as a decimal string";
    let stamped: Result<Decimal, _> = serde_json::from_str(timestamp.get());
    stamped.map(|Decimal(stamped)| stamped).map_err(|_| Intent::Time(flaw).into())
}

/// Whether a body that bears this time is refused from now on.
const fn is_too_old(stamped: Millis, now: Millis) -> bool {
    stamped.saturating_add(BODY_AGE_MILLIS) < now
}

fn in_time(stamped: Millis, now: Millis) -> Result<(), Refusal> {
    if is_too_old(stamped, now) {
        return Err(Intent::Time("request is too old: `timestampMs` is more than one hour ago").into());
    }
    if stamped > now.saturating_add(BODY_AHEAD_MILLIS) {
        return Err(
            Intent::Time("request is ahead of time: `timestampMs` is more than five minutes ahead").into()
        );
    }
    Ok(())
}

/// Parses the proposal of a stored activity again.
pub(crate) fn proposal_of(record: &ActivityRecord) -> Result<(&'static Entry, Box<dyn Ready>), Corrupt> {
    let flaw = Corrupt::Record("activity");
    let entry = kinds::by_number(record.number).ok_or(flaw.clone())?;
    let body = record.proposal().ok_or(flaw.clone())?;
    let document = Document::read(body.as_bytes()).map_err(|_| flaw.clone())?;
    let envelope: Envelope<'_> = document.typed().map_err(|_| flaw.clone())?;
    let ready = entry.parse(envelope.parameters).map_err(|_| flaw)?;
    Ok((entry, ready))
}

/// Who decides a stored activity.
pub struct Voters {
    /// Users whose vote would be taken.
    pub open_to: Vec<UserId>,
    /// Approvals that count.
    pub approvals: Vec<Approval>,
    /// What it comes to as it stands.
    pub decided: policy::Decided,
}

impl Voters {
    /// Whether one more approval of the caller would say nothing new. Where a policy decides, which may ask by what
    /// credentials people approved, another one of theirs is new.
    fn has_approved(&self, caller: &Caller) -> bool {
        let by_policy = matches!(self.decided.decision, policy::Decision::Wait(policy::Rule::Policy));
        let says_nothing_new = |key: &str| !by_policy || key == caller.stamp.public_key;
        self.approvals.iter().any(|own| own.user == caller.user && says_nothing_new(&own.public_key))
    }
}

/// Who may still vote on a stored activity, by the rules and people of now.
pub fn voters(
    world: &dyn World,
    record: &ActivityRecord,
    organization: &Organization,
    now: Millis,
) -> Result<Voters, Corrupt> {
    let users = organization.users().filter(|user| user.has_credential());
    let everybody: Vec<UserId> = users.map(|user| user.id).collect();
    voters_among(&everybody, world, record, organization, now)
}

/// Which of these users may still vote. What policies take comes out of the budget of the answer.
fn voters_among(
    users: &[UserId],
    world: &dyn World,
    record: &ActivityRecord,
    organization: &Organization,
    now: Millis,
) -> Result<Voters, Corrupt> {
    let view = View::new(world, organization, record.proposer, None, now);
    let approvals = live_approvals(record, organization, now);
    let (decided, open_to) = Ruled::again(record, view)?.consult(&approvals, users, world.budget());
    Ok(Voters { open_to, approvals, decided })
}

/// Steps for each credential of the people by whom an activity is judged.
const STEPS_OF_CREDENTIAL: usize = 25;

/// Takes from the budget what it costs to read a proposal again, a step for each byte. False if that is more than there
/// is; of the first activity of an answer it is never more than half.
fn pays_for_reading(world: &dyn World, record: &ActivityRecord, organization: &Organization) -> bool {
    let budget = world.budget();
    let bytes = record.proposal().map_or(0, str::len);
    let people = organization.credentials().saturating_mul(STEPS_OF_CREDENTIAL);
    let cost = bytes.saturating_add(people);
    let half = usize::try_from(budget.steps_left() / 2).unwrap_or(usize::MAX);
    budget.take_steps(if budget.steps_taken() == 0 { cost.min(half) } else { cost })
}

/// The can-flags of an activity for one user.
pub fn can_flags(
    world: &dyn World,
    record: &ActivityRecord,
    organization: &Organization,
    caller: &Caller,
    now: Millis,
) -> Result<CanFlags, Corrupt> {
    if record.status != Status::ConsensusNeeded || caller.organization != record.organization {
        return Ok(CanFlags::default());
    }
    // A root user can always help an activity along; policies are asked only where they make a difference.
    let (is_root, is_own) = (organization.is_root(caller.user), record.proposer == caller.user);
    let has_approved = || live_approvals(record, organization, now).iter().any(|own| own.user == caller.user);
    if is_root && !has_approved() {
        return Ok(CanFlags { approve: true, reject: true });
    }
    // What policies would say is not known once the budget is used up, so that no flag relies on them.
    let unknown = CanFlags { approve: false, reject: is_root || is_own };
    if !pays_for_reading(world, record, organization) {
        return Ok(unknown);
    }
    let voters = voters_among(&[caller.user], world, record, organization, now)?;
    if world.budget().steps_left() == 0 {
        return Ok(unknown);
    }
    let eligible = voters.open_to.contains(&caller.user);
    let adds = !voters.has_approved(caller);
    Ok(CanFlags { approve: eligible && adds, reject: eligible || is_own })
}

impl Submission<'_> {
    /// A parent's user may look into a child and change nothing there.
    fn caller_is_inside(&self) -> Result<(), Refusal> {
        if self.caller.organization == self.target.id() {
            return Ok(());
        }
        Err(Intent::OtherOrganization { target: self.target.id(), voters: self.caller.organization }.into())
    }

    /// The caller is this user from now on. Whoever takes the id of somebody who is or was there stays nobody:
    /// nothing is recorded in another's name.
    fn names(&mut self, newcomer: UserId) -> Result<(), Corrupt> {
        let departed = layout::departed(self.target.id(), newcomer);
        if self.target.user(newcomer).is_none() && self.world.records().read(&departed)?.is_none() {
            self.caller.user = newcomer;
        }
        Ok(())
    }

    /// The answer that shows an activity as it is.
    fn show(&self, record: &ActivityRecord) -> Result<Turn, Refusal> {
        let can = can_flags(self.world, record, &self.target, &self.caller, self.now)?;
        Ok(Turn::answer(activity_answer(record, &self.target, can)?))
    }

    /// A body that was taken before: its activity as it is now, and never a second execution. A second user
    /// who sends the same bytes has signed the same intent, which is an approval.
    fn replay(&self, known: ActivityRecord, moment: &mut Moment<'_>) -> Result<Turn, Refusal> {
        if let Some(fault) = known.failure.clone().filter(|_| known.status != Status::Completed) {
            return Ok(Turn { answer: Err(fault), commit: None, corrupt: None });
        }
        let (_, ready) = proposal_of(&known)?;
        match ready.ballot() {
            Some(ballot) => self.vote_again(&known, ballot),
            None if known.status == Status::ConsensusNeeded && known.proposer != self.caller.user => {
                self.second(known, moment)
            }
            None => self.show(&known),
        }
    }
}

/// Whether a fault says that the caller may not, in which case the attempt was denied.
fn is_denial(fault: &Fault) -> bool {
    fault.code == Code::PermissionDenied
}
