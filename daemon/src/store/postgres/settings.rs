//! How the database is reached: the URL, the certificates that are trusted, and the password.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::errors::DatabaseError;
use crate::private_file::{self, SecretFileError};

/// Port of servers for which the URL names none.
const PORT: u16 = 5432;
/// Time to connect to one host.
const CONNECT: Duration = Duration::from_secs(2);
/// Time after which sent data that is not acknowledged ends a connection.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);
/// Interval of keepalive probes.
const KEEPALIVE: Duration = Duration::from_secs(1);
/// Number of keepalive probes without an answer that end a connection.
const PROBES: u32 = 3;

/// The URL of a database, without a password.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(tokio_postgres::Config);

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DatabaseUrl").field("name", &self.0.get_dbname()).finish_non_exhaustive()
    }
}

impl FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl DatabaseUrl {
    fn parse(text: &str) -> Result<Self, String> {
        if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
            return Err("must be a URL, such as \"postgres://quorate@db.example.org/quorate\"".to_owned());
        }
        let config: tokio_postgres::Config = text.parse().map_err(|error| invalid(&error))?;
        let problem = if config.get_password().is_some() {
            "must not contain a password; use password_file"
        } else if config.get_hosts().is_empty() {
            "must name a host, or the directory of a socket as \"?host=/run/postgresql\""
        } else if config.get_dbname().is_none() {
            "must name a database"
        } else if config.get_user().is_none() {
            "must name a user"
        } else {
            let url = Self(config);
            let is_open = url.0.get_ssl_mode() == SslMode::Disable && !url.is_local();
            return if is_open {
                Err("must not disable TLS for another machine".to_owned())
            } else {
                Ok(url)
            };
        };
        Err(problem.to_owned())
    }

    /// Returns whether all hosts are sockets of this machine or loopback addresses.
    fn is_local(&self) -> bool {
        let is_loopback = |name: &str| {
            name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        };
        self.0.get_hosts().iter().all(|host| match host {
            Host::Tcp(name) => is_loopback(name),
            Host::Unix(_) => true,
        }) && self.0.get_hostaddrs().iter().all(IpAddr::is_loopback)
    }

    /// Returns the socket or the address of one of the hosts.
    pub(super) fn server(&self, host: usize) -> String {
        let ports = self.0.get_ports();
        let port = ports.get(host).or(ports.first()).copied().unwrap_or(PORT);
        match self.0.get_hosts().get(host) {
            Some(Host::Tcp(name)) => format!("{name}:{port}"),
            Some(Host::Unix(path)) => path.join(format!(".s.PGSQL.{port}")).display().to_string(),
            None => String::new(),
        }
    }

    /// Returns what concerns one of the hosts. Times and TLS are set for each connection.
    fn at(&self, host: usize) -> tokio_postgres::Config {
        let (all, mut one) = (&self.0, tokio_postgres::Config::new());
        one.channel_binding(all.get_channel_binding()).ssl_negotiation(all.get_ssl_negotiation());
        all.get_user().map(|user| one.user(user));
        all.get_dbname().map(|name| one.dbname(name));
        match all.get_hosts().get(host) {
            Some(Host::Tcp(name)) => drop(one.host(name)),
            Some(Host::Unix(path)) => drop(one.host_path(path)),
            None => {}
        }
        all.get_hostaddrs().get(host).map(|address| one.hostaddr(*address));
        // One port is that of all hosts.
        let port = all.get_ports().get(host).or_else(|| all.get_ports().first());
        port.map(|port| one.port(*port));
        one
    }

    /// Returns the name of the database and its hosts.
    pub fn place(&self) -> String {
        let hosts: Vec<String> = self
            .0
            .get_hosts()
            .iter()
            .map(|host| match host {
                Host::Tcp(name) => name.clone(),
                Host::Unix(path) => path.display().to_string(),
            })
            .collect();
        format!("{} on {}", self.0.get_dbname().unwrap_or_default(), hosts.join(","))
    }
}

/// Returns what is wrong with a URL that the library rejects, without repeating any of its text.
fn invalid(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    let option = cause.strip_prefix("invalid value for option `").and_then(|rest| rest.strip_suffix('`'));
    match option {
        Some("port") => "must have a number from 1 to 65535 as port".to_owned(),
        Some("sslmode") => "must have \"require\", \"prefer\" or \"disable\" as sslmode; TLS to another machine always verifies \
             the certificate and the name of the server, as \"verify-full\" does"
            .to_owned(),
        Some(name) => format!("has an invalid {name}"),
        None if cause.starts_with("unknown option") => "has an unknown parameter after \"?\"; useful ones are host, port, \
             options and sslmode"
            .to_owned(),
        None => "is not a valid URL of PostgreSQL, such as \"postgres://quorate@db.example.org/quorate\"".to_owned(),
    }
}

/// Which keys have a table of their own, by their first byte.
#[derive(Debug, Clone, Copy)]
pub struct KeyClasses {
    /// First byte of the keys of registers.
    pub registers: u8,
    /// First bytes of the keys of queues, whose records are replaced and removed often.
    pub queues: [u8; 3],
}

/// Settings of the database of a store.
#[derive(Clone)]
pub struct DatabaseSettings {
    /// URL of the database.
    pub url: DatabaseUrl,
    /// File with the certificates of the authorities that are trusted; `None` for those of the system.
    pub ca_file: Option<PathBuf>,
    /// File with the password of the user, if the server requires one. It is read for each connection, so the password can be changed.
    pub password_file: Option<PathBuf>,
    /// Which keys have a table of their own. This is part of the format of the store.
    pub classes: KeyClasses,
    /// Whether two headers are of the same store, which was not moved between them.
    pub is_same_store: fn(&[u8], &[u8]) -> bool,
}

impl fmt::Debug for DatabaseSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DatabaseSettings").field("url", &self.url).finish_non_exhaustive()
    }
}

impl DatabaseSettings {
    /// Returns the number of hosts of the URL.
    pub(super) fn hosts(&self) -> usize {
        self.url.0.get_hosts().len()
    }

    /// Returns the parameters of a connection to a host of the URL, whose session begins with a setting, as `name=value`. TLS is
    /// required, except on this machine.
    pub(super) fn config(&self, host: usize, setting: &str) -> Result<tokio_postgres::Config, DatabaseError> {
        let mut config = self.url.at(host);
        let options = self.url.0.get_options().unwrap_or_default();
        let mode = if self.needs_tls() { SslMode::Require } else { SslMode::Disable };
        config
            .ssl_mode(mode)
            .application_name("quorated")
            .options(format!("{options} -c {setting}").trim_start())
            .connect_timeout(CONNECT)
            .tcp_user_timeout(UNACKNOWLEDGED)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE)
            .keepalives_retries(PROBES);
        if let Some(file) = &self.password_file {
            let unreadable = |error: SecretFileError| DatabaseError::Login(error.to_string());
            config.password(private_file::first_line(file).map_err(unreadable)?.as_bytes());
        }
        Ok(config)
    }

    fn needs_tls(&self) -> bool {
        let is_required = self.url.0.get_ssl_mode() == SslMode::Require || self.ca_file.is_some();
        let is_on_sockets = self.url.0.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        !is_on_sockets && (is_required || !self.url.is_local())
    }

    /// Returns the TLS client, which verifies the chain and the name of the server.
    pub(super) fn tls(&self) -> Result<MakeRustlsConnect, DatabaseError> {
        let failed = |cause: String| DatabaseError::Tls(cause);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| failed(error.to_string()))?;
        let config = match &self.ca_file {
            None if self.needs_tls() => {
                config.with_platform_verifier().map_err(|error| failed(error.to_string()))?
            }
            None => config.with_root_certificates(RootCertStore::empty()),
            Some(path) => {
                let unreadable = |cause: String| failed(format!("{}: {cause}", path.display()));
                let mut roots = RootCertStore::empty();
                let found =
                    CertificateDer::pem_file_iter(path).map_err(|error| unreadable(error.to_string()))?;
                for certificate in found {
                    let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
                    roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
                }
                if roots.is_empty() {
                    return Err(unreadable("no certificate found".to_owned()));
                }
                config.with_root_certificates(roots)
            }
        };
        Ok(MakeRustlsConnect::new(config.with_no_client_auth()))
    }
}
