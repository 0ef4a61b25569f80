//! `quorated dev`: a throwaway organization on this machine. The console shows DEV, and the API listens on
//! loopback only.

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
use super::init::{create, new_user};
use super::{demo, stop_signal, write_private};
use crate::barrier::KEY_CLASSES;
use crate::clock::now;
use crate::http::limits::{Limits as ListenerLimits, RequestLimits};
use crate::issuers::OidcSettings;
use crate::outbox::sms::{Gateway, GatewayUrl, Preset};
use crate::outbox::{MailServer, MailSettings, Sender, SmsSettings};
use crate::outgoing::ReceiverPolicy;
use crate::pages::PagesSettings;
use crate::service::{self, Data, HttpSettings, Listeners, Listening, ServiceSettings, StartError};
use crate::source::Proxies;
use crate::store::engine::Engine;
use crate::store::postgres::{DatabaseSettings, DatabaseUrl};
use crate::telemetry::{self, LogFormat};
use crate::vault::{Header, KeySource};

/// Maximum number of root users of a dev organization.
const USERS: u32 = 20;
/// File that keeps the organization and its keys between two starts with the same data directory.
const STATE_FILE: &str = "dev.json";

/// Arguments of `quorated dev`.
#[derive(Debug, Args)]
pub struct DevArguments {
    /// Data directory, which a later start continues with; without it, a temporary one is used and removed
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Loopback address of the API; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,
    /// Path of the local socket [default: `$XDG_RUNTIME_DIR/quorate/quorated.sock`, which `quorate` uses by itself, or
    /// quorate.sock in the data directory if there is no such variable]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// File for the addresses, ids and private keys, written when ready [default: credentials.json in the
    /// data directory]
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Engine of a new store [default: sled]
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    /// Database of a store on PostgreSQL, without a password
    #[arg(long, value_name = "URL", requires = "engine")]
    database: Option<DatabaseUrl>,
    /// Number of root users
    #[arg(long, value_name = "N", default_value_t = 3)]
    users: u32,
    /// Number of root users who must approve
    #[arg(long, value_name = "K", default_value_t = 2)]
    threshold: u32,
    /// Create no demo contents
    #[arg(long)]
    no_demo: bool,
    /// Mail server for invitations, used without TLS; without it, nobody can be invited
    #[arg(long, value_name = "smtp://HOST:PORT")]
    mail: Option<MailServer>,
    /// SMS gateway that accepts the requests of Twilio; without it, no SMS is sent
    #[arg(long, value_name = "http://HOST:PORT")]
    sms: Option<String>,
    /// Serve the pages on which people accept invitations and approve with passkeys, at http://localhost:PORT/pages/
    #[arg(long)]
    pages: bool,
}

/// State that is kept between two starts.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DevState {
    credentials: Credentials,
    /// Whether the demo contents are complete.
    demo: bool,
    /// Start of their creation, in milliseconds since 1970. The requests carry the times that follow it. A
    /// later start that continues therefore sends the same bodies, which are executed only once.
    begun: u64,
}

/// Returns the settings of the database at a URL.
fn database_at(url: DatabaseUrl) -> DatabaseSettings {
    let (classes, is_same_store) = (KEY_CLASSES, Header::are_of_same_store);
    DatabaseSettings { url, ca_file: None, password_file: None, classes, is_same_store }
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// Returns an error if an argument is invalid, the store cannot be opened, or a listener cannot be started.
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
    let settings = ServiceSettings {
        is_dev: true,
        webhooks: ReceiverPolicy::dev(),
        oidc: OidcSettings { receivers: ReceiverPolicy::dev(), ..OidcSettings::default() },
        mail: arguments.mail.clone().map(mail).transpose()?,
        sms: arguments.sms.as_deref().map(sms).transpose()?,
        pages: arguments.pages.then(|| PagesSettings {
            url: None,
            relying_party_id: "localhost".to_owned(),
            allow_high: false,
        }),
        allow_registration: true,
        ..ServiceSettings::default()
    };
    let data = Data::in_folder(folder.clone(), KeySource::File(folder.join("root.key")), true);
    let database = arguments.database.clone().map(database_at);
    let data = Data { engine: arguments.engine, database, ..data };
    let engine = service::open(&data, Limits::default(), &settings)?;
    let mut state = load_or_create(&engine, &arguments, &folder).await?;
    let socket = arguments.socket.clone().unwrap_or_else(|| default_socket(&folder));
    let credentials = arguments.credentials.clone().unwrap_or_else(|| folder.join("credentials.json"));
    // The reader of the credentials may run in another directory.
    let absolute = std::path::absolute(&socket).map_err(|error| StartError::Other(error.to_string()))?;
    state.credentials.socket = absolute.display().to_string();
    let listeners = Listeners {
        http: Some(HttpSettings {
            listen: arguments.listen,
            base_url: None,
            tls: None,
            limits: ListenerLimits::default(),
            proxies: Proxies::default(),
        }),
        socket,
        group: None,
        requests: RequestLimits::default(),
        mode: Mode::Dev,
        seal_check: None,
        settings,
    };
    let listening = Listening::bind(listeners).await?;
    let served = service::serve(engine, listening, stop, |base_url| async move {
        state.credentials.base_url = base_url.unwrap_or_default();
        write_private(&credentials, &json(&state.credentials)?)?;
        tracing::info!(
            base_url = state.credentials.base_url,
            socket = state.credentials.socket,
            credentials = %credentials.display(),
            millis = begun.elapsed().as_millis(),
            "ready"
        );
        Ok(())
    });
    served.await.map(drop)
}

fn check(arguments: &DevArguments) -> Result<(), StartError> {
    let wrong = |text: &str| Err(StartError::Usage(text.to_owned()));
    if !arguments.listen.ip().is_loopback() {
        return wrong("dev mode serves loopback only: --listen must be a loopback address");
    }
    if !(1..=USERS).contains(&arguments.users) {
        return wrong("--users must be between 1 and 20");
    }
    if !(1..=arguments.users).contains(&arguments.threshold) {
        return wrong("--threshold must be between 1 and the number of users");
    }
    if arguments.database.is_some() != (arguments.engine == Some(Engine::Postgres)) {
        return wrong("--engine postgres and --database must be given together");
    }
    Ok(())
}

/// Returns the SMS settings of a dev organization. The gateway gets a login that it does not need to check.
fn sms(gateway: &str) -> Result<SmsSettings, StartError> {
    const USERNAME: &str = "AC00000000000000000000000000000000";
    let wrong = |reason: &str| StartError::Usage(format!("--sms: the URL {reason}"));
    let path = "/2010-04-01/Accounts/{username}/Messages.json";
    let url =
        GatewayUrl::parse(&format!("{}{path}", gateway.trim_end_matches('/')), USERNAME).map_err(wrong)?;
    let (username, from) = (USERNAME.to_owned(), "+15005550006".to_owned());
    let gateway = Gateway { from, username, ..Gateway::new(Preset::Twilio, url) };
    Ok(SmsSettings { gateway, secret: Some(Zeroizing::new("dev".to_owned())), prefixes: Vec::new() })
}

/// Returns the mail settings of a dev organization. The server is on this machine and used without TLS.
fn mail(server: MailServer) -> Result<MailSettings, StartError> {
    let sender = Sender::parse("Quorate DEV <quorate@localhost.localdomain>");
    let sender = sender.ok_or_else(|| StartError::Other("mail: the sender address is invalid".to_owned()))?;
    Ok(MailSettings {
        server: server.plain(),
        sender,
        domains: Vec::new(),
        child_branding: false,
        login: None,
    })
}

/// Returns the path of the socket that the console of this user uses by default, if the system has a folder for it.
fn default_socket(folder: &Path) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    runtime.map_or_else(|| folder.join("quorate.sock"), |runtime| runtime.join("quorate/quorated.sock"))
}

fn temporary_folder() -> Result<tempfile::TempDir, StartError> {
    tempfile::Builder::new()
        .prefix("quorated-dev-")
        .tempdir()
        .map_err(|error| StartError::Other(format!("cannot create a temporary directory: {error}")))
}

fn json<T: Serialize>(value: &T) -> Result<Zeroizing<Vec<u8>>, StartError> {
    let bytes = serde_json::to_vec_pretty(value).map_err(|error| StartError::Other(error.to_string()))?;
    Ok(Zeroizing::new(bytes))
}

/// Returns the organization of an earlier start, or creates one.
async fn load_or_create(
    engine: &service::Engine,
    arguments: &DevArguments,
    folder: &Path,
) -> Result<DevState, StartError> {
    let path = folder.join(STATE_FILE);
    let known = std::fs::read(&path).ok().map(Zeroizing::new);
    let known = known.and_then(|bytes| serde_json::from_slice::<DevState>(&bytes).ok());
    let mut state = if let Some(state) = known {
        state
    } else {
        let credentials = new_organization(engine, arguments).await?;
        let state = DevState { credentials, demo: false, begun: now() };
        write_private(&path, &json(&state)?)?;
        state
    };
    if !state.demo && !arguments.no_demo {
        demo::populate(&engine.executor, &state.credentials, state.begun).await?;
        state.demo = true;
        write_private(&path, &json(&state)?)?;
    }
    Ok(state)
}

async fn new_organization(
    engine: &service::Engine,
    arguments: &DevArguments,
) -> Result<Credentials, StartError> {
    const NAMES: [&str; 6] = ["mira", "jo", "ana", "kenji", "sam", "lee"];
    let name = "acme-treasury";
    let mut secrets = Vec::new();
    let mut users = Vec::new();
    for number in 0..usize::try_from(arguments.users).unwrap_or(0) {
        let user = NAMES.get(number).map_or_else(|| format!("user{number}"), |name| (*name).to_owned());
        let (secret, public_key) = new_key()?;
        let email = format!("{user}@{name}.example");
        let error = |why: &str| StartError::Other(why.to_owned());
        let label = |text: String| Label::parse(text).map_err(error);
        users.push(new_user(
            label(user.clone())?,
            Some(Email::parse(email.clone()).map_err(error)?),
            label(format!("{user} dev key"))?,
            ApiKeyCurve::P256,
            public_key.clone(),
        ));
        secrets.push((user, email, secret, public_key));
    }
    let label = Label::parse(name.to_owned()).map_err(|why| StartError::Other(why.to_owned()))?;
    let (organization_id, created) = create(engine, label, users, arguments.threshold).await?;
    let root_users =
        created.iter().zip(secrets).filter_map(|(user, (user_name, user_email, private_key, public_key))| {
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

/// Creates a P-256 key pair; returns the private and the public key in hex.
fn new_key() -> Result<(Zeroizing<String>, String), StartError> {
    loop {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(secret.as_mut_slice()).map_err(|error| StartError::Other(error.to_string()))?;
        // One draw in 2^32 is not a valid private key of the curve.
        if let Ok(stamper) = Stamper::new(ApiKeyCurve::P256, &secret) {
            let private = Zeroizing::new(const_hex::encode(secret.as_slice()));
            return Ok((private, stamper.public_key().to_owned()));
        }
    }
}
