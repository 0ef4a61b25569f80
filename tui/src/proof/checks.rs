//! The checks K1 to K12. Each names what it verified; a failed one shows the signed and the stated value.

use super::check::{Check, Finding, attention, failed, unproven, verified};
use super::compare::{differences, size};
use super::evidence::{Evidence, PinnedBy};
use super::logged::logged;
use super::proposal::Proposal;
use super::recount::{known_quorum, recount, signatures};
use super::rule::Evaluation;
use super::states::is_only_stated;
use super::tally::Tally;
use super::votes::VoteProof;
use crate::kinds::{Decoded, ReviewContext, hidden};
use crate::text::{ago, clean, date_time, duration};

/// Maximum time by which a stamp may be older or newer than its recording, in milliseconds.
const BEHIND_MILLIS: u64 = 60 * 60 * 1000;
const AHEAD_MILLIS: u64 = 5 * 60 * 1000;

pub(super) fn run(
    evidence: &Evidence<'_>,
    proposal: Option<&Proposal>,
    decoded: &Decoded,
    votes: &[VoteProof],
    tally: &Tally,
    rule: Option<&Result<Evaluation, String>>,
) -> Vec<Check> {
    let results = [
        ("K1", Some(fingerprint(evidence, proposal))),
        ("K2", proposal.map(|proposal| organization(evidence, proposal))),
        ("K3", proposal.map(|proposal| fields(proposal, decoded))),
        ("K4", proposal.map(|proposal| intent(evidence, proposal, decoded))),
        ("K5", proposal.map(|_| proposer(votes))),
        ("K6", proposal.map(|proposal| known_keys(evidence, proposal))),
        ("K7", Some(signatures(votes)).filter(|_| !is_only_stated(&evidence.record.row.activity, proposal))),
        ("K8", Some(recount(evidence, tally, rule))),
        ("K9", proposal.map(|proposal| times(evidence, proposal, tally, votes))),
        ("K10", Some(known_quorum(evidence))),
        ("K11", Some(independence(evidence))),
        ("K12", logged(evidence)),
    ];
    let check =
        |(id, result): (&'static str, Option<Finding>)| result.map(|(mark, text)| Check { id, mark, text });
    results.into_iter().filter_map(check).collect()
}

fn independence(evidence: &Evidence<'_>) -> Finding {
    if evidence.record.is_exported {
        return unproven("checked from a file; the daemon's record may have changed since the export");
    }
    if evidence.viewer.is_remote {
        return unproven(
            "checked on this host; the checks are independent of the daemon if it runs on another one",
        );
    }
    attention("this console runs on the daemon's host, so these checks are not independent of it")
}

fn fingerprint(evidence: &Evidence<'_>, proposal: Option<&Proposal>) -> Finding {
    let activity = &evidence.record.row.activity;
    let Some(proposal) = proposal else {
        if is_only_stated(activity, None) {
            let what = hidden(&activity.activity_type).unwrap_or_default();
            return unproven(format!("{what}, so nobody can verify what was signed; the daemon states it"));
        }
        let because = hidden(&activity.activity_type).map_or_else(String::new, |what| format!(" ({what})"));
        return failed(format!(
            "the record contains no signed bytes that match the daemon's fingerprint {}: nothing proves \
                 what was signed{because}",
            activity.fingerprint.hex()
        ));
    };
    if let Some(reference) = evidence.reference {
        let bare = reference.strip_prefix("sha256:").unwrap_or(reference);
        let named = bare.eq_ignore_ascii_case(&proposal.fingerprint.hex())
            || reference.eq_ignore_ascii_case(&activity.id.to_string());
        if !named {
            let (requested, id, fingerprint) = (clean(reference), activity.id, proposal.fingerprint.hex());
            return failed(format!("requested {requested}, but the daemon returned {id} ({fingerprint})"));
        }
    }
    verified("the SHA-256 of the proposal bytes is the fingerprint")
}

fn organization(evidence: &Evidence<'_>, proposal: &Proposal) -> Finding {
    let head = &evidence.record.organization.head;
    let signed = clean(&proposal.organization);
    let stated = evidence.record.row.activity.organization_id;
    let is = |id: String| proposal.organization.eq_ignore_ascii_case(&id);
    if proposal.creates_organization() {
        let text = format!(
            "a proposal that creates an organization contains no organization id; the daemon shows {stated}"
        );
        return unproven(text);
    }
    if !is(stated.to_string()) || !is(head.organization_id.to_string()) {
        let id = head.organization_id;
        return failed(format!("signed for organization {signed}, but the daemon shows {stated} in {id}"));
    }
    match evidence.viewer.organization {
        None => unproven(format!("the organization id {signed} is signed, but no organization is pinned")),
        Some(pinned) if is(pinned.to_string()) => match evidence.viewer.pinned_by {
            PinnedBy::Id => verified("the organization id is the pinned one"),
            PinnedBy::Name => unproven(format!(
                "the organization id {signed} is signed; it was chosen by its name, which only the daemon states"
            )),
            PinnedBy::Parent => unproven(format!(
                "the organization id {signed} is signed; only the daemon states that it is a sub-organization of the pinned one"
            )),
        },
        Some(pinned) => failed(format!("signed for organization {signed}, but {pinned} is pinned")),
    }
}

fn fields(proposal: &Proposal, decoded: &Decoded) -> Finding {
    if let Some(reason) = &decoded.undecoded {
        return attention(format!("UNDECODED: {reason}"));
    }
    if proposal.unknown_members().next().is_some() || !decoded.unknown_members.is_empty() {
        let mut names = decoded.unknown_members.clone();
        names.extend(proposal.extra.iter().map(|field| field.name.clone()));
        return attention(format!("UNDECODED: the bytes contain unknown members: {}", names.join(", ")));
    }
    let abridged = if decoded.abridged.is_empty() {
        String::new()
    } else {
        format!("; abridged: {}", decoded.abridged.join(", "))
    };
    verified(format!(
        "the type is known, and every field of the bytes is shown ({}){abridged}",
        decoded.fields.len()
    ))
}

fn intent(evidence: &Evidence<'_>, proposal: &Proposal, decoded: &Decoded) -> Finding {
    let activity = &evidence.record.row.activity;
    if activity.activity_type != proposal.activity_type {
        let (signed, stated) = (clean(&proposal.activity_type), clean(&activity.activity_type));
        return failed(format!("the signed type is {signed}, but the daemon states {stated}"));
    }
    let members = activity.intent.as_object();
    let only = members.filter(|members| members.len() == 1).and_then(|members| members.iter().next());
    let Some((name, stated)) = only else {
        return failed("the daemon's intent does not have exactly one member");
    };
    if decoded.intent.is_some_and(|expected| expected != name) {
        let (stated, required) = (clean(name), decoded.intent.unwrap_or_default());
        return failed(format!("the daemon's intent is {stated}, but the type requires {required}"));
    }
    let found = differences(&proposal.parameters, stated, &decoded.unknown_members);
    let Some(first) = found.first() else {
        let all = size(&proposal.parameters);
        return verified(format!("the daemon's intent matches the bytes ({all} of {all} fields)"));
    };
    let more =
        if found.len() > 1 { format!(" and {} more", found.len().saturating_sub(1)) } else { String::new() };
    failed(format!("{}: signed {}, but the daemon states {}{more}", first.path, first.signed, first.stated))
}

fn proposer(votes: &[VoteProof]) -> Finding {
    match votes.iter().find(|vote| vote.proposes) {
        Some(VoteProof { signed: true, attested: Some(attested), .. }) => unproven(format!(
            "a temporary key signed the bytes; that it is the proposer's rests on the daemon's word: {attested}"
        )),
        Some(vote) if vote.signed => verified("the proposer's signature matches the bytes"),
        _ => failed("the proposer's signature does not match the bytes"),
    }
}

fn known_keys(evidence: &Evidence<'_>, proposal: &Proposal) -> Finding {
    let organization = &evidence.record.organization;
    let id = organization.head.organization_id;
    let context = ReviewContext::of(organization);
    if context.user(&proposal.proposer.to_string()).is_none() {
        return attention(
            "the proposer is not a user of this organization, so the key is not among the known keys",
        );
    }
    let Some(key) = evidence.known_keys.key(id, proposal.proposer, &proposal.public_key) else {
        return attention("the proposer's key is not a current key of that user");
    };
    let since = date_time(key.first_seen);
    if key.is_new(evidence.now) {
        let age = ago(key.first_seen, evidence.now);
        attention(format!("the proposer's key was first seen only {age}"))
    } else if let Some(at) = key.accepted_at {
        let at = date_time(at);
        verified(format!("the proposer's key has been known since {since} and was accepted {at}"))
    } else if !key.is_confirmed {
        unproven(format!(
            "the proposer's key was added after the first contact, {since}, as the daemon states, and was not \
             accepted here"
        ))
    } else if evidence.known_keys.is_first_contact(id, evidence.now) {
        unproven("the proposer's key was pinned at first contact with this organization, today")
    } else {
        verified(format!("the proposer's key has been known since {since}"))
    }
}

fn times(evidence: &Evidence<'_>, proposal: &Proposal, tally: &Tally, votes: &[VoteProof]) -> Finding {
    let created = evidence.record.row.activity.created_at.millis();
    let Some(stamped) = proposal.stamped else {
        return attention("the signed bytes contain no time");
    };
    if stamped > created.saturating_add(AHEAD_MILLIS) || stamped.saturating_add(BEHIND_MILLIS) < created {
        let (stamped, recorded) = (date_time(stamped), date_time(created));
        return attention(format!("stamped {stamped}, recorded {recorded}: too far apart"));
    }
    if created > evidence.now.saturating_add(AHEAD_MILLIS) {
        let age = ago(created, evidence.now);
        return attention(format!("recorded {age}: this clock and the daemon's differ"));
    }
    if evidence.record.row.activity.status.waits() && tally.counted.is_empty() {
        let all_expired = votes.iter().all(|vote| vote.error.is_none() && vote.expired);
        let text = if all_expired {
            "all votes have expired; the activity stays open"
        } else {
            "no vote counts, see the votes; the activity stays open"
        };
        return attention(text);
    }
    let apart = duration(created.abs_diff(stamped));
    verified(format!("the times match: stamped within {apart} of its recording"))
}
