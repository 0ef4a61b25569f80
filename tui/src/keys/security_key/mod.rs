//! Keys on FIDO2 security keys. Each signature needs the PIN and a touch. The security key signs client data with the
//! digest of the request as its challenge, as browsers do for passkeys, so the daemon takes the stamp of a passkey.

mod authenticator;
mod channel;
mod error;
mod message;
mod pin;
mod port;
mod record;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quorate_common::stamp::{ApiKeyCurve, Scheme, Stamp};
use quorate_common::webauthn::{self, Assertion, PasskeyKey};
use serde_json::Value;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

pub(super) use error::SecurityKeyError;
pub(crate) use record::RELYING_PARTY;

use self::authenticator::Authenticator;
use self::message::Creation;
use self::record::{Record, Registration};
use super::error::KeyError;
use super::source::{Description, KeySource, Secret};
use crate::files::{FileError, Folders};

/// A key on a security key.
pub(super) struct SecurityKey {
    name: String,
    record: Record,
    /// Path of the security key, unless the attached ones are searched.
    device: Option<PathBuf>,
    description: Description,
    /// PIN that the security key accepted.
    pin: Mutex<Option<Zeroizing<String>>>,
    /// Held while a signature is made: one at a time.
    signing: Mutex<()>,
    is_cancelled: AtomicBool,
    /// Whether the key must be locked once the signature in progress is made.
    lock_after: AtomicBool,
}

impl SecurityKey {
    /// Finds the key with this name. The security key need not be attached.
    ///
    /// # Errors
    /// [`SecurityKeyError`] if there is no such key.
    pub(super) fn open(
        folders: &Folders,
        device: Option<&Path>,
        name: &str,
    ) -> Result<Self, SecurityKeyError> {
        let record = Record::load(folders, name)?;
        let description = Description {
            name: format!("fido2:{name}"),
            public_key: record.public_key().to_owned(),
            curve: ApiKeyCurve::P256,
            secret: Some(Secret::PinAndTouch),
            warning: None,
        };
        Ok(Self {
            name: name.to_owned(),
            record,
            device: device.map(Path::to_owned),
            description,
            pin: Mutex::new(None),
            signing: Mutex::new(()),
            is_cancelled: AtomicBool::new(false),
            lock_after: AtomicBool::new(false),
        })
    }

    fn signed(&self, body: &[u8], pin: &str) -> Result<Stamp, SecurityKeyError> {
        let Self { record, name, is_cancelled, .. } = self;
        let client_data = webauthn::assertion_client_data(body, record.origin());
        let mut key = Authenticator::of(record, name, &port::find(self.device.as_deref()), is_cancelled)?;
        let used = key.sign(record, name, Sha256::digest(&client_data).into(), pin)?;
        let assertion =
            Assertion::new(record.credential(), used.authenticator_data, client_data, used.signature);
        let public_key = PasskeyKey::parse(record.public_key()).map_err(|_| SecurityKeyError::Unverified)?;
        let proven = public_key.verify(&assertion, body).map_err(|_| SecurityKeyError::Unverified)?;
        let relying_party: [u8; 32] = Sha256::digest(record.relying_party()).into();
        if proven.relying_party != relying_party || !proven.user_verified {
            return Err(SecurityKeyError::Unverified);
        }
        let public_key = record.public_key().to_owned();
        Ok(Stamp { public_key, scheme: Scheme::Webauthn, signature: assertion.text() })
    }

    fn pin(&self) -> MutexGuard<'_, Option<Zeroizing<String>>> {
        self.pin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeySource for SecurityKey {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn is_locked(&self) -> bool {
        self.pin().is_none()
    }

    fn stamp(&self, body: &[u8], secret: &str) -> Result<Stamp, KeyError> {
        let _one = self.signing.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_cancelled.store(false, Ordering::SeqCst);
        self.lock_after.store(false, Ordering::SeqCst);
        let pin = self.pin().take().unwrap_or_else(|| Zeroizing::new(secret.to_owned()));
        let stamp = self.signed(body, &pin)?;
        if !self.lock_after.load(Ordering::SeqCst) {
            *self.pin() = Some(pin);
        }
        Ok(stamp)
    }

    fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
    }

    fn lock(&self) {
        self.lock_after.store(true, Ordering::SeqCst);
        *self.pin() = None;
    }
}

/// A new key on a security key.
pub(crate) struct NewSecurityKey {
    name: String,
    relying_party: String,
    origin: String,
    device: Option<PathBuf>,
}

impl NewSecurityKey {
    /// Checks that a key with this name can be created, before a person enters a PIN.
    ///
    /// # Errors
    /// [`KeyError`] if a value is not valid, if the name is used, or if there is not exactly one security key.
    pub(crate) fn new(
        folders: &Folders,
        device: Option<&Path>,
        name: &str,
        (relying_party, origin): (&str, &str),
    ) -> Result<Self, KeyError> {
        let path = record::path(folders, name)?;
        if path.exists() {
            return Err(SecurityKeyError::File(FileError::Exists(path)).into());
        }
        record::check_origin(relying_party, origin)?;
        match port::find(device).len() {
            0 => return Err(SecurityKeyError::Absent.into()),
            1 => {}
            count => return Err(SecurityKeyError::Several(count).into()),
        }
        Ok(Self {
            name: name.to_owned(),
            relying_party: relying_party.to_owned(),
            origin: origin.to_owned(),
            device: device.map(Path::to_owned),
        })
    }

    /// Creates the key on the attached security key, which is touched for it, and stores its record. Returns the public key.
    ///
    /// # Errors
    /// [`KeyError`] if the security key does not create it.
    pub(crate) fn create(&self, folders: &Folders, pin: &str) -> Result<String, KeyError> {
        let record = self.created(pin)?;
        record.store(folders, &self.name)?;
        Ok(record.public_key().to_owned())
    }

    fn created(&self, pin: &str) -> Result<Record, SecurityKeyError> {
        let (mut user, mut challenge) = ([0; 16], [0; 32]);
        getrandom::fill(&mut user).map_err(|_| SecurityKeyError::Random)?;
        getrandom::fill(&mut challenge).map_err(|_| SecurityKeyError::Random)?;
        let client_data = webauthn::registration_client_data(&challenge, &self.origin);
        let never = AtomicBool::new(false);
        let mut key = Authenticator::only(&port::find(self.device.as_deref()), &never)?;
        let creation = Creation {
            client_data_hash: Sha256::digest(&client_data).into(),
            relying_party: &self.relying_party,
            user,
            user_name: &self.name,
        };
        let created = key.create(&creation, pin)?;
        let credential = webauthn::credential_id(&created.authenticator_data)
            .ok_or(SecurityKeyError::Answer("to the registration"))?;
        let registration = Registration {
            challenge: webauthn::base64url(&challenge),
            client_data_json: webauthn::base64url(&client_data),
            attestation_object: webauthn::base64url(&created.attestation_object),
        };
        Record::new(&self.relying_party, &self.origin, &credential, registration)
    }
}

/// Returns the parameters that register the key with this name for a user: the members of `CREATE_AUTHENTICATORS_V2`
/// without the user.
///
/// # Errors
/// [`KeyError`] if there is no such key.
pub(crate) fn registration(folders: &Folders, name: &str) -> Result<Value, KeyError> {
    Ok(serde_json::json!({"authenticators": [Record::load(folders, name)?.authenticator(name)]}))
}

/// Returns the path of the record with this name, which may be unusable.
///
/// # Errors
/// [`KeyError`] if there is none.
pub(crate) fn existing(folders: &Folders, name: &str) -> Result<PathBuf, KeyError> {
    let path = record::path(folders, name)?;
    if path.exists() { Ok(path) } else { Err(SecurityKeyError::Missing(name.to_owned()).into()) }
}

/// Returns the public key of the key with this name.
///
/// # Errors
/// [`KeyError`] if there is no such key.
pub(crate) fn public_key(folders: &Folders, name: &str) -> Result<String, KeyError> {
    Ok(Record::load(folders, name)?.public_key().to_owned())
}

/// Returns the names of the keys.
///
/// # Errors
/// [`FileError`] if the folder cannot be read.
pub(super) fn names(folders: &Folders) -> Result<Vec<String>, FileError> {
    record::names(folders)
}
