//! The processing of a submitted activity, from its bytes to the commit: authentication, replay detection,
//! parsing, rules, decision, execution.

mod commit;
mod create;
mod exchange;
mod pending;
mod propose;
mod rehearsal;
mod vote;

pub use commit::Commit;
pub use exchange::claim;
pub use pending::{Pending, Voters, can_flags};
pub use rehearsal::{Rehearsal, rehearse};

use std::sync::Arc;

use quorate_common::activity::{Selection, Status};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::bounded::Decimal;
use quorate_common::catalog::Gate;
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answer::activity_answer;
use crate::authn::{self, Authenticated, Credentials, Stamped};
use crate::error::{Authn, Conflict, Corrupt, Denied, Intent, RequestError, Unimplemented};
use crate::kind::{Entry, PreparedRequest};
use crate::kinds::{self, Operation};
use crate::limits::{BODY_AGE_MILLIS, BODY_AHEAD_MILLIS};
use crate::model::last_use::CredentialUse;
use crate::model::{ActivityRecord, Millis, Organization, layout};
use crate::records::{self, ProcessedBody, SentBody};
use crate::view::Caller;
use crate::world::{Runtime, World};

/// The result of one transaction attempt: an answer, and the commit that must be durable before it is sent.
pub struct Attempt {
    /// Body of the answer, or the error.
    pub answer: Result<Vec<u8>, ApiError>,
    /// Commit that must be durable before the answer is sent.
    pub commit: Option<Commit>,
    /// Internal error, for the log.
    pub corrupt: Option<Corrupt>,
    /// Use of the caller's credential, also if the request was denied. The bodies of activities are known to others, so
    /// a body that was sent again, or is too old, is no use.
    pub used: Option<CredentialUse>,
}

impl Attempt {
    /// Returns an answer without changes.
    pub const fn answer(body: Vec<u8>) -> Self {
        Self::of(Ok(body))
    }

    /// Returns an error without changes.
    pub fn error(error: &RequestError) -> Self {
        let corrupt = match error {
            RequestError::Corrupt(corrupt) => Some(corrupt.clone()),
            _ => None,
        };
        Self { corrupt, ..Self::of(Err(error.api_error())) }
    }

    /// Returns an answer or an error without changes, which is not an internal error.
    pub const fn of(answer: Result<Vec<u8>, ApiError>) -> Self {
        Self { answer, commit: None, corrupt: None, used: None }
    }

    /// Returns this attempt with a commit.
    fn with(self, commit: Commit) -> Self {
        Self { commit: Some(commit), ..self }
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
    sent: SentBody,
    caller: Caller,
    /// Organization of the caller, which decides: the one acted upon, or its parent.
    home: Arc<Organization>,
    target: Arc<Organization>,
    now: Millis,
}

/// Processes a submitted request.
pub fn submit<'a>(
    world: &'a dyn World,
    runtime: &mut Runtime<'a>,
    operation: &'static Operation,
    credentials: &Credentials,
    body: &'a [u8],
) -> Attempt {
    let mut used = None;
    let attempt = run(world, runtime, operation, credentials, body, &mut used);
    let attempt = attempt.unwrap_or_else(|error| Attempt::error(&error));
    // Each commit records the body.
    let is_recorded = attempt.commit.is_some();
    Attempt { used: used.map(|used| used.of_activity(is_recorded)), ..attempt }
}

fn run<'a>(
    world: &'a dyn World,
    runtime: &mut Runtime<'a>,
    operation: &'static Operation,
    credentials: &Credentials,
    body: &'a [u8],
    used: &mut Option<CredentialUse>,
) -> Result<Attempt, RequestError> {
    check_no_session_only(credentials)?;
    if operation.creates_organizations() {
        return create::create(world, runtime, operation, credentials, body);
    }
    let now = runtime.now;
    let Stamped { authenticated, document } =
        authn::stamped(world, credentials, body, operation.scope(), now)?;
    let Authenticated { caller, home, target } = authenticated;
    let organization = target.id();
    let envelope: Envelope<'_> = document.typed()?;
    let entry = entry_of(operation, &envelope.activity_type)?;
    let sent = SentBody::new(stamped(envelope.timestamp_ms)?, Fingerprint::of(body));
    let sent = if entry.is_per_caller() { sent.of_caller(organization, caller.user) } else { sent };
    let mut submission = Submission { world, body, kept: None, sent, caller, home, target, now };
    if submission.is_attested() && !entry.attested {
        return Err(Authn::AttestedOnly.into());
    }
    submission.check_caller_organization(entry)?;
    match records::processed_body(world, &submission.target, &sent)? {
        None => {}
        Some(ProcessedBody::Denied) => return Err(Denied::Policies(Vec::new()).into()),
        Some(ProcessedBody::Activity(known)) => {
            if entry.is_per_caller() && known.proposer != submission.caller.user
                || submission.is_attested() && !submission.is_stamped_again(&known)
            {
                return Err(Conflict::Body.into());
            }
            // A masked body is stored as it was the first time. Any other is the same.
            submission.kept = known.proposal().map(str::to_owned);
            return submission.replay(entry, *known, runtime);
        }
    }
    in_time(sent.stamped, runtime.now, world.installation().restored())?;
    *used = submission.caller.use_at(now);
    let prepared = entry.parse(envelope.parameters)?;
    if entry.masks || prepared.has_secret() {
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
    if credentials.has_only_session() { Err(Authn::SessionOnSubmit.into()) } else { Ok(()) }
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
fn entry_of(operation: &'static Operation, activity_type: &str) -> Result<&'static Entry, RequestError> {
    match operation.version(activity_type) {
        Some(entry) => Ok(entry),
        None if kinds::is_unoffered(activity_type) => {
            Err(Unimplemented::Type(activity_type.to_owned()).into())
        }
        None => Err(Intent::Type.into()),
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

fn in_time(stamped: Millis, now: Millis, restored: Millis) -> Result<(), RequestError> {
    // Bodies may be stamped ahead of time.
    if restored > 0 && stamped < restored.saturating_add(BODY_AHEAD_MILLIS) {
        return Err(Intent::Time(
            "request is too old: it must be stamped more than five minutes after this restored store was released",
        )
        .into());
    }
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

impl Submission<'_> {
    /// Returns whether an attested stamp authenticates the caller.
    fn is_attested(&self) -> bool {
        self.caller.attestation.is_some()
    }

    /// Returns whether the same user proposed an activity with the same key. An attested stamp shows nothing else.
    fn is_stamped_again(&self, known: &ActivityRecord) -> bool {
        let key = &self.caller.stamp.public_key;
        known.proposer == self.caller.user && known.votes.first().is_some_and(|vote| vote.public_key == *key)
    }

    /// Refuses callers from the parent organization, unless the kind is open to them: they can query a
    /// sub-organization but not change it.
    fn check_caller_organization(&self, entry: &Entry) -> Result<(), RequestError> {
        if self.caller.organization == self.target.id() || entry.open_to_parent {
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
        self.answer(record, &self.target, None)
    }

    /// Answers with an activity, as it is in an organization. If it waits for votes, `pending` avoids parsing
    /// its proposal again.
    fn answer(
        &self,
        record: &ActivityRecord,
        organization: &Organization,
        pending: Option<&Pending<'_>>,
    ) -> Result<Attempt, RequestError> {
        let can = pending::flags(self.world, record, organization, &self.caller, self.now, pending)?;
        Ok(Attempt::answer(activity_answer(record, organization, can)?))
    }

    /// Answers a body that was processed before with the current state of its activity. The activity is never
    /// executed twice. A second user who sends the same bytes has signed the same intent, which is an
    /// approval.
    fn replay(
        &self,
        entry: &Entry,
        known: ActivityRecord,
        runtime: &mut Runtime<'_>,
    ) -> Result<Attempt, RequestError> {
        if let Some(error) = known.failure.clone().filter(|_| known.status != Status::Completed) {
            return Ok(Attempt::of(Err(error)));
        }
        if entry.gate == Gate::Vote
            && let Some(ballot) = pending::proposal_of(&known)?.1.ballot()
            && ballot.selection == Selection::Approved
        {
            return self.show(&self.ballot_target(ballot)?);
        }
        if known.status.waits() && known.proposer != self.caller.user {
            self.approve_by_same_body(known, runtime)
        } else {
            self.show(&known)
        }
    }
}

/// Returns whether an error means that the caller is not authorized, so that the attempt was denied.
fn is_denial(error: &ApiError) -> bool {
    error.code == Code::PermissionDenied
}
