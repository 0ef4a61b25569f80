//! The checks of votes, rule and root quorum: what this console counts itself, against what the daemon states.

use quorate_common::console::{WaitingReason, WaitingRule};

use super::check::{Finding, attention, failed, unproven, verified};
use super::evidence::Evidence;
use super::rule::Evaluation;
use super::tally::Tally;
use super::votes::VoteProof;
use crate::kinds::{ReviewContext, count};
use crate::known_keys::KnownQuorum;
use crate::text::{clean, date};

pub(super) fn signatures(votes: &[VoteProof]) -> Finding {
    let signed = votes.iter().filter(|vote| vote.signed).count();
    let bad: Vec<String> = votes
        .iter()
        .filter_map(|vote| vote.error.as_ref().map(|error| format!("{}: {error}", vote.name)))
        .collect();
    if !bad.is_empty() {
        return attention(format!("votes that do not count: {}", bad.join("; ")));
    }
    let expired = votes.iter().filter(|vote| vote.expired).count();
    if expired > 0 {
        let votes = count(votes.len(), "vote");
        return attention(format!("{expired} of {votes} expired after 24 h and no longer count"));
    }
    let counted = format!("{signed} of {} verified, by distinct users", count(votes.len(), "vote signature"));
    let attested = votes.iter().filter(|vote| vote.attested.is_some()).count();
    if attested > 0 {
        let keys = if attested == 1 { "1 temporary key is" } else { "temporary keys are" };
        return unproven(format!(
            "{counted}; that {keys} the voter's rests on the daemon's word, since tokens are not kept"
        ));
    }
    match votes.iter().filter(|vote| !vote.key_confirmed).count() {
        0 => verified(counted),
        1 => unproven(format!("{counted}; the key of 1 vote was not accepted here")),
        late => unproven(format!("{counted}; the keys of {late} votes were not accepted here")),
    }
}

pub(super) fn recount(
    evidence: &Evidence<'_>,
    tally: &Tally,
    rule: Option<&Result<Evaluation, String>>,
) -> Finding {
    if !evidence.record.row.activity.status.waits() {
        return unproven(format!(
            "it is no longer waiting; verified approvals of root users: {} of {} [s]",
            tally.root.len(),
            tally.needed
        ));
    }
    if !tally.overclaimed.is_empty() {
        let organization = &evidence.record.organization;
        let context = ReviewContext::of(organization);
        let names: Vec<String> =
            tally.overclaimed.iter().map(|user| context.user_named(&user.to_string())).collect();
        return failed(format!("the daemon counts votes that are not verified here: {}", names.join(", ")));
    }
    let Some(stated) = evidence.record.row.waiting.as_ref() else {
        return attention("the daemon does not state what the activity waits for".to_owned());
    };
    let by_quorum = stated.rule == WaitingRule::RootQuorum;
    if by_quorum == (stated.reason == WaitingReason::PolicyConsensus) {
        let text = "the rule and the reason that the daemon states contradict each other".to_owned();
        return failed(text);
    }
    if by_quorum && stated.needed < tally.needed {
        let required = count(usize::try_from(stated.needed).unwrap_or(usize::MAX), "approval");
        let needed = tally.needed;
        let text = format!("the daemon requires {required}, but the stated quorum requires {needed} [s]");
        return failed(text);
    }
    let (has, needed) = (tally.root.len(), tally.needed);
    let counted = match tally.counted.len() {
        _ if by_quorum => format!("{has} of {needed} [s]"),
        1 => "1 verified approval".to_owned(),
        approvals => format!("{approvals} verified approvals"),
    };
    match rule {
        None if by_quorum => {
            unproven(format!("votes counted here: {counted}; quorum and policies are as stated"))
        }
        None => unproven(format!("{counted}; the daemon states that more are needed")),
        Some(Err(why)) => attention(format!("{counted}; the rule cannot be evaluated here: {}", clean(why))),
        Some(Ok(evaluation)) => match evaluation.difference(stated) {
            None => {
                let because = clean(&evaluation.because());
                let source = "with the quorum and policies that the daemon states";
                unproven(format!("votes counted and rule evaluated here, {source}: {counted}, {because}"))
            }
            Some((mark, text)) => (mark, format!("{counted}; {}", clean(&text))),
        },
    }
}

/// Checks that the root quorum that the daemon states is the known one.
pub(super) fn known_quorum(evidence: &Evidence<'_>) -> Finding {
    let organization = &evidence.record.organization;
    let id = organization.head.organization_id;
    let stated = KnownQuorum::stated(organization);
    let stated_text = stated.short();
    let Some(known) = evidence.known_keys.quorum(id) else {
        return unproven(format!("root quorum {stated_text} [s]: no known quorum to compare with"));
    };
    if known.value != stated {
        let who = if known.value.user_ids == stated.user_ids { "" } else { ", other members" };
        return failed(format!(
            "the daemon states root quorum {stated_text}{who}; the one known since {} is {}. If you know \
                 of the change, run quorate known-keys accept",
            date(known.since_millis),
            known.value.short()
        ));
    }
    if evidence.known_keys.is_first_contact(id, evidence.now) {
        let text = format!(
            "root quorum {stated_text} [s] was pinned at first contact with this organization, today"
        );
        return unproven(text);
    }
    let since = date(known.since_millis);
    verified(format!("the stated root quorum, {stated_text} [s], is the one known since {since}"))
}
