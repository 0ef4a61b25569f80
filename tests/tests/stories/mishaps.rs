//! What an operator finds when something is missing or full at a start: what is said, what helps, and that nothing is
//! changed. And that a restored backup works as the README says.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use quorate_tests::daemon::GLANCE;
use quorate_tests::disk::Disk;
use quorate_tests::http::PATIENCE;
use quorate_tests::installation::{Installation, Run};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::json;

const KEY_FILE: &str = "file = \"root.key\"";

const FAILED: i32 = 1;
const UNUSABLE: i32 = 3;
const NO_KEY: i32 = 4;
const IN_USE: i32 = 6;
const DAMAGED: i32 = 7;
const LOST: i32 = 9;

/// All files below a folder with their content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        if path.is_dir() {
            found.insert(name, Vec::new());
            found.extend(files(&path));
        } else {
            found.insert(name, fs::read(&path).expect("a file"));
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copied");
        }
    }
}

fn says(run: &Run, code: i32, words: &str) {
    assert_eq!(run.code, code, "{words}: {run:#?}");
    assert!(run.complaint.contains(words), "{words}: {run:#?}");
}

/// Runs each command that opens the store.
async fn each_command(installation: &Installation, code: i32, words: &str) {
    let root_user = format!("root={}", Key::named("somebody").public_key());
    for (command, more) in [
        ("serve", &[][..]),
        ("verify", &[]),
        ("quorum-key", &[]),
        ("accept-loss", &["--confirm", "lost"]),
        ("accept-clock", &["--confirm", "back"]),
        ("init", &["--name", "second", "--root-user", &root_user]),
    ] {
        let run = installation.run(command, more).await;
        assert_eq!(run.code, code, "{command}: {run:#?}");
        assert!(run.complaint.contains(words), "{command}: {words}: {run:#?}");
    }
}

#[tokio::test]
async fn a_store_without_its_header_is_left_alone() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("founder");
    let organization = installation.found("headless", &key).await;
    let (header, aside) = (installation.path("data/quorate.json"), installation.path("header"));
    fs::rename(&header, &aside).expect("moved");
    let before = files(&installation.path("data"));
    let words = format!(
        "the store in {} has no quorate.json; restore that file from the backup",
        installation.path("data").display()
    );
    each_command(&installation, DAMAGED, &words).await;
    let data = installation.path("data");
    let dev = ["dev", "--no-demo", "--listen", "127.0.0.1:0", "--data-dir", data.to_str().expect("UTF-8")];
    says(&quorate_tests::installation::run(&installation.path(""), &dev).await, DAMAGED, &words);
    assert!(files(&data) == before, "the store is changed");

    // Without the key, too, no new one is made.
    fs::rename(installation.path("root.key"), installation.path("key")).expect("moved");
    each_command(&installation, DAMAGED, &words).await;
    assert!(files(&data) == before && !installation.path("root.key").exists());
    fs::rename(installation.path("key"), installation.path("root.key")).expect("moved");

    fs::rename(&aside, &header).expect("moved");
    let served = installation.serve().await;
    served.caller(&organization, key).ask("whoami", json!({})).await;
}

#[tokio::test]
async fn a_missing_key_is_restored_and_never_replaced() {
    let installation = Installation::new(KEY_FILE);
    installation.found("keyless", &Key::named("founder")).await;
    let file = installation.path("root.key");
    fs::rename(&file, installation.path("aside")).expect("moved");
    let words = format!(
        "the key file {} does not exist, and the store in {} needs it; restore it from your copy, or correct [key]",
        file.display(),
        installation.path("data").display()
    );
    each_command(&installation, NO_KEY, &words).await;
    assert!(!file.exists());
}

#[tokio::test]
async fn folders_that_init_needs_are_checked_first() {
    let installation = Installation::new("file = \"keys/root.key\"");
    let section = |guard: &str| {
        format!(
            "[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\nguard = \"{guard}\"\n[key]\nfile = \
             \"keys/root.key\"\n"
        )
    };
    installation.configure(&section("guards/guard"));
    let root_user = format!("root={}", Key::named("founder").public_key());
    let init = async || installation.run("init", &["--name", "first", "--root-user", &root_user]).await;
    let missing = |folder: &str, file: &str| {
        let folder = installation.path(folder);
        format!("the folder {} of the {file} file does not exist; create it (mode 0700)", folder.display())
    };
    says(&init().await, UNUSABLE, &missing("keys", "key"));
    fs::create_dir(installation.path("keys")).expect("a folder");
    says(&init().await, UNUSABLE, &missing("guards", "guard"));
    assert!(!installation.path("data").exists() && !installation.path("keys/root.key").exists());
    fs::create_dir(installation.path("guards")).expect("a folder");
    assert_eq!(init().await.code, 0);

    // A guard file whose store is gone is a loss, not a new beginning.
    fs::rename(installation.path("data"), installation.path("aside")).expect("moved");
    says(&init().await, LOST, "belongs to a store that is not in");
    assert!(!installation.path("data").exists());
}

#[tokio::test]
async fn a_second_organization_of_a_name_is_asked_for() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("founder");
    let first = installation.found("treasury", &key).await;
    let root_user = format!("root={}", key.public_key());
    let init = ["--name", "treasury", "--root-user", &root_user];
    let refused = installation.run("init", &init).await;
    says(
        &refused,
        FAILED,
        "the store has an organization named \"treasury\"; pass --another to create one more",
    );
    let made = installation.run("init", &[&init[..], &["--another"]].concat()).await;
    assert_eq!(made.code, 0, "{made:#?}");
    assert!(!made.output.contains(&first), "{made:#?}");
    installation.found("another name", &key).await;
}

#[tokio::test]
async fn a_damaged_store_is_named_as_such() {
    let installation = Installation::new(KEY_FILE);
    installation.found("damaged", &Key::named("founder")).await;
    for entry in fs::read_dir(installation.path("data/store")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_file() && path.file_name().is_some_and(|name| name != "db") {
            fs::write(&path, [b'x'; 4096]).expect("written");
        }
    }
    let words = format!(
        "the store in {} is damaged and cannot be opened; restore a backup\n",
        installation.path("data/store").display()
    );
    each_command(&installation, DAMAGED, &words).await;
}

#[tokio::test]
async fn a_daemon_that_starts_on_a_full_disk_answers_reads() {
    let Ok(disk) = Disk::of_memory(96 << 20) else { return };
    let installation = Installation::new(KEY_FILE);
    let data = disk.root().join("data");
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"{}\"\n\n[key]\n{KEY_FILE}\n",
        data.display()
    ));
    let key = Key::named("founder");
    let organization = installation.found("full", &key).await;
    disk.fill();
    let problem = "Not ready: the file system of the store is full";
    let served = installation.serve_until(|readiness| readiness.json()["message"] == problem).await;
    let root = served.caller(&organization, key);
    root.ask("whoami", json!({})).await;
    let wallet = requests::wallet("full");
    assert_eq!(root.submit(CREATE_WALLET, &wallet).await.status, 503);
    let log = fs::read_to_string(installation.path("log")).expect("a log");
    let words = format!("the file system of {} is full; free at least ", data.join("store").display());
    assert!(log.contains(&words) && log.contains(" MiB ([store] reserve_mib)"), "{log}");
    disk.free();
    let begun = Instant::now();
    while root.submit(CREATE_WALLET, &wallet).await.status != 200 {
        assert!(begun.elapsed() < PATIENCE, "no writes are taken although there is room");
        tokio::time::sleep(GLANCE).await;
    }
}

#[tokio::test]
async fn two_first_starts_at_once_make_one_store() {
    for _ in 0..5 {
        let installation = Installation::new(KEY_FILE);
        let configuration = installation.path("quorated.toml");
        let init = async |name: &str| {
            let root_user = format!("root={}", Key::named(name).public_key());
            let elsewhere = tempfile::tempdir().expect("a folder");
            let file = configuration.to_str().expect("UTF-8");
            let arguments = ["init", "--config", file, "--name", name, "--root-user", &root_user];
            quorate_tests::installation::run(elsewhere.path(), &arguments).await
        };
        let (first, second) = tokio::join!(init("first"), init("second"));
        let codes = [first.code, second.code];
        assert!(codes.contains(&0), "{first:#?} {second:#?}");
        // The other one comes while the store is in use, or later.
        assert!(codes.iter().all(|code| [0, IN_USE].contains(code)), "{first:#?} {second:#?}");
        assert!(!installation.path("data/store/unused").exists());
        assert_eq!(installation.run("verify", &[]).await.code, 0);
    }
}

#[tokio::test]
async fn files_that_cannot_be_used_are_not_called_damage() {
    let installation = Installation::new(KEY_FILE);
    installation.found("unusable", &Key::named("founder")).await;
    // A folder where a file must be is an error of the system for every user, root included.
    let log = installation.path("data/store/db");
    fs::rename(&log, installation.path("db")).expect("moved");
    fs::create_dir(&log).expect("a folder");
    let run = installation.run("serve", &[]).await;
    says(&run, UNUSABLE, &format!("opening the store in {}", installation.path("data/store").display()));
}

#[tokio::test]
async fn a_backup_is_restored_as_the_readme_says() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("founder");
    let organization = installation.found("restored", &key).await;
    let served = installation.serve().await;
    served.caller(&organization, key.clone()).completed(CREATE_WALLET, &requests::wallet("kept")).await;
    drop(served);
    // Everything but the guard file.
    let backup = tempfile::tempdir().expect("a folder");
    copy(&installation.path("data"), backup.path());
    fs::remove_file(backup.path().join("guard")).expect("removed");
    let served = installation.serve().await;
    served.caller(&organization, key.clone()).completed(CREATE_WALLET, &requests::wallet("lost")).await;
    drop(served);

    let guard = fs::read(installation.path("data/guard")).expect("a guard file");
    fs::remove_dir_all(installation.path("data/store")).expect("removed");
    // As when the disk of the store is not mounted.
    let run = installation.run("accept-loss", &["--confirm", "lost"]).await;
    says(&run, LOST, "there is nothing in the store; is its disk mounted?");
    assert_eq!(fs::read(installation.path("data/guard")).expect("a guard file"), guard);
    fs::remove_dir_all(installation.path("data/store")).expect("removed");
    copy(backup.path(), &installation.path("data"));
    let on_purpose = "; to go on with what is there, run 'quorated accept-loss'";
    let run = installation.run("serve", &[]).await;
    says(&run, LOST, "the store lost acknowledged changes: it ends at 20");
    says(&run, LOST, " later commits are missing (the guard file ");
    says(&run, LOST, on_purpose);
    let run = installation.run("verify", &[]).await;
    says(&run, LOST, on_purpose);
    assert!(run.output.contains("are complete and unchanged"), "{run:#?}");
    fs::remove_file(installation.path("data/guard")).expect("removed");
    says(&installation.run("verify", &[]).await, LOST, on_purpose);
    fs::write(installation.path("data/guard"), guard).expect("written");
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(installation.path("data/guard"), private).expect("permitted");

    let run = installation.run("accept-loss", &["--confirm", "lost"]).await;
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.output.starts_with("accepted: changes after 20"), "{run:#?}");
    assert!(run.output.ends_with(" UTC are lost; start the daemon\n"), "{run:#?}");
    assert_eq!(installation.run("verify", &[]).await.code, 0);
    let served = installation.serve().await;
    let wallets = served.caller(&organization, key).ask("list_wallets", json!({})).await;
    let names: Vec<_> =
        wallets["wallets"].as_array().expect("a list").iter().map(|one| &one["walletName"]).collect();
    assert_eq!(names, ["kept"]);
}
