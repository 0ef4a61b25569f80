//! The command line: its output, its exit codes, and that an approval must name what it expects.

use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::operator::Operator;
use quorate_tests::proof;
use quorate_tests::requests::{self, CREATE_WALLET, SIGN, UPDATE_ROOT_QUORUM};
use quorate_tests::tampering_proxy::{TamperingProxy, each_member, harmless_payloads};
use serde_json::{Value, json};

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}

/// Starts a daemon with a quorum of two out of three. Returns a waiting signature and the address that signs
/// it.
async fn waiting() -> (Daemon, Value, String) {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let (alice, bob) = (daemon.root(0), daemon.root(1));
    let wallet = alice.waiting(CREATE_WALLET, &requests::wallet("commands")).await;
    let wallet = bob.approved(&wallet["fingerprint"]).await;
    let address = text(&wallet["result"]["createWalletResult"]["addresses"][0]).to_owned();
    let pending = alice.waiting(SIGN, &requests::sign(&address, "by command")).await;
    (daemon, pending, address)
}

#[tokio::test]
async fn a_request_is_reviewed_and_approved() {
    let (daemon, pending, address) = waiting().await;
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    let bob = Operator::root(&daemon, 1);

    let inbox = bob.run(&["approvals", "ls"]).await.with(0).lines();
    assert_eq!(inbox.len(), 1, "{inbox:#?}");
    assert_eq!((text(&inbox[0]["activityId"]), &inbox[0]["mine"]), (id, &json!(true)));

    let review = bob.run(&["review", id]).await.with(0).json();
    assert_eq!(text(&review["fingerprint"]), fingerprint);
    assert_eq!(review["blocked"], false);
    assert!(text(&review["sentence"]).contains("by command"), "{review:#}");
    let checks = review["checks"].as_array().expect("checks");
    assert!(checks.iter().all(|check| check["mark"] != "[x]"), "{review:#}");

    let approved = bob.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(0).json();
    assert_eq!(approved["status"], "ACTIVITY_STATUS_COMPLETED", "{approved:#}");
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["status"], "ACTIVITY_STATUS_COMPLETED");
    assert!(
        proof::is_signed(&address, b"by command", &stored["result"]["signRawPayloadResult"]),
        "{stored:#}"
    );

    // A second approval is reported and not sent, and exits like the first one.
    bob.run(&["approve", fingerprint, "--expect-sha256", fingerprint]).await.with(0).json();
    assert_eq!(daemon.root(0).activity(&pending["id"]).await["votes"].as_array().map(Vec::len), Some(2));
    assert!(bob.run(&["approvals", "ls"]).await.with(0).lines().is_empty());
}

#[tokio::test]
async fn approvals_require_the_expected_fingerprint() {
    let (daemon, pending, _) = waiting().await;
    let id = text(&pending["id"]);
    let bob = Operator::root(&daemon, 1);
    let wrong = "ab".repeat(32);
    bob.run(&["approve", id]).await.with(2).json();
    bob.run(&["approve", id, "--expect-sha256", "beef"]).await.with(2).json();
    bob.run(&["approve", id, "--expect-sha256", &wrong]).await.with(7).json();
    let fingerprint = text(&pending["fingerprint"]);
    let other = ["approve", id, "--expect-sha256", fingerprint, "--expect-type", CREATE_WALLET];
    bob.run(&other).await.with(7).json();
    for flag in ["--yes", "--force"] {
        bob.run(&["approve", id, "--expect-sha256", fingerprint, flag]).await.with(2).json();
    }
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "nothing was sent: {stored:#}");
}

#[tokio::test]
async fn approvals_require_flags_to_be_named() {
    let (daemon, _, _) = waiting().await;
    let members: Vec<&str> = (0..3).map(|index| daemon.root_id(index)).collect();
    let lowered = json!({ "threshold": 1, "userIds": members });
    let pending = daemon.root(0).waiting(UPDATE_ROOT_QUORUM, &lowered).await;
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    let bob = Operator::root(&daemon, 1);
    let review = bob.run(&["review", id]).await.with(0).json();
    assert_eq!(review["risk"], "HIGH", "{review:#}");
    bob.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(7).json();
    let mut approve = vec!["approve", id, "--expect-sha256", fingerprint];
    for flag in review["flags"].as_array().expect("flags").iter().filter(|flag| flag["level"] == "HIGH") {
        approve.extend(["--allow-flag", text(&flag["name"])]);
    }
    bob.run(&approve).await.with(0).json();
    assert_eq!(daemon.root(0).activity(&pending["id"]).await["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[tokio::test]
async fn a_request_is_rejected() {
    let (daemon, pending, _) = waiting().await;
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    Operator::root(&daemon, 1).run(&["reject", id, "--note", "not today"]).await.with(0).json();
    assert_eq!(daemon.root(0).activity(&pending["id"]).await["status"], "ACTIVITY_STATUS_REJECTED");
    let carol = Operator::root(&daemon, 2);
    carol.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(6).json();
    carol.run(&["activity", "wait", id, "--timeout", "5"]).await.with(6).json();
}

#[tokio::test]
async fn exit_codes_of_waiting_and_unauthorized_votes() {
    let (daemon, _, _) = waiting().await;
    let members: Vec<&str> = (0..3).map(|index| daemon.root_id(index)).collect();
    let raised = json!({ "threshold": 3, "userIds": members });
    let raised = daemon.root(0).waiting(UPDATE_ROOT_QUORUM, &raised).await;
    daemon.root(1).approved(&raised["fingerprint"]).await;
    let pending = daemon.root(0).waiting(CREATE_WALLET, &requests::wallet("three")).await;
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    let approve = ["approve", id, "--expect-sha256", fingerprint];
    Operator::root(&daemon, 1).run(&approve).await.with(5).json();
    Operator::root(&daemon, 1).run(&["activity", "wait", id, "--timeout", "1"]).await.with(5).json();

    let smaller = json!({ "threshold": 2, "userIds": &members[..2] });
    let smaller = daemon.root(0).waiting(UPDATE_ROOT_QUORUM, &smaller).await;
    daemon.root(1).approve(&smaller["fingerprint"]).await.activity();
    daemon.root(2).approved(&smaller["fingerprint"]).await;
    Operator::root(&daemon, 2).run(&approve).await.with(4).json();
}

#[tokio::test]
async fn exit_codes_of_other_failures() {
    let (mut daemon, pending, _) = waiting().await;
    let bob = Operator::root(&daemon, 1);
    bob.run(&["review", "0193a000-0000-7000-8000-000000000001"]).await.with(3).json();
    bob.run(&["no-such-command"]).await.with(2).json();
    let without_terminal = bob.run_raw(&bob.identity(), "").await.with(2);
    assert!(
        !without_terminal.output.contains('\u{1b}'),
        "no escape without a terminal: {without_terminal:#?}"
    );
    daemon.kill();
    let unreachable = bob.run(&["review", text(&pending["id"])]).await.with(8).json();
    assert!(unreachable.is_object(), "a failure is JSON, too");
}

#[tokio::test]
async fn a_missing_daemon_and_a_wrong_socket_are_explained() {
    let operator = Operator::newcomer();
    let file = operator.home().join("file");
    std::fs::write(&file, "").expect("written");
    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let (file, folder) = (text(&file), text(operator.home()));
    let missing = format!("{folder}/missing");
    let url = "http://127.0.0.1:1";
    for (option, place, code, words) in [
        ("--socket", missing.as_str(), 8, "or name its socket with --socket PATH"),
        ("--socket", &file, 2, "is not a socket: name the socket of the daemon, or a URL with --url"),
        ("--socket", &folder, 2, "is not a socket: name the socket of the daemon"),
        ("--socket", url, 2, "or a URL with --url"),
        ("--url", url, 8, "check the URL and the network, and ask the operator whether the daemon runs"),
    ] {
        let ended = operator.run_raw(&["status", option, place], "").await.with(code);
        assert!(ended.stderr.contains(words), "{place}: {ended:#?}");
    }
    let ended = operator.run_raw(&["doctor", "--url", url], "").await;
    assert!(!ended.output.contains("--socket"), "{ended:#?}");
}

#[tokio::test]
async fn an_unknown_protocol_version_is_reported() {
    let (daemon, _, _) = waiting().await;
    let newer = |answer: &mut Value| {
        if let Some(protocol) = answer.get_mut("protocol") {
            *protocol = json!(4711);
        }
    };
    let tampering_proxy = TamperingProxy::start(daemon.folder(), daemon.socket(), newer);
    let bob = Operator::root(&daemon, 1).through(tampering_proxy.socket());
    let failed = bob.run(&["approvals", "ls"]).await;
    assert_ne!(failed.code, 0, "{failed:#?}");
    assert_ne!(failed.code, 8, "it was reached: {failed:#?}");
    assert!(failed.stderr.contains("4711"), "{failed:#?}");
}

#[tokio::test]
async fn status_and_lists_are_printed() {
    let (daemon, pending, _) = waiting().await;
    let bob = Operator::root(&daemon, 1);
    let status = bob.run(&["status"]).await.with(0).json();
    assert_eq!(status["mode"], "DEV", "{status:#}");
    let list = bob.run(&["activity", "ls", "--status", "CONSENSUS_NEEDED"]).await.with(0).lines();
    assert_eq!(list.len(), 1);
    let one = bob.run(&["activity", "get", text(&pending["id"])]).await.with(0).json();
    assert_eq!(one["activityId"], pending["id"]);
    let organizations = bob.run(&["org", "ls"]).await.with(0).lines();
    assert_eq!(organizations.len(), 1);
    let organization = bob.run(&["org", "get"]).await.with(0).json();
    assert_eq!(organization["organizationId"], daemon.credentials().organization_id.as_str());
    assert_eq!(organization["users"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn a_key_file_signs_with_its_passphrase() {
    let (daemon, pending, _) = waiting().await;
    let bob = Operator::root(&daemon, 1);
    let phrase = "correct horse battery staple\n";
    let created = bob.run_raw(&["--json", "key", "add", "laptop"], phrase).await.with(0).json();
    let listed = bob.run_raw(&["--json", "key", "ls"], "").await.with(0).lines();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["publicKey"], created["publicKey"]);

    let key = json!({ "apiKeyName": "laptop", "publicKey": created["publicKey"], "curveType": "API_KEY_CURVE_P256" });
    let keys = requests::api_keys(daemon.root_id(1), &[key]);
    daemon.root(1).submit(requests::CREATE_API_KEYS, &keys).await.activity();
    let socket = daemon.credentials().socket.to_str().expect("UTF-8").to_owned();
    let (organization, user) = (&daemon.credentials().organization_id, daemon.root_id(1));
    let fingerprint = text(&pending["fingerprint"]);
    let arguments = [
        "--json",
        "--socket",
        &socket,
        "--organization",
        organization,
        "--user",
        user,
        "--key",
        "laptop",
        "approve",
        fingerprint,
        "--expect-sha256",
        fingerprint,
    ];
    let without_passphrase = bob.run_raw(&arguments, "").await.with(2);
    assert!(
        without_passphrase.stderr.contains("no terminal to prompt for the passphrase; use --passphrase-fd N"),
        "{without_passphrase:#?}"
    );
    let wrong = bob.run_raw(&arguments, "wrong horse battery staple\n").await;
    assert_ne!(wrong.code, 0, "a wrong passphrase: {wrong:#?}");
    assert!(wrong.stderr.to_lowercase().contains("passphrase"), "{wrong:#?}");
    bob.run_raw(&arguments, phrase).await.with(0).json();
    assert_eq!(daemon.root(0).activity(&pending["id"]).await["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[tokio::test]
async fn a_changed_intent_blocks_approval() {
    let (daemon, pending, _) = waiting().await;
    let tampering_proxy = TamperingProxy::start(daemon.folder(), daemon.socket(), harmless_payloads);
    let bob = Operator::root(&daemon, 1).through(tampering_proxy.socket());
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    let review = bob.run(&["review", id]).await.with(7).json();
    assert_eq!(review["blocked"], true);
    assert!(text(&review["sentence"]).contains("by command"), "described from the signed bytes: {review:#}");
    bob.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(7).json();
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "nothing was sent: {stored:#}");
    bob.run(&["reject", id]).await.with(0).json();
    assert_eq!(daemon.root(0).activity(&pending["id"]).await["status"], "ACTIVITY_STATUS_REJECTED");
}

/// Terminal controls: a title, a color by a C1 character, reversed text, and a forged line.
const HOSTILE: &str = "\u{1b}]0;title\u{7}\u{9b}31m\u{202e}\u{200b}\r\nFAKE: approved";

/// Hostile texts in failures: an error code, and a status that does not exist.
const HOSTILE_FAILURES: [Tampering; 2] = [
    |answer| {
        if answer.get("code").is_some() {
            answer["turnkeyErrorCode"] = json!(format!("X{HOSTILE}"));
        }
    },
    |answer| each_member(answer, "status", &|status| *status = json!(format!("ACTIVITY{HOSTILE}"))),
];

#[tokio::test]
async fn failures_are_printed_without_terminal_controls() {
    let (daemon, _, _) = waiting().await;
    let commands = [&["review", "0193a000-0000-7000-8000-000000000001"][..], &["approvals", "ls"]];
    for (index, (tampering, command)) in HOSTILE_FAILURES.into_iter().zip(commands).enumerate() {
        let folder = daemon.folder().join(index.to_string());
        std::fs::create_dir(&folder).expect("a new folder");
        let tampering_proxy = TamperingProxy::start(&folder, daemon.socket(), tampering);
        let bob = Operator::root(&daemon, 1).through(tampering_proxy.socket());
        let ended = bob.run(command).await;
        assert_ne!(ended.code, 0, "{ended:#?}");
        let printed = ended.stderr.strip_suffix('\n').expect("a whole line").to_owned();
        let reported = text(&ended.json()["error"]["message"]).to_owned();
        for message in [printed, reported] {
            let is_plain = |letter: char| !letter.is_control() && !"\u{202e}\u{200b}".contains(letter);
            assert!(message.chars().all(is_plain), "{message:?}");
            assert!(message.contains("<U+001B>]0;title") && message.contains("FAKE"), "{message:?}");
        }
    }
}

/// A change of an answer.
type Tampering = fn(&mut Value);

/// Another organization, another fingerprint, and a message that nobody signed.
const MISDIRECTIONS: [Tampering; 3] = [
    |answer| {
        each_member(answer, "organizationId", &|id| *id = json!("0193a000-0000-7000-8000-000000000001"));
    },
    |answer| each_member(answer, "fingerprint", &|hash| *hash = json!(format!("sha256:{}", "ab".repeat(32)))),
    |answer| {
        each_member(answer, "message", &|message| {
            *message = json!(text(message).replace("command", "order"));
        });
    },
];

#[tokio::test]
async fn changed_answers_get_no_signature() {
    let (daemon, pending, _) = waiting().await;
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    for (number, tampering) in MISDIRECTIONS.into_iter().enumerate() {
        let folder = daemon.folder().join(number.to_string());
        std::fs::create_dir(&folder).expect("a folder");
        let tampering_proxy = TamperingProxy::start(&folder, daemon.socket(), tampering);
        let bob = Operator::root(&daemon, 1).through(tampering_proxy.socket());
        bob.run(&["reject", id]).await.with(7).json();
        bob.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(7).json();
        let stored = daemon.root(0).activity(&pending["id"]).await;
        assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "change {number}: {stored:#}");
    }
    // An approver who got the fingerprint from the proposer can still reject, and signs that one.
    let tampering_proxy = TamperingProxy::start(daemon.folder(), daemon.socket(), MISDIRECTIONS[2]);
    let bob = Operator::root(&daemon, 1).through(tampering_proxy.socket());
    bob.run(&["reject", id, "--expect-sha256", fingerprint]).await;
    assert_eq!(daemon.root(0).activity(&pending["id"]).await["status"], "ACTIVITY_STATUS_REJECTED");
}

#[tokio::test]
async fn a_changed_quorum_is_accepted_only_when_proven() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let (daemon, pending, _) = waiting().await;
    let (id, fingerprint) = (text(&pending["id"]), text(&pending["fingerprint"]));
    let tampering = Arc::new(AtomicBool::new(false));
    let is_tampering = Arc::clone(&tampering);
    let tampering_proxy = TamperingProxy::start(daemon.folder(), daemon.socket(), move |answer| {
        if is_tampering.load(Ordering::Relaxed) {
            each_member(answer, "rootQuorum", &|quorum| quorum["threshold"] = json!(1));
            each_member(answer, "needed", &|needed| *needed = json!(1));
        }
    });
    let bob = Operator::root(&daemon, 1).through(tampering_proxy.socket());
    bob.run(&["review", id]).await.with(0).json();
    tampering.store(true, Ordering::Relaxed);
    let review = bob.run(&["review", id]).await.with(7).json();
    let flags = review["flags"].as_array().expect("flags");
    assert!(flags.iter().any(|flag| flag["name"] == "quorum-not-known"), "{review:#}");
    bob.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(7).json();
    bob.run(&["known-keys", "accept"]).await.with(7).json();
    tampering.store(false, Ordering::Relaxed);
    // A change that members of the known quorum approved is accepted by a command.
    let members: Vec<&str> = (0..3).map(|index| daemon.root_id(index)).collect();
    let raised = json!({ "threshold": 3, "userIds": members });
    let raised = daemon.root(0).waiting(UPDATE_ROOT_QUORUM, &raised).await;
    daemon.root(2).approved(&raised["fingerprint"]).await;
    bob.run(&["review", id]).await.with(7).json();
    let accepted = bob.run(&["known-keys", "accept"]).await.with(0).json();
    assert_eq!(accepted["proven"], true, "{accepted:#}");
    let approved = bob.run(&["approve", id, "--expect-sha256", fingerprint]).await.with(5).json();
    assert_eq!(approved["outcome"], "waiting", "{approved:#}");
}

#[tokio::test]
async fn commands_check_the_user_and_the_key() {
    let (daemon, pending, _) = waiting().await;
    let bob = Operator::root(&daemon, 1);
    let phrase = "correct horse battery staple\n";
    bob.run_raw(&["--json", "key", "add", "laptop"], phrase).await.with(0).json();
    let socket = daemon.credentials().socket.to_str().expect("UTF-8").to_owned();
    let organization = daemon.credentials().organization_id.as_str();
    let id = text(&pending["id"]);
    for command in
        [&["approvals", "ls"][..], &["activity", "ls"], &["policy", "ls"], &["review", id], &["reject", id]]
    {
        for (user, code) in
            [(&["--user", "nobody"][..], 3), (&["--user", daemon.root_id(1), "--key", "laptop"], 4)]
        {
            let context = ["--json", "--socket", &socket, "--organization", organization];
            let all: Vec<&str> = context.iter().chain(user).chain(command).copied().collect();
            let ended = bob.run_raw(&all, "").await;
            if command[0] == "approvals" && code == 4 {
                // A list at the socket needs no key.
                assert!(ended.with(0).stderr.contains("listed without a key"));
            } else {
                ended.with(code).json();
            }
        }
    }
    let stored = daemon.root(0).activity(&pending["id"]).await;
    assert_eq!(stored["votes"].as_array().map(Vec::len), Some(1), "{stored:#}");
}
