//! What a client does with one-time codes and verification tokens.

use base64ct::{Base64UrlUnpadded, Encoding};
use quorate_chain::curve::{Curve, Message, SecretKey};
use quorate_common::bundle::{Sealed, TargetKey, TargetPublicKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::keys::Key;

/// Returns a code with the public key of `holder`, encrypted to the key in the signed message `target`.
pub fn encrypted_code(target: &Value, code: &str, holder: &Key) -> String {
    let message: Value = serde_json::from_str(target.as_str().expect("a message")).expect("JSON");
    let data = const_hex::decode(message["data"].as_str().expect("hex")).expect("hex");
    let data: Value = serde_json::from_slice(&data).expect("JSON");
    let target = TargetPublicKey::parse(data["targetPublic"].as_str().expect("a point")).expect("a point");
    let plaintext = json!({"otp_code": code, "public_key": holder.public_key()}).to_string();
    let sealed = Sealed::new(&target, plaintext.as_bytes(), &mut random).expect("encryption succeeds");
    sealed.to_json().expect("JSON")
}

/// Returns the parameters of a login with a token, for a session of the key that the token is bound to.
pub fn login(token: &str, holder: &Key) -> Value {
    let public_key = holder.public_key();
    let statement = json!({"login": {"publicKey": public_key}, "tokenId": claims(token)["id"],
        "type": "USAGE_TYPE_LOGIN"});
    let signature = client_signature(&statement, holder);
    json!({"verificationToken": token, "publicKey": public_key, "clientSignature": signature})
}

/// Returns a signature of a statement.
pub fn client_signature(statement: &Value, holder: &Key) -> Value {
    let statement = statement.to_string();
    let secret: [u8; 32] = const_hex::decode_to_array(holder.secret_hex()).expect("32 bytes of hex");
    let secret = SecretKey::from_bytes(Curve::P256, &secret).expect("a scalar");
    let digest = Message::Digest(Sha256::digest(statement.as_bytes()).into());
    let signature = secret.sign(&digest).expect("signing succeeds");
    json!({"publicKey": holder.public_key(), "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256",
        "message": statement, "signature": const_hex::encode([signature.r, signature.s].concat())})
}

/// Returns the claims of a signed token.
pub fn claims(token: &str) -> Value {
    let payload = token.split('.').nth(1).expect("a token has three parts");
    let payload = Base64UrlUnpadded::decode_vec(payload).expect("base64url");
    serde_json::from_slice(&payload).expect("claims are JSON")
}

/// Returns a key to which credentials are encrypted.
pub fn target_key() -> TargetKey {
    TargetKey::generate(&mut random)
}

fn random(buffer: &mut [u8]) {
    aws_lc_rs::rand::fill(buffer).expect("the system has randomness");
}
