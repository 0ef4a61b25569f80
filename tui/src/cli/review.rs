//! `quorate review REF`.

use quorate_common::ids::PolicyId;

use super::Answer;
use crate::failure::{Exit, Failure};
use crate::kinds::{Scene, count, stated};
use crate::proof::{Review, json, status_word};
use crate::session::Session;
use crate::text::{clock, date_time, duration, grouped};

pub(super) async fn run(session: &Session, reference: &str) -> Result<Answer, Failure> {
    let review = session.review(reference).await?;
    let answer = Answer::one(json(&review), text(&review));
    Ok(if review.blocked() { answer.exits(Exit::Verification) } else { answer })
}

/// Formats the review as plain lines, without boxes or escape sequences.
pub(crate) fn text(review: &Review) -> String {
    let mut out = String::new();
    let mut line = |text: String| {
        out.push_str(text.trim_end());
        out.push('\n');
    };
    let status = if review.draft.is_some() {
        "a draft: nothing was sent"
    } else {
        status_word(review.activity.status)
    };
    line(format!("{} RISK  {}  ({status})", review.risk.word(), review.title));
    line(review.sentence.clone());
    line(format!("\ntype      {}", crate::text::clean(&review.activity.activity_type)));
    if review.draft.is_none() {
        line(format!("id        {}", review.activity.id));
        line(format!("proposer  {}", review.proposer));
        line(format!("proposed  {}", date_time(review.activity.created_at.millis())));
        line(format!("needs     {}", needs(review)));
    } else {
        line(format!("outlook   {}", needs(review)));
    }
    for vote in &review.votes {
        let selection = if vote.selection == quorate_common::activity::Selection::Approved {
            "approval"
        } else {
            "rejection"
        };
        let state = vote
            .error
            .clone()
            .unwrap_or_else(|| if vote.expired { "expired".to_owned() } else { "signature [v]".to_owned() });
        line(format!(
            "vote      {selection} by {} [s] {}{}  {state}",
            vote.name,
            clock(vote.cast),
            vote.key_note()
        ));
    }
    for change in &review.changes {
        line(format!("change    {}: {} [s] -> {}  {}", change.label, change.now, change.after, change.note));
    }
    for field in review.facts.iter().chain(&review.fields) {
        line(format!("field     {} = {}", field.name, field.value));
    }
    for flag in &review.flags {
        line(format!("flag      [!] {:<4} {} ({})", flag.level.word(), flag.text, flag.name));
    }
    for check in &review.checks {
        line(format!("check     {} {:<3} {}", check.mark.sign(), check.id, check.text));
    }
    if let Some(proposal) = &review.proposal {
        line(format!("sha256    {}", grouped(&proposal.fingerprint.hex())));
    }
    if review.blocked() && review.draft.is_none() {
        let rejection = match review.reject_refusal() {
            None => "It can still be rejected.".to_owned(),
            Some(error) => format!("It cannot be rejected from this record either: {error}."),
        };
        line(format!("\nBLOCKED: a check failed; this cannot be approved here. {rejection}"));
    }
    out
}

/// Describes who approved, how many must, and who can still approve.
pub(crate) fn needs(review: &Review) -> String {
    if let Some(draft) = &review.draft {
        return draft.outlook.clone();
    }
    let tally = &review.tally;
    let scene = Scene::of(&review.organization);
    let open: Vec<String> = tally.open_to.iter().map(|user| scene.user_short(&user.to_string())).collect();
    let rule = match tally.rule {
        None => return format!("nothing: it is {}", status_word(review.activity.status)),
        Some(quorate_common::console::WaitingRule::RootQuorum) => format!(
            "root quorum, {} of {} [s]",
            tally.needed,
            review.organization.head.root_quorum.user_ids.len()
        ),
        Some(quorate_common::console::WaitingRule::Policy) => {
            format!("{}, or {} [s] of the root quorum", policies(review), tally.needed)
        }
    };
    let expiry = tally.expires_at.map_or_else(String::new, |at| {
        format!("; votes expire in {}", duration(at.saturating_sub(review.reviewed_at)))
    });
    let open = if open.is_empty() { "nobody".to_owned() } else { open.join(", ") };
    format!("{rule}; {} so far; can still approve: {open}{expiry}", count(tally.has(), "approval"))
}

/// Names the policies whose consensus is missing.
fn policies(review: &Review) -> String {
    let waits = |id: PolicyId| {
        let mut evaluations = review.tally.policy_evaluations.iter();
        evaluations.any(|one| one.policy_id == id && one.outcome == "OUTCOME_REQUIRES_CONSENSUS")
    };
    let waiting = review.organization.policies.iter().filter(|policy| waits(policy.policy_id));
    let names: Vec<String> = waiting.map(|policy| stated(&policy.policy_name)).collect();
    if names.is_empty() { "a policy".to_owned() } else { format!("policy {}", names.join(" or ")) }
}
