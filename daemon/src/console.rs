//! The console routes of the local socket. `GET` only reads; what `POST` does is in `webhooks`.

mod health;
mod webhooks;

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use quorate_common::activity::Status;
use quorate_common::console::{DaemonStatus, Mode, PAGE_LIMIT, PROTOCOL, StoreState, StoreStatus};
use quorate_common::wire::Timestamp;
use quorate_core::advice;
use quorate_core::budget::Cancellation;
use quorate_core::error::{Intent, RequestError};
use quorate_core::operator::{self, ActivityQuery, HistoryQuery};
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
        let query = Query::of(incoming);
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
        let query = Query::of(incoming);
        let parts: Vec<&str> = rest.split('/').collect();
        if let ["events"] = parts.as_slice() {
            return self.events(query.text("after"));
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
        query: &Query,
    ) -> Result<Option<Bytes>, RequestError> {
        let now = now();
        let body = match parts {
            ["status"] => json(&self.status()),
            ["health"] => json(&health::health(&self.info, self.status(), self.world())?),
            ["catalog"] => json(&quorate_core::catalog::catalog()),
            ["outbox", "parked"] => {
                json(&operator::parked(world, query.text("after").as_deref(), query.limit()?)?)
            }
            ["organizations"] => organizations(world, query),
            ["organizations", id] => json(&operator::organization(world, parsed(id)?)?),
            ["organizations", id, "signer"] => {
                let name = query.text("name").unwrap_or_default();
                json(&operator::signer(world, parsed(id)?, &name, now)?)
            }
            ["organizations", id, "messages"] => {
                json(&operator::messages(world, parsed(id)?, query.id("after")?, query.limit()?)?)
            }
            ["organizations", id, "webhooks"] => {
                json(&self.webhooks.receivers(world, parsed(id)?, self.started)?)
            }
            ["organizations", id, "webhooks", receiver, "deliveries"] => {
                json(&self.webhooks.deliveries(world, parsed(id)?, receiver)?)
            }
            ["organizations", id, "history"] => history(world, id, query),
            ["organizations", id, "inbox"] => {
                let after = query.text("after");
                let is_outdated = self.world().is_index_outdated();
                let mut page = operator::inbox(world, parsed(id)?, after.as_deref(), query.limit()?, now)?;
                page.is_complete &= !is_outdated;
                json(&page)
            }
            ["organizations", id, "activities"] => activities(world, id, query),
            ["organizations", id, "policies", "findings"] => {
                json(&serde_json::json!({"findings": advice::findings(world, parsed(id)?, now)?}))
            }
            ["organizations", id, "activities", reference, "explanation"] => {
                json(&advice::explained(world, parsed(id)?, reference, now)?)
            }
            ["organizations", id, "activities", reference, "location"] => {
                json(&operator::location(world, parsed(id)?, reference)?)
            }
            ["organizations", id, "activities", reference] => {
                json(&operator::review(world, parsed(id)?, reference, now)?)
            }
            ["organizations", id, "wallets", wallet, "accounts"] => {
                let (id, wallet) = (parsed(id)?, parsed(wallet)?);
                json(&operator::accounts(world, id, wallet, query.id("after")?, query.limit()?)?)
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
            engine: Some(self.world().engine()),
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

fn organizations(world: &dyn World, query: &Query) -> Result<Bytes, RequestError> {
    let (parent, after, limit) = (query.id("parent")?, query.id("after")?, query.limit()?);
    let Some(contact) = query.text("contact") else {
        return json(&operator::organizations(world, parent, after, limit)?);
    };
    let parent = parent.ok_or(Intent::Text("expected a `parent` beside `contact`"))?;
    json(&operator::with_contact(world, parent, &contact, after, limit)?)
}

fn activities(world: &dyn World, id: &str, query: &Query) -> Result<Bytes, RequestError> {
    let filter = ActivityQuery {
        statuses: query.statuses()?,
        types: query.list("type"),
        ids: query.list("id").iter().map(|id| parsed(id)).collect::<Result<_, _>>()?,
        after: query.id("after")?,
        limit: query.limit()?,
    };
    json(&operator::activities(world, parsed(id)?, &filter, now())?)
}

fn history(world: &dyn World, id: &str, query: &Query) -> Result<Bytes, RequestError> {
    let number = |name: &str| {
        let text = query.text(name);
        text.map(|text| text.parse().map_err(|_| Intent::Text("expected a time in milliseconds"))).transpose()
    };
    let order = query.text("order").unwrap_or_else(|| "time".to_owned());
    let history = HistoryQuery {
        statuses: query.statuses()?,
        types: query.list("type"),
        proposers: query.list("proposer").iter().map(|id| parsed(id)).collect::<Result<_, _>>()?,
        words: query.text("text").unwrap_or_default().split_whitespace().map(str::to_lowercase).collect(),
        before: number("before")?,
        order: serde_json::from_value(serde_json::Value::String(order))
            .map_err(|_| Intent::Text("unknown order"))?,
        reverse: query.text("reverse").is_some_and(|text| text == "true"),
        after: query.text("after"),
        limit: query.limit()?,
    };
    json(&operator::history(world, parsed(id)?, &history, now())?)
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

/// The parameters in the query part of a request target.
struct Query(Vec<(String, String)>);

impl Query {
    fn of(incoming: &Incoming) -> Self {
        let pairs = url::form_urlencoded::parse(incoming.query().as_bytes());
        Self(pairs.into_owned().collect())
    }

    fn text(&self, name: &str) -> Option<String> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
    }

    fn list(&self, name: &str) -> Vec<String> {
        let text = self.text(name).unwrap_or_default();
        text.split(',').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    fn statuses(&self) -> Result<Vec<Status>, RequestError> {
        let unknown = || RequestError::from(Intent::Text("unknown status"));
        let status = |name: &String| {
            serde_json::from_value(serde_json::Value::String(name.clone())).map_err(|_| unknown())
        };
        self.list("status").iter().map(status).collect()
    }

    fn id<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, RequestError> {
        self.text(name).map(|text| parsed(&text)).transpose()
    }

    fn limit(&self) -> Result<usize, RequestError> {
        match self.text("limit") {
            None => Ok(PAGE_LIMIT),
            Some(text) => {
                let limit: usize = text.parse().map_err(|_| Intent::Text("expected a number as `limit`"))?;
                Ok(limit.clamp(1, PAGE_LIMIT))
            }
        }
    }
}
