//! The checks K1 to K11. Each names what it verified; a failed one shows the signed and the stated value.

use quorate_common::activity::Status;
use quorate_common::console::{WaitingReason, WaitingRule};

use super::compare::{differences, size};
use super::rule::Evaluation;
use super::{Check, Evidence, Mark, Proposal, Tally, VoteProof};
use crate::kinds::{Decoded, Scene, count, hidden};
use crate::known_keys::KnownQuorum;
use crate::text::{ago, clean, date, date_time, duration};

/// Maximum time of a stamp before and after its recording, in milliseconds.
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
    let mut checks = vec![fingerprint(evidence, proposal)];
    if let Some(proposal) = proposal {
        checks.push(organization(evidence, proposal));
        checks.push(fields(proposal, decoded));
        checks.push(intent(evidence, proposal, decoded));
        checks.push(proposer(votes));
        checks.push(known_keys(evidence, proposal));
    }
    checks.push(chain(votes));
    checks.push(recount(evidence, tally, rule));
    if let Some(proposal) = proposal {
        checks.push(times(evidence, proposal, tally, votes));
    }
    checks.push(known_quorum(evidence));
    checks.push(check(
        "K11",
        Mark::Care,
        "this console runs on the daemon's host, so these checks are not independent of it",
    ));
    checks
}

fn check(id: &'static str, mark: Mark, text: impl Into<String>) -> Check {
    Check { id, mark, text: text.into() }
}

fn fingerprint(evidence: &Evidence<'_>, proposal: Option<&Proposal>) -> Check {
    let activity = &evidence.record.row.activity;
    let Some(proposal) = proposal else {
        let because = hidden(&activity.activity_type).map_or_else(String::new, |what| format!(" ({what})"));
        return check(
            "K1",
            Mark::Failed,
            format!(
                "the record contains no signed bytes that match the daemon's fingerprint {}: nothing proves \
                 what was signed{because}",
                activity.fingerprint.hex()
            ),
        );
    };
    if let Some(reference) = evidence.reference {
        let bare = reference.strip_prefix("sha256:").unwrap_or(reference);
        let named = bare.eq_ignore_ascii_case(&proposal.fingerprint.hex())
            || reference.eq_ignore_ascii_case(&activity.id.to_string());
        if !named {
            return check(
                "K1",
                Mark::Failed,
                format!(
                    "requested {}, but the daemon returned {} ({})",
                    clean(reference),
                    activity.id,
                    proposal.fingerprint.hex()
                ),
            );
        }
    }
    check("K1", Mark::Verified, "the SHA-256 of the proposal bytes is the fingerprint")
}

fn organization(evidence: &Evidence<'_>, proposal: &Proposal) -> Check {
    let head = &evidence.record.organization.head;
    let signed = clean(&proposal.organization);
    let stated = evidence.record.row.activity.organization_id;
    let is = |id: String| proposal.organization.eq_ignore_ascii_case(&id);
    if proposal.creates_organization() {
        let text = format!("a proposal that creates an organization names none; the daemon shows {stated}");
        return check("K2", Mark::Stated, text);
    }
    if !is(stated.to_string()) || !is(head.organization_id.to_string()) {
        return check(
            "K2",
            Mark::Failed,
            format!(
                "signed for organization {signed}, but the daemon shows {stated} in {}",
                head.organization_id
            ),
        );
    }
    match evidence.viewer.organization {
        None => check(
            "K2",
            Mark::Stated,
            format!("the organization id {signed} is signed, but no organization is pinned"),
        ),
        Some(pinned) if is(pinned.to_string()) => {
            check("K2", Mark::Verified, "the organization id is the pinned one")
        }
        Some(pinned) => {
            check("K2", Mark::Failed, format!("signed for organization {signed}, but {pinned} is pinned"))
        }
    }
}

fn fields(proposal: &Proposal, decoded: &Decoded) -> Check {
    if let Some(reason) = &decoded.undecoded {
        return check("K3", Mark::Care, format!("UNDECODED: {reason}"));
    }
    let extra = proposal.extra.iter().any(|field| !field.name.ends_with("generateAppProofs"));
    if extra || !decoded.unknown_members.is_empty() {
        let mut names = decoded.unknown_members.clone();
        names.extend(proposal.extra.iter().map(|field| field.name.clone()));
        return check(
            "K3",
            Mark::Care,
            format!("UNDECODED: the bytes contain unknown members: {}", names.join(", ")),
        );
    }
    let abridged = if decoded.abridged.is_empty() {
        String::new()
    } else {
        format!("; abridged: {}", decoded.abridged.join(", "))
    };
    check(
        "K3",
        Mark::Verified,
        format!(
            "the type is known, and all {} fields of the bytes are shown{abridged}",
            decoded.fields.len()
        ),
    )
}

fn intent(evidence: &Evidence<'_>, proposal: &Proposal, decoded: &Decoded) -> Check {
    let activity = &evidence.record.row.activity;
    if activity.activity_type != proposal.activity_type {
        return check(
            "K4",
            Mark::Failed,
            format!(
                "the signed type is {}, but the daemon states {}",
                clean(&proposal.activity_type),
                clean(&activity.activity_type)
            ),
        );
    }
    let members = activity.intent.as_object();
    let only = members.filter(|members| members.len() == 1).and_then(|members| members.iter().next());
    let Some((name, stated)) = only else {
        return check("K4", Mark::Failed, "the daemon's intent does not have exactly one member");
    };
    if decoded.intent.is_some_and(|expected| expected != name) {
        return check(
            "K4",
            Mark::Failed,
            format!(
                "the daemon's intent is {}, but the type requires {}",
                clean(name),
                decoded.intent.unwrap_or_default()
            ),
        );
    }
    let found = differences(&proposal.parameters, stated, &decoded.unknown_members);
    let Some(first) = found.first() else {
        let all = size(&proposal.parameters);
        return check(
            "K4",
            Mark::Verified,
            format!("the daemon's intent matches the bytes ({all} of {all} fields)"),
        );
    };
    let more =
        if found.len() > 1 { format!(" and {} more", found.len().saturating_sub(1)) } else { String::new() };
    check(
        "K4",
        Mark::Failed,
        format!("{}: signed {}, but the daemon states {}{more}", first.path, first.signed, first.stated),
    )
}

fn proposer(votes: &[VoteProof]) -> Check {
    match votes.iter().find(|vote| vote.proposes) {
        Some(vote) if vote.signed => {
            check("K5", Mark::Verified, "the proposer's signature matches the bytes")
        }
        _ => check("K5", Mark::Failed, "the proposer's signature does not match the bytes"),
    }
}

fn known_keys(evidence: &Evidence<'_>, proposal: &Proposal) -> Check {
    let organization = &evidence.record.organization;
    let id = organization.head.organization_id;
    let scene = Scene::of(organization);
    if scene.user(&proposal.proposer.to_string()).is_none() {
        return check(
            "K6",
            Mark::Care,
            "the proposer is not a user of this organization, so the key is not among the known keys",
        );
    }
    let Some(seen) = evidence.known_keys.first_seen(id, proposal.proposer, &proposal.public_key) else {
        return check("K6", Mark::Care, "the proposer's key is not a current key of that user");
    };
    let age = ago(seen, evidence.now);
    if evidence.known_keys.is_new(id, proposal.proposer, &proposal.public_key, evidence.now) {
        check("K6", Mark::Care, format!("the proposer's key was first seen only {age}"))
    } else if let Some(at) = evidence.known_keys.accepted_at(id, proposal.proposer, &proposal.public_key) {
        let text = format!(
            "the proposer's key has been known since {} and was accepted {}",
            date_time(seen),
            date_time(at)
        );
        check("K6", Mark::Verified, text)
    } else if !evidence.known_keys.is_confirmed(id, proposal.proposer, &proposal.public_key) {
        let text = format!(
            "the proposer's key was added after the first contact, {}, as the daemon states, and was not \
             accepted here",
            date_time(seen)
        );
        check("K6", Mark::Stated, text)
    } else if evidence.known_keys.is_first_contact(id, evidence.now) {
        check(
            "K6",
            Mark::Stated,
            "the proposer's key was pinned at first contact with this organization, today",
        )
    } else {
        check("K6", Mark::Verified, format!("the proposer's key has been known since {}", date_time(seen)))
    }
}

fn chain(votes: &[VoteProof]) -> Check {
    let signed = votes.iter().filter(|vote| vote.signed).count();
    let bad: Vec<String> = votes
        .iter()
        .filter_map(|vote| vote.error.as_ref().map(|error| format!("{}: {error}", vote.name)))
        .collect();
    if !bad.is_empty() {
        return check("K7", Mark::Care, format!("votes that do not count: {}", bad.join("; ")));
    }
    let expired = votes.iter().filter(|vote| vote.expired).count();
    if expired > 0 {
        return check(
            "K7",
            Mark::Care,
            format!("{expired} of {} expired after 24 h and no longer count", count(votes.len(), "vote")),
        );
    }
    let counted = format!("{signed} of {} verified, by distinct users", count(votes.len(), "vote signature"));
    match votes.iter().filter(|vote| !vote.key_confirmed).count() {
        0 => check("K7", Mark::Verified, counted),
        1 => check("K7", Mark::Stated, format!("{counted}; the key of 1 was not accepted here")),
        late => check("K7", Mark::Stated, format!("{counted}; the keys of {late} were not accepted here")),
    }
}

fn recount(evidence: &Evidence<'_>, tally: &Tally, rule: Option<&Result<Evaluation, String>>) -> Check {
    let result = |mark, text: String| check("K8", mark, text);
    if evidence.record.row.activity.status != Status::ConsensusNeeded {
        return result(
            Mark::Stated,
            format!(
                "it is no longer waiting; verified approvals of root users: {} of {} [s]",
                tally.root.len(),
                tally.needed
            ),
        );
    }
    if !tally.overclaimed.is_empty() {
        let organization = &evidence.record.organization;
        let scene = Scene::of(organization);
        let names: Vec<String> =
            tally.overclaimed.iter().map(|user| scene.user_named(&user.to_string())).collect();
        return result(
            Mark::Failed,
            format!("the daemon counts votes that are not verified here: {}", names.join(", ")),
        );
    }
    let Some(stated) = evidence.record.row.waiting.as_ref() else {
        return result(Mark::Care, "the daemon does not state what the activity waits for".to_owned());
    };
    let by_quorum = stated.rule == WaitingRule::RootQuorum;
    if by_quorum == (stated.reason == WaitingReason::PolicyConsensus) {
        let text = "the rule and the reason that the daemon states contradict each other".to_owned();
        return result(Mark::Failed, text);
    }
    if by_quorum && stated.needed < tally.needed {
        let text = format!(
            "the daemon requires {}, but the stated quorum requires {} [s]",
            count(usize::try_from(stated.needed).unwrap_or(usize::MAX), "approval"),
            tally.needed
        );
        return result(Mark::Failed, text);
    }
    let (has, needed) = (tally.root.len(), tally.needed);
    let counted = match tally.counted.len() {
        _ if by_quorum => format!("{has} of {needed} [s]"),
        1 => "1 verified approval".to_owned(),
        approvals => format!("{approvals} verified approvals"),
    };
    match rule {
        None if by_quorum => {
            result(Mark::Stated, format!("votes counted here: {counted}; quorum and policies are as stated"))
        }
        None => result(Mark::Stated, format!("{counted}; the need for more is stated by the daemon")),
        Some(Err(why)) => {
            result(Mark::Care, format!("{counted}; the rule cannot be evaluated here: {}", clean(why)))
        }
        Some(Ok(evaluation)) => match evaluation.difference(stated) {
            None => {
                let because = clean(&evaluation.because());
                let source = "with the quorum and policies that the daemon states";
                result(
                    Mark::Stated,
                    format!("votes counted and rule evaluated here, {source}: {counted}, {because}"),
                )
            }
            Some((mark, text)) => result(mark, format!("{counted}; {}", clean(&text))),
        },
    }
}

/// Checks that the root quorum that the daemon states is the known one.
fn known_quorum(evidence: &Evidence<'_>) -> Check {
    let organization = &evidence.record.organization;
    let id = organization.head.organization_id;
    let stated = KnownQuorum::stated(organization);
    let stated_text = stated.short();
    let Some(known) = evidence.known_keys.quorum(id) else {
        return check(
            "K10",
            Mark::Stated,
            format!("root quorum {stated_text} [s]: no known quorum to compare with"),
        );
    };
    if known.value != stated {
        let who = if known.value.user_ids == stated.user_ids { "" } else { ", other members" };
        return check(
            "K10",
            Mark::Failed,
            format!(
                "the daemon states root quorum {stated_text}{who}; the one known since {} is {}. If you know \
                 of the change, run quorate known-keys accept",
                date(known.since_millis),
                known.value.short()
            ),
        );
    }
    if evidence.known_keys.is_first_contact(id, evidence.now) {
        let text = format!(
            "root quorum {stated_text} [s] was pinned at first contact with this organization, today"
        );
        return check("K10", Mark::Stated, text);
    }
    let since = date(known.since_millis);
    check(
        "K10",
        Mark::Verified,
        format!("the stated root quorum, {stated_text} [s], is the one known since {since}"),
    )
}

fn times(evidence: &Evidence<'_>, proposal: &Proposal, tally: &Tally, votes: &[VoteProof]) -> Check {
    let created = evidence.record.row.activity.created_at.millis();
    let Some(stamped) = proposal.stamped else {
        return check("K9", Mark::Care, "the signed bytes contain no time");
    };
    if stamped > created.saturating_add(AHEAD_MILLIS) || stamped.saturating_add(BEHIND_MILLIS) < created {
        return check(
            "K9",
            Mark::Care,
            format!("stamped {}, recorded {}: too far apart", date_time(stamped), date_time(created)),
        );
    }
    if created > evidence.now.saturating_add(AHEAD_MILLIS) {
        return check(
            "K9",
            Mark::Care,
            format!("recorded {}: this clock and the daemon's differ", ago(created, evidence.now)),
        );
    }
    if evidence.record.row.activity.status == Status::ConsensusNeeded && tally.counted.is_empty() {
        let all_expired = votes.iter().all(|vote| vote.error.is_none() && vote.expired);
        let text = if all_expired {
            "all votes have expired; the activity stays open"
        } else {
            "no vote counts, see the votes; the activity stays open"
        };
        return check("K9", Mark::Care, text);
    }
    let apart = duration(created.abs_diff(stamped));
    check("K9", Mark::Verified, format!("the times match: stamped within {apart} of its recording"))
}
