//! Whether an executed activity proves a change of the root quorum: by votes of members of the quorum before it, with keys
//! that were known when that quorum was pinned. Believes nothing that the daemon states of today.

use std::collections::BTreeSet;

use quorate_common::activity::{Activity, Selection, Status, Vote};
use quorate_common::ids::{OrganizationId, UserId};

use super::votes::{Ballot, is_signed};
use super::{Proposal, proposal};
use crate::roster::{KnownQuorum, Pin, Roster};

const TYPE: &str = "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM";

/// Returns the quorum that the activity put in place of the known one, if its votes prove that. The last of them must
/// have been signed after `known` was pinned: an older change cannot be shown as one of today.
pub(crate) fn changed_quorum(
    activity: &Activity,
    organization: OrganizationId,
    known: &KnownQuorum,
    pinned_at: u64,
    roster: &Roster,
) -> Option<KnownQuorum> {
    let proposal = proposal(activity).filter(|proposal| proposal.activity_type == TYPE)?;
    let is_of = |id: &str| id.eq_ignore_ascii_case(&organization.to_string());
    if activity.status != Status::Completed || !is_of(&proposal.organization) {
        return None;
    }
    let mut voters: BTreeSet<UserId> = BTreeSet::new();
    let mut last = 0;
    for vote in &activity.votes {
        // A key that came later may be one that the daemon made up for this.
        let first_seen = roster.first_seen(organization, vote.user_id, &vote.public_key);
        let is_key_known = first_seen.is_some_and(|at| at <= pinned_at);
        let Some(stamped) = approved(vote, &proposal, &is_of) else { continue };
        if is_key_known && known.user_ids.contains(&vote.user_id) && is_signed(vote) {
            voters.insert(vote.user_id);
            last = stamped.max(last);
        }
    }
    let needed = usize::try_from(known.threshold).unwrap_or(usize::MAX);
    (voters.len() >= needed && last > pinned_at).then(|| quorum_of(&proposal)).flatten()
}

/// Follows executed changes, oldest first, from the known quorum on. Returns the quorum that they lead to.
pub(crate) fn followed<'a>(
    changes: impl Iterator<Item = &'a Activity>,
    organization: OrganizationId,
    known: &Pin<KnownQuorum>,
    roster: &Roster,
) -> KnownQuorum {
    changes.fold(known.value.clone(), |quorum, activity| {
        changed_quorum(activity, organization, &quorum, known.since_millis, roster).unwrap_or(quorum)
    })
}

/// When an approval of the proposal was signed, by its own words; nothing if it is none.
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
    use crate::testing::{NOW, Stage};
    use serde_json::json;

    /// A change of the root quorum of three, two of whom must agree, proposed by the second of them.
    fn change(threshold: u32, voters: &[usize]) -> Activity {
        let stage = Stage::new(3, 2);
        let members: Vec<UserId> = (0..3).map(Stage::user).collect();
        let parameters = json!({"threshold": threshold, "userIds": members});
        let mut record =
            stage.propose(1, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", "updateRootQuorumIntent", &parameters);
        for voter in voters {
            stage.approve(&mut record, *voter);
        }
        record.row.activity.status = Status::Completed;
        record.row.activity
    }

    #[test]
    fn votes_of_known_members_prove_a_change() {
        let mut roster = Roster::default();
        roster.see(&Stage::new(3, 2).organization(), NOW - 86_400_000);
        let leads_to = |roster: &Roster, activities: &[Activity]| {
            followed(activities.iter(), Stage::id(), roster.quorum(Stage::id()).unwrap(), roster).threshold
        };
        assert_eq!(leads_to(&roster, &[change(1, &[2])]), 1);
        assert_eq!(leads_to(&roster, &[change(3, &[2]), change(1, &[0, 2])]), 1);
        assert_eq!(leads_to(&roster, &[change(3, &[2]), change(1, &[2])]), 3, "three must agree by then");
        assert_eq!(leads_to(&roster, &[change(1, &[])]), 2, "one vote is not enough");
        let spoilt = |spoil: &dyn Fn(&mut Activity)| {
            let mut activity = change(1, &[2]);
            spoil(&mut activity);
            assert_eq!(leads_to(&roster, &[activity]), 2);
        };
        spoilt(&|activity| activity.status = Status::Rejected);
        spoilt(&|activity| activity.votes[1].signature.replace_range(20..22, "00"));
        spoilt(&|activity| activity.votes[1].user_id = Stage::user(1));
        spoilt(&|activity| activity.votes[1].public_key = Stage::stamper(4).public_key().to_owned());
        spoilt(&|activity| activity.votes[1].selection = Selection::Rejected);
        spoilt(&|activity| activity.votes[1] = change(3, &[2]).votes[1].clone());
        // A key that is stated for a member since is no proof.
        let mut organization = Stage::new(3, 2).organization();
        Stage::stamper(4)
            .public_key()
            .clone_into(&mut organization.users[2].api_keys[0].credential.public_key);
        roster.see(&organization, NOW - 1000);
        let mut activity = change(1, &[]);
        let ballot = Cast::vote(true, Stage::id(), activity.fingerprint, NOW - 300_000);
        let stamp = Stage::stamper(4).stamp(ballot.message.as_bytes()).unwrap();
        activity.votes.push(Stage::vote(activity.id, 2, Selection::Approved, &ballot.message, &stamp, NOW));
        assert_eq!(leads_to(&roster, &[activity]), 2);
        // A change from before the pin leads nowhere: it would bring back what was replaced since.
        let mut late = Roster::default();
        late.see(&Stage::new(3, 2).organization(), NOW);
        assert_eq!(leads_to(&late, &[change(1, &[2])]), 2);
    }
}
