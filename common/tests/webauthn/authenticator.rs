//! Recorded responses of a third-party software authenticator and its client, as clients send them, with its
//! keys: `assets/vectors/webauthn/witness.json`.

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_common::webauthn::PasskeyKey;
use quorate_common::webauthn::{
    Assertion, AssertionError, Attestation, AttestationError, NewCredential, VerifiedAssertion,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub(crate) const ORIGIN: &str = "https://wallet.example.com";
pub(crate) const RELYING_PARTY: &str = "wallet.example.com";
pub(crate) const AAGUID: [u8; 16] = *b"quorate-witness!";
pub(crate) const CHALLENGE: &[u8] = b"a challenge of the client's choice";
pub(crate) const BODY: &[u8] = br#"{"organizationId":"00000000-0000-4000-8000-000000000001"}"#;

const RECORDED: &str = include_str!("../../../assets/vectors/webauthn/witness.json");

/// A recorded authenticator with one passkey.
pub(crate) struct Authenticator {
    recorded: Value,
    /// Index of the next assertion.
    next: usize,
}

impl Authenticator {
    /// Returns an authenticator that verifies the user.
    pub(crate) fn new() -> Self {
        Self::recorded(0)
    }

    /// Returns another authenticator, with another key.
    pub(crate) fn other() -> Self {
        Self::recorded(1)
    }

    /// Returns an authenticator that checks presence but does not verify the user.
    pub(crate) fn without_verification() -> Self {
        Self::recorded(2)
    }

    fn recorded(number: usize) -> Self {
        let all: Value = serde_json::from_str(RECORDED).unwrap();
        Self { recorded: all["witnesses"][number].clone(), next: 0 }
    }

    /// Returns the recorded registration.
    pub(crate) fn register(&self) -> Registration {
        let registration = &self.recorded["registration"];
        Registration {
            challenge: registration["challenge"].as_str().unwrap().to_owned(),
            credential_id: self.recorded["credentialId"].as_str().unwrap().to_owned(),
            client_data: decoded(&registration["clientDataJson"]),
            object: decoded(&registration["attestationObject"]),
        }
    }

    /// Returns the next recorded assertion over `body`.
    pub(crate) fn assert(&mut self, body: &[u8]) -> Response {
        let all = self.recorded["assertions"].as_array().unwrap().iter().enumerate().skip(self.next);
        let mut all = all.filter(|(_, assertion)| assertion["body"].as_str().unwrap().as_bytes() == body);
        let (index, assertion) = all.next().expect("no further assertion was recorded");
        self.next = index + 1;
        Response {
            credential_id: decoded(&self.recorded["credentialId"]),
            data: decoded(&assertion["authenticatorData"]),
            client_data: decoded(&assertion["clientDataJson"]),
            signature: decoded(&assertion["signature"]),
        }
    }

    /// Signs a response again, so that only the intended change is invalid.
    pub(crate) fn sign(&self, response: Response) -> Response {
        let secret = const_hex::decode_to_array(self.recorded["privateKey"].as_str().unwrap()).unwrap();
        let stamper = Stamper::new(ApiKeyCurve::P256, &secret).unwrap();
        let signature = stamper.stamp(&response.message()).unwrap().signature;
        Response { signature: const_hex::decode(signature).unwrap(), ..response }
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
    pub(crate) fn verify(&self) -> Result<NewCredential, AttestationError> {
        let attestation = Attestation {
            challenge: &self.challenge,
            credential_id: &self.credential_id,
            client_data_json: &encoded(&self.client_data),
            attestation_object: &encoded(&self.object),
        };
        attestation.verify()
    }

    /// Returns the key of the credential, which must be valid.
    pub(crate) fn key(&self) -> PasskeyKey {
        PasskeyKey::parse(&self.verify().unwrap().public_key).unwrap()
    }
}

/// An assertion, decoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Response {
    pub(crate) credential_id: Vec<u8>,
    pub(crate) data: Vec<u8>,
    pub(crate) client_data: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl Response {
    /// Returns the signed bytes.
    pub(crate) fn message(&self) -> Vec<u8> {
        [self.data.as_slice(), &Sha256::digest(&self.client_data)].concat()
    }

    /// Returns the header value as the published clients write it.
    pub(crate) fn header(&self) -> String {
        serde_json::json!({
            "authenticatorData": encoded(&self.data),
            "clientDataJson": encoded(&self.client_data),
            "credentialId": encoded(&self.credential_id),
            "signature": encoded(&self.signature),
        })
        .to_string()
    }

    pub(crate) fn verify(&self, key: &PasskeyKey, body: &[u8]) -> Result<VerifiedAssertion, AssertionError> {
        key.verify(&Assertion::read(&self.header())?, body)
    }
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    Base64UrlUnpadded::encode_string(bytes)
}

fn decoded(value: &Value) -> Vec<u8> {
    Base64UrlUnpadded::decode_vec(value.as_str().unwrap()).unwrap()
}
