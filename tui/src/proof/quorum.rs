//! Derives the root quorum from executed activities. A change is proven by the votes of members of the
//! previous quorum, with confirmed keys and within 24 hours. Does not use what the daemon states about the
//! current quorum. Cannot detect a change that the daemon withholds.

use std::collections::BTreeSet;

use quorate_common::activity::{Activity, Selection, Status, VOTE_WINDOW_MILLIS, Vote};
use quorate_common::ids::{OrganizationId, UserId};

use super::proposal::Proposal;
use super::votes::{Ballot, is_signed};
use crate::known_keys::{KnownKeys, KnownQuorum, Pin};

const TYPE: &str = "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";

/// An executed change of the root quorum, with the approvals whose signatures and keys are verified here.
struct Change {
    /// The new quorum.
    quorum: KnownQuorum,
    /// Signed time and user of each approval, oldest first and without duplicates.
    approvals: BTreeSet<(u64, UserId)>,
}

impl Change {
    fn read(activity: &Activity, organization: OrganizationId, known_keys: &KnownKeys) -> Option<Self> {
        let proposal = Proposal::of(activity).filter(|proposal| proposal.activity_type == TYPE)?;
        let is_of = |id: &str| id.eq_ignore_ascii_case(&organization.to_string());
        if activity.status != Status::Completed || !is_of(&proposal.organization) {
            return None;
        }
        let mut approvals = BTreeSet::new();
        for vote in &activity.votes {
            let Some(signed_at) = approved(vote, &proposal, &is_of) else { continue };
            // The daemon can invent a key, so only confirmed keys count.
            let key = known_keys.key(organization, vote.user_id, &vote.public_key);
            if key.is_some_and(|key| key.is_confirmed) && is_signed(vote) {
                approvals.insert((signed_at, vote.user_id));
            }
        }
        Some(Self { quorum: quorum_of(&proposal)?, approvals })
    }

    /// Returns the first time, not before `from`, at which the approvals of members were enough. As in the
    /// daemon, an approval expires after 24 hours.
    fn completed(&self, quorum: &KnownQuorum, from: u64) -> Option<u64> {
        let needed = usize::try_from(quorum.threshold).unwrap_or(usize::MAX);
        let is_member = |approval: &&(u64, UserId)| quorum.user_ids.contains(&approval.1);
        let members: Vec<(u64, UserId)> = self.approvals.iter().filter(is_member).copied().collect();
        let is_enough = |at: u64| {
            let live =
                members.iter().filter(|(cast, _)| *cast <= at && at.abs_diff(*cast) < VOTE_WINDOW_MILLIS);
            live.map(|(_, user)| user).collect::<BTreeSet<_>>().len() >= needed
        };
        members.iter().map(|(at, _)| *at).find(|at| *at >= from && is_enough(*at))
    }
}

/// Returns the quorum that the executed changes lead to, starting from the known one. Applies the changes in
/// the order of their completion, each under the quorum of the previous one. Only changes completed after the
/// quorum was pinned count, so the daemon cannot present an old change as a new one.
pub(crate) fn followed<'a>(
    changes: impl Iterator<Item = &'a Activity>,
    organization: OrganizationId,
    known: &Pin<KnownQuorum>,
    known_keys: &KnownKeys,
) -> KnownQuorum {
    let mut changes: Vec<Change> =
        changes.filter_map(|activity| Change::read(activity, organization, known_keys)).collect();
    let mut quorum = known.value.clone();
    let mut from = known.since_millis.saturating_add(1);
    loop {
        let completed = changes
            .iter()
            .enumerate()
            .filter_map(|(index, change)| Some((change.completed(&quorum, from)?, index)));
        let Some((at, index)) = completed.min() else { return quorum };
        quorum = changes.remove(index).quorum;
        from = at;
    }
}

/// Returns the signed time of an approval of the proposal, or `None` if the vote is not such an approval.
fn approved(vote: &Vote, proposal: &Proposal, is_of: &dyn Fn(&str) -> bool) -> Option<u64> {
    if vote.selection != Selection::Approved {
        return None;
    }
    if vote.message == proposal.message {
        return proposal.stamped;
    }
    let ballot = Ballot::read(&vote.message);
    let fits = ballot.activity_type == "ACTIVITY_TYPE_APPROVE_ACTIVITY"
        && is_of(&ballot.organization)
        && ballot
            .fingerprint
            .parse()
            .is_ok_and(|named: quorate_common::fingerprint::Fingerprint| named == proposal.fingerprint);
    ballot.stamped.filter(|_| fits)
}

fn quorum_of(proposal: &Proposal) -> Option<KnownQuorum> {
    let threshold = proposal.parameters.get("threshold")?;
    let threshold = threshold.as_u64().or_else(|| threshold.as_str()?.parse().ok())?;
    let ids = proposal.parameters.get("userIds")?.as_array()?;
    let user_ids = ids.iter().map(|id| id.as_str()?.parse().ok()).collect::<Option<_>>()?;
    Some(KnownQuorum { threshold: u32::try_from(threshold).ok()?, user_ids })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::ballot::Ballot as Cast;
    use crate::testing::{Fixture, NOW};
    use quorate_common::stamp::Stamper;
    use quorate_common::wire::Timestamp;
    use serde_json::json;

    const HOUR: u64 = 60 * 60 * 1000;
    const DAY: u64 = 24 * HOUR;

    /// Creates a change of a root quorum with three members and threshold 2, proposed by the second member.
    fn change(threshold: u32, voters: &[usize]) -> Activity {
        let fixture = Fixture::new(3, 2);
        let members: Vec<UserId> = (0..3).map(Fixture::user).collect();
        let parameters = json!({"threshold": threshold, "userIds": members});
        let mut record =
            fixture.propose(1, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", "updateRootQuorumIntent", &parameters);
        for voter in voters {
            fixture.approve(&mut record, *voter);
        }
        record.row.activity.status = Status::Completed;
        record.row.activity
    }

    #[test]
    fn votes_of_members_with_confirmed_keys_prove_a_change() {
        let mut known_keys = KnownKeys::default();
        known_keys.pin_new(&Fixture::new(3, 2).organization(), NOW - 86_400_000);
        let leads_to = |known_keys: &KnownKeys, activities: &[Activity]| {
            followed(activities.iter(), Fixture::id(), known_keys.quorum(Fixture::id()).unwrap(), known_keys)
                .threshold
        };
        assert_eq!(leads_to(&known_keys, &[change(1, &[2])]), 1);
        assert_eq!(leads_to(&known_keys, &[change(3, &[2]), change(1, &[0, 2])]), 1);
        assert_eq!(leads_to(&known_keys, &[change(3, &[2]), change(1, &[2])]), 3, "three must agree by then");
        assert_eq!(leads_to(&known_keys, &[change(1, &[])]), 2, "one vote is not enough");
        let spoilt = |spoil: &dyn Fn(&mut Activity)| {
            let mut activity = change(1, &[2]);
            spoil(&mut activity);
            assert_eq!(leads_to(&known_keys, &[activity]), 2);
        };
        spoilt(&|activity| activity.status = Status::Rejected);
        spoilt(&|activity| activity.votes[1].signature.replace_range(20..22, "00"));
        spoilt(&|activity| activity.votes[1].user_id = Fixture::user(1));
        spoilt(&|activity| activity.votes[1].public_key = Fixture::stamper(4).public_key().to_owned());
        spoilt(&|activity| activity.votes[1].selection = Selection::Rejected);
        spoilt(&|activity| activity.votes[1] = change(3, &[2]).votes[1].clone());
        // A key that the daemon stated for a member later proves nothing.
        let mut organization = Fixture::new(3, 2).organization();
        Fixture::stamper(4)
            .public_key()
            .clone_into(&mut organization.users[2].api_keys[0].credential.public_key);
        known_keys.pin_new(&organization, NOW - 1000);
        let mut activity = change(1, &[]);
        let ballot = Cast::vote(true, Fixture::id(), activity.fingerprint, NOW - 300_000);
        let stamp = Fixture::stamper(4).stamp(ballot.message.as_bytes()).unwrap();
        activity.votes.push(Fixture::vote(activity.id, 2, Selection::Approved, &ballot.message, &stamp, NOW));
        assert_eq!(leads_to(&known_keys, &[activity]), 2);
        // A change from before the pin is ignored: it would restore a replaced quorum.
        let mut late = KnownKeys::default();
        late.pin_new(&Fixture::new(3, 2).organization(), NOW);
        assert_eq!(leads_to(&late, &[change(1, &[2])]), 2);
    }

    /// Creates a change as [`change`] does, proposed and approved at these times.
    fn timed(threshold: u32, proposed: u64, votes: &[(usize, u64)]) -> Activity {
        let fixture = Fixture::new(3, 2);
        let members: Vec<UserId> = (0..3).map(Fixture::user).collect();
        let parameters = json!({"threshold": threshold, "userIds": members});
        let body = json!({"type": TYPE, "timestampMs": proposed.to_string(), "organizationId": Fixture::id(), "parameters": parameters});
        let intent = json!({"updateRootQuorumIntent": parameters});
        let mut activity = fixture.propose_bytes(1, &body.to_string(), TYPE, intent).row.activity;
        activity.votes[0].created_at = Timestamp::from_millis(proposed);
        for (voter, at) in votes {
            approve(&mut activity, *voter, &Fixture::stamper(*voter), *at);
        }
        activity.status = Status::Completed;
        activity
    }

    fn approve(activity: &mut Activity, voter: usize, stamper: &Stamper, at: u64) {
        let ballot = Cast::vote(true, Fixture::id(), activity.fingerprint, at);
        let stamp = stamper.stamp(ballot.message.as_bytes()).unwrap();
        let vote = Fixture::vote(activity.id, voter, Selection::Approved, &ballot.message, &stamp, at);
        activity.votes.push(vote);
    }

    fn seen_at(at: u64) -> KnownKeys {
        let mut known_keys = KnownKeys::default();
        known_keys.pin_new(&Fixture::new(3, 2).organization(), at);
        known_keys
    }

    fn leads_to(known_keys: &KnownKeys, activities: &[Activity]) -> u32 {
        followed(activities.iter(), Fixture::id(), known_keys.quorum(Fixture::id()).unwrap(), known_keys)
            .threshold
    }

    #[test]
    fn expired_votes_prove_no_change() {
        let (known_keys, start) = (seen_at(NOW - 10 * DAY), NOW - 5 * DAY);
        let check = |votes: &[(usize, u64)], expected: u32, why: &str| {
            assert_eq!(leads_to(&known_keys, &[timed(1, start, votes)]), expected, "{why}");
        };
        check(&[(2, start + DAY - 1)], 1, "within the window");
        check(&[(2, start + DAY)], 2, "the proposer's vote has expired");
        check(&[(2, start + 25 * HOUR)], 2, "an hour too late");
        check(&[(2, start + 25 * HOUR), (0, start + 50 * HOUR)], 2, "each vote has expired before the next");
        check(&[(2, start + 25 * HOUR), (0, start + 26 * HOUR)], 1, "two others are within the window");
        check(&[(2, start + 25 * HOUR), (1, start + 26 * HOUR)], 1, "the proposer voted again");
    }

    #[test]
    fn changes_apply_in_the_order_of_their_completion() {
        let (known_keys, start) = (seen_at(NOW - 10 * DAY), NOW - 5 * DAY);
        let raised = timed(3, start + HOUR, &[(2, start + 2 * HOUR)]);
        let late = timed(1, start, &[(2, start + 3 * HOUR), (0, start + 4 * HOUR)]);
        assert_eq!(leads_to(&known_keys, &[late, raised.clone()]), 1, "proposed first, completed last");
        let short = timed(1, start, &[(2, start + 3 * HOUR)]);
        assert_eq!(leads_to(&known_keys, &[short, raised]), 3, "three must agree by then");
    }

    #[test]
    fn votes_with_unconfirmed_keys_prove_no_change() {
        let mut known_keys = seen_at(NOW - 10 * DAY);
        let mut organization = Fixture::new(3, 2).organization();
        let mut added = organization.users[2].api_keys[0].clone();
        Fixture::stamper(4).public_key().clone_into(&mut added.credential.public_key);
        organization.users[2].api_keys.push(added);
        known_keys.pin_new(&organization, NOW - 8 * DAY);
        // The quorum is pinned again after the daemon stated the key.
        known_keys.accept_quorum(&organization, NOW - 6 * DAY);
        let start = NOW - 5 * DAY;
        let mut forged = timed(1, start, &[]);
        approve(&mut forged, 2, &Fixture::stamper(4), start + HOUR);
        assert_eq!(leads_to(&known_keys, &[forged]), 2);
        assert_eq!(leads_to(&known_keys, &[timed(1, start, &[(2, start + HOUR)])]), 1);
    }
}
