//! Serves HTTP with hyper on the connections of one listener, over any kind of stream, until the stop signal.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Server;
use super::connection_state::{Registration, Registry};
use super::exchange::{Context, exchange};
use super::head_filter::HeadFilter;
use super::limits::{HEAD_BYTES, HTTP2_WINDOW_BYTES, Limits, SMALL_BODY_BYTES, STREAMS};
use crate::listener::{Listener, Service};
use crate::rate::RateLimiter;

/// Pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// HTTP versions that a listener accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Versions {
    /// HTTP/1.0, HTTP/1.1 and HTTP/2.
    All,
    /// HTTP/1.0 and HTTP/1.1.
    Http1,
}

/// Registration of an accepted connection; dropping it removes the connection.
pub(crate) struct Admission(Registration);

/// The connections of one listener.
pub(crate) struct Connections<S> {
    server: Server<S>,
    registry: Arc<Registry>,
    builder: Arc<Builder<TokioExecutor>>,
    rate: Option<Arc<RateLimiter<IpAddr>>>,
    epoch: Instant,
    limits: Limits,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl<S: Service> Connections<S> {
    pub(crate) fn new(
        server: Server<S>,
        limits: Limits,
        versions: Versions,
        stop: CancellationToken,
    ) -> Self {
        Self {
            registry: Registry::new(limits.connections, server.0.metrics.clone()),
            builder: Arc::new(builder(versions)),
            rate: limits.requests_per_second.map(|limit| Arc::new(RateLimiter::new(limit, 1000))),
            epoch: Instant::now(),
            tasks: TaskTracker::new(),
            server,
            limits,
            stop,
        }
    }

    /// Registers a new connection. Returns `None` if it must be closed at once.
    pub(crate) fn admit(&self, address: Option<IpAddr>) -> Option<Admission> {
        self.registry.register(address).map(Admission)
    }

    /// Opens the connections that a listener accepts until the stop signal, then waits for the accepted requests.
    pub(crate) async fn serve<C>(self, accept: impl AsyncFn() -> io::Result<C>, open: impl Fn(&Self, C)) {
        let mut ticks = self.ticks();
        loop {
            tokio::select! {
                () = self.stop.cancelled() => break,
                _ = ticks.tick() => self.close_overdue(),
                accepted = accept() => match accepted {
                    Ok(connection) => open(&self, connection),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        self.make_room();
                        sleep(ACCEPT_PAUSE).await;
                    }
                },
            }
        }
        // The listener is closed before the requests are awaited.
        drop(accept);
        self.drain().await;
    }

    /// Returns the interval at which [`Connections::close_overdue`] is due.
    fn ticks(&self) -> Interval {
        let mut ticks = interval(self.limits.tick);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    }

    /// Drops the connections whose deadlines have passed.
    fn close_overdue(&self) {
        self.registry.close_overdue(&self.limits);
    }

    /// Drops an idle connection, because file descriptors have run out.
    fn make_room(&self) {
        self.registry.evict();
    }

    /// Serves a connection in a task of its own. `opening` completes its handshake, if it has one.
    pub(crate) fn spawn<Io>(
        &self,
        admission: Admission,
        listener: Listener,
        opening: impl Future<Output = Option<Io>> + Send + 'static,
    ) where
        Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let context = Arc::new(Context {
            shared: Arc::clone(&self.server.0),
            rate: self.rate.clone(),
            epoch: self.epoch,
            state: Arc::clone(&admission.0.state),
            listener,
            body_deadline: self.limits.body,
            wait: self.limits.wait,
            stop: self.stop.clone(),
        });
        let builder = Arc::clone(&self.builder);
        self.tasks.spawn(async move {
            let state = Arc::clone(&context.state);
            tokio::select! {
                () = state.ended() => {}
                () = serve_connection(opening, &builder, context) => {}
            }
            drop(admission);
        });
    }

    /// Waits until the accepted requests are answered, as long as the limits allow.
    async fn drain(self) {
        self.tasks.close();
        let mut ticks = self.ticks();
        let deadline = sleep(self.limits.drain);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                () = self.tasks.wait() => return,
                _ = ticks.tick() => self.close_overdue(),
                () = &mut deadline => break,
            }
        }
        tracing::warn!(open = self.tasks.len(), "dropping connections that did not finish in time");
        self.registry.end_all();
        self.tasks.wait().await;
    }
}

async fn serve_connection<S: Service, Io>(
    opening: impl Future<Output = Option<Io>>,
    builder: &Builder<TokioExecutor>,
    context: Arc<Context<S>>,
) where
    Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stop = context.stop.clone();
    let io = tokio::select! {
        () = stop.cancelled() => return,
        io = opening => io,
    };
    let Some(io) = io else { return };
    let io = TokioIo::new(HeadFilter::new(io, Arc::clone(&context.state)));
    let service = service_fn(move |request| exchange(Arc::clone(&context), request));
    let connection = builder.serve_connection(io, service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => Some(ended),
        () = stop.cancelled() => None,
    };
    let ended = if let Some(ended) = ended {
        ended
    } else {
        connection.as_mut().graceful_shutdown();
        connection.await
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection ended");
    }
}

fn builder(versions: Versions) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    // The registry enforces the deadlines; those of hyper would count idle time as well.
    builder.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(SMALL_BODY_BYTES);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS)
        .initial_connection_window_size(HTTP2_WINDOW_BYTES)
        .initial_stream_window_size(HTTP2_WINDOW_BYTES)
        .max_header_list_size(u32::try_from(HEAD_BYTES).unwrap_or(u32::MAX));
    match versions {
        Versions::All => builder,
        Versions::Http1 => builder.http1_only(),
    }
}
