//! Codes by SMS through Kannel, a third-party gateway, to a fake SMS centre: a code opens a session, and the gateway
//! may be down, busy or refuse an SMS.

use std::time::Instant;

use quorate_tests::caller::Caller;
use quorate_tests::daemon::POLL_INTERVAL;
use quorate_tests::http::TIMEOUT;
use quorate_tests::installation::{Installation, RunningDaemon};
use quorate_tests::keys::Key;
use quorate_tests::sign_in;
use quorate_tests::sms_gateway::{PASSWORD, Received, SmsGateway};
use serde_json::{Value, json};

const INIT: &str = "ACTIVITY_TYPE_INIT_OTP_V3";
const PHONE: &str = "+491701234567";

/// Starts a daemon that sends SMS through a gateway, and returns the root user of an organization that enabled them.
async fn start(gateway: &SmsGateway) -> (Installation, RunningDaemon, Caller) {
    let installation = Installation::new("file = \"root.key\"");
    installation.write_secret("sms.secret", PASSWORD);
    let configuration = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    let section = gateway.section(&installation.path("sms.secret"));
    installation.configure(&format!("{configuration}\n{section}"));
    let key = Key::named("root of the gateway");
    let id = installation.create_organization("sms", &key).await;
    let running = installation.serve().await;
    let root = running.caller(&id, key);
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &json!({"name": "FEATURE_NAME_SMS_AUTH"})).await;
    (installation, running, root)
}

/// Requests a code by SMS.
async fn request(root: &Caller, contact: &str) -> Value {
    let template = json!({"template": "Ihr Code für Acme: {{.OtpCode}}"});
    let init = json!({"otpType": "OTP_TYPE_SMS", "contact": contact, "appName": "Acme", "smsCustomization": template});
    root.result(INIT, &init).await
}

/// Returns the code in an SMS.
fn code(sms: &Received) -> &str {
    sms.text.strip_prefix("Ihr Code für Acme: ").unwrap_or_else(|| panic!("no code in {sms:?}"))
}

/// Waits until the newest event of the message to a number has this type, and returns the events of the organization.
async fn until(root: &Caller, phone: &str, event_type: &str) -> Vec<Value> {
    let path = format!("/console/v1/organizations/{}/messages", root.organization());
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let page = root.call(hyper::Method::GET, &path, &[], b"").await.json();
        let events = page["events"].as_array().expect("a list").clone();
        let newest = events.iter().find(|event| event["toAddress"] == phone);
        if newest.is_some_and(|newest| newest["eventType"] == event_type) {
            return events;
        }
        assert!(Instant::now() < deadline, "no {event_type} in time: {events:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn answers(events: &[Value]) -> Vec<(&str, &str)> {
    let text =
        |event: &'_ Value, name: &str| event[name].as_str().unwrap_or_default().to_owned().leak() as &str;
    events.iter().map(|event| (text(event, "eventType"), text(event, "answer"))).collect()
}

#[tokio::test]
async fn a_code_through_a_real_gateway_opens_a_session() {
    let Some(mut gateway) = SmsGateway::start(100).await else { return };
    gateway.connect_centre().await;
    let (_installation, running, root) = start(&gateway).await;
    let user = json!({"userName": "ann", "userPhoneNumber": PHONE, "apiKeys": [], "authenticators": [],
        "oauthProviders": [], "userTags": []});
    let created = root.result("ACTIVITY_TYPE_CREATE_USERS_V3", &json!({"users": [user]})).await;
    let sent = request(&root, PHONE).await;
    let received = gateway.until(1).await;
    assert_eq!((received[0].from.as_str(), received[0].to.as_str()), ("Quorate", PHONE));
    // The code is sent back encrypted, with the key of the session.
    let session = Key::named("session through a gateway");
    let bundle = sign_in::encrypted_code(&sent["otpEncryptionTargetBundle"], code(&received[0]), &session);
    let verify = json!({"otpId": sent["otpId"], "encryptedOtpBundle": bundle});
    let verified = root.result("ACTIVITY_TYPE_VERIFY_OTP_V2", &verify).await;
    let token = verified["verificationToken"].as_str().expect("a token");
    let login = sign_in::login(token, &session);
    root.completed("ACTIVITY_TYPE_OTP_LOGIN", &login).await;
    let ann = running.caller(root.organization(), session);
    assert_eq!(ann.fetch("whoami", json!({})).await["userId"], created["userIds"][0]);
    let events = until(&root, PHONE, "Delivery").await;
    assert_eq!(answers(&events), [("Delivery", "202"), ("Send", "")]);
    assert!(!json!(events).to_string().contains(code(&received[0])), "{events:#?}");
    // Codes by SMS are no email events.
    let mails = root.fetch("list_email_events", json!({"email": "ann@example.org"})).await;
    assert_eq!(mails["emailEvents"], json!([]));
}

#[tokio::test]
async fn a_gateway_that_is_down_or_busy_gets_each_sms_once() {
    let Some(mut gateway) = SmsGateway::start(1).await else { return };
    let (_installation, _running, root) = start(&gateway).await;
    // The gateway queues one SMS for its centre, and is too busy (503) for the second one.
    request(&root, "+491701234501").await;
    until(&root, "+491701234501", "Delivery").await;
    request(&root, "+491701234502").await;
    let busy = until(&root, "+491701234502", "DeliveryDelay").await;
    assert_eq!(answers(&busy)[0], ("DeliveryDelay", "503"));
    gateway.connect_centre().await;
    until(&root, "+491701234502", "Delivery").await;
    gateway.until(2).await;
    gateway.stop();
    request(&root, "+491701234503").await;
    let down = until(&root, "+491701234503", "DeliveryDelay").await;
    assert_eq!(answers(&down)[0], ("DeliveryDelay", "cannot connect"));
    gateway.restart().await;
    until(&root, "+491701234503", "Delivery").await;
    request(&root, "+491701234504").await;
    until(&root, "+491701234504", "Delivery").await;
    let received = gateway.until(4).await;
    let mut numbers: Vec<&str> = received.iter().map(|sms| sms.to.as_str()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, ["+491701234501", "+491701234502", "+491701234503", "+491701234504"]);
}

#[tokio::test]
async fn an_sms_that_the_gateway_refuses_is_given_up() {
    let Some(mut gateway) = SmsGateway::start(100).await else { return };
    gateway.connect_centre().await;
    let (_installation, _running, root) = start(&gateway).await;
    // The white list of the gateway does not contain this number: status 400.
    request(&root, "+33612345678").await;
    let refused = until(&root, "+33612345678", "Bounce").await;
    assert_eq!(answers(&refused), [("Bounce", "400"), ("Send", "")]);
    request(&root, PHONE).await;
    until(&root, PHONE, "Delivery").await;
    let received = gateway.until(1).await;
    assert_eq!(received.iter().map(|sms| sms.to.as_str()).collect::<Vec<_>>(), [PHONE]);
}
