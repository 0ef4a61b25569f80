//! A connection to the server, and how threads wait for its answers.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Notify;
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, SimpleQueryMessage, Statement};

use super::errors::{DatabaseError, StatementError, described, of_connecting, unusable};
use super::settings::{DatabaseSettings, KeyClasses};

/// Time in which the server must answer.
pub(super) const ANSWER: Duration = Duration::from_secs(5);

/// Settings of each session, and the query for the start of the server. All statements have a suitable index, also before the
/// tables are analyzed. A commit stays as durable as it was when the session began, whatever is changed on the server.
const SETUP: &str = "SELECT set_config('synchronous_commit', current_setting('synchronous_commit'), false); \
    SET search_path TO quorate, pg_temp; SET lock_timeout = '2s'; SET statement_timeout = '5s'; \
    SET idle_in_transaction_session_timeout = '5s'; SET idle_session_timeout = 0; \
    SET client_min_messages = warning; SET enable_seqscan = off; \
    SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; SET tcp_keepalives_count = 3; \
    SET default_transaction_isolation = 'read committed'; SET default_transaction_deferrable = off; \
    SELECT pg_postmaster_start_time()";

/// Setting of the server that a session begins with. Its value is another one for each session. A pooler either rejects it
/// when a client connects, or gives the client a session that was begun without it.
const OWN: &str = "quorate.session";

/// Function of the server that warns when a commit stops waiting for a standby. The text of the warning is translated.
const STANDBY_WAIT: &str = "SyncRepWaitForLSN";

/// Returns a new value of [`OWN`].
fn name() -> Result<String, DatabaseError> {
    let mut name = [0; 16];
    let failed = |error: getrandom::Error| DatabaseError::Unreachable(format!("the random source: {error}"));
    getrandom::fill(&mut name).map_err(failed)?;
    Ok(const_hex::encode(name))
}

/// A session on the server. Dropping it ends the session.
pub(super) struct Session {
    pub(super) client: Client,
    /// Whether a commit stopped waiting for a standby.
    warned: Arc<AtomicBool>,
    /// Notified when another session has called on the channel that this one listens to.
    pub(super) called: Arc<Notify>,
    /// When the server was started, which distinguishes it from others.
    pub(super) started: String,
    statements: Mutex<HashMap<String, Statement>>,
    /// Which keys have a table of their own.
    pub(super) classes: KeyClasses,
}

impl Session {
    /// Connects to a host of the URL. Calls `ended` with the cause when the session ends, also when it is dropped.
    pub(super) fn connect(
        runtime: &Handle,
        settings: &DatabaseSettings,
        host: usize,
        ended: impl FnOnce(String) + Send + 'static,
    ) -> Result<Self, DatabaseError> {
        let name = name()?;
        let (config, tls) = (settings.config(host, &format!("{OWN}={name}"))?, settings.tls()?);
        let place = settings.url.server(host);
        let connecting = async {
            let late = || DatabaseError::Unreachable(format!("{place}: no answer to the login"));
            let connected = tokio::time::timeout(ANSWER, config.connect(tls)).await;
            connected.map_err(|_| late())?.map_err(|error| of_connecting(&error, &place))
        };
        let (client, mut connection) = wait(runtime, connecting)?;
        let warned = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&warned);
        let called = Arc::<Notify>::default();
        let bell = Arc::clone(&called);
        runtime.spawn(async move {
            let mut last = String::new();
            let cause = loop {
                match poll_fn(|context| connection.poll_message(context)).await {
                    Some(Ok(AsyncMessage::Notice(notice))) => {
                        if notice.routine() == Some(STANDBY_WAIT) {
                            own.store(true, Ordering::Release);
                        }
                        if last != notice.message() {
                            notice.message().clone_into(&mut last);
                            tracing::warn!(warning = last, "the database server sent a warning");
                        }
                    }
                    Some(Ok(_)) => bell.notify_one(),
                    Some(Err(error)) => {
                        tracing::debug!(cause = %error, "a connection to the database server ended");
                        break described(&error);
                    }
                    None => break "it was closed".to_owned(),
                }
            };
            ended(cause);
        });
        let session = Self {
            client,
            warned,
            called,
            started: String::new(),
            statements: Mutex::default(),
            classes: settings.classes,
        };
        // If the session is that of another client, the division fails before any setting is changed.
        let set_up = format!(
            "SELECT 1 / (current_setting('{OWN}', true) IS NOT DISTINCT FROM '{name}')::int; {SETUP}"
        );
        let answers = answered(runtime, ANSWER, session.client.simple_query(&set_up));
        let answers = answers.map_err(|error| match error {
            StatementError::Rejected(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO) => {
                DatabaseError::Pooler
            }
            error => unusable(error),
        })?;
        // The last row.
        let started = answers.iter().rev().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        Ok(Self { started: started.unwrap_or_default(), ..session })
    }

    /// Returns a prepared statement. Each is prepared once.
    pub(super) async fn statement(&self, text: &str) -> Result<Statement, tokio_postgres::Error> {
        if let Some(known) = self.statements().get(text) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(text).await?;
        self.statements().insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    fn statements(&self) -> std::sync::MutexGuard<'_, HashMap<String, Statement>> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets earlier warnings.
    pub(super) fn clear_warnings(&self) {
        self.warned.store(false, Ordering::Release);
    }

    /// Returns whether a commit stopped waiting for a standby since [`Self::clear_warnings`].
    pub(super) fn was_warned(&self) -> bool {
        self.warned.load(Ordering::Acquire)
    }
}

/// Waits for the answer to statements.
///
/// # Errors
/// Returns [`StatementError`] if the server rejects one, or does not answer in time.
pub(super) fn answered<T, E: Into<StatementError>>(
    runtime: &Handle,
    limit: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, StatementError> {
    wait(runtime, async {
        match tokio::time::timeout(limit, work).await {
            Ok(done) => done.map_err(Into::into),
            Err(_) => Err(StatementError::late(limit)),
        }
    })
}

/// Wakes a thread that waits.
struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread. A thread of an asynchronous runtime hands its other tasks over to another
/// thread first, so no connection of a client waits for the database.
pub(super) fn wait<T>(runtime: &Handle, work: impl Future<Output = T>) -> T {
    let is_worker = Handle::try_current().is_ok_and(|own| own.runtime_flavor() == RuntimeFlavor::MultiThread);
    let waiting = || {
        // Time limits use the timers of this runtime.
        let _timers = runtime.enter();
        park_until(work)
    };
    if is_worker { tokio::task::block_in_place(waiting) } else { waiting() }
}

fn park_until<T>(work: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    let (mut context, mut work) = (Context::from_waker(&waker), pin!(work));
    loop {
        if let Poll::Ready(done) = work.as_mut().poll(&mut context) {
            return done;
        }
        thread::park();
    }
}

/// A statement that is being sent.
pub(super) type Sent<'s, T> = Pin<Box<dyn Future<Output = Result<T, tokio_postgres::Error>> + 's>>;

/// Sends statements in order without waiting for answers in between, and returns their answers, or the first error.
pub(super) async fn pipelined<T>(mut statements: Vec<Sent<'_, T>>) -> Result<Vec<T>, tokio_postgres::Error> {
    let mut answers: Vec<Option<Result<T, _>>> = statements.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut is_done = true;
        for (statement, answer) in statements.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match statement.as_mut().poll(context) {
                    Poll::Ready(done) => *answer = Some(done),
                    Poll::Pending => is_done = false,
                }
            }
        }
        if is_done { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    answers.into_iter().flatten().collect()
}
