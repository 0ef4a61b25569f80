//! Envelopes: secrets that clients encrypt to the encryption key of the service, without an exchange before.
//!
//! An envelope is a nonce, an ephemeral public key, and a ciphertext with its length in Borsh. The key of AES-256-GCM is
//! the first half of an HMAC-SHA512, whose key consists of both public keys and the secret that they share (ECDH on
//! P-256). Both public keys are authenticated as associated data. This is the format of the crate `qos_p256`.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hmac;
use zeroize::Zeroizing;

/// Length of the nonce, in bytes.
const NONCE: usize = 12;
/// Length of an uncompressed point, in bytes.
const POINT: usize = 65;
/// The same length as the associated data states it.
const POINT_BYTE: u8 = 65;
/// First byte of an uncompressed point (SEC 1, section 2.3.3).
const UNCOMPRESSED: u8 = 4;
/// Length of the length of the ciphertext, in bytes.
const LENGTH: usize = 4;
/// Length of a key of AES-256, in bytes.
const AES_KEY: usize = 32;
/// Message of the HMAC.
const MESSAGE: &[u8] = b"qos_encryption_hmac_message";

/// Decrypts an envelope with the secret key that it was encrypted to: 32 bytes, big-endian. Returns `None` if it was
/// encrypted to another key, was modified, or is malformed.
pub fn open(envelope: &[u8], secret: &[u8; 32]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, rest) = envelope.split_first_chunk::<NONCE>()?;
    let (sender, rest) = rest.split_first_chunk::<POINT>()?;
    let (length, ciphertext) = rest.split_first_chunk::<LENGTH>()?;
    let is_complete = usize::try_from(u32::from_le_bytes(*length)) == Ok(ciphertext.len());
    if !is_complete || sender.first() != Some(&UNCOMPRESSED) {
        return None;
    }
    let own = PrivateKey::from_private_key(&ECDH_P256, secret).ok()?;
    let receiver = own.compute_public_key().ok()?;
    let derived = agree(&own, UnparsedPublicKey::new(&ECDH_P256, sender), (), |shared| {
        let material = Zeroizing::new([sender, receiver.as_ref(), shared].concat());
        Ok(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA512, &material), MESSAGE))
    });
    let derived = derived.ok()?;
    let key = UnboundKey::new(&AES_256_GCM, derived.as_ref().get(..AES_KEY)?).ok()?;
    let associated = [sender, [POINT_BYTE].as_slice(), receiver.as_ref(), [POINT_BYTE].as_slice()].concat();
    let mut plain = Zeroizing::new(ciphertext.to_vec());
    let nonce = Nonce::assume_unique_for_key(*nonce);
    let length = LessSafeKey::new(key).open_in_place(nonce, Aad::from(associated), &mut plain).ok()?.len();
    plain.truncate(length);
    Some(plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    const SECRET: [u8; 32] = [0x11; 32];
    const VECTOR: &str = "aef5415ed6ed8cb729b3301f04d86c994063dc41eb78f565c11fb5e00c86567cbf4371ce7527281abf7551becf52e0b981adc91a37cf113955b680a9a534c60166d0b7f8c5b789235fd8c6899f20000000431494c86a7d7aa9c5ad3175cf28c83925d6754238eef9057185ff9c802347bc";

    #[test]
    fn decrypts_an_envelope_of_another_implementation() {
        // Made by `encryptOauth2ClientSecret` of @turnkey/crypto 2.13.2, for the public key of `SECRET`.
        let envelope = const_hex::decode(VECTOR).unwrap();
        assert_eq!(open(&envelope, &SECRET).unwrap().as_slice(), "client secret ü".as_bytes());
    }

    #[test]
    fn rejects_each_change() {
        let envelope = const_hex::decode(VECTOR).unwrap();
        for position in 0..envelope.len() {
            let mut changed = envelope.clone();
            changed[position] ^= 1;
            assert!(open(&changed, &SECRET).is_none(), "{position}");
            assert!(open(&envelope[..position], &SECRET).is_none(), "{position}");
        }
        assert!(open(&[envelope.as_slice(), &[0]].concat(), &SECRET).is_none());
        assert!(open(&envelope, &[0x12; 32]).is_none());
        assert!(open(&envelope, &[0; 32]).is_none());
    }
}
