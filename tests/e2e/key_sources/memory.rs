//! The memory of the console has an unlocked key only until it is locked, and never a passphrase afterwards.

use std::time::Instant;

use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use quorate_tests::daemon::{Daemon, POLL_INTERVAL};
use quorate_tests::http::TIMEOUT;
use quorate_tests::memory::count;
use quorate_tests::operator::Operator;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{answer_challenge, assert_executed, daemon, leave_review, propose, register};
use crate::console::type_like_a_person;
use crate::screen::{Screen, Setup};

const PASSPHRASE: &str = "xylophone quartz 7 vexing";

/// Decrypts a key file, as its format is documented.
fn secret(operator: &Operator, name: &str) -> Vec<u8> {
    let path = operator.home().join("config/quorate/keys").join(format!("{name}.key"));
    let file: Value = serde_json::from_slice(&std::fs::read(path).expect("a key file")).expect("JSON");
    let text = |member: &str| file[member].as_str().expect("a text").to_owned();
    let number = |member: &str| u32::try_from(file[member].as_u64().expect("a number")).expect("a small one");
    let (memory, passes, lanes) = (number("memoryKib"), number("passes"), number("lanes"));
    let mut key = [0; 32];
    let params = Params::new(memory, passes, lanes, Some(32)).expect("parameters");
    let salt = const_hex::decode(text("salt")).expect("hex");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(PASSPHRASE.as_bytes(), &salt, &mut key)
        .expect("Argon2id");
    let (public, salt) = (text("publicKey"), text("salt"));
    let aad = format!("quorate key 1 ed25519 {public} {memory} {passes} {lanes} {salt}");
    let nonce = const_hex::decode_to_array(text("nonce")).expect("hex");
    let mut bytes = const_hex::decode(text("secret")).expect("hex");
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).expect("a key"));
    let plain = key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(aad), &mut bytes);
    plain.expect("the passphrase").to_vec()
}

/// Returns whether this user may read the memory of a process.
fn is_searchable(process: Pid) -> bool {
    let is_searchable = count(process, b"quorate").is_some();
    if !is_searchable {
        eprintln!("SKIPPED: the memory of the console is protected from this user; root can search it");
    }
    is_searchable
}

/// Returns Bob with the registered key file `laptop`, the description of that key, and its secret.
async fn laptop(daemon: &Daemon) -> (Operator, Value, Vec<u8>) {
    let bob = Operator::root(daemon, 1);
    let create = ["--json", "key", "add", "laptop", "--curve", "ed25519"];
    let key = bob.run_raw(&create, &format!("{PASSPHRASE}\n")).await.with(0).json();
    register(daemon, &key).await;
    let secret = secret(&bob, "laptop");
    (bob, key, secret)
}

/// Returns the state of a process: `T` if it is stopped.
fn state(process: Pid) -> String {
    let stat =
        std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).expect("a process");
    let (_, rest) = stat.rsplit_once(") ").expect("a state");
    rest.chars().take(1).collect()
}

#[tokio::test]
async fn a_locked_key_leaves_no_bytes_in_memory() {
    let daemon = daemon().await;
    let (bob, key, secret) = laptop(&daemon).await;
    let mut screen = Screen::open(bob.with_key(&daemon, 1, "file:laptop"));
    let process = screen.process_id();
    if !is_searchable(process) {
        return;
    }
    for how in ["key lock", "suspend", "Ctrl-L"] {
        let pending = propose(&daemon, how).await;
        answer_challenge(&mut screen, &pending, how).await;
        screen.shows("Passphrase for key").await;
        type_like_a_person(&mut screen, PASSPHRASE).await;
        assert!(!screen.text().contains("quartz"), "{}", screen.text());
        screen.press("\r");
        screen.shows("Vote recorded").await;
        assert_executed(&daemon, &pending, &key["publicKey"]).await;
        screen.shows("UNLOCKED").await;
        assert_ne!(count(process, &secret), Some(0), "the search finds an unlocked key");
        match how {
            "key lock" => {
                let _ = screen.operator().run_raw(&["key", "lock"], "").await.with(0);
                screen.shows("the key was locked by `quorate key lock`").await;
            }
            "suspend" => {
                kill_process(process, Signal::TSTP).expect("the console runs");
                let deadline = Instant::now() + TIMEOUT;
                while state(process) != "T" {
                    assert!(Instant::now() < deadline, "the console did not stop in time");
                    tokio::time::sleep(POLL_INTERVAL).await;
                }
            }
            _ => {
                screen.press("\u{c}");
                screen.shows("the key was locked").await;
            }
        }
        assert_eq!(count(process, &secret), Some(0), "the secret after {how}");
        assert_eq!(count(process, PASSPHRASE.as_bytes()), Some(0), "the passphrase after {how}");
        if how == "suspend" {
            kill_process(process, Signal::CONT).expect("the console exists");
        }
        screen.shows("laptop locked").await;
        leave_review(&mut screen).await;
    }
}

#[tokio::test]
async fn a_key_that_is_locked_in_linear_mode_leaves_no_bytes_in_memory() {
    let daemon = daemon().await;
    let (bob, _, secret) = laptop(&daemon).await;
    let members: Vec<&str> = (0..3).map(|index| daemon.root_id(index)).collect();
    let quorum = json!({"threshold": 1, "userIds": members});
    let pending = daemon.root(0).waiting("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum).await;
    let setup = Setup { arguments: &["--linear"], environment: &[("TERM", "dumb")], ..Setup::default() };
    let mut screen = Screen::start(bob.with_key(&daemon, 1, "file:laptop"), setup);
    for (typed, shown) in [
        ("", "list lists what waits"),
        ("list\n", "Change root quorum"),
        ("review 1\n", "sha256 "),
        ("approve\n", "Type the NEW THRESHOLD"),
        ("1\n", "assphrase for key"),
        (&format!("{PASSPHRASE}\n"), "Vote recorded. It was executed."),
    ] {
        screen.press(typed);
        screen.wait_until(shown, |screen| String::from_utf8_lossy(&screen.output()).contains(shown)).await;
    }
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED");
    let process = screen.process_id();
    if !is_searchable(process) {
        return;
    }
    assert_ne!(count(process, &secret), Some(0), "the search finds an unlocked key");
    let _ = screen.operator().run_raw(&["key", "lock"], "").await.with(0);
    let deadline = Instant::now() + TIMEOUT;
    while count(process, &secret) != Some(0) {
        assert!(Instant::now() < deadline, "the key was not locked in time");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
