//! What organizations show of each other.

use super::{SessionProfile, World};

/// What an organization shows of others.
pub(in crate::model) struct Kin {
    /// Ids of the sub-organizations.
    pub(in crate::model) children: Vec<String>,
    /// Those of the parent are for its children, too.
    pub(in crate::model) session_profiles: Vec<SessionProfile>,
}

impl World {
    /// What this organization shows of others.
    pub(in crate::model) fn kin(&self, place: usize) -> Kin {
        let (parent, children) = self.organizations.split_first().expect("a parent");
        let own_children = if place == 0 { children } else { &[] };
        Kin {
            children: own_children.iter().map(|child| child.id.clone()).collect(),
            session_profiles: parent.session_profiles.clone(),
        }
    }
}
