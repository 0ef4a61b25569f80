//! A software authenticator. A passkey is derived from its name, so that it is the same in every run.
//!
//! The tests of the core include this file as a module, too.
#![allow(unreachable_pub, dead_code, reason = "it is a module of several test binaries")]

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_chain::curve::{Curve, SecretKey};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_common::webauthn::challenge_of;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Web origin of the passkeys, unless a test uses another.
pub const ORIGIN: &str = "https://house.example";
const CHALLENGE: &str = "Y2hhbGxlbmdl";
/// User present, attested credential data included (Web Authentication Level 2 §6.1).
const REGISTERED: u8 = 0x41;
/// User present.
const PRESENT: u8 = 0x01;

/// A passkey, which is derived from its name.
#[derive(Debug, Clone, Copy)]
pub struct Passkey<'a> {
    /// Name from which the key is derived.
    pub name: &'a str,
    /// Name from which the credential id is derived.
    pub known_as: &'a str,
    /// Web origin that uses the passkey.
    pub origin: &'a str,
    /// Id of the relying party that requests the passkey.
    pub relying_party: &'a str,
    /// Signature counter of the registration and of the assertions.
    pub counter: u32,
}

impl<'a> Passkey<'a> {
    /// Creates the passkey of a name.
    pub fn of(name: &'a str) -> Self {
        Self { name, known_as: name, origin: ORIGIN, relying_party: "house.example", counter: 0 }
    }

    fn secret(&self) -> [u8; 32] {
        Sha256::digest(self.name).into()
    }

    /// Returns the credential id.
    pub fn id(&self) -> String {
        Base64UrlUnpadded::encode_string(self.known_as.as_bytes())
    }

    fn client_data(&self, ceremony: &str, challenge: &str) -> Vec<u8> {
        json!({"type": ceremony, "challenge": challenge, "origin": self.origin}).to_string().into_bytes()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        [&Sha256::digest(self.relying_party)[..], &[flags], &self.counter.to_be_bytes()].concat()
    }

    /// Returns the COSE key on P-256 (RFC 9053 §7.1.1).
    fn cose(&self) -> Vec<u8> {
        let key = SecretKey::from_bytes(Curve::P256, &self.secret()).expect("a digest is a scalar");
        let point = key.public().uncompressed().expect("a point");
        let (x, y) = point[1..].split_at(32);
        [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32], x, &[0x22, 0x58, 32], y].concat()
    }

    /// Returns the public key: base64url of the COSE key.
    pub fn public_key(&self) -> String {
        Base64UrlUnpadded::encode_string(&self.cose())
    }

    /// Returns the parts of a registration: challenge, credential id, client data, attestation object.
    fn registration_parts(&self) -> [String; 4] {
        let id = self.known_as.as_bytes();
        let length = u16::try_from(id.len()).expect("a short name").to_be_bytes();
        let data = [&self.data(REGISTERED)[..], &[0; 16], &length, id, &self.cose()].concat();
        let size = u16::try_from(data.len()).expect("a short name").to_be_bytes();
        let object = [b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59", &size[..], &data].concat();
        [
            CHALLENGE.to_owned(),
            self.id(),
            Base64UrlUnpadded::encode_string(&self.client_data("webauthn.create", CHALLENGE)),
            Base64UrlUnpadded::encode_string(&object),
        ]
    }

    /// Returns a registration as `AuthenticatorParamsV2`.
    pub fn registration(&self) -> Value {
        let [challenge, id, client_data, object] = self.registration_parts();
        json!({"authenticatorName": "passkey", "challenge": challenge, "attestation": {
            "credentialId": id, "clientDataJson": client_data, "attestationObject": object,
            "transports": ["AUTHENTICATOR_TRANSPORT_INTERNAL"]}})
    }

    /// Returns a registration as `AuthenticatorParams`.
    pub fn registration_v1(&self, user: impl Into<Value>) -> Value {
        let [challenge, id, client_data, object] = self.registration_parts();
        json!({"authenticatorName": "passkey", "userId": user.into(), "challenge": challenge, "attestation": {
            "id": id, "type": "public-key", "rawId": id, "clientExtensionResults": {},
            "response": {"clientDataJson": client_data, "attestationObject": object, "transports": []}}})
    }

    /// Returns the value of `X-Stamp-Webauthn` for a body.
    pub fn header(&self, body: &[u8]) -> String {
        let (data, client_data) = (self.data(PRESENT), self.client_data("webauthn.get", &challenge_of(body)));
        let message = [&data[..], &Sha256::digest(&client_data)].concat();
        let stamper = Stamper::new(ApiKeyCurve::P256, &self.secret()).expect("a digest is a scalar");
        let signature = stamper.stamp(&message).expect("it can be signed").signature;
        let signature = const_hex::decode(signature).expect("hex");
        json!({"credentialId": self.id(), "authenticatorData": Base64UrlUnpadded::encode_string(&data),
            "clientDataJson": Base64UrlUnpadded::encode_string(&client_data),
            "signature": Base64UrlUnpadded::encode_string(&signature)})
        .to_string()
    }
}
