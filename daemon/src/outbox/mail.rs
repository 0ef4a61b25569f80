//! Sends waiting mail over SMTP (RFC 5321). Only this module uses the mail library.

mod compose;
mod domain;

use std::borrow::Cow;
use std::error::Error as _;
use std::io;
use std::net::IpAddr;
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
use quorate_core::model::layout::of_message;
use quorate_core::model::message_event::ServerAnswer;
use quorate_core::model::one_time_code::Contact;
use tokio_util::sync::CancellationToken;
use url::Url;
use zeroize::Zeroizing;

pub use domain::SenderDomain;

use super::channel::{Channel, Outcome, Reply, SentMessage, Step};
use super::queue::Queue;
use super::schedule;
use crate::executor::Executor;
use crate::fail_points;
use crate::telemetry::Metrics;

/// Status codes that concern this mail and its recipient (RFC 5321 §4.2.3). Other errors, such as a wrong
/// password, concern the configuration, and the mail is kept until an operator corrects it.
const PERMANENT: [u16; 6] = [501, 550, 551, 552, 553, 555];
/// Status codes with which a server states that it takes no mail from this service now (RFC 5321 §4.2.3, RFC 4954 §6).
const UNAVAILABLE: [u16; 7] = [421, 432, 454, 530, 534, 535, 538];
/// Why there is no answer if the server is silent.
const SILENT: &str = "no answer in time";
/// Deadline of connecting to the server.
const CONNECT_DEADLINE: Duration = Duration::from_secs(30);
/// Deadline of sending one mail, from the first byte to the server's answer. A mail that the server takes later is sent
/// again, so this is long.
const DEADLINE: Duration = Duration::from_mins(1);

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

    /// Returns whether mail is sent to another machine without TLS.
    pub fn is_exposed(&self) -> bool {
        let is_local =
            self.host.parse::<IpAddr>().map_or(self.host == "localhost", |host| host.is_loopback());
        self.protection == Protection::Plain && !is_local
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
    /// Whether users of sub-organizations may customize the sender, the logo and the link of mail.
    pub child_branding: bool,
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
            .timeout(Some(CONNECT_DEADLINE));
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
    const ATTEMPTS: u32 = schedule::MAIL_ATTEMPTS;

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
            let SentMessage { activity, domain } = sent(key, mail);
            tracing::warn!(
                activity,
                domain,
                "a mail is not sent: the domain of its sender is not in mail.from_domains"
            );
            return unsent("the domain of the sender is not in mail.from_domains");
        }
        let Some(message) = compose::message(key, mail, &self.sender.mailbox) else {
            let SentMessage { activity, domain } = sent(key, mail);
            tracing::warn!(activity, domain, "a mail cannot be composed");
            return unsent("the mail cannot be composed");
        };
        fail_points::reach("mail.send");
        let answer = tokio::time::timeout(DEADLINE, self.transport.send(message)).await;
        fail_points::reach("mail.sent");
        let Ok(answer) = answer else {
            let SentMessage { activity, domain } = sent(key, mail);
            tracing::warn!(activity, domain, "the mail server did not answer in time");
            return Reply { outcome: Outcome::Failed, answer: mail.answer(None, SILENT) };
        };
        reply(answer, key, mail)
    }

    fn reach(step: Step) {
        fail_points::reach(match step {
            Step::Read => "mail.read",
            Step::Record => "mail.record",
            Step::Recorded => "mail.recorded",
        });
    }
}

/// Returns the reply for a mail that this service does not send.
fn unsent(reason: &str) -> Reply {
    Reply { outcome: Outcome::Rejected, answer: ServerAnswer::new(None, reason, &[]) }
}

/// Returns a mail as the log names it.
fn sent(key: &[u8], mail: &Mail) -> SentMessage {
    SentMessage::of(key, mail.to.as_str())
}

/// Returns the reply for the result of an attempt to send a mail.
fn reply(result: Result<Response, SmtpError>, key: &[u8], mail: &Mail) -> Reply {
    let error = match result {
        Ok(response) => {
            let text = response.message().collect::<Vec<_>>().join(" ");
            let answer = mail.answer(Some(response.code().into()), &text);
            return Reply { outcome: Outcome::Accepted, answer };
        }
        Err(error) => error,
    };
    let status = error.status().map(u16::from);
    let is_ascii = mail.to.as_str().is_ascii();
    let outcome = outcome(&error, status, is_ascii);
    let stated = || error.source().map(ToString::to_string).unwrap_or_default();
    let reason = match status {
        Some(_) => Cow::from("its answer is in `quorate messages ls`"),
        None if error.is_timeout() => SILENT.into(),
        None if error.is_tls() => "TLS failed".into(),
        None if error.is_client() && !is_ascii => {
            "the mail server does not support addresses in other letters than ASCII (SMTPUTF8)".into()
        }
        None if error.is_client() => not_offered(&stated()).into(),
        None if error.is_response() => "the answer is not SMTP".into(),
        None => lost(&error),
    };
    // The answer of a server may quote the mail, so only the reasons of this service are logged.
    let SentMessage { activity, domain } = sent(key, mail);
    tracing::warn!(activity, domain, status, ?outcome, %reason, "the mail server did not accept a mail");
    let text = if status.is_some() { stated() } else { reason.into_owned() };
    Reply { outcome, answer: mail.answer(status, &text) }
}

/// Returns why there is no connection, as the operating system states it.
fn lost(error: &SmtpError) -> Cow<'static, str> {
    let mut cause = error.source();
    while let Some(one) = cause {
        if let Some(error) = one.downcast_ref::<io::Error>() {
            return format!("cannot connect, or the connection was lost: {error}").into();
        }
        cause = one.source();
    }
    "cannot connect, or the connection was lost".into()
}

/// Returns what a mail server lacks, and which key of `[mail]` changes that. `error` is the text of the mail library.
fn not_offered(error: &str) -> &'static str {
    if error.contains("STARTTLS") {
        "the mail server does not offer STARTTLS: use smtps:// in mail.server, or set mail.allow_plain for a server \
         on this machine"
    } else if error.contains("authentication") {
        "the mail server offers no authentication for mail.username"
    } else {
        "the mail server does not offer what the configuration requires"
    }
}

/// Returns what an error means for the mail, and for the other mails.
fn outcome(error: &SmtpError, status: Option<u16>, is_ascii: bool) -> Outcome {
    match status {
        Some(status) if PERMANENT.contains(&status) => Outcome::Rejected,
        Some(status) if UNAVAILABLE.contains(&status) => Outcome::Unavailable,
        // An address that the server does not support.
        None if error.is_client() && !is_ascii => Outcome::Rejected,
        None if error.is_client() || error.is_tls() => Outcome::Unavailable,
        None if is_connection_error(error) => Outcome::Unavailable,
        _ => Outcome::Failed,
    }
}

/// Returns whether there was no connection to the server. The mail library states this in its text only.
fn is_connection_error(error: &SmtpError) -> bool {
    error.to_string().starts_with("Connection error")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_a_mail_server_lacks_is_named() {
        for (error, expected) in [
            (
                "STARTTLS is not supported on this server",
                "the mail server does not offer STARTTLS: use smtps://",
            ),
            ("No compatible authentication mechanism was found", "the mail server offers no authentication"),
            ("unexpected", "the mail server does not offer what the configuration requires"),
        ] {
            assert!(not_offered(error).starts_with(expected), "{error}");
        }
    }

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
