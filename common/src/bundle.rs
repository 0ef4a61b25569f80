//! Bundles: secrets on their way between the service and a client, encrypted to one key (HPKE, RFC 9180), and the messages
//! around them that the service signs.
//!
//! The suite is DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM in base mode; each exchange has one message. What is
//! authenticated beside it are both public keys, so that a bundle opens for nobody else.

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

/// Separates these exchanges from all others (RFC 9180, section 5.1).
const INFO: &[u8] = b"turnkey_hpke";
/// Form of the signed messages.
const VERSION: &str = "v1.0.0";
/// A point as `04`, X and Y (SEC 1, section 2.3.3).
const POINT: usize = 65;
/// A point as `02` or `03`, and X (SEC 1, section 2.3.3).
const SHORT_POINT: usize = 33;

/// The public key that something is encrypted to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetPublicKey([u8; POINT]);

impl TargetPublicKey {
    /// Reads a point of P-256 from hexadecimal digits, in its long form or its short one.
    ///
    /// # Errors
    /// [`BundleFlaw::PublicKey`] if the text is no such point.
    pub fn parse(text: &str) -> Result<Self, BundleFlaw> {
        let mut bytes = [0; POINT];
        let bytes = bytes.get_mut(..text.len() / 2).ok_or(BundleFlaw::PublicKey)?;
        const_hex::decode_to_slice(text, bytes).map_err(|_| BundleFlaw::PublicKey)?;
        // The library has more forms than the two, as `05` with X alone.
        if !matches!((bytes.first(), bytes.len()), (Some(2 | 3), SHORT_POINT) | (Some(4), POINT)) {
            return Err(BundleFlaw::PublicKey);
        }
        let key = p256::PublicKey::from_sec1_bytes(bytes).map_err(|_| BundleFlaw::PublicKey)?;
        let point = key.to_sec1_point(false);
        point.as_bytes().try_into().map(Self).map_err(|_| BundleFlaw::PublicKey)
    }

    /// The long form in lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        const_hex::encode(self.0)
    }
}

/// A key pair that one bundle is encrypted to. The secret is wiped when dropped and has no debug form.
pub struct TargetKey {
    secret: Private,
    public: TargetPublicKey,
}

impl TargetKey {
    /// Makes a key pair of the bytes that `fill` writes (RFC 9180, section 7.1.3).
    pub fn generate(fill: &mut dyn FnMut(&mut [u8])) -> Self {
        let mut material = Zeroizing::new([0; 32]);
        fill(material.as_mut_slice());
        let (secret, public) = Suite::derive_keypair(material.as_slice());
        Self::of(secret, &public)
    }

    /// Reads the secret that [`TargetKey::to_bytes`] gave.
    ///
    /// # Errors
    /// [`BundleFlaw::SecretKey`] if it is none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BundleFlaw> {
        let secret = Private::from_bytes(bytes).map_err(|_| BundleFlaw::SecretKey)?;
        let public = Suite::sk_to_pk(&secret);
        Ok(Self::of(secret, &public))
    }

    fn of(secret: Private, public: &Public) -> Self {
        Self { secret, public: TargetPublicKey(public.to_bytes().into()) }
    }

    /// The secret: 32 bytes, big-endian.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        let mut bytes = Zeroizing::new([0; 32]);
        self.secret.write_exact(bytes.as_mut_slice());
        bytes
    }

    /// The public half.
    pub const fn public(&self) -> &TargetPublicKey {
        &self.public
    }

    /// Opens what was encrypted to this key.
    ///
    /// # Errors
    /// [`BundleFlaw::Closed`] if it was encrypted to another key, or changed on its way.
    pub fn open(&self, sealed: &Sealed) -> Result<Zeroizing<Vec<u8>>, BundleFlaw> {
        let encapped = Encapped::from_bytes(&sealed.encapped.0).map_err(|_| BundleFlaw::Closed)?;
        let mut context = hpke::setup_receiver::<AesGcm256, HkdfSha256, Suite>(
            &OpModeR::Base,
            &self.secret,
            &encapped,
            INFO,
        )
        .map_err(|_| BundleFlaw::Closed)?;
        let opened = context.open(&sealed.ciphertext, &bound(&sealed.encapped, &self.public));
        opened.map(Zeroizing::new).map_err(|_| BundleFlaw::Closed)
    }
}

/// What is authenticated beside the text: both public keys.
fn bound(encapped: &TargetPublicKey, target: &TargetPublicKey) -> Vec<u8> {
    [encapped.0, target.0].concat()
}

/// Something encrypted to a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sealed {
    encapped: TargetPublicKey,
    ciphertext: Vec<u8>,
}

/// What a client sends, and the first members of what the service sends.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SealedText {
    encapped_public: String,
    ciphertext: String,
}

impl Sealed {
    /// Encrypts to a key. `fill` gives the randomness of the one-time key.
    ///
    /// # Errors
    /// [`BundleFlaw::PublicKey`] if the library refuses the key.
    pub fn new(
        target: &TargetPublicKey,
        plaintext: &[u8],
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, BundleFlaw> {
        let recipient = Public::from_bytes(&target.0).map_err(|_| BundleFlaw::PublicKey)?;
        let (encapped, mut context) = hpke::setup_sender_with_rng::<AesGcm256, HkdfSha256, Suite>(
            &OpModeS::Base,
            &recipient,
            INFO,
            &mut Filled(fill),
        )
        .map_err(|_| BundleFlaw::PublicKey)?;
        let encapped = TargetPublicKey(encapped.to_bytes().into());
        let ciphertext =
            context.seal(plaintext, &bound(&encapped, target)).map_err(|_| BundleFlaw::PublicKey)?;
        Ok(Self { encapped, ciphertext })
    }

    /// Reads what a client sends: a JSON object with `encappedPublic` and `ciphertext` in hexadecimal digits.
    ///
    /// # Errors
    /// [`BundleFlaw::Form`] if the text is no such object.
    pub fn parse(text: &str) -> Result<Self, BundleFlaw> {
        let text: SealedText = serde_json::from_str(text).map_err(|_| BundleFlaw::Form)?;
        let encapped = TargetPublicKey::parse(&text.encapped_public).map_err(|_| BundleFlaw::Form)?;
        let ciphertext = const_hex::decode(&text.ciphertext).map_err(|_| BundleFlaw::Form)?;
        Ok(Self { encapped, ciphertext })
    }

    /// What a client sends.
    ///
    /// # Errors
    /// None that a bundle can cause; the library's refusal is passed on.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&self.text())
    }

    fn text(&self) -> SealedText {
        let ciphertext = const_hex::encode(&self.ciphertext);
        SealedText { encapped_public: self.encapped.hex(), ciphertext }
    }
}

/// The bytes of a caller as a source of randomness.
struct Filled<'a>(&'a mut dyn FnMut(&mut [u8]));

impl TryRng for Filled<'_> {
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

impl TryCryptoRng for Filled<'_> {}

/// A message of the service before it is signed: the bytes that the signature covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement(String);

impl Statement {
    /// That this was encrypted for somebody of this organization.
    ///
    /// # Errors
    /// None that its arguments can cause; the library's refusal is passed on.
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

    /// That what is encrypted to this key is taken once, from this user. Messages for secrets name no user: clients of this
    /// API expect the empty text there.
    ///
    /// # Errors
    /// None that its arguments can cause; the library's refusal is passed on.
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

    /// What the signature covers, by ECDSA on P-256 with SHA-256.
    pub const fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// The whole message as a client reads it. `signature` is in DER, `quorum_public` the long form of the key that made it
    /// in lower-case hexadecimal digits: clients compare that text letter by letter.
    ///
    /// # Errors
    /// None that its arguments can cause; the library's refusal is passed on.
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

/// A signature of the quorum key as messages carry it: DER, with the lower of the two values of s. `None` if these are no
/// parts of a signature.
pub fn quorum_signature(r: [u8; 32], s: [u8; 32]) -> Option<Vec<u8>> {
    let signature = p256::ecdsa::Signature::from_scalars(r, s).ok()?;
    Some(signature.normalize_s().to_der().as_bytes().to_vec())
}

/// Why a bundle, or a key that one is for, is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BundleFlaw {
    /// It is no point of P-256 in hexadecimal digits.
    #[error("it is no point of P-256 in hexadecimal digits")]
    PublicKey,
    /// It is no secret key of P-256.
    #[error("it is no secret key of P-256")]
    SecretKey,
    /// It is not the object that clients send.
    #[error("it is no JSON object with `encappedPublic` and `ciphertext` in hexadecimal digits")]
    Form,
    /// It was encrypted to another key, or changed on its way.
    #[error("it was encrypted to another key, or changed on its way")]
    Closed,
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

    /// Computed with another implementation: secret `11` 32 times, one-time secret `22` 32 times.
    #[test]
    fn a_published_bundle_opens() {
        assert_eq!(target().public().hex(), TARGET);
        assert_eq!(target().open(&sealed()).unwrap().as_slice(), PLAINTEXT);
        assert_eq!(target().to_bytes().as_slice(), [0x11; 32]);
    }

    /// Keys by this room, messages by the calls it makes: the vectors have another information than its own.
    #[test]
    fn the_suite_is_that_of_rfc_9180() {
        let file = include_str!("../../assets/vectors/bundle/hpke.json");
        let row = &serde_json::from_str::<Value>(file).unwrap()["rows"][0];
        let bytes = |value: &Value| const_hex::decode(value.as_str().unwrap()).unwrap();
        let target = TargetKey::generate(&mut |material| material.copy_from_slice(&bytes(&row["ikmR"])));
        assert_eq!(const_hex::encode(target.to_bytes()), row["skRm"]);
        assert_eq!(target.public().hex(), row["pkRm"]);
        let (info, recipient) = (bytes(&row["info"]), Public::from_bytes(&target.public.0).unwrap());
        let mut one_time = |material: &mut [u8]| material.copy_from_slice(&bytes(&row["ikmE"]));
        let (encapped, mut sender) = hpke::setup_sender_with_rng::<AesGcm256, HkdfSha256, Suite>(
            &OpModeS::Base,
            &recipient,
            &info,
            &mut Filled(&mut one_time),
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
    fn what_was_changed_stays_closed() {
        let whole = sealed();
        for place in 0..whole.ciphertext.len() {
            let mut changed = whole.clone();
            changed.ciphertext[place] ^= 1;
            assert_eq!(target().open(&changed).unwrap_err(), BundleFlaw::Closed);
            changed.ciphertext.truncate(place);
            assert_eq!(target().open(&changed).unwrap_err(), BundleFlaw::Closed);
        }
        let other = TargetKey::generate(&mut fill(1));
        assert_eq!(other.open(&whole).unwrap_err(), BundleFlaw::Closed);
        let moved = Sealed { encapped: other.public().clone(), ..whole };
        assert_eq!(target().open(&moved).unwrap_err(), BundleFlaw::Closed);
    }

    #[test]
    fn public_keys_have_two_forms() {
        let long = TargetPublicKey::parse(TARGET).unwrap();
        let short = format!("02{}", &TARGET[2..66]);
        assert_eq!(TargetPublicKey::parse(&short), Ok(long.clone()));
        assert_eq!(TargetPublicKey::parse(&TARGET.to_uppercase()), Ok(long));
        let off_curve = format!("{}5", &TARGET[..129]);
        for bad in ["", "04", "00", &TARGET[2..], &TARGET[..128], &off_curve, &format!("{TARGET}00"), "zz"] {
            assert_eq!(TargetPublicKey::parse(bad), Err(BundleFlaw::PublicKey), "{bad}");
        }
        for (form, other) in [("05", &TARGET[2..66]), ("06", &TARGET[2..]), ("07", &TARGET[2..])] {
            let bad = format!("{form}{other}");
            assert_eq!(TargetPublicKey::parse(&bad), Err(BundleFlaw::PublicKey), "{bad}");
        }
    }

    #[test]
    fn statements_are_spelled_as_clients_read_them() {
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
        fn what_is_sealed_opens(plaintext in any::<Vec<u8>>(), seed in any::<u8>(), other in any::<u8>()) {
            let key = TargetKey::generate(&mut fill(seed));
            let sealed = Sealed::new(key.public(), &plaintext, &mut fill(other)).unwrap();
            let text = sealed.to_json().unwrap();
            let opened = key.open(&Sealed::parse(&text).unwrap()).unwrap();
            prop_assert_eq!(opened.as_slice(), plaintext);
        }

        #[test]
        fn any_text_is_answered(text in any::<String>()) {
            let _ = Sealed::parse(&text);
            let _ = TargetPublicKey::parse(&text);
        }
    }
}
