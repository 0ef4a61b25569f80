//! The finished review of an activity, and what its viewer may do with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_common::activity::Activity;
use quorate_common::console::activity_log::LogEntry;
use quorate_common::console::{OrganizationDetail, RuleInputs, Signer, Waiting};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_common::wire::{AuthenticationMethod, AuthenticationType, MfaStatus, User};

use super::check::{Check, Mark};
use super::evidence::{Evidence, Record, Viewer};
use super::proposal::Proposal;
use super::siblings::Sibling;
use super::states::{is_only_stated, state_text};
use super::tally::{self, Tally};
use super::votes::{self, VoteProof};
use super::{checks, ended, flags, rule};
use crate::ballot::{ActivityRequest, Ballot};
use crate::book::Book;
use crate::kinds::{self, Change, Danger, Decoded, Field, Flag, Level, ReviewContext, Transfer};
use crate::policies::ResolvedNames;
use crate::text::clean;

static NO_SIGNERS: BTreeMap<String, Signer> = BTreeMap::new();

/// The challenge that an approver must pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// Type `y` and select a button that is not the default.
    Yes,
    /// Type the last four characters of the fingerprint.
    LastFour(String),
    /// Type the dangerous value.
    Value(Danger),
}

/// A draft and its expected outcome.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    /// The activity to propose.
    pub(crate) request: ActivityRequest,
    /// Accounts, keys and contracts that the request names, as the daemon states them.
    pub(crate) signers: ResolvedNames,
    /// The bytes that will be signed.
    pub(crate) ballot: Ballot,
    /// Expected outcome as text.
    pub(crate) outlook: String,
    /// Whether it was sent, so that an activity may exist.
    pub(crate) is_sent: bool,
}

/// A finished review.
#[derive(Debug, Clone)]
pub(crate) struct Review {
    /// The activity as the daemon records it.
    pub(crate) activity: Activity,
    /// The organization at the time of the review.
    pub(crate) organization: Arc<OrganizationDetail>,
    /// The proposal, unless no signed bytes match the fingerprint.
    pub(crate) proposal: Option<Proposal>,
    /// Name of the kind for people.
    pub(crate) title: String,
    /// Summary of a few words, for lists.
    pub(crate) brief: String,
    /// The effect in sentences.
    pub(crate) sentence: String,
    /// All leaves of the signed parameters.
    pub(crate) fields: Vec<Field>,
    /// Facts that this console computes.
    pub(crate) facts: Vec<Field>,
    /// Comparison of the current state with the state after execution.
    pub(crate) changes: Vec<Change>,
    /// Signed members that the type does not define.
    pub(crate) unknown_members: Vec<String>,
    /// All flags, worst first.
    pub(crate) flags: Vec<Flag>,
    pub(crate) checks: Vec<Check>,
    /// The votes with their errors.
    pub(crate) votes: Vec<VoteProof>,
    /// What a transaction moves.
    pub(crate) transfer: Option<Box<Transfer>>,
    /// The count of the verified approvals.
    pub(crate) tally: Tally,
    /// Name and id of the proposer.
    pub(crate) proposer: String,
    /// Highest level of the flags.
    pub(crate) risk: Level,
    pub(crate) viewer: Viewer,
    /// Time of the review, in milliseconds since the Unix epoch.
    pub(crate) reviewed_at: u64,
    /// The draft, if the activity is not proposed yet.
    pub(crate) draft: Option<Draft>,
    /// What the activity waits for, as the daemon states.
    pub(super) waiting: Option<Waiting>,
    /// Further inputs of the rule, as the daemon states.
    pub(super) rule_inputs: Option<RuleInputs>,
    /// The activity in the activity log, as the daemon states.
    pub(crate) log: Option<LogEntry>,
    /// The other waiting activities that the flags depend on.
    pub(super) siblings: Vec<Sibling>,
    /// Why nothing is compared with the present state; absent unless the activity has ended.
    pub(crate) ended: Option<&'static str>,
    /// The error with which the daemon would refuse the execution now, if so.
    pub(crate) execution_error: Option<String>,
}

impl Review {
    /// Reviews a record.
    pub(crate) fn of(evidence: &Evidence<'_>) -> Self {
        let record = evidence.record;
        let activity = &record.row.activity;
        let organization = with_texts(record);
        let proposal = Proposal::of(activity);
        let who = proposal.as_ref().map(|proposal| proposal.proposer);
        let signers = record.rule_inputs.as_ref().map_or(&NO_SIGNERS, |inputs| &inputs.signers);
        let book = evidence.book;
        let context = ReviewContext { organization: &organization, proposer: who, book, signers };
        let mut decoded = decoded(activity, proposal.as_ref(), &context);
        let ended = ended::note(activity);
        if let Some(proposal) = proposal.as_ref().filter(|_| ended.is_some()) {
            ended::detach(proposal, &context, &mut decoded);
        }
        let votes = votes::examine(evidence, proposal.as_ref());
        let tally = tally::count(evidence, &votes);
        let rule = proposal.as_ref().and_then(|proposal| rule::evaluate(evidence, proposal, &votes));
        let checks = checks::run(evidence, proposal.as_ref(), &decoded, &votes, &tally, rule.as_ref());
        let flags = flags::collect(evidence, proposal.as_ref(), &decoded, &votes);
        let risk = flags.iter().map(|flag| flag.level).max().unwrap_or(Level::Low);
        let mut fields = decoded.fields;
        if let Some(proposal) = &proposal {
            fields.extend(proposal.extra.iter().cloned());
        }
        let proposer = proposer(activity, proposal.as_ref(), &context);
        Self {
            proposer,
            title: decoded.title,
            brief: decoded.description.brief,
            sentence: decoded.description.sentence,
            fields,
            facts: decoded.description.facts,
            changes: decoded.description.changes,
            transfer: decoded.description.transfer,
            unknown_members: decoded.unknown_members,
            flags,
            checks,
            votes,
            tally,
            risk,
            proposal,
            activity: activity.clone(),
            organization,
            viewer: evidence.viewer.clone(),
            reviewed_at: evidence.now,
            draft: None,
            waiting: record.row.waiting.clone(),
            rule_inputs: record.rule_inputs.clone(),
            log: record.log.clone(),
            siblings: who.map(|who| evidence.siblings.related(activity, who)).unwrap_or_default(),
            ended,
            execution_error: decoded.description.execution_error,
        }
        .with_danger(decoded.description.danger)
    }

    /// Returns whether a check failed, so that the activity must not be approved.
    pub(crate) fn blocked(&self) -> bool {
        self.checks.iter().any(|check| check.mark == Mark::Failed)
    }

    /// Returns the HIGH flags, which scripts must accept by name.
    pub(crate) fn high_flags(&self) -> impl Iterator<Item = &Flag> {
        self.flags.iter().filter(|flag| flag.level == Level::High)
    }

    /// Returns the challenge that an approver must pass.
    pub(crate) fn challenge(&self) -> Challenge {
        let digits = self.proposal.as_ref().map(|proposal| proposal.fingerprint.hex()).unwrap_or_default();
        let last =
            |count: usize| digits.get(digits.len().saturating_sub(count)..).unwrap_or_default().to_owned();
        match self.risk {
            Level::Low => Challenge::Yes,
            Level::Med => {
                self.recipient_challenge().map_or_else(|| Challenge::LastFour(last(4)), Challenge::Value)
            }
            Level::High => {
                let danger = self.tally.danger.clone().or_else(|| self.recipient_challenge());
                Challenge::Value(danger.unwrap_or_else(|| Danger {
                    prompt: "the LAST EIGHT characters of the fingerprint".to_owned(),
                    answer: last(8),
                }))
            }
        }
    }

    /// Returns the challenge of a transfer: the end of the address of its recipient.
    fn recipient_challenge(&self) -> Option<Danger> {
        let (prompt, answer) = self.transfer.as_ref()?.challenge(self.risk == Level::High)?;
        Some(Danger { prompt, answer })
    }

    /// Returns why the viewer cannot approve, if so.
    pub(crate) fn approval_error(&self) -> Option<String> {
        if self.blocked() {
            return Some(
                self.unprovable().unwrap_or_else(|| "a check failed: see the lines marked [x]".to_owned()),
            );
        }
        if let Some(error) = self.closed() {
            return Some(error);
        }
        let user = self.viewer.user?;
        if self.draft.is_some() {
            return None;
        }
        if let Some(unmet) = self.unmet_by(user) {
            return unprovable_step(unmet, &self.organization).or_else(|| self.vote_target().err());
        }
        if self.tally.resumes_with == Some(user) {
            return self.vote_target().err();
        }
        if let Some(vote) = self.own_vote() {
            return Some(format!("already voted {}", crate::text::clock(vote.cast)));
        }
        if !self.tally.open_to.contains(&user) {
            return Some("your approval would not count: no matching rule needs it".to_owned());
        }
        self.vote_target().err()
    }

    /// Returns why nobody can prove what was signed, if the daemon does not store the signed bytes of this
    /// type.
    pub(crate) fn unprovable(&self) -> Option<String> {
        let hidden = kinds::hidden(&self.activity.activity_type).filter(|_| self.proposal.is_none());
        hidden.map(|what| format!("no signed bytes to verify: {what}"))
    }

    /// Returns why the viewer cannot reject, if so.
    pub(crate) fn rejection_error(&self) -> Option<String> {
        let unsent = self.draft.as_ref().map(|_| "nothing was sent yet: Esc discards the draft".to_owned());
        unsent.or_else(|| self.closed()).or_else(|| self.vote_target().err())
    }

    /// Returns the only organization and fingerprint that a vote on this activity may be signed for. These are
    /// the pinned organization, and the fingerprint that this console computed from the proposal's bytes. The
    /// proposal must be signed for the pinned organization.
    ///
    /// # Errors
    ///
    /// Fails if no organization is pinned, if the record contains no bytes of the fingerprint, or if the
    /// bytes belong to another activity or organization.
    pub(crate) fn vote_target(&self) -> Result<(OrganizationId, Fingerprint), String> {
        let Some(pinned) = self.viewer.organization else {
            return Err(self.viewer.no_organization(&self.organization));
        };
        let Some(proposal) = &self.proposal else {
            return Err(
                "the record contains no signed bytes to vote on: see quorate reject --help".to_owned()
            );
        };
        let is_of_it = ["K1", "K2"].into_iter().find_map(|id| {
            let mut checks = self.checks.iter();
            checks.find(|check| check.id == id && check.mark == Mark::Failed).map(|check| check.text.clone())
        });
        match is_of_it {
            Some(failed) => Err(failed),
            None if proposal.organization.eq_ignore_ascii_case(&pinned.to_string()) => {
                Ok((pinned, proposal.fingerprint))
            }
            None => Err(format!(
                "signed for organization {}, but {pinned} is pinned",
                clean(&proposal.organization)
            )),
        }
    }

    /// Returns whether the viewer's approval still counts, or proves what an MFA policy requires.
    pub(crate) fn waits_for_viewer(&self) -> bool {
        let waits = |user| self.tally.open_to.contains(&user) || self.tally.may_approve_again(user);
        self.viewer.user.is_some_and(waits)
    }

    /// Returns the viewer's approval if it counts and another one makes no difference.
    pub(crate) fn final_vote(&self) -> Option<&VoteProof> {
        self.own_vote().filter(|vote| !self.tally.may_approve_again(vote.user))
    }

    /// Returns the first MFA policy that a user does not meet yet, as the daemon states.
    fn unmet_by(&self, user: UserId) -> Option<&MfaStatus> {
        self.tally.unmet.iter().find(|unmet| unmet.user_id == user)
    }

    /// Returns the viewer's approval, if it counts.
    pub(crate) fn own_vote(&self) -> Option<&VoteProof> {
        let user = self.viewer.user?;
        self.votes.iter().find(|vote| vote.user == user && vote.counts())
    }

    fn closed(&self) -> Option<String> {
        if self.draft.is_none() && !self.activity.status.waits() {
            let state = state_text(&self.activity, &self.organization);
            return Some(format!("it is no longer waiting: {state}"));
        }
        if self.viewer.user.is_none() {
            return Some(self.viewer.no_signer(&self.organization));
        }
        None
    }

    fn with_danger(mut self, danger: Option<Danger>) -> Self {
        self.tally.danger = danger;
        self
    }
}

/// Returns why an API key, with which the console signs, cannot prove the next step of an MFA policy.
fn unprovable_step(unmet: &MfaStatus, organization: &OrganizationDetail) -> Option<String> {
    let step = unmet.required_methods.get(unmet.satisfied_methods.len())?;
    let is_by_key = |method: &AuthenticationMethod| {
        matches!(method.method_type, AuthenticationType::ApiKey | AuthenticationType::Session)
    };
    let context = ReviewContext::of(organization);
    let is_possible = step.any.iter().any(is_by_key);
    (!is_possible).then(|| {
        format!(
            "your MFA policy needs {} next, which this console cannot prove",
            kinds::step_words(step, &context)
        )
    })
}

/// Describes an activity briefly, for a list. Only the fingerprint is verified.
pub(crate) fn outline(record: &Record, book: &Book) -> String {
    let activity = &record.row.activity;
    let proposal = Proposal::of(activity);
    let proposer = proposal.as_ref().map(|proposal| proposal.proposer);
    let context = ReviewContext { organization: &record.organization, proposer, book, signers: &NO_SIGNERS };
    let mut decoded = decoded(activity, proposal.as_ref(), &context);
    if let Some(proposal) = proposal.as_ref().filter(|_| ended::note(activity).is_some()) {
        ended::detach(proposal, &context, &mut decoded);
    }
    decoded.description.brief
}

fn decoded(activity: &Activity, proposal: Option<&Proposal>, context: &ReviewContext<'_>) -> Decoded {
    if let Some(proposal) = proposal {
        return kinds::decode(&proposal.activity_type, &proposal.parameters, context);
    }
    if let Some(stated) = stated(activity, context) {
        return stated;
    }
    let reason = "the record contains no signed bytes that match the fingerprint";
    let mut decoded = kinds::undecoded(None, Vec::new(), reason.to_owned());
    let why = kinds::hidden(&activity.activity_type).map_or_else(String::new, |what| {
        what.clone_into(&mut decoded.description.brief);
        format!(
            " If so, {what} in its record, so this machine cannot prove what was signed. Propose it again in \
             a version that can be proven, or approve it through the API if you trust the daemon."
        )
    });
    decoded.description.sentence = format!(
        "UNDECODED: {reason}. The daemon states that it is {}; nothing here proves that.{why}",
        clean(&activity.activity_type)
    );
    decoded
}

/// Describes a closed activity whose signed bytes are not stored, by what the daemon states.
fn stated(activity: &Activity, context: &ReviewContext<'_>) -> Option<Decoded> {
    let members = activity.intent.as_object().filter(|members| members.len() == 1)?;
    let (_, parameters) = members.iter().next().filter(|_| is_only_stated(activity, None))?;
    let mut decoded = kinds::decode(&activity.activity_type, parameters, context);
    if decoded.undecoded.is_some() {
        return None;
    }
    let description = &mut decoded.description;
    description.sentence = format!("The daemon states [s]: {}", description.sentence);
    description.danger = None;
    description.changes.clear();
    description.transfer = None;
    // A login does not name its user, but the key that it registered belongs to them.
    let key = parameters.get("publicKey").and_then(serde_json::Value::as_str);
    let holds = |user: &&User| {
        user.api_keys
            .iter()
            .any(|one| key.is_some_and(|key| one.credential.public_key.eq_ignore_ascii_case(key)))
    };
    if let Some(user) = context.organization.users.iter().find(holds) {
        description.fact("holder of publicKey", context.user_named(&user.user_id.to_string()));
    }
    Some(decoded)
}

fn proposer(activity: &Activity, proposal: Option<&Proposal>, context: &ReviewContext<'_>) -> String {
    let stated =
        activity.votes.first().filter(|_| is_only_stated(activity, proposal)).map(|vote| vote.user_id);
    let Some(id) = proposal.map(|proposal| proposal.proposer).or(stated) else { return "unknown".to_owned() };
    let id = id.to_string();
    match context.user(&id) {
        Some(_) => context.user_named(&id),
        None => format!("{id} (not a user of this organization)"),
    }
}

/// Returns the organization with the interface texts that the record contains.
fn with_texts(record: &Record) -> Arc<OrganizationDetail> {
    let mut organization = Arc::clone(&record.organization);
    let named = record.rule_inputs.iter().flat_map(|rule_inputs| rule_inputs.signers.values());
    for contract in named.filter_map(|found| found.contract.as_ref()) {
        let mut interfaces = Arc::make_mut(&mut organization).smart_contract_interfaces.iter_mut();
        let id = contract.smart_contract_interface_id;
        if let Some(stated) = interfaces.find(|one| one.smart_contract_interface_id == id) {
            stated.smart_contract_interface.clone_from(&contract.smart_contract_interface);
        }
    }
    organization
}
