//! What opens a store: a key file, a passphrase, or nothing until holders give their shares.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::entropy::random;
use super::error::{MIN_PASSPHRASE, VaultError, system};
use super::store_key::StoreKey;
use super::token::TokenKey;
use crate::private_file;

const READING_KEY: &str = "reading the key file";
/// Maximum length of a key file, in bytes.
const LONGEST_KEY_FILE: u64 = 4096;

/// Memory of the passphrase derivation in KiB: 64 MiB (RFC 9106 §4, second recommended option).
const STRETCH_MEMORY_KIB: u32 = 64 * 1024;
/// Most memory that a header may require. One that requires more was not written by this program.
const MAX_STRETCH_MEMORY_KIB: u32 = 1024 * 1024;
/// Most passes that a header may require.
const MAX_STRETCH_PASSES: u32 = 64;
/// Passes of the passphrase derivation.
const STRETCH_PASSES: u32 = 3;
/// Lanes of the passphrase derivation.
const STRETCH_LANES: u32 = 4;

/// What opens a store.
#[derive(Clone)]
pub enum KeySource {
    /// A file of 64 hex digits, with mode 0600 or stricter.
    File(PathBuf),
    /// A passphrase, from which the key is derived.
    Passphrase(Zeroizing<String>),
    /// A program with its arguments, which decrypts the key.
    Command(Vec<String>),
    /// A key of a PKCS #11 token, which decrypts the key.
    Token(TokenKey),
    /// Shares, which holders give to a daemon.
    Shares,
    /// The key of the store itself, which a slot gave free before.
    StoreKey(StoreKey),
}

/// Parameters of the derivation of a key from a passphrase (Argon2id, RFC 9106).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Stretching {
    salt: String,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl Stretching {
    /// Creates parameters with a random salt.
    pub(super) fn generate() -> Result<Self, VaultError> {
        let salt = const_hex::encode(random::<16>()?);
        Ok(Self { salt, memory_kib: STRETCH_MEMORY_KIB, passes: STRETCH_PASSES, lanes: STRETCH_LANES })
    }

    /// Derives a key from a passphrase; returns `None` if the parameters are invalid.
    pub(super) fn derive(&self, passphrase: &Zeroizing<String>) -> Option<Zeroizing<[u8; 32]>> {
        let salt = const_hex::decode(&self.salt).ok()?;
        if self.memory_kib > MAX_STRETCH_MEMORY_KIB || self.passes > MAX_STRETCH_PASSES {
            return None;
        }
        let params = argon2::Params::new(self.memory_kib, self.passes, self.lanes, Some(32)).ok()?;
        let argon = argon2::Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
        let mut key = Zeroizing::new([0; 32]);
        argon.hash_password_into(passphrase.as_bytes(), &salt, key.as_mut_slice()).ok()?;
        Some(key)
    }
}

/// Checks that a passphrase is long enough for a new store or slot.
pub(super) fn check_passphrase(passphrase: &str) -> Result<(), VaultError> {
    if passphrase.chars().count() < MIN_PASSPHRASE { Err(VaultError::ShortPassphrase) } else { Ok(()) }
}

/// Reads a key file; returns `None` if it does not exist.
pub(super) fn read_key(path: &Path) -> Result<Option<Zeroizing<[u8; 32]>>, VaultError> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(system(READING_KEY, path)(error)),
    };
    // Reading a pipe could wait for ever.
    if !metadata.is_file() || metadata.len() > LONGEST_KEY_FILE {
        return Err(VaultError::NotAKey(path.to_owned()));
    }
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(VaultError::KeyTooOpen(path.to_owned(), mode));
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(system(READING_KEY, path))?);
    decode_key(&text).map(Some).ok_or_else(|| VaultError::NotAKey(path.to_owned()))
}

/// Decodes a key from 64 hexadecimal digits, which white space may surround.
pub(super) fn decode_key(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let mut key = Zeroizing::new([0; 32]);
    let digits = text.trim();
    let is_plain = digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_plain && const_hex::decode_to_slice(digits, key.as_mut_slice()).is_ok()).then_some(key)
}

/// Encodes a key as a line of 64 hexadecimal digits.
pub(super) fn encode_key(key: &Zeroizing<[u8; 32]>) -> Zeroizing<String> {
    let digits = Zeroizing::new(const_hex::encode(key.as_slice()));
    let mut line = Zeroizing::new(String::with_capacity(65));
    line.push_str(&digits);
    line.push('\n');
    line
}

/// Reads a key file. A missing one is created with a new random key.
pub(super) fn read_or_write_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, VaultError> {
    read_key(path)?.map_or_else(|| write_key(path), Ok)
}

/// Creates a key file with a new random key.
pub(super) fn write_key(path: &Path) -> Result<Zeroizing<[u8; 32]>, VaultError> {
    let key = Zeroizing::new(random::<32>()?);
    private_file::create(path, encode_key(&key).as_bytes()).map_err(system("creating the key file", path))?;
    Ok(key)
}
