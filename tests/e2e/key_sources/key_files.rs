//! The commands for key files.

use std::os::unix::fs::PermissionsExt;

use quorate_tests::operator::Operator;

use super::{answer_challenge, approve, assert_unvoted, daemon, propose, register};
use crate::console::type_like_a_person;
use crate::screen::Screen;

const PHRASE: &str = "correct horse battery staple\n";

#[tokio::test]
async fn a_name_is_checked_before_a_passphrase_is_chosen() {
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1);
    let _ = bob.run_raw(&["key", "add", "laptop"], PHRASE).await.with(0);
    // Without any input, a prompt would report that there is no terminal.
    for (name, code, text) in [
        ("laptop", 1, "laptop.key: already exists"),
        ("file:laptop", 1, "laptop.key: already exists"),
        ("../laptop", 2, "invalid key name"),
        ("agent:laptop", 2, "agent:laptop is not a key file"),
        ("new", 2, "no terminal to prompt for the passphrase"),
    ] {
        let ended = bob.run_raw(&["key", "add", name], "").await.with(code);
        assert!(ended.stderr.contains(text), "{name}: {ended:?}");
    }
}

#[tokio::test]
async fn a_key_file_is_deleted_once_its_name_is_typed() {
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1);
    for name in ["laptop", "tablet"] {
        let _ = bob.run_raw(&["key", "add", name], PHRASE).await.with(0);
    }
    for (name, input, code, text) in [
        ("laptop", "", 2, "the name differs; the key was not deleted"),
        ("laptop", "y\n", 2, "the name differs; the key was not deleted"),
        ("laptop", "tablet\n", 2, "the name differs; the key was not deleted"),
        ("phone", "phone\n", 3, "no key is named phone"),
        ("../laptop", "../laptop\n", 2, "invalid key name"),
        ("agent:laptop", "agent:laptop\n", 2, "such as ssh-add -d"),
    ] {
        let ended = bob.run_raw(&["key", "rm", name], input).await.with(code);
        assert!(ended.stderr.contains(text), "{name} {input:?}: {ended:?}");
    }
    assert_eq!(bob.run_raw(&["--json", "key", "ls"], "").await.with(0).lines().len(), 2);
    let _ = bob.run_raw(&["key", "rm", "laptop"], "laptop\n").await.with(0);
    let left = bob.run_raw(&["--json", "key", "ls"], "").await.with(0).json();
    assert_eq!(left["name"], "tablet");
    // A file that cannot be used can be deleted as well.
    let path = bob.home().join("config/quorate/keys/tablet.key");
    std::fs::write(&path, b"damaged").expect("a file");
    let _ = bob.run_raw(&["key", "rm", "file:tablet"], "tablet\n").await.with(0);
    assert!(!path.exists());
}

#[tokio::test]
async fn a_key_file_that_others_can_read_is_refused() {
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1);
    let key = bob.run_raw(&["--json", "key", "add", "laptop"], PHRASE).await.with(0).json();
    register(&daemon, &key).await;
    let pending = propose(&daemon, "permissions").await;
    let path = bob.home().join("config/quorate/keys/laptop.key");
    let bob = bob.with_key(&daemon, 1, "laptop");
    for mode in [0o601, 0o610, 0o640, 0o666] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).expect("the mode");
        let ended = approve(&bob, &pending, PHRASE).await.with(4);
        assert!(ended.stderr.contains("other users can access it"), "{mode:o}: {ended:?}");
    }
    assert_unvoted(&daemon, &pending).await;
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("the mode");
    let _ = approve(&bob, &pending, PHRASE).await.with(0);
}

/// The passphrase is checked on another thread, slowly on purpose.
#[tokio::test]
async fn a_key_that_is_locked_while_its_passphrase_is_checked_is_shown_as_locked() {
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1);
    let key = bob.run_raw(&["--json", "key", "add", "laptop"], PHRASE).await.with(0).json();
    register(&daemon, &key).await;
    let pending = propose(&daemon, "meanwhile").await;
    let mut screen = Screen::open(bob.with_key(&daemon, 1, "file:laptop"));
    answer_challenge(&mut screen, &pending, "meanwhile").await;
    screen.shows("Passphrase for key").await;
    type_like_a_person(&mut screen, &PHRASE.replace('\n', "\r")).await;
    screen.shows("Waiting for the signature").await;
    drop(screen.operator().run_raw(&["key", "lock"], "").await.with(0));
    screen.shows("Vote recorded").await;
    screen.shows("laptop locked").await;
}
