//! The unmodified npm package `@turnkey/sdk-server` does the main job, and calls every operation that it has
//! a method for, each with the locked and with the newest packages. The newest packages for browsers sign in.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quorate_tests::book;
use quorate_tests::daemon::Options;
use quorate_tests::mailbox::Mailbox;
use quorate_tests::receiver::Receiver;
use serde_json::{Value, json};

use crate::third_party;

/// The packages that the scenarios were written for, and the newest ones, which `newest/resolve.mjs` selects.
const LOCKED: (&str, &[&str]) = ("npm", &["node"]);
const NEWEST: (&str, &[&str]) = ("npm/newest", &["node", "--import", "./newest/resolve.mjs"]);

#[tokio::test]
async fn the_npm_client_does_the_main_job() {
    does_the_main_job(LOCKED).await;
}

#[tokio::test]
async fn the_newest_npm_client_does_the_main_job() {
    does_the_main_job(NEWEST).await;
}

async fn does_the_main_job((name, node): (&str, &[&str])) {
    let (daemon, seen) = third_party::run(name, &[node, &["scenario.mjs"]].concat()).await;
    third_party::check(&daemon, &seen).await;
    assert_eq!(
        seen["wallet"]["addressFitsItsKey"], true,
        "the Ethereum address is that of the public key: {seen:#}"
    );

    // This client reports a request that waits for votes as a success without a result.
    assert_eq!(seen["pending"]["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert_eq!(seen["pending"]["votes"], 1);
    assert_eq!(seen["pending"]["hasSignature"], false);
    assert_eq!(seen["pending"]["id"], seen["approved"]["id"]);

    assert_error(&seen["unknownKey"], 16, "Turnkey error 16: could not find public key in organization");
    assert_error(&seen["unknownSigner"], 5, "Turnkey error 5: Could not find any resource to sign with");
    assert_error(
        &seen["denied"],
        7,
        "Turnkey error 7: You don't have sufficient permissions to take this action.",
    );
    let detail = &seen["denied"]["details"][0];
    assert_eq!(detail["@type"], "type.googleapis.com/errors.v1.PolicyEnginePermissionError", "{seen:#}");
}

#[tokio::test]
async fn the_npm_clients_call_every_operation() {
    assert_eq!(call_every_operation(LOCKED).await, None, "they have no method that deletes secrets");
}

#[tokio::test]
async fn the_newest_npm_clients_call_every_operation() {
    let deleted = json!(["ACTIVITY_STATUS_COMPLETED", {"deleteSecretsResult": {"secretIds": ["<secret>"]}}, {"secrets": []}]);
    assert_eq!(call_every_operation(NEWEST).await, Some(deleted));
}

/// Returns what was observed when secrets were deleted, if the clients can do that.
async fn call_every_operation((name, node): (&str, &[&str])) -> Option<Value> {
    let mailbox = Mailbox::start(0);
    let options = Options::quorum(1, 2).with_mail(mailbox.url());
    let program = [node, &["catalogue.mjs"]].concat();
    let (_daemon, mut seen) = third_party::run_on(options, name, &program, &[mailbox.folder()]).await;
    let receivers: Vec<_> = (0..9).flat_map(|_| mailbox.next().to).collect();
    let (signer, factor) = ("signer@example.org", "factor@example.org");
    let others = ["newcomer@example.org", factor, factor, "guest@example.org"];
    assert_eq!(receivers, [[signer; 5].as_slice(), &others].concat());

    let coverage = seen["coverage"].take();
    let mut expected: Value =
        serde_json::from_str(include_str!("../clients/npm/catalogue.json")).expect("JSON");
    expected["coverage"] = Value::Null;
    let deleted = seen["secrets"].as_object_mut().expect("an object").remove("deleted");
    for (part, seen) in seen.as_object().expect("parts") {
        assert_eq!(*seen, expected[part], "{part}");
    }
    assert_eq!(seen, expected, "all parts are present");

    // Every operation with a method is called through it, with @turnkey/http for what the other package
    // lacks.
    let offered = third_party::offered();
    let reached = all_called(&coverage["sdk-server"], &offered);
    assert!(reached.len() >= 80, "sdk-server has methods for the offered operations: {reached:#?}");
    let rest: BTreeSet<_> = offered.difference(&reached).cloned().collect();
    all_called(&coverage["http"], &rest);
    let called: BTreeSet<String> =
        serde_json::from_value(coverage["sdk-server"]["called"].clone()).expect("methods");
    let (_, documented) = documented_methods();
    assert_eq!(documented.difference(&called).collect::<Vec<_>>(), [""; 0], "are documented and not called");
    deleted
}

/// Returns the methods that the book names for the flows of sign-in: those of `@turnkey/core`, and those of the other
/// clients. Each flow has at least one.
fn documented_methods() -> (BTreeSet<String>, BTreeSet<String>) {
    let page = std::fs::read_to_string(book::root().join("docs/src/guides/sign-in.md")).expect("the page");
    let rows = page.lines().skip_while(|line| !line.starts_with("| flow | activities | methods |")).skip(2);
    let cells =
        rows.take_while(|row| row.starts_with('|')).map(|row| row.split(" | ").nth(2).unwrap_or_default());
    let (mut core, mut others) = (BTreeSet::new(), BTreeSet::new());
    for cell in cells {
        let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "a flow without a method: {cell}");
        for name in names {
            let (path, method) = name.rsplit_once('.').unwrap_or(("", name));
            let methods = if path.starts_with("core") { &mut core } else { &mut others };
            methods.insert(method.to_owned());
        }
    }
    assert!(core.len() >= 5 && others.len() >= 13, "{core:?} {others:?}");
    (core, others)
}

/// The other clients report at run time which methods were called, see `call_every_operation`.
#[test]
fn the_documented_methods_of_core_are_called() {
    let programs = ["core.mjs", "core_oauth2.mjs", "core_phone.mjs"];
    let read = |name: &&str| {
        let path = quorate_tests::paths::clients().join("npm/newest").join(name);
        std::fs::read_to_string(path).expect("a program")
    };
    let text: String = programs.iter().map(read).collect();
    let (documented, _) = documented_methods();
    for method in documented {
        assert!(text.contains(&format!(".{method}(")), "{method} is documented and not called");
    }
}

#[tokio::test]
async fn the_newest_browser_clients_sign_in() {
    let mailbox = Mailbox::start(0);
    let options = Options::quorum(1, 1).with_mail(mailbox.url());
    let (name, node) = NEWEST;
    let program = [node, &["newest/browser.mjs"]].concat();
    let (_daemon, seen) = third_party::run_on(options, name, &program, &[mailbox.folder()]).await;
    let submitted = "Turnkey error 16: cannot authenticate public API activity request without a stamp \
        (X-Stamp/X-Stamp-Webauthn header)";
    let expected = json!({
        "core": {"credential": true, "verified": true, "whoami": "<user>",
            "session": ["<user>", "<organization>", "SESSION_TYPE_READ_WRITE"]},
        "code": {"contact": "browser@example.org", "whoami": "<user>"},
        "recovery": {"whoami": "<user>"},
        "readOnly": {"whoami": "<user>",
            "submitted": {"name": "TurnkeyRequestError", "code": 16, "message": submitted}},
    });
    assert_eq!(seen, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_npm_clients_sign_up_by_sms() {
    for (name, node) in [LOCKED, NEWEST] {
        let gateway = Receiver::start().await;
        let messages = tempfile::tempdir().expect("a folder");
        let options = Options::quorum(1, 1).with_sms(gateway.url(""));
        let task = tokio::spawn(forward(gateway, messages.path().to_owned()));
        let program = [node, &["phone.mjs"]].concat();
        let (_daemon, seen) = third_party::run_on(options, name, &program, &[messages.path()]).await;
        task.await.expect("one SMS was sent");
        let token = ["+491701234567", "OTP_TYPE_SMS"];
        let expected = json!({"before": [], "token": token, "found": ["<by phone>"], "verified": true, "whoami": "<user>"});
        assert_eq!(seen, expected, "{name}");
    }
}

/// Waits for an SMS, and stores its code where the program expects it, as the mail server does.
async fn forward(gateway: Receiver, folder: PathBuf) {
    let deliveries = gateway.until("an SMS", |deliveries| !deliveries.is_empty()).await;
    let (_, code) = deliveries[0].body.as_str().expect("a form").split_once("Code%3A+").expect("a code");
    let code: String = code.chars().take_while(char::is_ascii_alphanumeric).collect();
    let (draft, message) = (folder.join("draft"), folder.join("1.json"));
    std::fs::write(&draft, json!({"text": format!("    {code}\n")}).to_string()).expect("a file");
    std::fs::rename(draft, message).expect("the file can be renamed");
}

/// Asserts that exactly the methods for these operations were called, and returns the operations that have
/// one.
fn all_called(library: &Value, operations: &BTreeSet<String>) -> BTreeSet<String> {
    let has = library["has"].as_object().expect("methods");
    let path = |method: &str| has[method].as_str().expect("a path").to_owned();
    let expected: BTreeSet<_> =
        has.keys().filter(|method| operations.contains(&path(method))).cloned().collect();
    let called: BTreeSet<String> = serde_json::from_value(library["called"].clone()).expect("methods");
    assert_eq!(expected.difference(&called).collect::<Vec<_>>(), [""; 0], "are not called");
    assert_eq!(called.difference(&expected).collect::<Vec<_>>(), [""; 0], "have no offered operation");
    expected.iter().map(|method| path(method)).collect()
}

fn assert_error(seen: &Value, code: i64, message: &str) {
    assert_eq!(seen["name"], "TurnkeyRequestError", "{seen:#}");
    assert_eq!(seen["code"], code, "{seen:#}");
    assert!(seen["message"].as_str().is_some_and(|text| text.starts_with(message)), "{seen:#}");
}
