//! Keys that a key of a PKCS #11 token encrypts and decrypts, such as that of a hardware security module. The key of the token is
//! an AES key, which never leaves it.

use std::path::PathBuf;
use std::time::Duration;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::object::{Attribute, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::types::AuthPin;
use quorate_core::seal::NONCE;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::entropy::random;
use super::error::VaultError;
use super::within::within;

/// Time that the token may take.
const DEADLINE: Duration = Duration::from_secs(30);
/// Length of the authentication tag, in bits.
const TAG_BITS: u64 = 128;
/// Associated data: what is encrypted.
const PURPOSE: &[u8] = b"quorate/slot-key/1";

/// A key of a token, and what is needed to use it.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenKey {
    /// Absolute path of the PKCS #11 module of the token.
    pub module: PathBuf,
    /// Label of the token.
    pub token: String,
    /// Label of the key.
    pub label: String,
    /// PIN of the token.
    pub pin: Zeroizing<String>,
}

/// The key of a slot, as the key of the token has encrypted it with AES-GCM (NIST SP 800-38D).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenWrapped {
    /// Nonce, in hexadecimal digits.
    nonce: String,
    /// Ciphertext and authentication tag, in hexadecimal digits.
    wrapped_key: String,
}

impl TokenWrapped {
    /// Makes a key, and lets the token encrypt it. Whether the token decrypts it again is checked.
    ///
    /// # Errors
    /// [`VaultError::Token`].
    pub(super) fn new(with: &TokenKey) -> Result<(Self, Zeroizing<[u8; 32]>), VaultError> {
        let (key, nonce) = (Zeroizing::new(random::<32>()?), random::<NONCE>()?);
        let plain = key.clone();
        let wrapped = with.call(move |session, handle| {
            let mut nonce = nonce;
            session.encrypt(&Mechanism::AesGcm(gcm(&mut nonce)?), handle, plain.as_slice())
        })?;
        let wrapped =
            Self { nonce: const_hex::encode(nonce), wrapped_key: const_hex::encode(wrapped.as_slice()) };
        if wrapped.open(with)? != key {
            return Err(with.failed("it does not decrypt what it has encrypted", false));
        }
        Ok((wrapped, key))
    }

    /// Lets the token decrypt the key.
    ///
    /// # Errors
    /// [`VaultError::Token`].
    pub(super) fn open(&self, with: &TokenKey) -> Result<Zeroizing<[u8; 32]>, VaultError> {
        let damaged = || with.failed("its slot is damaged", false);
        let nonce: [u8; NONCE] = const_hex::decode_to_array(&self.nonce).map_err(|_| damaged())?;
        let wrapped = const_hex::decode(&self.wrapped_key).map_err(|_| damaged())?;
        let opened = with.call(move |session, handle| {
            let mut nonce = nonce;
            session.decrypt(&Mechanism::AesGcm(gcm(&mut nonce)?), handle, &wrapped)
        })?;
        let mut key = Zeroizing::new([0; 32]);
        if opened.len() != key.len() {
            return Err(damaged());
        }
        key.copy_from_slice(&opened);
        Ok(key)
    }
}

fn gcm(nonce: &mut [u8; NONCE]) -> Result<GcmParams<'_>, Error> {
    GcmParams::new(nonce, PURPOSE, TAG_BITS.into())
}

/// Why a token cannot be used.
enum CallError {
    /// The token or its key is not there.
    Absent(String),
    /// The module reported an error.
    Module(Error),
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self::Module(error)
    }
}

impl TokenKey {
    fn failed(&self, reason: &str, is_absent: bool) -> VaultError {
        VaultError::Token { token: self.token.clone(), reason: reason.to_owned(), is_absent }
    }

    fn pin_failed(&self, reason: &'static str) -> VaultError {
        VaultError::Pin { token: self.token.clone(), reason }
    }

    /// Calls the token, in a thread of its own: a module may never return.
    fn call(
        &self,
        work: impl FnOnce(&Session, ObjectHandle) -> Result<Vec<u8>, Error> + Send + 'static,
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let own = self.clone();
        let called = within(DEADLINE, move || own.logged_in(work).map(Zeroizing::new));
        match called {
            None => Err(self.failed("it did not answer within 30 seconds", true)),
            Some(Err(CallError::Absent(reason))) => Err(self.failed(&reason, true)),
            Some(Err(CallError::Module(error))) => Err(self.described(&error)),
            Some(Ok(done)) => Ok(done),
        }
    }

    fn logged_in(
        &self,
        work: impl FnOnce(&Session, ObjectHandle) -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, CallError> {
        let module = Pkcs11::new(&self.module)?;
        match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
            Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
            Err(error) => return Err(error.into()),
        }
        let mut found = Vec::new();
        for slot in module.get_slots_with_initialized_token()? {
            // A token may be removed while they are listed.
            if module.get_token_info(slot).is_ok_and(|info| info.label().trim_end() == self.token) {
                found.push(slot);
            }
        }
        let [slot] = found.as_slice() else {
            let reason =
                if found.is_empty() { "it is not connected" } else { "several tokens have this label" };
            return Err(CallError::Absent(reason.to_owned()));
        };
        let session = module.open_ro_session(*slot)?;
        match session.login(UserType::User, Some(&AuthPin::from(self.pin.to_string()))) {
            Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => {}
            Err(error) => return Err(error.into()),
        }
        let wanted =
            [Attribute::Class(ObjectClass::SECRET_KEY), Attribute::Label(self.label.clone().into_bytes())];
        let keys = session.find_objects(&wanted)?;
        let done = match keys.as_slice() {
            [key] => work(&session, *key).map_err(CallError::from),
            [] => Err(CallError::Absent(format!("it has no secret key labelled {}", self.label))),
            _ => Err(CallError::Absent(format!("several of its keys are labelled {}", self.label))),
        };
        // The session ends in any case.
        let _ = session.logout();
        done
    }

    /// Returns the error for one of the module.
    fn described(&self, error: &Error) -> VaultError {
        match error {
            Error::Pkcs11(RvError::PinIncorrect | RvError::PinLenRange | RvError::PinInvalid, _) => {
                self.pin_failed("the PIN is wrong; after a few wrong ones the token locks itself")
            }
            Error::Pkcs11(RvError::PinLocked, _) => self.pin_failed(
                "its PIN is locked after too many wrong ones; unlock it with the tools of the token",
            ),
            Error::Pkcs11(
                RvError::EncryptedDataInvalid | RvError::EncryptedDataLenRange | RvError::GeneralError,
                _,
            ) => self.failed("its key does not decrypt the slot", false),
            Error::LibraryLoading(error) => {
                self.failed(&format!("the module {}: {error}", self.module.display()), true)
            }
            error => self.failed(&error.to_string(), true),
        }
    }
}
