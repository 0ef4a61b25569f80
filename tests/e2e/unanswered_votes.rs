//! Votes whose answer is lost, held back or false, and consoles that end meanwhile: what is stated and stored in the journal is
//! never less than what may have happened.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::keys::Key;
use quorate_tests::operator::{Ended, Operator};
use quorate_tests::requests::{self, CREATE_API_KEYS, CREATE_WALLET};
use quorate_tests::tampering_proxy::{TamperingProxy, api_error, held, is_of_vote};
use quorate_tests::tls_terminator::TlsTerminator;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use crate::console::{digits, review, type_like_a_person};
use crate::policy_outcomes::{approve, text};
use crate::screen::{Screen, Setup};

const DELETE_API_KEYS: &str = "ACTIVITY_TYPE_DELETE_API_KEYS";

/// Starts a daemon with a quorum of two out of three.
async fn daemon() -> Daemon {
    Daemon::start(Options::quorum(2, 3)).await
}

/// Proposes a wallet with this name, for which one approval is missing.
async fn wallet(daemon: &Daemon, name: &str) -> Value {
    daemon.root(0).waiting(CREATE_WALLET, &requests::wallet(name)).await
}

/// Returns the second root user, through a terminator that changes answers.
async fn bob(
    daemon: &Daemon,
    tamper: impl Fn(&mut Value) + Send + Sync + 'static,
) -> (Operator, TlsTerminator) {
    let terminator = TlsTerminator::tampering(daemon.folder(), daemon.http(), tamper).await;
    let words = ["--url", &terminator.url(), "--pin", terminator.pin()];
    (Operator::root(daemon, 1).with_arguments(&words), terminator)
}

/// Returns the only decision in the journal.
async fn decision(operator: &Operator) -> Value {
    drop(operator.run(&["journal", "verify"]).await.with(0));
    let mut decisions = operator.run(&["journal", "ls"]).await.with(0).lines();
    assert_eq!(decisions.len(), 1, "{decisions:#?}");
    decisions.remove(0)
}

async fn assert_status(daemon: &Daemon, activity: &Value, status: &str) {
    let stored = daemon.root(0).activity(&activity["id"]).await;
    assert_eq!(stored["status"], format!("ACTIVITY_STATUS_{status}"), "{stored:#}");
}

fn states(ended: &Ended, words: &str) {
    assert!(ended.stderr.contains(words), "{words}: {ended:#?}");
    assert!(!ended.stderr.contains("nothing was"), "{ended:#?}");
}

fn journal(operator: &Operator) -> PathBuf {
    operator.home().join("state/quorate/journal.jsonl")
}

/// Proposes to delete the key of the second root user, who has another one.
async fn deletion(daemon: &Daemon) -> Value {
    let other = json!({"apiKeyName": "other", "publicKey": Key::named("other").public_key(),
        "curveType": "API_KEY_CURVE_P256"});
    daemon.root(1).completed(CREATE_API_KEYS, &requests::api_keys(daemon.root_id(1), &[other])).await;
    let key = &daemon.credentials().root_users[1].api_key_id;
    let parameters = json!({"userId": daemon.root_id(1), "apiKeyIds": [key]});
    daemon.root(0).waiting(DELETE_API_KEYS, &parameters).await
}

/// Returns a change that loses the first answer to a vote.
fn loses_first() -> impl Fn(&mut Value) + Send + Sync + 'static {
    let loses = AtomicBool::new(true);
    move |answer| {
        if is_of_vote(answer) && loses.swap(false, Ordering::SeqCst) {
            *answer = Value::Null;
        }
    }
}

/// The retry is refused because the vote was executed.
#[tokio::test]
async fn a_vote_that_deletes_its_own_key_is_not_refused_if_its_answer_is_lost() {
    let daemon = daemon().await;
    let (bob, _terminator) = bob(&daemon, loses_first()).await;
    let pending = deletion(&daemon).await;
    let ended = approve(&bob, &pending["id"]).await.with(8);
    states(&ended, "PUBLIC_KEY_NOT_FOUND");
    states(&ended, "was sent and may still count within an hour");
    assert_eq!(decision(&bob).await["outcome"], "no answer");
    assert_status(&daemon, &pending, "COMPLETED").await;
}

#[tokio::test]
async fn at_the_socket_the_record_shows_what_became_of_such_a_vote() {
    let daemon = daemon().await;
    let proxy = TamperingProxy::start(daemon.folder(), daemon.socket(), loses_first());
    let bob = Operator::root(&daemon, 1).through(proxy.socket());
    let pending = deletion(&daemon).await;
    let approved = approve(&bob, &pending["id"]).await.with(0).json();
    assert_eq!((&approved["vote"], &approved["outcome"]), (&json!("recorded"), &json!("executed")));
    assert_eq!(decision(&bob).await["outcome"], "executed");
}

#[tokio::test]
async fn a_false_error_is_noticed_in_the_record() {
    let daemon = daemon().await;
    let refuses = |answer: &mut Value| {
        if is_of_vote(answer) {
            *answer = api_error(7, 403);
        }
    };
    let (bob, _terminator) = bob(&daemon, refuses).await;
    let pending = wallet(&daemon, "refused").await;
    let ended = approve(&bob, &pending["id"]).await.with(0);
    states(&ended, "recorded although an error was answered: no permission (PermissionDenied)");
    assert_eq!(ended.json()["outcome"], "executed");
    assert_eq!(decision(&bob).await["outcome"], "executed");
}

/// Nobody signs an error, so it proves nothing.
#[tokio::test]
async fn an_error_that_cannot_be_checked_is_stated_as_an_answer() {
    let daemon = daemon().await;
    let cases = [
        (api_error(7, 403), 4, "the daemon answered that it refused the vote: no permission", "refused"),
        // After an error of the server nothing is known, whatever else the answer states.
        (api_error(7, 500), 1, "was sent and may still count within an hour", "no answer"),
        (api_error(8, 503), 1, "was sent and may still count within an hour", "no answer"),
        (api_error(12, 501), 1, "was sent and may still count within an hour", "no answer"),
    ];
    for (number, (error, code, words, outcome)) in cases.into_iter().enumerate() {
        let has_voted = AtomicBool::new(false);
        let refuses = move |answer: &mut Value| {
            if is_of_vote(answer) {
                has_voted.store(true, Ordering::SeqCst);
                *answer = error.clone();
            } else if has_voted.load(Ordering::SeqCst) {
                *answer = Value::Null;
            }
        };
        let (bob, _terminator) = bob(&daemon, refuses).await;
        let pending = wallet(&daemon, &format!("refused {number}")).await;
        let ended = approve(&bob, &pending["id"]).await.with(code);
        states(&ended, words);
        assert_eq!(decision(&bob).await["outcome"], outcome);
        assert_status(&daemon, &pending, "COMPLETED").await;
    }
}

#[tokio::test]
async fn a_vote_that_is_not_in_the_record_is_refused() {
    let daemon = daemon().await;
    let pending = wallet(&daemon, "foreseen").await;
    // The record stays that of before the vote.
    let is_vote = |answer: &mut Value| {
        if is_of_vote(answer) {
            *answer = api_error(7, 403);
        } else if let Some(votes) = answer.pointer_mut("/view/activity/votes").and_then(Value::as_array_mut) {
            votes.truncate(1);
        }
    };
    let (bob, _terminator) = bob(&daemon, is_vote).await;
    let ended = approve(&bob, &pending["id"]).await.with(4);
    states(&ended, "the record, read again, does not contain it");
    assert_eq!(decision(&bob).await["outcome"], "refused");
}

/// Returns a change that holds the answer to a vote back, and whether it holds one.
fn holds() -> (impl Fn(&mut Value) + Send + Sync + 'static, Arc<AtomicBool>) {
    let holding = Arc::new(AtomicBool::new(false));
    let state = Arc::clone(&holding);
    let tamper = move |answer: &mut Value| {
        if is_of_vote(answer) {
            *answer = held();
            state.store(true, Ordering::SeqCst);
        }
    };
    (tamper, holding)
}

#[tokio::test]
async fn a_command_that_ends_while_it_awaits_an_answer_states_what_is_known_of_the_vote() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let daemon = daemon().await;
        let (tamper, holding) = holds();
        let (bob, _terminator) = bob(&daemon, tamper).await;
        let pending = wallet(&daemon, "held").await;
        let words = ["approve", text(&pending["id"]), "--expect-sha256", text(&pending["fingerprint"])];
        let mut screen = Screen::start(bob, Setup { arguments: &words, ..Setup::default() });
        screen.wait_until("the vote", |_| holding.load(Ordering::SeqCst)).await;
        kill_process(screen.process_id(), signal).expect("the command runs");
        assert_eq!(screen.exit_code().await, 130, "{}", screen.text());
        screen.wait_until("the end", |screen| screen.text().contains("may have been sent")).await;
        assert_eq!(decision(screen.operator()).await["outcome"], "no answer");
        assert_status(&daemon, &pending, "COMPLETED").await;
    }
}

#[tokio::test]
async fn a_console_that_ends_while_it_awaits_an_answer_states_what_is_known_of_the_vote() {
    for signal in [None, Some(Signal::TERM), Some(Signal::HUP)] {
        let daemon = daemon().await;
        let (tamper, holding) = holds();
        let (bob, _terminator) = bob(&daemon, tamper).await;
        let pending = wallet(&daemon, "held").await;
        let mut screen = Screen::open(bob);
        review(&mut screen, "held").await;
        screen.press("a");
        let shown = screen.shows("Enter works once the answer is typed").await;
        let digits = digits(&pending);
        let answer = if shown.contains("LAST FOUR") { &digits[60..] } else { "y" };
        type_like_a_person(&mut screen, &format!("{answer}\r")).await;
        screen.wait_until("the vote", |_| holding.load(Ordering::SeqCst)).await;
        match signal {
            Some(signal) => kill_process(screen.process_id(), signal).expect("the console runs"),
            None => screen.press("\u{3}"),
        }
        assert_eq!(screen.exit_code().await, 0, "{}", screen.text());
        screen.wait_until("the end", |screen| screen.text().contains("may have been sent")).await;
        assert!(screen.is_restored());
        let entry = decision(screen.operator()).await;
        assert_eq!((&entry["outcome"], &entry["activityId"]), (&json!("no answer"), &pending["id"]));
        assert_status(&daemon, &pending, "COMPLETED").await;
    }
}

#[tokio::test]
async fn nothing_is_sent_that_the_journal_cannot_contain() {
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1);
    let pending = wallet(&daemon, "unwritten").await;
    let path = journal(&bob);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(&path, "").expect("a journal");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("a journal");
    let ended = approve(&bob, &pending["id"]).await.with(4);
    assert!(ended.stderr.contains("the journal cannot be written"), "{ended:#?}");
    assert!(ended.stderr.contains("chmod 600") && ended.stderr.contains("nothing was sent"), "{ended:#?}");
    // The console does not send it either.
    let mut screen = Screen::open(bob);
    review(&mut screen, "unwritten").await;
    screen.press("x");
    screen.shows("Enter works on a button only").await;
    type_like_a_person(&mut screen, "y\t\t\r").await;
    screen.shows("Nothing was sent: the journal cannot be written").await;
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "{stored:#}");
}

#[tokio::test]
async fn an_outcome_that_the_journal_cannot_contain_is_printed_with_a_warning() {
    let daemon = daemon().await;
    let bob = Operator::root(&daemon, 1);
    let path = journal(&bob);
    let opens = move |answer: &mut Value| {
        if is_of_vote(answer) {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644))
                .expect("the vote is in the journal");
        }
    };
    let terminator = TlsTerminator::tampering(daemon.folder(), daemon.http(), opens).await;
    let bob = bob.with_arguments(&["--url", &terminator.url(), "--pin", terminator.pin()]);
    let pending = wallet(&daemon, "late").await;
    let ended = approve(&bob, &pending["id"]).await.with(0);
    assert!(ended.stderr.contains("warning: the journal does not contain this"), "{ended:#?}");
    assert_eq!(ended.json()["outcome"], "executed");
    fs::set_permissions(journal(&bob), fs::Permissions::from_mode(0o600)).expect("a journal");
    assert_eq!(decision(&bob).await["outcome"], "no answer");
}
