//! What schemas say, in words: limits, errors, and which members come from elsewhere or must not be shown.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// Members that are not shown while they are typed.
const SECRET: [&str; 12] = [
    "authCode",
    "bearerToken",
    "codeVerifier",
    "cvv",
    "encryptedBundle",
    "encryptedClientSecret",
    "encryptedOtpBundle",
    "number",
    "oidcToken",
    "otpCode",
    "secretPayload",
    "verificationToken",
];

/// Patterns of the catalog, in words.
const PATTERNS: [(&str, &str); 4] = [
    ("^[1-9][0-9]*$", "a whole number above 0, such as 3600"),
    ("^m(/(0|[1-9][0-9]{0,9})'?){0,10}$", "a derivation path such as m/44'/60'/0'/0/0"),
    ("^\\+[1-9][0-9]{1,14}$", "a phone number with + and the country, such as +12025550123"),
    ("^sha256:[0-9a-f]{64}$", "sha256: and 64 hex digits"),
];

/// A value that the console cannot make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MadeBy {
    member: &'static str,
    /// Where the value comes from.
    pub(crate) text: &'static str,
}

/// Members whose values the console cannot make.
const MADE_ELSEWHERE: [MadeBy; 11] = [
    MadeBy { member: "attestation", text: "a browser registers the passkey; use the SDK's passkey stamper" },
    MadeBy {
        member: "encryptedBundle",
        text: "encrypt the key to the import bundle of INIT_IMPORT first, with the SDK's `encryptPrivateKeyToBundle` or `encryptWalletToBundle`",
    },
    MadeBy {
        member: "secretPayload",
        text: "encrypt the secret to the import bundle of INIT_IMPORT_SECRETS first, with a client library",
    },
    MadeBy { member: "encryptedOtpBundle", text: "a client library encrypts the code to the daemon" },
    MadeBy {
        member: "encryptedClientSecret",
        text: "encrypt the client secret to the daemon with a client library",
    },
    MadeBy { member: "verificationToken", text: "the result of VERIFY_OTP" },
    MadeBy { member: "oidcToken", text: "the ID token that the provider issued at sign-in" },
    MadeBy {
        member: "clientSignature",
        text: "signed by the key in the verification token; a client library makes it",
    },
    MadeBy {
        member: "targetPublicKey",
        text: "the public key that decrypts the answer; a client library creates the key pair",
    },
    MadeBy {
        member: "smartContractInterface",
        text: "the interface file; `quorate propose --file` reads it from a file of parameters",
    },
    MadeBy {
        member: "unsignedTransaction",
        text: "the unsigned transaction in hex, made by a wallet or chain library",
    },
];

/// Returns whether a member must not be shown while it is typed.
pub(crate) fn is_secret(member: &str) -> bool {
    SECRET.contains(&member)
}

/// Returns where the value of a member comes from, if the console cannot make it.
pub(crate) fn made_by(member: &str) -> Option<MadeBy> {
    MADE_ELSEWHERE.iter().copied().find(|made| made.member == member)
}

/// Returns what a schema admits.
pub(crate) fn limits(schema: &Value) -> String {
    let number = |name: &str| schema.get(name).and_then(Value::as_u64);
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    let known = PATTERNS.iter().find(|(pattern, _)| text("pattern") == Some(pattern));
    if let Some((_, words)) = known {
        return (*words).to_owned();
    }
    let kind = match schema.get("type") {
        Some(Value::Array(all)) => all.first().and_then(Value::as_str),
        other => other.and_then(Value::as_str),
    };
    match (kind, text("format")) {
        (Some("array"), _) => match number("maxItems") {
            Some(most) => format!("a list of at most {most} items"),
            None => "a list".to_owned(),
        },
        (Some("object"), _) => "an object".to_owned(),
        (Some("boolean"), _) => "true or false".to_owned(),
        (Some("integer"), _) => match (number("minimum"), number("maximum")) {
            (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
            (Some(least), None) => format!("a whole number, at least {least}"),
            _ => "a whole number".to_owned(),
        },
        (_, Some("uuid")) => "an id (UUID)".to_owned(),
        (_, Some("email")) => "an email address".to_owned(),
        _ if schema.get("enum").is_some() || schema.get("oneOf").is_some() => {
            "one of the listed values".to_owned()
        }
        _ => match (number("minLength"), number("maxLength")) {
            (Some(least), Some(most)) => format!("{least} to {most} characters"),
            (None, Some(most)) => format!("at most {most} characters"),
            _ => "text".to_owned(),
        },
    }
}

/// Returns what is wrong with a value, without the value, and the path of the member.
pub(super) fn problem(error: &ValidationError<'_>, schema: &Value) -> (String, String) {
    let path = error.instance_path().to_string();
    let kind = error.kind();
    if let ValidationErrorKind::Required { property } = kind {
        let name = property.as_str().unwrap_or_default();
        return (format!("{path}/{name}"), "required".to_owned());
    }
    let words = match kind {
        ValidationErrorKind::MaxItems { limit } => format!("at most {limit} items"),
        ValidationErrorKind::MinItems { limit } => format!("at least {limit} items"),
        _ => format!("must be {}", limits(schema)),
    };
    (path, words)
}
