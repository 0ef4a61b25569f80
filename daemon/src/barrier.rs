//! The barrier between records and the store: records above it are plaintext, values below it are ciphertext.
//! Records that are too long for one stored value are split into parts.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use quorate_core::error::Corrupt;
use quorate_core::model::Millis;
use quorate_core::model::layout::{self, Key};
use quorate_core::model::write::Write;
use quorate_core::seal::{NONCE, TAG};
use quorate_core::world::{Page, Records};
use zeroize::Zeroizing;

use crate::store::postgres::KeyClasses;
use crate::store::{Batch, Change, Group, LONGEST_VALUE, Row, Store, StoreError};
use crate::trailer::{self, Form, Trailer};
use crate::vault::{Terms, Vault};

/// Maximum length of a part of a record, in bytes. Stores of version 0.1 have parts of 48 KiB.
const PART: usize = LONGEST_VALUE - NONCE - TAG - trailer::LONGEST;
/// Key of the record with the keys of the terms.
pub const TERMS: &[u8] = b"mk";
/// Error of a value whose key is gone.
const FORGOTTEN: Corrupt = Corrupt::Record("term of a value");
/// First byte of the keys of parts.
const PARTS: u8 = b'~';

/// Keys with a table of their own in a database.
pub const KEY_CLASSES: KeyClasses = KeyClasses { registers: layout::VERSIONS, queues: layout::QUEUES };

/// Returns whether a value can be copied as it is stored. Such a value is not a part of a record, not split
/// and not too long. Parts are copied with their record.
pub fn is_whole(key: &[u8], value: &[u8]) -> bool {
    let plain = key.first() == Some(&layout::VERSIONS);
    let is_whole = || Trailer::of(value).is_some_and(|trailer| trailer.form != Form::Split);
    plain || (value.len() <= LONGEST_VALUE && !is_part(key) && is_whole())
}

/// Returns whether the key is that of a part of a record.
pub fn is_part(key: &[u8]) -> bool {
    key.first() == Some(&PARTS)
}

/// Encrypts values on their way to the store and decrypts them on their way back.
pub struct Barrier {
    store: Arc<dyn Store>,
    vault: Vault,
    /// Terms of the store, once they were read from it.
    terms: RwLock<Option<Arc<Terms>>>,
    /// Number of values that were sealed.
    sealings: AtomicU64,
    /// Term before which no value must be committed anymore.
    earliest: AtomicU32,
}

/// The keys that seal the values of a commit, and how often they do.
struct Sealing<'b> {
    barrier: &'b Barrier,
    terms: Arc<Terms>,
}

impl From<&StoreError> for Corrupt {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Unavailable => Self::Unavailable,
            other => Self::Store(other.to_string()),
        }
    }
}

impl Barrier {
    /// Creates a barrier in front of a store.
    pub fn new(store: Arc<dyn Store>, vault: Vault) -> Self {
        Self {
            store,
            vault,
            terms: RwLock::default(),
            sealings: AtomicU64::new(0),
            earliest: AtomicU32::new(trailer::DERIVED),
        }
    }

    /// Returns the store, whose values are encrypted.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the keys that encrypt and decrypt values.
    pub const fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Returns the terms. They are read from the store first, unless that was done before.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn terms(&self) -> Result<Arc<Terms>, Corrupt> {
        let known = self.terms.read().unwrap_or_else(PoisonError::into_inner).clone();
        known.map_or_else(|| self.load_terms(), Ok)
    }

    /// Reads the terms from the store, where this or another daemon may have changed them.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn load_terms(&self) -> Result<Arc<Terms>, Corrupt> {
        let stored = self.store.value(TERMS).map_err(|error| Corrupt::from(&error))?;
        self.adopt_terms(stored.as_deref())
    }

    /// Adopts the terms of their stored record.
    ///
    /// # Errors
    /// Returns an error if they cannot be decrypted or decoded.
    pub fn adopt_terms(&self, stored: Option<&[u8]>) -> Result<Arc<Terms>, Corrupt> {
        let open = |value| match Trailer::split(value) {
            Some((sealed, Trailer { form: Form::Wrapped, .. })) => self.vault.terms().open(TERMS, sealed),
            _ => Err(Corrupt::Record("sealing keys")),
        };
        let opened = stored.map(open).transpose()?.map(Zeroizing::new);
        let loaded = opened.map_or_else(|| Ok(Terms::derived()), |opened| Terms::decode(&opened))?;
        let mut known = self.terms.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have read a later state.
        if let Some(known) = known.as_ref().filter(|known| known.newest() > loaded.newest()) {
            return Ok(Arc::clone(known));
        }
        Ok(Arc::clone(known.insert(Arc::new(loaded))))
    }

    /// Begins the first term of a store, if the store is empty. Its records are never sealed with the derived key then.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn begin_first_term(&self, now: Millis) -> Result<(), Corrupt> {
        let failed = |error: StoreError| Corrupt::from(&error);
        if !self.store.keys(Page::first(b"", 1)).map_err(failed)?.is_empty() {
            return Ok(());
        }
        let first = Terms::first(now)?;
        let newest = layout::newest_term();
        let batch = Batch {
            must_not_exist: vec![TERMS.to_vec()],
            expect: vec![(newest.clone(), u64::from(trailer::DERIVED))],
            set: vec![(newest, u64::from(first.newest()))],
            writes: self.seal(vec![Write::of(TERMS.to_vec(), Some(first.encode()))])?,
            ..Batch::default()
        };
        // After a clash, another daemon has begun it.
        self.store.commit(&Group::of(batch)).map_err(failed)?;
        self.load_terms().map(drop)
    }

    /// Returns the number of values that were sealed so far.
    pub fn sealings(&self) -> u64 {
        self.sealings.load(Ordering::Relaxed)
    }

    /// From now on, commits with values of an earlier term are [stale](Self::is_stale).
    pub fn end_terms_before(&self, term: u32) {
        self.earliest.fetch_max(term, Ordering::AcqRel);
    }

    /// Returns whether a batch has a value that was sealed in a term that has ended since. It must be sealed again.
    pub fn is_stale(&self, batch: &Batch) -> bool {
        oldest_term(batch).is_some_and(|oldest| oldest < self.earliest.load(Ordering::Acquire))
    }

    /// Encrypts writes. Parts of records that are replaced or removed are removed with them.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, encryption fails, or the random source fails.
    pub fn seal(&self, writes: Vec<Write>) -> Result<Vec<Change>, Corrupt> {
        let sealing = Sealing { barrier: self, terms: self.terms()? };
        let mut sealed = Vec::with_capacity(writes.len());
        let mut nonces = Nonces::draw(writes.len())?;
        for Write { key, value, replaces, .. } in writes {
            if replaces && layout::may_be_long(&key) {
                self.remove_parts(&key, &mut sealed)?;
            }
            match value {
                None => sealed.push(Change::remove(key)),
                Some(value) if value.len() <= PART => {
                    let form = if key == TERMS { Form::Wrapped } else { Form::Whole };
                    let value = sealing.seal(form, &key, &value, nonces.next()?)?;
                    sealed.push(Change { key, value: Some(value), fresh: !replaces });
                }
                Some(value) => sealing.split(key, &value, !replaces, &mut sealed)?,
            }
        }
        Ok(sealed)
    }

    /// Decrypts one value. Returns `None` if its term is forgotten.
    fn open_one(&self, key: &[u8], value: &[u8]) -> Result<Option<(Form, Vec<u8>)>, Corrupt> {
        let (sealed, Trailer { form, term }) =
            Trailer::split(value).ok_or(Corrupt::Record("sealed value"))?;
        if form == Form::Wrapped {
            return Ok(Some((form, self.vault.terms().open(key, sealed)?)));
        }
        let mut terms = self.terms()?;
        if term > terms.newest() {
            // Another daemon began it.
            terms = self.load_terms()?;
        }
        let sealing_key = terms.key(term, self.vault.seal());
        sealing_key.map(|sealing_key| Ok((form, sealing_key.open(key, sealed)?))).transpose()
    }

    fn remove_parts(&self, key: &[u8], sealed: &mut Vec<Change>) -> Result<(), Corrupt> {
        let Some(old) = self.store.value(key).map_err(|error| Corrupt::from(&error))? else { return Ok(()) };
        if Trailer::of(&old).is_some_and(|trailer| trailer.form == Form::Split) {
            let manifest = self.open_one(key, &old).ok().flatten();
            let parts = match manifest.map(|(_, manifest)| read_manifest(&manifest)) {
                Some(Ok((generation, count))) => {
                    (0..count).map(|number| part(key, generation, number)).collect()
                }
                // A damaged record can still be removed.
                _ => self.parts_of(key)?,
            };
            sealed.extend(parts.into_iter().map(Change::remove));
        }
        Ok(())
    }

    /// Returns the keys of all parts of a record, without reading its manifest.
    fn parts_of(&self, key: &[u8]) -> Result<Vec<Key>, Corrupt> {
        let prefix = [&[PARTS], key].concat();
        let length = part(key, [0; 8], 0).len();
        let mut parts =
            self.store.keys(Page::first(&prefix, usize::MAX)).map_err(|error| Corrupt::from(&error))?;
        parts.retain(|part| part.len() == length);
        Ok(parts)
    }

    /// Decrypts a stored value.
    ///
    /// # Errors
    /// Returns an error if the value is damaged, or its parts cannot be read from the store.
    pub fn open(&self, key: &[u8], value: &[u8]) -> Result<Vec<u8>, Corrupt> {
        let mut opened = self.open_one(key, value)?;
        if opened.is_none() {
            // It was sealed again since it was read.
            let newer = self.store.value(key).map_err(|error| Corrupt::from(&error))?;
            opened = newer.map(|newer| self.open_one(key, &newer)).transpose()?.flatten();
        }
        let (form, plain) = opened.ok_or(FORGOTTEN)?;
        if form != Form::Split {
            return Ok(plain);
        }
        self.joined(key, &plain, |part| self.store.value(part).map_err(|error| Corrupt::from(&error)))
    }

    /// Decrypts changes that are not stored yet. The parts of records are among them.
    ///
    /// # Errors
    /// Returns an error if a value cannot be decrypted.
    pub fn open_writes(&self, changes: &[Change]) -> Result<Vec<Write>, Corrupt> {
        let (parts, whole): (Vec<&Change>, Vec<&Change>) =
            changes.iter().partition(|change| is_part(&change.key));
        let parts: HashMap<&[u8], &Vec<u8>> =
            parts.iter().filter_map(|part| Some((part.key.as_slice(), part.value.as_ref()?))).collect();
        let read = |key: &[u8]| Ok(parts.get(key).map(|value| (*value).clone()));
        let open = |change: &Change| {
            let open = |value: &Vec<u8>| {
                let (form, plain) = self.open_one(&change.key, value)?.ok_or(FORGOTTEN)?;
                let plain = Zeroizing::new(plain);
                if form != Form::Split {
                    return Ok(plain);
                }
                self.joined(&change.key, &plain, read).map(Zeroizing::new)
            };
            let value = change.value.as_ref().map(open).transpose()?;
            Ok(Write::of(change.key.clone(), value))
        };
        whole.into_iter().map(open).collect()
    }

    /// Decrypts and joins the parts of a record.
    fn joined(
        &self,
        key: &[u8],
        manifest: &[u8],
        read: impl Fn(&[u8]) -> Result<Option<Vec<u8>>, Corrupt>,
    ) -> Result<Vec<u8>, Corrupt> {
        let (generation, count) = read_manifest(manifest)?;
        let mut chunks = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
        for number in 0..count {
            let key = part(key, generation, number);
            let value = read(&key)?.ok_or(Corrupt::Record("part of a record"))?;
            let (_, chunk) = self.open_one(&key, &value)?.ok_or(FORGOTTEN)?;
            chunks.push(Zeroizing::new(chunk));
        }
        // A growing buffer would leave copies of the plaintext in memory that are not wiped.
        let mut whole = Vec::with_capacity(chunks.iter().map(|chunk| chunk.len()).sum());
        for chunk in &chunks {
            whole.extend_from_slice(chunk);
        }
        Ok(whole)
    }
}

impl Sealing<'_> {
    fn seal(&self, form: Form, key: &[u8], plain: &[u8], nonce: [u8; NONCE]) -> Result<Vec<u8>, Corrupt> {
        let Self { barrier, terms } = self;
        let term = terms.newest();
        let sealing_key = match form {
            Form::Wrapped => Some(barrier.vault.terms()),
            Form::Whole | Form::Split => terms.key(term, barrier.vault.seal()),
        };
        let sealing_key = sealing_key.ok_or(Corrupt::Invariant("the newest term has no key"))?;
        let mut value = sealing_key.seal(nonce, key, plain)?;
        Trailer { form, term }.append(&mut value);
        barrier.sealings.fetch_add(1, Ordering::Relaxed);
        Ok(value)
    }

    fn split(&self, key: Key, value: &[u8], fresh: bool, sealed: &mut Vec<Change>) -> Result<(), Corrupt> {
        let chunks = value.chunks(PART);
        let mut nonces = Nonces::draw(chunks.len().saturating_add(2))?;
        let [generation @ .., _, _, _, _] = nonces.next()?;
        let mut count = 0_u32;
        for chunk in chunks {
            let key = part(&key, generation, count);
            let chunk = self.seal(Form::Whole, &key, chunk, nonces.next()?)?;
            sealed.push(Change { key, value: Some(chunk), fresh: true });
            count = count.saturating_add(1);
        }
        let mut manifest = generation.to_vec();
        manifest.extend_from_slice(&count.to_be_bytes());
        let manifest = self.seal(Form::Split, &key, &manifest, nonces.next()?)?;
        sealed.push(Change { key, value: Some(manifest), fresh });
        Ok(())
    }
}

/// Returns the oldest term in which a value of a batch was sealed; `None` if it has no sealed values.
pub fn oldest_term(batch: &Batch) -> Option<u32> {
    let values = batch.writes.iter().filter_map(|change| change.value.as_deref());
    let trailers = values.filter_map(Trailer::of).filter(|trailer| trailer.form != Form::Wrapped);
    trailers.map(|trailer| trailer.term).min()
}

/// Random nonces, drawn in one batch. A system call for each nonce would cost more than the encryption.
struct Nonces(std::vec::IntoIter<[u8; NONCE]>);

impl Nonces {
    fn draw(count: usize) -> Result<Self, Corrupt> {
        let mut nonces = vec![[0; NONCE]; count];
        getrandom::fill(nonces.as_flattened_mut())
            .map_err(|_| Corrupt::Invariant("the random source failed"))?;
        Ok(Self(nonces.into_iter()))
    }

    fn next(&mut self) -> Result<[u8; NONCE], Corrupt> {
        self.0.next().ok_or(Corrupt::Invariant("no nonce is left for a value"))
    }
}

fn part(key: &[u8], generation: [u8; 8], number: u32) -> Key {
    [&[PARTS], key, &generation, &number.to_be_bytes()].concat()
}

fn read_manifest(manifest: &[u8]) -> Result<([u8; 8], u32), Corrupt> {
    let error = Corrupt::Record("split value");
    let (generation, count) = manifest.split_first_chunk::<8>().ok_or(error.clone())?;
    Ok((*generation, u32::from_be_bytes(count.try_into().map_err(|_| error)?)))
}

impl Records for Barrier {
    fn read(&self, key: &[u8]) -> Result<Option<Vec<u8>>, Corrupt> {
        let value = self.store.value(key).map_err(|error| Corrupt::from(&error))?;
        value.map(|value| self.open(key, &value)).transpose()
    }

    fn page(&self, page: Page<'_>) -> Result<Vec<(Key, Vec<u8>)>, Corrupt> {
        let rows: Vec<Row> = self.store.rows(page).map_err(|error| Corrupt::from(&error))?;
        let open = |(key, value): Row| {
            let plain = self.open(&key, &value)?;
            Ok((key, plain))
        };
        rows.into_iter().map(open).collect()
    }

    fn keys(&self, page: Page<'_>) -> Result<Vec<Key>, Corrupt> {
        self.store.keys(page).map_err(|error| Corrupt::from(&error))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use quorate_common::ids::{OrganizationId, SecretId, SmartContractInterfaceId};
    use quorate_core::model::layout::SecretOf;

    use super::*;
    use crate::store::{Batch, Group, embedded::Embedded};
    use crate::vault::KeySource;

    fn write(barrier: &Barrier, key: &[u8], value: Option<&[u8]>) {
        let write = match value {
            Some(value) => Write::mark(key.to_vec(), value),
            None => Write::remove(key.to_vec()),
        };
        let writes = barrier.seal(vec![write]).unwrap();
        barrier.store.commit(&Group::of(Batch { writes, ..Batch::default() })).unwrap();
    }

    #[test]
    fn long_records_are_split_and_removed_with_all_parts() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::create(folder.path(), &KeySource::File(folder.path().join("key"))).unwrap();
        let barrier = Barrier::new(Arc::new(Embedded::open(&folder.path().join("store"), 0).unwrap()), vault);
        let parts = || barrier.store.keys(Page::first(&[PARTS], 100)).unwrap().len();
        let long = vec![7; PART * 3 + 1];
        write(&barrier, b"a1", Some(&long));
        assert_eq!(barrier.read(b"a1").unwrap().as_deref(), Some(long.as_slice()));
        assert_eq!(parts(), 4);
        let longest = barrier.store.rows(Page::first(b"", 100)).unwrap();
        assert!(longest.iter().all(|(_, value)| value.len() <= LONGEST_VALUE));
        write(&barrier, b"a1", Some(&long[..=PART]));
        assert_eq!(parts(), 2);
        write(&barrier, b"a1", Some(b"short"));
        let text = layout::interface_text(
            OrganizationId::from_bytes([1; 16]),
            SmartContractInterfaceId::from_bytes([2; 16]),
        );
        let value = layout::secret(
            OrganizationId::from_bytes([1; 16]),
            SecretOf::Secret(SecretId::from_bytes([2; 16])),
        );
        for key in [text, value] {
            write(&barrier, &key, Some(&long));
            assert_eq!((parts(), barrier.read(&key).unwrap().as_deref()), (4, Some(long.as_slice())));
            write(&barrier, &key, None);
            assert_eq!((parts(), barrier.read(b"a1").unwrap().as_deref()), (0, Some(b"short".as_slice())));
        }
        write(&barrier, b"a1", Some(&long));
        write(&barrier, b"a1", None);
        assert_eq!((parts(), barrier.read(b"a1").unwrap()), (0, None));
        // A damaged record can be removed as well.
        write(&barrier, b"a1", Some(&long));
        let damaged = Batch { writes: vec![Change::put(*b"a1", [0, 2])], ..Batch::default() };
        barrier.store.commit(&Group::of(damaged)).unwrap();
        write(&barrier, b"a1", None);
        assert_eq!((parts(), barrier.read(b"a1").unwrap()), (0, None));
    }

    #[test]
    fn values_are_encrypted_and_bound_to_their_keys() {
        let folder = tempfile::tempdir().unwrap();
        let vault = Vault::create(folder.path(), &KeySource::File(folder.path().join("key"))).unwrap();
        let barrier = Barrier::new(Arc::new(Embedded::open(&folder.path().join("store"), 0).unwrap()), vault);
        write(&barrier, b"a1", Some(b"canary canary canary"));
        let value = barrier.store.value(b"a1").unwrap().unwrap();
        assert!(!value.windows(6).any(|window| window == b"canary"));
        let moved = Batch { writes: vec![Change::put(*b"a2", value)], ..Batch::default() };
        barrier.store.commit(&Group::of(moved)).unwrap();
        assert!(barrier.read(b"a2").is_err());
    }
}
