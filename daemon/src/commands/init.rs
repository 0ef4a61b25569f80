//! `quorated init`: the first organization, made by whoever runs the daemon, before anybody can call it.

use std::path::PathBuf;

use clap::Args;
use quorate_common::bounded::{Email, Label};
use quorate_common::console::PAGE_LIMIT;
use quorate_common::stamp::{ApiKeyCurve, StampKey};
use quorate_core::founding::{self, Founded};
use quorate_core::operator;
use quorate_core::params::{NewApiKey, NewUser};
use quorate_core::refusal::Refusal;
use quorate_core::world::{Moment, World};
use serde_json::{Value, json};

use super::serve::{data, read};
use crate::clock;
use crate::service::{self, Engine, Outside, StartError};

/// Arguments of `quorated init`.
#[derive(Debug, Args)]
pub struct InitArguments {
    /// Configuration file (TOML); names the store and the key, which are created if they are missing
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Name of the organization
    #[arg(long)]
    name: String,
    /// How many root users must agree
    #[arg(long, default_value_t = 1)]
    threshold: u32,
    /// A root user and the public key in hex; p256 unless another curve stands before it. Repeat it for each
    #[arg(long = "root-user", value_name = "NAME=[CURVE:]KEY", required = true)]
    root_users: Vec<String>,
    /// Create the organization even if the store has one of this name
    #[arg(long)]
    another: bool,
}

/// Founds the organization and prints what was made, as JSON.
pub async fn run(arguments: InitArguments) -> Result<(), StartError> {
    let wrong = |text: String| StartError::Other(text);
    let name = Label::parse(arguments.name).map_err(|why| wrong(format!("--name {why}")))?;
    let users = arguments.root_users.iter().map(|text| root_user(text)).collect::<Result<Vec<_>, _>>()?;
    founding::check_threshold(arguments.threshold, users.len()).map_err(|refusal| refused(&refusal))?;
    let config = read(&arguments.config)?;
    let engine = service::open(&data(&config, true)?, config.limits.resources.clone(), &Outside::default())?;
    if !arguments.another && is_taken(&engine, &name)? {
        let text =
            format!("the store has an organization named \"{name}\"; pass --another to create one more");
        return Err(wrong(text));
    }
    let founded = found(&engine, name, users, arguments.threshold).await?;
    let users: Vec<_> = founded
        .1
        .iter()
        .map(|user| json!({"userId": user.id, "userName": user.name, "apiKeyId": user.api_keys.first().map(|key| key.id)}))
        .collect();
    let mut answer = json!({
        "organizationId": founded.0,
        "threshold": arguments.threshold,
        "rootUsers": users,
    });
    if let (Value::Object(answer), Value::Object(keys)) = (&mut answer, engine.identity.quorum_keys()) {
        answer.extend(keys);
    }
    super::print(&format!("{answer:#}"))
}

/// Turns a refusal of the core into the error of the command.
fn refused(refusal: &Refusal) -> StartError {
    StartError::Other(refusal.fault().message)
}

/// Whether an organization without a parent has this name.
fn is_taken(engine: &Engine, name: &Label) -> Result<bool, StartError> {
    let mut after = None;
    loop {
        let page = operator::organizations(engine.turns.world().as_ref(), None, after, PAGE_LIMIT)
            .map_err(|refusal| StartError::Other(refusal.fault().message))?;
        if page.organizations.iter().any(|organization| organization.organization_name == name.as_str()) {
            return Ok(true);
        }
        let Some(next) = page.next else { return Ok(false) };
        after = Some(next);
    }
}

/// Founds an organization and makes it durable.
pub(super) async fn found(
    engine: &Engine,
    name: Label,
    users: Vec<NewUser>,
    threshold: u32,
) -> Result<(quorate_common::ids::OrganizationId, Vec<quorate_core::model::User>), StartError> {
    let world = engine.turns.world();
    let mut broken = false;
    let mut entropy = |buffer: &mut [u8]| broken |= getrandom::fill(buffer).is_err();
    let (now, order) = clock::ordered();
    let mut moment = Moment { now, order, entropy: &mut entropy };
    let founded = founding::organization(name, users, threshold, world.limits(), world.index(), &mut moment);
    if broken {
        return Err(StartError::Other("the random source does not answer".to_owned()));
    }
    let Founded { id, root_users, commit } = founded.map_err(|refusal| refused(&refusal))?;
    let committed = engine.turns.commit(commit).await;
    committed.map_err(|error| StartError::Other(error.to_string()))?;
    Ok((id, root_users))
}

fn root_user(text: &str) -> Result<NewUser, StartError> {
    let wrong = |why: &str| StartError::Other(format!("--root-user {text}: {why}"));
    let (name, key) = text.split_once('=').ok_or_else(|| wrong("expected NAME=PUBLIC_KEY"))?;
    let (curve, key) = match key.split_once(':') {
        None => (ApiKeyCurve::P256, key),
        Some(("p256", key)) => (ApiKeyCurve::P256, key),
        Some(("secp256k1", key)) => (ApiKeyCurve::Secp256k1, key),
        Some(("ed25519", key)) => (ApiKeyCurve::Ed25519, key),
        Some(_) => return Err(wrong("unknown curve")),
    };
    StampKey::parse(curve, key).map_err(|error| wrong(&error.to_string()))?;
    let name = Label::parse(name.to_owned()).map_err(wrong)?;
    let key_name = Label::parse(format!("{name} first key")).map_err(wrong)?;
    Ok(new_user(name, None, key_name, curve, key.to_ascii_lowercase()))
}

/// A user with one API key.
pub(super) fn new_user(
    name: Label,
    email: Option<Email>,
    key_name: Label,
    curve: ApiKeyCurve,
    public_key: String,
) -> NewUser {
    NewUser {
        name,
        email,
        phone: None,
        api_keys: vec![NewApiKey { name: key_name, curve, public_key, expiration_seconds: None }],
        authenticators: Vec::new(),
        oauth_providers: Vec::new(),
        tags: Vec::new(),
    }
}
