//! The organization of a command, with its policies.

use std::sync::Arc;

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;
use quorate_common::wire::{Policy, Wallet};

use crate::clock::now_millis;
use crate::failure::{Exit, Failure, Result};
use crate::policies::Rules;
use crate::session::{Session, one_named};
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
        let policies = &self.organization.policies;
        let ids = policies.iter().map(|policy| (policy.policy_id.to_string(), &policy.policy_name));
        let id = found("policy", "policies", wanted, ids)?;
        let missing = || Failure::new(Exit::NotFound, format!("policy {} not found", clean(wanted)));
        policies.iter().find(|policy| policy.policy_id.to_string() == id).ok_or_else(missing)
    }

    /// Finds a user by id or name.
    pub(super) fn user(&self, wanted: &str) -> Result<String> {
        let users = self.organization.users.iter();
        found("user", "users", wanted, users.map(|user| (user.user_id.to_string(), &user.user_name)))
    }

    /// Finds a wallet by id or name.
    pub(super) fn wallet(&self, wanted: &str) -> Result<&Wallet> {
        let wallets = &self.organization.wallets;
        let ids = wallets.iter().map(|wallet| (wallet.wallet_id.to_string(), &wallet.wallet_name));
        let id = found("wallet", "wallets", wanted, ids)?;
        let missing = || Failure::new(Exit::NotFound, format!("wallet {} not found", clean(wanted)));
        wallets.iter().find(|wallet| wallet.wallet_id.to_string() == id).ok_or_else(missing)
    }
}

/// Returns the id that a text is, or the id of the only thing with this name.
fn found<'a>(
    noun: &str,
    plural: &str,
    wanted: &str,
    all: impl Iterator<Item = (String, &'a String)> + Clone,
) -> Result<String> {
    if all.clone().any(|(id, _)| id == wanted) {
        return Ok(wanted.to_owned());
    }
    one_named(noun, plural, wanted, all.filter(|(_, name)| *name == wanted).map(|(id, _)| id).collect())
}
