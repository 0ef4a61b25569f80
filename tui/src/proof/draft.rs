//! Reviews of drafts: activities that are not proposed yet. Shows the facts, comparisons and flags that
//! approvers will see, and the expected outcome.

use std::sync::Arc;

use quorate_common::activity::{Activity, Selection, Status, Vote};
use quorate_common::console::{ActivityRow, OrganizationDetail, RuleInputs};
use quorate_common::ids::{ActivityId, UserId, VoteId};
use quorate_common::wire::Timestamp;
use quorate_policy::decide::PolicyOutcome;
use serde_json::json;

use super::check::{Check, Mark};
use super::evidence::{Evidence, Record, Viewer};
use super::proposal::Proposal;
use super::review::{Draft, Review};
use super::rule;
use super::siblings::Siblings;
use crate::ballot::{ActivityRequest, Ballot};
use crate::book::Book;
use crate::kinds::{Level, ReviewContext};
use crate::known_keys::KnownKeys;
use crate::policies::{ResolvedNames, verdict_word};
use crate::text::clean;

/// The organization, the proposer and the time of a draft.
pub(crate) struct DraftContext<'a> {
    /// Current state of the organization.
    pub(crate) organization: &'a Arc<OrganizationDetail>,
    /// The proposer.
    pub(crate) viewer: &'a Viewer,
    /// Key that will sign the proposal.
    pub(crate) public_key: &'a str,
    /// Root quorum and names as the console knows them.
    pub(crate) known_keys: &'a KnownKeys,
    /// The viewer's own address book.
    pub(crate) book: &'a Book,
    /// Accounts, keys and contracts that the request names, as the daemon states them.
    pub(crate) signers: &'a ResolvedNames,
    /// Whether a deny policy that cannot be evaluated denies.
    pub(crate) strict_deny_errors: bool,
    /// Current time in milliseconds since the Unix epoch.
    pub(crate) now: u64,
}

impl Review {
    /// Reviews a draft that the viewer may sign, for the pinned organization only.
    ///
    /// # Errors
    ///
    /// Fails if no user is selected, or if the organization is not the pinned one.
    pub(crate) fn of_request(request: &ActivityRequest, context: &DraftContext<'_>) -> Result<Self, String> {
        let nobody = || context.viewer.no_signer(context.organization);
        let user = context.viewer.user.ok_or_else(nobody)?;
        let DraftContext { organization, public_key, now, .. } = *context;
        let stated = organization.head.organization_id;
        match context.viewer.organization {
            Some(pinned) if pinned == stated => {}
            Some(pinned) => {
                return Err(format!("the daemon shows organization {stated}, but {pinned} is pinned"));
            }
            None => return Err(context.viewer.no_organization(organization)),
        }
        let ballot = Ballot::proposal(request, stated, now);
        let record = Record {
            row: ActivityRow { activity: unsent_activity(&ballot, request, context, user), waiting: None },
            organization: Arc::clone(organization),
            rule_inputs: Some(RuleInputs {
                strict_deny_errors: context.strict_deny_errors,
                signers: context.signers.clone(),
            }),
            log: None,
            is_exported: false,
        };
        let evidence = Evidence {
            record: &record,
            siblings: &Siblings::default(),
            known_keys: context.known_keys,
            book: context.book,
            viewer: context.viewer,
            now,
            reference: None,
        };
        let mut review = Self::of(&evidence);
        let unread = || "the proposal cannot be parsed again".to_owned();
        let proposal = review.proposal.as_ref().ok_or_else(unread)?;
        let names = ReviewContext::of(organization);
        let (check, open_to, outlook) = match &review.execution_error {
            Some(error) => (Mark::Failed, Vec::new(), format!("the daemon refuses the execution: {error}")),
            None => outlook(&evidence, proposal, (user, public_key)),
        };
        let names: Vec<String> = open_to.iter().map(|user| names.user_short(&user.to_string())).collect();
        let outlook =
            if names.is_empty() { outlook } else { format!("{outlook}; can approve: {}", names.join(", ")) };
        // All other checks concern votes and records, which a draft does not have. A proposal is an approval as
        // well, so it needs the known root quorum.
        review.checks.retain(|check| ["K3", "K10"].contains(&check.id));
        review.checks.push(Check {
            id: "K8",
            mark: check,
            text: format!("if sent, as evaluated here with the stated policies: {outlook}"),
        });
        review.flags.retain(|flag| !flag.name.starts_with("proposer-key"));
        review.risk = review.flags.iter().map(|flag| flag.level).max().unwrap_or(Level::Low);
        review.votes.clear();
        review.tally.open_to = open_to;
        let signers = context.signers.clone();
        review.draft = Some(Draft { request: request.clone(), signers, ballot, outlook, is_sent: false });
        Ok(review)
    }
}

/// Returns how the proposal would be decided: the mark, the users who could approve, and the outcome as text.
fn outlook(
    evidence: &Evidence<'_>,
    proposal: &Proposal,
    proposer: (UserId, &str),
) -> (Mark, Vec<UserId>, String) {
    let simulation = match rule::evaluate_approvals(evidence, proposal, &[proposer]) {
        Err(why) => return (Mark::Attention, Vec::new(), format!("unknown: {}", clean(&why))),
        Ok(evaluation) => evaluation.simulation,
    };
    let mark = match simulation.verdict {
        PolicyOutcome::Allow | PolicyOutcome::RequiresConsensus => Mark::Stated,
        _ => Mark::Failed,
    };
    let open_to = simulation.open_to.iter().filter_map(|id| id.parse().ok()).collect();
    (mark, open_to, format!("{}: {}", verdict_word(simulation.verdict), clean(&simulation.because)))
}

/// Returns the activity that the draft would create, with an unsigned vote.
fn unsent_activity(
    ballot: &Ballot,
    request: &ActivityRequest,
    context: &DraftContext<'_>,
    user: UserId,
) -> Activity {
    let (id, at) = (ActivityId::from_bytes([0; 16]), Timestamp::from_millis(context.now));
    let vote = Vote {
        id: VoteId::from_bytes([0; 16]),
        user_id: user,
        user: None,
        activity_id: id,
        selection: Selection::Approved,
        message: ballot.message.clone(),
        public_key: context.public_key.to_owned(),
        signature: String::new(),
        scheme: String::new(),
        attestation: None,
        created_at: at.clone(),
    };
    Activity {
        id,
        organization_id: context.organization.head.organization_id,
        status: Status::Created,
        activity_type: request.activity_type.to_owned(),
        intent: json!({}),
        result: json!({}),
        votes: vec![vote],
        app_proofs: Vec::new(),
        fingerprint: ballot.fingerprint,
        can_approve: false,
        can_reject: false,
        created_at: at.clone(),
        updated_at: at,
        failure: None,
    }
}
