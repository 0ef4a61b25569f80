//! Assembly of the daemon: store, vault, executor, listeners and outbox, started and stopped in order.

use std::fs::File;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quorate_common::console::Mode;
use quorate_core::error::Corrupt;
use quorate_core::limits::Limits;
use quorate_core::policy::DenyErrors;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::barrier::Barrier;
use crate::cleanup;
use crate::clock;
use crate::console::{Console, Facts};
use crate::executor::{self, Executor, Shared, StoreState};
use crate::fail_points;
use crate::guard::{self, Guard, GuardError};
use crate::http::limits::{Limits as ListenerLimits, RequestLimits};
use crate::http::{HttpListener, Server};
use crate::identity::{Identity, IdentityError};
use crate::outbox::{MailSettings, Mailer, Outbox, OutboxLimits, WebhookPolicy, WebhookUrl};
use crate::private_file::SecretFileError;
use crate::routes::Routes;
use crate::socket::{SocketError, SocketListener};
use crate::source::Proxies;
use crate::store::{StoreError, embedded::Embedded};
use crate::telemetry::{Metrics, Readiness, SharedReadiness};
use crate::upgrade::{self, UpgradeError};
use crate::vault::{KeySource, Vault, VaultError};

/// Subdirectory of the embedded store in the data directory.
const STORE: &str = "store";
/// Default name of the guard file in the data directory.
pub const GUARD: &str = "guard";
/// Default of `reserve_mib`, in MiB.
pub const RESERVE_MIB: u32 = 32;

/// How long the records of the store are compared with their digest before requests are answered. The rest of
/// a larger store is compared in the background.
const COMPARED_AT_START: Duration = Duration::from_millis(250);

/// Lag of the system clock above which a warning is logged, in milliseconds.
const CLOCK_LAG: u64 = 2000;

/// An error that prevents the start. [`Self::exit_code`] maps each kind to an exit code.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The vault cannot be opened.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store does not match what was acknowledged.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// A record of the store cannot be read.
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    /// A check of the store found this number of problems, which were printed.
    #[error("problems found in the store: {0}; restore a backup")]
    Altered(usize),
    /// None of this number of organizations can be read.
    #[error(
        "nothing would be kept: organizations in the store: {0}, of which none can be read; restore a backup"
    )]
    Unreadable(u64),
    /// A store of an earlier version cannot be rewritten.
    #[error(transparent)]
    Upgrade(#[from] UpgradeError),
    /// The daemon's own keys cannot be loaded.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The local socket cannot be served.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// A file with a secret cannot be used.
    #[error(transparent)]
    Secret(#[from] SecretFileError),
    /// The HTTP listener cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Address to listen on.
        address: SocketAddr,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
    /// Any other error during the start.
    #[error("{0}")]
    Other(String),
}

impl StartError {
    /// Returns the exit code of the program.
    ///
    /// - 1: any other error
    /// - 3: the store is missing, or a file or directory cannot be used, for example on a full disk
    /// - 4: the key is missing
    /// - 5: the key is wrong, or it or another secret is accessible to other users
    /// - 6: the data directory is in use
    /// - 7: the store is damaged
    /// - 8: an address or socket is in use
    /// - 9: the store does not match what was acknowledged
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Vault(error) => match error {
                VaultError::MissingKey { .. } => 4,
                VaultError::KeyTooOpen(..)
                | VaultError::NotAKey(_)
                | VaultError::WrongKey(_)
                | VaultError::OtherKind(..) => 5,
                VaultError::NoStore(_) | VaultError::NoKeyDirectory(_) | VaultError::System { .. } => 3,
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
                GuardError::System { .. } | GuardError::NoDirectory(_) => 3,
                _ => 9,
            },
            Self::Upgrade(UpgradeError::System { .. }) => 3,
            Self::Corrupt(_)
            | Self::Altered(_)
            | Self::Unreadable(_)
            | Self::Upgrade(_)
            | Self::Identity(_) => 7,
            Self::Socket(_) | Self::Listen { .. } => 8,
        }
    }
}

/// The part of a daemon without listeners, which is enough to create organizations.
pub struct Engine {
    /// Executor of requests.
    pub executor: Arc<Executor>,
    /// Keys of the daemon.
    pub identity: Identity,
}

/// Location of the data and source of its root key.
pub struct Data {
    /// Data directory.
    pub folder: PathBuf,
    /// Source of the root key.
    pub key: KeySource,
    /// Whether a missing store is created.
    pub create: bool,
    /// Path of the guard file.
    pub guard: PathBuf,
    /// Space that stays free on the file system of the store, in bytes.
    pub reserve: u64,
}

impl Data {
    /// Returns data in a directory that also contains the guard file.
    pub fn in_folder(folder: PathBuf, key: KeySource, create: bool) -> Self {
        let guard = folder.join(GUARD);
        Self { folder, key, create, guard, reserve: u64::from(RESERVE_MIB) * 1024 * 1024 }
    }
}

/// Settings of the service behind the listeners.
#[derive(Default)]
pub struct ServiceSettings {
    /// Webhook receivers that may be reached.
    pub webhooks: WebhookPolicy,
    /// Mail settings; `None` if no mail is sent.
    pub mail: Option<MailSettings>,
    /// Whether any client may create an organization.
    pub allow_organizations: bool,
    /// Effect of deny policies whose evaluation fails.
    pub deny_errors: DenyErrors,
    /// Limits of one organization's share of the outbox.
    pub outbox: OutboxLimits,
}

/// Opens the data and starts the committer.
///
/// # Errors
/// Returns an error if the store cannot be opened or written, or does not match its guard file.
pub fn open(data: &Data, limits: Limits, settings: &ServiceSettings) -> Result<Engine, StartError> {
    let barrier = open_store(data)?;
    fail_points::reach("start.guard");
    guard::check(&data.guard, &barrier)?;
    fail_points::reach("start.identity");
    // The keys are created before the guard is opened, which would detect this write as one that bypasses it.
    let identity = if guard::has_mark(&barrier)? {
        Identity::open(&barrier)?
    } else {
        Identity::load_or_create(&barrier)?
    };
    let (guard, newest) = Guard::open(&data.guard, &barrier, clock::now())?;
    clock::start_from(newest);
    fail_points::reach("start.compare");
    guard.compare_for(&barrier, COMPARED_AT_START)?;
    let policy = settings.webhooks.clone();
    let webhooks = Box::new(move |url: &str| WebhookUrl::check(url, &policy).map(drop));
    let world_settings = executor::WorldSettings {
        webhooks,
        mail: settings.mail.is_some(),
        allow_organizations: settings.allow_organizations,
        deny_errors: settings.deny_errors,
    };
    let shared = Arc::new(Shared::new(barrier, guard, identity.clone(), limits, world_settings));
    Ok(Engine { executor: Arc::new(Executor::start(shared)), identity })
}

/// Opens store and vault. Writes to them only if the store is new or of an earlier version.
///
/// # Errors
/// Returns an error if one of them cannot be opened.
pub fn open_store(data: &Data) -> Result<Barrier, StartError> {
    let folder = &data.folder;
    let fresh = !Vault::exists(folder)?;
    if fresh {
        check_unused(data)?;
    }
    fail_points::reach("start.folder");
    create_private(folder)?;
    let _lock = lock_folder(folder)?;
    let store_path = folder.join(STORE);
    upgrade::finish(&store_path)?;
    // The store is locked before the vault is opened, so that a second daemon gets this error whatever its
    // key is.
    fail_points::reach("start.store");
    let store = Arc::new(if fresh {
        Embedded::create(&store_path, data.reserve)?
    } else if data.guard.exists() {
        Embedded::open_guarded(&store_path, data.reserve)?
    } else {
        Embedded::open(&store_path, data.reserve)?
    });
    fail_points::reach("start.vault");
    let vault = if fresh { Vault::create(folder, &data.key)? } else { Vault::open(folder, &data.key)? };
    store.begin()?;
    let barrier = Barrier::new(store, vault);
    if fresh || guard::has_mark(&barrier)? {
        return Ok(barrier);
    }
    let barrier = if upgrade::is_needed(&store_path, &barrier)? {
        let vault = Vault::open(folder, &data.key)?;
        upgrade::rewrite(&store_path, barrier, vault, data.reserve)?;
        let store = Arc::new(Embedded::open_again(&store_path, data.reserve)?);
        Barrier::new(store, Vault::open(folder, &data.key)?)
    } else {
        barrier
    };
    upgrade::seal_contents(&barrier)?;
    Ok(barrier)
}

/// Returns an error unless a store may be created in a directory without a header. A new header or key would
/// make existing records unreadable forever.
fn check_unused(data: &Data) -> Result<(), StartError> {
    let folder = &data.folder;
    let store_path = folder.join(STORE);
    if !Embedded::is_unused(&store_path)? || !Embedded::is_unused(&upgrade::replaced(&store_path))? {
        return Err(VaultError::NoHeader(folder.clone()).into());
    }
    match guard::check_new(&data.guard, folder) {
        // There was a store: its disk may not be mounted.
        Err(error @ GuardError::NoStore { .. }) => Err(error.into()),
        _ if !data.create => Err(VaultError::NoStore(folder.clone()).into()),
        guarded => {
            Vault::check_new(folder, &data.key)?;
            Ok(guarded?)
        }
    }
}

/// Locks the data directory while its store is opened, so that two first starts do not create it at the same
/// time. Later, the lock of the store itself is enough.
fn lock_folder(folder: &Path) -> Result<File, StartError> {
    let failed =
        |source| VaultError::System { doing: "locking the data directory", path: folder.to_owned(), source };
    let handle = File::open(folder).map_err(failed)?;
    match rustix::fs::flock(&handle, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(handle),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(StoreError::InUse(folder.display().to_string()).into()),
        Err(error) => Err(failed(error.into()).into()),
    }
}

/// Creates the data directory with access for its owner only.
fn create_private(folder: &PathBuf) -> Result<(), StartError> {
    use std::os::unix::fs::DirBuilderExt;
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    let doing = "creating the data directory";
    created.map_err(|source| VaultError::System { doing, path: folder.clone(), source }.into())
}

/// Settings of the HTTP listener.
pub struct HttpSettings {
    /// Address to listen on; port 0 selects a free port.
    pub listen: SocketAddr,
    /// URL that clients use; `None` if it is the address listened on.
    pub base_url: Option<String>,
    /// TLS acceptor with certificate and key; `None` to serve plain HTTP.
    pub tls: Option<TlsAcceptor>,
    /// Deadlines and counts of the listener.
    pub limits: ListenerLimits,
    /// Proxies that are trusted to report the client address.
    pub proxies: Proxies,
}

/// Settings of all listeners and of the service behind them.
pub struct Listeners {
    /// HTTP listener, if there is one.
    pub http: Option<HttpSettings>,
    /// Path of the local socket.
    pub socket: PathBuf,
    /// Group whose members may connect besides the owner.
    pub group: Option<u32>,
    /// Limits on concurrent requests and their memory.
    pub requests: RequestLimits,
    /// Mode in which the daemon was started.
    pub mode: Mode,
    /// Settings of the service.
    pub settings: ServiceSettings,
}

/// Serves until `stop`. Calls `ready` with the base URL once both listeners accept connections.
///
/// # Errors
/// Returns an error if a listener cannot be bound, mail cannot be set up, or `ready` fails.
pub async fn serve<F, R>(
    engine: Engine,
    listeners: Listeners,
    stop: CancellationToken,
    ready: F,
) -> Result<(), StartError>
where
    F: FnOnce(Option<String>) -> R,
    R: Future<Output = Result<(), StartError>>,
{
    let Listeners { http, socket, group, requests, mode, settings } = listeners;
    let socket = SocketListener::bind(&socket, group, ListenerLimits::socket()).await?;
    let proxies = http.as_ref().map(|http| http.proxies.clone()).unwrap_or_default();
    let (http, base_url) = match http {
        None => (None, None),
        Some(http) => {
            let (listener, base_url) = bind(http).await?;
            (Some(listener), Some(base_url))
        }
    };
    if !engine.executor.world().keys_are_locked() {
        tracing::warn!(
            "decrypted keys may be swapped to disk: raise the limit of locked memory (LimitMEMLOCK)"
        );
    }
    let metrics = Metrics::new();
    let readiness = SharedReadiness::default();
    let facts = Facts { mode, base_url: base_url.clone(), identity: engine.identity.clone() };
    let console = Console::new(Arc::clone(&engine.executor), facts);
    let routes = Arc::new(Routes::new(Arc::clone(&engine.executor), console, proxies.clone()));
    let server = Server::new(routes, metrics.clone(), readiness.clone(), proxies, &requests);
    let outbox = Outbox::new(
        Arc::clone(&engine.executor),
        engine.identity.clone(),
        &settings.webhooks,
        settings.outbox,
        metrics.clone(),
    );
    let outbox = tokio::spawn(outbox.run(stop.clone()));
    let mailer = settings.mail.map(|mail| Mailer::new(Arc::clone(&engine.executor), mail, metrics.clone()));
    let mailer = mailer.transpose().map_err(StartError::Other)?;
    let mailer = mailer.map(|mailer| tokio::spawn(mailer.run(stop.clone())));
    let cleanup = tokio::spawn(cleanup::run(Arc::clone(&engine.executor), stop.clone()));
    let watch = tokio::spawn(watch(Arc::clone(&engine.executor), metrics, readiness.clone(), stop.clone()));
    let socket = tokio::spawn(socket.run(server.clone(), stop.clone()));
    let http = http.map(|listener| tokio::spawn(listener.run(server, stop.clone())));
    fail_points::reach("start.serve");
    readiness.set(Readiness::Ready);
    let started = ready(base_url).await;
    if started.is_err() {
        stop.cancel();
    }
    // The panic of a task was logged when it happened.
    if let Some(http) = http {
        let _ = http.await;
    }
    let _ = socket.await;
    let _ = outbox.await;
    if let Some(mailer) = mailer {
        let _ = mailer.await;
    }
    let _ = cleanup.await;
    let _ = watch.await;
    started
}

async fn bind(settings: HttpSettings) -> Result<(HttpListener, String), StartError> {
    let HttpSettings { listen, base_url, tls, limits, .. } = settings;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let failed = |source| StartError::Listen { address: listen, source };
    let listener = HttpListener::bind(listen, tls, limits).await.map_err(failed)?;
    let address = listener.local_address().map_err(failed)?;
    Ok((listener, base_url.unwrap_or_else(|| format!("{scheme}://{address}"))))
}

/// Updates metrics and readiness.
async fn watch(
    executor: Arc<Executor>,
    metrics: Metrics,
    readiness: SharedReadiness,
    stop: CancellationToken,
) {
    let mut before = executor.figures();
    let mut clock_lags = false;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    while !stop.is_cancelled() {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = ticks.tick() => {}
            () = executor.world().store_state.notified() => {}
        }
        let figures = executor.figures();
        metrics.committed(figures.commits.saturating_sub(before.commits));
        for _ in before.groups..figures.groups {
            metrics.synced();
        }
        before = figures;
        let state = match executor.store_state() {
            StoreState::Ready => Readiness::Ready,
            StoreState::Full { .. } => Readiness::StoreFull,
            StoreState::Failed { guard_only: true, .. } => Readiness::GuardFailed,
            StoreState::Failed { .. } => Readiness::StoreFailed,
            StoreState::Altered { .. } => Readiness::StoreAltered,
        };
        readiness.set(state);
        metrics.store_is_ready(state == Readiness::Ready);
        executor.world().persist_time();
        let lag = clock::behind();
        metrics.clock_is_behind(lag);
        if lag > CLOCK_LAG && !clock_lags {
            tracing::warn!(
                millis = lag,
                "the system clock is behind the newest recorded time, from which the daemon continues"
            );
        }
        clock_lags = lag > CLOCK_LAG;
    }
    executor.world().persist_time();
    readiness.set(Readiness::Stopping);
}
