//! `f24`: one-time codes and verification tokens under brute force, kills and clock jumps.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use quorate_tests::caller::{Caller, submit_path};
use quorate_tests::daemon::{Daemon, POLL_INTERVAL};
use quorate_tests::http::Reply;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::Mailbox;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::clock::shifted;
use crate::layer::Layer;
use crate::scenario::Scenario;

const INIT: &str = "ACTIVITY_TYPE_INIT_OTP";
const VERIFY: &str = "ACTIVITY_TYPE_VERIFY_OTP";
const LOGIN: &str = "ACTIVITY_TYPE_OTP_LOGIN";
const WRONG: &str = "Invalid OTP code";
/// Number of attempts in flight.
const WIDTH: usize = 48;
/// Number of logins at once with one token.
const LOGINS: usize = 24;
/// Number of attempts at one code.
const ATTEMPTS: usize = 3;
const MINUTE: i64 = 60_000;

/// Enables codes by mail.
async fn enable(root: &Caller) {
    let feature = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
}

/// Creates a user with this email address.
async fn create_user(root: &Caller, contact: &str) {
    let user = json!({"userName": contact, "userEmail": contact, "apiKeys": [], "authenticators": [],
        "oauthProviders": [], "userTags": []});
    root.completed("ACTIVITY_TYPE_CREATE_USERS_V3", &json!({"users": [user]})).await;
}

/// Requests a code by mail, and returns its id and the code.
async fn request(root: &Caller, mailbox: &Mailbox, contact: &str, shift: i64) -> (Value, String) {
    let sent =
        at(root, shift, INIT, &json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact})).await.result();
    // After a kill, an earlier mail may be sent again.
    let mut mail = mailbox.next();
    while mail.to != [contact] {
        mail = mailbox.next();
    }
    let code = mail.text.lines().find_map(|line| line.strip_prefix("    ")).expect("a code");
    (sent["otpId"].clone(), code.trim_end().to_owned())
}

/// Submits an activity with the daemon's time.
async fn at(caller: &Caller, shift: i64, kind: &str, parameters: &Value) -> Reply {
    caller.send(&submit_path(kind), &caller.proposal_at(&shifted(shift), kind, parameters)).await
}

/// Sends wrong codes until all numbers below `end` are used up, or no answer arrives.
async fn guess(root: &Caller, id: &Value, next: Arc<AtomicUsize>, end: usize, answered: Arc<AtomicUsize>) {
    let mut workers = JoinSet::new();
    for _ in 0..WIDTH {
        let (root, id) = (root.clone(), id.clone());
        let (next, answered) = (Arc::clone(&next), Arc::clone(&answered));
        workers.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= end {
                    return;
                }
                // No code contains the letter U.
                let wrong = json!({"otpId": id, "otpCode": format!("U{number:08}")});
                let body = root.proposal(VERIFY, &wrong);
                let Ok(reply) = root.try_send(&submit_path(VERIFY), &body).await else { return };
                assert_eq!(reply.expect_error(400, 3, ""), WRONG);
                answered.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    workers.join_all().await;
}

/// Returns the number of counted attempts at a code in the store of a stopped daemon.
fn counted(scenario: &Scenario, daemon: &Daemon, id: &Value) -> usize {
    let id = const_hex::decode(id.as_str().expect("an id").replace('-', "")).expect("an id");
    let of_id = |key: &[u8]| key.windows(id.len()).any(|part| part == id);
    let rows = scenario.engine().rows_of(daemon);
    rows.iter().filter(|(key, _)| key.starts_with(b"kt") && of_id(key)).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f24_wrong_codes_are_counted_across_a_kill() {
    let mut scenario = Scenario::begin("f24 wrong codes", 1_000, 10_000);
    let mailbox = Mailbox::start(0);
    let mut daemon = Daemon::start(scenario.engine().options(1, 1).with_mail(mailbox.url())).await;
    enable(&daemon.root(0)).await;
    let (id, code) = request(&daemon.root(0), &mailbox, "ann@example.org", 0).await;
    let (next, answered) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let guesses = scenario.rounds();
    scenario.step("guesses before the kill");
    let root = daemon.root(0);
    let guessing = tokio::spawn({
        let (id, next, answered) = (id.clone(), Arc::clone(&next), Arc::clone(&answered));
        async move { guess(&root, &id, next, guesses, answered).await }
    });
    while answered.load(Ordering::Relaxed) < guesses / 4 {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    daemon.kill();
    guessing.await.expect("no answer is unexpected");
    let before = answered.load(Ordering::Relaxed);
    daemon.restart().await;
    scenario.step("guesses after the kill");
    guess(&daemon.root(0), &id, next, guesses, Arc::clone(&answered)).await;
    daemon.kill();
    assert_eq!(counted(&scenario, &daemon, &id), ATTEMPTS);
    daemon.restart().await;
    let right = json!({"otpId": id, "otpCode": code});
    let late = daemon.root(0).submit(VERIFY, &right).await;
    assert_eq!(late.expect_error(400, 3, ""), WRONG);
    let after = answered.load(Ordering::Relaxed) - before;
    scenario.close(format!(
        "{before} wrong codes answered before the kill, {after} after it; {ATTEMPTS} counted, the right one refused"
    ));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f24_a_token_opens_one_session_across_a_kill() {
    let mut scenario = Scenario::begin("f24 logins", 2, 50);
    let mailbox = Mailbox::start(0);
    let mut daemon = Daemon::start(scenario.engine().options(1, 1).with_mail(mailbox.url())).await;
    enable(&daemon.root(0)).await;
    for round in 0..scenario.rounds() {
        scenario.step(format!("token {round}"));
        let contact = format!("user{round}@example.org");
        create_user(&daemon.root(0), &contact).await;
        let (id, code) = request(&daemon.root(0), &mailbox, &contact, 0).await;
        let token = accepted_once(&daemon.root(0), &id, &code).await;
        let login = |number: usize| {
            let key = Key::named(&format!("{round} {number}"));
            json!({"verificationToken": token, "publicKey": key.public_key()})
        };
        let replies = at_once(&daemon.root(0), LOGIN, (0..LOGINS).map(login)).await;
        daemon.kill();
        daemon.restart().await;
        let late = daemon.root(0).submit(LOGIN, &login(LOGINS)).await;
        let opened = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!(opened, 1, "one login");
        for refused in replies.iter().filter(|reply| reply.status != 200).chain([&late]) {
            assert_eq!(refused.expect_error(409, 6, ""), "verification token has already been used");
        }
    }
    let tokens = scenario.rounds();
    scenario.close(format!(
        "{tokens} tokens, each opened one of {LOGINS} sessions at once and none after a kill"
    ));
}

/// Sends a right code several times at once. Returns the only token.
async fn accepted_once(root: &Caller, id: &Value, code: &str) -> String {
    let right = json!({"otpId": id, "otpCode": code});
    let replies = at_once(root, VERIFY, std::iter::repeat_n(right, ATTEMPTS)).await;
    let (accepted, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    let shown = || replies.iter().map(ToString::to_string).collect::<String>();
    assert_eq!(accepted.len(), 1, "a code is accepted once: {}", shown());
    for reply in refused {
        assert_eq!(reply.expect_error(400, 3, ""), WRONG);
    }
    accepted[0].result()["verificationToken"].as_str().expect("a token").to_owned()
}

/// Submits all activities at the same time, each on a connection of its own.
async fn at_once(root: &Caller, kind: &'static str, all: impl Iterator<Item = Value>) -> Vec<Reply> {
    let mut tasks = JoinSet::new();
    for parameters in all {
        let root = root.clone();
        tasks.spawn(async move { root.submit(kind, &parameters).await });
    }
    tasks.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f24_codes_tokens_and_sessions_end() {
    let mut scenario = Scenario::begin("f24 ends", 1, 1);
    if !scenario.engine().has_own_clock() {
        return;
    }
    let (layer, mailbox) = (Layer::new(), Mailbox::start(0));
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let options =
        scenario.engine().options(1, 1).with_mail(mailbox.url()).with_variables(layer.variables(&data));
    let mut daemon = Daemon::start_on(options, &data).await;
    let root = daemon.root(0);
    enable(&root).await;
    create_user(&root, "ann@example.org").await;
    let (id, code) = request(&root, &mailbox, "ann@example.org", 0).await;
    let mut now = 0;
    let mut jump = |minutes: i64| {
        now += minutes * MINUTE;
        layer.shift_clock(now);
        now
    };

    scenario.step("a code, after five minutes");
    let shift = jump(5);
    let late = at(&root, shift, VERIFY, &json!({"otpId": id, "otpCode": code})).await;
    assert_eq!(late.expect_error(400, 3, ""), WRONG);

    scenario.step("a session, after fifteen minutes");
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let (id, code) = request(&root, &mailbox, "ann@example.org", shift).await;
        let verified = at(&root, shift, VERIFY, &json!({"otpId": id, "otpCode": code})).await.result();
        tokens.push(verified["verificationToken"].clone());
    }
    let session = Key::named("ends");
    let login = json!({"verificationToken": tokens[0], "publicKey": session.public_key()});
    at(&root, shift, LOGIN, &login).await.activity_in("COMPLETED");
    let of_session = root.with_key(&session);
    of_session.query("whoami", json!({})).await.success();
    jump(15);
    of_session.query("whoami", json!({})).await.expect_error(401, 16, "API_KEY_EXPIRED");

    scenario.step("tokens, after an hour and a restart");
    let shift = jump(45);
    daemon.restart().await;
    let root = daemon.root(0);
    for (token, name) in tokens.iter().zip(["used", "unused"]) {
        let key = Key::named(name);
        let login = json!({"verificationToken": token, "publicKey": key.public_key()});
        let late = at(&root, shift, LOGIN, &login).await;
        assert_eq!(late.expect_error(400, 3, ""), "invalid verification token", "{name}");
    }
    scenario.close("a code, a session and two tokens ended at their times");
}
