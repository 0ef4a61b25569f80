//! SLIP-0010: private child keys on P-256 and Ed25519.
//!
//! secp256k1 is not included: on that curve SLIP-0010 equals BIP-32, which a library implements.

use hmac::{Hmac, KeyInit, Mac};
use p256::elliptic_curve::PrimeField;
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{NonZeroScalar, Scalar};
use sha2::Sha512;
use zeroize::Zeroizing;

use super::NoSuchKey;
use super::path::{Path, Step};

/// Maximum number of retries on P-256. One attempt fails with a probability of 2^-32, so that the limit is
/// never reached in practice. It only ensures that the loop ends.
const ATTEMPTS: usize = 8;

/// A private key and its chain code, as one HMAC-SHA-512 output: `I_L` ‖ `I_R`.
struct Node {
    left: Zeroizing<[u8; 32]>,
    chain_code: Zeroizing<[u8; 32]>,
}

/// Returns the private key at `path` on P-256, big-endian.
pub(super) fn p256(seed: &[u8], path: &Path) -> Result<Zeroizing<[u8; 32]>, NoSuchKey> {
    let mut node = p256_master(seed)?;
    for step in path.steps() {
        node = p256_child(&node, *step)?;
    }
    Ok(node.left)
}

/// Returns the private key at `path` on Ed25519 (RFC 8032, section 5.1.5). Every step is hardened, since the
/// curve has no other children.
pub(super) fn ed25519(seed: &[u8], path: &Path) -> Result<Zeroizing<[u8; 32]>, NoSuchKey> {
    let mut node = keyed(b"ed25519 seed", &[seed])?;
    for step in path.steps() {
        let number = step.hardened_number().to_be_bytes();
        let parent = node;
        node = keyed(parent.chain_code.as_slice(), &[&[0], parent.left.as_slice(), &number])?;
    }
    Ok(node.left)
}

/// "Master key generation": while `I_L` is not a valid key, I itself becomes the seed.
fn p256_master(seed: &[u8]) -> Result<Node, NoSuchKey> {
    const DOMAIN: &[u8] = b"Nist256p1 seed";
    let mut node = keyed(DOMAIN, &[seed])?;
    for _ in 0..ATTEMPTS {
        if nonzero(&node.left).is_some() {
            return Ok(node);
        }
        let rejected = node;
        node = keyed(DOMAIN, &[rejected.left.as_slice(), rejected.chain_code.as_slice()])?;
    }
    Err(NoSuchKey)
}

/// "Private parent key → private child key", steps 1 to 7. While the result is not a valid key, `I_R`
/// replaces the parent's key in the hashed data.
fn p256_child(parent: &Node, step: Step) -> Result<Node, NoSuchKey> {
    let number = step.number().to_be_bytes();
    let secret = nonzero(&parent.left).ok_or(NoSuchKey)?;
    let mut node = if step.number() == step.hardened_number() {
        let data: [&[u8]; 3] = [&[0], parent.left.as_slice(), &number];
        keyed(parent.chain_code.as_slice(), &data)?
    } else {
        let public = p256::PublicKey::from_secret_scalar(&secret).to_sec1_point(true);
        keyed(parent.chain_code.as_slice(), &[public.as_bytes(), &number])?
    };
    for _ in 0..ATTEMPTS {
        if let Some(child) = p256_sum(&node.left, &secret) {
            node.left = child;
            return Ok(node);
        }
        let rejected = node;
        node = keyed(parent.chain_code.as_slice(), &[&[1], rejected.chain_code.as_slice(), &number])?;
    }
    Err(NoSuchKey)
}

/// Returns `I_L` + k mod n, unless `I_L` ≥ n or the sum is zero. `I_L` = 0 is allowed: the child then equals
/// the parent, as in the specification.
fn p256_sum(left: &[u8; 32], secret: &NonZeroScalar) -> Option<Zeroizing<[u8; 32]>> {
    let tweak = Zeroizing::new(Option::<Scalar>::from(Scalar::from_repr((*left).into()))?);
    let sum = Zeroizing::new(Option::<NonZeroScalar>::from(NonZeroScalar::new(*tweak + secret.as_ref()))?);
    Some(Zeroizing::new(sum.to_repr().into()))
}

fn nonzero(bytes: &[u8; 32]) -> Option<Zeroizing<NonZeroScalar>> {
    Option::from(NonZeroScalar::from_repr((*bytes).into())).map(Zeroizing::new)
}

/// Computes HMAC-SHA-512 over the parts and splits it in halves.
fn keyed(key: &[u8], parts: &[&[u8]]) -> Result<Node, NoSuchKey> {
    let mut mac = Hmac::<Sha512>::new_from_slice(key).map_err(|_| NoSuchKey)?;
    for part in parts {
        mac.update(part);
    }
    let output = Zeroizing::new(<[u8; 64]>::from(mac.finalize().into_bytes()));
    let mut node = Node { left: Zeroizing::new([0; 32]), chain_code: Zeroizing::new([0; 32]) };
    let (left, right) = output.split_at(32);
    node.left.copy_from_slice(left);
    node.chain_code.copy_from_slice(right);
    Ok(node)
}
