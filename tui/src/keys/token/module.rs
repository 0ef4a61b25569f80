//! The PKCS #11 module of a token: finds tokens and their public keys, which needs no PIN.

use std::path::Path;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::object::{Attribute, AttributeType, ObjectClass, ObjectHandle};
use cryptoki::session::Session;
use cryptoki::slot::Slot;
use quorate_common::stamp::ExternalKey;

use super::error::TokenError;

/// The named curve P-256 in DER (RFC 5480 §2.1.1.1).
const P256: &[u8] = &[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
/// Header of an octet string in DER that holds an uncompressed point of P-256.
const POINT_HEADER: &[u8] = &[0x04, 0x41];
/// Maximum number of tokens and of keys of a token.
const COUNT_LIMIT: usize = 256;

/// A public key of a token.
pub(super) struct PublicKey {
    pub(super) label: String,
    /// Identifier that the public key shares with its private key; may be empty.
    pub(super) id: Vec<u8>,
    /// The key, or why it cannot stamp requests.
    pub(super) key: Result<ExternalKey, String>,
}

/// Loads the module at this path and initializes it.
pub(super) fn load(path: &Path) -> Result<Pkcs11, TokenError> {
    let shown = || path.display().to_string();
    // A name alone would be searched for in folders that the user did not choose.
    if !path.is_absolute() {
        return Err(TokenError::Relative(shown()));
    }
    let failed = |error: Error| TokenError::Module { path: shown(), reason: reason(&error) };
    let module = Pkcs11::new(path).map_err(failed)?;
    match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => Ok(module),
        Err(error) => Err(failed(error)),
    }
}

fn reason(error: &Error) -> String {
    match error {
        Error::LibraryLoading(error) => error.to_string(),
        error => error.to_string(),
    }
}

/// Returns the tokens with their labels.
pub(super) fn tokens(module: &Pkcs11) -> Result<Vec<(Slot, String)>, Error> {
    let mut tokens = Vec::new();
    for slot in module.get_slots_with_initialized_token()?.into_iter().take(COUNT_LIMIT) {
        // A token may be removed while they are listed.
        if let Ok(info) = module.get_token_info(slot) {
            tokens.push((slot, info.label().trim_end().to_owned()));
        }
    }
    Ok(tokens)
}

/// Returns the public keys of the token of a session.
pub(super) fn public_keys(session: &Session) -> Result<Vec<PublicKey>, Error> {
    let wanted = [Attribute::Class(ObjectClass::PUBLIC_KEY), Attribute::Token(true)];
    let handles = session.find_objects(&wanted)?;
    handles.into_iter().take(COUNT_LIMIT).map(|handle| public_key(session, handle)).collect()
}

fn public_key(session: &Session, handle: ObjectHandle) -> Result<PublicKey, Error> {
    let wanted = [AttributeType::Label, AttributeType::Id, AttributeType::EcParams, AttributeType::EcPoint];
    let (mut label, mut id, mut curve, mut point) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for attribute in session.get_attributes(handle, &wanted)? {
        match attribute {
            Attribute::Label(bytes) => label = bytes,
            Attribute::Id(bytes) => id = bytes,
            Attribute::EcParams(bytes) => curve = bytes,
            Attribute::EcPoint(bytes) => point = bytes,
            _ => {}
        }
    }
    // PKCS #11 2.20 encodes the point; some tokens return it without the header.
    let bare = point.strip_prefix(POINT_HEADER).filter(|rest| rest.len() == 0x41).unwrap_or(&point);
    let key = if curve == P256 {
        ExternalKey::p256(bare).map_err(|_| "the key is not a point of its curve".to_owned())
    } else {
        Err("only keys on the curve P-256 (prime256v1) of a token can stamp requests".to_owned())
    };
    Ok(PublicKey { label: String::from_utf8_lossy(&label).into_owned(), id, key })
}
