//! Reasons to look twice that do not depend on the kind.

use quorate_common::activity::{Selection, Status};

use super::{Evidence, Proposal, VoteProof};
use crate::kinds::{Decoded, Flag, Level};
use crate::text::{clean, duration, has_hidden, is_mixed};

/// More asks than this by one user within [`BURST_MILLIS`] are a burst.
const BURST: usize = 5;
const BURST_MILLIS: u64 = 10 * 60 * 1000;

/// All flags, worst first.
pub(super) fn collect(
    evidence: &Evidence<'_>,
    proposal: Option<&Proposal>,
    decoded: &Decoded,
    votes: &[VoteProof],
) -> Vec<Flag> {
    let mut flags = decoded.story.flags.clone();
    if !decoded.leftover.is_empty() {
        flags.push(flag(
            Level::High,
            "leftover-fields",
            format!("signed members that mean nothing here: {}", decoded.leftover.join(", ")),
        ));
    }
    if let Some(proposal) = proposal {
        of_proposal(evidence, proposal, &mut flags);
        of_text(evidence, proposal, decoded, &mut flags);
        of_siblings(evidence, proposal, &mut flags);
    }
    if votes.iter().any(|vote| !vote.proposes && vote.counts() && vote.new_key) {
        flags.push(flag(
            Level::Med,
            "voter-key-new",
            "a vote was made with a key first seen within a day".to_owned(),
        ));
    }
    if votes.iter().any(|vote| vote.flaw.is_some() && vote.selection == Selection::Approved && !vote.proposes)
    {
        flags.push(flag(
            Level::Med,
            "vote-not-counted",
            "a vote in the record is not counted here".to_owned(),
        ));
    }
    flags.sort_by_key(|flag| std::cmp::Reverse(flag.level));
    flags
}

fn of_proposal(evidence: &Evidence<'_>, proposal: &Proposal, flags: &mut Vec<Flag>) {
    let organization = &evidence.record.organization;
    let id = organization.head.organization_id;
    let unknown: Vec<&str> = proposal
        .extra
        .iter()
        .map(|field| field.name.as_str())
        .filter(|name| !name.ends_with("generateAppProofs"))
        .collect();
    if !unknown.is_empty() {
        flags.push(flag(
            Level::High,
            "leftover-fields",
            format!("members of the request that mean nothing here: {}", unknown.join(", ")),
        ));
    }
    if evidence.roster.is_new(id, proposal.asker, &proposal.public_key, evidence.now) {
        let age = evidence
            .roster
            .first_seen(id, proposal.asker, &proposal.public_key)
            .map_or(0, |seen| evidence.now.saturating_sub(seen));
        flags.push(flag(
            Level::High,
            "asker-key-new",
            format!("asked with a key that this console first saw {} ago", duration(age)),
        ));
    }
    if !organization.users.iter().any(|user| user.user_id == proposal.asker) {
        let text = if organization.head.parent_organization_id.is_some() {
            "asked from the parent organization".to_owned()
        } else {
            "the asker is not a user of this organization".to_owned()
        };
        flags.push(flag(Level::Med, "asked-from-outside", text));
    }
}

fn of_text(evidence: &Evidence<'_>, proposal: &Proposal, decoded: &Decoded, flags: &mut Vec<Flag>) {
    let mut texts = Vec::new();
    for (name, value) in proposal.parameters.as_object().into_iter().flatten() {
        texts.push(name.as_str());
        // What is not drawn as it stands is looked at by its kind.
        if !decoded.abridged.contains(name) {
            strings(value, &mut texts);
        }
    }
    let asker = evidence.record.organization.users.iter().find(|user| user.user_id == proposal.asker);
    texts.extend(asker.map(|user| user.user_name.as_str()));
    if let Some(text) = texts.iter().find(|text| has_hidden(text)) {
        flags.push(flag(
            Level::Med,
            "hidden-characters",
            format!("characters that do not show: {}", clean(text)),
        ));
    }
    if let Some(text) = texts.iter().find(|text| is_mixed(text)) {
        flags.push(flag(
            Level::Med,
            "mixed-script",
            format!("letters of several scripts in one name: {}", clean(text)),
        ));
    }
}

fn of_siblings(evidence: &Evidence<'_>, proposal: &Proposal, flags: &mut Vec<Flag>) {
    let activity = &evidence.record.row.activity;
    let others = || evidence.siblings.iter().map(|row| &row.activity).filter(|other| other.id != activity.id);
    let waiting = |status: Status| status == Status::ConsensusNeeded;
    if !waiting(activity.status) {
        return;
    }
    let rivals = [
        "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
        "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
        "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE",
        "ACTIVITY_TYPE_DELETE_USERS",
        "ACTIVITY_TYPE_SET_IP_ALLOWLIST",
    ];
    if rivals.contains(&proposal.activity_type.as_str())
        && let Some(other) =
            others().find(|other| waiting(other.status) && other.activity_type == proposal.activity_type)
    {
        flags.push(flag(
            Level::Med,
            "several-pending",
            format!("{} of the same kind waits too; if both pass, the later one wins", other.id),
        ));
    }
    let asked = |other: &&quorate_common::activity::Activity| {
        other.votes.first().is_some_and(|vote| vote.user_id == proposal.asker)
            && evidence.now.saturating_sub(other.created_at.millis()) <= BURST_MILLIS
    };
    let number = others().filter(asked).count().saturating_add(1);
    if number > BURST {
        flags.push(flag(Level::Med, "burst", format!("{number} asks by one user within ten minutes")));
    }
}

fn strings<'a>(value: &'a serde_json::Value, out: &mut Vec<&'a str>) {
    match value {
        serde_json::Value::String(text) => out.push(text),
        serde_json::Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
        serde_json::Value::Object(members) => {
            for (name, inner) in members {
                out.push(name);
                strings(inner, out);
            }
        }
        _ => {}
    }
}

fn flag(level: Level, name: &'static str, text: String) -> Flag {
    Flag { name, level, text }
}
