//! Stamps the requests that read at a daemon at a URL, with the key of the user.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quorate_common::stamp::Stamp;
use zeroize::Zeroizing;

use crate::keys::{self, Description, KeySource, Secret, passphrase};
use crate::link::Reader;

/// A key that stamps requests to read. It is unlocked once, and stays unlocked until it is locked or the program ends.
pub(super) struct ReadingKey {
    key: Arc<dyn KeySource>,
    passphrase: passphrase::Source,
    /// Held during a prompt, so that requests at the same time prompt once.
    turn: Mutex<()>,
    /// Whether the key was locked. It then prompts only when a person expects that.
    is_closed: AtomicBool,
}

impl ReadingKey {
    pub(super) fn new(key: Arc<dyn KeySource>, passphrase: passphrase::Source) -> Self {
        Self { key, passphrase, turn: Mutex::new(()), is_closed: AtomicBool::new(false) }
    }
}

impl Reader for ReadingKey {
    fn stamp(&self, body: &str) -> Result<Stamp, String> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Description { name, secret, .. } = self.key.describe();
        if self.is_closed.load(Ordering::Acquire) {
            return Err(format!("key {name} was locked; quit and start the console again"));
        }
        if *secret == Some(Secret::PinAndTouch) {
            return Err(format!(
                "key {name} would have to be touched for each request; use another key of the user at a URL"
            ));
        }
        let secret = match secret.filter(|_| self.key.is_locked()) {
            Some(secret) => {
                let prompt = format!("{} for key {name}, to read at the daemon: ", secret.word());
                passphrase::read(self.passphrase, &prompt).map_err(|error| error.to_string())?
            }
            None => Zeroizing::default(),
        };
        let signed =
            keys::sign(self.key.as_ref(), body.as_bytes(), &secret).map_err(|error| error.to_string());
        // It may have been locked meanwhile, which does not wait for a person.
        if self.is_closed.load(Ordering::Acquire) {
            self.key.lock();
        }
        signed
    }

    fn lock(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.key.lock();
    }

    fn open(&self) {
        self.is_closed.store(false, Ordering::Release);
    }
}
