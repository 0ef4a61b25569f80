//! API keys and passkeys of the scenarios. They are derived from names, so that a failing run can be read and
//! repeated. Never use them for anything else.

use std::sync::Arc;

use quorate_common::stamp::{ApiKeyCurve, Stamper};
use sha2::{Digest, Sha256};

use crate::passkey::Passkey;

/// A key that stamps requests: an API key or a passkey.
#[derive(Clone)]
pub struct Key(Kind);

#[derive(Clone)]
enum Kind {
    Api { secret: [u8; 32], stamper: Arc<Stamper> },
    Passkey { name: String, public_key: String },
}

impl Key {
    /// Derives a passkey from a name.
    pub fn passkey(name: &str) -> Self {
        Self(Kind::Passkey { name: name.to_owned(), public_key: Passkey::of(name).public_key() })
    }

    /// Derives a P-256 API key from a name.
    pub fn named(name: &str) -> Self {
        Self::on(ApiKeyCurve::P256, name)
    }

    /// Derives an API key on a curve from a name.
    pub fn on(curve: ApiKeyCurve, name: &str) -> Self {
        Self::of_secret(curve, Sha256::digest(name).into())
    }

    /// Creates an API key from a P-256 secret in hex, as the credentials file has it.
    pub fn of_hex(secret: &str) -> Self {
        let secret = const_hex::decode_to_array(secret).expect("the secret is 64 hex digits");
        Self::of_secret(ApiKeyCurve::P256, secret)
    }

    /// Creates an API key from a secret.
    pub fn of_secret(curve: ApiKeyCurve, secret: [u8; 32]) -> Self {
        let stamper = Stamper::new(curve, &secret).expect("the secret is one of its curve");
        Self(Kind::Api { secret, stamper: Arc::new(stamper) })
    }

    /// Returns the secret in hex, for clients in other languages.
    pub fn secret_hex(&self) -> String {
        match &self.0 {
            Kind::Api { secret, .. } => const_hex::encode(secret),
            Kind::Passkey { name, .. } => panic!("passkey {name} stays in its authenticator"),
        }
    }

    /// Returns the public key as registered: hex for an API key, base64url for a passkey.
    pub fn public_key(&self) -> &str {
        match &self.0 {
            Kind::Api { stamper, .. } => stamper.public_key(),
            Kind::Passkey { public_key, .. } => public_key,
        }
    }

    /// Returns the wire name of the curve, which is empty for a passkey.
    pub fn curve_name(&self) -> &'static str {
        match &self.0 {
            Kind::Api { stamper, .. } => match stamper.curve() {
                ApiKeyCurve::P256 => "API_KEY_CURVE_P256",
                ApiKeyCurve::Secp256k1 => "API_KEY_CURVE_SECP256K1",
                ApiKeyCurve::Ed25519 => "API_KEY_CURVE_ED25519",
            },
            Kind::Passkey { .. } => "",
        }
    }

    /// Returns the value of the stamp header for a body.
    pub fn stamp(&self, body: &[u8]) -> String {
        match &self.0 {
            Kind::Api { stamper, .. } => stamper.stamp(body).expect("signing does not fail").header(),
            Kind::Passkey { name, .. } => Passkey::of(name).header(body),
        }
    }

    /// Returns the name of the stamp header.
    pub fn header_name(&self) -> &'static str {
        match &self.0 {
            Kind::Api { .. } => "x-stamp",
            Kind::Passkey { .. } => "x-stamp-webauthn",
        }
    }
}
