//! All sources of keys of this user: finds a key by its selector, and lists the keys.

use std::path::PathBuf;
use std::sync::Arc;

use quorate_common::stamp::{ApiKeyCurve, ExternalKey};

use super::agent::{self, AgentKey};
use super::encrypted::EncryptedKey;
use super::error::KeyError;
use super::file::{self, KeyFile};
use super::security_key::{self, SecurityKey};
use super::selector::Selector;
use super::source::KeySource;
use super::token::{self, TokenKey};
use crate::config::{Config, ConfigError};
use crate::files::Folders;

/// Where keys are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sources {
    pub(crate) folders: Folders,
    /// Socket of the SSH agent.
    pub(crate) agent: Option<PathBuf>,
    /// PKCS #11 module of tokens.
    pub(crate) module: Option<PathBuf>,
    /// Path of the security key, unless the attached ones are searched.
    pub(crate) security_key: Option<PathBuf>,
}

/// A key, or a source that cannot be listed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// Selector for `--key`.
    pub(crate) selector: String,
    /// Comment of its source; not cleaned.
    pub(crate) comment: Option<String>,
    /// Curve and public key, or why the key is unusable.
    pub(crate) key: Result<(ApiKeyCurve, String), String>,
}

impl Sources {
    /// Creates the sources of this environment: the SSH agent is the one of `SSH_AUTH_SOCK`.
    ///
    /// # Errors
    /// [`ConfigError`] if the configuration is not valid.
    pub(crate) fn new(folders: &Folders) -> Result<Self, ConfigError> {
        Ok(Self::configured(folders, &Config::load(folders)?))
    }

    /// Creates the sources of this environment with a configuration.
    pub(crate) fn configured(folders: &Folders, config: &Config) -> Self {
        let agent = std::env::var_os("SSH_AUTH_SOCK").filter(|path| !path.is_empty());
        Self {
            folders: folders.clone(),
            agent: agent.map(PathBuf::from),
            module: config.pkcs11_module.clone(),
            security_key: config.security_key.clone(),
        }
    }

    /// Finds a key.
    ///
    /// # Errors
    /// [`KeyError`] if it is not exactly one usable key.
    pub(crate) fn open(&self, selector: &str) -> Result<Arc<dyn KeySource>, KeyError> {
        Ok(match Selector::parse(selector)? {
            Selector::File(name) => Arc::new(EncryptedKey::open(&self.folders, &name)?),
            Selector::Agent(key) => Arc::new(AgentKey::open(self.agent.as_deref(), &key)?),
            Selector::Token { token, label } => {
                Arc::new(TokenKey::open(self.module.as_deref(), &token, &label)?)
            }
            Selector::SecurityKey(name) => {
                Arc::new(SecurityKey::open(&self.folders, self.security_key.as_deref(), &name)?)
            }
        })
    }

    /// Lists the keys of all sources.
    ///
    /// # Errors
    /// [`KeyError`] if the folder of the key files cannot be read.
    pub(crate) fn list(&self) -> Result<Vec<Listed>, KeyError> {
        let mut all: Vec<Listed> =
            file::names(&self.folders)?.into_iter().map(|name| self.of_file(name)).collect();
        all.extend(self.of_agent());
        all.extend(self.of_tokens());
        all.extend(self.of_security_keys());
        Ok(all)
    }

    fn of_file(&self, name: String) -> Listed {
        let key = KeyFile::load(&self.folders, &name);
        let key = key.map(|key| (key.curve(), key.public_key().to_owned()));
        Listed { selector: name, comment: None, key: key.map_err(|error| error.to_string()) }
    }

    fn of_agent(&self) -> Vec<Listed> {
        let Some(socket) = &self.agent else { return Vec::new() };
        match agent::list(socket) {
            Ok(found) => found
                .into_iter()
                .map(|one| Listed {
                    selector: format!("agent:{}", one.fingerprint),
                    comment: Some(one.comment),
                    key: one.key.as_ref().map(described).map_err(Clone::clone),
                })
                .collect(),
            Err(error) => vec![unusable("agent:", &error.to_string())],
        }
    }

    fn of_tokens(&self) -> Vec<Listed> {
        let Some(module) = &self.module else { return Vec::new() };
        match token::list(module) {
            Ok(found) => found
                .into_iter()
                .map(|(token, label, key)| Listed {
                    selector: format!("pkcs11:{token}/{label}"),
                    comment: None,
                    key: key.as_ref().map(described).map_err(Clone::clone),
                })
                .collect(),
            Err(error) => vec![unusable("pkcs11:", &error.to_string())],
        }
    }

    /// Lists the keys on security keys by their records: a security key itself lists nothing without its PIN.
    fn of_security_keys(&self) -> Vec<Listed> {
        let names = match security_key::names(&self.folders) {
            Ok(names) => names,
            Err(error) => return vec![unusable("fido2:", &error.to_string())],
        };
        let of = |name: String| {
            let key = security_key::public_key(&self.folders, &name);
            Listed {
                selector: format!("fido2:{name}"),
                comment: None,
                key: key.map(|key| (ApiKeyCurve::P256, key)).map_err(|error| error.to_string()),
            }
        };
        names.into_iter().map(of).collect()
    }
}

fn described(key: &ExternalKey) -> (ApiKeyCurve, String) {
    (key.curve(), key.public_key().to_owned())
}

/// Returns the row of a source that cannot be listed.
fn unusable(selector: &str, error: &str) -> Listed {
    Listed { selector: selector.to_owned(), comment: None, key: Err(error.to_owned()) }
}
