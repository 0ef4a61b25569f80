//! A PKCS #11 token signs.

use quorate_tests::daemon::Daemon;
use quorate_tests::operator::Operator;
use quorate_tests::soft_token::SoftTokens;
use serde_json::Value;

use super::{
    answer_challenge, approve, assert_executed, assert_unvoted, daemon, leave_review, listed, propose,
    register,
};
use crate::console::type_like_a_person;
use crate::screen::Screen;

pub(super) fn operator(daemon: &Daemon, tokens: &SoftTokens) -> Operator {
    let bob = Operator::root(daemon, 1).with_variable("SOFTHSM2_CONF", tokens.configuration());
    bob.configure(&format!("pkcs11_module = \"{}\"\n", tokens.module().display()));
    bob
}

fn pin() -> String {
    format!("{}\n", SoftTokens::PIN)
}

/// Returns a console of this size that waits for the PIN of the token's key, with which it approves a request: the daemon, the
/// key, the request and the console.
pub(super) async fn challenged(tokens: &SoftTokens, size: (u16, u16)) -> (Daemon, Value, Value, Screen) {
    let daemon = daemon().await;
    let key = listed(&operator(&daemon, tokens), "treasury").await;
    register(&daemon, &key).await;
    let pending = propose(&daemon, "by token").await;
    let bob = operator(&daemon, tokens).with_key(&daemon, 1, "pkcs11:treasury/mira");
    let mut screen = Screen::sized(bob, size);
    answer_challenge(&mut screen, &pending, "by token").await;
    (daemon, key, pending, screen)
}

#[tokio::test]
async fn a_key_of_a_token_approves_by_command() {
    let Some(tokens) = SoftTokens::new() else { return };
    tokens.create("treasury");
    tokens.add_key("treasury", "mira 2026", "a1", "P-256");
    let daemon = daemon().await;
    let key = listed(&operator(&daemon, &tokens), "treasury").await;
    assert_eq!(key["name"], "pkcs11:treasury/mira 2026");
    register(&daemon, &key).await;
    for name in ["first", "second"] {
        let pending = propose(&daemon, name).await;
        let bob = operator(&daemon, &tokens).with_key(&daemon, 1, "pkcs11:treasury/mira 2026");
        let _ = approve(&bob, &pending, &pin()).await.with(0);
        assert_executed(&daemon, &pending, &key["publicKey"]).await;
    }
}

#[tokio::test]
async fn a_key_of_a_token_approves_in_the_console() {
    let Some(tokens) = SoftTokens::new() else { return };
    tokens.create("treasury");
    tokens.add_key("treasury", "mira", "a1", "P-256");
    let (daemon, key, pending, mut screen) = challenged(&tokens, (120, 36)).await;
    screen.shows("PIN for key pkcs11:treasury/mira").await;
    type_like_a_person(&mut screen, "9999\r").await;
    screen.shows("wrong PIN of token treasury").await;
    // Pasted, as from a password manager.
    screen.press(&format!("\u{1b}[200~{}\u{1b}[201~", SoftTokens::PIN));
    screen.press("\r");
    screen.shows("Vote recorded").await;
    assert!(!screen.text().contains(SoftTokens::PIN));
    assert_executed(&daemon, &pending, &key["publicKey"]).await;
    screen.shows("UNLOCKED").await;

    // A locked key is logged out: the token checks the PIN again.
    screen.press("\u{c}");
    screen.shows("the key was locked").await;
    leave_review(&mut screen).await;
    let pending = propose(&daemon, "without token").await;
    screen.shows("without token").await;
    answer_challenge(&mut screen, &pending, "without token").await;
    screen.shows("PIN for key pkcs11:treasury/mira").await;
    type_like_a_person(&mut screen, "9999\r").await;
    screen.shows("wrong PIN of token treasury").await;
    tokens.remove("treasury");
    type_like_a_person(&mut screen, &pin().replace('\n', "\r")).await;
    screen
        .until("an error of the token", |text| text.contains("token treasury") && !text.contains("wrong PIN"))
        .await;
    assert_unvoted(&daemon, &pending).await;
}

#[tokio::test]
async fn each_error_of_a_token_has_its_own_message() {
    let Some(tokens) = SoftTokens::new() else { return };
    let daemon = daemon().await;
    let pending = propose(&daemon, "errors").await;
    let check = async |selector: &str, input: &str, code: i32, text: &str| {
        let bob = operator(&daemon, &tokens).with_key(&daemon, 1, selector);
        let ended = approve(&bob, &pending, input).await.with(code);
        assert!(ended.stderr.contains(text), "{selector}: {ended:?}");
        assert!(!ended.stderr.contains(SoftTokens::PIN), "{ended:?}");
    };
    check("pkcs11:treasury/mira", &pin(), 3, "no token is labelled treasury").await;
    tokens.create("treasury");
    check("pkcs11:treasury/mira", &pin(), 3, "token treasury has no public key labelled mira").await;
    tokens.add_key("treasury", "mira", "a1", "P-256");
    check("pkcs11:treasury/mira", &pin(), 4, "is not an API key of user").await;
    register(&daemon, &listed(&operator(&daemon, &tokens), "treasury").await).await;
    check("pkcs11:treasury/mira", "123123\n", 4, "wrong PIN of token treasury").await;
    check("pkcs11:treasury/mira", "1\n", 4, "wrong PIN of token treasury").await;
    check("pkcs11:treasury", &pin(), 2, "use pkcs11:TOKEN/LABEL").await;
    tokens.add_key("treasury", "large", "b1", "P-384");
    check("pkcs11:treasury/large", &pin(), 2, "only keys on the curve P-256").await;
    tokens.add_key("treasury", "mira", "a2", "P-256");
    check("pkcs11:treasury/mira", &pin(), 2, "2 keys of token treasury are labelled mira").await;
    tokens.create("treasury");
    check("pkcs11:treasury/mira", &pin(), 2, "2 tokens are labelled treasury").await;

    let bob = Operator::root(&daemon, 1).with_key(&daemon, 1, "pkcs11:treasury/mira");
    let ended = approve(&bob, &pending, &pin()).await.with(2);
    assert!(ended.stderr.contains("set pkcs11_module in config.toml"), "{ended:?}");
    for (path, code, text) in [
        ("/nonexistent.so", 1, "PKCS #11 module /nonexistent.so: "),
        ("/etc/passwd", 1, "PKCS #11 module /etc/passwd: "),
        ("libsofthsm2.so", 2, "not an absolute path"),
    ] {
        bob.configure(&format!("pkcs11_module = {path:?}\n"));
        let ended = approve(&bob, &pending, &pin()).await.with(code);
        assert!(ended.stderr.contains(text), "{ended:?}");
    }
    assert_unvoted(&daemon, &pending).await;
}
