//! One-time codes reach their receivers by mail and SMS, attempts to use them count across kills, and codes appear
//! in no log and no answer.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::TIMEOUT;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::{Mail, Mailbox};
use quorate_tests::receiver::Receiver;
use serde_json::{Value, json};

const INIT: &str = "ACTIVITY_TYPE_INIT_OTP";
const VERIFY: &str = "ACTIVITY_TYPE_VERIFY_OTP";
const CONTACT: &str = "ann@example.org";

async fn enable(root: &Caller, feature: &str) {
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &json!({"name": feature})).await;
}

/// Requests a code by mail, and returns its id.
async fn request(root: &Caller) -> Value {
    let sent = root.result(INIT, &json!({"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT})).await;
    sent["otpId"].clone()
}

/// Returns the code in a mail, which has a line of its own.
fn code(mail: &Mail) -> String {
    let code = mail.text.lines().find_map(|line| line.strip_prefix("    ")).expect("a code");
    code.trim_end().to_owned()
}

fn attempt(id: &Value, code: &str) -> Value {
    json!({"otpId": id, "otpCode": code})
}

#[tokio::test]
async fn attempts_count_across_kills_and_codes_appear_nowhere() {
    let mailbox = Mailbox::start(1);
    let mut daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    enable(&daemon.root(0), "FEATURE_NAME_OTP_EMAIL_AUTH").await;
    let id = request(&daemon.root(0)).await;
    // The first attempt to send is refused temporarily, and a killed daemon goes on with the mail.
    daemon.kill();
    daemon.restart().await;
    let mut mail = mailbox.next();
    while mail.refused {
        mail = mailbox.next();
    }
    let code = code(&mail);
    assert_eq!((mail.to.as_slice(), code.len()), (&[CONTACT.to_owned()][..], 9));
    let html = mail.html.expect("a mail with HTML");
    assert!(html.contains(&code) && html.starts_with("<!doctype html>"), "{html}");

    for _ in 0..3 {
        let reply = daemon.root(0).submit(VERIFY, &attempt(&id, "000000000")).await;
        assert_eq!(reply.expect_error(400, 3, ""), "Invalid OTP code");
        daemon.kill();
        daemon.restart().await;
    }
    let root = daemon.root(0);
    let late = root.submit(VERIFY, &attempt(&id, &code)).await;
    assert_eq!(late.expect_error(400, 3, ""), "Invalid OTP code");
    let unknown = root.submit(VERIFY, &attempt(&json!("84848484-8484-4484-8484-848484848484"), &code)).await;
    assert_eq!(unknown.expect_error(400, 3, ""), "Invalid OTP code");

    let id = request(&root).await;
    let second = self::code(&mailbox.next());
    let body = root.proposal(VERIFY, &attempt(&id, &second.to_lowercase()));
    let path = "/public/v1/submit/verify_otp";
    let token = |activity: &Value| {
        let token = &activity["result"]["verifyOtpResult"]["verificationToken"];
        token.as_str().expect("a token").to_owned()
    };
    let first = token(&root.send(path, &body).await.activity_in("COMPLETED"));
    assert_eq!(first.split('.').count(), 3);
    // The same bytes again, as after a lost answer: the token was shown once.
    assert_eq!(token(&root.send(path, &body).await.activity_in("COMPLETED")), "");
    let shown = json!(root.activities().await).to_string() + &daemon.log();
    for secret in [code, second, first] {
        assert!(!shown.to_lowercase().contains(&secret.to_lowercase()), "{secret} is shown");
    }
}

#[tokio::test]
async fn parallel_attempts_are_counted_and_a_contact_gets_three_codes() {
    let mailbox = Mailbox::start(0);
    let daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let root = daemon.root(0);
    enable(&root, "FEATURE_NAME_OTP_EMAIL_AUTH").await;
    let id = request(&root).await;
    let code = code(&mailbox.next());
    let mut attempts = tokio::task::JoinSet::new();
    for number in 0..40 {
        let (root, attempt) = (daemon.root(0), attempt(&id, &format!("wrong{number}")));
        attempts.spawn(async move { root.submit(VERIFY, &attempt).await.expect_error(400, 3, "") });
    }
    assert!(attempts.join_all().await.iter().all(|message| message == "Invalid OTP code"));
    let late = root.submit(VERIFY, &attempt(&id, &code)).await;
    assert_eq!(late.expect_error(400, 3, ""), "Invalid OTP code");

    let mut requests = tokio::task::JoinSet::new();
    for number in 0..8 {
        let root = daemon.root(0);
        // The case of an address does not make another receiver.
        let contact = if number % 2 == 0 { CONTACT.to_owned() } else { CONTACT.to_uppercase() };
        let parameters =
            json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact, "otpLength": 6 + number % 4});
        requests.spawn(async move { root.submit(INIT, &parameters).await.status });
    }
    let answers = requests.join_all().await;
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 2, "{answers:?}");
    let more = root.submit(INIT, &json!({"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT})).await;
    assert!(
        more.expect_error(400, 3, "MAX_OTP_INITIATED").starts_with("Max number of OTPs have been initiated")
    );
}

#[tokio::test]
async fn a_code_by_sms_opens_a_session() {
    let gateway = Receiver::start().await;
    let daemon = Daemon::start(Options::quorum(1, 1).with_sms(gateway.url(""))).await;
    let root = daemon.root(0);
    enable(&root, "FEATURE_NAME_SMS_AUTH").await;
    let user = json!({"userName": "ann", "userPhoneNumber": "+491701234567", "apiKeys": [], "authenticators": [],
        "oauthProviders": [], "userTags": []});
    let created = root.result("ACTIVITY_TYPE_CREATE_USERS_V3", &json!({"users": [user]})).await;
    let template = json!({"template": "Code: {{.OtpCode}}"});
    let init = json!({"otpType": "OTP_TYPE_SMS", "contact": "+491701234567", "alphanumeric": false,
        "smsCustomization": template});
    let sent = root.result(INIT, &init).await;
    let deliveries = gateway.until("an SMS", |deliveries| !deliveries.is_empty()).await;
    let body = deliveries[0].body.as_str().expect("a form");
    assert!(body.contains("%2B491701234567"), "{body}");
    let (_, code) = body.split_once("Code%3A+").expect("a code");
    let code: String = code.chars().take_while(char::is_ascii_digit).collect();
    let verified = root.result(VERIFY, &attempt(&sent["otpId"], &code)).await;
    let session = Key::named("session by sms");
    let login =
        json!({"verificationToken": verified["verificationToken"], "publicKey": session.public_key()});
    root.completed("ACTIVITY_TYPE_OTP_LOGIN", &login).await;
    let ann = Caller::new(daemon.http(), root.organization(), session);
    assert_eq!(ann.fetch("whoami", json!({})).await["userId"], created["userIds"][0]);
    let mail = root.submit(INIT, &json!({"otpType": "OTP_TYPE_EMAIL", "contact": CONTACT})).await;
    assert!(mail.expect_error(400, 3, "").starts_with("FEATURE_NAME_OTP_EMAIL_AUTH is not enabled"));
}

/// Accepts one connection as a mail server without TLS, and returns the commands that it received.
fn without_tls(listener: &TcpListener) -> Vec<String> {
    let (mut stream, _) = listener.accept().expect("a connection");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a time limit");
    let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
    stream.write_all(b"220 ready\r\n").expect("the client reads");
    let mut commands = Vec::new();
    for line in lines.map_while(Result::ok) {
        let answer: &[u8] =
            if line.starts_with("EHLO") { b"250-ready\r\n250 8BITMIME\r\n" } else { b"250 ok\r\n" };
        commands.push(line);
        // The client may have closed the connection.
        let _ = stream.write_all(answer);
    }
    commands
}

#[tokio::test]
async fn mail_is_not_sent_to_a_server_without_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (sender, connections) = channel();
    std::thread::spawn(move || while sender.send(without_tls(&listener)).is_ok() {});
    let key = "file = \"root.key\"";
    let installation = Installation::new(key);
    let mail = format!("[mail]\nserver = \"smtp://{address}\"\nfrom = \"quorate@example.org\"\n");
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\n\n[key]\n{key}\n\n{mail}"
    ));
    let root = Key::named("root");
    let organization = installation.create_organization("mail", &root).await;
    let daemon = installation.serve().await;
    let root = daemon.caller(&organization, root);
    enable(&root, "FEATURE_NAME_OTP_EMAIL_AUTH").await;
    request(&root).await;
    let commands = connections.recv_timeout(TIMEOUT).expect("a connection of the mailer");
    assert!(commands[0].starts_with("EHLO "), "{commands:?}");
    assert!(commands[1..].iter().all(|command| command == "QUIT"), "{commands:?}");
}

#[tokio::test]
async fn the_log_contains_why_an_id_token_is_rejected() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let login = json!({"oidcToken": "canary.b.c", "publicKey": Key::named("session").public_key()});
    let rejected = root.submit("ACTIVITY_TYPE_OAUTH_LOGIN", &login).await;
    assert_eq!(rejected.expect_error(400, 3, "INVALID_OIDC_TOKEN"), "invalid OIDC token");
    let log = daemon.log();
    assert!(log.contains("invalid OIDC token") && log.contains("it is malformed"), "{log}");
    assert!(!log.contains("canary"), "{log}");
}
