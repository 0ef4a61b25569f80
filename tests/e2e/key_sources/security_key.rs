//! A FIDO2 security key signs, with its PIN and a touch.

use quorate_tests::daemon::Daemon;
use quorate_tests::operator::{Ended, Operator};
use serde_json::{Value, json};

use super::soft_security_key::SoftSecurityKey;
use super::{answer_challenge, approve, assert_executed, assert_unvoted, daemon, leave_review, propose};
use crate::console::type_like_a_person;
use crate::screen::Screen;

fn operator(daemon: &Daemon, key: &SoftSecurityKey) -> Operator {
    let bob = Operator::root(daemon, 1);
    configure(&bob, key);
    bob
}

fn configure(operator: &Operator, key: &SoftSecurityKey) {
    operator.configure(&format!("security_key = \"{}\"\n", key.socket().display()));
}

fn pin() -> String {
    format!("{}\n", SoftSecurityKey::PIN)
}

/// Creates the key `fido2:mira` with these further arguments.
async fn create(operator: &Operator, arguments: &[&str], input: &str) -> Ended {
    let words = [&["--json", "key", "add", "fido2:mira"], arguments].concat();
    operator.run_raw(&words, input).await
}

/// Registers the key for the second root user.
async fn register(daemon: &Daemon, operator: &Operator) {
    let registration = operator.run_raw(&["key", "registration", "fido2:mira"], "").await.with(0).output;
    let file = operator.home().join("mira.json");
    std::fs::write(&file, registration).expect("a file");
    let (file, user) = (file.to_str().expect("a path in UTF-8"), format!("userId={}", daemon.root_id(1)));
    let words = [
        "propose",
        "create-authenticators",
        "--file",
        file,
        "--set",
        &user,
        "--allow-flag",
        "credential-for-root-user",
    ];
    let proposed = operator.run(&words).await.with(0).json();
    assert_eq!(proposed["outcome"], "executed", "{proposed:#}");
}

/// Starts a daemon whose second root user has a key on this security key. Returns the public key as well.
async fn registered(key: &SoftSecurityKey) -> (Daemon, Operator, Value) {
    let daemon = daemon().await;
    let bob = operator(&daemon, key);
    let created = create(&bob, &[], &pin()).await.with(0).json();
    register(&daemon, &bob).await;
    let bob = bob.with_key(&daemon, 1, "fido2:mira");
    (daemon, bob, created["publicKey"].clone())
}

#[tokio::test]
async fn the_security_key_of_the_tests_works_with_another_client() {
    let key = SoftSecurityKey::attach().await;
    let expected =
        json!({"userVerified": true, "other": "NO_CREDENTIALS", "wrong": "PIN_INVALID", "retries": 7});
    assert_eq!(key.observe_with_fido2(), json!([expected, expected]));
}

#[tokio::test]
async fn a_security_key_proposes_and_approves_by_command() {
    let pin_alone = [SoftSecurityKey::PIN];
    let variants = [&pin_alone[..], &[SoftSecurityKey::PIN, "2.0"], &[SoftSecurityKey::PIN, "device"]];
    for variant in variants {
        let key = SoftSecurityKey::attach_as(variant).await;
        let (daemon, bob, public_key) = registered(&key).await;
        for name in ["first", "second"] {
            let pending = propose(&daemon, name).await;
            let ended = approve(&bob, &pending, &pin()).await.with(0);
            assert!(ended.stderr.contains("touch the security key"), "{ended:?}");
            assert_executed(&daemon, &pending, &public_key).await;
        }
        let mut words = bob.identity();
        let proposal = ["--json", "propose", "create-wallet", "--set", "walletName=by key"];
        words.extend(proposal.map(str::to_owned));
        let _ = bob.run_raw(&words, &pin()).await.with(5);
    }
}

#[tokio::test]
async fn a_security_key_approves_in_the_console() {
    let mut key = SoftSecurityKey::attach().await;
    let (daemon, bob, public_key) = registered(&key).await;
    let pending = propose(&daemon, "by touch").await;
    let mut screen = Screen::open(bob);
    answer_challenge(&mut screen, &pending, "by touch").await;
    screen.shows("PIN for key fido2:mira").await;
    type_like_a_person(&mut screen, "9999\r").await;
    screen.shows("wrong PIN of the security key; 7 tries are left").await;
    key.set("ignore").await;
    screen.press(&format!("\u{1b}[200~{}\u{1b}[201~", SoftSecurityKey::PIN));
    screen.press("\r");
    screen.shows("Touch the security key").await;
    key.reports("waiting").await;
    type_like_a_person(&mut screen, "\u{1b}").await;
    screen.shows("cancelled: nothing was sent").await;
    key.reports("cancelled").await;
    assert_unvoted(&daemon, &pending).await;

    key.set("touch").await;
    screen.press("a");
    screen.until("the challenge", |text| text.contains("Enter works")).await;
    type_like_a_person(&mut screen, "y\t\r").await;
    screen.shows("PIN for key fido2:mira").await;
    type_like_a_person(&mut screen, &pin().replace('\n', "\r")).await;
    screen.shows("Vote recorded").await;
    assert!(!screen.text().contains(SoftSecurityKey::PIN));
    assert_executed(&daemon, &pending, &public_key).await;
    screen.shows("UNLOCKED").await;

    // The PIN is remembered until the key is locked, a touch is needed each time.
    leave_review(&mut screen).await;
    let pending = propose(&daemon, "touched again").await;
    screen.shows("touched again").await;
    answer_challenge(&mut screen, &pending, "touched again").await;
    key.reports("waiting").await;
    screen.shows("Vote recorded").await;
    assert_executed(&daemon, &pending, &public_key).await;
    screen.press("\u{c}");
    screen.shows("the key was locked").await;
}

#[tokio::test]
async fn a_security_key_approves_at_each_size() {
    for size in [(120, 36), (80, 24), (40, 12)] {
        let key = SoftSecurityKey::attach().await;
        let (daemon, bob, public_key) = registered(&key).await;
        let pending = propose(&daemon, "by touch").await;
        let mut screen = Screen::sized(bob, size);
        answer_challenge(&mut screen, &pending, "by touch").await;
        screen.shows("PIN for key").await;
        type_like_a_person(&mut screen, &pin().replace('\n', "\r")).await;
        screen.shows("Vote recorded").await;
        assert_executed(&daemon, &pending, &public_key).await;
    }
}

#[tokio::test]
async fn each_error_of_a_security_key_has_its_own_message() {
    let mut key = SoftSecurityKey::attach().await;
    let (daemon, bob, _) = registered(&key).await;
    let pending = propose(&daemon, "errors").await;
    let check = async |input: &str, code: i32, text: &str| {
        let ended = approve(&bob, &pending, input).await.with(code);
        assert!(ended.stderr.contains(text), "{text}: {ended:?}");
        assert!(!ended.stderr.contains(SoftSecurityKey::PIN), "{ended:?}");
    };
    check("123\n", 4, "the PIN of a security key has 4 to 63 characters").await;
    check("1234\n", 4, "wrong PIN of the security key; 7 tries are left before it is blocked").await;
    key.set("ignore").await;
    check(&pin(), 4, "the security key was not touched in time; nothing was sent").await;
    key.set("deny").await;
    check(&pin(), 4, "the request was denied on the security key").await;
    key.set("forge").await;
    check(&pin(), 7, "does not verify under the selected key; nothing was sent").await;
    key.set("pull").await;
    check(&pin(), 3, "the security key was removed; nothing was sent").await;
    key.set("touch").await;
    for tries in [7, 6] {
        check("1234\n", 4, &format!("{tries} tries are left")).await;
    }
    check("1234\n", 4, "too many wrong PINs in succession: remove the security key").await;
    check(&pin(), 4, "too many wrong PINs in succession").await;
    for _ in 0..2 {
        key.set("power").await;
        check("1234\n", 4, "are left before it is blocked").await;
        check("1234\n", 4, " left before it is blocked").await;
        key.set("power").await;
    }
    check("1234\n", 4, "the PIN of the security key is blocked").await;
    check(&pin(), 4, "the PIN of the security key is blocked").await;
    key.set("forget").await;
    check(&pin(), 3, "no attached security key has the key mira: attach the one that it was created on")
        .await;
    drop(key);
    check(&pin(), 3, " is not attached").await;
    assert_unvoted(&daemon, &pending).await;
}

#[tokio::test]
async fn keys_are_created_with_pin_and_touch_only() {
    let mut key = SoftSecurityKey::attach().await;
    let daemon = daemon().await;
    let bob = operator(&daemon, &key);
    let check = async |arguments: &[&str], input: &str, code: i32, text: &str| {
        let ended = create(&bob, arguments, input).await.with(code);
        assert!(ended.stderr.contains(text), "{text}: {ended:?}");
    };
    check(&["--relying-party", "Example.org"], &pin(), 2, "expected a domain name").await;
    check(&["--origin", "https://example.org"], &pin(), 2, "expected https:// and quorate.invalid").await;
    check(&[], "1234\n", 4, "wrong PIN of the security key").await;
    key.set("deny").await;
    check(&[], &pin(), 4, "the request was denied on the security key").await;
    key.set("touch").await;
    let created = create(&bob, &["--relying-party", "keys.example.org"], &pin()).await.with(0).json();
    assert_eq!(created["name"], "fido2:mira");
    check(&[], &pin(), 1, "exists").await;
    let rows = bob.run_raw(&["--json", "key", "ls"], "").await.with(0).lines();
    assert_eq!(rows, [json!({"name": "fido2:mira", "curve": "p256", "publicKey": created["publicKey"]})]);
    let bob = bob.with_key(&daemon, 1, "fido2:mira");
    let pending = propose(&daemon, "unregistered").await;
    let ended = approve(&bob, &pending, &pin()).await.with(4);
    assert!(ended.stderr.contains("key \"fido2:mira\" is not a passkey of user"), "{ended:?}");
    let _ = bob.run_raw(&["key", "rm", "fido2:mira"], "fido2:mira\n").await.with(0);
    let ended = approve(&bob, &pending, &pin()).await.with(3);
    assert!(ended.stderr.contains("no key of a security key is named mira"), "{ended:?}");

    let without_pin = SoftSecurityKey::attach_as(&[""]).await;
    configure(&bob, &without_pin);
    let ended = create(&bob, &[], &pin()).await.with(2);
    assert!(ended.stderr.contains("has no PIN: set one"), "{ended:?}");
}

#[tokio::test]
async fn the_key_of_another_user_is_refused() {
    let key = SoftSecurityKey::attach().await;
    let (daemon, bob, _) = registered(&key).await;
    let pending = propose(&daemon, "borrowed").await;
    // The third root user has the record of the second one, and the security key.
    let carol = bob.with_key(&daemon, 2, "fido2:mira");
    let ended = approve(&carol, &pending, &pin()).await.with(4);
    assert!(ended.stderr.contains("is not a passkey of user"), "{ended:?}");
    assert_unvoted(&daemon, &pending).await;
}

#[tokio::test]
async fn the_origin_must_be_one_that_the_organization_accepts() {
    let key = SoftSecurityKey::attach().await;
    let (daemon, bob, public_key) = registered(&key).await;
    let pending = propose(&daemon, "origins").await;
    let allow = async |origin: &str| {
        let parameters = json!({"allowedOrigins": [origin]});
        let waiting = daemon.root(0).waiting("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &parameters).await;
        daemon.root(2).approved(&waiting["fingerprint"]).await;
    };
    allow("https://keys.example.org").await;
    let ended = approve(&bob, &pending, &pin()).await.with(4);
    assert!(ended.stderr.contains("WebAuthN"), "{ended:?}");
    assert_unvoted(&daemon, &pending).await;
    allow("https://quorate.invalid").await;
    let _ = approve(&bob, &pending, &pin()).await.with(0);
    assert_executed(&daemon, &pending, &public_key).await;
}
