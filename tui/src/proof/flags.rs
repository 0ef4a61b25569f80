//! Reasons to look twice that do not depend on the kind.

use quorate_common::activity::{Selection, Status};
use quorate_common::ids::{ActivityId, UserId};

use super::siblings::{BURST, Siblings};
use super::{Evidence, Proposal, VoteProof};
use crate::kinds::{Decoded, Flag, Level};
use crate::roster::KnownQuorum;
use crate::text::{clean, date, duration, has_hidden, is_mixed, quoted};

/// A key that came after the first contact, by the daemon's word alone.
const UNCONFIRMED: &str = "a key that the daemon added after the first contact; compare it with the user, then run quorate roster accept";

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
        of_quorum(evidence, &mut flags);
        of_names(evidence, proposal, &mut flags);
        of_text(evidence, proposal, decoded, &mut flags);
        let activity = &evidence.record.row.activity;
        if activity.status == Status::ConsensusNeeded {
            let id = activity.id;
            flags.extend(of_siblings(
                evidence.siblings,
                &proposal.activity_type,
                proposal.asker,
                id,
                activity.created_at.millis(),
            ));
        }
    }
    if votes.iter().any(|vote| !vote.proposes && vote.counts() && vote.new_key) {
        flags.push(flag(
            Level::Med,
            "voter-key-new",
            "a vote was made with a key first seen within a day".to_owned(),
        ));
    }
    if votes.iter().any(|vote| !vote.proposes && vote.counts() && !vote.new_key && !vote.key_confirmed) {
        flags.push(flag(Level::Med, "voter-key-unconfirmed", format!("a vote was made with {UNCONFIRMED}")));
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
            format!("proposed with a key that this console first saw {} ago", duration(age)),
        ));
    } else if evidence.roster.first_seen(id, proposal.asker, &proposal.public_key).is_some()
        && !evidence.roster.is_confirmed(id, proposal.asker, &proposal.public_key)
    {
        flags.push(flag(Level::Med, "asker-key-unconfirmed", format!("proposed with {UNCONFIRMED}")));
    }
    if !organization.users.iter().any(|user| user.user_id == proposal.asker) {
        let text = if organization.head.parent_organization_id.is_some() {
            "proposed from the parent organization".to_owned()
        } else {
            "the proposer is not a user of this organization".to_owned()
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

/// A root quorum that is not the known one.
fn of_quorum(evidence: &Evidence<'_>, flags: &mut Vec<Flag>) {
    let organization = &evidence.record.organization;
    let known = evidence.roster.quorum(organization.head.organization_id);
    let stated = KnownQuorum::stated(organization);
    if let Some(known) = known.filter(|known| known.value != stated) {
        let text = format!(
            "the daemon states another root quorum than the known one: {} [s], known is {} since {}; after a change \
             that you know of, run quorate roster accept",
            stated.short(),
            known.value.short(),
            date(known.since_millis)
        );
        flags.push(flag(Level::High, "quorum-not-known", text));
    }
}

/// Names that the daemon states of people who matter here, where other names are known.
fn of_names(evidence: &Evidence<'_>, proposal: &Proposal, flags: &mut Vec<Flag>) {
    let organization = &evidence.record.organization;
    for one in evidence.roster.renamed(organization) {
        let id = one.user.to_string();
        let matters = organization.head.root_quorum.user_ids.contains(&one.user)
            || proposal.asker == one.user
            || proposal.message.to_ascii_lowercase().contains(&id);
        if matters {
            let text = format!(
                "the daemon calls user {id} {} [s]; in the known keys the name is {} since {}",
                quoted(&one.stated),
                quoted(&one.known.value),
                date(one.known.since_millis)
            );
            flags.push(flag(Level::High, "name-changed", text));
        }
    }
}

/// Flags that depend on what else waits.
pub(crate) fn of_siblings(
    siblings: &Siblings,
    activity_type: &str,
    proposer: UserId,
    id: ActivityId,
    created: u64,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let Some(other) = siblings.rival_of(activity_type, id) {
        let text = format!("{other} of the same type waits too; if both are executed, the later one holds");
        flags.push(flag(Level::Med, "several-pending", text));
    }
    if siblings.is_burst(proposer, id, created) {
        let text = format!("more than {BURST} proposals by one user within ten minutes of this one");
        flags.push(flag(Level::Med, "burst", text));
    }
    flags
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
