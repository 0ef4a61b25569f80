//! What goes wrong while slots are changed, while shares are given and while a daemon is sealed.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;

use hyper::Method;
use quorate_common::bundle::{TargetKey, TargetPublicKey};
use quorate_common::share::{self, Share, ShareLetter};
use quorate_tests::disk::Disk;
use quorate_tests::installation::{self, Installation, Run, RunningDaemon};
use quorate_tests::memory::count;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Holder, KEY_FILE, SHARES, Stage, created, is_sealed, slot_ids, slots, use_key};

const MISSING: i32 = 3;
const IN_USE: i32 = 6;

fn fill(bytes: &mut [u8]) {
    fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, bytes))
        .expect("bytes");
}

pub(super) fn process(served: &RunningDaemon) -> Pid {
    Pid::from_raw(served.process_id().try_into().expect("a process id")).expect("a process")
}

async fn post(served: &RunningDaemon, path: &str, body: &[u8]) -> u16 {
    let mut connection = served.listener().connect().await.expect("the daemon accepts connections");
    connection.call(Method::POST, path, &[], body).await.expect("an answer").status
}

/// Gives shares without a console, whose key the test has.
async fn give(served: &RunningDaemon, shares: &[&Share]) {
    for share in shares {
        let status: Value = serde_json::from_slice(&served.get("/console/v1/seal").await.body).expect("JSON");
        let attempt = TargetPublicKey::parse(status["attempt"].as_str().expect("an attempt")).expect("a key");
        let given = serde_json::to_vec(&share.give(&attempt, &mut fill).expect("a share")).expect("JSON");
        assert_eq!(post(served, "/console/v1/unseal", &given).await, 200);
    }
}

async fn rekey_to(
    installation: &Installation,
    letters: &str,
    holders: &[(&str, String)],
    more: &[&str],
) -> Run {
    let named: Vec<String> = holders.iter().map(|(name, key)| format!("{name}={key}")).collect();
    let mut words = vec!["--threshold", "2", "--letters", letters];
    words.extend(named.iter().flat_map(|holder| ["--holder", holder.as_str()]));
    words.extend(more);
    installation.run("rekey", &words).await
}

#[tokio::test]
async fn shares_and_slot_keys_do_not_stay_in_memory() {
    let (installation, served, _, _) = created().await;
    let keys = [(); 3].map(|()| TargetKey::generate(&mut fill));
    let holders: Vec<_> =
        ["mira", "jo", "zoe"].into_iter().zip(&keys).map(|(name, key)| (name, key.public().hex())).collect();
    let folder = installation.path("letters");
    let file_slot = slot_ids(&installation).await;
    let run =
        rekey_to(&installation, folder.to_str().expect("UTF-8"), &holders, &["--replace", &file_slot[0]])
            .await;
    assert_eq!(run.code, 0, "{run:#?}");
    let mut shares = Vec::new();
    for file in fs::read_dir(&folder).expect("letters") {
        let letter = ShareLetter::parse(&fs::read(file.expect("a letter").path()).expect("a letter"))
            .expect("a letter");
        let key = keys.iter().find(|key| key.public().compressed_hex() == letter.public_key);
        shares.push(letter.open(key.expect("the key of the holder")).expect("a share"));
    }
    let [first, second, third] = &shares[..] else { panic!("three shares") };
    let slot_key = share::combine(&[first, second]).expect("a key");
    if count(process(&served), b"quorate").is_none() {
        eprintln!("SKIPPED: the memory of the daemon is protected from this user; root can search it");
        return;
    }
    give(&served, &[first]).await;
    assert_ne!(count(process(&served), first.value()), Some(0), "the search finds a share that is waiting");
    give(&served, &[second]).await;
    drop(served);

    use_key(&installation, SHARES);
    let served = installation.serve_until(is_sealed).await;
    give(&served, &[third, first]).await;
    served.becomes_ready().await;
    for secret in [first.value(), second.value(), third.value(), slot_key.as_slice()] {
        assert_eq!(count(process(&served), secret), Some(0));
    }
}

#[tokio::test]
async fn a_stop_signal_that_arrives_while_the_daemon_is_sealed_ends_it() {
    let stage = Stage::prepare(true).await;
    let mut served = stage.installation.serve().await;
    // A request whose body does not end delays the end of the service.
    let mut slow = UnixStream::connect(stage.installation.path("run/socket")).expect("a connection");
    let head = b"POST /public/v1/query/whoami HTTP/1.1\r\nHost: quorate\r\nContent-Length: 100\r\n\r\n{";
    slow.write_all(head).expect("half of a request");
    assert_eq!(post(&served, "/console/v1/seal", b"{}").await, 200);
    stage.installation.logs("sealing").await;
    kill_process(process(&served), Signal::TERM).expect("the daemon runs");
    stage.installation.logs("SIGTERM").await;
    drop(slow);
    assert_eq!(served.ended().await, 0);
    let log = fs::read_to_string(stage.installation.path("log")).expect("a log");
    assert!(!log.contains("starting again"), "{log}");
}

#[tokio::test]
async fn a_daemon_that_could_not_start_again_is_not_sealed() {
    // Without a set of shares.
    let (installation, served, organization, key) = created().await;
    let run = installation.run("seal", &["--confirm", "seal"]).await;
    assert!(run.code == 1 && run.stderr.contains("no slot is opened by shares"), "{run:#?}");
    assert_eq!(post(&served, "/console/v1/seal", b"{}").await, 400);
    served.caller(&organization, key).fetch("whoami", serde_json::json!({})).await;
    drop(served);

    // With a configuration that was changed since the start.
    let stage = Stage::prepare(true).await;
    let served = stage.installation.serve().await;
    let configuration = stage.installation.path("quorated.toml");
    let valid = fs::read_to_string(&configuration).expect("a configuration");
    stage.installation.configure(&format!("{valid}\n[unknown]\n"));
    let other = stage.installation.path("other.toml");
    fs::write(&other, valid).expect("a configuration");
    let words = ["seal", "--confirm", "seal", "--config", other.to_str().expect("UTF-8")];
    let run = installation::run(&stage.installation.path(""), &words).await;
    assert_eq!(run.code, 1, "{run:#?}");
    assert!(
        run.stderr.contains("could not start again") && run.stderr.contains("unknown section"),
        "{run:#?}"
    );
    stage.root(&served).fetch("whoami", serde_json::json!({})).await;
}

#[tokio::test]
async fn nobody_else_opens_the_store_of_a_sealed_daemon() {
    let stage = Stage::prepare(true).await;
    use_key(&stage.installation, SHARES);
    let _sealed = stage.installation.serve_until(is_sealed).await;
    use_key(&stage.installation, KEY_FILE);
    let run = stage.installation.run("verify", &[]).await;
    assert_eq!(run.code, IN_USE, "{run:#?}");
}

#[tokio::test]
async fn a_set_whose_letters_cannot_all_be_written_is_removed() {
    let (installation, _served, _, _) = created().await;
    // Two letters have room, three do not.
    let disk = match Disk::of_memory(8 << 10) {
        Ok(disk) => disk,
        Err(cause) => {
            eprintln!("SKIPPED: small file systems need root ({cause})");
            return;
        }
    };
    let holders = Holder::all(&installation, &["mira", "jo", "zoe"]).await;
    let holders: Vec<_> = holders.iter().map(|holder| (holder.name, holder.public_key.clone())).collect();
    let folder = disk.root().join("letters");
    let run = rekey_to(&installation, folder.to_str().expect("UTF-8"), &holders, &[]).await;
    assert!(run.code == MISSING && run.stderr.contains("writing the letter"), "{run:#?}");
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 0);
    assert_eq!(slots(&installation).await.len(), 1);
}

#[tokio::test]
async fn a_key_file_that_is_none_is_refused() {
    let (installation, _served, _, _) = created().await;
    let [pipe, wide, passphrase] = ["pipe", "wide.key", "short"].map(|name| installation.path(name));
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    fs::write(&wide, "00".repeat(32)).expect("a file");
    installation.write_secret("short", "short\n");
    for (option, path, code, words) in [
        ("--key-file", &pipe, 2, "must contain 64 hex digits"),
        ("--key-file", &wide, 5, "is accessible to other users"),
        ("--passphrase-file", &passphrase, 2, "the passphrase is too short"),
        ("--passphrase-file", &installation.path("absent"), 2, "cannot read"),
        ("--key-file", &installation.path("absent/key"), 2, "does not exist"),
    ] {
        let configuration = installation.path("quorated.toml");
        let words_given = [
            "slot",
            "add",
            "--config",
            configuration.to_str().expect("UTF-8"),
            option,
            path.to_str().expect("UTF-8"),
        ];
        let run = installation::run(&installation.path(""), &words_given).await;
        assert!(run.code == code && run.stderr.contains(words), "{option} {}: {run:#?}", path.display());
    }
    assert_eq!(slots(&installation).await.len(), 1);
}
