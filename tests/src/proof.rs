//! Verifies signatures with a library that the daemon does not sign with.

use aws_lc_rs::signature::{ECDSA_P256K1_SHA256_FIXED, UnparsedPublicKey};
use serde_json::Value;

/// Returns whether a `signRawPayloadResult` over `message`, hashed with SHA-256, is a secp256k1 signature by
/// this uncompressed public key (130 hex digits).
pub fn is_signed(public_key: &str, message: &[u8], result: &Value) -> bool {
    let hex = |text: &str| const_hex::decode(text).unwrap_or_default();
    let half = |name: &str| hex(result[name].as_str().unwrap_or_default());
    let signature = [half("r"), half("s")].concat();
    UnparsedPublicKey::new(&ECDSA_P256K1_SHA256_FIXED, hex(public_key)).verify(message, &signature).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The wire's test vector A.2 for secp256k1, whose secret is 1.
    #[test]
    fn verifies_the_published_signature() {
        let public_key = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\
                          483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
        let body = br#"{"organizationId":"00000000-0000-4000-8000-000000000001"}"#;
        let r = "8417c91299679a79da978b51810993e7e168e856b8b82dcecd29fc4fb44310b2";
        let s = "775bdb39e99dae9a134cf262d55018508e30a879a440436f50b822256a195b1c";
        assert!(is_signed(public_key, body, &json!({ "r": r, "s": s, "v": "00" })));
        assert!(!is_signed(public_key, body, &json!({ "r": s, "s": r, "v": "00" })));
        assert!(!is_signed(public_key, b"{}", &json!({ "r": r, "s": s, "v": "00" })));
    }
}
