//! Tokens of issuers, sessions, mailed keys and recovery, mails that bounce, requests that are denied: what remains of them
//! in answers, in the console and on disk, also after everything was deleted.

use base64ct::{Base64UrlUnpadded, Encoding};
use hyper::Method;
use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::issuer::Issuer;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::operator::Operator;
use quorate_tests::passkey::Passkey;
use quorate_tests::receiver::{Answer, Receiver};
use quorate_tests::sign_in;
use serde_json::{Value, json};
use turnkey_enclave_encrypt::AuthenticationClient;

use super::{EMAIL, PHONE, assert_absent, assert_writes_no_core_file, files, prepare, secret};
use crate::screen::Screen;

const BY_TOKEN: &str = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN";
const BY_IDENTITY: &str = "STAMP_ATTESTED_SCHEME_P256_OIDC";
const STAMP_LOGIN: &str = "ACTIVITY_TYPE_STAMP_LOGIN";

/// Returns the text of a member.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// Logs in with a stamp that a token attests, and returns the status of the answer.
async fn attested(root: &Caller, scheme: &str, token: &str, key: &Key) -> u16 {
    let body = root.proposal(STAMP_LOGIN, &json!({"publicKey": key.public_key()}));
    let stamp = Base64UrlUnpadded::decode_vec(&key.stamp(&body)).expect("base64url");
    let mut stamp: Value = serde_json::from_slice(&stamp).expect("JSON");
    stamp["scheme"] = json!(scheme);
    stamp["publicKeyAttestation"] = json!(token);
    let stamp = Base64UrlUnpadded::encode_string(stamp.to_string().as_bytes());
    let headers = [("x-stamp-attested", stamp.as_str())];
    root.call(Method::POST, &submit_path(STAMP_LOGIN), &headers, &body).await.status
}

/// Returns the token with another signature.
fn forged(token: &str) -> String {
    let (input, signature) = token.rsplit_once('.').expect("three parts");
    format!("{input}.{}", signature.chars().rev().collect::<String>())
}

/// A key to which the service encrypts another key.
struct Target(AuthenticationClient, String);

impl Target {
    fn new() -> Self {
        let client = AuthenticationClient::new();
        let public = client.target_public_key().expect("a key");
        Self(client, public)
    }

    /// Returns the secret key in a bundle, in hexadecimal digits.
    fn open(mut self, bundle: &str) -> String {
        const_hex::encode(self.0.decrypt(bundle).expect("a bundle"))
    }
}

/// Signs in with tokens of an issuer, and returns the tokens.
async fn by_identity(root: &Caller, issuer: &Issuer) -> Vec<String> {
    let first = issuer.token("mira", "");
    let provider = json!({"providerName": "own", "oidcToken": first});
    let user = json!({"userName": "mira", "apiKeys": [], "authenticators": [], "oauthProviders": [provider], "userTags": []});
    let created = root.result("ACTIVITY_TYPE_CREATE_USERS_V3", &json!({"users": [user]})).await;
    let added = issuer.token("mira at another place", "");
    let provider = json!({"providerName": "more", "oidcToken": added});
    let more = json!({"userId": created["userIds"][0], "oauthProviders": [provider]});
    root.completed("ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS", &more).await;

    let session = Key::named("oauth session");
    let login = issuer.token("mira", session.public_key());
    let parameters = |token: &str| json!({"oidcToken": token, "publicKey": session.public_key()});
    let wrong = forged(&login);
    root.submit("ACTIVITY_TYPE_OAUTH_LOGIN", &parameters(&wrong)).await.expect_error(
        400,
        3,
        "INVALID_OIDC_TOKEN",
    );
    root.completed("ACTIVITY_TYPE_OAUTH_LOGIN", &parameters(&login)).await;
    let target = Target::new();
    let older = issuer.token("mira", &target.1);
    let parameters = json!({"oidcToken": older, "targetPublicKey": target.1});
    let opened = root.result("ACTIVITY_TYPE_OAUTH", &parameters).await;
    let key = target.open(&text(&opened["credentialBundle"]));
    let attested_key = Key::named("attested by an issuer");
    let by_stamp = issuer.token("mira", attested_key.public_key());
    assert_eq!(attested(root, BY_IDENTITY, &forged(&by_stamp), &attested_key).await, 400);
    assert_eq!(attested(root, BY_IDENTITY, &by_stamp, &attested_key).await, 200);
    let lookup = issuer.token("mira", "");
    root.fetch("list_suborgs", json!({"filterType": "OIDC_TOKEN", "filterValue": lookup})).await;
    let unknown = Key::named("key of nobody");
    let nobody = issuer.token("nobody", unknown.public_key());
    let parameters = json!({"oidcToken": nobody, "publicKey": unknown.public_key()});
    root.submit("ACTIVITY_TYPE_OAUTH_LOGIN", &parameters).await.expect_error(400, 3, "INVALID_OIDC_TOKEN");
    let tokens = [first, added, login, wrong, older, by_stamp, lookup, nobody];
    // Their signatures are unique; the rest is public.
    let signatures = tokens.iter().map(|token| token.rsplit('.').next().expect("a signature").to_owned());
    signatures.chain([key]).collect()
}

/// Proves a contact with one token in each way, and returns the token and the id of a sub-organization.
async fn by_contact(root: &Caller, mailbox: &Mailbox, user: &Value) -> (Vec<String>, String) {
    let contact = "prover@example.org";
    let init = json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact, "appName": "Acme"});
    let holder = Key::named("holder");
    let sent = root.result("ACTIVITY_TYPE_INIT_OTP_V3", &init).await;
    let code = secret(&mailbox.next());
    let bundle = sign_in::encrypted_code(&sent["otpEncryptionTargetBundle"], &code, &holder);
    let verify = json!({"otpId": sent["otpId"], "encryptedOtpBundle": bundle});
    let token = text(&root.result("ACTIVITY_TYPE_VERIFY_OTP_V2", &verify).await["verificationToken"]);
    let change = json!({"userId": user, "userEmail": contact, "verificationToken": token});
    root.completed("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &change).await;
    let sent = root.result("ACTIVITY_TYPE_INIT_OTP", &init).await;
    let second_code = secret(&mailbox.next());
    let verify = json!({"otpId": sent["otpId"], "otpCode": second_code});
    let second = text(&root.result("ACTIVITY_TYPE_VERIFY_OTP", &verify).await["verificationToken"]);
    let owner = json!({"userName": "prover", "userEmail": contact, "authenticators": [], "oauthProviders": [],
        "apiKeys": [{"apiKeyName": "key", "publicKey": holder.public_key(), "curveType": "API_KEY_CURVE_P256"}]});
    let child = json!({"subOrganizationName": "proven", "rootUsers": [owner], "rootQuorumThreshold": 1,
        "verificationToken": second});
    let created = root.result("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child).await;
    // In the parent, a user has the same contact: the login opens a session there.
    assert_eq!(attested(root, BY_TOKEN, &forged(&token), &holder).await, 400);
    assert_eq!(attested(root, BY_TOKEN, &token, &holder).await, 200);
    (vec![code, token, second_code, second], text(&created["subOrganizationId"]))
}

/// Opens sessions whose keys or tokens the service makes, and recovers a user. Returns the keys and tokens.
async fn by_session(root: &Caller, mailbox: &Mailbox, user: &Value) -> Vec<String> {
    let read_only = text(&root.result("ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", &json!({})).await["session"]);
    let body = json!({"organizationId": root.organization()}).to_string().into_bytes();
    for (path, status) in [("query/whoami", 200), ("submit/create_user_tag", 401)] {
        let headers = [("x-session", read_only.as_str())];
        let answer = root.call(Method::POST, &format!("/public/v1/{path}"), &headers, &body).await;
        assert_eq!(answer.status, status);
    }
    let target = Target::new();
    let parameters = json!({"targetPublicKey": target.1});
    let opened = root.result("ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION_V2", &parameters).await;
    let mut secrets = vec![read_only, target.open(&text(&opened["credentialBundle"]))];
    for name in ["EMAIL_AUTH_V3", "INIT_USER_EMAIL_RECOVERY_V2"] {
        let target = Target::new();
        let mailed =
            json!({"email": EMAIL, "targetPublicKey": target.1, "emailCustomization": {"appName": "Acme"}});
        root.completed(&format!("ACTIVITY_TYPE_{name}"), &mailed).await;
        let bundle = secret(&mailbox.next());
        secrets.extend([target.open(&bundle), bundle]);
    }
    let recovering = root.with_key(&Key::of_hex(&secrets[4]));
    let recover = json!({"userId": user, "authenticator": Passkey::of("recovered").registration()});
    recovering.completed("ACTIVITY_TYPE_RECOVER_USER", &recover).await;
    secrets
}

/// Sends a mail and an SMS that their servers reject, the mail quoted in the answer. Returns the codes.
async fn bounced(root: &Caller, mailbox: &Mailbox, gateway: &Receiver) -> Vec<String> {
    let init = |kind: &str, contact: &str| json!({"otpType": kind, "contact": contact, "appName": "Acme"});
    root.completed("ACTIVITY_TYPE_INIT_OTP", &init("OTP_TYPE_EMAIL", "bob@example.org")).await;
    let mail = mailbox.next();
    assert!(mail.refused);
    gateway.answer(Answer::Status(400));
    let mut sms = init("OTP_TYPE_SMS", PHONE);
    sms["smsCustomization"] = json!({"template": "Code: {{.OtpCode}}"});
    root.completed("ACTIVITY_TYPE_INIT_OTP", &sms).await;
    let deliveries = gateway.until("an SMS", |deliveries| !deliveries.is_empty()).await;
    let (_, code) = deliveries[0].body.as_str().expect("a form").split_once("Code%3A+").expect("a code");
    vec![secret(&mail), code.chars().take_while(char::is_ascii_alphanumeric).collect()]
}

/// Sends secrets that are denied, and secrets in members and versions where they do not belong. Returns them.
async fn denied(root: &Caller) -> Vec<String> {
    let outsider = Key::named("outsider");
    let user = json!({"userName": "outsider", "authenticators": [], "oauthProviders": [], "userTags": [],
        "apiKeys": [{"apiKeyName": "key", "publicKey": outsider.public_key(), "curveType": "API_KEY_CURVE_P256"}]});
    root.completed("ACTIVITY_TYPE_CREATE_USERS_V3", &json!({"users": [user]})).await;
    let outsider = root.with_key(&outsider);
    let id = "84848484-8484-4484-8484-848484848484";
    let verify = json!({"otpId": id, "otpCode": "CANARY0DENIED"});
    outsider.submit("ACTIVITY_TYPE_VERIFY_OTP", &verify).await.expect_error(403, 7, "*");
    let key = Key::named("denied");
    let login = json!({"verificationToken": "canary1.denied.token", "publicKey": key.public_key()});
    outsider.submit("ACTIVITY_TYPE_OTP_LOGIN", &login).await;
    for (member, value) in [("otpCode", json!({"in": "CANARY2OBJECT"})), ("otpCode", json!(["CANARY3ARRAY"]))]
    {
        let mut wrong = verify.clone();
        wrong[member] = value;
        root.submit("ACTIVITY_TYPE_VERIFY_OTP", &wrong).await.expect_error(400, 3, "");
    }
    let unknown = json!({"otpId": id, "otpCode": "1", "CANARY4MEMBER": "CANARY5VALUE"});
    root.submit("ACTIVITY_TYPE_VERIFY_OTP", &unknown).await;
    ["CANARY0DENIED", "canary1.denied.token", "CANARY2OBJECT", "CANARY3ARRAY", "CANARY5VALUE"]
        .map(str::to_owned)
        .to_vec()
}

/// Returns what clients, operators and receivers of webhooks see.
async fn shown(daemon: &Daemon, child: &str, receiver: &Receiver) -> String {
    let root = daemon.root(0);
    let mut shown = vec![json!(root.activities().await).to_string(), daemon.log()];
    let of_child = root.on(child).activities().await;
    shown.push(json!(of_child).to_string());
    for contact in [EMAIL, "bob@example.org", "prover@example.org"] {
        let events = root.fetch("list_email_events", json!({"email": contact})).await;
        assert_ne!(events["emailEvents"], json!([]), "{contact}");
        shown.push(events.to_string());
    }
    let metrics = root.call(Method::GET, "/metrics", &[], b"").await;
    shown.push(String::from_utf8(metrics.body.to_vec()).expect("UTF-8"));
    shown.extend(receiver.deliveries().iter().map(|one| format!("{:?} {}", one.headers, one.body)));
    let operator = Operator::root(daemon, 0);
    for command in [&["org", "get"][..], &["messages", "ls"], &["activity", "ls"], &["approvals", "ls"]] {
        shown.push(operator.run(command).await.with(0).output);
    }
    let mut screen = Screen::open(operator);
    shown.push(screen.shows("Approvals").await);
    screen.press("3");
    shown.push(screen.shows("Verify one-time code").await);
    screen.press("\r");
    shown.push(screen.until("an activity", |text| text.contains("What happens")).await);
    shown.concat()
}

#[tokio::test]
async fn secrets_of_identities_and_sessions_appear_nowhere() {
    let mailbox = Mailbox::answering(&["550 5.7.1 spam: {text}"]);
    let (issuer, gateway, receiver) = (Issuer::start(), Receiver::start().await, Receiver::start().await);
    let options = Options::quorum(1, 1).with_mail(mailbox.url()).with_sms(gateway.url(""));
    let mut daemon = Daemon::start(options).await;
    let root = daemon.root(0);
    prepare(&root, &receiver).await;
    let users = root.fetch("list_users", json!({})).await;
    let ann = users["users"].as_array().into_iter().flatten().find(|user| user["userName"] == "ann");
    let ann = ann.expect("a user")["userId"].clone();

    let mut secrets = bounced(&root, &mailbox, &gateway).await;
    secrets.extend(by_identity(&root, &issuer).await);
    secrets.extend(by_session(&root, &mailbox, &ann).await);
    let prover = json!({"users": [{"userName": "prover", "userEmail": "prover@example.org", "apiKeys": [],
        "authenticators": [Passkey::of("prover").registration()], "oauthProviders": [], "userTags": []}]});
    let prover = root.result("ACTIVITY_TYPE_CREATE_USERS_V3", &prover).await["userIds"][0].clone();
    let (proofs, child) = by_contact(&root, &mailbox, &prover).await;
    secrets.extend(proofs);
    secrets.extend(denied(&root).await);
    assert_eq!(secrets.len(), 26, "{secrets:#?}");

    // The newest activity reaches the webhook last.
    let newest = root.activities().await[0]["id"].clone();
    let newest = newest.as_str().expect("an id").to_owned();
    receiver.until("a webhook", |all| all.iter().any(|one| one.body.to_string().contains(&newest))).await;
    let shown = shown(&daemon, &child, &receiver).await;
    assert_writes_no_core_file(daemon.process_id().as_raw_nonzero());
    // A backup is a copy of the files. They are read before and after the users are deleted.
    assert_absent(&secrets, &shown, &files(daemon.data()));
    let deleted = json!({"userIds": [ann, prover]});
    root.completed("ACTIVITY_TYPE_DELETE_USERS", &deleted).await;
    daemon.kill();
    assert_absent(&secrets, &daemon.log(), &files(daemon.data()));
}
