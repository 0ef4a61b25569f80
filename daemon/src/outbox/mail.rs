//! Sends waiting mail over SMTP (RFC 5321). Only this module uses the mail library.

mod compose;
mod domain;

use std::error::Error as _;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::Mailbox;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::response::Response;
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use quorate_common::bounded::Email;
use quorate_core::mail::Mail;
use quorate_core::message_events::Message;
use quorate_core::model::Millis;
use quorate_core::model::layout::{MAILS, of_message};
use quorate_core::model::message_event::ServerAnswer;
use quorate_core::model::one_time_code::Contact;
use quorate_core::model::write::Effect;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use url::Url;
use zeroize::Zeroizing;

pub use domain::SenderDomain;

use super::queue::{Channel, Outcome, Queue, Reply, Step};
use super::schedule;
use crate::executor::{Executor, Shared};
use crate::fail_points;
use crate::telemetry::Metrics;

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
pub struct Sender {
    mailbox: Mailbox,
    address: Email,
}

impl Sender {
    /// Parses an address, optionally preceded by a name (RFC 5322 §3.4).
    pub fn parse(text: &str) -> Option<Self> {
        let mailbox: Mailbox = text.parse().ok()?;
        let address = Email::parse(mailbox.email.to_string()).ok()?;
        Some(Self { mailbox, address })
    }

    /// Returns the address without the name.
    pub const fn email(&self) -> &Email {
        &self.address
    }
}

/// Settings for sending mail.
pub struct MailSettings {
    /// Mail server.
    pub server: MailServer,
    /// Sender address.
    pub sender: Sender,
    /// Domains that mail may be sent from, besides the sender address.
    pub domains: Vec<SenderDomain>,
    /// User name and password for the mail server.
    pub login: Option<(String, Zeroizing<String>)>,
}

/// Sends waiting mail.
pub struct Mailer(Queue<MailChannel>);

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
        let channel =
            MailChannel { transport: transport.build(), sender: settings.sender, domains: settings.domains };
        Ok(Self(Queue::new(executor, channel, metrics)))
    }

    /// Sends mail until `stop`. The rest is sent after the next start.
    pub async fn run(self, stop: CancellationToken) {
        self.0.run(stop).await;
    }
}

/// A mail server, and the senders of mail.
struct MailChannel {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    sender: Sender,
    domains: Vec<SenderDomain>,
}

impl Channel for MailChannel {
    type Message = Mail;
    const NAME: &'static str = "mail";
    const QUEUE: &'static [u8] = MAILS;
    const EFFECT: Effect = Effect::Mail;
    const ATTEMPTS: u32 = schedule::MAIL_ATTEMPTS;

    fn committed(world: &Shared) -> &Notify {
        &world.mail
    }

    fn schedule(mail: &Mail) -> (u32, Millis) {
        (mail.attempts, mail.due)
    }

    fn rescheduled(mail: &Mail, attempts: u32, due: Millis) -> Mail {
        let mut later = mail.clone();
        (later.attempts, later.due) = (attempts, due);
        later
    }

    fn described(&self, key: &[u8], mail: &Mail) -> Option<Message> {
        let (activity, number) = of_message(key)?;
        let from = mail.from.clone().unwrap_or_else(|| self.sender.address.clone());
        Some(Message {
            origin: mail.origin?,
            activity,
            number,
            to: Contact::Email(mail.to.clone()),
            from: Some(from),
        })
    }

    async fn send(&self, key: &[u8], mail: &Mail) -> Reply {
        if mail.from.as_ref().is_some_and(|from| !self.domains.iter().any(|domain| domain.contains(from))) {
            // The domain was allowed when the mail was queued, and is not anymore.
            tracing::warn!("a mail is not sent: the domain of its sender is not in mail.from_domains");
            return unsent("the domain of the sender is not in mail.from_domains");
        }
        let Some(message) = compose::message(key, mail, &self.sender.mailbox) else {
            tracing::warn!("a mail cannot be composed");
            return unsent("the mail cannot be composed");
        };
        fail_points::reach("mail.send");
        let answer = self.transport.send(message).await;
        fail_points::reach("mail.sent");
        reply(answer, &[&mail.text, mail.html.as_deref().unwrap_or_default()])
    }

    fn reach(step: Step) {
        fail_points::reach(match step {
            Step::Read => "mail.read",
            Step::Recorded => "mail.recorded",
        });
    }
}

/// Returns the reply for a mail that this service does not send.
fn unsent(reason: &str) -> Reply {
    Reply { outcome: Outcome::Rejected, answer: ServerAnswer::new(None, reason, &[]) }
}

/// Returns the reply for the result of an attempt to send a mail with these texts.
fn reply(result: Result<Response, SmtpError>, texts: &[&str]) -> Reply {
    let error = match result {
        Ok(response) => {
            let text = response.message().collect::<Vec<_>>().join(" ");
            let answer = ServerAnswer::new(Some(response.code().into()), &text, texts);
            return Reply { outcome: Outcome::Accepted, answer };
        }
        Err(error) => error,
    };
    let status = error.status().map(u16::from);
    let rejected = status.is_some_and(|status| PERMANENT.contains(&status));
    tracing::warn!(status, rejected, "the mail server did not accept a mail");
    let text = match status {
        Some(_) => error.source().map(ToString::to_string).unwrap_or_default(),
        None if error.is_timeout() => "no answer in time".to_owned(),
        None if error.is_tls() => "TLS failed".to_owned(),
        None if error.is_client() => {
            "the mail server does not offer what the configuration requires".to_owned()
        }
        None if error.is_response() => "the answer is not SMTP".to_owned(),
        None => "cannot connect, or the connection was lost".to_owned(),
    };
    let outcome = if rejected { Outcome::Rejected } else { Outcome::Failed };
    Reply { outcome, answer: ServerAnswer::new(status, &text, texts) }
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
