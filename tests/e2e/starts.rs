//! Starting and stopping: exit code and message of each failed start, which changes nothing, and orderly
//! stops.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use quorate_tests::caller::submit_path;
use quorate_tests::daemon::{Daemon, Options};
use quorate_tests::installation::{self, Installation};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_WALLET};
use rustix::process::Signal;
use serde_json::json;

const KEY_FILE: &str = "file = \"root.key\"";

const WRONG_USAGE: i32 = 2;
const NO_STORE: i32 = 3;
const NO_KEY: i32 = 4;
const WRONG_KEY: i32 = 5;
const IN_USE: i32 = 6;
const ADDRESS_IN_USE: i32 = 8;

#[tokio::test]
async fn an_initialized_installation_is_served() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("initialized", &key).await;
    let bits = fs::metadata(installation.path("root.key")).expect("a key file").permissions().mode();
    assert_eq!(bits & 0o777, 0o600);

    let served = installation.serve().await;
    let root = served.caller(&organization, key.clone());
    assert_eq!(root.fetch("whoami", json!({})).await["organizationName"], "initialized");
    let created = root.completed(CREATE_WALLET, &requests::wallet("kept")).await;
    drop(served);
    let served = installation.serve().await;
    assert_eq!(served.caller(&organization, key).activity(&created["id"]).await, created);
}

#[tokio::test]
async fn a_free_port_is_selected_and_reported() {
    let installation = Installation::new(KEY_FILE);
    installation.configure(&format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n\n[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\n\n\
         [key]\n{KEY_FILE}\n"
    ));
    installation.create_organization("reachable", &Key::named("first root user")).await;
    let served = installation.serve().await;
    let status = served.get("/console/v1/status").await.success();
    let port = status["baseUrl"].as_str().and_then(|url| url.strip_prefix("http://127.0.0.1:"));
    let port: u16 = port.and_then(|port| port.parse().ok()).expect("a base URL with a port");
    assert_ne!(port, 0, "{status:#}");
    std::net::TcpStream::connect(("127.0.0.1", port)).expect("the daemon listens on the reported port");
    installation.logs(&format!("127.0.0.1:{port}")).await;
}

#[tokio::test]
async fn a_passphrase_decrypts_the_root_key() {
    let installation = Installation::new("passphrase_file = \"passphrase\"");
    let phrase = |text: &str| {
        fs::write(installation.path("passphrase"), text).expect("written");
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(installation.path("passphrase"), private).expect("permitted");
    };
    phrase("correct horse battery staple\n");
    let key = Key::named("first root user");
    let organization = installation.create_organization("sealed", &key).await;
    phrase("wrong horse battery staple\n");
    let failed = installation.run("serve", &[]).await;
    assert_eq!(failed.code, WRONG_KEY, "{failed:#?}");
    phrase("correct horse battery staple\n");
    let served = installation.serve().await;
    served.caller(&organization, key).fetch("whoami", json!({})).await;
}

#[tokio::test]
async fn each_failed_start_has_an_exit_code_and_a_message() {
    let installation = Installation::new(KEY_FILE);
    let assert_refused = async |code: i32, words: &str| {
        let run = installation.run("serve", &[]).await;
        assert_eq!(run.code, code, "{words}: {run:#?}");
        assert!(run.stderr.contains(words), "{words}: {run:#?}");
    };
    assert_refused(NO_STORE, "no store in").await;
    let key = Key::named("first root user");
    let organization = installation.create_organization("failures", &key).await;

    let (file, aside) = (installation.path("root.key"), installation.path("aside.key"));
    fs::rename(&file, &aside).expect("moved");
    assert_refused(NO_KEY, "not found").await;
    assert!(!file.exists(), "no new key is created for an existing store");

    let mut text = fs::read_to_string(&aside).expect("read");
    let other = if text.starts_with('0') { "1" } else { "0" };
    text.replace_range(..1, other);
    fs::write(&file, &text).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permitted");
    assert_refused(WRONG_KEY, "wrong key").await;

    fs::write(&file, "not a key").expect("written");
    assert_refused(WRONG_KEY, "must contain 64 hex digits").await;

    fs::rename(&aside, &file).expect("moved");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("permitted");
    assert_refused(WRONG_KEY, "is accessible to other users").await;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permitted");

    let served = installation.serve().await;
    assert_refused(IN_USE, "in use").await;
    let root = served.caller(&organization, key);
    root.fetch("whoami", json!({})).await;
}

#[tokio::test]
async fn secret_files_readable_by_others_are_rejected() {
    let passphrase = Installation::new("passphrase_file = \"passphrase\"");
    fs::write(passphrase.path("passphrase"), "correct horse").expect("written");
    fs::set_permissions(passphrase.path("passphrase"), fs::Permissions::from_mode(0o640)).expect("permitted");
    let tls = Installation::new(KEY_FILE);
    tls.create_organization("secrets", &Key::named("first root user")).await;
    tls.configure(&format!(
        "[http]\nlisten = \"127.0.0.1:0\"\ntls_certificate = \"c\"\ntls_key = \"k\"\n\
         [socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\n[key]\n{KEY_FILE}\n"
    ));
    // Their content is read later.
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(tls.path("c"), pem).expect("written");
    fs::write(tls.path("k"), "key").expect("written");
    fs::set_permissions(tls.path("k"), fs::Permissions::from_mode(0o604)).expect("permitted");
    for (installation, mode) in [(passphrase, "0640"), (tls, "0604")] {
        let run = installation.run("serve", &[]).await;
        assert_eq!(run.code, WRONG_KEY, "{run:#?}");
        assert!(run.stderr.contains(&format!("is accessible to other users (mode {mode})")), "{run:#?}");
    }
}

#[tokio::test]
async fn configuration_errors_name_key_and_line() {
    let installation = Installation::new(KEY_FILE);
    installation.configure(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\ncolour = \"red\"\n\n[key]\nfile = 7\n",
    );
    let failed = installation.run("serve", &[]).await;
    assert_eq!(failed.code, WRONG_USAGE);
    for words in ["colour", "6", "file", "9"] {
        assert!(failed.stderr.contains(words), "both problems, each with key and line: {failed:#?}");
    }
    let missing = installation::run(&installation.path(""), &["serve", "--config", "no-such.toml"]).await;
    assert_eq!(missing.code, WRONG_USAGE);
    assert!(missing.stderr.contains("no-such.toml: No such file"), "{missing:#?}");
}

#[tokio::test]
async fn dev_mode_listens_on_loopback_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let data = data.to_str().expect("UTF-8");
    let start = async |more: &[&str]| {
        let mut arguments = vec!["dev", "--no-demo", "--data-dir", data];
        arguments.extend(more);
        installation::run(folder.path(), &arguments).await
    };
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let failed = start(&["--listen", address]).await;
        assert_eq!(failed.code, WRONG_USAGE, "{address}: {failed:#?}");
        assert!(failed.stderr.contains("loopback"), "{address}: {failed:#?}");
    }
    for wrong in [["--users", "0"], ["--threshold", "4"], ["--threshold", "0"]] {
        assert_eq!(start(&wrong).await.code, WRONG_USAGE, "{wrong:?}");
    }
}

#[tokio::test]
async fn a_second_daemon_does_not_disturb_the_first() {
    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let folder = tempfile::tempdir().expect("a folder");
    let text = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let (data, socket) = (text(daemon.data()), text(&folder.path().join("socket")));
    let same_data = ["dev", "--no-demo", "--listen", "127.0.0.1:0", "--data-dir", &data, "--socket", &socket];
    let failed = installation::run(folder.path(), &same_data).await;
    assert_eq!(failed.code, IN_USE, "{failed:#?}");
    assert!(failed.stderr.contains("in use"), "{failed:#?}");

    let (address, own_data) = (daemon.address().to_string(), text(&folder.path().join("data")));
    let same_port = ["dev", "--no-demo", "--listen", &address, "--data-dir", &own_data, "--socket", &socket];
    let failed = installation::run(folder.path(), &same_port).await;
    assert_eq!(failed.code, ADDRESS_IN_USE, "{failed:#?}");

    let own_data = text(&folder.path().join("more"));
    let living = text(&daemon.credentials().socket);
    let same_socket =
        ["dev", "--no-demo", "--listen", "127.0.0.1:0", "--data-dir", &own_data, "--socket", &living];
    let failed = installation::run(folder.path(), &same_socket).await;
    assert_eq!(failed.code, ADDRESS_IN_USE, "{failed:#?}");

    daemon.root(0).fetch("whoami", json!({})).await;
    let over_socket = daemon.root(0);
    let over_socket = quorate_tests::caller::Caller::new(
        daemon.socket(),
        over_socket.organization(),
        over_socket.key().clone(),
    );
    over_socket.fetch("whoami", json!({})).await;
}

#[tokio::test]
async fn stops_cleanly_and_continues_after_a_restart() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let body = root.proposal(CREATE_WALLET, &requests::wallet("kept"));
    let created = root.send(&submit_path(CREATE_WALLET), &body).await.activity();
    let before = daemon.credentials().clone();
    assert_eq!(daemon.stop(Signal::TERM).await.code(), Some(0));
    assert!(!before.socket.exists(), "the socket is gone");
    let stops = daemon.log().lines().filter(|line| line.contains("stopping signal=\"SIGTERM\"")).count();
    assert_eq!(stops, 1, "{}", daemon.log());
    daemon.restart().await;
    assert_eq!(daemon.credentials().organization_id, before.organization_id);
    assert_eq!(daemon.root(0).activity(&created["id"]).await, created);
    assert_eq!(daemon.stop(Signal::INT).await.code(), Some(0));
}

#[tokio::test]
async fn a_file_of_redb_is_checked_only_after_a_kill() {
    let mut daemon = Daemon::start(Options::quorum(1, 1).on_engine("redb")).await;
    let checks = |daemon: &Daemon| daemon.log().matches("the store was not closed").count();
    assert_eq!(daemon.stop(Signal::TERM).await.code(), Some(0));
    daemon.restart().await;
    assert_eq!(checks(&daemon), 0, "{}", daemon.log());
    daemon.root(0).completed(CREATE_WALLET, &requests::wallet("changed")).await;
    daemon.kill();
    daemon.restart().await;
    assert_eq!(checks(&daemon), 1, "{}", daemon.log());
}

#[tokio::test]
async fn a_stop_completes_accepted_requests() {
    let mut daemon = Daemon::start(Options::quorum(1, 1)).await;
    let address = requests::create_wallet(&daemon.root(0), "stopped").await;
    let mut load = quorate_tests::load::Load::prepare(&daemon).await;
    let mut running = load.start(&daemon);
    running.until_acknowledged(20).await;
    assert_eq!(daemon.stop(Signal::TERM).await.code(), Some(0));
    running.join().await;
    daemon.restart().await;
    load.examine(&daemon).await;
    daemon.root(0).completed(requests::SIGN, &requests::sign(&address, "after")).await;
}

#[tokio::test]
async fn dev_mode_writes_private_credentials_and_demo_data() {
    let daemon = Daemon::start(Options::demo()).await;
    let mode = fs::metadata(daemon.credentials_file()).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(daemon.credentials().quorum_public_key.len(), 130);
    let root = daemon.root(0);
    let waiting = json!({ "filterByStatus": ["ACTIVITY_STATUS_CONSENSUS_NEEDED"] });
    let waiting = root.fetch("list_activities", waiting).await;
    assert_eq!(waiting["activities"].as_array().map(Vec::len), Some(2), "two activities to approve");
    let wallets = root.fetch("list_wallets", json!({})).await;
    assert_eq!(wallets["wallets"].as_array().map(Vec::len), Some(1));
}

/// Returns a size in KiB from a status file of the kernel, or `None` if it is unlimited.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name)).expect("the kernel reports it");
    line.split_whitespace().find_map(|word| word.parse().ok())
}

#[tokio::test]
async fn cached_keys_are_in_locked_memory() {
    // A table of 4,160 slots takes between one and two MiB.
    const TABLE_KIB: u64 = 1024;
    const CAP_IPC_LOCK: u32 = 14;

    let daemon = Daemon::start(Options::quorum(1, 1)).await;
    let root = daemon.root(0);
    let address = requests::create_wallet(&root, "locked").await;
    root.completed(requests::SIGN, &requests::sign(&address, "locked")).await;

    let over_socket =
        quorate_tests::caller::Caller::new(daemon.socket(), root.organization(), root.key().clone());
    let status = over_socket.call(hyper::Method::GET, "/console/v1/status", &[], b"").await;
    let status: serde_json::Value = serde_json::from_slice(&status.body).expect("JSON");
    let is_locked = status["keysLocked"].as_bool().expect("a status");

    let process = Path::new("/proc").join(daemon.process_id().as_raw_nonzero().to_string());
    let facts = fs::read_to_string(process.join("status")).expect("facts of a process");
    let locked = kibibytes(&facts, "VmLck:").expect("a size");
    assert_eq!(is_locked, locked >= TABLE_KIB, "{locked} KiB are locked: {status:#}");

    let limits = fs::read_to_string(process.join("limits")).expect("limits of a process");
    let bytes = kibibytes(&limits, "Max locked memory");
    let capabilities = facts.lines().find_map(|line| line.strip_prefix("CapEff:")).expect("capabilities");
    let capabilities = u64::from_str_radix(capabilities.trim(), 16).expect("a mask");
    let can_lock = capabilities >> CAP_IPC_LOCK & 1 == 1;
    if can_lock || bytes.is_none_or(|bytes| bytes >= 4 * TABLE_KIB * 1024) {
        assert!(is_locked, "{limits}");
    }
}
