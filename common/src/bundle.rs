//! Bundles: secrets in transit between the service and a client, encrypted to one key (HPKE, RFC 9180), and
//! the signed messages of the service that carry them.
//!
//! The suite is DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM in base mode, with one message per
//! exchange. Both public keys are authenticated as associated data, so that a bundle is bound to its
//! recipient.

use hpke::aead::AesGcm256;
use hpke::kdf::HkdfSha256;
use hpke::kem::DhP256HkdfSha256;
use hpke::rand_core::{TryCryptoRng, TryRng};
use hpke::{Deserializable, Kem, OpModeR, OpModeS, Serializable};
use p256::elliptic_curve::sec1::ToSec1Point;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use zeroize::Zeroizing;

use crate::ids::{OrganizationId, UserId};

type Suite = DhP256HkdfSha256;
type Public = <Suite as Kem>::PublicKey;
type Private = <Suite as Kem>::PrivateKey;
type Encapped = <Suite as Kem>::EncappedKey;

/// HPKE `info` string, which separates these exchanges from all others (RFC 9180, section 5.1).
const INFO: &[u8] = b"turnkey_hpke";
/// Version of the signed messages.
const VERSION: &str = "v1.0.0";
/// Length in bytes of an uncompressed point: `04`, X and Y (SEC 1, section 2.3.3).
const UNCOMPRESSED_BYTES: usize = 65;
/// Length in bytes of a compressed point: `02` or `03`, and X (SEC 1, section 2.3.3).
const COMPRESSED_BYTES: usize = 33;

/// P-256 public key that a bundle is encrypted to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetPublicKey([u8; UNCOMPRESSED_BYTES]);

impl TargetPublicKey {
    /// Parses a P-256 point from hexadecimal digits, uncompressed or compressed.
    ///
    /// # Errors
    /// [`BundleError::PublicKey`] if the text is not such a point.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let mut bytes = [0; UNCOMPRESSED_BYTES];
        let bytes = bytes.get_mut(..text.len() / 2).ok_or(BundleError::PublicKey)?;
        const_hex::decode_to_slice(text, bytes).map_err(|_| BundleError::PublicKey)?;
        // The library accepts more encodings than these two, such as `05` with X alone.
        if !matches!(
            (bytes.first(), bytes.len()),
            (Some(2 | 3), COMPRESSED_BYTES) | (Some(4), UNCOMPRESSED_BYTES)
        ) {
            return Err(BundleError::PublicKey);
        }
        let key = p256::PublicKey::from_sec1_bytes(bytes).map_err(|_| BundleError::PublicKey)?;
        let point = key.to_sec1_point(false);
        point.as_bytes().try_into().map(Self).map_err(|_| BundleError::PublicKey)
    }

    /// Returns the uncompressed point in lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        const_hex::encode(self.0)
    }

    /// Returns the compressed point in lower-case hexadecimal digits, as API keys are registered.
    pub fn compressed_hex(&self) -> String {
        const_hex::encode(self.compressed())
    }

    /// Returns the compressed point (SEC 1, section 2.3.3): the parity of Y, and X.
    fn compressed(&self) -> [u8; COMPRESSED_BYTES] {
        let [_, x @ .., last] = &self.0;
        let mut bytes = [0; COMPRESSED_BYTES];
        let [tag, rest @ ..] = &mut bytes;
        *tag = 2 | (last & 1);
        rest.iter_mut().zip(x).for_each(|(to, from)| *to = *from);
        bytes
    }
}

/// Key pair that one bundle is encrypted to.
///
/// The secret key is wiped when dropped and has no `Debug` implementation.
pub struct TargetKey {
    secret: Private,
    public: TargetPublicKey,
}

impl TargetKey {
    /// Derives a key pair from 32 random bytes that `fill` writes (RFC 9180, section 7.1.3).
    pub fn generate(fill: &mut dyn FnMut(&mut [u8])) -> Self {
        let mut material = Zeroizing::new([0; 32]);
        fill(material.as_mut_slice());
        let (secret, public) = Suite::derive_keypair(material.as_slice());
        Self::of(secret, &public)
    }

    /// Parses a secret key in the format of [`TargetKey::to_bytes`].
    ///
    /// # Errors
    /// [`BundleError::SecretKey`] if the bytes are not a secret key of P-256.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BundleError> {
        let secret = Private::from_bytes(bytes).map_err(|_| BundleError::SecretKey)?;
        let public = Suite::sk_to_pk(&secret);
        Ok(Self::of(secret, &public))
    }

    fn of(secret: Private, public: &Public) -> Self {
        Self { secret, public: TargetPublicKey(public.to_bytes().into()) }
    }

    /// Returns the secret key: 32 bytes, big-endian.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        let mut bytes = Zeroizing::new([0; 32]);
        self.secret.write_exact(bytes.as_mut_slice());
        bytes
    }

    /// Returns the public key.
    pub const fn public(&self) -> &TargetPublicKey {
        &self.public
    }

    /// Decrypts a bundle that was encrypted to this key.
    ///
    /// # Errors
    /// [`BundleError::Decryption`] if the bundle was encrypted to another key or was modified.
    pub fn open(&self, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, BundleError> {
        self.open_in(sealed, INFO, &[])
    }

    /// Decrypts what was encrypted to this key for the exchange `info`. `context` is authenticated after the public
    /// keys.
    ///
    /// # Errors
    /// See [`TargetKey::open`].
    pub fn open_in(
        &self,
        sealed: &Sealed,
        info: &[u8],
        context: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, BundleError> {
        let encapped = Encapped::from_bytes(&sealed.encapped.0).map_err(|_| BundleError::Decryption)?;
        let mut receiver = hpke::setup_receiver::<AesGcm256, HkdfSha256, Suite>(
            &OpModeR::Base,
            &self.secret,
            &encapped,
            info,
        )
        .map_err(|_| BundleError::Decryption)?;
        let data = associated_data(&sealed.encapped, &self.public, context);
        let decrypted = receiver.open(&sealed.ciphertext, &data);
        decrypted.map(Zeroizing::new).map_err(|_| BundleError::Decryption)
    }
}

/// Returns the associated data: both public keys, and what else the exchange authenticates.
fn associated_data(encapped: &TargetPublicKey, target: &TargetPublicKey, context: &[u8]) -> Vec<u8> {
    [encapped.0.as_slice(), &target.0, context].concat()
}

/// A secret encrypted to a [`TargetPublicKey`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sealed {
    encapped: TargetPublicKey,
    ciphertext: Vec<u8>,
}

/// JSON form of a bundle from a client, and the first members of an export statement.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SealedText {
    encapped_public: String,
    ciphertext: String,
}

impl Sealed {
    /// Encrypts a text to a key. `fill` provides the randomness of the ephemeral key.
    ///
    /// # Errors
    /// [`BundleError::PublicKey`] if the library rejects the key.
    pub fn new(
        target: &TargetPublicKey,
        plaintext: &[u8],
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, BundleError> {
        Self::new_in(target, plaintext, INFO, &[], fill)
    }

    /// Encrypts bytes to a key for the exchange `info`. `context` is authenticated after the public keys.
    ///
    /// # Errors
    /// See [`Sealed::new`].
    pub fn new_in(
        target: &TargetPublicKey,
        plaintext: &[u8],
        info: &[u8],
        context: &[u8],
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, BundleError> {
        let recipient = Public::from_bytes(&target.0).map_err(|_| BundleError::PublicKey)?;
        let (encapped, mut sender) = hpke::setup_sender_with_rng::<AesGcm256, HkdfSha256, Suite>(
            &OpModeS::Base,
            &recipient,
            info,
            &mut CallerRng(fill),
        )
        .map_err(|_| BundleError::PublicKey)?;
        let encapped = TargetPublicKey(encapped.to_bytes().into());
        let ciphertext = sender
            .seal(plaintext, &associated_data(&encapped, target, context))
            .map_err(|_| BundleError::PublicKey)?;
        Ok(Self { encapped, ciphertext })
    }

    /// Parses a bundle from a client: a JSON object with `encappedPublic` and `ciphertext` in hexadecimal
    /// digits.
    ///
    /// # Errors
    /// [`BundleError::Malformed`] if the text is not such an object.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let text: SealedText = serde_json::from_str(text).map_err(|_| BundleError::Malformed)?;
        let encapped = TargetPublicKey::parse(&text.encapped_public).map_err(|_| BundleError::Malformed)?;
        let ciphertext = const_hex::decode(&text.ciphertext).map_err(|_| BundleError::Malformed)?;
        Ok(Self { encapped, ciphertext })
    }

    /// Returns the JSON object that [`Sealed::parse`] reads.
    ///
    /// # Errors
    /// Errors of the JSON library. No bundle causes one.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.text())
    }

    /// Returns the credential bundle of sign-in flows: the compressed encapsulated key and the ciphertext, in
    /// `Base58Check`.
    pub fn to_base58(&self) -> String {
        let bytes = [self.encapped.compressed().as_slice(), &self.ciphertext].concat();
        bs58::encode(bytes).with_check().into_string()
    }

    /// Returns the compressed encapsulated key and the ciphertext in hexadecimal digits.
    pub fn to_hex(&self) -> String {
        const_hex::encode([self.encapped.compressed().as_slice(), &self.ciphertext].concat())
    }

    /// Parses the text that [`Sealed::to_hex`] returns.
    ///
    /// # Errors
    /// [`BundleError::Malformed`] if it is another text.
    pub fn from_hex(text: &str) -> Result<Self, BundleError> {
        let (encapped, ciphertext) =
            text.split_at_checked(2 * COMPRESSED_BYTES).ok_or(BundleError::Malformed)?;
        let encapped = TargetPublicKey::parse(encapped).map_err(|_| BundleError::Malformed)?;
        let ciphertext = const_hex::decode(ciphertext).map_err(|_| BundleError::Malformed)?;
        Ok(Self { encapped, ciphertext })
    }

    fn text(&self) -> SealedText {
        let ciphertext = const_hex::encode(&self.ciphertext);
        SealedText { encapped_public: self.encapped.hex(), ciphertext }
    }
}

/// Source of randomness that takes its bytes from the caller's function.
pub(crate) struct CallerRng<'a>(pub(crate) &'a mut dyn FnMut(&mut [u8]));

impl TryRng for CallerRng<'_> {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        (self.0)(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        (self.0)(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        (self.0)(bytes);
        Ok(())
    }
}

impl TryCryptoRng for CallerRng<'_> {}

/// A message of the service before it is signed. The signature covers its exact bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement(String);

impl Statement {
    /// Creates the statement that carries an exported bundle of an organization.
    ///
    /// # Errors
    /// Errors of the JSON library. No argument causes one.
    pub fn export(sealed: &Sealed, organization: OrganizationId) -> Result<Self, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Export {
            #[serde(flatten)]
            sealed: SealedText,
            organization_id: OrganizationId,
        }
        let export = Export { sealed: sealed.text(), organization_id: organization };
        serde_json::to_string(&export).map(Self)
    }

    /// Creates the statement that announces a target key for an import. The service accepts one import to
    /// this key, from this user.
    ///
    /// Statements for secrets name no user: clients expect an empty string there.
    ///
    /// # Errors
    /// Errors of the JSON library. No argument causes one.
    pub fn target(
        public: &TargetPublicKey,
        organization: OrganizationId,
        user: Option<UserId>,
    ) -> Result<Self, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Import {
            target_public: String,
            organization_id: OrganizationId,
            user_id: String,
        }
        let user_id = user.map(|user| user.to_string()).unwrap_or_default();
        let import = Import { target_public: public.hex(), organization_id: organization, user_id };
        serde_json::to_string(&import).map(Self)
    }

    /// Creates the statement that announces the key that a one-time code is encrypted to.
    ///
    /// # Errors
    /// Errors of the JSON library. No argument causes one.
    pub fn code_target(public: &TargetPublicKey) -> Result<Self, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct CodeTarget {
            target_public: String,
        }
        serde_json::to_string(&CodeTarget { target_public: public.hex() }).map(Self)
    }

    /// Returns the bytes to sign with ECDSA on P-256 with SHA-256.
    pub const fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the complete signed message for the client.
    ///
    /// `signature` is DER-encoded. `quorum_public` is the uncompressed signing key in lower-case hexadecimal
    /// digits: clients compare that text byte for byte.
    ///
    /// # Errors
    /// Errors of the JSON library. No argument causes one.
    pub fn signed(&self, signature: &[u8], quorum_public: &str) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Signed<'a> {
            version: &'static str,
            data: String,
            data_signature: String,
            enclave_quorum_public: &'a str,
        }
        serde_json::to_string(&Signed {
            version: VERSION,
            data: const_hex::encode(&self.0),
            data_signature: const_hex::encode(signature),
            enclave_quorum_public: quorum_public,
        })
    }
}

/// Encodes a signature of the quorum key as messages carry it: DER, with s normalized to the lower half of
/// its range.
///
/// Returns `None` if `r` and `s` are not valid scalars.
pub fn quorum_signature(r: [u8; 32], s: [u8; 32]) -> Option<Vec<u8>> {
    let signature = p256::ecdsa::Signature::from_scalars(r, s).ok()?;
    Some(signature.normalize_s().to_der().as_bytes().to_vec())
}

/// Error returned for an invalid bundle or an invalid key of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The text is not a P-256 point in hexadecimal digits.
    #[error("not a P-256 public key in hexadecimal digits")]
    PublicKey,
    /// The bytes are not a secret key of P-256.
    #[error("not a P-256 secret key")]
    SecretKey,
    /// The text is not a bundle as clients send it.
    #[error("not a JSON object with `encappedPublic` and `ciphertext` in hexadecimal digits")]
    Malformed,
    /// The bundle was encrypted to another key or was modified.
    #[error("encrypted to another key, or modified in transit")]
    Decryption,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const ENC: &str = "04d65a93977caa3d1b081852ff57a79e465f1660577304baead505dd3a48589cf350185e895372df6221ea3a137557e473fddb6755f05bd507c3c533fce9c91285";
    const TARGET: &str = "040217e617f0b6443928278f96999e69a23a4f2c152bdf6d6cdf66e5b80282d4ed194a7debcb97712d2dda3ca85aa8765a56f45fc758599652f2897c65306e5794";
    const CIPHERTEXT: &str = "80bdb56f58b8e19cf82635fe0ec63fe838756226ae3565f262190743bcc605d958d7d4b865f120f1497ccef926e74364cd58f46c8aee890759cc216b58f9b57bcbedddd502cfef78a478994f4fc9666f4fbd52613417af099c59fcf3c54b92322c9bc88bf0a69150255ba5ec8f";
    const PLAINTEXT: &[u8] =
        b"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";

    fn target() -> TargetKey {
        TargetKey::from_bytes(&[0x11; 32]).unwrap()
    }

    fn sealed() -> Sealed {
        let text = json!({"encappedPublic": ENC, "ciphertext": CIPHERTEXT});
        Sealed::parse(&text.to_string()).unwrap()
    }

    fn fill(seed: u8) -> impl FnMut(&mut [u8]) {
        let mut next = seed;
        move |buffer| {
            for byte in buffer {
                next = next.wrapping_mul(5).wrapping_add(3);
                *byte = next;
            }
        }
    }

    /// The expected values come from another implementation. The secret key is byte `11` 32 times, the
    /// ephemeral secret key byte `22` 32 times.
    #[test]
    fn decrypts_a_published_bundle() {
        assert_eq!(target().public().hex(), TARGET);
        assert_eq!(target().open(&sealed()).unwrap().as_slice(), PLAINTEXT);
        assert_eq!(target().to_bytes().as_slice(), [0x11; 32]);
    }

    /// Derives the keys with this module, and encrypts with the library calls that it makes: the vectors use
    /// another `info` string.
    #[test]
    fn suite_matches_rfc_9180() {
        let file = include_str!("../../assets/vectors/bundle/hpke.json");
        let row = &serde_json::from_str::<Value>(file).unwrap()["rows"][0];
        let bytes = |value: &Value| const_hex::decode(value.as_str().unwrap()).unwrap();
        let target = TargetKey::generate(&mut |material| material.copy_from_slice(&bytes(&row["ikmR"])));
        assert_eq!(const_hex::encode(target.to_bytes()), row["skRm"]);
        assert_eq!(target.public().hex(), row["pkRm"]);
        let (info, recipient) = (bytes(&row["info"]), Public::from_bytes(&target.public.0).unwrap());
        let mut ephemeral = |material: &mut [u8]| material.copy_from_slice(&bytes(&row["ikmE"]));
        let (encapped, mut sender) = hpke::setup_sender_with_rng::<AesGcm256, HkdfSha256, Suite>(
            &OpModeS::Base,
            &recipient,
            &info,
            &mut CallerRng(&mut ephemeral),
        )
        .unwrap();
        assert_eq!(const_hex::encode(encapped.to_bytes()), row["enc"]);
        let mut receiver = hpke::setup_receiver::<AesGcm256, HkdfSha256, Suite>(
            &OpModeR::Base,
            &target.secret,
            &encapped,
            &info,
        )
        .unwrap();
        for message in row["encryptions"].as_array().unwrap() {
            let [plain, aad, sealed] = ["pt", "aad", "ct"].map(|name| bytes(&message[name]));
            assert_eq!(sender.seal(&plain, &aad).unwrap(), sealed);
            assert_eq!(receiver.open(&sealed, &aad).unwrap(), plain);
        }
    }

    #[test]
    fn modified_bundles_are_not_decrypted() {
        let whole = sealed();
        for index in 0..whole.ciphertext.len() {
            let mut changed = whole.clone();
            changed.ciphertext[index] ^= 1;
            assert_eq!(target().open(&changed).unwrap_err(), BundleError::Decryption);
            changed.ciphertext.truncate(index);
            assert_eq!(target().open(&changed).unwrap_err(), BundleError::Decryption);
        }
        let other = TargetKey::generate(&mut fill(1));
        assert_eq!(other.open(&whole).unwrap_err(), BundleError::Decryption);
        let rebound = Sealed { encapped: other.public().clone(), ..whole };
        assert_eq!(target().open(&rebound).unwrap_err(), BundleError::Decryption);
    }

    #[test]
    fn accepts_uncompressed_and_compressed_public_keys() {
        let long = TargetPublicKey::parse(TARGET).unwrap();
        let short = format!("02{}", &TARGET[2..66]);
        assert_eq!(TargetPublicKey::parse(&short), Ok(long.clone()));
        assert_eq!(TargetPublicKey::parse(&TARGET.to_uppercase()), Ok(long));
        let off_curve = format!("{}5", &TARGET[..129]);
        for bad in ["", "04", "00", &TARGET[2..], &TARGET[..128], &off_curve, &format!("{TARGET}00"), "zz"] {
            assert_eq!(TargetPublicKey::parse(bad), Err(BundleError::PublicKey), "{bad}");
        }
        for (prefix, rest) in [("05", &TARGET[2..66]), ("06", &TARGET[2..]), ("07", &TARGET[2..])] {
            let bad = format!("{prefix}{rest}");
            assert_eq!(TargetPublicKey::parse(&bad), Err(BundleError::PublicKey), "{bad}");
        }
    }

    #[test]
    fn statements_have_the_bytes_that_clients_expect() {
        let organization: OrganizationId = "11111111-2222-4333-8444-555555555555".parse().unwrap();
        let user: UserId = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee".parse().unwrap();
        let export = Statement::export(&sealed(), organization).unwrap();
        let expected = format!(
            r#"{{"encappedPublic":"{ENC}","ciphertext":"{CIPHERTEXT}","organizationId":"{organization}"}}"#
        );
        assert_eq!(export.bytes(), expected.as_bytes());
        let target = Statement::target(target().public(), organization, Some(user)).unwrap();
        let expected =
            format!(r#"{{"targetPublic":"{TARGET}","organizationId":"{organization}","userId":"{user}"}}"#);
        assert_eq!(target.bytes(), expected.as_bytes());
        let whole: Value = serde_json::from_str(&target.signed(&[0x30, 0x06], TARGET).unwrap()).unwrap();
        let expected = json!({"version": "v1.0.0", "data": const_hex::encode(expected), "dataSignature": "3006",
            "enclaveQuorumPublic": TARGET});
        assert_eq!(whole, expected);
    }

    proptest! {
        #[test]
        fn decrypts_what_it_encrypts(plaintext in any::<Vec<u8>>(), seed in any::<u8>(), other in any::<u8>()) {
            let key = TargetKey::generate(&mut fill(seed));
            let sealed = Sealed::new(key.public(), &plaintext, &mut fill(other)).unwrap();
            let text = sealed.to_json().unwrap();
            let decrypted = key.open(&Sealed::parse(&text).unwrap()).unwrap();
            prop_assert_eq!(decrypted.as_slice(), plaintext);
        }

        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            let _ = Sealed::parse(&text);
            let _ = TargetPublicKey::parse(&text);
        }
    }
}
