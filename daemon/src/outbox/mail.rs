//! Sends waiting mail over SMTP (RFC 5321). Only this module uses the mail library.
//!
//! A mail is removed from the store when the server has accepted or permanently rejected it, or after four
//! days of attempts. If the daemon crashes between sending and removing it, the mail is sent twice; it is
//! never lost.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use quorate_core::error::Corrupt;
use quorate_core::mail::Mail;
use quorate_core::model::layout::{Key, MAILS};
use quorate_core::model::write::{Effect, Write};
use quorate_core::outbox::readable;
use quorate_core::pipeline::Commit;
use quorate_core::world::{Page, World as _};
use tokio_util::sync::CancellationToken;
use url::Url;
use zeroize::Zeroizing;

use super::pause::{Pause, Stopped};
use super::schedule;
use crate::clock::now;
use crate::executor::Executor;
use crate::fail_points;
use crate::telemetry::Metrics;

/// Maximum number of mails that are read in one pass.
const BATCH: usize = 256;
/// Maximum time between two passes.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// Status codes that concern this mail and its recipient (RFC 5321 §4.2.3). Other errors, such as a wrong
/// password, concern the configuration, and the mail is kept until an operator corrects it.
const PERMANENT: [u16; 6] = [501, 550, 551, 552, 553, 555];
/// Deadline of sending one mail, from the first byte to the server's answer.
const DEADLINE: Duration = Duration::from_secs(30);

/// Protection of the connection to a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    /// TLS from the first byte (RFC 8314 §3.3).
    Tls,
    /// TLS after `STARTTLS`; without it, nothing is sent (RFC 3207).
    StartTls,
    /// No TLS.
    Plain,
}

/// A server that accepts outgoing mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailServer {
    host: String,
    port: u16,
    protection: Protection,
}

impl MailServer {
    /// Returns the same server, used without TLS.
    #[must_use]
    pub fn plain(self) -> Self {
        Self { protection: Protection::Plain, ..self }
    }
}

impl FromStr for MailServer {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected =
            r#"must be a mail server, such as "smtps://mail.example.org" or "smtp://mail.example.org:587""#;
        let url = Url::parse(text).map_err(|_| expected)?;
        let (protection, port) = match url.scheme() {
            "smtps" => (Protection::Tls, 465),
            "smtp" => (Protection::StartTls, 587),
            _ => return Err(expected),
        };
        let bare = url.username().is_empty()
            && url.password().is_none()
            && url.path().trim_matches('/').is_empty()
            && url.query().is_none()
            && url.fragment().is_none();
        let host = url.host_str().filter(|host| bare && !host.is_empty()).ok_or(expected)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { host, port: url.port().unwrap_or(port), protection })
    }
}

/// Sender address of mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender(Mailbox);

impl Sender {
    /// Parses an address, optionally preceded by a name (RFC 5322 §3.4).
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// Settings for sending mail.
pub struct MailSettings {
    /// Mail server.
    pub server: MailServer,
    /// Sender address.
    pub sender: Sender,
    /// User name and password for the mail server.
    pub login: Option<(String, Zeroizing<String>)>,
}

/// Sends waiting mail.
pub struct Mailer {
    executor: Arc<Executor>,
    transport: AsyncSmtpTransport<Tokio1Executor>,
    sender: Sender,
    metrics: Metrics,
    /// A mail that was sent and whose outcome is not recorded yet.
    unrecorded: Option<(Key, Mail, Outcome)>,
    /// Mails that cannot be read. They are kept in the store.
    unreadable: HashSet<Key>,
    pause: Pause,
    /// Key after which the next read continues; `None` means from the start.
    after: Option<Key>,
    /// Earliest due time of the mails read since the start.
    next: Option<u64>,
}

/// Outcome of one attempt.
#[derive(Clone, Copy)]
enum Outcome {
    /// The server accepted the mail.
    Accepted,
    /// The mail is permanently rejected.
    Rejected,
    /// A later attempt may succeed.
    Failed,
}

impl Mailer {
    /// Creates a mailer that commits through an executor.
    ///
    /// # Errors
    /// Returns a message if TLS cannot be set up.
    pub fn new(executor: Arc<Executor>, settings: MailSettings, metrics: Metrics) -> Result<Self, String> {
        let MailServer { host, port, protection } = settings.server;
        let parameters =
            || TlsParameters::new(host.clone()).map_err(|error| format!("mail: cannot set up TLS: {error}"));
        let tls = match protection {
            Protection::Tls => Tls::Wrapper(parameters()?),
            Protection::StartTls => Tls::Required(parameters()?),
            Protection::Plain => Tls::None,
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&host)
            .port(port)
            .tls(tls)
            .timeout(Some(DEADLINE));
        if let Some((name, password)) = settings.login {
            transport = transport.credentials(Credentials::new(name, password.to_string()));
        }
        Ok(Self {
            executor,
            transport: transport.build(),
            sender: settings.sender,
            metrics,
            unrecorded: None,
            unreadable: HashSet::new(),
            pause: Pause::default(),
            after: None,
            next: None,
        })
    }

    /// Sends mail until `stop`. The rest is sent after the next start.
    pub async fn run(mut self, stop: CancellationToken) {
        let executor = Arc::clone(&self.executor);
        while !stop.is_cancelled() {
            let result = tokio::select! {
                () = stop.cancelled() => return,
                result = self.work() => result,
            };
            self.pause.record(result, "mail", now());
            let wait = self.wait_time(now());
            tokio::select! {
                () = stop.cancelled() => return,
                () = executor.world().mail.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Sends the due mails of the next pass. Nothing is sent while the outcome of an earlier mail cannot be
    /// recorded.
    async fn work(&mut self) -> Result<(), Stopped> {
        if self.pause.is_active(now()) {
            return Ok(());
        }
        if !self.executor.accepts_writes() {
            return Err(Stopped::Writes);
        }
        self.record().await?;
        for (key, mail) in self.read_due()? {
            let outcome = self.send(&mail).await;
            self.unrecorded = Some((key, mail, outcome));
            self.record().await?;
        }
        Ok(())
    }

    /// Returns the time until there is work to do, unless new mail is queued earlier.
    fn wait_time(&self, now: u64) -> Duration {
        let next = if self.after.is_some() { Some(now) } else { self.next };
        let until = self.pause.until().or(next);
        until.map_or(LONGEST_WAIT, |until| Duration::from_millis(until.saturating_sub(now)).min(LONGEST_WAIT))
    }

    /// Reads some of the waiting mails and returns those that are due.
    fn read_due(&mut self) -> Result<Vec<(Key, Mail)>, Corrupt> {
        fail_points::reach("mail.read");
        if self.after.is_none() {
            self.next = None;
        }
        let records = self.executor.world().records();
        let keys = records.keys(Page { after: self.after.as_deref(), ..Page::first(MAILS, BATCH) })?;
        let is_full = keys.len() == BATCH;
        let mut due = Vec::new();
        for key in &keys {
            let Some(mail) = readable::<Mail>(records.read(key))? else {
                // The mail may have been sent since its key was read.
                if !records.keys(Page::first(key, 1))?.is_empty() && self.unreadable.insert(key.clone()) {
                    self.metrics.delivery("unreadable");
                    tracing::error!("a waiting mail cannot be read; it is kept in the store");
                }
                continue;
            };
            if mail.due <= now() {
                due.push((key.clone(), mail));
            } else {
                self.next = Some(self.next.map_or(mail.due, |next| next.min(mail.due)));
            }
        }
        self.after = keys.into_iter().next_back().filter(|_| is_full);
        Ok(due)
    }

    async fn send(&self, mail: &Mail) -> Outcome {
        let message = mail.to.as_str().parse().ok().and_then(|to| {
            let message = Message::builder().from(self.sender.0.clone()).to(Mailbox::new(None, to));
            let message = message.subject(mail.subject.clone()).header(ContentType::TEXT_PLAIN);
            message.body(mail.text.clone()).ok()
        });
        let Some(message) = message else {
            tracing::warn!("a mail cannot be composed for its address");
            return Outcome::Rejected;
        };
        fail_points::reach("mail.send");
        let answer = self.transport.send(message).await;
        fail_points::reach("mail.sent");
        match answer {
            Ok(_) => Outcome::Accepted,
            Err(error) => {
                let status = error.status().map(u16::from);
                let rejected = status.is_some_and(|status| PERMANENT.contains(&status));
                tracing::warn!(status, rejected, "the mail server did not accept a mail");
                if rejected { Outcome::Rejected } else { Outcome::Failed }
            }
        }
    }

    /// Makes the outcome of a mail durable. If that fails, the outcome is kept, and the mail is not sent
    /// again.
    async fn record(&mut self) -> Result<(), Stopped> {
        let Some((key, mail, outcome)) = &self.unrecorded else { return Ok(()) };
        let write = match outcome {
            Outcome::Accepted | Outcome::Rejected => Write::remove(key.clone()),
            Outcome::Failed => postponed(key.clone(), mail)?,
        };
        let commit = Commit { writes: vec![write], ..Commit::default() };
        let recorded = self.executor.commit(commit).await;
        fail_points::reach("mail.recorded");
        recorded.map_err(|_| Stopped::Writes)?;
        self.metrics.delivery(match outcome {
            Outcome::Accepted => "delivered",
            Outcome::Rejected => "refused",
            Outcome::Failed => "failed",
        });
        self.unrecorded = None;
        Ok(())
    }
}

/// Returns the write that postpones a mail, or removes it after the last attempt.
fn postponed(key: Key, mail: &Mail) -> Result<Write, Corrupt> {
    let attempts = mail.attempts.saturating_add(1);
    let Some(due) = schedule::next(attempts, schedule::MAIL_ATTEMPTS, now()) else {
        tracing::warn!("a mail was abandoned after its last attempt");
        return Ok(Write::remove(key));
    };
    let (to, subject, text) = (mail.to.clone(), mail.subject.clone(), mail.text.clone());
    Ok(Write::put(key, &Mail { to, subject, text, attempts, due })?.with(Effect::Mail))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn mail_servers_are_parsed_from_urls() {
        let server =
            |host: &str, port, protection| Ok(MailServer { host: host.to_owned(), port, protection });
        for (text, expected) in [
            ("smtps://mail.example.org", server("mail.example.org", 465, Protection::Tls)),
            ("smtp://mail.example.org", server("mail.example.org", 587, Protection::StartTls)),
            ("smtp://127.0.0.1:2525/", server("127.0.0.1", 2525, Protection::StartTls)),
            ("smtp://[::1]:2525", server("::1", 2525, Protection::StartTls)),
        ] {
            assert_eq!(text.parse::<MailServer>(), expected, "{text}");
        }
        for bad in
            ["", "mail.example.org", "http://mail.example.org", "smtp://u:p@mail.example.org", "smtp://m/x"]
        {
            assert!(bad.parse::<MailServer>().is_err(), "{bad}");
        }
        assert!(Sender::parse("Quorate <quorate@example.org>").is_some());
        assert!(Sender::parse("nobody").is_none());
    }
}
