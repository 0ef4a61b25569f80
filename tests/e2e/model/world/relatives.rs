//! Data that an organization shows of other organizations.

use super::{SessionProfile, World};

/// Data of other organizations that an organization shows.
pub(in crate::model) struct Relatives {
    /// Ids of the sub-organizations.
    pub(in crate::model) children: Vec<String>,
    /// Session profiles of the parent, which its children also have.
    pub(in crate::model) session_profiles: Vec<SessionProfile>,
}

impl World {
    /// Returns the data of other organizations that this one shows.
    pub(in crate::model) fn relatives(&self, position: usize) -> Relatives {
        let (parent, children) = self.organizations.split_first().expect("a parent");
        let own_children = if position == 0 { children } else { &[] };
        Relatives {
            children: own_children.iter().map(|child| child.id.clone()).collect(),
            session_profiles: parent.session_profiles.clone(),
        }
    }
}
