//! The review as JSON for scripts. The member names are stable.

use serde_json::{Value, json};

use super::{Review, status_word};
use crate::kinds::Field;

/// Returns one object with everything that the review screen shows.
pub(crate) fn json(review: &Review) -> Value {
    let proposal = review.proposal.as_ref();
    let names =
        |users: &[quorate_common::ids::UserId]| users.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "activityId": review.draft.is_none().then_some(review.activity.id),
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
        "risk": review.risk.word(),
        "flags": review.flags.iter().map(|flag| json!({"name": flag.name, "level": flag.level.word(), "text": flag.text})).collect::<Vec<_>>(),
        "checks": review.checks.iter().map(|check| json!({"id": check.id, "mark": check.mark.sign(), "text": check.text})).collect::<Vec<_>>(),
        "fields": members(&review.fields),
        "facts": members(&review.facts),
        "changes": review.changes.iter().map(|change| json!({"label": change.label, "now": change.now, "after": change.after, "note": change.note})).collect::<Vec<_>>(),
        "unknownMembers": review.unknown_members,
        "proposer": proposal.map(|proposal| json!({"userId": proposal.proposer, "publicKey": proposal.public_key, "stampedMillis": proposal.stamped})),
        "votes": {
            "counted": names(review.tally.has_list()),
            "needed": review.tally.needed,
            "openTo": names(&review.tally.open_to),
            "rule": review.tally.rule,
            "reason": review.tally.reason,
            "policyEvaluations": review.tally.policy_evaluations,
            "expiresAtMillis": review.tally.expires_at,
            "cast": review.votes.iter().map(|vote| json!({
                "userId": vote.user, "userName": vote.name, "selection": vote.selection, "publicKey": vote.public_key,
                "castMillis": vote.cast, "signed": vote.signed, "counts": vote.counts(), "expired": vote.expired, "error": vote.error, "keyConfirmed": vote.key_confirmed,
            })).collect::<Vec<_>>(),
        },
        "message": proposal.map(|proposal| proposal.message.as_str()),
        "failure": review.activity.failure,
        "result": review.activity.result,
        "blocked": review.blocked(),
        "approveRefusal": review.approve_refusal(),
        "rejectRefusal": review.reject_refusal(),
    })
}

fn members(fields: &[Field]) -> Vec<Value> {
    fields.iter().map(|field| json!({"name": field.name, "value": field.value})).collect()
}
