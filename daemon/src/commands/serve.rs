//! `quorated serve`: the daemon in production.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use quorate_common::console::Mode;

use super::stop_signal;
use crate::barrier::KEY_CLASSES;
use crate::config::{self, Config};
use crate::custody::SealCheck;
use crate::http::tls::{self, TlsError};
use crate::outbox::{MailSettings, SmsSettings};
use crate::outgoing::ReceiverPolicy;
use crate::pages::PagesSettings;
use crate::private_file::SecretFileError;
use crate::service::{
    self, Data, Ending, Engine, HttpSettings, Listeners, Listening, ServiceSettings, StartError,
};
use crate::socket::group;
use crate::source::Proxies;
use crate::store::postgres::DatabaseSettings;
use crate::vault::{Header, KeySource, SlotState, TokenKey};
use crate::{prompt, telemetry};

/// Name of the setting with the password of the database user, in messages.
const PASSWORD_FILE: &str = "[store] password_file";

/// Reads the configuration and serves until SIGTERM or SIGINT. `starts_sealed` makes the daemon wait for shares, even if
/// the configuration names another key.
///
/// # Errors
/// Returns an error if the configuration is invalid, the store cannot be opened, or a listener cannot be
/// started.
pub async fn run(path: &Path, starts_sealed: bool) -> Result<(), StartError> {
    let config = read(path)?;
    telemetry::start(config.log.format, config.log.level, false)
        .map_err(|error| StartError::Other(error.to_string()))?;
    for warning in config.warnings() {
        tracing::warn!("{warning}");
    }
    let stop = stop_signal()?;
    let settings = service_settings(&config)?;
    let mut data = if starts_sealed { data_with(&config, KeySource::Shares)? } else { data(&config, false)? };
    let listeners = Listeners {
        http: config.http.as_ref().map(|http| http_settings(http, &config)).transpose()?,
        socket: config.socket.path.clone(),
        group: config.socket.group.as_deref().map(group_id).transpose()?,
        requests: config.limits.requests,
        mode: Mode::Production,
        seal_check: Some(seal_check(path)),
        settings,
    };
    let resources = config.limits.resources.clone();
    let (engine, listening) = if matches!(data.key, KeySource::Shares) {
        // Holders can give their shares only to a daemon that listens.
        let listening = Listening::bind(listeners).await?;
        let Some(key) = service::unseal(&data, &listening, &stop).await? else { return Ok(()) };
        data.key = KeySource::StoreKey(key);
        (service::open(&data, resources, listening.settings())?, listening)
    } else {
        // An error of the store is more important than one of the listeners.
        let engine = service::open(&data, resources, &listeners.settings)?;
        warn_without_shares(&engine);
        (engine, Listening::bind(listeners).await?)
    };
    let ending = service::serve(engine, listening, stop, |base_url| async move {
        tracing::info!(base_url = base_url.as_deref().unwrap_or("none"), "ready");
        Ok(())
    })
    .await?;
    match ending {
        Ending::Stopped => Ok(()),
        Ending::Seal => Err(start_sealed(path)),
    }
}

/// Returns the check that the configuration is still valid, which a daemon that is sealed reads again.
fn seal_check(config: &Path) -> SealCheck {
    let config = config.to_owned();
    Box::new(move || Config::read(&config).map(drop).map_err(|error| error.to_string()))
}

/// Replaces this process by one that waits for shares. The system frees all its memory, and with it every key. Returns
/// only if this fails.
fn start_sealed(config: &Path) -> StartError {
    tracing::info!("sealed: starting again without keys");
    let mut again = Command::new("/proc/self/exe");
    again.arg0("quorated").arg("serve").arg("--config").arg(config).arg("--sealed");
    StartError::Other(format!("cannot start again: {}", again.exec()))
}

/// Warns of a store that is lost with its only key.
fn warn_without_shares(engine: &Engine) {
    let header = engine.headers.read();
    if header.is_ok_and(|header| !header.slots(SlotState::Active).any(|slot| slot.shares().is_some())) {
        tracing::warn!(
            "no slot of the store is opened by shares: the store is lost with its only key; see 'quorated rekey'"
        );
    }
}

/// Reads a configuration file.
pub(super) fn read(path: &Path) -> Result<Config, StartError> {
    Config::read(path).map_err(|error| StartError::Usage(error.to_string()))
}

/// Returns the service settings of a configuration.
fn service_settings(config: &Config) -> Result<ServiceSettings, StartError> {
    let webhooks = ReceiverPolicy {
        allow_networks: config.webhook.allow_networks.clone(),
        allow_http: config.webhook.allow_http,
    };
    let mail = config.mail.as_ref().map(|mail| -> Result<MailSettings, StartError> {
        let login = mail.login.as_ref();
        let login =
            login.map(|(name, file)| prompt::from_file(file).map(|password| (name.clone(), password)));
        Ok(MailSettings {
            server: mail.server.clone(),
            sender: mail.sender.clone(),
            domains: mail.domains.clone(),
            child_branding: mail.child_branding,
            login: login.transpose()?,
        })
    });
    let sms = config.sms.as_ref().map(|sms| -> Result<SmsSettings, StartError> {
        let secret = sms.secret_file.as_deref().map(prompt::from_file).transpose()?;
        Ok(SmsSettings { gateway: sms.gateway.clone(), secret, prefixes: sms.prefixes.clone() })
    });
    Ok(ServiceSettings {
        is_dev: false,
        webhooks,
        oidc: config.oidc.clone(),
        oauth2: config.oauth2.clone(),
        mail: mail.transpose()?,
        sms: sms.transpose()?,
        pages: config.pages.as_ref().map(|pages| PagesSettings {
            url: Some(pages.url.clone()),
            relying_party_id: pages.relying_party_id.clone(),
            allow_high: pages.allow_high,
        }),
        allow_registration: config.organizations.allow_registration,
        registrations_per_address: Some(config.organizations.registrations_per_address)
            .filter(|_| config.organizations.allow_registration),
        trusted: config.organizations.trusted.clone(),
        deny_errors: config.policies.deny_errors,
        auth_proxy: config.auth_proxy.clone(),
        warnings: config.warnings(),
        outbox: config.limits.outbox,
    })
}

/// Returns the location of the data and what opens it.
pub(super) fn data(config: &Config, create: bool) -> Result<Data, StartError> {
    let key = match &config.key {
        config::KeySource::File(path) => KeySource::File(path.clone()),
        config::KeySource::PassphraseFile(path) => KeySource::Passphrase(prompt::from_file(path)?),
        config::KeySource::PassphrasePrompt => {
            KeySource::Passphrase(prompt::from_terminal("Passphrase of the store")?)
        }
        config::KeySource::Command(command) => KeySource::Command(command.clone()),
        config::KeySource::Token { labels, module, pin_file } => KeySource::Token(TokenKey {
            module: module.clone(),
            token: labels.token.clone(),
            label: labels.key.clone(),
            pin: prompt::from_file(pin_file)?,
        }),
        config::KeySource::Shares => KeySource::Shares,
    };
    Ok(Data { create, ..data_with(config, key)? })
}

/// Returns the location of existing data that this source opens.
fn data_with(config: &Config, key: KeySource) -> Result<Data, StartError> {
    let database = database(&config.store)?;
    let config::Store { path, engine, redb, guard, reserve, .. } = config.store.clone();
    let journal = config.journal.clone();
    Ok(Data {
        folder: path,
        key,
        create: false,
        engine,
        redb,
        database,
        guard,
        journal,
        reserve,
        joins: false,
    })
}

/// Returns the settings of the database of a store. The file with its password can be read.
pub(super) fn database(store: &config::Store) -> Result<Option<DatabaseSettings>, StartError> {
    let Some(config::Database { url, ca_file, password_file }) = store.database.clone() else {
        return Ok(None);
    };
    password_file.as_deref().map(check_password).transpose()?;
    let is_same_store = Header::are_of_same_store;
    Ok(Some(DatabaseSettings { url, ca_file, password_file, classes: KEY_CLASSES, is_same_store }))
}

/// Checks that the file with the password of the database user can be read. It is read again for each connection.
fn check_password(file: &Path) -> Result<(), StartError> {
    let password = prompt::from_file(file).map_err(|error| match error {
        StartError::Secret(cause) => StartError::Setting { name: PASSWORD_FILE, cause },
        error => error,
    })?;
    if password.is_empty() {
        let cause = SecretFileError::Empty(file.to_owned());
        return Err(StartError::Setting { name: PASSWORD_FILE, cause });
    }
    Ok(())
}

/// Opens the store of a configuration for a command without listeners.
pub(super) fn engine(config: &Config, create: bool) -> Result<Engine, StartError> {
    service::open(&data(config, create)?, config.limits.resources.clone(), &ServiceSettings::default())
}

fn http_settings(http: &config::Http, config: &Config) -> Result<HttpSettings, StartError> {
    let tls = http.tls.as_ref().map(|files| tls::acceptor(&files.certificate, &files.key)).transpose();
    let tls = tls.map_err(|error| match error {
        TlsError::Key(error) => StartError::Secret(error),
        other => StartError::Other(other.to_string()),
    })?;
    Ok(HttpSettings {
        listen: http.listen,
        base_url: http.base_url.clone(),
        tls,
        limits: config.limits.http_listener(),
        proxies: Proxies::new(http.trusted_proxies.clone()),
    })
}

pub(super) fn group_id(name: &str) -> Result<u32, StartError> {
    let found = group::group_id(name).map_err(|error| StartError::Other(error.to_string()))?;
    found.ok_or_else(|| StartError::Usage(format!("socket.group: group {name} not found")))
}
