//! The other waiting activities, reduced to what the flags need.

use std::collections::BTreeMap;

use quorate_common::activity::Activity;
use quorate_common::ids::{ActivityId, UserId};

/// More proposals than this by one user within [`BURST_MILLIS`] are a burst.
pub(crate) const BURST: usize = 5;
/// Length of the burst window before and after an activity, in milliseconds.
pub(crate) const BURST_MILLIS: u64 = 10 * 60 * 1000;

/// Types for which a later execution overrides an earlier one.
const OVERRIDING_TYPES: [&str; 5] = [
    "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM",
    "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
    "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE",
    "ACTIVITY_TYPE_DELETE_USERS",
    "ACTIVITY_TYPE_SET_IP_ALLOWLIST",
];

/// Returns the type if a later execution of it overrides an earlier one.
pub(crate) fn overriding_type(activity_type: &str) -> Option<&'static str> {
    OVERRIDING_TYPES.into_iter().find(|known| *known == activity_type)
}

/// One waiting activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sibling {
    pub(crate) id: ActivityId,
    /// Its type, if it is one of those that [`overriding_type`] knows.
    pub(crate) overriding_type: Option<&'static str>,
    /// Proposer, as the daemon states.
    pub(crate) proposer: Option<UserId>,
    /// When it was recorded, in milliseconds since the Unix epoch.
    pub(crate) created: u64,
}

impl Sibling {
    /// Returns the sibling for an activity, or `None` if it does not wait.
    pub(crate) fn of(activity: &Activity) -> Option<Self> {
        activity.status.waits().then(|| Self {
            id: activity.id,
            overriding_type: overriding_type(&activity.activity_type),
            proposer: activity.votes.first().map(|vote| vote.user_id),
            created: activity.created_at.millis(),
        })
    }
}

/// Waiting activities, indexed by type and by proposer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Siblings {
    by_type: BTreeMap<&'static str, Vec<ActivityId>>,
    /// Newest first.
    proposals: BTreeMap<UserId, Vec<(u64, ActivityId)>>,
}

impl FromIterator<Sibling> for Siblings {
    fn from_iter<I: IntoIterator<Item = Sibling>>(siblings: I) -> Self {
        let mut found = Self::default();
        for Sibling { id, overriding_type, proposer, created } in siblings {
            if let Some(overriding_type) = overriding_type {
                found.by_type.entry(overriding_type).or_default().push(id);
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
    /// Returns another waiting activity of the same type, if a later execution of the type overrides an
    /// earlier one.
    pub(crate) fn other_of_type(&self, activity_type: &str, id: ActivityId) -> Option<ActivityId> {
        let waiting = self.by_type.get(activity_type)?;
        waiting.iter().copied().find(|other| *other != id)
    }

    /// Returns the waiting activities that decide which flags [`super::of_siblings`] returns: at most one of the same
    /// type, and [`BURST`] of the same user within [`BURST_MILLIS`].
    pub(super) fn related(&self, activity: &Activity, proposer: UserId) -> Vec<Sibling> {
        let (id, created) = (activity.id, activity.created_at.millis());
        let overriding_type = overriding_type(&activity.activity_type);
        let same_type = self.other_of_type(&activity.activity_type, id).into_iter();
        let same_type = same_type.map(|id| Sibling { id, overriding_type, proposer: None, created });
        let near = self.proposals.get(&proposer).into_iter().flatten();
        let near =
            near.filter(|(at, other)| *other != id && at.abs_diff(created) <= BURST_MILLIS).take(BURST);
        let near = near.map(|(created, id)| Sibling {
            id: *id,
            overriding_type: None,
            proposer: Some(proposer),
            created: *created,
        });
        same_type.chain(near).collect()
    }

    /// Returns whether the user proposed more than [`BURST`] waiting activities within [`BURST_MILLIS`] of
    /// this one, itself included. The result does not depend on the current time, so waiting does not clear
    /// the flag.
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
    fn detects_bursts_and_overriding_types() {
        let now = 100 * BURST_MILLIS;
        let user = UserId::from_bytes([1; 16]);
        let id = |number: u8| ActivityId::from_bytes([number; 16]);
        let of = |number: u8, age: u64| Sibling {
            id: id(number),
            overriding_type: overriding_type("ACTIVITY_TYPE_DELETE_USERS"),
            proposer: Some(user),
            created: now - age,
        };
        let siblings =
            |ages: &[u64]| -> Siblings { (1..).zip(ages).map(|(number, age)| of(number, *age)).collect() };
        assert!(siblings(&[0; 6]).is_burst(user, id(1), now));
        assert!(!siblings(&[0; 5]).is_burst(user, id(1), now));
        assert!(
            siblings(&[0; 5]).is_burst(user, id(9), now),
            "counts the activity itself if it is not among them"
        );
        assert!(!siblings(&[0, 0, 0, 0, BURST_MILLIS + 1, BURST_MILLIS + 1]).is_burst(user, id(1), now));
        assert!(
            siblings(&[BURST_MILLIS; 6]).is_burst(user, id(1), now - BURST_MILLIS),
            "however long they wait"
        );
        assert!(siblings(&[5, 0, 0, 0, 0, 0]).is_burst(user, id(1), now - 5), "later proposals count too");
        assert!(!siblings(&[BURST_MILLIS + 1, 0, 0, 0, 0, 0]).is_burst(user, id(1), now - BURST_MILLIS - 1));
        assert!(!siblings(&[0; 6]).is_burst(UserId::from_bytes([2; 16]), id(1), now));
        assert_eq!(siblings(&[0, 0]).other_of_type("ACTIVITY_TYPE_DELETE_USERS", id(1)), Some(id(2)));
        assert_eq!(siblings(&[0]).other_of_type("ACTIVITY_TYPE_DELETE_USERS", id(1)), None);
        assert_eq!(overriding_type("ACTIVITY_TYPE_CREATE_USER_TAG"), None);
    }
}
