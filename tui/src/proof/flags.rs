//! Flags that do not depend on the kind of the activity.

use quorate_common::activity::Selection;
use quorate_common::ids::{ActivityId, UserId};

use super::evidence::Evidence;
use super::proposal::Proposal;
use super::siblings::{BURST, Siblings};
use super::states::is_only_stated;
use super::votes::VoteProof;
use crate::kinds::{Decoded, Flag, Level};
use crate::known_keys::KnownQuorum;
use crate::text::{clean, date, duration, has_hidden, imitates_latin, is_mixed, quoted};

/// Text on a key that was added after the first contact and that only the daemon states.
const UNCONFIRMED: &str = "a key that the daemon added after the first contact. Compare the key with its \
    user, then run quorate known-keys accept.";

/// Collects all flags, worst first.
pub(super) fn collect(
    evidence: &Evidence<'_>,
    proposal: Option<&Proposal>,
    decoded: &Decoded,
    votes: &[VoteProof],
) -> Vec<Flag> {
    if is_only_stated(&evidence.record.row.activity, proposal) {
        // Nothing is left to decide, and nothing can be verified.
        return Vec::new();
    }
    // What the present state, the known keys and the other activities say concerns the decision only.
    let has_ended = evidence.record.row.activity.status.is_terminal();
    let mut flags = decoded.description.flags.clone();
    if !decoded.unknown_members.is_empty() {
        let names = decoded.unknown_members.join(", ");
        let text = format!(
            "May have other effects than described here. Its parameters contain unknown fields: {names}."
        );
        flags.push(flag(Level::High, "unknown-fields", text));
    }
    if let Some(proposal) = proposal {
        of_members(proposal, &mut flags);
        if !has_ended {
            of_proposer(evidence, proposal, &mut flags);
            of_quorum(evidence, &mut flags);
            of_names(evidence, proposal, &mut flags);
        }
        of_text(evidence, proposal, decoded, &mut flags);
        let activity = &evidence.record.row.activity;
        if activity.status.waits() {
            let Proposal { activity_type, proposer, .. } = proposal;
            let (id, created) = (activity.id, activity.created_at.millis());
            flags.extend(of_siblings(evidence.siblings, activity_type, *proposer, id, created));
        }
    }
    if !has_ended {
        of_votes(votes, &mut flags);
    }
    flags.sort_by_key(|flag| std::cmp::Reverse(flag.level));
    flags
}

fn of_votes(votes: &[VoteProof], flags: &mut Vec<Flag>) {
    let has = |of: &dyn Fn(&VoteProof) -> bool| votes.iter().any(|vote| !vote.proposes && of(vote));
    if has(&|vote| vote.counts() && vote.new_key) {
        let text = "An attacker may have voted: a vote was made with a key first seen less than a day ago.";
        flags.push(flag(Level::Med, "voter-key-new", text.to_owned()));
    }
    if has(&|vote| vote.counts() && !vote.new_key && !vote.key_confirmed) {
        let text = format!("An attacker may have voted: a vote was made with {UNCONFIRMED}");
        flags.push(flag(Level::Med, "voter-key-unconfirmed", text));
    }
    if has(&|vote| vote.error.is_some() && vote.selection == Selection::Approved) {
        let text = "An approval in the record does not count here: see the votes.";
        flags.push(flag(Level::Med, "vote-not-counted", text.to_owned()));
    }
}

fn of_members(proposal: &Proposal, flags: &mut Vec<Flag>) {
    let unknown: Vec<&str> = proposal.unknown_members().collect();
    if !unknown.is_empty() {
        let names = unknown.join(", ");
        let text = format!(
            "May have other effects than described here. Its request contains unknown fields: {names}."
        );
        flags.push(flag(Level::High, "unknown-fields", text));
    }
}

fn of_proposer(evidence: &Evidence<'_>, proposal: &Proposal, flags: &mut Vec<Flag>) {
    let organization = &evidence.record.organization;
    let id = organization.head.organization_id;
    match evidence.known_keys.key(id, proposal.proposer, &proposal.public_key) {
        Some(key) if key.is_new(evidence.now) => {
            let age = duration(evidence.now.saturating_sub(key.first_seen));
            let text =
                format!("An attacker may have proposed this: this console first saw the key {age} ago.");
            flags.push(flag(Level::High, "proposer-key-new", text));
        }
        Some(key) if !key.is_confirmed => {
            let text = format!("An attacker may have proposed this: it was signed with {UNCONFIRMED}");
            flags.push(flag(Level::Med, "proposer-key-unconfirmed", text));
        }
        _ => {}
    }
    if !organization.users.iter().any(|user| user.user_id == proposal.proposer) {
        let text = if organization.head.parent_organization_id.is_some() {
            "Proposed by a user of the parent organization.".to_owned()
        } else {
            "Proposed by somebody who is not a user of this organization.".to_owned()
        };
        flags.push(flag(Level::Med, "proposed-from-outside", text));
    }
}

fn of_text(evidence: &Evidence<'_>, proposal: &Proposal, decoded: &Decoded, flags: &mut Vec<Flag>) {
    let mut texts = Vec::new();
    for (name, value) in proposal.parameters.as_object().into_iter().flatten() {
        texts.push(name.as_str());
        // The kind checks the members that it abridges.
        if !decoded.abridged.contains(name) {
            strings(value, &mut texts);
        }
    }
    let proposer = evidence.record.organization.users.iter().find(|user| user.user_id == proposal.proposer);
    texts.extend(proposer.map(|user| user.user_name.as_str()));
    if let Some(text) = texts.iter().find(|text| has_hidden(text)) {
        let text = clean(text);
        let text =
            format!("What you see may not be what is signed. It contains invisible characters: {text}.");
        flags.push(flag(Level::Med, "hidden-characters", text));
    }
    if let Some(text) = texts.iter().find(|text| is_mixed(text)) {
        let text = clean(text);
        let text = format!("A name may imitate another. It mixes letters of several scripts: {text}.");
        flags.push(flag(Level::Med, "mixed-script", text));
    }
    if let Some(text) = texts.iter().find(|text| imitates_latin(text)) {
        let text = clean(text);
        let text =
            format!("A name may imitate another. Its letters look Latin and are of another script: {text}.");
        flags.push(flag(Level::Med, "imitates-latin", text));
    }
}

/// Flags a stated root quorum that differs from the known one.
fn of_quorum(evidence: &Evidence<'_>, flags: &mut Vec<Flag>) {
    let organization = &evidence.record.organization;
    let known = evidence.known_keys.quorum(organization.head.organization_id);
    let stated = KnownQuorum::stated(organization);
    if let Some(known) = known.filter(|known| known.value != stated) {
        let text = format!(
            "The root quorum may be forged: the daemon states {} [s], but {} has been known since {}. If you know \
             of the change, run quorate known-keys accept.",
            stated.short(),
            known.value.short(),
            date(known.since_millis)
        );
        flags.push(flag(Level::High, "quorum-not-known", text));
    }
}

/// Flags stated names that differ from the known ones, for the proposer, root users and users in the request.
fn of_names(evidence: &Evidence<'_>, proposal: &Proposal, flags: &mut Vec<Flag>) {
    let organization = &evidence.record.organization;
    for one in evidence.known_keys.renamed(organization) {
        let id = one.user.to_string();
        let matters = organization.head.root_quorum.user_ids.contains(&one.user)
            || proposal.proposer == one.user
            || proposal.message.to_ascii_lowercase().contains(&id);
        if matters {
            let text = format!(
                "A user may be impersonated: the daemon states the name {} [s] for {id}, but {} has been known since {}.",
                quoted(&one.stated),
                quoted(&one.known.value),
                date(one.known.since_millis)
            );
            flags.push(flag(Level::High, "name-changed", text));
        }
    }
}

/// Returns the flags that depend on the other waiting activities.
pub(crate) fn of_siblings(
    siblings: &Siblings,
    activity_type: &str,
    proposer: UserId,
    id: ActivityId,
    created: u64,
) -> Vec<Flag> {
    let mut flags = Vec::new();
    if let Some(other) = siblings.other_of_type(activity_type, id) {
        let text = format!(
            "Its effect may be overridden: {other} of the same type waits too, and the one executed last \
             applies."
        );
        flags.push(flag(Level::Med, "several-pending", text));
    }
    if siblings.is_burst(proposer, id, created) {
        let text = format!(
            "May be hidden in a burst: the proposer made more than {BURST} proposals within ten minutes of \
             this one."
        );
        // A notice only: otherwise every row of a burst would have the same risk.
        flags.push(flag(Level::Low, "burst", text));
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
    Flag { name, level, text, of_now: false }
}
