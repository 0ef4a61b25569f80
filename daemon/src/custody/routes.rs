//! The paths of custody on the local socket. Only `GET` of the state and giving a share are for every peer that may
//! connect; changes are for the user who runs the daemon.

use std::path::PathBuf;
use std::sync::Arc;

use http::{Method, StatusCode};
use quorate_common::api_error::{ApiError, Code};
use quorate_common::bundle::TargetPublicKey;
use quorate_common::console::custody::{
    HolderRow, Letters, NewHolder, NewKeySlot, NewShareSet, NewTokenSlot, SealStatus, ShareOutcome,
    SlotCondition, SlotKind, SlotRow,
};
use quorate_common::share::GivenShare;
use quorate_core::error::{Corrupt, RequestError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;
use tokio::time::Instant;

use super::headers::HeaderError;
use super::{Attempt, Custody, CustodyError};
use crate::executor::TermError;
use crate::listener::{Answer, Incoming, Listener};
use crate::private_file;
use crate::vault::{
    GiveError, Given, Header, Holder, KeyKind, KeySource, NewShares, ShareHolder, ShareSet, Slot, SlotState,
    TokenKey, VaultError,
};

/// A request about custody.
enum Requested {
    Status,
    Rotate,
    Give(GivenShare),
    Seal,
    Rekey(NewShareSet),
    AddKey(NewKeySlot),
    Remove(String),
}

impl Custody {
    /// Answers a request for the path after `/console/v1/`; returns `None` for other paths.
    pub async fn answer(self: &Arc<Self>, rest: &str, incoming: &Incoming) -> Option<Answer> {
        let requested = match requested(rest, incoming)? {
            Ok(requested) => requested,
            Err(answer) => return Some(answer),
        };
        let (custody, listener) = (Arc::clone(self), incoming.listener);
        // The semaphores are never closed.
        let _turn = if is_slow(&requested) {
            match self.slow_turns.try_acquire() {
                Ok(turn) => Ok(turn),
                Err(_) => return Some(Answer::error(&CustodyError::Adding.api_error())),
            }
        } else {
            self.turns.acquire().await
        };
        // Headers are read from and written to disks and databases.
        let answered = tokio::task::spawn_blocking(move || custody.carry_out(requested, listener)).await;
        self.expire_later();
        let answer =
            answered.unwrap_or_else(|_| Err(Corrupt::Invariant("a request about custody panicked").into()));
        Some(answer.unwrap_or_else(|error| Answer::error(&error.api_error())))
    }

    fn carry_out(&self, requested: Requested, listener: Listener) -> Result<Answer, CustodyError> {
        if !matches!(requested, Requested::Status | Requested::Give(_)) {
            check_owner(listener)?;
        }
        match requested {
            Requested::Status => json(&self.status(&self.headers.read()?)?),
            Requested::Rotate => self.rotate(),
            Requested::Give(given) => self.outcome(&given),
            Requested::Seal => {
                self.store_key()?;
                let check = self.can_seal.as_ref().ok_or(CustodyError::Throwaway)?;
                check().map_err(CustodyError::CannotRestart)?;
                let header = self.headers.read()?;
                if !header.slots(SlotState::Active).any(|slot| slot.shares().is_some()) {
                    return Err(CustodyError::NothingUnseals);
                }
                let status = self.status(&header)?;
                self.done.cancel();
                json(&status)
            }
            Requested::Rekey(new) => {
                let new = new_shares(new)?;
                let (_, letters) = self.change(|header, key| header.add_shares(key, &new))?;
                let set = letters.first().map(|letter| letter.place.set.clone()).unwrap_or_default();
                json(&Letters { set, letters })
            }
            Requested::AddKey(new) => {
                let source = key_source(new)?;
                self.store_key()?;
                // Not while others wait for the header: a program or a token may take its time.
                let new = self.headers.read()?.new_key(&source)?;
                let (header, _) = self.change(|header, key| header.add_key(key, new))?;
                json(&self.status(&header)?)
            }
            Requested::Remove(id) => {
                let (header, ()) = self.change(|header, _| header.remove(&id))?;
                json(&self.status(&header)?)
            }
        }
    }

    /// Begins the next term of the sealing keys.
    fn rotate(&self) -> Result<Answer, CustodyError> {
        let executor = self.executor.as_ref().ok_or(CustodyError::Sealed)?;
        let terms = executor.terms()?;
        if !terms.has_room() {
            return Err(CustodyError::TooManyTerms);
        }
        let terms = Handle::current().block_on(executor.begin_term(terms.newest()))?;
        tracing::info!(term = terms.newest(), "another key seals all records from now on, as requested");
        json(&executor.sealing_key()?)
    }

    fn outcome(&self, given: &GivenShare) -> Result<Answer, CustodyError> {
        let (header, taken) = self.give(given)?;
        let slot = header.all_slots().iter().find(|slot| slot.id() == given.set);
        let set = slot.and_then(Slot::shares);
        let (holder, threshold) = set.map_or((None, 0), |set| {
            (set.holders.iter().find(|holder| holder.index == given.index), set.threshold)
        });
        let open = matches!(taken, Given::Open(..));
        let count = |attempt: &mut Attempt| attempt.collection.given(&given.set).count();
        let count = if open { usize::from(threshold) } else { self.with_attempt(count)? };
        json(&ShareOutcome {
            holder: holder.map(|holder| holder.name.clone()).unwrap_or_default(),
            given: u8::try_from(count).unwrap_or(u8::MAX),
            threshold,
            open,
            status: self.status(&header)?,
        })
    }

    fn status(&self, header: &Header) -> Result<SealStatus, CustodyError> {
        let waits = header.slots(self.awaited()).any(|slot| slot.shares().is_some());
        let state = |attempt: &mut Attempt| {
            let rows = rows(header, |set| attempt.collection.given(set).collect());
            let ends = attempt.ends.map(|ends| ends.saturating_duration_since(Instant::now()).as_secs());
            (attempt.collection.attempt(), ends, rows)
        };
        let (attempt, ends_in_seconds, slots) = self.with_attempt(state)?;
        let attempt = waits.then_some(attempt);
        Ok(SealStatus { sealed: self.is_sealed(), attempt, ends_in_seconds, slots })
    }
}

/// Returns whether a request waits for a program or a token.
const fn is_slow(requested: &Requested) -> bool {
    matches!(requested, Requested::AddKey(new) if new.command.is_some() || new.pkcs11.is_some())
}

/// Returns what is requested, or the answer to a request that cannot be read; `None` for other paths.
fn requested(rest: &str, incoming: &Incoming) -> Option<Result<Requested, Answer>> {
    let parts: Vec<&str> = rest.split('/').collect();
    let (is_get, is_post) = (incoming.method == Method::GET, incoming.method == Method::POST);
    let requested = match parts.as_slice() {
        ["seal"] if is_get => Ok(Requested::Status),
        ["seal"] if is_post => Ok(Requested::Seal),
        ["unseal"] if is_post => body(incoming).map(Requested::Give),
        ["rotate"] if is_post => Ok(Requested::Rotate),
        ["rekey"] if is_post => body(incoming).map(Requested::Rekey),
        ["slots"] if is_post => body(incoming).map(Requested::AddKey),
        ["slots", id, "remove"] if is_post => Ok(Requested::Remove((*id).to_owned())),
        ["seal" | "unseal" | "rotate" | "rekey" | "slots"] | ["slots", _, "remove"] => {
            return Some(Err(Answer::wrong_method()));
        }
        _ => return None,
    };
    Some(requested.map_err(|error| Answer::error(&error.api_error())))
}

fn body<T: DeserializeOwned>(incoming: &Incoming) -> Result<T, CustodyError> {
    serde_json::from_slice(&incoming.body).map_err(|error| CustodyError::Input(error.to_string()))
}

fn json<T: Serialize>(value: &T) -> Result<Answer, CustodyError> {
    let text = serde_json::to_vec(value).map_err(|error| CustodyError::Input(error.to_string()))?;
    Ok(Answer::ok(text).cached("no-store"))
}

fn check_owner(listener: Listener) -> Result<(), CustodyError> {
    if listener.is_owner() { Ok(()) } else { Err(CustodyError::NotOwner) }
}

fn new_shares(new: NewShareSet) -> Result<NewShares, CustodyError> {
    let holder = |NewHolder { name, public_key }: NewHolder| {
        let key = TargetPublicKey::parse(&public_key);
        let invalid = |_| VaultError::Holders(format!("the key of {name} is no public key of P-256"));
        Ok(Holder { key: key.map_err(invalid)?, name })
    };
    let holders = new.holders.into_iter().map(holder).collect::<Result<_, VaultError>>()?;
    Ok(NewShares { threshold: new.threshold, holders, replaces: new.replaces })
}

fn key_source(new: NewKeySlot) -> Result<KeySource, CustodyError> {
    let input = |error: private_file::SecretFileError| CustodyError::Input(error.to_string());
    let absolute = |path: &str| {
        let is_absolute = path.starts_with('/');
        is_absolute
            .then(|| path.into())
            .ok_or_else(|| CustodyError::Input(format!("{path}: not an absolute path")))
    };
    match (new.key_file, new.passphrase_file, new.command, new.pkcs11) {
        (Some(file), None, None, None) => Ok(KeySource::File(absolute(&file)?)),
        (None, Some(file), None, None) => {
            let path: PathBuf = absolute(&file)?;
            Ok(KeySource::Passphrase(private_file::first_line(&path).map_err(input)?))
        }
        (None, None, Some(command), None) => {
            let program = command.first().map(String::as_str).unwrap_or_default();
            let _: PathBuf = absolute(program)?;
            Ok(KeySource::Command(command))
        }
        (None, None, None, Some(NewTokenSlot { token, key: label, module, pin_file })) => {
            let (module, pin_file): (PathBuf, PathBuf) = (absolute(&module)?, absolute(&pin_file)?);
            let pin = private_file::first_line(&pin_file).map_err(input)?;
            Ok(KeySource::Token(TokenKey { module, token, label, pin }))
        }
        _ => Err(CustodyError::Input(
            "give exactly one of keyFile, passphraseFile, command and pkcs11".to_owned(),
        )),
    }
}

/// Returns the slots of a header. `given` returns the numbers of the shares of a set that were given.
pub fn rows(header: &Header, given: impl Fn(&str) -> Vec<u8>) -> Vec<SlotRow> {
    let slots = header.all_slots().iter().map(|slot| row(slot, &given(slot.id())));
    slots.chain(header.only_key().map(|key| with_holders(key, &[]))).collect()
}

fn row(slot: &Slot, given: &[u8]) -> SlotRow {
    let state = match slot.state() {
        SlotState::Pending => SlotCondition::Pending,
        SlotState::Active => SlotCondition::Active,
    };
    let replaces = slot.replaces().to_vec();
    SlotRow { id: Some(slot.id().to_owned()), state, replaces, ..with_holders(slot.key(), given) }
}

fn with_holders(key: &KeyKind, given: &[u8]) -> SlotRow {
    let (kind, threshold, holders) = match key {
        KeyKind::File => (SlotKind::File, None, Vec::new()),
        KeyKind::Passphrase(_) => (SlotKind::Passphrase, None, Vec::new()),
        KeyKind::Shares(set) => (SlotKind::Shares, Some(set.threshold), holders(set, given)),
        KeyKind::Command(_) => (SlotKind::Command, None, Vec::new()),
        KeyKind::Pkcs11(_) => (SlotKind::Pkcs11, None, Vec::new()),
    };
    SlotRow { id: None, state: SlotCondition::Active, kind, threshold, holders, replaces: Vec::new() }
}

fn holders(set: &ShareSet, given: &[u8]) -> Vec<HolderRow> {
    let row = |holder: &ShareHolder| HolderRow {
        index: holder.index,
        name: holder.name.clone(),
        public_key: holder.public_key.clone(),
        given: given.contains(&holder.index),
    };
    set.holders.iter().map(row).collect()
}

impl CustodyError {
    fn api_error(&self) -> ApiError {
        let code = match self {
            Self::Give(GiveError::Repeated(_)) => Code::AlreadyExists,
            Self::Give(GiveError::UnknownSet(_) | GiveError::UnknownShare(_))
            | Self::Vault(VaultError::NoSlot(_)) => Code::NotFound,
            Self::Give(GiveError::Wrong(_))
            | Self::Vault(
                VaultError::Holders(_)
                | VaultError::ShortPassphrase
                | VaultError::NotAKey(_)
                | VaultError::KeyTooOpen(..)
                | VaultError::NoKeyDirectory(_),
            )
            | Self::Input(_) => Code::InvalidArgument,
            Self::Give(GiveError::OtherAttempt)
            | Self::Vault(
                VaultError::LastSlot(_)
                | VaultError::TooManySlots
                | VaultError::Command { .. }
                | VaultError::Token { .. }
                | VaultError::Pin { .. },
            )
            | Self::NothingUnseals
            | Self::TooManyTerms
            | Self::Adding
            | Self::CannotRestart(_)
            | Self::Throwaway => Code::FailedPrecondition,
            Self::Header(HeaderError::Store(_)) | Self::Sealed | Self::Term(TermError::Commit(_)) => {
                Code::Unavailable
            }
            Self::NotOwner => Code::PermissionDenied,
            Self::Corrupt(error) | Self::Term(TermError::Corrupt(error)) => {
                return RequestError::from(error.clone()).api_error();
            }
            Self::Give(GiveError::Vault(_)) | Self::Vault(_) | Self::Header(HeaderError::Vault(_)) => {
                Code::Internal
            }
        };
        ApiError::new(code, self.to_string())
    }
}

impl Answer {
    /// Returns the answer of a sealed daemon to what it cannot answer.
    pub(super) fn sealed() -> Self {
        Self::error_as(StatusCode::SERVICE_UNAVAILABLE, &CustodyError::Sealed.api_error())
    }
}
