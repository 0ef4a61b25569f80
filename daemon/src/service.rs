//! The daemon put together: store, vault, turns, doors, outbox; started in order, stopped in order.

use std::fs::File;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quorate_common::console::Mode;
use quorate_core::limits::Limits;
use quorate_core::policy::DenyErrors;
use quorate_core::refusal::Corrupt;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::barrier::Barrier;
use crate::clock;
use crate::console::{Console, Facts};
use crate::fail_points;
use crate::guard::{self, Guard, GuardError};
use crate::http::limits::{Limits as DoorLimits, RequestLimits};
use crate::http::{HttpDoor, Server};
use crate::identity::{Identity, IdentityError};
use crate::outbox::{MailSettings, Outbox, OutboxLimits, Postman, WebhookPolicy, WebhookUrl};
use crate::private_file::SecretFileError;
use crate::routes::Routes;
use crate::socket::{SocketDoor, SocketError};
use crate::source::Proxies;
use crate::store::{StoreError, embedded::Embedded};
use crate::sweeper;
use crate::telemetry::{Metrics, Readiness, SharedReadiness};
use crate::turn::{self, Shared, StoreState, Turns};
use crate::upgrade::{self, UpgradeError};
use crate::vault::{KeySource, Vault, VaultError};

/// The folder of the embedded store within the data folder.
const STORE: &str = "store";
/// The guard file within the data folder, where the configuration names no other.
pub const GUARD: &str = "guard";
/// Space that stays free on the file system of the store unless the configuration says otherwise, in MiB.
pub const RESERVE_MIB: u32 = 32;

/// For how long the records of the store are compared with their digest before requests are answered. Of a larger store
/// the rest is compared while they are.
const COMPARED_AT_START: Duration = Duration::from_millis(250);

/// By how much the system's clock may be behind before that is logged, in milliseconds.
const CLOCK_LAG: u64 = 2000;

/// Why the daemon does not start. Each kind has an exit code of its own.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The vault does not open.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store does not open.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store is not what was acknowledged.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// A record of the store cannot be read.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A check of the store found so many problems, which were printed.
    #[error("{0} problems were found; restore a backup")]
    Altered(usize),
    /// A store of an earlier version cannot be rewritten.
    #[error(transparent)]
    Upgrade(#[from] UpgradeError),
    /// The daemon's own keys cannot be had.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The local socket cannot be served.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// A file with a secret cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretFileError),
    /// The HTTP address cannot be served.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
    /// Anything else at the start.
    #[error("{0}")]
    Other(String),
}

impl StartError {
    /// The exit code of the program: 3 the store is missing, or a file or folder cannot be used, such as on a full
    /// disk, 4 the key is missing, 5 the key is wrong, or it or another secret is open to others, 6 the folder is in
    /// use, 7 the store is damaged, 8 an address or socket is in use, 9 the store is not what was acknowledged, 1
    /// anything else.
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Vault(error) => match error {
                VaultError::MissingKey { .. } => 4,
                VaultError::KeyTooOpen(..)
                | VaultError::NotAKey(_)
                | VaultError::WrongKey(_)
                | VaultError::OtherKind(..) => 5,
                VaultError::NoStore(_) | VaultError::NoKeyFolder(_) | VaultError::System { .. } => 3,
                VaultError::NoHeader(_) | VaultError::Header(_) => 7,
            },
            Self::Secret(SecretFileError::TooOpen(..)) => 5,
            Self::Secret(SecretFileError::Read { .. }) | Self::Other(_) => 1,
            Self::Store(error)
            | Self::Guard(GuardError::Store(error))
            | Self::Upgrade(UpgradeError::Store(error))
            | Self::Identity(IdentityError::Store(error)) => match error {
                StoreError::InUse(_) => 6,
                StoreError::Full { .. } | StoreError::System { .. } => 3,
                _ => 7,
            },
            Self::Guard(error) => match error {
                GuardError::Corrupt(_) => 7,
                GuardError::System { .. } | GuardError::NoFolder(_) => 3,
                _ => 9,
            },
            Self::Upgrade(UpgradeError::System { .. }) => 3,
            Self::Corrupt(_) | Self::Altered(_) | Self::Upgrade(_) | Self::Identity(_) => 7,
            Self::Socket(_) | Self::Listen { .. } => 8,
        }
    }
}

/// The part of a daemon that needs no door: enough to found organizations.
pub struct Engine {
    /// Takes requests.
    pub turns: Arc<Turns>,
    /// The daemon's own keys.
    pub identity: Identity,
}

/// Where the data is and what opens it.
pub struct Data {
    /// The data folder.
    pub folder: PathBuf,
    /// The root key.
    pub key: KeySource,
    /// Whether a missing store is created.
    pub create: bool,
    /// The guard file.
    pub guard: PathBuf,
    /// Space that stays free on the file system of the store, in bytes.
    pub reserve: u64,
}

impl Data {
    /// Data in a folder with the guard file in it.
    pub fn in_folder(folder: PathBuf, key: KeySource, create: bool) -> Self {
        let guard = folder.join(GUARD);
        Self { folder, key, create, guard, reserve: u64::from(RESERVE_MIB) * 1024 * 1024 }
    }
}

/// What the daemon may do to the world outside, and how.
#[derive(Default)]
pub struct Outside {
    /// Which webhooks may be called.
    pub webhooks: WebhookPolicy,
    /// How mail is sent, if it is.
    pub mail: Option<MailSettings>,
    /// Whether anybody may found an organization.
    pub founders: bool,
    /// What becomes of denying policies that fail.
    pub deny_errors: DenyErrors,
    /// How much one organization may have in the outbox.
    pub outbox: OutboxLimits,
}

/// Opens the data and starts the committer.
///
/// # Errors
/// When the store does not open, is not what its guard has seen, or cannot be written.
pub fn open(data: &Data, limits: Limits, outside: &Outside) -> Result<Engine, StartError> {
    let barrier = open_store(data)?;
    fail_points::reach("start.guard");
    guard::check(&data.guard, &barrier)?;
    fail_points::reach("start.identity");
    // Without the guard, which notices what comes past it.
    let identity =
        if guard::has_mark(&barrier)? { Identity::open(&barrier)? } else { Identity::make(&barrier)? };
    let (guard, newest) = Guard::open(&data.guard, &barrier, clock::now())?;
    clock::start_from(newest);
    fail_points::reach("start.compare");
    guard.compare_for(&barrier, COMPARED_AT_START)?;
    let policy = outside.webhooks.clone();
    let webhooks = Box::new(move |url: &str| WebhookUrl::check(url, &policy).map(drop));
    let outside = turn::Outside {
        webhooks,
        mail: outside.mail.is_some(),
        founders: outside.founders,
        deny_errors: outside.deny_errors,
    };
    let shared = Arc::new(Shared::new(barrier, guard, identity.clone(), limits, outside));
    Ok(Engine { turns: Arc::new(Turns::start(shared)), identity })
}

/// Opens store and vault, and nothing that writes to them, unless the store is new or of an earlier version.
///
/// # Errors
/// When one of them does not open.
pub fn open_store(data: &Data) -> Result<Barrier, StartError> {
    let folder = &data.folder;
    let fresh = !Vault::exists(folder)?;
    if fresh {
        demand_unused(data)?;
    }
    fail_points::reach("start.folder");
    make_private(folder)?;
    let _opening = opening(folder)?;
    let place = folder.join(STORE);
    upgrade::finish(&place)?;
    // The store is locked first, so that a second daemon is told so, whatever its key.
    fail_points::reach("start.store");
    let store = Arc::new(if fresh {
        Embedded::create(&place, data.reserve)?
    } else if data.guard.exists() {
        Embedded::open_guarded(&place, data.reserve)?
    } else {
        Embedded::open(&place, data.reserve)?
    });
    fail_points::reach("start.vault");
    let vault = if fresh { Vault::create(folder, &data.key)? } else { Vault::open(folder, &data.key)? };
    store.begin()?;
    let barrier = Barrier::new(store, vault);
    if fresh || guard::has_mark(&barrier)? {
        return Ok(barrier);
    }
    let barrier = if upgrade::is_needed(&place, &barrier)? {
        let vault = Vault::open(folder, &data.key)?;
        upgrade::rewrite(&place, barrier, vault, data.reserve)?;
        let store = Arc::new(Embedded::open_again(&place, data.reserve)?);
        Barrier::new(store, Vault::open(folder, &data.key)?)
    } else {
        barrier
    };
    upgrade::seal_contents(&barrier)?;
    Ok(barrier)
}

/// Fails unless a store may be created in a folder without a header. A header or a key beside records of another one
/// would make them unreadable for ever.
fn demand_unused(data: &Data) -> Result<(), StartError> {
    let folder = &data.folder;
    let place = folder.join(STORE);
    if !Embedded::is_unused(&place)? || !Embedded::is_unused(&upgrade::replaced(&place))? {
        return Err(VaultError::NoHeader(folder.clone()).into());
    }
    if !data.create {
        return Err(VaultError::NoStore(folder.clone()).into());
    }
    Vault::check_new(folder, &data.key)?;
    guard::check_new(&data.guard, folder)?;
    Ok(())
}

/// Locks the data folder while its store is opened: two first starts must not create it at once. Later the store has a lock
/// of its own.
fn opening(folder: &Path) -> Result<File, StartError> {
    let failed =
        |source| VaultError::System { doing: "locking the data folder", path: folder.to_owned(), source };
    let handle = File::open(folder).map_err(failed)?;
    match rustix::fs::flock(&handle, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(handle),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(StoreError::InUse(folder.display().to_string()).into()),
        Err(error) => Err(failed(error.into()).into()),
    }
}

/// Creates the data folder for its owner only.
fn make_private(folder: &PathBuf) -> Result<(), StartError> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let doing = "creating the data folder";
    made.map_err(|source| VaultError::System { doing, path: folder.clone(), source }.into())
}

/// How the HTTP door is served.
pub struct HttpSettings {
    /// Where to listen; port 0 picks a free one.
    pub listen: SocketAddr,
    /// Address that clients use, if it is not the one listened on.
    pub base_url: Option<String>,
    /// Certificate and key.
    pub tls: Option<TlsAcceptor>,
    /// Limits.
    pub limits: DoorLimits,
    /// Proxies that are believed where a request came from.
    pub proxies: Proxies,
}

/// How the doors are served.
pub struct Doors {
    /// The HTTP door, if there is one.
    pub http: Option<HttpSettings>,
    /// Path of the local socket.
    pub socket: PathBuf,
    /// Group that may connect beside the owner.
    pub group: Option<u32>,
    /// What requests may take of the daemon at once.
    pub requests: RequestLimits,
    /// How the daemon was started.
    pub mode: Mode,
    /// What the daemon may do to the world outside.
    pub outside: Outside,
}

/// Serves until `stop`. `ready` runs when both doors accept, with the address that clients use.
pub async fn serve<F, R>(
    engine: Engine,
    doors: Doors,
    stop: CancellationToken,
    ready: F,
) -> Result<(), StartError>
where
    F: FnOnce(Option<String>) -> R,
    R: Future<Output = Result<(), StartError>>,
{
    let Doors { http, socket, group, requests, mode, outside } = doors;
    let socket = SocketDoor::bind(&socket, group, DoorLimits::socket()).await?;
    let proxies = http.as_ref().map(|settings| settings.proxies.clone()).unwrap_or_default();
    let (http, base_url) = match http {
        None => (None, None),
        Some(settings) => {
            let (door, base_url) = bind(settings).await?;
            (Some(door), Some(base_url))
        }
    };
    if !engine.turns.world().keys_are_locked() {
        tracing::warn!(
            "the limit of locked memory lets the system swap opened keys; raise it (LimitMEMLOCK)"
        );
    }
    let metrics = Metrics::new();
    let readiness = SharedReadiness::default();
    let facts = Facts { mode, base_url: base_url.clone(), identity: engine.identity.clone() };
    let console = Console::new(Arc::clone(&engine.turns), facts);
    let routes = Arc::new(Routes::new(Arc::clone(&engine.turns), console, proxies.clone()));
    let server = Server::new(routes, metrics.clone(), readiness.clone(), proxies, &requests);
    let outbox = Outbox::new(
        Arc::clone(&engine.turns),
        engine.identity.clone(),
        &outside.webhooks,
        outside.outbox,
        metrics.clone(),
    );
    let outbox = tokio::spawn(outbox.run(stop.clone()));
    let postman = outside.mail.map(|mail| Postman::new(Arc::clone(&engine.turns), mail, metrics.clone()));
    let postman = postman.transpose().map_err(StartError::Other)?;
    let postman = postman.map(|postman| tokio::spawn(postman.run(stop.clone())));
    let sweeper = tokio::spawn(sweeper::run(Arc::clone(&engine.turns), stop.clone()));
    let watch = tokio::spawn(watch(Arc::clone(&engine.turns), metrics, readiness.clone(), stop.clone()));
    let socket = tokio::spawn(socket.run(server.clone(), stop.clone()));
    let http = http.map(|door| tokio::spawn(door.run(server, stop.clone())));
    fail_points::reach("start.serve");
    readiness.set(Readiness::Ready);
    let started = ready(base_url).await;
    if started.is_err() {
        stop.cancel();
    }
    // A task that panicked has said so in the log.
    if let Some(http) = http {
        let _ = http.await;
    }
    let _ = socket.await;
    let _ = outbox.await;
    if let Some(postman) = postman {
        let _ = postman.await;
    }
    let _ = sweeper.await;
    let _ = watch.await;
    started
}

async fn bind(settings: HttpSettings) -> Result<(HttpDoor, String), StartError> {
    let HttpSettings { listen, base_url, tls, limits, .. } = settings;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let failed = |source| StartError::Listen { address: listen, source };
    let door = HttpDoor::bind(listen, tls, limits).await.map_err(failed)?;
    let address = door.local_address().map_err(failed)?;
    Ok((door, base_url.unwrap_or_else(|| format!("{scheme}://{address}"))))
}

/// Keeps metrics and readiness true.
async fn watch(turns: Arc<Turns>, metrics: Metrics, readiness: SharedReadiness, stop: CancellationToken) {
    let mut before = turns.figures();
    let mut clock_lags = false;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    while !stop.is_cancelled() {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = ticks.tick() => {}
            () = turns.world().store_state.notified() => {}
        }
        let figures = turns.figures();
        metrics.committed(figures.commits.saturating_sub(before.commits));
        for _ in before.groups..figures.groups {
            metrics.synced();
        }
        before = figures;
        let state = match turns.store_state() {
            StoreState::Ready => Readiness::Ready,
            StoreState::Full { .. } => Readiness::StoreFull,
            StoreState::Failed { guard_only: true, .. } => Readiness::GuardFailed,
            StoreState::Failed { .. } => Readiness::StoreFailed,
            StoreState::Altered { .. } => Readiness::StoreAltered,
        };
        readiness.set(state);
        metrics.store_is_ready(state == Readiness::Ready);
        turns.world().keep_time();
        let lag = clock::behind();
        metrics.clock_is_behind(lag);
        if lag > CLOCK_LAG && !clock_lags {
            tracing::warn!(
                millis = lag,
                "the system's clock is behind the newest time ever seen, which holds"
            );
        }
        clock_lags = lag > CLOCK_LAG;
    }
    turns.world().keep_time();
    readiness.set(Readiness::Stopping);
}
