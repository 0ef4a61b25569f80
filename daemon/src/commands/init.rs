//! `quorated init`: the operator of the daemon creates an organization. The daemon must not be running.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use quorate_common::bounded::{Email, Label};
use quorate_common::console::PAGE_LIMIT;
use quorate_common::stamp::{ApiKeyCurve, StampKey};
use quorate_core::creation::{self, CreatedOrganization};
use quorate_core::error::RequestError;
use quorate_core::operator;
use quorate_core::params::{NewApiKey, NewUser};
use quorate_core::world::{Runtime, World};
use serde_json::{Value, json};

use super::serve::{engine, read};
use crate::clock;
use crate::service::{Engine, StartError};

/// Arguments of `quorated init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// Configuration file (TOML), which names the store and the root key; both are created if missing
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Name of the organization
    #[arg(long)]
    name: String,
    /// Number of root users who must approve
    #[arg(long, default_value_t = 1)]
    threshold: u32,
    /// Name and public key (hex) of a root user; the curve is p256 unless one is given; repeatable
    #[arg(long = "root-user", value_name = "NAME=[CURVE:]KEY", required = true)]
    root_users: Vec<String>,
    /// Create the organization even if another one has the same name
    #[arg(long)]
    another: bool,
}

/// Creates the organization and prints its ids and the quorum public keys as JSON.
///
/// # Errors
/// Returns an error if an argument is invalid, the name is already used, or the store cannot be opened or
/// written.
pub async fn run(arguments: InitArguments) -> Result<(), StartError> {
    let invalid = |text: String| StartError::Usage(text);
    let name = Label::parse(arguments.name).map_err(|why| invalid(format!("--name {why}")))?;
    let users = arguments.root_users.iter().map(|text| root_user(text)).collect::<Result<Vec<_>, _>>()?;
    check_distinct_keys(&users)?;
    creation::check_threshold(arguments.threshold, users.len())
        .map_err(|error| invalid(error.api_error().message))?;
    let engine = engine(&read(&arguments.config)?, true)?;
    if !arguments.another && name_exists(&engine, &name)? {
        let text =
            format!("an organization named \"{name}\" already exists; pass --another to create one more");
        return Err(StartError::Other(text));
    }
    let (organization_id, users) = create(&engine, name, users, arguments.threshold).await?;
    let users: Vec<_> = users
        .iter()
        .map(|user| json!({"userId": user.id, "userName": user.name, "apiKeyId": user.api_keys.first().map(|key| key.id)}))
        .collect();
    let mut answer = json!({
        "organizationId": organization_id,
        "threshold": arguments.threshold,
        "rootUsers": users,
    });
    if let (Value::Object(answer), Value::Object(keys)) = (&mut answer, engine.identity.quorum_keys()) {
        answer.extend(keys);
    }
    super::print(&format!("{answer:#}"))
}

/// Converts a rejected request into an error of the command.
fn start_error(error: &RequestError) -> StartError {
    StartError::Other(error.api_error().message)
}

/// Returns an error if two root users have the same public key.
fn check_distinct_keys(users: &[NewUser]) -> Result<(), StartError> {
    let mut owners = HashMap::new();
    for user in users {
        for key in &user.api_keys {
            if let Some(owner) = owners.insert(key.public_key.as_str(), &user.name) {
                return Err(StartError::Usage(format!(
                    "--root-user: \"{owner}\" and \"{}\" have the same public key; create a key for each user with \
                     'quorate key add'",
                    user.name
                )));
            }
        }
    }
    Ok(())
}

/// Returns whether a top-level organization has this name.
fn name_exists(engine: &Engine, name: &Label) -> Result<bool, StartError> {
    let mut after = None;
    loop {
        let page = operator::organizations(engine.executor.world().as_ref(), None, after, PAGE_LIMIT)
            .map_err(|error| StartError::Other(error.api_error().message))?;
        if page.organizations.iter().any(|organization| organization.organization_name == name.as_str()) {
            return Ok(true);
        }
        let Some(next) = page.next else { return Ok(false) };
        after = Some(next);
    }
}

/// Creates an organization and stores it durably.
pub(super) async fn create(
    engine: &Engine,
    name: Label,
    users: Vec<NewUser>,
    threshold: u32,
) -> Result<(quorate_common::ids::OrganizationId, Vec<quorate_core::model::User>), StartError> {
    let world = engine.executor.world();
    let mut failed = false;
    let mut entropy = |buffer: &mut [u8]| failed |= getrandom::fill(buffer).is_err();
    let (now, order) = clock::ordered();
    let mut runtime = Runtime { now, order, entropy: &mut entropy };
    let created = creation::organization(name, users, threshold, world.limits(), world.index(), &mut runtime);
    if failed {
        return Err(StartError::Other("the random source failed".to_owned()));
    }
    let CreatedOrganization { id, root_users, commit } = created.map_err(|error| start_error(&error))?;
    let committed = engine.executor.commit(commit).await;
    committed.map_err(|error| StartError::Other(error.to_string()))?;
    Ok((id, root_users))
}

fn root_user(text: &str) -> Result<NewUser, StartError> {
    let invalid = |why: &str| StartError::Usage(format!("--root-user {text}: {why}"));
    let (name, key) = text.split_once('=').ok_or_else(|| invalid("expected NAME=[CURVE:]KEY"))?;
    let (curve, key) = match key.split_once(':') {
        None => (ApiKeyCurve::P256, key),
        Some(("p256", key)) => (ApiKeyCurve::P256, key),
        Some(("secp256k1", key)) => (ApiKeyCurve::Secp256k1, key),
        Some(("ed25519", key)) => (ApiKeyCurve::Ed25519, key),
        Some(_) => return Err(invalid("unknown curve; use p256, secp256k1 or ed25519")),
    };
    StampKey::parse(curve, key).map_err(|error| invalid(&error.to_string()))?;
    let name = Label::parse(name.to_owned()).map_err(invalid)?;
    let key_name = Label::parse(format!("{name} first key")).map_err(invalid)?;
    Ok(new_user(name, None, key_name, curve, key.to_ascii_lowercase()))
}

/// Returns a user with one API key.
pub(super) fn new_user(
    name: Label,
    email: Option<Email>,
    key_name: Label,
    curve: ApiKeyCurve,
    public_key: String,
) -> NewUser {
    NewUser {
        api_keys: vec![NewApiKey { name: key_name, curve, public_key, expiration_seconds: None }],
        ..NewUser::new(name, email)
    }
}
