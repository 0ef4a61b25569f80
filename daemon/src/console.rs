//! The console routes of the local socket. They read; none of them changes anything.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use quorate_common::console::{DaemonStatus, Mode, PAGE_LIMIT, PROTOCOL};
use quorate_common::fault::{Code, Fault};
use quorate_common::wire::Timestamp;
use quorate_core::advice;
use quorate_core::operator::{self, ActivityQuery};
use quorate_core::policy::DenyErrors;
use quorate_core::refusal::{Intent, Refusal};
use quorate_core::world::World as _;
use serde::Serialize;
use tokio::sync::mpsc;

use crate::clock::now;
use crate::door::{Answer, Incoming};
use crate::identity::Identity;
use crate::turn::{Shared, Turns};

/// How many events are read from the feed at once.
const EVENTS: usize = 256;
/// Sent when nothing happens, so that both ends notice a dead connection.
const HEARTBEAT: std::time::Duration = std::time::Duration::from_secs(5);

/// What the daemon says of itself.
pub struct Facts {
    /// How it was started.
    pub mode: Mode,
    /// Where the public API is served.
    pub base_url: Option<String>,
    /// Its own keys.
    pub identity: Identity,
}

/// Answers the console.
pub struct Console {
    turns: Arc<Turns>,
    facts: Facts,
    started: u64,
}

impl Console {
    /// A console over these turns.
    pub fn new(turns: Arc<Turns>, facts: Facts) -> Self {
        Self { turns, facts, started: now() }
    }

    /// Answers the path behind `/console/v1/`.
    pub fn answer(&self, rest: &str, incoming: &Incoming) -> Answer {
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        let query = Query::of(incoming);
        let parts: Vec<&str> = rest.split('/').collect();
        let result = match parts.as_slice() {
            ["status"] => json(&self.status()),
            ["catalog"] => json(&quorate_core::catalog::catalog()),
            ["events"] => return self.events(query.text("after")),
            ["organizations"] => self.organizations(&query),
            ["organizations", id] => self.organization(id),
            ["organizations", id, "signer"] => self.signer(id, &query),
            ["organizations", id, "activities"] => self.activities(id, &query),
            ["organizations", id, "policies", "findings"] => self.findings(id),
            ["organizations", id, "activities", reference, "explanation"] => self.explained(id, reference),
            ["organizations", id, "activities", reference] => self.review(id, reference),
            ["organizations", id, "wallets", wallet, "accounts"] => self.accounts(id, wallet, &query),
            _ => return Answer::not_found(),
        };
        match result {
            Ok(body) => Answer::ok(body),
            Err(refusal) => Answer::fault(&refusal.fault()),
        }
    }

    /// The public keys of webhook signatures, as a JWK set (RFC 7517, RFC 8037).
    pub fn webhook_keys(&self, incoming: &Incoming) -> Answer {
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        Answer::ok(self.facts.identity.webhook_key_set())
            .cached("public, max-age=86400, s-maxage=86400, stale-if-error=604800")
    }

    /// The public keys by which clients know that a bundle comes from this service.
    pub fn quorum_keys(&self, incoming: &Incoming) -> Answer {
        if incoming.method != Method::GET {
            return Answer::wrong_method();
        }
        Answer::ok(self.facts.identity.quorum_keys().to_string().into_bytes())
    }

    fn world(&self) -> &Shared {
        self.turns.world().as_ref()
    }

    fn status(&self) -> DaemonStatus {
        DaemonStatus {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mode: self.facts.mode,
            started_at: Timestamp::of_millis(self.started),
            now_millis: now(),
            process_id: std::process::id(),
            base_url: self.facts.base_url.clone(),
            quorum_public_key: self.facts.identity.quorum_public_key(),
            keys_locked: self.world().keys_are_locked(),
            strict_deny_errors: self.world().deny_errors() == DenyErrors::Deny,
        }
    }

    fn organizations(&self, query: &Query) -> Result<Bytes, Refusal> {
        let parent = query.id("parent")?;
        json(&operator::organizations(self.world(), parent, query.id("after")?, query.limit()?)?)
    }

    fn organization(&self, id: &str) -> Result<Bytes, Refusal> {
        json(&operator::organization(self.world(), parsed(id)?)?)
    }

    fn activities(&self, id: &str, query: &Query) -> Result<Bytes, Refusal> {
        let unknown = || Refusal::from(Intent::Text("unknown status"));
        let status = |name: &String| {
            serde_json::from_value(serde_json::Value::String(name.clone())).map_err(|_| unknown())
        };
        let asked = ActivityQuery {
            statuses: query.list("status").iter().map(status).collect::<Result<_, _>>()?,
            types: query.list("type"),
            after: query.id("after")?,
            limit: query.limit()?,
        };
        json(&operator::activities(self.world(), parsed(id)?, &asked, now())?)
    }

    fn findings(&self, id: &str) -> Result<Bytes, Refusal> {
        let findings = advice::findings(self.world(), parsed(id)?, now())?;
        json(&serde_json::json!({"findings": findings}))
    }

    fn explained(&self, id: &str, reference: &str) -> Result<Bytes, Refusal> {
        json(&advice::explained(self.world(), parsed(id)?, reference, now())?)
    }

    fn signer(&self, id: &str, query: &Query) -> Result<Bytes, Refusal> {
        let name = query.text("name").unwrap_or_default();
        json(&operator::signer(self.world(), parsed(id)?, &name, now())?)
    }

    fn review(&self, id: &str, reference: &str) -> Result<Bytes, Refusal> {
        json(&operator::review(self.world(), parsed(id)?, reference, now())?)
    }

    fn accounts(&self, id: &str, wallet: &str, query: &Query) -> Result<Bytes, Refusal> {
        let page = operator::accounts(
            self.world(),
            parsed(id)?,
            parsed(wallet)?,
            query.id("after")?,
            query.limit()?,
        )?;
        json(&page)
    }

    /// The change feed from behind a token on.
    fn events(&self, after: Option<String>) -> Answer {
        let (sender, receiver) = mpsc::channel(16);
        let shared = Arc::clone(self.turns.world());
        tokio::spawn(async move { feed(&shared, after, &sender).await });
        Answer::events(receiver)
    }
}

/// Sends events until the watcher goes away.
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

fn json<T: Serialize>(value: &T) -> Result<Bytes, Refusal> {
    let flaw = quorate_core::refusal::Corrupt::Invariant("an answer does not serialize");
    Ok(Bytes::from(serde_json::to_vec(value).map_err(|_| flaw)?))
}

fn parsed<T: std::str::FromStr>(text: &str) -> Result<T, Refusal> {
    text.parse().map_err(|_| Intent::Text("expected an id").into())
}

/// The members of the query part of a target.
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

    fn id<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, Refusal> {
        self.text(name).map(|text| parsed(&text)).transpose()
    }

    fn limit(&self) -> Result<usize, Refusal> {
        match self.text("limit") {
            None => Ok(PAGE_LIMIT),
            Some(text) => {
                let limit: usize = text.parse().map_err(|_| Intent::Text("expected a number as `limit`"))?;
                Ok(limit.clamp(1, PAGE_LIMIT))
            }
        }
    }
}

/// A fault for a route that needs a daemon that can write.
pub fn not_ready() -> Fault {
    Fault::new(Code::Unavailable, "the service cannot take writes now")
}
