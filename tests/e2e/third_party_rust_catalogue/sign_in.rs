//! Signing in by codes and mail. Credential bundles are decrypted by the crate `turnkey_enclave_encrypt`.

use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use quorate_common::bundle::{Sealed, TargetPublicKey};
use quorate_tests::mailbox::Mailbox;
use quorate_tests::passkey::Passkey;
use serde_json::{Value, json};
use turnkey_enclave_encrypt::AuthenticationClient;

use super::{Caller, Participants, assert_refused, text};
use crate::third_party_rust::client;

const CONTACT: &str = "rust@example.org";
const FEATURES: [&str; 3] =
    ["FEATURE_NAME_OTP_EMAIL_AUTH", "FEATURE_NAME_EMAIL_AUTH", "FEATURE_NAME_EMAIL_RECOVERY"];

/// Returns the secret in the next mail, which has a line of its own.
fn mailed(mailbox: &Mailbox) -> String {
    let mail = mailbox.next();
    assert_eq!(mail.to, [CONTACT]);
    let secret = mail.text.lines().find_map(|line| line.strip_prefix("    ")).expect("a secret");
    let html = mail.html.expect("a mail with HTML");
    assert!(html.contains(secret.trim_end()), "{html}");
    secret.trim_end().to_owned()
}

/// Returns the public key of a secret key.
fn public(secret: &SigningKey) -> String {
    const_hex::encode(secret.verifying_key().to_sec1_point(true).as_bytes())
}

pub(super) async fn sign_in(participants: &Participants, mailbox: &Mailbox) {
    let alice = &participants.alice;
    for name in FEATURES {
        submit!(alice, set_organization_feature, {"name": name});
    }
    let user = json!({"userName": "by mail", "userEmail": CONTACT, "apiKeys": [], "authenticators": [],
        "oauthProviders": [], "userTags": []});
    let created = submit!(alice, create_users, {"users": [user]});
    let user = text(&created["userIds"][0]);
    code(participants, mailbox, user).await;
    bundles(participants, mailbox, user).await;
    recovery(participants, mailbox, user).await;
    let events = fetch!(alice, list_email_events, {"email": CONTACT, "eventType": "Send"});
    assert_eq!(events["emailEvents"].as_array().map(Vec::len), Some(4), "four mails were sent: {events}");
    submit!(alice, delete_users, {"userIds": [user]});
    for name in FEATURES {
        submit!(alice, remove_organization_feature, {"name": name});
    }
}

async fn code(participants: &Participants, mailbox: &Mailbox, user: &str) {
    let alice = &participants.alice;
    let sent = submit!(alice, init_otp, {"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT, "appName": "rust"});
    let code = mailed(mailbox);
    let bundle: Value = serde_json::from_str(text(&sent["otpEncryptionTargetBundle"])).expect("JSON");
    let data = const_hex::decode(text(&bundle["data"])).expect("hex");
    let data: Value = serde_json::from_slice(&data).expect("JSON");
    let target = TargetPublicKey::parse(text(&data["targetPublic"])).expect("a point");
    let key = SigningKey::from_slice(&[9; 32]).expect("a key");
    let plaintext = json!({"otp_code": code, "public_key": public(&key)}).to_string();
    let mut fill = |bytes: &mut [u8]| bytes.fill(7);
    let sealed = Sealed::new(&target, plaintext.as_bytes(), &mut fill).expect("a valid key");
    let encrypted = sealed.to_json().expect("JSON");
    let id = text(&sent["otpId"]);
    let verified = submit!(alice, verify_otp, {"otpId": id, "encryptedOtpBundle": encrypted});
    let token = text(&verified["verificationToken"]);
    let claims = token.split('.').nth(1).expect("three parts");
    let claims = <base64ct::Base64UrlUnpadded as base64ct::Encoding>::decode_vec(claims).expect("base64url");
    let claims: Value = serde_json::from_slice(&claims).expect("JSON");

    let session = SigningKey::from_slice(&[10; 32]).expect("a key");
    let message = json!({"login": {"publicKey": public(&session)}, "tokenId": claims["id"],
        "type": "USAGE_TYPE_LOGIN"})
    .to_string();
    let signature: Signature = key.sign(message.as_bytes());
    let signature = json!({"publicKey": public(&key), "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256",
        "message": message, "signature": const_hex::encode(signature.to_bytes())});
    let login = submit!(alice, otp_login, {"verificationToken": token, "publicKey": public(&session),
        "clientSignature": signature});
    assert_eq!(text(&login["session"]).split('.').count(), 3);
    assert_is(participants, &session, user).await;
}

async fn bundles(participants: &Participants, mailbox: &Mailbox, user: &str) {
    let alice = &participants.alice;
    let mut receiver = AuthenticationClient::new();
    let target = receiver.target_public_key().expect("a target key");
    let sent = submit!(alice, init_otp_auth,
        {"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT, "appName": "rust", "alphanumeric": false});
    let id = text(&sent["otpId"]);
    let code = mailed(mailbox);
    assert!(code.len() == 9 && code.bytes().all(|digit| digit.is_ascii_digit()), "{code}");
    let wrong = try_submit!(alice, otp_auth, {"otpId": id, "otpCode": "wrong", "targetPublicKey": target});
    assert_refused(wrong, 400, "Invalid OTP code");
    let opened = submit!(alice, otp_auth, {"otpId": id, "otpCode": code, "targetPublicKey": target});
    assert_eq!(opened["userId"], user);
    let secret = receiver.decrypt(text(&opened["credentialBundle"])).expect("a bundle");
    assert_is(participants, &SigningKey::from_slice(&secret).expect("a key"), user).await;

    let mut receiver = AuthenticationClient::new();
    let target = receiver.target_public_key().expect("a target key");
    let opened = submit!(alice, email_auth,
        {"email": CONTACT, "targetPublicKey": target, "emailCustomization": {"appName": "rust"}});
    assert_eq!(opened["userId"], user);
    let secret = receiver.decrypt(mailed(mailbox)).expect("a bundle");
    assert_is(participants, &SigningKey::from_slice(&secret).expect("a key"), user).await;
}

async fn recovery(participants: &Participants, mailbox: &Mailbox, user: &str) {
    let alice = &participants.alice;
    let mut receiver = AuthenticationClient::new();
    let target = receiver.target_public_key().expect("a target key");
    let sent = submit!(alice, init_user_email_recovery,
        {"email": CONTACT, "targetPublicKey": target, "emailCustomization": {"appName": "rust"}});
    assert_eq!(sent, json!({"userId": user}));
    let secret = receiver.decrypt(mailed(mailbox)).expect("a bundle");
    let recovering = holder(participants, &SigningKey::from_slice(&secret).expect("a key"));
    let denied = try_submit!(recovering, create_user_tag, {"userTagName": "recovered", "userIds": []});
    assert_refused(denied, 403, "a recovery key can only register an authenticator");
    let recovered = submit!(recovering, recover_user,
        {"userId": user, "authenticator": (Passkey::of("recovered").registration())});
    assert_eq!(recovered["authenticatorId"].as_array().map(Vec::len), Some(1));
    assert_refused(try_fetch!(recovering, get_whoami, {}), 401, "could not find public key");
}

/// Returns a client that stamps with a key.
fn holder(participants: &Participants, key: &SigningKey) -> Caller {
    let Participants { daemon, alice, .. } = participants;
    alice.sibling(client(daemon, &const_hex::encode(key.to_bytes())), &alice.organization)
}

/// Asserts that a key stamps requests of a user.
async fn assert_is(participants: &Participants, key: &SigningKey, user: &str) {
    let holder = holder(participants, key);
    assert_eq!(fetch!(holder, get_whoami, {})["userId"], user);
}
