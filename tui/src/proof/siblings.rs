//! What is known of the other activities that wait: enough for the flags that depend on them, and no more.

use std::collections::BTreeMap;

use quorate_common::activity::{Activity, Status};
use quorate_common::ids::{ActivityId, UserId};

/// More proposals than this by one user within [`BURST_MILLIS`] are a burst.
pub(crate) const BURST: usize = 5;
/// How far a burst reaches, to both sides of an activity.
pub(crate) const BURST_MILLIS: u64 = 10 * 60 * 1000;

/// Types of which a later execution undoes an earlier one.
const RIVALS: [&str; 5] = [
    "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
    "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
    "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE",
    "ACTIVITY_TYPE_DELETE_USERS",
    "ACTIVITY_TYPE_SET_IP_ALLOWLIST",
];

/// The type, if a later execution of it undoes an earlier one.
pub(crate) fn rival(activity_type: &str) -> Option<&'static str> {
    RIVALS.into_iter().find(|known| *known == activity_type)
}

/// One waiting activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sibling {
    /// Activity.
    pub(crate) id: ActivityId,
    /// Its type, if it is one of those that [`rival`] knows.
    pub(crate) rival: Option<&'static str>,
    /// Who proposed it, by the daemon's word.
    pub(crate) proposer: Option<UserId>,
    /// When it was recorded, milliseconds since 1970.
    pub(crate) created: u64,
}

impl Sibling {
    /// Returns what is kept of an activity, if it waits.
    pub(crate) fn of(activity: &Activity) -> Option<Self> {
        (activity.status == Status::ConsensusNeeded).then(|| Self {
            id: activity.id,
            rival: rival(&activity.activity_type),
            proposer: activity.votes.first().map(|vote| vote.user_id),
            created: activity.created_at.millis(),
        })
    }
}

/// Waiting activities, to be found by type and by proposer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Siblings {
    rivals: BTreeMap<&'static str, Vec<ActivityId>>,
    /// Newest first.
    proposals: BTreeMap<UserId, Vec<(u64, ActivityId)>>,
}

impl FromIterator<Sibling> for Siblings {
    fn from_iter<I: IntoIterator<Item = Sibling>>(siblings: I) -> Self {
        let mut found = Self::default();
        for Sibling { id, rival, proposer, created } in siblings {
            if let Some(rival) = rival {
                found.rivals.entry(rival).or_default().push(id);
            }
            if let Some(proposer) = proposer {
                found.proposals.entry(proposer).or_default().push((created, id));
            }
        }
        for proposals in found.proposals.values_mut() {
            proposals.sort_unstable_by(|one, other| other.cmp(one));
        }
        found
    }
}

impl Siblings {
    /// Another waiting activity of the same type, where only the later one of the two holds.
    pub(crate) fn rival_of(&self, activity_type: &str, id: ActivityId) -> Option<ActivityId> {
        let rivals = self.rivals.get(activity_type)?;
        rivals.iter().copied().find(|other| *other != id)
    }

    /// Whether the user proposed more than [`BURST`] of the waiting activities within [`BURST_MILLIS`] of this one, which
    /// is included. That does not change while it waits, so that waiting makes nothing less suspicious.
    pub(crate) fn is_burst(&self, proposer: UserId, id: ActivityId, created: u64) -> bool {
        let Some(proposals) = self.proposals.get(&proposer) else { return false };
        let latest = created.saturating_add(BURST_MILLIS);
        let first = proposals.partition_point(|(other, _)| *other > latest);
        let near = proposals
            .iter()
            .skip(first)
            .take_while(|(other, _)| created.saturating_sub(*other) <= BURST_MILLIS);
        near.filter(|(_, other)| *other != id).take(BURST).count() == BURST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_and_rivals_are_found() {
        let now = 100 * BURST_MILLIS;
        let user = UserId::from_bytes([1; 16]);
        let id = |number: u8| ActivityId::from_bytes([number; 16]);
        let of = |number: u8, age: u64| Sibling {
            id: id(number),
            rival: rival("ACTIVITY_TYPE_DELETE_USERS"),
            proposer: Some(user),
            created: now - age,
        };
        let siblings =
            |ages: &[u64]| -> Siblings { (1..).zip(ages).map(|(number, age)| of(number, *age)).collect() };
        assert!(siblings(&[0; 6]).is_burst(user, id(1), now));
        assert!(!siblings(&[0; 5]).is_burst(user, id(1), now));
        assert!(siblings(&[0; 5]).is_burst(user, id(9), now), "one that is not among them counts too");
        assert!(!siblings(&[0, 0, 0, 0, BURST_MILLIS + 1, BURST_MILLIS + 1]).is_burst(user, id(1), now));
        assert!(
            siblings(&[BURST_MILLIS; 6]).is_burst(user, id(1), now - BURST_MILLIS),
            "however long they wait"
        );
        assert!(siblings(&[5, 0, 0, 0, 0, 0]).is_burst(user, id(1), now - 5), "what came later counts too");
        assert!(!siblings(&[BURST_MILLIS + 1, 0, 0, 0, 0, 0]).is_burst(user, id(1), now - BURST_MILLIS - 1));
        assert!(!siblings(&[0; 6]).is_burst(UserId::from_bytes([2; 16]), id(1), now));
        assert_eq!(siblings(&[0, 0]).rival_of("ACTIVITY_TYPE_DELETE_USERS", id(1)), Some(id(2)));
        assert_eq!(siblings(&[0]).rival_of("ACTIVITY_TYPE_DELETE_USERS", id(1)), None);
        assert_eq!(rival("ACTIVITY_TYPE_CREATE_USER_TAG"), None);
    }
}
