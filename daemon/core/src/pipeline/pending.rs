//! The judgement of an activity: its rules, then the root quorum and policies, which decide with the votes that
//! it has. Only this module creates permits.

use quorate_common::activity::Status;
use quorate_common::ids::UserId;
use quorate_common::json::Document;
use serde_json::value::RawValue;

use super::Envelope;
use super::commit::Transition;
use crate::answer::CanFlags;
use crate::consensus::{self, Approval, live_approvals};
use crate::error::{Corrupt, Denied, Intent, RequestError};
use crate::execution::Execution;
use crate::kind::{Entry, PreparedRequest, RuleOutcome};
use crate::kinds;
use crate::model::{ActivityRecord, Evaluation, FeatureName, Millis, Organization};
use crate::policy::{self, Decided, Decision, DecisionInput, Facts, Granted, MfaState, Rule};
use crate::view::{Caller, View};
use crate::world::{Runtime, World};

/// Policy steps that are charged for each credential of an organization when an activity is judged again.
const STEPS_OF_CREDENTIAL: usize = 25;

/// A request that waits for a decision, as one snapshot of its organization sees it. It is parsed, and the
/// rules of its kind are applied, once. Policies are evaluated for the approvals of each call.
pub struct Pending<'a> {
    world: &'a dyn World,
    entry: &'static Entry,
    prepared: Box<dyn PreparedRequest>,
    facts: Facts,
    error: Option<RequestError>,
    view: View<'a>,
    /// Whether an attested stamp proposes the request, which then does not wait.
    is_attested: bool,
    /// Organization that decides: the one acted upon, or its parent.
    decider: &'a Organization,
}

/// The verdict on a request by its rules, the root quorum and policies.
pub(super) enum Verdict<'a> {
    /// The request may run, or fails because it breaks a rule.
    Allowed(Result<Permit<'a>, RequestError>),
    /// The request needs more approvals, or proofs of its proposer, as the status states.
    Waits(Pending<'a>, Status),
    /// The request is denied. If it waits already, it continues to wait with this status.
    Denied(Denied, Pending<'a>, Status),
}

/// The permission to execute one request, once.
pub(super) struct Permit<'a> {
    prepared: Box<dyn PreparedRequest>,
    view: View<'a>,
    granted: Granted,
}

/// The voters of a stored activity, and its current decision.
pub struct Voters {
    /// Users whose vote would be accepted.
    pub open_to: Vec<UserId>,
    /// Approvals that currently count, see [`Decided::counted`].
    pub approvals: Vec<Approval>,
    /// Users with a live approval by a credential or a session, which may not count yet.
    consenting: Vec<UserId>,
    /// Decision with the approvals that currently count.
    pub decided: Decided,
}

impl Voters {
    /// Returns whether another approval of the caller would make no difference to an activity with this status.
    ///
    /// Of a user who must authenticate, only the proof of the next step does, and a new approval if the old one expired
    /// and a token proves the next step. An activity that waited for proofs, and whose proposer now needs none, only waits
    /// for the next vote.
    pub(super) fn is_repeated(&self, own: &Approval, status: Status, caller: &Caller) -> bool {
        if self.decided.must_authenticate(own.user) {
            let renews = !self.consenting.contains(&own.user);
            return !(self.proves_step(own) || renews && self.unmet(own.user).any(MfaState::awaits_token));
        }
        !self.accepts_proofs(own.user, status) && self.has_approved(caller)
    }

    /// Returns whether a stamp proves the next step of an MFA policy of its user.
    fn proves_step(&self, own: &Approval) -> bool {
        let mut unmet = self.unmet(own.user);
        unmet.any(|one| own.authentication.is_some_and(|by| one.advances_by(by)))
    }

    /// Returns whether an attested stamp makes a difference: it proves the next step of a user who has approved with a
    /// credential or a session.
    pub(super) fn admits_token(&self, own: &Approval) -> bool {
        self.consenting.contains(&own.user) && self.proves_step(own)
    }

    fn unmet(&self, user: UserId) -> impl Iterator<Item = &MfaState> {
        self.decided.mfa.iter().filter(move |one| one.user == user && !one.is_met())
    }

    /// Returns whether a further approval of a user makes a difference because of MFA policies.
    fn accepts_proofs(&self, user: UserId, status: Status) -> bool {
        let may_run = matches!(self.decided.decision, Decision::Allow(_));
        self.decided.must_authenticate(user) || may_run && status == Status::AuthenticatorsNeeded
    }

    /// Returns whether an approval of the caller already counts. A policy can depend on the credentials of approvals; if
    /// one decides, an approval with another credential of the same user counts.
    pub(super) fn has_approved(&self, caller: &Caller) -> bool {
        let by_policy = matches!(self.decided.decision, Decision::Wait(Rule::Policy));
        let is_repeated = |key: &str| !by_policy || key == caller.stamp.public_key;
        self.approvals.iter().any(|own| own.user == caller.user && is_repeated(&own.public_key))
    }
}

impl<'a> Pending<'a> {
    /// Applies the rules to a request.
    pub(super) fn new(
        world: &'a dyn World,
        entry: &'static Entry,
        mut prepared: Box<dyn PreparedRequest>,
        view: View<'a>,
    ) -> Result<Self, Corrupt> {
        let RuleOutcome { facts, error } = prepared.rules(&view)?;
        let (is_attested, decider) = (false, view.organization);
        Ok(Self { world, entry, prepared, facts, error, view, is_attested, decider })
    }

    /// Lets an attested stamp of the proposer prove a step by itself.
    pub(super) fn attested(self) -> Self {
        Self { is_attested: true, ..self }
    }

    /// Lets the parent decide on the request of one of its users. Their own credentials and contacts are those in the parent.
    pub(super) fn decided_by(self, parent: &'a Organization) -> Self {
        let facts = Facts { own_credentials_of: None, own_codes: Vec::new(), ..self.facts };
        Self { facts, decider: parent, ..self }
    }

    /// Returns whether the request is within the scope of a session.
    pub(super) fn is_within(&self, scope: &str, approvals: &[Approval]) -> bool {
        policy::is_within_scope(scope, &self.input(approvals))
    }

    /// Parses the proposal of a stored activity again, and applies the rules of its kind.
    ///
    /// # Errors
    /// If the store cannot be read, or a stored record is damaged.
    pub fn of(
        world: &'a dyn World,
        record: &ActivityRecord,
        organization: &'a Organization,
        now: Millis,
    ) -> Result<Self, Corrupt> {
        let (entry, prepared) = proposal_of(record)?;
        let view = View::new(world, organization, record.proposer, None, now);
        let mut pending = Self::new(world, entry, prepared, view)?;
        if entry.recovers() {
            pending.error = pending.error.or_else(|| recovery_error(record, organization));
        }
        Ok(pending)
    }

    /// Returns the row of the activity type.
    pub fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Returns the `intent` of the wire.
    pub fn intent(&self) -> &RawValue {
        self.prepared.intent()
    }

    /// Returns whether the parameters contain a secret, which is stored nowhere.
    pub(super) fn has_secret(&self) -> bool {
        self.prepared.has_secret()
    }

    /// Returns the facts that policies can query.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the error of the rules, if the request breaks one.
    pub(super) fn rule_error(&self) -> Option<&RequestError> {
        self.error.as_ref()
    }

    /// Returns the approvals by current users with current credentials. Those of users who must still authenticate are
    /// among them, see [`Voters::approvals`].
    pub fn approvals(&self, record: &ActivityRecord) -> Vec<Approval> {
        live_approvals(record, self.view.organization, self.view.now)
    }

    /// Returns who may still vote, by the current policies, users and root quorum.
    pub fn voters(&self, record: &ActivityRecord) -> Voters {
        let users = self.view.organization.users().filter(|user| user.has_credential());
        self.voters_among(&users.map(|user| user.id).collect::<Vec<_>>(), record)
    }

    /// Returns which of these users may still vote. Policy steps are charged to the budget of the answer.
    fn voters_among(&self, users: &[UserId], record: &ActivityRecord) -> Voters {
        let approvals = self.approvals(record);
        let (input, budget) = (self.input(&approvals), self.world.budget());
        let decided = budget.with_steps(|steps| policy::decide_within(&input, steps));
        let counted = decided.counted(&approvals, self.view.proposer);
        let input = self.input(&counted);
        let open_to = budget.with_steps(|steps| policy::voters(&input, &decided.evaluations, users, steps));
        let consenting = consensus::users(approvals.iter().filter(|one| one.is_by_credential()));
        Voters { open_to, approvals: counted, consenting, decided }
    }

    /// Returns what the MFA policies require of a user, or of the proposer and all users who approved.
    pub fn mfa(&self, record: &ActivityRecord, user: Option<UserId>) -> Vec<MfaState> {
        let approvals = self.approvals(record);
        let input = self.input(&approvals);
        self.world.budget().with_steps(|steps| match user {
            Some(user) => policy::states_of(user, &input, steps),
            None => policy::states(&input, steps),
        })
    }

    fn input<'c>(&'c self, approvals: &'c [Approval]) -> DecisionInput<'c> {
        DecisionInput {
            organization: self.decider,
            activity_type: self.entry.activity_type,
            gate: self.entry.gate,
            acts: self.entry.acts,
            intent: self.prepared.intent(),
            facts: &self.facts,
            proposer: self.view.proposer,
            is_attested: self.is_attested,
            approvals,
            deny_errors: self.view.installation().deny_errors(),
            now: self.view.now,
        }
    }

    /// Returns the verdict with these approvals, and the outcome of each policy.
    pub(super) fn decide(self, approvals: &[Approval]) -> (Verdict<'a>, Vec<Evaluation>) {
        let decided = policy::decide(&self.input(approvals));
        let must_authenticate = decided.must_authenticate(self.view.proposer);
        let status = if must_authenticate { Status::AuthenticatorsNeeded } else { Status::ConsensusNeeded };
        let Decided { decision, evaluations, .. } = decided;
        let verdict = match decision {
            Decision::Allow(granted) => Verdict::Allowed(match self.error {
                None => Ok(Permit { prepared: self.prepared, view: self.view, granted }),
                Some(error) => Err(error),
            }),
            Decision::Wait(_) => Verdict::Waits(self, status),
            Decision::Deny(denied) => Verdict::Denied(denied, self, status),
        };
        (verdict, evaluations)
    }
}

/// Returns why a recovery cannot be executed anymore, if so: its proposer lost the credential that proposed it, as with
/// another address, or the organization does not let its users recover by mail anymore.
fn recovery_error(record: &ActivityRecord, organization: &Organization) -> Option<RequestError> {
    let removed = || Intent::Text("the key that proposed the recovery was removed").into();
    let holder = record.votes.first().and_then(|vote| Some((vote, organization.user(record.proposer)?)));
    let Some((vote, user)) = holder.filter(|(vote, user)| user.holds(vote.scheme, &vote.public_key)) else {
        return Some(removed());
    };
    let mut keys = user.api_keys.iter().filter(|key| key.public_key == vote.public_key);
    let is_off = keys.any(|key| key.is_recovery() && !organization.head.admits_recovery(user.id, key));
    is_off.then(|| Intent::FeatureOff(FeatureName::EmailRecovery.name()).into())
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
    flags(world, record, organization, caller, now, None)
}

/// Returns the flags like [`can_flags`], from an activity that may already be parsed.
pub(super) fn flags(
    world: &dyn World,
    record: &ActivityRecord,
    organization: &Organization,
    caller: &Caller,
    now: Millis,
    pending: Option<&Pending<'_>>,
) -> Result<CanFlags, Corrupt> {
    if !record.status.waits() || caller.organization != record.organization || caller.is_recovery {
        return Ok(CanFlags::default());
    }
    // A root user can always contribute; policies are evaluated only where they make a difference.
    let (is_root, is_own) = (organization.is_root(caller.user), record.proposer == caller.user);
    let is_own_approval = |one: &Approval| one.user == caller.user && one.consents();
    let has_approved = || live_approvals(record, organization, now).iter().any(is_own_approval);
    if is_root && !has_approved() {
        return Ok(CanFlags { approve: true, reject: true });
    }
    // Once the budget is used up, the outcomes of policies are unknown, and no flag may rely on them.
    let unknown = CanFlags { approve: false, reject: is_root || is_own };
    if !charge_parsing(world, record, organization) {
        return Ok(unknown);
    }
    let voters = match pending {
        Some(pending) => pending.voters_among(&[caller.user], record),
        None => Pending::of(world, record, organization, now)?.voters_among(&[caller.user], record),
    };
    if world.budget().steps_left() == 0 {
        return Ok(unknown);
    }
    let eligible = voters.open_to.contains(&caller.user);
    // Whether a proof would be accepted depends on the credential, which the flags cannot know.
    let proves = (eligible || is_own) && voters.accepts_proofs(caller.user, record.status);
    let approve = proves || eligible && !voters.has_approved(caller);
    Ok(CanFlags { approve, reject: eligible || is_own })
}

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

impl Permit<'_> {
    /// Executes the permitted request. An error of the execution fails the activity; only an internal error
    /// aborts the transaction attempt.
    pub(super) fn execute(self, runtime: &mut Runtime<'_>) -> Result<Transition, RequestError> {
        let own = Runtime { now: runtime.now, order: runtime.order, entropy: &mut *runtime.entropy };
        let mut context = Execution::new(self.view, own);
        match self.prepared.execute(self.granted, &mut context) {
            Ok(executed) => Ok(Transition::Completed(executed, context.finish())),
            Err(corrupt @ RequestError::Corrupt(_)) => Err(corrupt),
            Err(error) => Ok(Transition::Failed(error.api_error(), context.finish().of_failure())),
        }
    }
}

/// Parses the proposal of a stored activity again.
pub(super) fn proposal_of(
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
