//! Sentences about reviews and replays, for the screens and the command line.

use std::fmt::Write as _;

use quorate_common::activity::{Activity, Status};
use quorate_common::console::{OrganizationDetail, WaitingRule};
use quorate_common::ids::{PolicyId, UserId};
use quorate_common::wire::{MfaStatus, PolicyOutcome};
use quorate_policy::Names;
use quorate_policy::simulate::Simulation;

use super::check::Mark;
use super::review::Review;
use super::states::state_text;
use crate::ballot::Outcome;
use crate::kinds::{ReviewContext, count, stated, step_words};
use crate::policies::{Replay, Rules, outcome_word, verdict_word};
use crate::text::{clean, date_time, duration, quoted};

/// Maximum number of policies that a rule names. More are counted, and listed in the proof.
const NAMED_POLICIES: usize = 3;

/// Describes who approved, how many must, and who can still approve.
pub(crate) fn needs(review: &Review) -> String {
    if let Some(draft) = &review.draft {
        return draft.outlook.clone();
    }
    let tally = &review.tally;
    let context = ReviewContext::of(&review.organization);
    let open: Vec<String> = tally.open_to.iter().map(|user| context.user_short(&user.to_string())).collect();
    let rule = match tally.rule {
        None => return format!("nothing: it is {}", state_text(&review.activity, &review.organization)),
        Some(WaitingRule::RootQuorum) => format!(
            "root quorum, {} of {} [s]",
            tally.needed,
            review.organization.head.root_quorum.user_ids.len()
        ),
        Some(WaitingRule::Policy) => {
            format!("{}, or {} [s] of the root quorum", policies(review), tally.needed)
        }
    };
    let expiry = tally.expires_at.map_or_else(String::new, |at| {
        format!("; votes expire in {}", duration(at.saturating_sub(review.reviewed_at)))
    });
    if let Some(user) = tally.resumes_with {
        let name = context.user_short(&user.to_string());
        return format!("no authentication step is left: it runs with the next approval of {name}{expiry}");
    }
    let open = if open.is_empty() { "nobody".to_owned() } else { open.join(", ") };
    let proofs = proofs(review);
    format!("{proofs}{rule}; {} so far; can still approve: {open}{expiry}", count(tally.has(), "approval"))
}

/// Names the users who must prove further authentication methods, and what comes next.
fn proofs(review: &Review) -> String {
    let context = ReviewContext::of(&review.organization);
    let proof = |unmet: &MfaStatus| {
        let name = context.user_short(&unmet.user_id.to_string());
        format!("waits for {name} to prove a second method: {}; ", next_step(unmet, &context))
    };
    review.tally.unmet.iter().map(proof).collect()
}

fn next_step(unmet: &MfaStatus, context: &ReviewContext<'_>) -> String {
    let step = unmet.required_methods.get(unmet.satisfied_methods.len());
    step.map_or_else(|| "a further method".to_owned(), |step| step_words(step, context))
}

/// Returns whom an activity waits for and with which authentication step, for lists; `None` if it waits for approvals
/// only.
pub(crate) fn waits_for_proof(review: &Review) -> Option<String> {
    let context = ReviewContext::of(&review.organization);
    let name = |user: UserId| match review.viewer.user {
        Some(viewer) if viewer == user => "you".to_owned(),
        _ => context.user_name(&user.to_string()),
    };
    if let Some(user) = review.tally.resumes_with {
        return Some(format!("waits for {} to approve again", name(user)));
    }
    let proof = |unmet: &MfaStatus| format!("{}: {}", name(unmet.user_id), next_step(unmet, &context));
    let proofs: Vec<String> = review.tally.unmet.iter().map(proof).collect();
    (!proofs.is_empty()).then(|| format!("waits for {}", proofs.join("; ")))
}

/// Names the policies whose consensus is missing.
fn policies(review: &Review) -> String {
    let waits = |id: PolicyId| {
        let mut evaluations = review.tally.policy_evaluations.iter();
        evaluations.any(|one| one.policy_id == id && one.outcome == "OUTCOME_REQUIRES_CONSENSUS")
    };
    let waiting = review.organization.policies.iter().filter(|policy| waits(policy.policy_id));
    let names: Vec<String> = waiting.map(|policy| stated(&policy.policy_name)).collect();
    match names.len() {
        0 => "a policy".to_owned(),
        1..=NAMED_POLICIES => format!("policy {}", names.join(" or ")),
        many => format!("any of {many} policies (listed in the proof)"),
    }
}

/// Lists every policy with its outcome, as the daemon states them.
pub(crate) fn policy_lines(review: &Review) -> Vec<String> {
    let context = ReviewContext::of(&review.organization);
    let outcomes = review.tally.policy_evaluations.iter();
    let line = |one: &PolicyOutcome| {
        format!("{}: {}", context.policy_named(&one.policy_id.to_string()), effect_words(&one.outcome))
    };
    outcomes.map(line).collect()
}

/// Describes what a policy does with an activity, by the outcome that the daemon states.
fn effect_words(outcome: &str) -> String {
    let words = match outcome {
        "OUTCOME_ALLOW" => "allows it",
        "OUTCOME_DENY_EXPLICIT" => "denies it",
        "OUTCOME_DENY_IMPLICIT" => "does not apply, and allows nothing",
        "OUTCOME_REQUIRES_CONSENSUS" => "waits for approvals",
        "OUTCOME_ERROR" => "[!] cannot be evaluated",
        "OUTCOME_TIME_INACTIVE" => "is not active at this time",
        other => return clean(other),
    };
    words.to_owned()
}

/// Describes the state of the activity, or who must still approve.
pub(crate) fn outcome_text(target: &Activity, review: &Review) -> String {
    match Outcome::of(target.status) {
        Outcome::Executed => "It was executed.".to_owned(),
        Outcome::Failed => {
            let reason = target
                .failure
                .as_ref()
                .map_or_else(String::new, |error| format!(": {}", clean(&error.message)));
            format!("It was executed and FAILED{reason}.")
        }
        Outcome::Rejected => "It was rejected.".to_owned(),
        Outcome::Waiting if target.status == Status::AuthenticatorsNeeded => {
            format!("It waits until {} proves a further method.", review.proposer)
        }
        Outcome::Waiting => {
            let context = ReviewContext::of(&review.organization);
            let voted = |user: &&UserId| !target.votes.iter().any(|vote| vote.user_id == **user);
            let left: Vec<String> = review
                .tally
                .open_to
                .iter()
                .filter(voted)
                .map(|user| context.user_short(&user.to_string()))
                .collect();
            format!(
                "It waits for others: {}.",
                if left.is_empty() { "no known approver".to_owned() } else { left.join(", ") }
            )
        }
    }
}

/// Returns the number of checks per mark, or the failed checks in words.
pub(crate) fn tally_of_marks(review: &Review) -> String {
    let count = |mark: Mark| review.checks.iter().filter(|check| check.mark == mark).count();
    let failed: Vec<String> = review
        .checks
        .iter()
        .filter(|check| check.mark == Mark::Failed)
        .map(|check| format!("[x] {}", check.text))
        .collect();
    if failed.is_empty() {
        format!(
            "{} checks: {} [v]  {} [s]  {} [!]",
            review.checks.len(),
            count(Mark::Verified),
            count(Mark::Stated),
            count(Mark::Attention)
        )
    } else {
        failed.join("; ")
    }
}

/// Formats the recent activities that would have a different outcome.
pub(crate) fn replay_lines(replay: &Replay, organization: &OrganizationDetail) -> Vec<String> {
    let Replay { evaluated, not_evaluated, differing } = replay;
    let all = evaluated.saturating_add(*not_evaluated);
    let mut lines = Vec::new();
    if *evaluated > 0 {
        lines.push(format!(
            "recent activities: {all}; evaluated: {evaluated}; with a different outcome after the change: {}",
            differing.len()
        ));
    }
    if *not_evaluated > 0 {
        lines.push(format!(
            "The effect on {not_evaluated} of {all} recent activities is unknown: policies do not decide on them, \
             or they name objects that were deleted."
        ));
    }
    if all == 0 {
        lines.push("there are no recent activities to compare".to_owned());
    }
    for one in differing {
        let context = ReviewContext::of(organization);
        lines.push(format!(
            "{}  {} by {}: {} now, {} after the change ({})",
            date_time(one.proposed_millis),
            clean(one.activity_type.trim_start_matches("ACTIVITY_TYPE_")),
            context.user_name(&one.proposer.to_string()),
            outcome_word(one.now),
            outcome_word(one.after),
            one.activity_id,
        ));
    }
    lines
}

/// Formats the simulated outcome of a request.
pub(crate) fn simulation_text(simulation: &Simulation, rules: &Rules<'_>) -> String {
    let mut text = format!("{}: {}\n", verdict_word(simulation.verdict), clean(&simulation.because));
    for policy in &simulation.policies {
        let outcome = policy.explanation.outcome.wire_name().trim_start_matches("OUTCOME_");
        let _ = writeln!(text, "  {outcome:<18} {}: {}", quoted(&policy.policy_name), clean(&policy.reason));
    }
    if !simulation.open_to.is_empty() {
        let names = simulation.open_to.iter();
        let names: Vec<String> =
            names.map(|id| clean(&rules.name(id).unwrap_or_else(|| id.clone()))).collect();
        let _ = writeln!(text, "  can approve        {}", names.join(", "));
    }
    text
}
