//! Export and import of secrets: encrypted to one key, in statements that the quorum key signs.

use quorate_common::bundle::{BundleError, Sealed, Statement, TargetKey, TargetPublicKey};
use quorate_common::ids::UserId;
use zeroize::Zeroizing;

use crate::error::{Corrupt, Denied, Intent, RequestError};
use crate::execution::Execution;
use crate::limits::SECRET_BYTES;
use crate::model::import_target::is_expired;
use crate::model::layout::Key;
use crate::model::{Change, ImportTarget, Purpose};
use crate::params::keys::ImportBundle;
use crate::view::View;

/// Maximum length of a bundle with a secret, in bytes of text: the ciphertext in hexadecimal, and 1 KiB for
/// the rest.
pub const MAX_SECRET_BUNDLE: usize = 2 * SECRET_BYTES + 1024;

/// Maximum length of a bundle with a mnemonic or a private key, in bytes of text.
pub const MAX_BUNDLE: usize = 8 * 1024;

/// How many import keys are read beyond the limit of a user, so that expired ones are found.
const SPARE: usize = 16;

/// Parses a public key that something is encrypted to.
///
/// # Errors
/// If the text is not a valid target public key.
pub fn target(text: &str) -> Result<TargetPublicKey, RequestError> {
    let error = |error: BundleError| Intent::Detail(format!("invalid target public key: {error}"));
    Ok(TargetPublicKey::parse(text).map_err(error)?)
}

/// The keys of the service itself that a caller knows. An export to one of them could not be decrypted by
/// anybody outside, but would count as exported.
pub struct ServiceKeys {
    quorum: String,
    imports: Vec<TargetPublicKey>,
}

impl ServiceKeys {
    /// Reads the quorum key and the import keys of the caller.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn of(view: &View<'_>) -> Result<Self, Corrupt> {
        let mut imports = Vec::new();
        for purpose in [Purpose::Wallet, Purpose::PrivateKey, Purpose::Secret] {
            for target in targets(purpose, view)? {
                imports.push(target?.key.public().clone());
            }
        }
        Ok(Self { quorum: view.installation().quorum_key().public_key(), imports })
    }

    /// Parses the target public key of an export.
    ///
    /// # Errors
    /// If the text is not a valid public key, or is one of these keys.
    pub fn export_target(&self, text: &str) -> Result<TargetPublicKey, RequestError> {
        let target = target(text)?;
        if target.hex() == self.quorum {
            return Err(
                Intent::Text("invalid target public key: it is the quorum key of this service").into()
            );
        }
        if self.imports.contains(&target) {
            return Err(Intent::Text("invalid target public key: it is an import key of this user").into());
        }
        Ok(target)
    }
}

/// Encrypts an export to the target key, and returns the bundle that clients read.
///
/// # Errors
/// If the quorum key cannot sign the statement.
pub fn export(
    target: &TargetPublicKey,
    plaintext: &[u8],
    context: &mut Execution<'_>,
) -> Result<String, RequestError> {
    let sealed = Sealed::new(target, plaintext, context.entropy())
        .map_err(|_| Corrupt::Invariant("a valid target public key is rejected"))?;
    let statement = Statement::export(&sealed, context.organization.id()).map_err(|_| unserializable())?;
    signed(&statement, &context.view())
}

/// Creates the key of a session, and encrypts it to the target key. Returns the credential bundle that clients
/// decrypt, and the public key.
///
/// # Errors
/// If the target key is rejected.
pub fn new_credential(
    target: &TargetPublicKey,
    context: &mut Execution<'_>,
) -> Result<(String, String), RequestError> {
    let key = TargetKey::generate(context.entropy());
    let sealed = Sealed::new(target, key.to_bytes().as_slice(), context.entropy())
        .map_err(|_| Corrupt::Invariant("a valid target public key is rejected"))?;
    Ok((sealed.to_base58(), key.public().compressed_hex()))
}

/// Checks that a user imports for themselves. Policies cannot allow otherwise.
///
/// # Errors
/// If the user is not the proposer.
pub fn is_own(user: UserId, view: &View<'_>) -> Result<(), RequestError> {
    if user == view.proposer { Ok(()) } else { Err(Denied::NotAuthorized.into()) }
}

/// Adds a new import key for the caller, and removes the oldest ones beyond their limit. Returns the bundle that clients read.
///
/// # Errors
/// If the store cannot be read, or the quorum key cannot sign the statement.
pub fn new_target(purpose: Purpose, context: &mut Execution<'_>) -> Result<ImportBundle, RequestError> {
    evict_import_targets(purpose, 1, context)?;
    add_target(purpose, context)
}

/// Adds a new import key for the caller, and returns the bundle that clients read.
///
/// # Errors
/// If the quorum key cannot sign the statement.
pub fn add_target(purpose: Purpose, context: &mut Execution<'_>) -> Result<ImportBundle, RequestError> {
    let (organization, user, now) = (context.organization.id(), context.proposer, context.now());
    let key = TargetKey::generate(context.entropy());
    let named = (purpose != Purpose::Secret).then_some(user);
    let statement = Statement::target(key.public(), organization, named).map_err(|_| unserializable())?;
    let import_target = ImportTarget::new(key, organization, user, purpose, now, context.random());
    context.change(Change::AddImportTarget(import_target));
    signed(&statement, &context.view()).map(ImportBundle::new)
}

/// Returns the bundle with the key that a one-time code is encrypted to.
///
/// # Errors
/// If the quorum key cannot sign the statement.
pub fn code_target(target: &TargetPublicKey, view: &View<'_>) -> Result<String, RequestError> {
    signed(&Statement::code_target(target).map_err(|_| unserializable())?, view)
}

/// Removes the expired import keys of the caller, and the oldest ones, so that `more` keys fit into the
/// limit.
///
/// # Errors
/// If the store cannot be read.
pub fn evict_import_targets(
    purpose: Purpose,
    more: usize,
    context: &mut Execution<'_>,
) -> Result<(), RequestError> {
    let keys = target_keys(purpose, &context.view())?;
    let now = context.now();
    let (expired, live): (Vec<Key>, Vec<Key>) = keys.into_iter().partition(|key| is_expired(key, now));
    let kept = purpose.limit().saturating_sub(more);
    for key in expired.into_iter().chain(live.into_iter().skip(kept)) {
        context.change(Change::RemoveImportTarget(key));
    }
    Ok(())
}

/// Returns the store keys of the caller's import keys, newest first, including expired ones.
fn target_keys(purpose: Purpose, view: &View<'_>) -> Result<Vec<Key>, Corrupt> {
    view.records().import_targets(view.proposer, purpose, purpose.limit().saturating_add(SPARE))
}

/// A decrypted import, and the import key that it was encrypted to.
pub struct Opened {
    /// Decrypted bytes.
    pub plaintext: Zeroizing<Vec<u8>>,
    /// Store key of the import key, which the import must remove.
    pub record_key: Key,
}

/// Decrypts a bundle with the caller's import keys for this purpose.
///
/// # Errors
/// If the bundle is malformed, or none of the keys decrypts it.
pub fn open(purpose: Purpose, text: &str, view: &View<'_>) -> Result<Opened, RequestError> {
    let sealed = sealed(text)?;
    for target in targets(purpose, view)? {
        let target = target?;
        if let Ok(plaintext) = target.key.open(&sealed) {
            return Ok(Opened { plaintext, record_key: target.record_key });
        }
    }
    Err(undecryptable().into())
}

/// The caller's import keys, for imports that name the key they are encrypted to.
pub struct ImportKeys(Vec<ImportTarget>);

impl ImportKeys {
    /// Reads all import keys for this purpose.
    ///
    /// # Errors
    /// If the store cannot be read, or a record is damaged.
    pub fn of(purpose: Purpose, view: &View<'_>) -> Result<Self, Corrupt> {
        Ok(Self(targets(purpose, view)?.collect::<Result<_, _>>()?))
    }

    /// Decrypts a bundle that is encrypted to the key `to`. No other key is tried, and this one cannot be
    /// used again.
    ///
    /// # Errors
    /// If the bundle is malformed, or `to` is not one of the keys, or does not decrypt it.
    pub fn open(&mut self, to: &TargetPublicKey, text: &str) -> Result<Opened, RequestError> {
        let sealed = sealed(text)?;
        let Self(targets) = self;
        let index = targets.iter().position(|target| target.key.public() == to).ok_or(undecryptable())?;
        let target = targets.swap_remove(index);
        let plaintext = target.key.open(&sealed).map_err(|_| undecryptable())?;
        Ok(Opened { plaintext, record_key: target.record_key })
    }
}

fn sealed(text: &str) -> Result<Sealed, RequestError> {
    let error = |error: BundleError| Intent::Detail(format!("invalid encrypted bundle: {error}"));
    Ok(Sealed::parse(text).map_err(error)?)
}

const fn undecryptable() -> Intent {
    Intent::Text(
        "invalid encrypted bundle: no import key of this user decrypts it; each key is valid for one import, within 24 hours",
    )
}

/// Reads the caller's import keys that have not expired, newest first.
fn targets<'v>(
    purpose: Purpose,
    view: &'v View<'_>,
) -> Result<impl Iterator<Item = Result<ImportTarget, Corrupt>> + 'v, Corrupt> {
    let live = target_keys(purpose, view)?.into_iter().filter(|key| !is_expired(key, view.now));
    Ok(live.filter_map(move |key| view.records().import_target(view.proposer, purpose, key).transpose()))
}

fn signed(statement: &Statement, view: &View<'_>) -> Result<String, RequestError> {
    let key = view.installation().quorum_key();
    let signature = key.sign(statement.bytes())?;
    Ok(statement.signed(&signature, &key.public_key()).map_err(|_| unserializable())?)
}

const fn unserializable() -> Corrupt {
    Corrupt::Invariant("a statement cannot be serialized")
}
