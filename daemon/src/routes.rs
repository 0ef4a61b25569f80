//! What stands behind the doors: which path is which operation.

use std::sync::Arc;

use quorate_common::fault::Fault;
use quorate_core::authn::{self, Credentials};
use quorate_core::pipeline;
use quorate_core::queries::Known;
use quorate_core::refusal::{Corrupt, Refusal, Unoffered};
use quorate_core::{kinds, queries};
use tokio::sync::Semaphore;

use crate::console::Console;
use crate::door::{Answer, Incoming, Line, Service, Stamps};
use crate::fail_points;
use crate::source::Proxies;
use crate::turn::Turns;

const SUBMIT: &str = "/public/v1/submit/";
const QUERY: &str = "/public/v1/query/";
const CONSOLE: &str = "/console/v1/";

/// Answers requests of both doors.
pub struct Routes {
    turns: Arc<Turns>,
    console: Arc<Console>,
    proxies: Proxies,
    /// Places for what reads much: each takes a thread of its own while it reads.
    readers: Arc<Semaphore>,
    /// The same for the console, which does not wait behind the public API.
    console_readers: Arc<Semaphore>,
}

/// How many requests of the API, and how many of consoles, that may read much are answered at once.
const READERS: [usize; 2] = [8, 4];

/// Runs something that may read much, so that other requests do not wait behind it.
async fn reading(places: &Arc<Semaphore>, run: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    // Nobody closes the semaphore, so there always is a place in the end. It is held by the work and not by the
    // request: a client that goes away does not end what it began.
    let place = Arc::clone(places).acquire_owned().await;
    let span = tracing::Span::current();
    let work = move || {
        let answer = span.in_scope(run);
        drop(place);
        answer
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        tracing::error!("reading for a request panicked");
        Answer::fault(&Refusal::from(Corrupt::Invariant("reading panicked")).fault())
    })
}

impl Routes {
    /// Routes over these turns.
    pub fn new(turns: Arc<Turns>, console: Console, proxies: Proxies) -> Self {
        let [readers, console_readers] = READERS.map(|places| Arc::new(Semaphore::new(places)));
        Self { turns, console: Arc::new(console), proxies, readers, console_readers }
    }

    fn credentials(&self, incoming: &Incoming) -> Credentials {
        let source = self.proxies.source(incoming.door, &incoming.forwarded);
        Credentials { source, ..credentials(&incoming.stamps) }
    }

    async fn submit(&self, name: &str, incoming: &Incoming) -> Answer {
        let Some(operation) = kinds::operation(name) else {
            return if kinds::is_unoffered_operation(name) { unoffered(name) } else { Answer::not_found() };
        };
        if incoming.method != http::Method::POST {
            return Answer::wrong_method();
        }
        let result = self.turns.submit(operation, &self.credentials(incoming), &incoming.body).await;
        answer(result).of(operation)
    }

    async fn query(&self, name: &str, incoming: Incoming) -> Answer {
        let Some(operation) = queries::names().find(|known| *known == name) else {
            return match queries::known(name) {
                Known::Unoffered => unoffered(name),
                Known::Offered | Known::Unknown => Answer::not_found(),
            };
        };
        if incoming.method != http::Method::POST {
            return Answer::wrong_method();
        }
        let (turns, credentials) = (Arc::clone(&self.turns), self.credentials(&incoming));
        let run = move || answer(turns.query(operation, &credentials, &incoming.body)).of(operation);
        if operation.starts_with("list_") { reading(&self.readers, run).await } else { run() }
    }
}

impl Service for Routes {
    fn refuse(&self, head: &Incoming) -> Option<Answer> {
        let credentials = credentials(&head.stamps);
        let refusal = if head.path().starts_with(SUBMIT) {
            pipeline::admit(&credentials).err()?
        } else if head.path().starts_with(QUERY) {
            authn::admit(&credentials).err()?
        } else {
            return None;
        };
        Some(Answer::fault(&refusal.fault()))
    }

    fn counts(&self, head: &Incoming) -> bool {
        // Consoles have readers of their own, and no other door answers these paths.
        !head.path().starts_with(CONSOLE)
    }

    async fn call(&self, incoming: Incoming) -> Answer {
        let path = incoming.path().to_owned();
        if let Some(name) = path.strip_prefix(SUBMIT) {
            self.submit(name, &incoming).await
        } else if let Some(name) = path.strip_prefix(QUERY) {
            self.query(name, incoming).await
        } else if let Some(rest) = path.strip_prefix(CONSOLE).filter(|_| incoming.door.serves_console()) {
            let (console, rest) = (Arc::clone(&self.console), rest.to_owned());
            reading(&self.console_readers, move || console.answer(&rest, &incoming)).await
        } else if path == "/public/v1/discovery/webhooks/jwks" {
            self.console.webhook_keys(&incoming)
        } else if path == "/public/v1/discovery/quorum-key" {
            self.console.quorum_keys(&incoming)
        } else {
            Answer::not_found()
        }
    }
}

fn unoffered(name: &str) -> Answer {
    Answer::fault(&Refusal::from(Unoffered::Type(name.to_owned())).fault())
}

fn answer(result: Result<Vec<u8>, Fault>) -> Answer {
    fail_points::reach("answer.render");
    match result {
        Ok(body) => Answer::ok(body),
        Err(fault) => Answer::fault(&fault),
    }
}

fn credentials(stamps: &Stamps) -> Credentials {
    let count = |line: &Line| match line {
        Line::Absent => 0,
        Line::Once(_) => 1,
        Line::Repeated => 2,
    };
    // What is repeated is refused, whatever it says.
    let values = |line: &Line| match line {
        Line::Absent => Vec::new(),
        Line::Once(text) => vec![text.as_str().to_owned()],
        Line::Repeated => vec![String::new(), String::new()],
    };
    Credentials {
        stamps: values(&stamps.stamp),
        webauthn: values(&stamps.webauthn),
        attested: count(&stamps.attested),
        sessions: count(&stamps.session),
        source: None,
    }
}
