//! The processing of a submitted activity, from its bytes to the commit: authentication, replay detection,
//! parsing, rules, decision, execution.

mod commit;
mod create;
mod judge;
mod propose;
mod vote;

pub use commit::Commit;
pub(crate) use judge::CheckedRequest;
pub use judge::Granted;

use std::sync::Arc;

use quorate_common::activity::Status;
use quorate_common::api_error::{ApiError, Code};
use quorate_common::bounded::Decimal;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::json::Document;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::{CanFlags, activity_answer};
use crate::authn::{self, Authenticated, Credentials, Reach, Stamped};
use crate::consensus::{Approval, live_approvals};
use crate::error::{Authn, Corrupt, Denied, Intent, RequestError, Unimplemented};
use crate::kind::{Entry, PreparedRequest};
use crate::kinds;
use crate::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS};
use crate::model::{ActivityRecord, Millis, Organization, layout};
use crate::policy;
use crate::records::{self, ProcessedBody};
use crate::view::{Caller, View};
use crate::world::{Runtime, World};

/// The result of one transaction attempt: an answer, and the commit that must be durable before it is sent.
pub struct Attempt {
    /// Body of the answer, or the error.
    pub answer: Result<Vec<u8>, ApiError>,
    /// Commit that must be durable before the answer is sent.
    pub commit: Option<Commit>,
    /// Internal error, for the log.
    pub corrupt: Option<Corrupt>,
}

impl Attempt {
    /// Returns an answer without changes.
    pub const fn answer(body: Vec<u8>) -> Self {
        Self { answer: Ok(body), commit: None, corrupt: None }
    }

    /// Returns an error without changes.
    pub fn error(error: &RequestError) -> Self {
        let corrupt = match error {
            RequestError::Corrupt(corrupt) => Some(corrupt.clone()),
            _ => None,
        };
        Self { answer: Err(error.api_error()), commit: None, corrupt }
    }
}

/// The members of a body around the parameters.
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

/// An authenticated request that is being processed.
struct Submission<'a> {
    world: &'a dyn World,
    body: &'a [u8],
    /// Body as it is stored, if parts of it are masked.
    kept: Option<String>,
    fingerprint: Fingerprint,
    /// `timestampMs` of the body.
    stamped: Millis,
    caller: Caller,
    target: Arc<Organization>,
    now: Millis,
}

/// Processes a submitted request.
pub fn submit<'a>(
    world: &'a dyn World,
    runtime: &mut Runtime<'a>,
    operation: &str,
    credentials: &Credentials,
    body: &'a [u8],
) -> Attempt {
    let attempt = run(world, runtime, operation, credentials, body);
    attempt.unwrap_or_else(|error| Attempt::error(&error))
}

fn run<'a>(
    world: &'a dyn World,
    runtime: &mut Runtime<'a>,
    operation: &str,
    credentials: &Credentials,
    body: &'a [u8],
) -> Result<Attempt, RequestError> {
    check_no_session_only(credentials)?;
    if kinds::creates_organizations(operation) {
        return create::create(world, runtime, operation, credentials, body);
    }
    let reach = if kinds::admits_invited(operation) { Reach::Invitations } else { Reach::Usual };
    let Stamped { authenticated, document } = authn::stamped(world, credentials, body, reach, runtime.now)?;
    let Authenticated { caller, target, .. } = authenticated;
    let organization = target.id();
    let envelope: Envelope<'_> = document.typed()?;
    let entry = entry_of(operation, &envelope.activity_type)?;
    let (fingerprint, stamped) = (Fingerprint::of(body), stamped(envelope.timestamp_ms)?);
    let mut submission =
        Submission { world, body, kept: None, fingerprint, stamped, caller, target, now: runtime.now };
    submission.check_caller_organization()?;
    match records::processed_body(world, &submission.target, stamped, &fingerprint)? {
        None => {}
        Some(ProcessedBody::Denied) => return Err(Denied::Policies(Vec::new()).into()),
        Some(ProcessedBody::Activity(known)) => {
            // A masked body is stored as it was the first time.
            submission.kept = known.proposal().filter(|_| entry.masks).map(str::to_owned);
            return submission.replay(*known, runtime);
        }
    }
    in_time(stamped, runtime.now)?;
    let prepared = entry.parse(envelope.parameters)?;
    if entry.masks {
        submission.kept = Some(masked(&envelope, organization, prepared.as_ref())?);
    }
    if let Some(newcomer) = prepared.newcomer() {
        submission.identify_caller(newcomer)?;
    }
    match prepared.ballot() {
        Some(ballot) => submission.vote(entry, prepared.as_ref(), ballot, runtime),
        None => submission.propose(entry, prepared, runtime),
    }
}

/// Checks the stamps of a submitted request before its body is read.
///
/// # Errors
/// If the request cannot be authenticated, whatever its body contains.
pub fn admit(credentials: &Credentials) -> Result<(), RequestError> {
    check_no_session_only(credentials)?;
    authn::admit(credentials)
}

/// Refuses a request that only has a session: sessions authenticate queries only.
fn check_no_session_only(credentials: &Credentials) -> Result<(), RequestError> {
    let Credentials { stamps, webauthn, attested, sessions, .. } = credentials;
    if stamps.is_empty() && webauthn.is_empty() && *attested == 0 && *sessions > 0 {
        return Err(Authn::SessionOnSubmit.into());
    }
    Ok(())
}

/// Returns the body as it is stored for a kind that masks parts of it: the same members, with the masked
/// parameters, and without members that the kind does not know.
fn masked(
    envelope: &Envelope<'_>,
    organization: OrganizationId,
    prepared: &dyn PreparedRequest,
) -> Result<String, Corrupt> {
    let error = Corrupt::Invariant("an intent does not have exactly one member");
    let intent: serde_json::Map<String, Value> =
        serde_json::from_str(prepared.intent().get()).map_err(|_| error.clone())?;
    let (_, parameters) = intent.into_iter().next().ok_or(error)?;
    let body = serde_json::json!({
        "type": envelope.activity_type,
        "timestampMs": envelope.timestamp_ms,
        "organizationId": organization,
        "parameters": parameters,
    });
    Ok(body.to_string())
}

/// Returns the row of an activity type, if it belongs to the operation.
fn entry_of(operation: &str, activity_type: &str) -> Result<&'static Entry, RequestError> {
    match kinds::find(activity_type) {
        Some(entry) if entry.operation() == operation => Ok(entry),
        None if kinds::is_unoffered(activity_type) => {
            Err(Unimplemented::Type(activity_type.to_owned()).into())
        }
        Some(_) | None => Err(Intent::Type.into()),
    }
}

/// Parses `timestampMs`.
fn stamped(timestamp: &RawValue) -> Result<Millis, RequestError> {
    let error = "invalid request body: `timestampMs`: expected milliseconds since 1970 as a decimal string";
    let stamped: Result<Decimal, _> = serde_json::from_str(timestamp.get());
    stamped.map(|Decimal(stamped)| stamped).map_err(|_| Intent::Time(error).into())
}

/// Returns whether a body with this timestamp is too old to be accepted.
const fn is_too_old(stamped: Millis, now: Millis) -> bool {
    stamped.saturating_add(BODY_AGE_MILLIS) < now
}

fn in_time(stamped: Millis, now: Millis) -> Result<(), RequestError> {
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
pub(crate) fn proposal_of(
    record: &ActivityRecord,
) -> Result<(&'static Entry, Box<dyn PreparedRequest>), Corrupt> {
    let error = Corrupt::Record("activity");
    let entry = kinds::by_number(record.number).ok_or(error.clone())?;
    let body = record.proposal().ok_or(error.clone())?;
    let document = Document::read(body.as_bytes()).map_err(|_| error.clone())?;
    let envelope: Envelope<'_> = document.typed().map_err(|_| error.clone())?;
    let prepared = entry.parse(envelope.parameters).map_err(|_| error)?;
    Ok((entry, prepared))
}

/// The voters of a stored activity, and its current decision.
pub struct Voters {
    /// Users whose vote would be accepted.
    pub open_to: Vec<UserId>,
    /// Approvals that currently count.
    pub approvals: Vec<Approval>,
    /// Decision with the approvals that currently count.
    pub decided: policy::Decided,
}

impl Voters {
    /// Returns whether another approval of the caller would make no difference. A policy can depend on the
    /// credentials of approvals; if one decides, an approval with another credential of the same user counts.
    fn has_approved(&self, caller: &Caller) -> bool {
        let by_policy = matches!(self.decided.decision, policy::Decision::Wait(policy::Rule::Policy));
        let is_repeated = |key: &str| !by_policy || key == caller.stamp.public_key;
        self.approvals.iter().any(|own| own.user == caller.user && is_repeated(&own.public_key))
    }
}

/// Returns who may still vote on a stored activity, by the current policies, users and root quorum.
///
/// # Errors
/// If the store cannot be read, or a stored record is damaged.
pub fn voters(
    world: &dyn World,
    record: &ActivityRecord,
    organization: &Organization,
    now: Millis,
) -> Result<Voters, Corrupt> {
    let users = organization.users().filter(|user| user.has_credential());
    let user_ids: Vec<UserId> = users.map(|user| user.id).collect();
    voters_among(&user_ids, world, record, organization, now)
}

/// Returns which of these users may still vote. Policy steps are charged to the budget of the answer.
fn voters_among(
    users: &[UserId],
    world: &dyn World,
    record: &ActivityRecord,
    organization: &Organization,
    now: Millis,
) -> Result<Voters, Corrupt> {
    let view = View::new(world, organization, record.proposer, None, now);
    let approvals = live_approvals(record, organization, now);
    let (decided, open_to) =
        CheckedRequest::from_record(record, view)?.consult(&approvals, users, world.budget());
    Ok(Voters { open_to, approvals, decided })
}

/// Policy steps that are charged for each credential of an organization when an activity is judged again.
const STEPS_OF_CREDENTIAL: usize = 25;

/// Charges the budget for parsing a proposal again: one step for each byte, and [`STEPS_OF_CREDENTIAL`] for
/// each credential. Returns `false` if fewer steps are left. The first activity of an answer costs at most
/// half of them.
fn charge_parsing(world: &dyn World, record: &ActivityRecord, organization: &Organization) -> bool {
    let budget = world.budget();
    let bytes = record.proposal().map_or(0, str::len);
    let credentials = organization.credentials().saturating_mul(STEPS_OF_CREDENTIAL);
    let cost = bytes.saturating_add(credentials);
    let half = usize::try_from(budget.steps_left() / 2).unwrap_or(usize::MAX);
    budget.take_steps(if budget.steps_taken() == 0 { cost.min(half) } else { cost })
}

/// Returns `canApprove` and `canReject` of an activity for one caller.
///
/// # Errors
/// If the store cannot be read, or a stored record is damaged.
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
    // A root user can always contribute; policies are evaluated only where they make a difference.
    let (is_root, is_own) = (organization.is_root(caller.user), record.proposer == caller.user);
    let has_approved = || live_approvals(record, organization, now).iter().any(|own| own.user == caller.user);
    if is_root && !has_approved() {
        return Ok(CanFlags { approve: true, reject: true });
    }
    // Once the budget is used up, the outcomes of policies are unknown, and no flag may rely on them.
    let unknown = CanFlags { approve: false, reject: is_root || is_own };
    if !charge_parsing(world, record, organization) {
        return Ok(unknown);
    }
    let voters = voters_among(&[caller.user], world, record, organization, now)?;
    if world.budget().steps_left() == 0 {
        return Ok(unknown);
    }
    let eligible = voters.open_to.contains(&caller.user);
    let is_new = !voters.has_approved(caller);
    Ok(CanFlags { approve: eligible && is_new, reject: eligible || is_own })
}

impl Submission<'_> {
    /// Refuses callers from the parent organization: they can query a sub-organization but not change it.
    fn check_caller_organization(&self) -> Result<(), RequestError> {
        if self.caller.organization == self.target.id() {
            return Ok(());
        }
        Err(Intent::OtherOrganization { target: self.target.id(), voters: self.caller.organization }.into())
    }

    /// Sets the user id of a caller who becomes a user. An id that is or was in use is not set, so that
    /// nothing is recorded in the name of another user. A user id is never reused, even after deletion.
    fn identify_caller(&mut self, newcomer: UserId) -> Result<(), Corrupt> {
        let deleted_user = layout::deleted_user(self.target.id(), newcomer);
        if self.target.user(newcomer).is_none() && self.world.records().read(&deleted_user)?.is_none() {
            self.caller.user = newcomer;
        }
        Ok(())
    }

    /// Answers with the current state of an activity.
    fn show(&self, record: &ActivityRecord) -> Result<Attempt, RequestError> {
        let can = can_flags(self.world, record, &self.target, &self.caller, self.now)?;
        Ok(Attempt::answer(activity_answer(record, &self.target, can)?))
    }

    /// Answers a body that was processed before with the current state of its activity. The activity is never
    /// executed twice. A second user who sends the same bytes has signed the same intent, which is an
    /// approval.
    fn replay(&self, known: ActivityRecord, runtime: &mut Runtime<'_>) -> Result<Attempt, RequestError> {
        if let Some(error) = known.failure.clone().filter(|_| known.status != Status::Completed) {
            return Ok(Attempt { answer: Err(error), commit: None, corrupt: None });
        }
        let (_, prepared) = proposal_of(&known)?;
        match prepared.ballot() {
            Some(ballot) => self.vote_again(&known, ballot),
            None if known.status == Status::ConsensusNeeded && known.proposer != self.caller.user => {
                self.approve_by_same_body(known, runtime)
            }
            None => self.show(&known),
        }
    }
}

/// Returns whether an error means that the caller is not authorized, so that the attempt was denied.
fn is_denial(error: &ApiError) -> bool {
    error.code == Code::PermissionDenied
}
