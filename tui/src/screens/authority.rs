//! What decides votes in an organization, as a digest: a change of anything else needs no reading.

use quorate_common::console::{OrganizationDetail, OrganizationHead};
use quorate_common::fingerprint::Fingerprint;

/// A digest over the state of an organization without what decides no vote: versions, times and uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Authority(Fingerprint);

impl Authority {
    pub(crate) fn of(organization: &OrganizationDetail) -> Self {
        let head = OrganizationHead {
            version: 0,
            updated_at: organization.head.created_at.clone(),
            ..organization.head.clone()
        };
        let relevant = OrganizationDetail {
            head,
            read_only_sessions: Vec::new(),
            last_uses: Vec::new(),
            invitation_mails: Vec::new(),
            ..organization.clone()
        };
        // A state that cannot be serialized is equal to none but such states; there are none.
        Self(Fingerprint::of(&serde_json::to_vec(&relevant).unwrap_or_default()))
    }
}
