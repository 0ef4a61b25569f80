//! PIN/UV auth protocols one and two (CTAP 2.1 §6.5.6 and §6.5.7): a key is agreed with the security key, the PIN is sent
//! encrypted under it, and the token that returns authenticates requests.

use aes::Aes256;
use aws_lc_rs::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::hmac::{self, HMAC_SHA256};
use aws_lc_rs::rand::SystemRandom;
use cbc::cipher::block_padding::NoPadding;
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::error::SecurityKeyError;

/// Length of an AES block.
const BLOCK: usize = 16;
/// Length of an HMAC in requests of protocol one.
const SHORT_HMAC: usize = 16;
/// Length of an uncompressed point of P-256 (SEC 1 §2.3.3).
pub(super) const POINT: usize = 65;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    One,
    Two,
}

impl Protocol {
    /// Returns the number of the protocol in messages.
    pub(super) const fn number(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
        }
    }

    /// Returns the protocol to use with a security key that offers these.
    pub(super) fn preferred(offered: &[u8]) -> Option<Self> {
        [Self::Two, Self::One].into_iter().find(|protocol| offered.contains(&protocol.number()))
    }

    /// Authenticates a message with a key or a token.
    pub(super) fn authenticate(self, key: &[u8], message: &[u8]) -> Vec<u8> {
        let tag = hmac::sign(&hmac::Key::new(HMAC_SHA256, key), message);
        let length = match self {
            Self::One => SHORT_HMAC,
            Self::Two => tag.as_ref().len(),
        };
        tag.as_ref().get(..length).unwrap_or_default().to_vec()
    }
}

/// A key that this program and the security key agreed on.
pub(super) struct SharedKey {
    protocol: Protocol,
    aes: Zeroizing<[u8; 32]>,
    /// Public key that the security key needs, as an uncompressed point.
    pub(super) own: [u8; POINT],
}

impl SharedKey {
    /// Agrees on a key with the public key of a security key.
    ///
    /// # Errors
    /// [`SecurityKeyError`] if the key is not a point of the curve.
    pub(super) fn agree(protocol: Protocol, peer: &[u8; POINT]) -> Result<Self, SecurityKeyError> {
        let invalid = SecurityKeyError::Answer("an invalid key agreement key");
        let secret = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new())
            .map_err(|_| SecurityKeyError::Random)?;
        let own = secret.compute_public_key().map_err(|_| SecurityKeyError::Random)?;
        let own = own.as_ref().try_into().map_err(|_| SecurityKeyError::Random)?;
        let peer = UnparsedPublicKey::new(&ECDH_P256, peer);
        let aes = agree_ephemeral(secret, peer, invalid, |shared| protocol_key(protocol, shared))?;
        Ok(Self { protocol, aes, own })
    }

    /// Encrypts whole blocks, such as the digest of a PIN.
    pub(super) fn encrypt(&self, plain: &[u8]) -> Result<Vec<u8>, SecurityKeyError> {
        let invalid = |_| SecurityKeyError::Answer("an invalid length");
        let mut iv = [0; BLOCK];
        if self.protocol == Protocol::Two {
            getrandom::fill(&mut iv).map_err(|_| SecurityKeyError::Random)?;
        }
        let mut blocks = plain.to_vec();
        let cipher = cbc::Encryptor::<Aes256>::new(&(*self.aes).into(), &iv.into());
        cipher.encrypt_padded::<NoPadding>(&mut blocks, plain.len()).map_err(invalid)?;
        Ok(match self.protocol {
            Protocol::One => blocks,
            Protocol::Two => [&iv[..], &blocks].concat(),
        })
    }

    /// Decrypts whole blocks, such as a token.
    pub(super) fn decrypt(&self, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SecurityKeyError> {
        let invalid = || SecurityKeyError::Answer("an invalid token");
        let (iv, blocks) = match self.protocol {
            Protocol::One => ([0; BLOCK], sealed),
            Protocol::Two => {
                sealed.split_first_chunk::<BLOCK>().map(|(iv, rest)| (*iv, rest)).ok_or_else(invalid)?
            }
        };
        let mut plain = Zeroizing::new(blocks.to_vec());
        let cipher = cbc::Decryptor::<Aes256>::new(&(*self.aes).into(), &iv.into());
        cipher.decrypt_padded::<NoPadding>(&mut plain).map_err(|_| invalid())?;
        Ok(plain)
    }

    /// Encrypts the digest of a PIN.
    pub(super) fn encrypt_pin(&self, pin: &str) -> Result<Vec<u8>, SecurityKeyError> {
        let digest = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(pin.as_bytes())));
        self.encrypt(digest.get(..BLOCK).unwrap_or_default())
    }
}

/// Derives the key for encryption from the agreed secret.
fn protocol_key(protocol: Protocol, shared: &[u8]) -> Result<Zeroizing<[u8; 32]>, SecurityKeyError> {
    match protocol {
        Protocol::One => Ok(Zeroizing::new(Sha256::digest(shared).into())),
        Protocol::Two => {
            let mut key = Zeroizing::new([0; 32]);
            let extracted = Salt::new(HKDF_SHA256, &[0; 32]).extract(shared);
            let expanded = extracted.expand(&[b"CTAP2 AES key"], Length(key.len()));
            expanded.and_then(|derived| derived.fill(&mut *key)).map_err(|_| SecurityKeyError::Random)?;
            Ok(key)
        }
    }
}

/// Length of a derived key, in bytes.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    /// The other side of the agreement, with the same functions.
    fn pair(protocol: Protocol) -> (SharedKey, SharedKey) {
        let secret = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).unwrap();
        let public = secret.compute_public_key().unwrap();
        let ours = SharedKey::agree(protocol, public.as_ref().try_into().unwrap()).unwrap();
        let peer = UnparsedPublicKey::new(&ECDH_P256, ours.own);
        let aes =
            agree_ephemeral(secret, peer, SecurityKeyError::Random, |z| protocol_key(protocol, z)).unwrap();
        let theirs = SharedKey { protocol, aes, own: ours.own };
        (ours, theirs)
    }

    #[test]
    fn both_sides_read_what_the_other_encrypts() {
        for protocol in [Protocol::One, Protocol::Two] {
            let (ours, theirs) = pair(protocol);
            let sealed = ours.encrypt(&[7; 32]).unwrap();
            assert_eq!(sealed.len(), if protocol == Protocol::One { 32 } else { 48 });
            assert_eq!(*theirs.decrypt(&sealed).unwrap(), [7; 32]);
            assert!(ours.encrypt(&[7; 15]).is_err() && theirs.decrypt(&sealed[1..]).is_err());
            let digest = Sha256::digest(b"1234");
            assert_eq!(*theirs.decrypt(&ours.encrypt_pin("1234").unwrap()).unwrap(), digest[..16]);
        }
        assert!(SharedKey::agree(Protocol::Two, &[4; POINT]).is_err(), "not a point of the curve");
    }

    /// HMAC-SHA-256 of RFC 4231 §4.3.
    #[test]
    fn requests_are_authenticated_with_hmac() {
        let (key, message) = (b"Jefe", b"what do ya want for nothing?");
        let tag = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(const_hex::encode(Protocol::Two.authenticate(key, message)), tag);
        assert_eq!(const_hex::encode(Protocol::One.authenticate(key, message)), tag[..32]);
        assert_eq!(Protocol::preferred(&[1, 2]), Some(Protocol::Two));
        assert_eq!(Protocol::preferred(&[1]), Some(Protocol::One));
        assert_eq!(Protocol::preferred(&[9]), None);
    }
}
