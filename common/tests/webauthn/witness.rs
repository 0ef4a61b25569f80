//! What a software authenticator of other makers and its client answered, in the form that clients send, with its
//! keys: `assets/vectors/webauthn/witness.json`.

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_common::webauthn::PasskeyKey;
use quorate_common::webauthn::{
    Assertion, AssertionFlaw, Attestation, AttestationFlaw, NewCredential, Proven,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) const ORIGIN: &str = "https://wallet.example.com";
pub(crate) const RELYING_PARTY: &str = "wallet.example.com";
pub(crate) const AAGUID: [u8; 16] = *b"quorate-witness!";
pub(crate) const CHALLENGE: &[u8] = b"a challenge of the client's choice";
pub(crate) const BODY: &[u8] = br#"{"organizationId":"00000000-0000-4000-8000-000000000001"}"#;

const RECORDED: &str = include_str!("../../../assets/vectors/webauthn/witness.json");

/// An authenticator with one passkey.
pub(crate) struct Witness {
    recorded: Value,
    /// How many assertions it has given.
    given: usize,
}

impl Witness {
    /// One that knows the person.
    pub(crate) fn new() -> Self {
        Self::recorded(0)
    }

    /// Another one.
    pub(crate) fn stranger() -> Self {
        Self::recorded(1)
    }

    /// One that only sees that somebody is there.
    pub(crate) fn without_verification() -> Self {
        Self::recorded(2)
    }

    fn recorded(number: usize) -> Self {
        let all: Value = serde_json::from_str(RECORDED).unwrap();
        Self { recorded: all["witnesses"][number].clone(), given: 0 }
    }

    /// Its registration.
    pub(crate) fn register(&self) -> Registration {
        let told = &self.recorded["registration"];
        Registration {
            challenge: told["challenge"].as_str().unwrap().to_owned(),
            credential_id: self.recorded["credentialId"].as_str().unwrap().to_owned(),
            client_data: decoded(&told["clientDataJson"]),
            object: decoded(&told["attestationObject"]),
        }
    }

    /// Its next assertion over `body`.
    pub(crate) fn assert(&mut self, body: &[u8]) -> Answer {
        let all = self.recorded["assertions"].as_array().unwrap().iter().enumerate().skip(self.given);
        let mut all = all.filter(|(_, told)| told["body"].as_str().unwrap().as_bytes() == body);
        let (place, told) = all.next().expect("no more was recorded");
        self.given = place + 1;
        Answer {
            credential_id: decoded(&self.recorded["credentialId"]),
            data: decoded(&told["authenticatorData"]),
            client_data: decoded(&told["clientDataJson"]),
            signature: decoded(&told["signature"]),
        }
    }

    /// Signs an answer anew, so that only what was changed in it is wrong.
    pub(crate) fn sign(&self, answer: Answer) -> Answer {
        let secret = const_hex::decode_to_array(self.recorded["privateKey"].as_str().unwrap()).unwrap();
        let stamper = Stamper::new(ApiKeyCurve::P256, &secret).unwrap();
        let signature = stamper.stamp(&answer.message()).unwrap().signature;
        Answer { signature: const_hex::decode(signature).unwrap(), ..answer }
    }
}

/// A registration as clients send it, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Registration {
    pub(crate) challenge: String,
    pub(crate) credential_id: String,
    pub(crate) client_data: Vec<u8>,
    pub(crate) object: Vec<u8>,
}

impl Registration {
    pub(crate) fn verify(&self) -> Result<NewCredential, AttestationFlaw> {
        let attestation = Attestation {
            challenge: &self.challenge,
            credential_id: &self.credential_id,
            client_data_json: &encoded(&self.client_data),
            attestation_object: &encoded(&self.object),
        };
        attestation.verify()
    }

    /// The key of the credential, which must be sound.
    pub(crate) fn key(&self) -> PasskeyKey {
        PasskeyKey::parse(&self.verify().unwrap().public_key).unwrap()
    }
}

/// An assertion, decoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) credential_id: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) client_data: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl Answer {
    /// What is signed.
    pub(crate) fn message(&self) -> Vec<u8> {
        [self.data.as_slice(), &Sha256::digest(&self.client_data)].concat()
    }

    /// Value of the header, as the published clients write it.
    pub(crate) fn header(&self) -> String {
        serde_json::json!({
            "authenticatorData": encoded(&self.data),
            "clientDataJson": encoded(&self.client_data),
            "credentialId": encoded(&self.credential_id),
            "signature": encoded(&self.signature),
        })
        .to_string()
    }

    pub(crate) fn verify(&self, key: &PasskeyKey, body: &[u8]) -> Result<Proven, AssertionFlaw> {
        key.verify(&Assertion::read(&self.header())?, body)
    }
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn decoded(value: &Value) -> Vec<u8> {
    Base64UrlUnpadded::decode_vec(value.as_str().unwrap()).unwrap()
}
