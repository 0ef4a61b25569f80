//! Samples and expected errors of one-time codes, mailed keys and recovery.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person, public_key, target_public_key};
use crate::id_tokens::Token;
use crate::samples;
use crate::sign_in::{TOKEN_KEY, UNSIGNED, client_signature};

/// Returns an object with the members of several objects.
fn joined<const N: usize>(objects: [Value; N]) -> Value {
    objects
        .into_iter()
        .flat_map(|one| one.as_object().expect("an object").clone())
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Returns the members that state the sender of a mail.
fn sender() -> Value {
    json!({"sendFromEmailAddress": "login@allowed.example", "sendFromEmailSenderName": "Login",
        "replyToEmailAddress": "help@house.example"})
}

/// Returns how a mail is customized, without the name of the application.
fn customization() -> Value {
    json!({"logoUrl": "https://house.example/logo.png", "magicLinkTemplate": "https://house.example/in?token=%s",
        "templateVariables": "{}"})
}

/// Returns how a mail is customized, with the name of the application.
fn named_customization() -> Value {
    joined([customization(), json!({"appName": "House"})])
}

/// Returns valid parameters of a type of this module. The user who recovers is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, _: &Person) -> Option<Value> {
    let prepared = &fixture.sign_in;
    let code = || {
        joined([
            sender(),
            json!({"otpType": "OTP_TYPE_EMAIL", "contact": "root1@house.example", "userIdentifier": "user",
                "smsCustomization": {"template": "Code {{.OtpCode}}"}}),
        ])
    };
    let letters = json!({"otpLength": 6, "alphanumeric": false});
    let lifetime = json!({"expirationSeconds": "600"});
    let organization = json!({"emailCustomization": named_customization()});
    let app = json!({"appName": "House", "emailCustomization": customization()});
    let mailed = || {
        joined([sender(), json!({"email": "root1@house.example", "targetPublicKey": target_public_key(31)})])
    };
    let key = json!({"apiKeyName": "session", "invalidateExisting": true});
    let login = || json!({"publicKey": public_key(30), "invalidateExisting": true, "sessionProfileId": fixture.session_profile});
    Some(match name {
        "INIT_OTP" => joined([code(), letters, lifetime, organization]),
        "INIT_OTP_V2" | "INIT_OTP_V3" | "INIT_OTP_AUTH_V3" => joined([code(), letters, lifetime, app]),
        "INIT_OTP_AUTH" => joined([code(), organization]),
        "INIT_OTP_AUTH_V2" => joined([code(), letters, organization]),
        "VERIFY_OTP" => joined([
            lifetime,
            json!({"otpId": prepared.plain[0], "otpCode": prepared.plain[1], "publicKey": public_key(TOKEN_KEY)}),
        ]),
        "VERIFY_OTP_V2" => joined([
            lifetime,
            json!({"otpId": prepared.encrypted[0], "encryptedOtpBundle": prepared.encrypted[1]}),
        ]),
        "OTP_LOGIN" => joined([lifetime, login(), json!({"verificationToken": prepared.tokens[0]})]),
        "OTP_LOGIN_V2" => joined([
            lifetime,
            login(),
            json!({"verificationToken": prepared.tokens[1],
            "clientSignature": client_signature(&prepared.tokens[1], TOKEN_KEY, &public_key(30))}),
        ]),
        "OTP_AUTH" => joined([
            lifetime,
            key,
            json!({"otpId": prepared.auth[0], "otpCode": prepared.auth[1],
            "targetPublicKey": target_public_key(31)}),
        ]),
        "OAUTH" => {
            let token = Token::new("user", &target_public_key(31)).sign();
            joined([lifetime, key, json!({"oidcToken": token, "targetPublicKey": target_public_key(31)})])
        }
        "OAUTH_LOGIN" => {
            joined([lifetime, login(), json!({"oidcToken": Token::new("user", &public_key(30)).sign()})])
        }
        "EMAIL_AUTH" | "EMAIL_AUTH_V2" | "EMAIL_AUTH_V3" => joined([lifetime, key, mailed(), organization]),
        "INIT_USER_EMAIL_RECOVERY" | "INIT_USER_EMAIL_RECOVERY_V2" => {
            joined([lifetime, mailed(), organization])
        }
        "RECOVER_USER" => {
            json!({"userId": fixture.recovering.user, "authenticator": samples::authenticator("recovered")})
        }
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{AlreadyExists, InvalidArgument, NotFound, PermissionDenied, Unimplemented};
    let mut rows: Vec<Row> = Vec::new();
    let mut row = |name, members, code, reason, message: &str| {
        rows.push((name, Sender::Root, members, code, reason, message.to_owned()));
    };
    for name in
        ["INIT_OTP", "INIT_OTP_V2", "INIT_OTP_V3", "INIT_OTP_AUTH", "INIT_OTP_AUTH_V2", "INIT_OTP_AUTH_V3"]
    {
        row(
            name,
            json!({"contact": "nobody"}),
            InvalidArgument,
            Some("INVALID_EMAIL"),
            "invalid email address",
        );
        let text =
            "invalid request body: `sendFromEmailAddress`: this service does not send from other.example";
        row(name, json!({"sendFromEmailAddress": "a@other.example"}), InvalidArgument, None, text);
        let template = json!({"smsCustomization": {"template": "no code"}});
        row(name, template, InvalidArgument, None, "invalid request body: ");
        let sms = json!({"otpType": "OTP_TYPE_SMS"});
        row(name, sms, InvalidArgument, None, "invalid request body: `parameters.contact`: ");
    }
    for name in ["INIT_OTP_AUTH", "INIT_OTP_AUTH_V2", "INIT_OTP_AUTH_V3"] {
        let nobody = json!({"contact": "nobody@house.example"});
        row(name, nobody, NotFound, None, "no user found with this email");
    }
    for name in ["VERIFY_OTP", "OTP_AUTH"] {
        row(name, json!({"otpCode": "000000000"}), InvalidArgument, None, "Invalid OTP code");
        row(name, json!({"otpId": fixture.sign_in.encrypted[0]}), InvalidArgument, None, "Invalid OTP code");
    }
    let encrypted = json!({"otpId": fixture.sign_in.plain[0]});
    row("VERIFY_OTP_V2", encrypted, InvalidArgument, None, "Invalid OTP code");
    let text = "invalid request body: `encryptedOtpBundle`: not an encrypted code";
    row("VERIFY_OTP_V2", json!({"encryptedOtpBundle": "{}"}), InvalidArgument, None, text);
    let key = "invalid public key: expected a public key on its curve in hexadecimal";
    row("VERIFY_OTP", json!({"publicKey": "02"}), InvalidArgument, None, key);
    for name in ["OTP_LOGIN", "OTP_LOGIN_V2"] {
        let token = json!({"verificationToken": "a.b.c"});
        row(name, token, InvalidArgument, None, "invalid verification token");
    }
    let bound = json!({"verificationToken": fixture.sign_in.tokens[1]});
    row("OTP_LOGIN", bound, InvalidArgument, None, UNSIGNED);
    let plain = json!({"verificationToken": fixture.sign_in.tokens[0]});
    row("OTP_LOGIN_V2", plain, InvalidArgument, None, "invalid verification token");
    row(
        "OTP_LOGIN_V2",
        json!({"publicKey": public_key(33)}),
        InvalidArgument,
        None,
        "invalid client signature: `login.publicKey` of `message` is not `publicKey` of the request",
    );
    for name in ["OAUTH", "OAUTH_LOGIN"] {
        for token in ["a.b.c".to_owned(), Token::new("nobody", &public_key(30)).sign()] {
            let token = json!({ "oidcToken": token });
            row(name, token, InvalidArgument, Some("INVALID_OIDC_TOKEN"), "invalid OIDC token");
        }
    }
    let registered = "public key is already registered in this organization";
    row("OTP_LOGIN", json!({"publicKey": public_key(0)}), AlreadyExists, None, registered);
    let target = "invalid target public key: not a P-256 public key in hexadecimal digits";
    row("OTP_AUTH", json!({"targetPublicKey": "04"}), InvalidArgument, None, target);
    for name in [
        "EMAIL_AUTH",
        "EMAIL_AUTH_V2",
        "EMAIL_AUTH_V3",
        "INIT_USER_EMAIL_RECOVERY",
        "INIT_USER_EMAIL_RECOVERY_V2",
    ] {
        let nobody = json!({"email": "nobody@house.example"});
        row(name, nobody, NotFound, None, "no user found with this email");
        row(name, json!({"targetPublicKey": "04"}), InvalidArgument, None, target);
        let custom = json!({"emailCustomization": {"appName": "House", "templateId": "id"}});
        row(
            name,
            custom,
            Unimplemented,
            None,
            "unimplemented: custom mail templates are not offered by this service",
        );
    }
    row(
        "RECOVER_USER",
        json!({}),
        PermissionDenied,
        Some("REQUEST_NOT_AUTHORIZED"),
        "only a recovery key can stamp RECOVER_USER",
    );
    rows
}
