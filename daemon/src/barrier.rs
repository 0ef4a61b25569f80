//! The barrier between records and the store: records above it are plaintext, values below it are ciphertext.
//! Records that are too long for one stored value are split into parts.

use std::sync::Arc;

use quorate_core::error::Corrupt;
use quorate_core::model::layout::{self, Key};
use quorate_core::model::write::Write;
use quorate_core::seal::{NONCE, TAG};
use quorate_core::world::{Page, Records};
use zeroize::Zeroizing;

use crate::store::postgres::KeyClasses;
use crate::store::{Change, LONGEST_VALUE, Row, Store, StoreError};
use crate::vault::Vault;

/// Maximum length of a part of a record, in bytes. Stores of version 0.1 have parts of 48 KiB.
const PART: usize = LONGEST_VALUE - NONCE - TAG - 1;
/// Last byte of a value that holds a whole record.
const WHOLE: u8 = 1;
/// Last byte of a value that is the manifest of a split record.
const SPLIT: u8 = 2;
/// First byte of the keys of parts.
const PARTS: u8 = b'~';

/// Keys with a table of their own in a database.
pub const KEY_CLASSES: KeyClasses = KeyClasses { registers: layout::VERSIONS, queues: layout::QUEUES };

/// Returns whether a value can be copied as it is stored. Such a value is not a part of a record, not split
/// and not too long. Parts are copied with their record.
pub fn is_whole(key: &[u8], value: &[u8]) -> bool {
    let plain = key.first() == Some(&layout::VERSIONS);
    plain || (value.last() == Some(&WHOLE) && value.len() <= LONGEST_VALUE && !is_part(key))
}

/// Returns whether the key is that of a part of a record.
pub fn is_part(key: &[u8]) -> bool {
    key.first() == Some(&PARTS)
}

/// Encrypts values on their way to the store and decrypts them on their way back.
pub struct Barrier {
    store: Arc<dyn Store>,
    vault: Vault,
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
        Self { store, vault }
    }

    /// Returns the store, whose values are encrypted.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the keys that encrypt and decrypt values.
    pub const fn vault(&self) -> &Vault {
        &self.vault
    }

    /// Encrypts writes. Parts of records that are replaced or removed are removed with them.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read, encryption fails, or the random source fails.
    pub fn seal(&self, writes: Vec<Write>) -> Result<Vec<Change>, Corrupt> {
        let mut sealed = Vec::with_capacity(writes.len());
        let mut nonces = Nonces::draw(writes.len())?;
        for Write { key, value, replaces, .. } in writes {
            if replaces && layout::may_be_long(&key) {
                self.remove_parts(&key, &mut sealed)?;
            }
            match value {
                None => sealed.push(Change::remove(key)),
                Some(value) if value.len() <= PART => {
                    let value = self.seal_one(WHOLE, &key, &value, nonces.next()?)?;
                    sealed.push(Change { key, value: Some(value), fresh: !replaces });
                }
                Some(value) => self.split(key, &value, !replaces, &mut sealed)?,
            }
        }
        Ok(sealed)
    }

    fn seal_one(&self, mark: u8, key: &[u8], plain: &[u8], nonce: [u8; NONCE]) -> Result<Vec<u8>, Corrupt> {
        let mut value = self.vault.seal().seal(nonce, key, plain)?;
        value.push(mark);
        Ok(value)
    }

    fn open_one<'v>(&self, key: &[u8], value: &'v [u8]) -> Result<(u8, Vec<u8>), Corrupt> {
        let (mark, sealed): (&u8, &'v [u8]) = value.split_last().ok_or(Corrupt::Record("sealed value"))?;
        Ok((*mark, self.vault.seal().open(key, sealed)?))
    }

    fn split(&self, key: Key, value: &[u8], fresh: bool, sealed: &mut Vec<Change>) -> Result<(), Corrupt> {
        let chunks = value.chunks(PART);
        let mut nonces = Nonces::draw(chunks.len().saturating_add(2))?;
        let [generation @ .., _, _, _, _] = nonces.next()?;
        let mut count = 0_u32;
        for chunk in chunks {
            let key = part(&key, generation, count);
            let chunk = self.seal_one(WHOLE, &key, chunk, nonces.next()?)?;
            sealed.push(Change { key, value: Some(chunk), fresh: true });
            count = count.saturating_add(1);
        }
        let mut manifest = generation.to_vec();
        manifest.extend_from_slice(&count.to_be_bytes());
        let manifest = self.seal_one(SPLIT, &key, &manifest, nonces.next()?)?;
        sealed.push(Change { key, value: Some(manifest), fresh });
        Ok(())
    }

    fn remove_parts(&self, key: &[u8], sealed: &mut Vec<Change>) -> Result<(), Corrupt> {
        let Some(old) = self.store.value(key).map_err(|error| Corrupt::from(&error))? else { return Ok(()) };
        if old.last() == Some(&SPLIT) {
            let manifest = self.open_one(key, &old).and_then(|(_, manifest)| read_manifest(&manifest));
            let parts = match manifest {
                Ok((generation, count)) => (0..count).map(|number| part(key, generation, number)).collect(),
                // A damaged record can still be removed.
                Err(_) => self.parts_of(key)?,
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
        let (mark, plain) = self.open_one(key, value)?;
        if mark == WHOLE {
            return Ok(plain);
        }
        let (generation, count) = read_manifest(&plain)?;
        let mut chunks = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
        for number in 0..count {
            let key = part(key, generation, number);
            let value = self.store.value(&key).map_err(|error| Corrupt::from(&error))?;
            let value = value.ok_or(Corrupt::Record("part of a record"))?;
            let (_, chunk) = self.open_one(&key, &value)?;
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
        let damaged = Batch { writes: vec![Change::put(*b"a1", [0, SPLIT])], ..Batch::default() };
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
