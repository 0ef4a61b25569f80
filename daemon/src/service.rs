//! Assembly of the daemon: store, vault, executor, listeners and outbox, started and stopped in order.

mod data;
mod database;
mod listening;
mod location;
mod sealed;

pub use data::{Engine, ServiceSettings, open, open_store};
pub use database::header as database_header;
pub use listening::{HttpSettings, Listeners, Listening};
pub use location::{Data, GUARD, RESERVE_MIB, RESTORING, STORE, create_private, lock_folder};
pub use sealed::{unseal, unseal_backup};

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use quorate_core::error::Corrupt;
use tokio_util::sync::CancellationToken;

use crate::activity_log;
use crate::auth_proxy::AuthProxy;
use crate::backup::BackupError;
use crate::backups::Backups;
use crate::cleanup;
use crate::clock;
use crate::console::{Console, DaemonInfo};
use crate::custody::{Custody, HeaderError};
use crate::executor::{Condition, Executor};
use crate::fail_points;
use crate::guard::GuardError;
use crate::http::Server;
use crate::identity::IdentityError;
use crate::journal::JournalError;
use crate::last_uses;
use crate::outbox::{Mailer, Outbox, Texter};
use crate::pages::Pages;
use crate::private_file::SecretFileError;
use crate::registrations::Registrations;
use crate::rotation;
use crate::routes::{Routes, Services};
use crate::socket::SocketError;
use crate::store::StoreError;
use crate::store::postgres::DatabaseError;
use crate::telemetry::{Metrics, Readiness, SharedReadiness};
use crate::upgrade::UpgradeError;
use crate::vault::VaultError;
use crate::waiting_index;
use crate::witness;

/// Lag of the system clock above which a warning is logged, in milliseconds.
const CLOCK_LAG: u64 = 2000;

/// Time between two looks whether a restored store was released.
const RELEASE: Duration = Duration::from_secs(1);

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
    /// A backup cannot be written or read.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A restore would not apply the journal.
    #[error(
        "the journal {} is missing, so what was changed after the backup would be lost; check that its disk is mounted, or \
         restore without it (--without-journal)", .0.display()
    )]
    NoJournal(PathBuf),
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
    /// A file with a secret, which a setting names, cannot be used.
    #[error("{name}: {cause}")]
    Setting {
        /// Section and key of the setting.
        name: &'static str,
        /// Why the file cannot be used.
        cause: SecretFileError,
    },
    /// The HTTP listener cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Address to listen on.
        address: SocketAddr,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
    /// The store is in use. States what to do.
    #[error("{0}")]
    InUse(String),
    /// The daemon is sealed. States what to do.
    #[error("{0}")]
    Sealed(String),
    /// No daemon listens on the local socket.
    #[error("no daemon listens on {0}; start it first")]
    NoDaemon(String),
    /// An argument or the configuration is invalid.
    #[error("{0}")]
    Usage(String),
    /// Any other error during the start.
    #[error("{0}")]
    Other(String),
}

impl From<HeaderError> for StartError {
    fn from(error: HeaderError) -> Self {
        match error {
            HeaderError::Vault(error) => error.into(),
            HeaderError::Store(error) => error.into(),
        }
    }
}

impl StartError {
    /// Adds what else can be done, if the store is in use.
    #[must_use]
    pub fn advise_in_use(self, advice: impl FnOnce() -> String) -> Self {
        if self.exit_code() == Self::InUse(String::new()).exit_code() {
            Self::InUse(format!("{self}; {}", advice()))
        } else {
            self
        }
    }

    /// Returns the exit code of the program.
    ///
    /// - 1: any other error
    /// - 2: an argument or the configuration is invalid
    /// - 3: the store is missing or was moved, or the database cannot be used, or a file or directory cannot be used, for example on a full disk
    /// - 4: the key is missing
    /// - 5: the key is wrong, or it or another secret is accessible to other users
    /// - 6: the data directory is in use
    /// - 7: the store is damaged
    /// - 8: an address or socket is in use, or no daemon listens
    /// - 9: the daemon or the store is sealed
    /// - 10: the store does not match what was acknowledged
    pub const fn exit_code(&self) -> u8 {
        match self {
            Self::Vault(error) => code_of_vault(error),
            Self::Secret(error) | Self::Setting { cause: error, .. } => match error {
                SecretFileError::TooOpen(..) => 5,
                SecretFileError::Read { .. } | SecretFileError::Empty(_) => 3,
            },
            Self::Backup(error) => match error {
                BackupError::Damaged(_) | BackupError::Format => 7,
                BackupError::OtherStore | BackupError::OtherSigner => 10,
                BackupError::System(_) | BackupError::Store(_) => 3,
                BackupError::Interrupted | BackupError::TooSlow | BackupError::Encryption(_) => 1,
            },
            Self::Other(_) => 1,
            Self::Usage(_) => 2,
            Self::InUse(_) => 6,
            Self::Sealed(_) => 9,
            Self::Store(error)
            | Self::Guard(GuardError::Store(error))
            | Self::Upgrade(UpgradeError::Store(error))
            | Self::Identity(IdentityError::Store(error)) => match error {
                StoreError::InUse(_) => 6,
                StoreError::Full { .. } | StoreError::System { .. } | StoreError::Unavailable => 3,
                StoreError::Empty(_) => 10,
                StoreError::Database(error) => match error {
                    DatabaseError::InUse | DatabaseError::DaemonInUse => 6,
                    DatabaseError::Missing | DatabaseError::OtherStore | DatabaseError::NoHeader => 10,
                    DatabaseError::NotConfigured => 2,
                    DatabaseError::Level(_) | DatabaseError::Table(_) => 7,
                    _ => 3,
                },
                _ => 7,
            },
            Self::Guard(GuardError::Journal(error)) | Self::Journal(error) => code_of_journal(error),
            Self::Guard(error) => match error {
                GuardError::Corrupt(Corrupt::Unavailable)
                | GuardError::System { .. }
                | GuardError::NoDirectory(_) => 3,
                GuardError::Corrupt(_) => 7,
                _ => 10,
            },
            Self::NoJournal(_) | Self::Upgrade(UpgradeError::System { .. }) => 3,
            Self::Corrupt(_)
            | Self::Altered(_)
            | Self::Unreadable(_)
            | Self::Upgrade(_)
            | Self::Identity(_) => 7,
            Self::Socket(_) | Self::Listen { .. } | Self::NoDaemon(_) => 8,
        }
    }
}

const fn code_of_vault(error: &VaultError) -> u8 {
    match error {
        VaultError::MissingKey { .. }
        | VaultError::Command { .. }
        | VaultError::Token { is_absent: true, .. } => 4,
        VaultError::KeyTooOpen(..)
        | VaultError::NotAKey(_)
        | VaultError::ShortPassphrase
        | VaultError::WrongKey(_)
        | VaultError::WrongBackupKey
        | VaultError::NoShares(_)
        | VaultError::Token { is_absent: false, .. }
        | VaultError::Pin { .. }
        | VaultError::OtherKind(..) => 5,
        VaultError::Sealed(_) => 9,
        VaultError::SharesFirst | VaultError::Holders(_) | VaultError::OtherEngine(..) => 2,
        VaultError::NoSlot(_) | VaultError::LastSlot(_) | VaultError::TooManySlots => 1,
        VaultError::NoStore(_)
        | VaultError::Restoring(_)
        | VaultError::NoStoreInDatabase(_)
        | VaultError::Moved(..)
        | VaultError::NoKeyDirectory(_)
        | VaultError::System { .. } => 3,
        VaultError::Slot(_)
        | VaultError::NoHeader(_)
        | VaultError::Header(_)
        | VaultError::DatabaseHeader => 7,
    }
}

const fn code_of_journal(error: &JournalError) -> u8 {
    match error {
        JournalError::Missing(_) | JournalError::System { .. } => 3,
        JournalError::InUse(_) => 6,
        JournalError::Damaged(..) | JournalError::Format(_) | JournalError::Corrupt(_) => 7,
        JournalError::OtherStore(_)
        | JournalError::OtherDaemon(_)
        | JournalError::Ahead(_)
        | JournalError::Later { .. } => 10,
    }
}

/// Why a daemon stopped serving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It received the stop signal.
    Stopped,
    /// It is to be sealed.
    Seal,
}

/// Serves until `signal` or until the daemon is to be sealed. Calls `ready` with the base URL once both listeners accept
/// connections.
///
/// # Errors
/// Returns an error if mail cannot be set up, or `ready` fails.
pub async fn serve<F, R>(
    engine: Engine,
    listening: Listening,
    signal: CancellationToken,
    ready: F,
) -> Result<Ending, StartError>
where
    F: FnOnce(Option<String>) -> R,
    R: Future<Output = Result<(), StartError>>,
{
    let Listening { http, base_url, socket, proxies, requests, mode, seal_check, settings } = listening;
    let stop = signal.child_token();
    let executor = || Arc::clone(&engine.executor);
    let custody = Custody::open(engine.headers.clone(), executor(), engine.store_key.clone(), seal_check);
    warn_of_unlocked_keys(&engine.executor);
    let (metrics, readiness) = (Metrics::new(), SharedReadiness::default());
    let info = DaemonInfo {
        mode,
        base_url: base_url.clone(),
        identity: engine.identity.clone(),
        place: engine.place.clone(),
        metrics: metrics.clone(),
        warnings: settings.warnings,
        auth_proxy: settings.auth_proxy.clone(),
    };
    let pages = settings.pages.as_ref().filter(|_| base_url.is_some());
    if let (Some(pages), Some(base_url)) = (pages, &base_url) {
        let _ = engine.executor.world().invitation_page.set(pages.invitation_page(base_url));
    }
    let proxy = settings.auth_proxy.map(|settings| AuthProxy::new(executor(), settings));
    let (identity, limits) = (engine.identity.clone(), settings.outbox);
    let outbox = Outbox::new(executor(), identity, &settings.webhooks, limits, metrics.clone());
    let console = Console::new(executor(), info, outbox.control());
    let registrations = Registrations::new(settings.registrations_per_address);
    let backups = Backups::new(executor(), engine.headers.clone());
    let seal = custody.done().clone();
    let services = Services { console, custody, backups, auth_proxy: proxy, registrations };
    let routes = Arc::new(Routes::new(executor(), services, pages.map(Pages::new)));
    let server = Server::new(routes, metrics.clone(), readiness.clone(), proxies, &requests);
    let outbox = tokio::spawn(once_released(executor(), stop.clone(), outbox.run(stop.clone())));
    let mailer = settings.mail.map(|mail| Mailer::new(executor(), mail, metrics.clone()));
    let mailer = mailer.transpose().map_err(StartError::Other)?;
    let mailer =
        mailer.map(|mailer| tokio::spawn(once_released(executor(), stop.clone(), mailer.run(stop.clone()))));
    let texter = settings.sms.map(|sms| Texter::new(executor(), sms, metrics.clone()));
    let texter =
        texter.map(|texter| tokio::spawn(once_released(executor(), stop.clone(), texter.run(stop.clone()))));
    let cleanup = tokio::spawn(maintain(executor(), stop.clone()));
    let last_uses = tokio::spawn(last_uses::run(executor(), metrics.clone(), stop.clone()));
    let watch = tokio::spawn(watch(executor(), metrics, readiness.clone(), stop.clone()));
    tokio::spawn(stop_to_seal(seal.clone(), stop.clone()));
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
    if let Some(texter) = texter {
        let _ = texter.await;
    }
    let _ = cleanup.await;
    let _ = last_uses.await;
    let _ = watch.await;
    // A stop signal that arrives while the daemon is being sealed ends it.
    let is_sealed = seal.is_cancelled() && !signal.is_cancelled();
    started.map(|()| if is_sealed { Ending::Seal } else { Ending::Stopped })
}

/// Does work once the store accepts changes. What a restored store would send may have been sent before.
async fn once_released(executor: Arc<Executor>, stop: CancellationToken, work: impl Future<Output = ()>) {
    while executor.world().is_held().unwrap_or(true) {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(RELEASE) => {}
        }
    }
    work.await;
}

/// Stops the service when it is to be sealed.
async fn stop_to_seal(seal: CancellationToken, stop: CancellationToken) {
    tokio::select! {
        () = seal.cancelled() => {
            tracing::info!("sealing: no request is accepted anymore");
            stop.cancel();
        }
        () = stop.cancelled() => {}
    }
}

/// Logs a warning if decrypted keys can be swapped to disk.
fn warn_of_unlocked_keys(executor: &Executor) {
    if !executor.world().keys_are_locked() {
        tracing::warn!(
            "decrypted keys may be swapped to disk: raise the limit of locked memory (LimitMEMLOCK)"
        );
    }
}

/// Removes what is due, marks what other daemons committed, indexes what an earlier version stored, appends to the activity log
/// and rotates the sealing keys.
async fn maintain(executor: Arc<Executor>, stop: CancellationToken) {
    tokio::join!(
        cleanup::run(Arc::clone(&executor), stop.clone()),
        witness::run(Arc::clone(&executor), stop.clone()),
        waiting_index::run(Arc::clone(&executor), stop.clone()),
        activity_log::run(Arc::clone(&executor), stop.clone()),
        rotation::run(executor, stop)
    );
}

/// Updates metrics and readiness.
async fn watch(
    executor: Arc<Executor>,
    metrics: Metrics,
    readiness: SharedReadiness,
    stop: CancellationToken,
) {
    let mut before = executor.figures();
    let is_remote = executor.is_shared();
    let (mut clock_lags, mut sealed_again, mut logged) = (false, 0, 0);
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    while !stop.is_cancelled() {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = ticks.tick() => {}
            () = executor.world().store_state.notified() => {}
        }
        let figures = executor.figures();
        metrics.committed(figures.commits.saturating_sub(before.commits));
        metrics.clashed(figures.clashes.saturating_sub(before.clashes));
        metrics.synced(figures.groups.saturating_sub(before.groups));
        before = figures;
        let state = match executor.store_state().condition {
            Condition::Ready => Readiness::Ready,
            Condition::Full => Readiness::StoreFull,
            Condition::GuardFailed => Readiness::GuardFailed,
            Condition::Failed if is_remote => Readiness::DatabaseFailed,
            Condition::Failed => Readiness::StoreFailed,
            Condition::Altered => Readiness::StoreAltered,
        };
        readiness.set(state);
        metrics.store_is_ready(state == Readiness::Ready);
        metrics.journal_is_ready(executor.world().journal().is_none_or(|journal| journal.failure.is_none()));
        executor.world().persist_time();
        let lag = clock::behind();
        metrics.clock_is_behind(lag);
        let again = executor.world().sealed_again.load(Ordering::Relaxed);
        if let Ok(terms) = executor.terms() {
            metrics.sealing(terms.newest() - terms.oldest() + 1, again.saturating_sub(sealed_again));
            sealed_again = again;
        }
        let appended = executor.world().appended.load(Ordering::Relaxed);
        metrics.logged(appended.saturating_sub(logged));
        logged = appended;
        metrics.notices_lag(executor.world().notice_lag().unwrap_or_default());
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
