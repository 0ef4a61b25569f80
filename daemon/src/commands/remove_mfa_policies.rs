//! `quorated remove-mfa-policies`: removes the MFA policies of a user who lost a required authentication method. The
//! daemon must not be running.

use std::path::PathBuf;

use clap::Args;
use quorate_common::ids::{OrganizationId, UserId};
use quorate_core::creation;
use quorate_core::world::World;

use super::serve::{engine, read};
use crate::clock::now;
use crate::service::StartError;

/// Arguments of `quorated remove-mfa-policies`.
#[derive(Debug, Args)]
pub struct RemoveArguments {
    /// Configuration file (TOML), which names the store and the root key
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Id of the organization of the user
    #[arg(long, value_name = "ID")]
    organization: String,
    /// Id of the user whose MFA policies are removed
    #[arg(long, value_name = "ID")]
    user: String,
}

/// Removes the MFA policies and prints each of them.
///
/// # Errors
/// Returns an error if the organization or the user does not exist, or the store cannot be opened or written.
pub async fn run(arguments: RemoveArguments) -> Result<(), StartError> {
    let other = |text: String| StartError::Other(text);
    let id: OrganizationId = arguments
        .organization
        .parse()
        .map_err(|error| StartError::Usage(format!("--organization: {error}")))?;
    let user_id: UserId =
        arguments.user.parse().map_err(|error| StartError::Usage(format!("--user: {error}")))?;
    let engine = engine(&read(&arguments.config)?, false)?;
    let world = engine.executor.world();
    let found = world.organization(id).map_err(|error| other(error.to_string()))?;
    let organization = found.ok_or_else(|| other(format!("organization {id} not found")))?;
    let user = organization.user(user_id);
    let user = user.ok_or_else(|| other(format!("user {user_id} not found in organization {id}")))?;
    if user.mfa_policies.is_empty() {
        return super::print(&format!("user {user_id} has no MFA policies"));
    }
    let removed: Vec<String> = user
        .mfa_policies
        .iter()
        .map(|policy| format!("removed MFA policy {} {:?}", policy.id, policy.name.as_str()))
        .collect();
    let commit = creation::remove_mfa_policies(&organization, user, world.index(), now());
    let commit = commit.map_err(|error| other(error.to_string()))?;
    engine.executor.commit(commit).await.map_err(|error| other(error.to_string()))?;
    super::print(&removed.join("\n"))
}
