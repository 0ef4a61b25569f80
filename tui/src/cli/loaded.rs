//! The organization of a command, with its policies.

use std::sync::Arc;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use quorate_common::wire::Policy;

use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::policies::Rules;
use crate::session::Session;
use crate::text::clean;

/// An organization as the daemon states it.
pub(super) struct LoadedOrganization {
    pub(super) id: OrganizationId,
    pub(super) organization: Arc<OrganizationDetail>,
    /// Whether a deny policy that fails to evaluate denies the request.
    pub(super) strict: bool,
}

impl LoadedOrganization {
    /// Reads the organization from the daemon.
    pub(super) async fn read(session: &Session) -> Result<Self> {
        let strict = session.daemon_status().await?.strict_deny_errors;
        let organization = Arc::new(session.organization().await?);
        Ok(Self { id: organization.head.organization_id, organization, strict })
    }

    /// Returns the rules as they are now.
    pub(super) fn rules(&self) -> Rules<'_> {
        Rules::of(&self.organization, self.strict, now_millis())
    }

    /// Finds a policy by id or name.
    pub(super) fn policy(&self, wanted: &str) -> Result<&Policy> {
        let is = |policy: &&Policy| policy.policy_id.to_string() == wanted || policy.policy_name == wanted;
        let missing = || Failure::new(Exit::NotFound, format!("policy {} not found", clean(wanted)));
        self.organization.policies.iter().find(is).ok_or_else(missing)
    }

    /// Finds a user by id or name.
    pub(super) fn user(&self, wanted: &str) -> Result<String> {
        let users = &self.organization.users;
        let user = users.iter().find(|user| user.user_id.to_string() == wanted || user.user_name == wanted);
        let missing = || Failure::new(Exit::NotFound, format!("user {} not found", clean(wanted)));
        user.map(|user| user.user_id.to_string()).ok_or_else(missing)
    }
}
