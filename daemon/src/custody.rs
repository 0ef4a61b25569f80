//! Custody: who can open the store. Answers requests on the local socket about slots and shares, in an open daemon and in
//! a sealed one.

mod headers;
mod routes;
mod sealed;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use quorate_common::share::GivenShare;
use quorate_core::error::Corrupt;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use self::headers::{HeaderError, Headers};
pub use self::routes::rows;
pub use self::sealed::Sealed;
use crate::executor::{Executor, TermError};
use crate::vault::{Collection, GiveError, Given, Header, SlotState, StoreKey, VaultError};

/// Maximum number of requests that are carried out at once. Others wait.
const TURNS: usize = 4;
/// Time from the first share of an attempt to its end.
const ATTEMPT: Duration = Duration::from_mins(10);

/// Who can open the store, and the attempt to open one of its slots by shares.
pub struct Custody {
    headers: Arc<Headers>,
    /// Rotates the sealing keys; `None` while the daemon is sealed.
    executor: Option<Arc<Executor>>,
    /// The store key; `None` while the daemon is sealed.
    store_key: Option<StoreKey>,
    /// On the heap, so that its key leaves no copy behind when it is moved.
    attempt: Mutex<Option<Box<Attempt>>>,
    /// The store key that the shares opened.
    opened: Mutex<Option<StoreKey>>,
    /// Serializes changes of the header.
    changes: Mutex<()>,
    /// Cancelled when a sealed daemon was opened, or an open one is to be sealed.
    done: CancellationToken,
    /// Checks that the daemon can start again, sealed; `None` if it cannot be sealed.
    can_seal: Option<SealCheck>,
    /// Limits how many requests are carried out at once.
    turns: Semaphore,
    /// Limits how many of these wait for programs or tokens.
    slow_turns: Semaphore,
}

/// Checks that a daemon can start again once it is sealed. Returns why it cannot.
pub type SealCheck = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

struct Attempt {
    collection: Collection,
    ends: Option<Instant>,
    /// Whether a task wipes it at its end.
    is_timed: bool,
}

/// Why a request about custody is not carried out.
#[derive(Debug, thiserror::Error)]
enum CustodyError {
    #[error(transparent)]
    Give(#[from] GiveError),
    #[error(transparent)]
    Vault(#[from] VaultError),
    #[error(transparent)]
    Header(#[from] HeaderError),
    #[error("the daemon is sealed")]
    Sealed,
    #[error("only the user who runs the daemon, or root, can do this")]
    NotOwner,
    #[error("a throwaway daemon cannot be sealed: its data ends with it")]
    Throwaway,
    #[error("no slot is opened by shares, so nothing would open the sealed daemon")]
    NothingUnseals,
    #[error("the daemon could not start again: {0}")]
    CannotRestart(String),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error(transparent)]
    Term(#[from] TermError),
    #[error(
        "too many earlier keys are still needed; try again when 'quorate status' shows that records of earlier terms were sealed again"
    )]
    TooManyTerms,
    #[error("a program or a token is being tried for another slot; try again in a moment")]
    Adding,
    #[error("{0}")]
    Input(String),
}

impl Custody {
    /// Creates the custody of an open store.
    pub fn open(
        headers: Arc<Headers>,
        executor: Arc<Executor>,
        store_key: StoreKey,
        can_seal: Option<SealCheck>,
    ) -> Arc<Self> {
        let executor = Some(executor);
        Arc::new(Self { executor, can_seal, ..Self::of(headers, Some(store_key)) })
    }

    /// Creates the custody of a store that waits for shares.
    pub fn sealed(headers: Headers) -> Arc<Self> {
        Arc::new(Self::of(Arc::new(headers), None))
    }

    fn of(headers: Arc<Headers>, store_key: Option<StoreKey>) -> Self {
        Self {
            headers,
            executor: None,
            store_key,
            attempt: Mutex::default(),
            opened: Mutex::default(),
            changes: Mutex::default(),
            done: CancellationToken::new(),
            can_seal: None,
            turns: Semaphore::new(TURNS),
            slow_turns: Semaphore::new(1),
        }
    }

    /// Returns the token that is cancelled when a sealed daemon was opened, or an open one is to be sealed.
    pub const fn done(&self) -> &CancellationToken {
        &self.done
    }

    /// Returns the store key that shares opened, once.
    pub fn take_opened(&self) -> Option<StoreKey> {
        lock(&self.opened).take()
    }

    const fn is_sealed(&self) -> bool {
        self.store_key.is_none()
    }

    fn store_key(&self) -> Result<&StoreKey, CustodyError> {
        self.store_key.as_ref().ok_or(CustodyError::Sealed)
    }

    /// Returns the state of the slots that shares may open: in an open daemon, those that wait for their holders.
    const fn awaited(&self) -> SlotState {
        if self.is_sealed() { SlotState::Active } else { SlotState::Pending }
    }

    /// Calls `work` with the attempt of now. One that has ended is wiped, and another one begins.
    fn with_attempt<T>(&self, work: impl FnOnce(&mut Attempt) -> T) -> Result<T, VaultError> {
        let mut attempt = lock(&self.attempt);
        let has_ended = |attempt: &Attempt| attempt.ends.is_some_and(|ends| ends <= Instant::now());
        let current = match attempt.take().filter(|attempt| !has_ended(attempt)) {
            Some(current) => current,
            None => Box::new(Attempt {
                collection: Collection::begin(self.awaited())?,
                ends: None,
                is_timed: false,
            }),
        };
        Ok(work(attempt.insert(current)))
    }

    /// Takes a share. In a sealed daemon, enough of them open the store; in an open one, they make a slot active.
    fn give(&self, given: &GivenShare) -> Result<(Header, Given), CustodyError> {
        let _changing = lock(&self.changes);
        let mut header = self.headers.read()?;
        let taken = self.with_attempt(|attempt| {
            let taken = attempt.collection.give(&header, given);
            if attempt.collection.is_empty() {
                attempt.ends = None;
            } else if attempt.ends.is_none() {
                attempt.ends = Some(Instant::now() + ATTEMPT);
            }
            taken
        })??;
        if let Given::Open(id, key) = &taken {
            // The shares of other sets are not needed either.
            *lock(&self.attempt) = None;
            if self.is_sealed() {
                *lock(&self.opened) = Some(key.clone());
                self.done.cancel();
            } else {
                header.activate(id)?;
                self.headers.write(&header)?;
                tracing::info!(slot = id, "the holders have given their shares: the slot is active");
            }
        }
        Ok((header, taken))
    }

    /// Changes the header, as the only one at a time.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Header, &StoreKey) -> Result<T, VaultError>,
    ) -> Result<(Header, T), CustodyError> {
        let store_key = self.store_key()?;
        let _changing = lock(&self.changes);
        let mut header = self.headers.read()?;
        let changed = change(&mut header, store_key)?;
        self.headers.write(&header)?;
        tracing::info!(slots = header.all_slots().len(), "the slots of the store were changed");
        // The slots that an attempt is for may be gone.
        *lock(&self.attempt) = None;
        Ok((header, changed))
    }

    /// Wipes the shares of an attempt when its time is over.
    fn expire_later(self: &Arc<Self>) {
        let untimed = |attempt: &mut Box<Attempt>| {
            let ends = attempt.ends.filter(|_| !attempt.is_timed)?;
            attempt.is_timed = true;
            Some(ends)
        };
        let Some(ends) = lock(&self.attempt).as_mut().and_then(untimed) else { return };
        let custody: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(ends).await;
            let Some(custody) = custody.upgrade() else { return };
            let mut attempt = lock(&custody.attempt);
            if attempt.as_ref().is_some_and(|attempt| attempt.ends == Some(ends)) {
                *attempt = None;
                tracing::info!("the attempt to collect shares has ended; its shares were wiped");
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
