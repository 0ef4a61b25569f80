//! The review as JSON for scripts, whose member names are stable, and as plain lines.

use serde_json::{Value, json};

use super::result::result_values;
use super::review::Review;
use super::sentences::{needs, policy_lines};
use super::states::status_word;
use super::votes::VoteProof;
use crate::address::Address;
use crate::kinds::{Field, Right, Transfer, digits, masked_request};
use crate::text::{clean, clock, date_time, grouped};

/// Returns one object with everything that the review screen shows.
pub(crate) fn json(review: &Review) -> Value {
    let proposal = review.proposal.as_ref();
    // Codes, card numbers and bundles are never exported, so the bytes that contain them are withheld.
    let withheld = proposal.and_then(|proposal| masked_request(&proposal.message)).map(|(_, paths)| paths);
    let withheld = withheld.unwrap_or_default();
    let names =
        |users: &[quorate_common::ids::UserId]| users.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "activityId": review.draft.is_none().then_some(review.activity.id),
        "address": review.draft.is_none().then(|| Address::of_activity(review.activity.organization_id, review.activity.id).to_string()),
        "outlook": review.draft.as_ref().map(|draft| draft.outlook.as_str()),
        "organizationId": review.activity.organization_id,
        "organizationName": review.organization.head.organization_name,
        "organizationVersion": review.organization.head.version,
        "fingerprint": proposal.map(|proposal| proposal.fingerprint.to_string()),
        "statedFingerprint": review.activity.fingerprint,
        "type": proposal.map(|proposal| proposal.activity_type.as_str()),
        "statedType": review.activity.activity_type,
        "status": review.activity.status,
        "statusWord": status_word(review.activity.status),
        "title": review.title,
        "sentence": review.sentence,
        "transfer": review.transfer.as_deref().map(transfer),
        "risk": review.ended.is_none().then(|| review.risk.word()),
        "flags": review.flags.iter().map(|flag| json!({"name": flag.name, "level": flag.level.word(), "text": flag.text})).collect::<Vec<_>>(),
        "checks": review.checks.iter().map(|check| json!({"id": check.id, "mark": check.mark.sign(), "text": check.text})).collect::<Vec<_>>(),
        "fields": members(&review.fields),
        "facts": members(&review.facts),
        "changes": review.changes.iter().map(|change| json!({"label": change.label, "now": change.now, "after": change.after, "note": change.note})).collect::<Vec<_>>(),
        "unknownMembers": review.unknown_members,
        "proposer": proposal.map(|proposal| json!({"userId": proposal.proposer, "publicKey": proposal.public_key, "stampedAtMillis": proposal.stamped})),
        "votes": {
            "counted": names(review.tally.has_list()),
            "needed": review.tally.needed,
            "resumesWith": review.tally.resumes_with,
            "openTo": names(&review.tally.open_to),
            "rule": review.tally.rule,
            "reason": review.tally.reason,
            "policyEvaluations": review.tally.policy_evaluations,
            "expiresAtMillis": review.tally.expires_at,
            "cast": review.votes.iter().map(cast).collect::<Vec<_>>(),
        },
        "message": proposal.filter(|_| withheld.is_empty()).map(|proposal| proposal.message.as_str()),
        "withheld": withheld,
        "failure": review.activity.failure,
        "result": review.activity.result,
        "blocked": review.blocked(),
        "approveRefusal": review.approval_error(),
        "rejectRefusal": review.rejection_error(),
    })
}

/// Returns what a transaction moves, with amounts in base units.
fn transfer(transfer: &Transfer) -> Value {
    let payments = transfer.payments.iter().map(|payment| {
        json!({
            "asset": payment.asset.id, "amount": digits(&payment.amount), "text": payment.text(),
            "to": payment.address, "recipient": payment.who, "isKnown": payment.is_known,
            "isAllowance": payment.right != Right::Amount,
        })
    });
    let lines = transfer.lines();
    let lines = lines.iter().map(|(label, text)| json!({"label": label, "text": text}));
    json!({
        "headline": transfer.headline(),
        "from": transfer.payer.from,
        "payments": payments.collect::<Vec<_>>(),
        "lines": lines.collect::<Vec<_>>(),
    })
}

fn cast(vote: &VoteProof) -> Value {
    json!({
        "userId": vote.user, "userName": vote.name, "selection": vote.selection, "publicKey": vote.public_key,
        "castAtMillis": vote.cast, "signed": vote.signed, "counts": vote.counts(), "expired": vote.expired,
        "error": vote.error, "keyConfirmed": vote.key_confirmed, "attested": vote.attested,
    })
}

fn members(fields: &[Field]) -> Vec<Value> {
    fields.iter().map(|field| json!({"name": field.name, "value": field.value})).collect()
}

/// Lists the votes with what is verified of them.
fn vote_lines(review: &Review) -> Vec<String> {
    let line = |vote: &VoteProof| {
        let selection = vote.noun();
        let state = vote
            .error
            .clone()
            .unwrap_or_else(|| if vote.expired { "expired".to_owned() } else { vote.verified_part() });
        let (name, cast, note) = (&vote.name, clock(vote.cast), vote.key_note());
        format!("vote      {selection} by {name} [s] {cast}{note}  {state}")
    };
    review.votes.iter().map(line).collect()
}

/// Formats the review as plain lines, without boxes or escape sequences.
pub(crate) fn plain_text(review: &Review) -> String {
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
    let risk = if review.ended.is_none() { format!("{} RISK  ", review.risk.word()) } else { String::new() };
    line(format!("{risk}{}  ({status})", review.title));
    if let Some(transfer) = &review.transfer {
        line(transfer.headline());
        transfer.lines().iter().for_each(|(label, text)| line(format!("{label:<9} {text}")));
        line(String::new());
    }
    line(review.sentence.clone());
    if let Some(note) = review.ended {
        line(note.to_owned());
    }
    line(format!("\ntype      {}", clean(&review.activity.activity_type)));
    if review.draft.is_none() {
        line(format!("id        {}", review.activity.id));
        line(format!("proposer  {}", review.proposer));
        line(format!("proposed  {}", date_time(review.activity.created_at.millis())));
        line(format!("needs     {}", needs(review)));
    } else {
        line(format!("if sent   {}", needs(review)));
    }
    if let Some(failure) = &review.activity.failure {
        line(format!("failed    {} [s]", clean(&failure.message)));
    }
    for value in result_values(&review.activity.result) {
        line(format!("result    {value}"));
    }
    for text in policy_lines(review) {
        line(format!("policy    {text}"));
    }
    vote_lines(review).into_iter().for_each(&mut line);
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
        let rejection = match review.rejection_error() {
            None => "It can still be rejected.".to_owned(),
            Some(error) => format!("It cannot be rejected from this record either: {error}."),
        };
        line(format!("\nBLOCKED: a check failed; this cannot be approved here. {rejection}"));
    }
    out
}
