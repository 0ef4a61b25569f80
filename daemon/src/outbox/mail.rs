//! Sends mail that waits, over SMTP (RFC 5321). The only room that names the mail library.
//!
//! A mail leaves the store when the server has taken it, or refused it for good, or after four days of attempts. A
//! crash between taking and removing sends it twice, never not at all.

use std::collections::HashSet;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::ContentType;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use quorate_core::mail::Mail;
use quorate_core::model::layout::{Key, MAILS};
use quorate_core::model::write::Write;
use quorate_core::outbox::readable;
use quorate_core::pipeline::Commit;
use quorate_core::refusal::Corrupt;
use quorate_core::world::{Page, World as _};
use tokio_util::sync::CancellationToken;
use url::Url;
use zeroize::Zeroizing;

use super::pause::{Pause, Stopped};
use super::schedule;
use crate::clock::now;
use crate::fail_points;
use crate::telemetry::Metrics;
use crate::turn::Turns;

/// How many mails are looked at in one pass.
const PASS: usize = 256;
/// Longest rest between two passes.
const REST: Duration = Duration::from_secs(30);
/// What a server answers about this mail and its receiver (RFC 5321 §4.2.3). Other refusals, as of a password, are
/// about the two servers, and somebody will repair them.
const ABOUT_THE_MAIL: [u16; 6] = [501, 550, 551, 552, 553, 555];
/// From the first byte to the server's word on a mail.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a connection to a mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    /// TLS from the first byte (RFC 8314 §3.3).
    Tls,
    /// TLS after `STARTTLS`, or nothing is sent (RFC 3207).
    StartTls,
    /// None.
    Plain,
}

/// A server that takes mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailServer {
    host: String,
    port: u16,
    protection: Protection,
}

impl MailServer {
    /// The same without TLS.
    #[must_use]
    pub fn plain(self) -> Self {
        Self { protection: Protection::Plain, ..self }
    }
}

impl FromStr for MailServer {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let what =
            r#"must be a mail server, such as "smtps://mail.example.org" or "smtp://mail.example.org:587""#;
        let url = Url::parse(text).map_err(|_| what)?;
        let (protection, port) = match url.scheme() {
            "smtps" => (Protection::Tls, 465),
            "smtp" => (Protection::StartTls, 587),
            _ => return Err(what),
        };
        let bare = url.username().is_empty()
            && url.password().is_none()
            && url.path().trim_matches('/').is_empty()
            && url.query().is_none()
            && url.fragment().is_none();
        let host = url.host_str().filter(|host| bare && !host.is_empty()).ok_or(what)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Self { host, port: url.port().unwrap_or(port), protection })
    }
}

/// Who mail is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender(Mailbox);

impl Sender {
    /// An address, with or without a name before it (RFC 5322 §3.4).
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// Everything that sending mail needs.
pub struct MailSettings {
    /// The server.
    pub server: MailServer,
    /// Who mail is from.
    pub sender: Sender,
    /// Name and password at the server.
    pub login: Option<(String, Zeroizing<String>)>,
}

/// Sends what waits.
pub struct Postman {
    turns: Arc<Turns>,
    transport: AsyncSmtpTransport<Tokio1Executor>,
    sender: Sender,
    metrics: Metrics,
    /// What was sent and is not recorded yet.
    ended: Option<(Key, Mail, Sent)>,
    /// Mails that cannot be read. They stay where they are.
    unreadable: HashSet<Key>,
    pause: Pause,
    /// Where the next look goes on; nothing means from the start.
    after: Option<Key>,
    /// When the earliest mail is due of those that were looked at since the start.
    next: Option<u64>,
}

/// What became of one attempt.
#[derive(Clone, Copy)]
enum Sent {
    /// The server has it.
    Taken,
    /// It will never be taken.
    Refused,
    /// It may be taken later.
    Later,
}

impl Postman {
    /// A postman over these turns. Fails where TLS cannot be had.
    pub fn new(turns: Arc<Turns>, settings: MailSettings, metrics: Metrics) -> Result<Self, String> {
        let MailServer { host, port, protection } = settings.server;
        let parameters =
            || TlsParameters::new(host.clone()).map_err(|error| format!("mail needs TLS: {error}"));
        let tls = match protection {
            Protection::Tls => Tls::Wrapper(parameters()?),
            Protection::StartTls => Tls::Required(parameters()?),
            Protection::Plain => Tls::None,
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&host)
            .port(port)
            .tls(tls)
            .timeout(Some(PATIENCE));
        if let Some((name, password)) = settings.login {
            transport = transport.credentials(Credentials::new(name, password.to_string()));
        }
        Ok(Self {
            turns,
            transport: transport.build(),
            sender: settings.sender,
            metrics,
            ended: None,
            unreadable: HashSet::new(),
            pause: Pause::default(),
            after: None,
            next: None,
        })
    }

    /// Sends until `stop`. What is left then is sent after the next start.
    pub async fn run(mut self, stop: CancellationToken) {
        let turns = Arc::clone(&self.turns);
        while !stop.is_cancelled() {
            let result = tokio::select! {
                () = stop.cancelled() => return,
                result = self.work() => result,
            };
            self.pause.note(result, "mail", now());
            let rest = self.rest(now());
            tokio::select! {
                () = stop.cancelled() => return,
                () = turns.world().mails.notified() => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
    }

    /// Sends what is due among the next mails. Nothing is sent while what was sent before cannot be recorded.
    async fn work(&mut self) -> Result<(), Stopped> {
        if self.pause.holds(now()) {
            return Ok(());
        }
        if !self.turns.takes_writes() {
            return Err(Stopped::Writes);
        }
        self.record().await?;
        for (key, mail) in self.look()? {
            let sent = self.send(&mail).await;
            self.ended = Some((key, mail, sent));
            self.record().await?;
        }
        Ok(())
    }

    /// How long there is nothing to do, unless something comes.
    fn rest(&self, now: u64) -> Duration {
        let next = if self.after.is_some() { Some(now) } else { self.next };
        let until = self.pause.until().or(next);
        until.map_or(REST, |until| Duration::from_millis(until.saturating_sub(now)).min(REST))
    }

    /// Looks at a stretch of what waits.
    fn look(&mut self) -> Result<Vec<(Key, Mail)>, Corrupt> {
        fail_points::reach("mail.read");
        if self.after.is_none() {
            self.next = None;
        }
        let records = self.turns.world().records();
        let keys = records.keys(Page { after: self.after.as_deref(), ..Page::first(MAILS, PASS) })?;
        let is_full = keys.len() == PASS;
        let mut due = Vec::new();
        for key in &keys {
            let Some(mail) = readable::<Mail>(records.read(key))? else {
                // It may have been sent since its key was read.
                if !records.keys(Page::first(key, 1))?.is_empty() && self.unreadable.insert(key.clone()) {
                    self.metrics.delivery("unreadable");
                    tracing::error!("a mail cannot be read; it stays where it is");
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

    async fn send(&self, mail: &Mail) -> Sent {
        let message = mail.to.as_str().parse().ok().and_then(|to| {
            let message = Message::builder().from(self.sender.0.clone()).to(Mailbox::new(None, to));
            let message = message.subject(mail.subject.clone()).header(ContentType::TEXT_PLAIN);
            message.body(mail.text.clone()).ok()
        });
        let Some(message) = message else {
            tracing::warn!("a mail cannot be written to its address");
            return Sent::Refused;
        };
        fail_points::reach("mail.send");
        let answer = self.transport.send(message).await;
        fail_points::reach("mail.sent");
        match answer {
            Ok(_) => Sent::Taken,
            Err(error) => {
                let status = error.status().map(u16::from);
                let refused = status.is_some_and(|status| ABOUT_THE_MAIL.contains(&status));
                tracing::warn!(status, refused, "a mail could not be handed over");
                if refused { Sent::Refused } else { Sent::Later }
            }
        }
    }

    /// Makes durable what became of a mail. What cannot be recorded is remembered, and the mail is not sent again.
    async fn record(&mut self) -> Result<(), Stopped> {
        let Some((key, mail, sent)) = &self.ended else { return Ok(()) };
        let write = match sent {
            Sent::Taken | Sent::Refused => Write::remove(key.clone()),
            Sent::Later => postponed(key.clone(), mail)?,
        };
        let commit = Commit { writes: vec![write], ..Commit::default() };
        let recorded = self.turns.commit(commit).await;
        fail_points::reach("mail.settled");
        recorded.map_err(|_| Stopped::Writes)?;
        self.metrics.delivery(match sent {
            Sent::Taken => "delivered",
            Sent::Refused => "refused",
            Sent::Later => "failed",
        });
        self.ended = None;
        Ok(())
    }
}

/// Puts a mail back for later, or gives it up.
fn postponed(key: Key, mail: &Mail) -> Result<Write, Corrupt> {
    let attempts = mail.attempts.saturating_add(1);
    let Some(due) = schedule::next(attempts, schedule::MAIL_ATTEMPTS, now()) else {
        tracing::warn!("a mail was given up");
        return Ok(Write::remove(key));
    };
    let (to, subject, text) = (mail.to.clone(), mail.subject.clone(), mail.text.clone());
    Write::put(key, &Mail { to, subject, text, attempts, due })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn servers_are_named_by_url() {
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
