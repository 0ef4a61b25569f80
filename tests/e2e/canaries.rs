//! Each flow with a code, a token or a key: none of these secrets is in an activity, a vote, the log, a webhook, an event
//! of a message, a metric, the console, or a file of the daemon.

use std::fmt::Display;
use std::fs;
use std::path::Path;

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::mailbox::{Mail, Mailbox};
use quorate_tests::receiver::Receiver;
use quorate_tests::sign_in;
use serde_json::{Value, json};

mod identities;
mod oauth2;
mod proxy;

const EMAIL: &str = "ann@example.org";
const PHONE: &str = "+491701234567";

/// Returns the code or the bundle in a mail, which has a line of its own.
fn secret(mail: &Mail) -> String {
    let line = mail.text.lines().find_map(|line| line.strip_prefix("    "));
    line.expect("a code or a bundle").trim_end().to_owned()
}

/// Returns the value after a word at the start of a line of the mail.
fn after(mail: &Mail, word: &str) -> String {
    let line = mail.text.lines().find_map(|line| line.strip_prefix(word));
    line.expect("the word").trim().to_owned()
}

/// Returns the bytes of all files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        all.extend(if path.is_dir() { files(&path) } else { fs::read(&path).expect("a readable file") });
    }
    all
}

async fn prepare(root: &Caller, receiver: &Receiver) {
    for name in ["EMAIL_AUTH", "EMAIL_RECOVERY", "SMS_AUTH", "OTP_EMAIL_AUTH"] {
        let feature = json!({"name": format!("FEATURE_NAME_{name}")});
        root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
    }
    let hook = json!({"name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/")});
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &hook).await;
    let user = json!({"userName": "ann", "userEmail": EMAIL, "userPhoneNumber": PHONE, "apiKeys": [],
        "authenticators": [], "oauthProviders": [], "userTags": []});
    root.completed("ACTIVITY_TYPE_CREATE_USERS_V3", &json!({"users": [user]})).await;
}

/// Runs the flows with codes by mail, and returns their secrets.
async fn by_code(root: &Caller, mailbox: &Mailbox) -> Vec<String> {
    let mut secrets = Vec::new();
    let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": EMAIL, "appName": "Acme"});
    let sent = root.result("ACTIVITY_TYPE_INIT_OTP", &init).await;
    let code = secret(&mailbox.next());
    let wrong = json!({"otpId": sent["otpId"], "otpCode": "CANARY999"});
    root.submit("ACTIVITY_TYPE_VERIFY_OTP", &wrong).await.expect_error(400, 3, "");
    let verify = json!({"otpId": sent["otpId"], "otpCode": code});
    let verified = root.result("ACTIVITY_TYPE_VERIFY_OTP", &verify).await;
    let token = verified["verificationToken"].as_str().expect("a token").to_owned();
    let login = json!({"verificationToken": token, "publicKey": Key::named("first").public_key()});
    root.completed("ACTIVITY_TYPE_OTP_LOGIN", &login).await;
    secrets.extend(["CANARY999".to_owned(), code, token]);

    let holder = Key::named("second");
    let sent = root.result("ACTIVITY_TYPE_INIT_OTP_V3", &init).await;
    let code = secret(&mailbox.next());
    let bundle = sign_in::encrypted_code(&sent["otpEncryptionTargetBundle"], &code, &holder);
    let verify = json!({"otpId": sent["otpId"], "encryptedOtpBundle": bundle});
    let verified = root.result("ACTIVITY_TYPE_VERIFY_OTP_V2", &verify).await;
    let token = verified["verificationToken"].as_str().expect("a token").to_owned();
    root.completed("ACTIVITY_TYPE_OTP_LOGIN_V2", &sign_in::login(&token, &holder)).await;
    let parts: Value = serde_json::from_str(&bundle).expect("JSON");
    secrets.extend([code, parts["ciphertext"].as_str().expect("a text").to_owned(), token]);

    let sent = root.result("ACTIVITY_TYPE_INIT_OTP_AUTH_V3", &init).await;
    let code = secret(&mailbox.next());
    let target = sign_in::target_key().public().hex();
    let auth = json!({"otpId": sent["otpId"], "otpCode": code, "targetPublicKey": target});
    root.completed("ACTIVITY_TYPE_OTP_AUTH", &auth).await;
    secrets.push(code);
    secrets
}

/// Runs the flows with keys by mail and a code by SMS, and returns their secrets.
async fn by_message(root: &Caller, sender: &str, mailbox: &Mailbox, gateway: &Receiver) -> Vec<String> {
    let mut secrets = Vec::new();
    let target = sign_in::target_key().public().hex();
    let mailed =
        json!({"email": EMAIL, "targetPublicKey": target, "emailCustomization": {"appName": "Acme"}});
    for name in ["EMAIL_AUTH_V3", "INIT_USER_EMAIL_RECOVERY_V2"] {
        root.completed(&format!("ACTIVITY_TYPE_{name}"), &mailed).await;
        secrets.push(secret(&mailbox.next()));
    }
    let invitation = json!({"invitations": [{"receiverUserName": "guest", "receiverUserEmail": "guest@example.org",
        "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": sender}]});
    root.completed("ACTIVITY_TYPE_CREATE_INVITATIONS", &invitation).await;
    secrets.push(after(&mailbox.next(), "private key"));
    let template = json!({"template": "Code: {{.OtpCode}}"});
    let init = json!({"otpType": "OTP_TYPE_SMS", "contact": PHONE, "smsCustomization": template});
    root.completed("ACTIVITY_TYPE_INIT_OTP", &init).await;
    let deliveries = gateway.until("an SMS", |deliveries| !deliveries.is_empty()).await;
    let (_, code) = deliveries[0].body.as_str().expect("a form").split_once("Code%3A+").expect("a code");
    secrets.push(code.chars().take_while(char::is_ascii_alphanumeric).collect());
    secrets
}

#[tokio::test]
async fn secrets_of_sign_in_appear_nowhere() {
    let (mailbox, gateway, receiver) = (Mailbox::start(0), Receiver::start().await, Receiver::start().await);
    let options = Options::quorum(1, 1).with_mail(mailbox.url()).with_sms(gateway.url(""));
    let mut daemon = Daemon::start(options).await;
    let root = daemon.root(0);
    prepare(&root, &receiver).await;
    let mut secrets = by_code(&root, &mailbox).await;
    secrets.extend(by_message(&root, daemon.root_id(0), &mailbox, &gateway).await);
    assert_eq!(secrets.len(), 11);

    let activities = root.activities().await;
    let newest = activities[0]["id"].as_str().expect("an id").to_owned();
    let hooks =
        receiver.until("a webhook", |all| all.iter().any(|one| one.body.to_string().contains(&newest))).await;
    let hooks: Vec<String> = hooks.iter().map(|one| format!("{:?} {}", one.headers, one.body)).collect();
    let events = root.fetch("list_email_events", json!({"email": EMAIL})).await;
    assert!(events["emailEvents"].as_array().is_some_and(|all| all.len() == 10), "{events:#}");
    let page = format!("/console/v1/organizations/{}/messages", root.organization());
    let socket = Caller::new(daemon.socket(), root.organization(), root.key().clone());
    let messages = socket.call(hyper::Method::GET, &page, &[], b"").await.json();
    assert!(messages["events"].as_array().is_some_and(|all| all.len() >= 12), "{messages:#}");
    let shown = [
        json!(activities).to_string(),
        hooks.concat(),
        events.to_string(),
        messages.to_string(),
        daemon.log(),
    ];
    let shown = shown.concat();
    daemon.kill();
    assert_absent(&secrets, &shown, &files(daemon.data()));
}

/// Asserts that the memory of a daemon is not written to a core file.
fn assert_writes_no_core_file(process_id: impl Display) {
    let limits = fs::read_to_string(format!("/proc/{process_id}/limits")).expect("the daemon runs");
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit");
    let core: Vec<&str> = core.split_whitespace().rev().take(3).collect();
    assert_eq!(core, ["bytes", "0", "0"]);
}

/// Asserts that secrets are neither shown nor stored.
fn assert_absent(secrets: &[String], shown: &str, stored: &[u8]) {
    // Bytes that are not text are replaced, which leaves the text between them.
    let stored = String::from_utf8_lossy(stored).to_ascii_lowercase();
    let shown = shown.to_ascii_lowercase();
    for secret in secrets {
        assert!(secret.len() >= 9, "{secret}");
        let secret = secret.to_ascii_lowercase();
        assert!(!shown.contains(&secret), "{secret} is shown");
        assert!(!stored.contains(&secret), "{secret} is stored");
    }
}
