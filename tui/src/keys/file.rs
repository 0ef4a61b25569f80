//! Encrypted key files. The key is derived from the passphrase with Argon2id (RFC 9106). The secret is
//! encrypted with AES-256-GCM (NIST SP 800-38D). All other fields are associated data, so that none can be
//! replaced.

use std::path::PathBuf;

use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use quorate_common::bundle::TargetKey;
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::curve_name;
use super::error::{Cause, KeyError};
use crate::files::{self, FileError, Folders};

/// Memory of Argon2id in KiB: 64 MiB, the second recommended option of RFC 9106 §4.
const MEMORY_KIB: u32 = 64 * 1024;
const PASSES: u32 = 3;
const LANES: u32 = 4;
/// Upper limits for the parameters in a file, so that an untrusted file cannot exhaust the machine.
const MEMORY_LIMIT_KIB: u32 = 1024 * 1024;
const PASSES_LIMIT: u32 = 64;
const LANES_LIMIT: u32 = 64;
const SALT_LEN: usize = 16;
const SIZE_LIMIT: u64 = 16 * 1024;
/// Minimum length of the passphrase of a new key, in characters.
pub(crate) const PASSPHRASE_MINIMUM: usize = 8;

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyFileError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// No key file has this name.
    #[error("no key is named {0}; list your keys with `quorate key ls`")]
    Missing(String),
    /// The name cannot be used as a file name.
    #[error(
        "invalid key name: use 1 to 64 letters, digits, hyphens, dots or underscores, starting with a letter or digit"
    )]
    Name,
    /// The content is not a key file of this version.
    #[error("{}: not a valid key file of this version", .0.display())]
    Content(PathBuf),
    /// The passphrase is wrong or the file was altered; these cases cannot be distinguished.
    #[error("wrong passphrase, or the key file was altered")]
    Passphrase,
    /// The key is of a curve to which nothing is encrypted.
    #[error("only keys of the curve p256 decrypt")]
    Curve,
    /// The passphrase is too short.
    #[error("the passphrase is too short: use at least {PASSPHRASE_MINIMUM} characters")]
    ShortPassphrase,
    /// A cryptographic operation or the random source failed.
    #[error("cryptographic operation failed: {0}")]
    Crypto(&'static str),
}

impl From<KeyFileError> for KeyError {
    fn from(error: KeyFileError) -> Self {
        let cause = match &error {
            KeyFileError::Missing(_) => Cause::NotFound,
            KeyFileError::Name | KeyFileError::Curve | KeyFileError::ShortPassphrase => Cause::Usage,
            KeyFileError::Passphrase | KeyFileError::File(FileError::Permissions { .. }) => Cause::Denied,
            KeyFileError::File(_) | KeyFileError::Content(_) | KeyFileError::Crypto(_) => Cause::Failed,
        };
        Self::new(cause, &error)
    }
}

/// A stored key file. Contains the secret in encrypted form only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct KeyFile {
    version: u32,
    curve: ApiKeyCurve,
    public_key: String,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: String,
    nonce: String,
    secret: String,
}

impl KeyFile {
    /// Creates a key and stores it under `name`.
    pub(crate) fn create(
        folders: &Folders,
        name: &str,
        curve: ApiKeyCurve,
        passphrase: &str,
    ) -> Result<Self, KeyFileError> {
        let path = path(folders, name)?;
        if passphrase.chars().count() < PASSPHRASE_MINIMUM {
            return Err(KeyFileError::ShortPassphrase);
        }
        let (secret, stamper) = fresh(curve)?;
        let file = Self::seal(curve, stamper.public_key(), &secret, passphrase)?;
        files::create_private(&path, &serde_json::to_vec_pretty(&file).unwrap_or_default())?;
        Ok(file)
    }

    /// Checks that a key with this name can be created, before a person chooses a passphrase for it.
    pub(crate) fn check_new(folders: &Folders, name: &str) -> Result<(), KeyFileError> {
        let path = path(folders, name)?;
        if path.exists() { Err(FileError::Exists(path).into()) } else { Ok(()) }
    }

    /// Returns the path of the key file with this name, which may be unusable.
    pub(crate) fn existing(folders: &Folders, name: &str) -> Result<PathBuf, KeyFileError> {
        let path = path(folders, name)?;
        if path.exists() { Ok(path) } else { Err(KeyFileError::Missing(name.to_owned())) }
    }

    /// Loads the key file with this name.
    pub(crate) fn load(folders: &Folders, name: &str) -> Result<Self, KeyFileError> {
        let path = path(folders, name)?;
        let bytes =
            files::read_private(&path, SIZE_LIMIT)?.ok_or_else(|| KeyFileError::Missing(name.to_owned()))?;
        let file: Self = serde_json::from_slice(&bytes).map_err(|_| KeyFileError::Content(path.clone()))?;
        let sane = file.version == 1
            && file.memory_kib <= MEMORY_LIMIT_KIB
            && file.passes <= PASSES_LIMIT
            && file.lanes <= LANES_LIMIT;
        if sane { Ok(file) } else { Err(KeyFileError::Content(path)) }
    }

    /// Returns the public key in lower-case hex.
    pub(crate) fn public_key(&self) -> &str {
        &self.public_key
    }

    pub(crate) const fn curve(&self) -> ApiKeyCurve {
        self.curve
    }

    /// Decrypts the secret and creates a stamper from it. Deliberately takes about a tenth of a second.
    pub(crate) fn unlock(&self, passphrase: &str) -> Result<Box<Stamper>, KeyFileError> {
        let secret = self.secret(passphrase)?;
        let stamper = Box::new(Stamper::new(self.curve, &secret).map_err(|_| KeyFileError::Passphrase)?);
        if stamper.public_key() == self.public_key { Ok(stamper) } else { Err(KeyFileError::Passphrase) }
    }

    /// Decrypts the secret and creates the key from it that decrypts what was encrypted to the public key.
    pub(crate) fn decryption_key(&self, passphrase: &str) -> Result<TargetKey, KeyFileError> {
        if self.curve != ApiKeyCurve::P256 {
            return Err(KeyFileError::Curve);
        }
        let secret = self.secret(passphrase)?;
        TargetKey::from_bytes(secret.as_slice()).map_err(|_| KeyFileError::Passphrase)
    }

    fn secret(&self, passphrase: &str) -> Result<Zeroizing<[u8; 32]>, KeyFileError> {
        let salt = const_hex::decode(&self.salt).map_err(|_| KeyFileError::Passphrase)?;
        let nonce: [u8; NONCE_LEN] =
            const_hex::decode_to_array(&self.nonce).map_err(|_| KeyFileError::Passphrase)?;
        let mut bytes =
            Zeroizing::new(const_hex::decode(&self.secret).map_err(|_| KeyFileError::Passphrase)?);
        let key = self.key(passphrase, &salt)?;
        let plain = key
            .open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(self.associated_data()), &mut bytes)
            .map_err(|_| KeyFileError::Passphrase)?;
        Ok(Zeroizing::new((&*plain).try_into().map_err(|_| KeyFileError::Passphrase)?))
    }

    fn seal(
        curve: ApiKeyCurve,
        public_key: &str,
        secret: &[u8; 32],
        passphrase: &str,
    ) -> Result<Self, KeyFileError> {
        let (mut salt, mut nonce) = ([0; SALT_LEN], [0; NONCE_LEN]);
        random(&mut salt)?;
        random(&mut nonce)?;
        let mut file = Self {
            version: 1,
            curve,
            public_key: public_key.to_owned(),
            memory_kib: MEMORY_KIB,
            passes: PASSES,
            lanes: LANES,
            salt: const_hex::encode(salt),
            nonce: const_hex::encode(nonce),
            secret: String::new(),
        };
        let key = file.key(passphrase, &salt)?;
        let mut bytes = Zeroizing::new(secret.to_vec());
        bytes.reserve(AES_256_GCM.tag_len());
        key.seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(file.associated_data()),
            &mut *bytes,
        )
        .map_err(|_| KeyFileError::Crypto("AES-256-GCM encryption"))?;
        file.secret = const_hex::encode(&*bytes);
        Ok(file)
    }

    fn key(&self, passphrase: &str, salt: &[u8]) -> Result<LessSafeKey, KeyFileError> {
        let mut key = Zeroizing::new([0_u8; 32]);
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(key.len()))
            .map_err(|_| KeyFileError::Crypto("invalid Argon2id parameters"))?;
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.as_bytes(), salt, &mut *key)
            .map_err(|_| KeyFileError::Crypto("Argon2id"))?;
        let key =
            UnboundKey::new(&AES_256_GCM, &*key).map_err(|_| KeyFileError::Crypto("invalid key length"))?;
        Ok(LessSafeKey::new(key))
    }

    /// Returns the associated data of the encryption.
    fn associated_data(&self) -> String {
        let Self { version, public_key, memory_kib, passes, lanes, salt, .. } = self;
        format!(
            "quorate key {version} {} {public_key} {memory_kib} {passes} {lanes} {salt}",
            curve_name(self.curve)
        )
    }
}

/// Returns the names of the stored keys.
pub(crate) fn names(folders: &Folders) -> Result<Vec<String>, KeyFileError> {
    Ok(files::names(&folders.keys(), ".key")?)
}

/// Returns whether a text can be the name of a key.
pub(super) fn is_name(text: &str) -> bool {
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    let starts = text.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    plain && starts && text.len() <= 64
}

fn path(folders: &Folders, name: &str) -> Result<PathBuf, KeyFileError> {
    if !is_name(name) {
        return Err(KeyFileError::Name);
    }
    Ok(folders.keys().join(format!("{name}.key")))
}

/// Generates a random secret key for the curve.
fn fresh(curve: ApiKeyCurve) -> Result<(Zeroizing<[u8; 32]>, Stamper), KeyFileError> {
    // In the worst case a random scalar is out of range about once in 2^32 attempts.
    for _ in 0..8 {
        let mut secret = Zeroizing::new([0_u8; 32]);
        random(&mut *secret)?;
        if let Ok(stamper) = Stamper::new(curve, &secret) {
            return Ok((secret, stamper));
        }
    }
    Err(KeyFileError::Crypto("no random bytes available"))
}

fn random(bytes: &mut [u8]) -> Result<(), KeyFileError> {
    getrandom::fill(bytes).map_err(|_| KeyFileError::Crypto("no random bytes available"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn small(curve: ApiKeyCurve) -> KeyFile {
        let (secret, stamper) = fresh(curve).unwrap();
        KeyFile::seal(curve, stamper.public_key(), &secret, "correct horse").unwrap()
    }

    #[test]
    fn unlock_requires_the_passphrase() {
        for curve in [ApiKeyCurve::P256, ApiKeyCurve::Secp256k1, ApiKeyCurve::Ed25519] {
            let file = small(curve);
            assert_eq!(file.unlock("correct horse").unwrap().public_key(), file.public_key());
            assert!(matches!(file.unlock("correct horsf"), Err(KeyFileError::Passphrase)));
        }
    }

    #[test]
    fn detects_altered_files() {
        let file = small(ApiKeyCurve::P256);
        let other = small(ApiKeyCurve::P256);
        let check = |altered: KeyFile| {
            assert!(matches!(altered.unlock("correct horse"), Err(KeyFileError::Passphrase)));
        };
        check(KeyFile { public_key: other.public_key.clone(), ..file.clone() });
        check(KeyFile { curve: ApiKeyCurve::Ed25519, ..file.clone() });
        check(KeyFile { salt: other.salt.clone(), ..file.clone() });
        check(KeyFile { nonce: other.nonce.clone(), ..file.clone() });
        check(KeyFile { secret: other.secret, ..file.clone() });
        check(KeyFile { passes: 2, ..file });
    }

    #[test]
    fn rejects_invalid_names() {
        for bad in ["", ".", "../x", "a/b", "-a", "a b", "ü", &"a".repeat(65)] {
            assert!(
                matches!(
                    path(&Folders { config: PathBuf::new(), state: PathBuf::new() }, bad),
                    Err(KeyFileError::Name)
                ),
                "{bad}"
            );
        }
    }

    #[test]
    fn files_are_private_to_their_owner() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let folders = Folders { config: home.path().to_owned(), state: home.path().to_owned() };
        assert!(matches!(
            KeyFile::create(&folders, "a", ApiKeyCurve::P256, "short"),
            Err(KeyFileError::ShortPassphrase)
        ));
        KeyFile::create(&folders, "a", ApiKeyCurve::P256, "long enough").unwrap();
        assert!(matches!(
            KeyFile::create(&folders, "a", ApiKeyCurve::P256, "long enough"),
            Err(KeyFileError::File(FileError::Exists(_)))
        ));
        let path = folders.keys().join("a.key");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        KeyFile::load(&folders, "a").unwrap().unlock("long enough").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert!(matches!(
            KeyFile::load(&folders, "a"),
            Err(KeyFileError::File(FileError::Permissions { .. }))
        ));
        assert!(matches!(KeyFile::load(&folders, "b"), Err(KeyFileError::Missing(_))));
        assert_eq!(names(&folders).unwrap(), ["a"]);
    }
}
