//! The console and its commands at a daemon elsewhere, over HTTPS: what users can do, what vouches for the server, and what
//! neither an unknown key nor something in between achieves.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::{Ended, Operator};
use quorate_tests::requests::{self, CREATE_WALLET, SIGN};
use quorate_tests::tampering_proxy::harmless_payloads;
use quorate_tests::tls_terminator::TlsTerminator;
use serde_json::{Value, json};

use crate::console::{digits, review, shows_fingerprint, type_like_a_person};
use crate::policy_outcomes::{approve, text};
use crate::screen::Screen;

/// Returns a root user who connects through a terminator whose key is pinned.
fn remote(daemon: &Daemon, index: usize, terminator: &TlsTerminator) -> Operator {
    Operator::root(daemon, index).with_arguments(&["--url", &terminator.url(), "--pin", terminator.pin()])
}

/// Asserts that a command failed with this exit code and these words, and printed no data.
fn failed(ended: Ended, code: i32, words: &str) {
    let ended = ended.with(code);
    let all = format!("{}{}", ended.output, ended.stderr);
    assert!(all.contains(words), "{words}: {ended:#?}");
    assert!(!all.contains("activityId"), "{ended:#?}");
}

#[tokio::test]
async fn the_inbox_is_the_same_as_at_the_socket() {
    let daemon = Daemon::start(Options::demo()).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let (near, far) = (Operator::root(&daemon, 1), remote(&daemon, 1, &terminator));
    let ids = async |operator: &Operator, words: &[&str]| -> Vec<Value> {
        let rows = operator.run(words).await.with(0).lines();
        rows.iter().map(|row| row["activityId"].clone()).collect()
    };
    let waiting = ids(&near, &["approvals", "ls"]).await;
    assert!(!waiting.is_empty());
    assert_eq!(ids(&far, &["approvals", "ls"]).await, waiting);
    assert_eq!(ids(&far, &["activity", "ls"]).await, ids(&near, &["activity", "ls"]).await);
    for words in [&["policy", "ls"][..], &["wallet", "ls"], &["user", "ls"], &["org", "get"], &["org", "ls"]]
    {
        let (near, far) = (near.run(words).await.with(0), far.run(words).await.with(0));
        assert_eq!(near.lines().len(), far.lines().len(), "{words:?}: {far:#?}");
    }
    let shown = far.run(&["whoami"]).await.with(0).json();
    assert_eq!((&shown["transport"], &shown["socket"]), (&json!("TLS key pinned"), &json!(terminator.url())));
}

#[tokio::test]
async fn users_propose_review_approve_and_reject() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let bob = remote(&daemon, 1, &terminator);
    let waiting = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("remote")).await;
    let shown = bob.run(&["review", text(&waiting["id"])]).await.with(0).json();
    assert_eq!(shown["fingerprint"], waiting["fingerprint"], "{shown:#}");
    let independence =
        shown["checks"].as_array().and_then(|checks| checks.iter().find(|one| one["id"] == "K11"));
    assert!(
        independence.is_some_and(|one| one.to_string().contains("if it runs on another one")),
        "{shown:#}"
    );
    let approved = approve(&bob, &waiting["id"]).await.with(0).json();
    assert_eq!(approved["outcome"], "executed", "{approved:#}");
    let waiting = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("other")).await;
    let fingerprint = text(&waiting["fingerprint"]);
    let rejected = bob.run(&["reject", text(&waiting["id"]), "--expect-sha256", fingerprint]).await;
    assert!([0, 6].contains(&rejected.code), "{rejected:#?}");
    let stored = daemon.root(0).activity(&waiting["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_REJECTED");
}

#[tokio::test]
async fn the_console_approves_and_shows_what_vouches_for_the_server() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let wallet = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("console")).await;
    let wallet = daemon.root(1).approved(&wallet["fingerprint"]).await;
    let address = text(&wallet["result"]["createWalletResult"]["addresses"][0]);
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let mut screen = Screen::open(remote(&daemon, 1, &terminator));
    screen.shows("Nothing waits").await;
    screen.shows("TLS key pinned").await;
    let pending = daemon.root(0).waiting(SIGN, &requests::sign(address, "approve me")).await;
    let digits = digits(&pending);
    review(&mut screen, "approve me").await;
    screen.press("G");
    screen.until("the fingerprint", |text| shows_fingerprint(text, &digits)).await;
    screen.press("a");
    screen.shows("Enter works once the answer is typed").await;
    type_like_a_person(&mut screen, &digits[60..]).await;
    type_like_a_person(&mut screen, "\r").await;
    screen.shows("Vote recorded").await;
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[tokio::test]
async fn only_a_server_that_somebody_vouches_for_is_used() {
    let daemon = Daemon::start(Options::demo()).await;
    let right = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let other = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let old = TlsTerminator::expired(daemon.folder(), daemon.http()).await;
    let list = async |words: &[&str]| {
        Operator::root(&daemon, 1).with_arguments(words).run(&["approvals", "ls"]).await
    };
    let words =
        format!("the TLS key of {} is {}, but {} is pinned", &other.url()[8..], other.pin(), right.pin());
    failed(list(&["--url", &other.url(), "--pin", right.pin()]).await, 7, &words);
    // Nobody vouches for the certificate: the error shows the key, which people compare.
    failed(
        list(&["--url", &right.url()]).await,
        7,
        &format!("Its TLS key is {}. If its operator confirms", right.pin()),
    );
    drop(list(&["--url", &right.url(), "--ca-file", right.certificate()]).await.with(0));
    failed(list(&["--url", &other.url(), "--ca-file", right.certificate()]).await, 7, "no known authority");
    failed(list(&["--url", &old.url(), "--ca-file", old.certificate()]).await, 7, "has expired");
    drop(list(&["--url", &old.url(), "--pin", old.pin()]).await.with(0));
    let authority = TlsTerminator::of_authority(daemon.folder(), daemon.http()).await;
    let ended = list(&["--url", &authority.url(), "--ca-file", authority.certificate()]).await;
    failed(ended, 7, "its certificate is one of an authority (CA:TRUE), not of a server; nothing was sent");
    drop(list(&["--url", &authority.url(), "--pin", authority.pin()]).await.with(0));
    failed(list(&["--url", "http://192.0.2.1"]).await, 2, "http is for this host only");
    failed(list(&["--url", "https://127.0.0.1:1"]).await, 8, "no daemon listens at https://127.0.0.1:1");
    drop(list(&["--url", &daemon.credentials().base_url]).await.with(0));
    failed(list(&["--url", &right.url(), "--pin", "sha256/AAAA"]).await, 2, "invalid pin");
}

#[tokio::test]
async fn what_lies_in_between_cannot_change_what_is_approved() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let wallet = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("console")).await;
    let wallet = daemon.root(1).approved(&wallet["fingerprint"]).await;
    let address = text(&wallet["result"]["createWalletResult"]["addresses"][0]);
    let pending = daemon.root(0).waiting(SIGN, &requests::sign(address, "pay everything")).await;
    let liar = TlsTerminator::tampering(daemon.folder(), daemon.http(), harmless_payloads).await;
    let bob = remote(&daemon, 1, &liar);
    let fingerprint = text(&pending["fingerprint"]);
    let refused = bob.run(&["approve", text(&pending["id"]), "--expect-sha256", fingerprint]).await;
    assert_eq!(refused.code, 7, "{refused:#?}");
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    let silent = TlsTerminator::tampering(daemon.folder(), daemon.http(), |answer| *answer = json!({})).await;
    let bob = remote(&daemon, 1, &silent);
    failed(bob.run(&["approvals", "ls"]).await, 1, "does not answer as a daemon of Quorate does");
}

#[tokio::test]
async fn a_key_of_another_daemon_reads_nothing() {
    let daemon = Daemon::start(Options::demo()).await;
    let elsewhere = Daemon::start(Options::quorum(1, 1)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let id = daemon.credentials().organization_id.as_str();
    let words = ["--url", &terminator.url(), "--pin", terminator.pin(), "--organization", id];
    let eve = Operator::root(&elsewhere, 0).with_arguments(&words);
    for command in
        [&["approvals", "ls"][..], &["org", "get"], &["status"], &["activity", "ls"], &["wallet", "ls"]]
    {
        failed(eve.run(command).await, 4, "could not find public key in organization");
    }
    // An organization that does not exist looks the same to nobody: ids are not secret, and contents are.
    let reader = Operator::newcomer().with_arguments(&words);
    failed(reader.run(&["approvals", "ls"]).await, 2, "needs your key also to read");
}

#[tokio::test]
async fn what_only_operators_may_read_is_named() {
    let daemon = Daemon::start(Options::demo()).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let bob = remote(&daemon, 1, &terminator);
    for command in [&["webhook", "ls"][..], &["webhook", "parked"]] {
        failed(bob.run(command).await, 4, "only the local socket of the daemon answers this");
    }
    let status = bob.run(&["status"]).await.with(0).json();
    assert_eq!((&status["mode"], &status["processId"]), (&json!("DEV"), &Value::Null), "{status:#}");
    let findings = bob.run(&["doctor"]).await.lines();
    assert!(findings.iter().any(|one| one["code"] == "daemon-remote"), "{findings:#?}");
}

#[tokio::test]
async fn a_context_names_url_pin_and_an_encrypted_key() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let bob = Operator::root(&daemon, 1);
    let phrase = "correct horse battery staple\n";
    let created = bob.run_raw(&["--json", "key", "add", "laptop"], phrase).await.with(0).json();
    let key =
        json!({"apiKeyName": "laptop", "publicKey": created["publicKey"], "curveType": "API_KEY_CURVE_P256"});
    let keys = requests::api_keys(daemon.root_id(1), &[key]);
    daemon.root(1).submit(requests::CREATE_API_KEYS, &keys).await.activity();
    let (url, pin, id) = (terminator.url(), terminator.pin(), &daemon.credentials().organization_id);
    let user = daemon.root_id(1);
    bob.configure(&format!(
        "context = \"far\"\n[contexts.far]\nurl = {url:?}\npin = {pin:?}\norganization = {id:?}\nuser = {user:?}\nkey = \"laptop\"\n"
    ));
    let pending = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("far")).await;
    let listed = bob.run_raw(&["--json", "approvals", "ls"], phrase).await.with(0).lines();
    assert_eq!(listed[0]["activityId"], pending["id"], "{listed:#?}");
    failed(bob.run_raw(&["approvals", "ls"], "wrong\n").await, 4, "wrong passphrase");
    let fingerprint = text(&pending["fingerprint"]);
    let approve = ["--json", "approve", text(&pending["id"]), "--expect-sha256", fingerprint];
    // One passphrase unlocks the key for reading and for the vote.
    let approved = bob.run_raw(&approve, phrase).await.with(0).json();
    assert_eq!(approved["outcome"], "executed", "{approved:#}");
    // A pin of the context is not for another URL.
    failed(bob.run_raw(&["--url", &url, "approvals", "ls"], phrase).await, 7, "no known authority");
}

#[tokio::test]
async fn users_propose_and_watch() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let bob = remote(&daemon, 1, &terminator);
    let proposed = bob.run(&["propose", "create-wallet", "--set", "walletName=far"]).await.with(5).json();
    let stored = daemon.root(0).activity(&proposed["activityId"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    let changing = async {
        for number in 0_u64.. {
            let wallet = requests::wallet(&format!("watched {number}"));
            let waiting = daemon.root(0).waiting(CREATE_WALLET, &wallet).await;
            // Only a limited number of activities may wait.
            for member in [1, 2] {
                daemon.root(member).reject(&waiting["fingerprint"]).await.success();
            }
        }
    };
    let watched = tokio::select! {
        watched = bob.run(&["watch", "--limit", "8"]) => watched.with(0).lines(),
        () = changing => Vec::new(),
    };
    assert!(
        watched.iter().any(|event| event["what"] == "ACTIVITY" && event["type"] == CREATE_WALLET),
        "{watched:#?}"
    );
}
