//! Keys and signatures of SSH agents: which can stamp requests, and which one a selector names.

use quorate_common::stamp::ExternalKey;
use ssh_encoding::Decode;
use ssh_key::public::{EcdsaPublicKey, KeyData};
use ssh_key::{Algorithm, EcdsaCurve, HashAlg, Mpint, Signature};

use super::client::Identity;
use super::error::AgentError;
use crate::keys::canonical;
use crate::text::clean;

/// Length of the numbers of a P-256 signature.
const SCALAR: usize = 32;

/// A key that can stamp requests.
pub(super) struct Usable {
    /// Public key in the encoding of the agent.
    pub(super) blob: Vec<u8>,
    pub(super) key: ExternalKey,
}

/// A key of the agent.
pub(in crate::keys) struct Found {
    /// Fingerprint as OpenSSH shows it: `SHA256:` and base64. Empty if the key cannot be parsed.
    pub(in crate::keys) fingerprint: String,
    /// Comment, cleaned.
    pub(in crate::keys) comment: String,
    /// The key, or why it cannot stamp requests.
    pub(in crate::keys) key: Result<ExternalKey, String>,
}

/// Parses a key.
pub(super) fn found(identity: Identity) -> Found {
    let mut reader = identity.blob.as_slice();
    let data = KeyData::decode(&mut reader).ok().filter(|_| reader.is_empty());
    let fingerprint = data.as_ref().map(|data| data.fingerprint(HashAlg::Sha256).to_string());
    Found {
        fingerprint: fingerprint.unwrap_or_default(),
        key: match &data {
            Some(data) => usable(data),
            None => Err("certificates and malformed keys cannot stamp requests".to_owned()),
        },
        comment: identity.comment,
    }
}

/// Returns the key, or why it cannot stamp requests.
fn usable(data: &KeyData) -> Result<ExternalKey, String> {
    let key = match data {
        KeyData::Ed25519(key) => ExternalKey::ed25519(key.as_ref()),
        KeyData::Ecdsa(key @ EcdsaPublicKey::NistP256(_)) => ExternalKey::p256(key.as_sec1_bytes()),
        other => return Err(unusable_reason(&other.algorithm())),
    };
    key.map_err(|_| "the key is not a point of its curve".to_owned())
}

fn unusable_reason(algorithm: &Algorithm) -> String {
    let name = clean(algorithm.as_str());
    match algorithm {
        Algorithm::SkEcdsaSha2NistP256 | Algorithm::SkEd25519 => format!(
            "{name} keys sign a structure of their own instead of the request, so they cannot stamp requests; use an ECDSA P-256 or Ed25519 key"
        ),
        _ => format!("{name} keys cannot stamp requests; use an ECDSA P-256 or Ed25519 key"),
    }
}

/// Returns whether a selector names a key. A selector in the form of a fingerprint or of a public key never matches a
/// comment, which anybody can choose.
fn is_selected(found: &Found, selector: &str) -> bool {
    let is_hex = matches!(selector.len(), 64 | 66) && selector.bytes().all(|byte| byte.is_ascii_hexdigit());
    if selector.is_empty() {
        found.key.is_ok()
    } else if selector.starts_with("SHA256:") {
        found.fingerprint == selector
    } else if is_hex {
        found.key.as_ref().is_ok_and(|key| key.public_key() == canonical(selector))
    } else {
        found.comment == selector
    }
}

/// Returns the one usable key that a selector names. A key and its certificate may have the same comment.
pub(super) fn select(identities: Vec<Identity>, selector: &str) -> Result<Usable, AgentError> {
    let mut usable: Vec<Usable> = Vec::new();
    let mut unusable = None;
    for identity in identities {
        let blob = identity.blob.clone();
        let one = found(identity);
        if !is_selected(&one, selector) || usable.iter().any(|other| other.blob == blob) {
            continue;
        }
        match one.key {
            Ok(key) => usable.push(Usable { blob, key }),
            Err(reason) => unusable = Some(reason),
        }
    }
    let count = usable.len();
    match (usable.pop(), unusable) {
        (Some(only), _) if count == 1 => Ok(only),
        (Some(_), _) => Err(AgentError::Ambiguous { selector: selector.to_owned(), count }),
        (None, Some(reason)) => Err(AgentError::Unusable(reason)),
        (None, None) if selector.is_empty() => Err(AgentError::Empty),
        (None, None) => Err(AgentError::Missing(selector.to_owned())),
    }
}

/// Returns the 64 bytes of a signature: for ECDSA (RFC 5656 §3.1.2) both numbers with leading zeros.
pub(super) fn raw(signature: &Signature) -> Option<Vec<u8>> {
    match signature.algorithm() {
        Algorithm::Ed25519 => Some(signature.as_bytes().to_vec()),
        Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 } => {
            let mut reader = signature.as_bytes();
            let (r, s) = (Mpint::decode(&mut reader).ok()?, Mpint::decode(&mut reader).ok()?);
            Some([padded(&r)?, padded(&s)?].concat())
        }
        _ => None,
    }
}

fn padded(number: &Mpint) -> Option<[u8; SCALAR]> {
    let bytes = number.as_positive_bytes()?;
    let mut padded = [0; SCALAR];
    padded.get_mut(SCALAR.checked_sub(bytes.len())?..)?.copy_from_slice(bytes);
    Some(padded)
}
