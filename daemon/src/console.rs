//! The console routes of the local socket. `GET` only reads; what `POST` does is in `webhooks`.

mod health;
mod webhooks;

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use quorate_common::console::{DaemonStatus, Mode, PROTOCOL, StoreState, StoreStatus};
use quorate_common::wire::Timestamp;
use quorate_core::activity_log;
use quorate_core::budget::Cancellation;
use quorate_core::console_routes::{self, Parameters};
use quorate_core::error::{Intent, RequestError};
use quorate_core::operator;
use quorate_core::policy::DenyErrors;
use quorate_core::world::World;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::auth_proxy;
use crate::clock::now;
use crate::executor::{self, Condition, Executor, Shared};
use crate::identity::Identity;
use crate::listener::{Answer, Incoming};
use crate::outbox::OutboxControl;
use crate::telemetry::Metrics;
use crate::vitals::Place;

use webhooks::{Requested, Webhooks};

/// Maximum number of events that are read from the feed at once.
const EVENTS: usize = 256;
/// Interval of the heartbeat on an idle event stream, so that both ends detect a dead connection.
const HEARTBEAT: std::time::Duration = std::time::Duration::from_secs(5);

/// Information about the daemon itself.
pub struct DaemonInfo {
    /// Mode in which the daemon was started.
    pub mode: Mode,
    /// Base URL of the public API, if it is served.
    pub base_url: Option<String>,
    /// Keys of the daemon.
    pub identity: Identity,
    /// Location of the store.
    pub place: Place,
    /// Counters, which `/metrics` shows too.
    pub metrics: Metrics,
    /// Warnings about the configuration.
    pub warnings: Vec<String>,
    /// Settings of the authentication proxy, if it is configured.
    pub auth_proxy: Option<auth_proxy::Settings>,
}

/// Answers requests of the console.
pub struct Console {
    executor: Arc<Executor>,
    info: DaemonInfo,
    started: u64,
    webhooks: Webhooks,
}

impl Console {
    /// Creates a console that reads through an executor, and repeats deliveries of an outbox.
    pub fn new(executor: Arc<Executor>, info: DaemonInfo, outbox: OutboxControl) -> Self {
        Self { executor, info, started: now(), webhooks: Webhooks::new(outbox) }
    }

    /// Checks a request for the path after `/console/v1/` that has an effect.
    ///
    /// # Errors
    /// Returns the answer if the request is not carried out.
    pub fn requested(
        &self,
        rest: &str,
        incoming: &Incoming,
        cancellation: &Cancellation,
    ) -> Result<Requested, Answer> {
        let parts: Vec<&str> = rest.split('/').collect();
        let query = Parameters::of(incoming.query());
        let read = self.executor.read(cancellation, |world| webhooks::requested(world, &parts, &query));
        let requested = read.map_err(|error| Answer::error(&error))?.ok_or_else(Answer::wrong_method)?;
        self.webhooks.admit(&requested, incoming.listener, now())?;
        Ok(requested)
    }

    /// Carries out a request that was checked.
    pub async fn act(&self, requested: Requested) -> Answer {
        self.webhooks.act(requested).await
    }

    /// Answers a request for the path after `/console/v1/`.
    pub fn answer(&self, rest: &str, incoming: &Incoming, cancellation: &Cancellation) -> Answer {
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        let query = Parameters::of(incoming.query());
        let parts: Vec<&str> = rest.split('/').collect();
        if let ["events"] = parts.as_slice() {
            return self.events(query.text("after"));
        }
        // Operators see why the store cannot be read.
        let described = match parts.as_slice() {
            ["status"] => Some(json(&self.status())),
            ["health"] if self.executor.store_state().condition.is_failed() => {
                Some(json(&health::without_store(&self.info, self.status(), self.world())))
            }
            _ => None,
        };
        if let Some(described) = described {
            return described.map_or_else(|error| Answer::error(&error.api_error()), Answer::ok);
        }
        let result = self.executor.read(cancellation, |world| {
            let answer = self.answer_from(world, &parts, &query);
            answer.map(|body| body.map(Answer::ok))
        });
        match result {
            Ok(answer) => answer.unwrap_or_else(Answer::not_found),
            Err(error) => Answer::error(&error),
        }
    }

    /// Answers a path from the data of `world`; returns `None` if there is no such path.
    fn answer_from(
        &self,
        world: &dyn World,
        parts: &[&str],
        query: &Parameters,
    ) -> Result<Option<Bytes>, RequestError> {
        let now = now();
        let body = match parts {
            ["health"] => json(&health::health(&self.info, self.status(), self.world())?),
            ["catalog"] => json(&quorate_core::catalog::catalog()),
            ["outbox", "parked"] => {
                json(&operator::parked(world, query.text("after").as_deref(), query.limit()?)?)
            }
            ["organizations"] => organizations(world, query),
            ["organizations", id, "webhooks"] => {
                json(&self.webhooks.receivers(world, parsed(id)?, self.started)?)
            }
            ["organizations", id, "webhooks", receiver, "deliveries"] => {
                json(&self.webhooks.deliveries(world, parsed(id)?, receiver)?)
            }
            ["organizations", id, rest @ ..] => {
                let answer = console_routes::answer(world, parsed(id)?, rest, query, now)?;
                return Ok(answer.map(Bytes::from));
            }
            _ => return Ok(None),
        };
        body.map(Some)
    }

    /// Returns the public keys of webhook signatures, as a JWK set (RFC 7517, RFC 8037).
    pub fn webhook_keys(&self, incoming: &Incoming) -> Answer {
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        Answer::ok(self.info.identity.webhook_key_set())
            .cached("public, max-age=86400, s-maxage=86400, stale-if-error=604800")
    }

    /// Returns the public keys with which clients verify that a bundle comes from this service.
    pub fn quorum_keys(&self, incoming: &Incoming) -> Answer {
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        Answer::ok(self.info.identity.quorum_keys().to_string().into_bytes())
    }

    /// Returns the newest checkpoint of the activity log. The parameter `from` requests the proof that it contains an earlier one.
    pub fn checkpoint(&self, incoming: &Incoming, cancellation: &Cancellation) -> Answer {
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        let query = Parameters::of(incoming.query());
        let read = self.executor.read(cancellation, |world| {
            json(&activity_log::checkpoint(world, query.number("from")?)?).map(Answer::ok)
        });
        read.unwrap_or_else(|error| Answer::error(&error))
    }

    fn world(&self) -> &Shared {
        self.executor.world().as_ref()
    }

    fn status(&self) -> DaemonStatus {
        DaemonStatus {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: self.info.mode,
            started_at: Timestamp::from_millis(self.started),
            now_millis: now(),
            process_id: std::process::id(),
            base_url: self.info.base_url.clone(),
            quorum_public_key: self.info.identity.quorum_public_key(),
            keys_locked: self.world().keys_are_locked(),
            strict_deny_errors: self.world().installation().deny_errors() == DenyErrors::Deny,
            sealing_key: self.executor.sealing_key().ok().map(Box::new),
            awaits_release: self.world().is_held().unwrap_or(false),
            last_backup: self.executor.last_backup().ok().flatten(),
            journal: self.world().journal().map(Box::new),
            log: self.executor.log_status().ok().map(Box::new),
            engine: Some(Box::new(self.world().engine())),
            store: store_status(self.executor.store_state()),
        }
    }

    /// Streams the change feed, starting after a token.
    fn events(&self, after: Option<String>) -> Answer {
        let (sender, receiver) = mpsc::channel(16);
        let shared = Arc::clone(self.executor.world());
        tokio::spawn(async move { feed(&shared, after, &sender).await });
        Answer::events(receiver)
    }
}

/// Returns the status that operators see while the store does not accept writes.
fn store_status(state: executor::StoreState) -> Option<StoreStatus> {
    let condition = match state.condition {
        Condition::Ready => return None,
        Condition::Full => StoreState::Full,
        Condition::Failed | Condition::GuardFailed => StoreState::Recovering,
        Condition::Altered => StoreState::Altered,
    };
    Some(StoreStatus { state: condition, since: Timestamp::from_millis(state.since), detail: state.cause })
}

fn organizations(world: &dyn World, query: &Parameters) -> Result<Bytes, RequestError> {
    let (parent, after, limit) = (query.id("parent")?, query.id("after")?, query.limit()?);
    let Some(contact) = query.text("contact") else {
        return json(&operator::organizations(world, parent, after, limit)?);
    };
    let parent = parent.ok_or(Intent::Text("expected a `parent` beside `contact`"))?;
    json(&operator::with_contact(world, parent, &contact, after, limit)?)
}

/// Sends events until the client disconnects.
async fn feed(shared: &Shared, mut after: Option<String>, sender: &mpsc::Sender<Bytes>) {
    let mut newest = shared.feed.watch();
    loop {
        newest.mark_unchanged();
        let events = shared.feed.after(after.as_deref(), EVENTS);
        if events.is_empty() {
            let waited = tokio::time::timeout(HEARTBEAT, newest.changed()).await;
            match waited {
                Ok(Ok(())) => continue,
                Ok(Err(_)) => return,
                Err(_) => {
                    if sender.send(Bytes::from_static(b": \n\n")).await.is_err() {
                        return;
                    }
                }
            }
            continue;
        }
        for event in events {
            let Ok(data) = serde_json::to_string(&event) else { return };
            let text = format!("id: {}\ndata: {data}\n\n", event.token);
            if sender.send(Bytes::from(text)).await.is_err() {
                return;
            }
            after = Some(event.token);
        }
    }
}

fn json<T: Serialize>(value: &T) -> Result<Bytes, RequestError> {
    let error = quorate_core::error::Corrupt::Invariant("an answer cannot be serialized");
    Ok(Bytes::from(serde_json::to_vec(value).map_err(|_| error)?))
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, RequestError> {
    text.parse().map_err(|_| Intent::Text("expected an id").into())
}
