//! Keys on PKCS #11 tokens, such as smart cards and hardware security modules. The token signs a digest that is computed
//! here, and every signature is verified. The key stays unlocked while its session is logged in.

mod error;
mod module;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use cryptoki::context::Pkcs11;
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::Mechanism;
use cryptoki::object::{Attribute, ObjectClass};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::Slot;
use cryptoki::types::AuthPin;
use quorate_common::stamp::{ExternalKey, Stamp};
use sha2::{Digest, Sha256};

pub(super) use error::TokenError;
use module::PublicKey;

use super::error::KeyError;
use super::source::{Description, KeySource, Secret};

/// A key of a token.
pub(super) struct TokenKey {
    module: Pkcs11,
    slot: Slot,
    token: String,
    label: String,
    /// Identifier of the key on the token; may be empty.
    id: Vec<u8>,
    key: ExternalKey,
    description: Description,
    /// Session that is logged in.
    session: Mutex<Option<Session>>,
    /// Whether the key must be locked once the signature in progress is made.
    lock_after: AtomicBool,
}

/// A key that was found on a token: labels of token and key, and the key or why it cannot stamp requests.
pub(super) type Found = (String, String, Result<ExternalKey, String>);

impl TokenKey {
    /// Finds the key with a label on the token with a label. No PIN is needed.
    ///
    /// # Errors
    /// [`TokenError`] if there is not exactly one such key.
    pub(super) fn open(path: Option<&Path>, token: &str, label: &str) -> Result<Self, TokenError> {
        let module = module::load(path.ok_or(TokenError::NoModule)?)?;
        let slot = slot(&module, token)?;
        let of = |error| TokenError::of(token, error);
        let info = module.get_token_info(slot).map_err(of)?;
        let session = module.open_ro_session(slot).map_err(of)?;
        let PublicKey { id, key, .. } = public_key(&session, token, label)?;
        let key = key.map_err(TokenError::Unusable)?;
        let needs_pin = info.login_required() && !info.protected_authentication_path();
        let description = Description {
            name: format!("pkcs11:{token}/{label}"),
            public_key: key.public_key().to_owned(),
            curve: key.curve(),
            secret: needs_pin.then_some(Secret::Pin),
            warning: None,
        };
        let (token, label) = (token.to_owned(), label.to_owned());
        let (session, lock_after) = (Mutex::new(None), AtomicBool::new(false));
        Ok(Self { module, slot, token, label, id, key, description, session, lock_after })
    }

    /// Opens a session and logs in.
    fn login(&self, pin: &str) -> Result<Session, TokenError> {
        let of = |error| TokenError::of(&self.token, error);
        let session = self.module.open_ro_session(self.slot).map_err(of)?;
        let info = self.module.get_token_info(self.slot).map_err(of)?;
        if info.label().trim_end() != self.token {
            return Err(TokenError::Removed(self.token.clone()));
        }
        if info.login_required() {
            // A token with a keypad of its own prompts for the PIN there.
            let pin = self.description.secret.map(|_| AuthPin::from(pin.to_owned()));
            match session.login(UserType::User, pin.as_ref()) {
                Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => {}
                Err(error) => return Err(of(error)),
            }
        }
        Ok(session)
    }

    fn signature(&self, session: &Session, digest: &[u8]) -> Result<Vec<u8>, TokenError> {
        let of = |error| TokenError::of(&self.token, error);
        let mut wanted = vec![
            Attribute::Class(ObjectClass::PRIVATE_KEY),
            Attribute::Label(self.label.clone().into_bytes()),
        ];
        if !self.id.is_empty() {
            wanted.push(Attribute::Id(self.id.clone()));
        }
        let (token, label) = (self.token.clone(), self.label.clone());
        match session.find_objects(&wanted).map_err(of)?.as_slice() {
            [] => Err(TokenError::Gone { token, label }),
            [key] => session.sign(&Mechanism::Ecdsa, *key, digest).map_err(of),
            several => Err(TokenError::Ambiguous { token, label, count: several.len() }),
        }
    }

    fn session(&self) -> MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeySource for TokenKey {
    fn describe(&self) -> &Description {
        &self.description
    }

    fn is_locked(&self) -> bool {
        self.session().is_none()
    }

    fn stamp(&self, body: &[u8], secret: &str) -> Result<Stamp, KeyError> {
        let mut held = self.session();
        self.lock_after.store(false, Ordering::SeqCst);
        let session = match held.take() {
            Some(session) => session,
            None => self.login(secret)?,
        };
        let signature = self.signature(&session, &Sha256::digest(body));
        // After an error the token may be gone, so the next signature logs in again.
        if signature.is_ok() && !self.lock_after.load(Ordering::SeqCst) {
            *held = Some(session);
        } else {
            end(&session);
        }
        self.key.stamp(body, &signature?).map_err(|_| KeyError::unverified())
    }

    fn lock(&self) {
        self.lock_after.store(true, Ordering::SeqCst);
        let held = match self.session.try_lock() {
            Ok(mut held) => held.take(),
            Err(TryLockError::Poisoned(mut held)) => held.get_mut().take(),
            // A signature is being made; it locks the key when it ends.
            Err(TryLockError::WouldBlock) => None,
        };
        if let Some(session) = held {
            end(&session);
        }
    }
}

/// Logs out. The session closes when it is dropped; if the token is gone, it is logged out already.
fn end(session: &Session) {
    let _ = session.logout();
}

/// Returns the slot of the token with this label.
fn slot(module: &Pkcs11, token: &str) -> Result<Slot, TokenError> {
    let tokens = module::tokens(module).map_err(|error| TokenError::of(token, error))?;
    let mut slots = tokens.into_iter().filter(|(_, label)| label == token).map(|(slot, _)| slot);
    match (slots.next(), slots.count()) {
        (None, _) => Err(TokenError::Absent(token.to_owned())),
        (Some(slot), 0) => Ok(slot),
        (Some(_), more) => Err(TokenError::Tokens { token: token.to_owned(), count: more.saturating_add(1) }),
    }
}

/// Returns the public key with this label.
fn public_key(session: &Session, token: &str, label: &str) -> Result<PublicKey, TokenError> {
    let keys = module::public_keys(session).map_err(|error| TokenError::of(token, error))?;
    let mut keys = keys.into_iter().filter(|key| key.label == label);
    let (token, label) = (token.to_owned(), label.to_owned());
    match (keys.next(), keys.count()) {
        (None, _) => Err(TokenError::NoKey { token, label }),
        (Some(key), 0) => Ok(key),
        (Some(_), more) => Err(TokenError::Ambiguous { token, label, count: more.saturating_add(1) }),
    }
}

/// Returns all public keys of all tokens.
///
/// # Errors
/// [`TokenError`] if the module cannot be used.
pub(super) fn list(path: &Path) -> Result<Vec<Found>, TokenError> {
    let module = module::load(path)?;
    let mut all = Vec::new();
    for (slot, token) in module::tokens(&module).map_err(|error| TokenError::of("", error))? {
        let of = |error| TokenError::of(&token, error);
        let session = module.open_ro_session(slot).map_err(of)?;
        let keys = module::public_keys(&session).map_err(of)?;
        all.extend(keys.into_iter().map(|key| (token.clone(), key.label, key.key)));
    }
    Ok(all)
}
