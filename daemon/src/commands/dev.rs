//! `quorated dev`: a throw-away organization on this machine. Says DEV everywhere and serves loopback only.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use quorate_common::bounded::{Email, Label};
use quorate_common::console::Mode;
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_core::limits::Limits;
use serde::{Deserialize, Serialize};
use tracing::level_filters::LevelFilter;
use zeroize::Zeroizing;

use super::credentials::{Credentials, RootUser};
use super::init::{found, new_user};
use super::{demo, stop_signal, write_private};
use crate::clock::now;
use crate::http::limits::{Limits as DoorLimits, RequestLimits};
use crate::outbox::{MailServer, MailSettings, Sender, WebhookPolicy};
use crate::service::{self, Data, Doors, Engine, HttpSettings, Outside, StartError};
use crate::source::Proxies;
use crate::telemetry::{self, LogFormat};
use crate::vault::KeySource;

/// Most root users of a dev organization.
const USERS: u32 = 20;
/// Remembers the organization and its keys between two starts on the same folder.
const MEMORY: &str = "dev.json";

/// Arguments of `quorated dev`.
#[derive(Debug, Args)]
pub struct DevArguments {
    /// Folder of the data; a second start on it continues. Without it a temporary one is used and removed
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Loopback address to serve the API on; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
    /// Path of the local socket [default: quorate.sock in the data folder]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Where to write how to reach the organization, when ready [default: credentials.json in the data folder]
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// How many root users the organization has
    #[arg(long, value_name = "N", default_value_t = 3)]
    users: u32,
    /// How many of them must agree
    #[arg(long, value_name = "K", default_value_t = 2)]
    threshold: u32,
    /// Leave the organization empty
    #[arg(long)]
    no_demo: bool,
    /// Mail server that takes invitations, without TLS; without it nobody can be invited
    #[arg(long, value_name = "smtp://HOST:PORT")]
    mail: Option<MailServer>,
    /// SMS service for flows that send codes, which this version does not have
    #[arg(long, value_name = "http://HOST:PORT")]
    sms: Option<String>,
}

/// What is remembered between two starts.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Memory {
    credentials: Credentials,
    /// Whether the demo is complete.
    demo: bool,
    /// When it was begun. Its requests bear times behind this one, so that a start that goes on with it sends
    /// the same bodies again, which run once only.
    begun: u64,
}

/// Serves until a signal ends it.
pub async fn run(arguments: DevArguments) -> Result<(), StartError> {
    let begun = Instant::now();
    check(&arguments)?;
    telemetry::start(LogFormat::Text, LevelFilter::INFO, true)
        .map_err(|error| StartError::Other(error.to_string()))?;
    let stop = stop_signal()?;
    let temporary = match arguments.data_dir {
        Some(_) => None,
        None => Some(temporary_folder()?),
    };
    let folder = arguments
        .data_dir
        .clone()
        .or_else(|| temporary.as_ref().map(|folder| folder.path().to_owned()))
        .unwrap_or_default();
    let outside = Outside {
        webhooks: WebhookPolicy::dev(),
        mail: arguments.mail.clone().map(mail).transpose()?,
        founders: true,
        ..Outside::default()
    };
    let data = Data::in_folder(folder.clone(), KeySource::File(folder.join("root.key")), true);
    let engine = service::open(&data, Limits::default(), &outside)?;
    let mut memory = remember(&engine, &arguments, &folder).await?;
    let socket = arguments.socket.clone().unwrap_or_else(|| folder.join("quorate.sock"));
    let credentials = arguments.credentials.clone().unwrap_or_else(|| folder.join("credentials.json"));
    // Whoever reads the credentials may stand in another folder.
    let absolute = std::path::absolute(&socket).map_err(|error| StartError::Other(error.to_string()))?;
    memory.credentials.socket = absolute.display().to_string();
    let doors = Doors {
        http: Some(HttpSettings {
            listen: arguments.listen,
            base_url: None,
            tls: None,
            limits: DoorLimits::default(),
            proxies: Proxies::default(),
        }),
        socket,
        group: None,
        requests: RequestLimits::default(),
        mode: Mode::Dev,
        outside,
    };
    service::serve(engine, doors, stop, |base_url| async move {
        memory.credentials.base_url = base_url.unwrap_or_default();
        write_private(&credentials, &json(&memory.credentials)?)?;
        tracing::info!(
            base_url = memory.credentials.base_url,
            socket = memory.credentials.socket,
            credentials = %credentials.display(),
            millis = begun.elapsed().as_millis(),
            "ready"
        );
        Ok(())
    })
    .await
}

fn check(arguments: &DevArguments) -> Result<(), StartError> {
    let wrong = |text: &str| Err(StartError::Other(text.to_owned()));
    if !arguments.listen.ip().is_loopback() {
        return wrong("dev mode serves loopback only: --listen must be a loopback address");
    }
    if !(1..=USERS).contains(&arguments.users) {
        return wrong("--users must be between 1 and 20");
    }
    if !(1..=arguments.users).contains(&arguments.threshold) {
        return wrong("--threshold must be between 1 and the number of users");
    }
    Ok(())
}

/// Mail of a throw-away organization, to a server beside it.
fn mail(server: MailServer) -> Result<MailSettings, StartError> {
    let sender = Sender::parse("Quorate DEV <quorate@localhost.localdomain>");
    let sender = sender.ok_or_else(|| StartError::Other("mail cannot be sent from here".to_owned()))?;
    Ok(MailSettings { server: server.plain(), sender, login: None })
}

fn temporary_folder() -> Result<tempfile::TempDir, StartError> {
    tempfile::Builder::new()
        .prefix("quorated-dev-")
        .tempdir()
        .map_err(|error| StartError::Other(format!("no temporary folder can be made: {error}")))
}

fn json<T: Serialize>(value: &T) -> Result<Zeroizing<Vec<u8>>, StartError> {
    let bytes = serde_json::to_vec_pretty(value).map_err(|error| StartError::Other(error.to_string()))?;
    Ok(Zeroizing::new(bytes))
}

/// The organization of an earlier start, or a new one.
async fn remember(engine: &Engine, arguments: &DevArguments, folder: &Path) -> Result<Memory, StartError> {
    let path = folder.join(MEMORY);
    let known = std::fs::read(&path).ok().map(Zeroizing::new);
    let known = known.and_then(|bytes| serde_json::from_slice::<Memory>(&bytes).ok());
    let mut memory = if let Some(memory) = known {
        memory
    } else {
        let credentials = new_organization(engine, arguments).await?;
        let memory = Memory { credentials, demo: false, begun: now() };
        write_private(&path, &json(&memory)?)?;
        memory
    };
    if !memory.demo && !arguments.no_demo {
        demo::furnish(&engine.turns, &memory.credentials, memory.begun).await?;
        memory.demo = true;
        write_private(&path, &json(&memory)?)?;
    }
    Ok(memory)
}

async fn new_organization(engine: &Engine, arguments: &DevArguments) -> Result<Credentials, StartError> {
    const NAMES: [&str; 6] = ["mira", "jo", "ana", "kenji", "sam", "lee"];
    let name = "acme-treasury";
    let mut secrets = Vec::new();
    let mut users = Vec::new();
    for number in 0..usize::try_from(arguments.users).unwrap_or(0) {
        let user = NAMES.get(number).map_or_else(|| format!("user{number}"), |name| (*name).to_owned());
        let (secret, public_key) = new_key()?;
        let email = format!("{user}@{name}.example");
        let flaw = |why: &str| StartError::Other(why.to_owned());
        let label = |text: String| Label::parse(text).map_err(flaw);
        users.push(new_user(
            label(user.clone())?,
            Some(Email::parse(email.clone()).map_err(flaw)?),
            label(format!("{user} dev key"))?,
            ApiKeyCurve::P256,
            public_key.clone(),
        ));
        secrets.push((user, email, secret, public_key));
    }
    let label = Label::parse(name.to_owned()).map_err(|why| StartError::Other(why.to_owned()))?;
    let (organization_id, made) = found(engine, label, users, arguments.threshold).await?;
    let root_users =
        made.iter().zip(secrets).filter_map(|(user, (user_name, user_email, private_key, public_key))| {
            let api_key_id = user.api_keys.first()?.id;
            Some(RootUser {
                user_id: user.id,
                user_name,
                user_email,
                api_key_id,
                public_key,
                private_key: private_key.to_string(),
            })
        });
    Ok(Credentials {
        base_url: String::new(),
        socket: String::new(),
        organization_id,
        organization_name: name.to_owned(),
        threshold: arguments.threshold,
        root_users: root_users.collect(),
        quorum_public_key: engine.identity.quorum_public_key(),
    })
}

/// A fresh P-256 key: private hex, public hex.
fn new_key() -> Result<(Zeroizing<String>, String), StartError> {
    loop {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(secret.as_mut_slice()).map_err(|error| StartError::Other(error.to_string()))?;
        // One draw in 2^32 is no scalar of the curve.
        if let Ok(stamper) = Stamper::new(ApiKeyCurve::P256, &secret) {
            let private = Zeroizing::new(const_hex::encode(secret.as_slice()));
            return Ok((private, stamper.public_key().to_owned()));
        }
    }
}
