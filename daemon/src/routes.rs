//! Routing of requests from both listeners to their operations.

use std::sync::Arc;

use http::HeaderValue;
use quorate_common::api_error::{ApiError, Code};
use quorate_core::authn;
use quorate_core::budget::{CancelOnDrop, Cancellation};
use quorate_core::error::{Corrupt, RequestError, Unimplemented};
use quorate_core::model::layout;
use quorate_core::pipeline;
use quorate_core::{kinds, queries};

use crate::auth_proxy::{self, AuthProxy};
use crate::backups::Backups;
use crate::clock;
use crate::console::Console;
use crate::custody::Custody;
use crate::executor::Executor;
use crate::fail_points;
use crate::listener::{Answer, Incoming, Listener, Service, Sharing};
use crate::pages::{self, Pages};
use crate::readers::{Account, NotRun, Readers};
use crate::registrations::Registrations;
use crate::source::Client;
use crate::telemetry;

const SUBMIT: &str = "/public/v1/submit/";
const QUERY: &str = "/public/v1/query/";
const CONSOLE: &str = "/console/v1/";

/// Answers the requests of both listeners.
pub struct Routes {
    executor: Arc<Executor>,
    console: Arc<Console>,
    custody: Arc<Custody>,
    backups: Arc<Backups>,
    auth_proxy: Option<AuthProxy>,
    registrations: Registrations,
    /// Reader threads for consoles, which do not wait behind the public API.
    console_readers: Readers,
    /// Pages for browsers, if they are served.
    pages: Option<Pages>,
}

/// The services behind the routes.
pub struct Services {
    /// The console of the local socket.
    pub console: Console,
    /// Who can open the store.
    pub custody: Arc<Custody>,
    /// Backups of the store.
    pub backups: Arc<Backups>,
    /// The authentication proxy, if it is configured.
    pub auth_proxy: Option<AuthProxy>,
    /// Counts of registrations.
    pub registrations: Registrations,
}

/// Maximum number of concurrent console requests.
const CONSOLE_READERS: usize = 4;

impl Routes {
    /// Creates routes to an executor, services and, if they are served, pages.
    pub fn new(executor: Arc<Executor>, services: Services, pages: Option<Pages>) -> Self {
        let Services { console, custody, backups, auth_proxy, registrations } = services;
        let console = Arc::new(console);
        let console_readers = Readers::new(CONSOLE_READERS, CONSOLE_READERS, usize::MAX);
        Self { executor, console, custody, backups, auth_proxy, registrations, console_readers, pages }
    }

    async fn submit(&self, name: &str, incoming: &Incoming) -> Answer {
        let Some(operation) = kinds::operation(name) else {
            return if kinds::is_unoffered_operation(name) { unoffered(name) } else { Answer::not_found() };
        };
        if incoming.method != http::Method::POST {
            return Answer::wrong_method();
        }
        if operation.creates_organizations()
            && let Err(error) = self.registrations.count(client(incoming), clock::now())
        {
            return Answer::error(&error).of(operation.name());
        }
        let result = self.executor.submit(operation, &incoming.credentials, &incoming.body).await;
        answer(result).of(operation.name())
    }

    async fn query(&self, name: &str, incoming: &Incoming) -> Answer {
        let Some(entry) = queries::find(name) else {
            return if queries::is_unoffered(name) { unoffered(name) } else { Answer::not_found() };
        };
        if incoming.method != http::Method::POST {
            return Answer::wrong_method();
        }
        let result = self.executor.query(entry, &incoming.credentials, &incoming.body).await;
        answer(result).of(entry.name)
    }

    /// Returns the authentication proxy and its route, if a request is one to it.
    fn proxied<'r>(&'r self, incoming: &'r Incoming) -> Option<(&'r AuthProxy, &'r str)> {
        let proxy =
            self.auth_proxy.as_ref().filter(|_| matches!(incoming.listener, Listener::Http { .. }))?;
        Some((proxy, proxy.route(incoming.path())?))
    }

    /// Answers a console request. If the future is dropped, the work ends at its next read.
    async fn console(&self, rest: &str, incoming: Incoming) -> Answer {
        if let Some(answer) = self.custody.answer(rest, &incoming).await {
            return answer;
        }
        if let Some(answer) = self.backups.answer(rest, &incoming).await {
            return answer;
        }
        let cancellation = Cancellation::default();
        let _cancel = CancelOnDrop(cancellation.clone());
        let (console, rest) = (Arc::clone(&self.console), rest.to_owned());
        if incoming.method == http::Method::POST {
            let read =
                read(&self.console_readers, move || console.requested(&rest, &incoming, &cancellation));
            let checked = read.await;
            return match checked {
                Ok(Ok(requested)) => self.console.act(requested).await,
                Ok(Err(answer)) | Err(answer) => answer,
            };
        }
        let read = read(&self.console_readers, move || console.answer(&rest, &incoming, &cancellation));
        let answered = read.await;
        answered.unwrap_or_else(|answer| answer)
    }

    /// Returns the newest checkpoint of the activity log.
    async fn checkpoint(&self, incoming: Incoming) -> Answer {
        let cancellation = Cancellation::default();
        let _cancel = CancelOnDrop(cancellation.clone());
        let console = Arc::clone(&self.console);
        // All clients that name no organization together have the share of one.
        let readers = &self.executor.world().readers;
        let answered = read(readers, move || console.checkpoint(&incoming, &cancellation)).await;
        answered.unwrap_or_else(|answer| answer)
    }
}

impl Service for Routes {
    fn reject(&self, head: &Incoming) -> Option<Answer> {
        let error = if head.path().starts_with(SUBMIT) {
            pipeline::admit(&head.credentials).err()?
        } else if head.path().starts_with(QUERY) {
            authn::admit_query(&head.credentials).err()?
        } else if self.proxied(head).is_some() {
            return Some(auth_proxy::too_large());
        } else {
            return None;
        };
        Some(Answer::error(&error.api_error()))
    }

    fn sharing(&self, path: &str, origin: Option<&HeaderValue>) -> Sharing {
        match &self.auth_proxy {
            Some(proxy) if proxy.route(path).is_some() => proxy.sharing(origin),
            _ => Sharing::Everyone,
        }
    }

    fn counts(&self, head: &Incoming) -> bool {
        // Consoles have their own readers, and the HTTP listener does not serve these paths.
        !head.path().starts_with(CONSOLE)
    }

    async fn call(&self, incoming: Incoming) -> Answer {
        let path = incoming.path().to_owned();
        if let Some(name) = path.strip_prefix(SUBMIT) {
            self.submit(name, &incoming).await
        } else if let Some(name) = path.strip_prefix(QUERY) {
            self.query(name, &incoming).await
        } else if let Some(rest) = path.strip_prefix(CONSOLE).filter(|_| incoming.listener.serves_console()) {
            self.console(rest, incoming).await
        } else if let Some(pages) = &self.pages
            && !incoming.listener.serves_console()
            && let Some(name) = path.strip_prefix(pages::PATH)
        {
            pages.answer(name, &incoming)
        } else if let Some((proxy, route)) = self.proxied(&incoming) {
            proxy.call(route, &incoming).await
        } else if path == "/public/v1/discovery/webhooks/jwks" {
            self.console.webhook_keys(&incoming)
        } else if path == "/public/v1/discovery/quorum-key" {
            self.console.quorum_keys(&incoming)
        } else if path == "/public/v1/discovery/checkpoint" {
            self.checkpoint(incoming).await
        } else {
            self.executor.world().issuer_document(&incoming).unwrap_or_else(Answer::not_found)
        }
    }
}

/// Reads on a thread of these, for who acts for no organization. Consoles act for the operator, who counts as one tenant.
async fn read<T: Send + 'static>(
    readers: &Readers,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Answer> {
    let account = Account { tenant: layout::NO_PARENT, organization: layout::NO_PARENT };
    readers.run(account, work).await.map_err(|why| match why {
        NotRun::Crowded => {
            Answer::error(&ApiError::new(Code::Unavailable, "too many concurrent requests of this kind"))
        }
        NotRun::Panicked => {
            tracing::error!("a reader thread panicked");
            Answer::error(&RequestError::from(Corrupt::Invariant("a reader thread panicked")).api_error())
        }
    })
}

fn client(incoming: &Incoming) -> Client {
    Client::of(incoming.listener, incoming.credentials.source)
}

fn unoffered(name: &str) -> Answer {
    Answer::error(&RequestError::from(Unimplemented::Type(name.to_owned())).api_error())
}

fn answer(result: Result<Vec<u8>, ApiError>) -> Answer {
    fail_points::reach("answer.render");
    match result {
        Ok(body) => Answer::ok(body),
        Err(error) => {
            telemetry::log_cause(&error);
            Answer::error(&error)
        }
    }
}
