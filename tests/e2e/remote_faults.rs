//! The console and its commands at a daemon elsewhere, when clocks differ, a server sends them somewhere else or limits them,
//! and for users of sub-organizations.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::http::Listener;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::requests::{self, CREATE_WALLET};
use quorate_tests::tls_terminator::TlsTerminator;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::policy_outcomes::{approve, text};
use crate::screen::{Screen, Setup};

/// A server on this machine that answers every request in the same way, and counts the requests.
struct Stubborn {
    port: u16,
    requests: Arc<AtomicUsize>,
}

impl Stubborn {
    async fn start(head: &str, body: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let answer =
            format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::SeqCst);
                let mut request = vec![0; 64 * 1024];
                let mut end = 0;
                // The body of a query is one JSON object.
                while !request[..end].ends_with(b"}") {
                    match stream.read(&mut request[end..]).await {
                        Ok(read) if read > 0 => end += read,
                        _ => break,
                    }
                }
                // A client that gave up needs no answer.
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { port, requests }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn a_differing_clock_is_named_and_nothing_is_sent_with_it() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let waiting = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("remote")).await;
    for shift in ["-10m", "+10m"] {
        let bob = Operator::root(&daemon, 1)
            .with_arguments(&["--url", &terminator.url(), "--pin", terminator.pin()])
            .with_variable("LD_PRELOAD", quorate_tests::paths::faketime())
            .with_variable("FAKETIME", PathBuf::from(shift))
            .with_variable("FAKETIME_DONT_FAKE_MONOTONIC", PathBuf::from("1"));
        let ended = bob.run(&["approvals", "ls"]).await.with(1);
        assert!(ended.stderr.contains("clocks of this host and of the daemon differ"), "{shift} {ended:#?}");
        let fingerprint = text(&waiting["fingerprint"]);
        let vote = ["approve", text(&waiting["id"]), "--expect-sha256", fingerprint];
        assert!(bob.run(&vote).await.with(1).stderr.contains("clocks"), "{shift}");
        let mut screen = Screen::open(bob);
        screen.shows("Another time").await;
        screen.shows("ask the operator to set that of the daemon").await;
    }
    let stored = daemon.root(0).activity(&waiting["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let elsewhere = Stubborn::start("200 OK", "{}").await;
    let head =
        format!("307 Temporary Redirect\r\nlocation: {}/public/v1/query/get_console_view", elsewhere.url());
    let server = Stubborn::start(&head, "").await;
    let bob = Operator::root(&daemon, 1).with_arguments(&["--url", &server.url()]);
    let ended = bob.run(&["approvals", "ls"]).await.with(1);
    assert!(ended.stderr.contains("does not answer as a daemon of Quorate does (status 307"), "{ended:#?}");
    assert_eq!((server.requests() > 0, elsewhere.requests()), (true, 0));
}

#[tokio::test]
async fn a_limit_of_requests_is_stated() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let body = json!({"code": 8, "message": "too many requests", "details": []}).to_string();
    let server = Stubborn::start("429 Too Many Requests", &body).await;
    let bob = Operator::root(&daemon, 1).with_arguments(&["--url", &server.url()]);
    let ended = bob.run(&["approvals", "ls"]).await;
    assert!(ended.stderr.contains("too many requests (ResourceExhausted)"), "{ended:#?}");
    assert!(ended.code == 1 && !ended.output.contains("activityId"), "{ended:#?}");
    // One request is not repeated again and again.
    assert!(server.requests() <= 2, "{}", server.requests());
}

/// Requests of others at the same address use up the limit of the daemon. The console states it, and continues afterwards.
#[tokio::test]
async fn the_console_continues_after_a_limit_of_requests() {
    let installation = Installation::new("file = \"root.key\"");
    let configuration = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    installation.configure(&format!(
        "{configuration}\n[http]\nlisten = \"127.0.0.1:0\"\n[limits]\nrequests_per_second = 40\n"
    ));
    let key = Key::named("limited");
    let organization = installation.create_organization("limited", &key).await;
    let served = installation.serve().await;
    let status = served.get("/console/v1/status").await.success();
    let url = text(&status["baseUrl"]);
    let address = url.strip_prefix("http://").expect("a base URL").parse().expect("an address");
    let other = Caller::new(Listener::Tcp(address), &organization, key.clone());
    let people = json!({"organizationId": organization, "socket": installation.path("run/socket"), "rootUsers":
        [{"userId": other.fetch("whoami", json!({})).await["userId"], "userName": "root", "publicKey": key.public_key(),
          "privateKey": key.secret_hex()}]});
    installation.write_secret("credentials.json", &people.to_string());
    let file = installation.path("credentials.json");
    let words = ["--credentials", file.to_str().expect("a path in UTF-8"), "--user", "root", "--url", url];
    let mut screen = Screen::open(Operator::newcomer().with_arguments(&words));
    screen.shows("Nothing waits").await;
    let flooding = async {
        loop {
            // Most of them are refused.
            let _ = other.query("whoami", json!({})).await;
        }
    };
    tokio::select! {
        () = flooding => {}
        shown = screen.shows("Too many requests") => assert!(shown.contains("DISCONNECTED"), "{shown}"),
    }
    // What was read stays, and no key is needed to continue.
    screen.shows("Nothing waits").await;
    screen.until("the connection", |shown| !shown.contains("DISCONNECTED")).await;
}

#[tokio::test]
async fn connections_are_reused_and_a_lost_answer_costs_no_second_vote() {
    let daemon = Daemon::start(Options::quorum(3, 3)).await;
    let (answers, loses) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(true)));
    let (counter, losing) = (Arc::clone(&answers), Arc::clone(&loses));
    let tamper = move |answer: &mut serde_json::Value| {
        counter.fetch_add(1, Ordering::SeqCst);
        if answer.get("activity").is_some() && losing.swap(false, Ordering::SeqCst) {
            *answer = serde_json::Value::Null;
        }
    };
    let terminator = TlsTerminator::tampering(daemon.folder(), daemon.http(), tamper).await;
    let bob =
        Operator::root(&daemon, 1).with_arguments(&["--url", &terminator.url(), "--pin", terminator.pin()]);
    let waiting = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("lost")).await;
    let approved = approve(&bob, &waiting["id"]).await.with(5).json();
    assert_eq!(approved["vote"], "recorded", "{approved:#}");
    assert!(!loses.load(Ordering::SeqCst), "an answer was lost");
    let (answers, handshakes) = (answers.load(Ordering::SeqCst), terminator.handshakes());
    assert!(handshakes < answers, "{handshakes} handshakes for {answers} answers");
    let stored = daemon.root(0).activity(&waiting["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(2), "{stored:#}");
}

/// A question whether to trust a server would be answered with yes by habit.
#[tokio::test]
async fn an_unknown_server_is_never_trusted_on_request() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let bob = || Operator::root(&daemon, 1).with_arguments(&["--url", &terminator.url()]);
    let setup = Setup { arguments: &["approvals", "ls"], ..Setup::default() };
    let mut screen = Screen::start(bob(), setup);
    assert_eq!(screen.exit_code().await, 7);
    // Texts may wrap at the end of a row of a frame.
    let joined = |text: &str| text.replace(['\n', ' ', '\u{2502}'], "");
    let is_written =
        |screen: &mut Screen| String::from_utf8_lossy(&screen.output()).contains(terminator.pin());
    screen.wait_until("the pin", is_written).await;
    for size in [(120, 36), (80, 24), (40, 12)] {
        let mut screen = Screen::sized(bob(), size);
        screen.until("the pin", |shown| joined(shown).contains(terminator.pin())).await;
        screen.press("y\ry\r");
        screen.press("q");
        screen.exit_code().await;
    }
    assert_eq!(terminator.handshakes(), 0);
}

#[tokio::test]
async fn a_user_of_a_sub_organization_reviews_and_approves() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let (root, keys) = (daemon.root(0), [Key::named("dora"), Key::named("emil")]);
    let users = [requests::root_user("dora", &keys[0]), requests::root_user("emil", &keys[1])];
    let child = requests::sub_organization("branch", &users, 2);
    let created = root.result(requests::CREATE_SUB_ORGANIZATION, &child).await;
    let id = text(&created["subOrganizationId"]);
    let person = |index: usize, name: &str| {
        json!({"userId": created["rootUserIds"][index], "userName": name, "publicKey": keys[index].public_key(),
            "privateKey": keys[index].secret_hex()})
    };
    let emil = Operator::of(&daemon, id, &person(1, "emil")).with_arguments(&[
        "--url",
        &terminator.url(),
        "--pin",
        terminator.pin(),
    ]);
    let dora = root.on(id).with_key(&keys[0]);
    let waiting = dora.waiting(CREATE_WALLET, &requests::wallet("branch")).await;
    let rows = emil.run(&["approvals", "ls"]).await.with(0).lines();
    assert_eq!((rows.len(), &rows[0]["activityId"]), (1, &waiting["id"]), "{rows:#?}");
    let approved = approve(&emil, &waiting["id"]).await.with(0).json();
    assert_eq!(approved["outcome"], "executed", "{approved:#}");
    // The parent is not theirs to read.
    let parent = emil.run(&["--organization", root.organization(), "org", "get", root.organization()]).await;
    assert!(parent.code != 0 && !parent.output.contains("rootQuorum"), "{parent:#?}");
}

/// Somebody between keeps a vote and may send it later.
#[tokio::test]
async fn a_vote_without_a_confirmation_is_in_the_journal_and_may_still_count() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let has_voted = AtomicBool::new(false);
    let keeps_answers = move |answer: &mut serde_json::Value| {
        if answer.get("activity").is_some() {
            has_voted.store(true, Ordering::SeqCst);
        }
        if has_voted.load(Ordering::SeqCst) {
            *answer = json!({});
        }
    };
    let terminator = TlsTerminator::tampering(daemon.folder(), daemon.http(), keeps_answers).await;
    let bob =
        Operator::root(&daemon, 1).with_arguments(&["--url", &terminator.url(), "--pin", terminator.pin()]);
    let waiting = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("kept")).await;
    let ended = approve(&bob, &waiting["id"]).await.with(1);
    assert!(ended.stderr.contains("was sent and may still count within an hour"), "{ended:#?}");
    let entries = bob.run(&["journal", "ls"]).await.with(0).lines();
    let [entry] = entries.as_slice() else { panic!("one entry: {entries:#?}") };
    assert_eq!((&entry["outcome"], &entry["activityId"]), (&json!("no answer"), &waiting["id"]), "{entry:#}");
    let stored = daemon.root(0).activity(&waiting["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[tokio::test]
async fn another_organization_than_the_selected_one_is_refused() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let lies = |answer: &mut serde_json::Value| {
        if let Some(view) = answer.get_mut("view").filter(|view| view.get("organizationId").is_some()) {
            view["organizationId"] = json!("00000000-0000-4000-8000-000000000001");
        }
    };
    let terminator = TlsTerminator::tampering(daemon.folder(), daemon.http(), lies).await;
    let bob =
        Operator::root(&daemon, 1).with_arguments(&["--url", &terminator.url(), "--pin", terminator.pin()]);
    for words in [&["whoami"][..], &["approvals", "ls"], &["org", "get", daemon.root(1).organization()]] {
        let ended = bob.run(words).await.with(1);
        assert!(ended.stderr.contains("the daemon stated another organization"), "{ended:#?}");
    }
    // Nothing became known of the other organization.
    let known = bob.run(&["known-keys", "ls"]).await;
    assert!(!known.output.contains("00000000-0000-4000-8000-000000000001"), "{known:#?}");
}

#[tokio::test]
async fn the_pin_is_shown_before_anything_is_selected() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let terminator = TlsTerminator::start(daemon.folder(), daemon.http()).await;
    let newcomer = Operator::newcomer();
    let url = ["--url", &terminator.url(), "status"];
    let ended = newcomer.run_raw(&url, "").await.with(7);
    assert!(ended.stderr.contains(terminator.pin()), "{ended:#?}");
}
