//! Starts with missing or damaged files or a full disk: the message, its remedy, and that nothing is changed.
//! Also restores a backup as the README describes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;

use quorate_tests::daemon::{POLL_INTERVAL, data_file, engine};
use quorate_tests::disk::Disk;
use quorate_tests::http::TIMEOUT;
use quorate_tests::installation::{Installation, Run};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::json;

const KEY_FILE: &str = "file = \"root.key\"";

const FAILED: i32 = 1;
const USAGE: i32 = 2;
const UNUSABLE: i32 = 3;
const NO_KEY: i32 = 4;
const IN_USE: i32 = 6;
const DAMAGED: i32 = 7;
const LOST: i32 = 10;

/// Returns all files below a folder with their content.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.display().to_string();
        if path.is_dir() {
            contents.insert(name, Vec::new());
            contents.extend(files(&path));
        } else {
            contents.insert(name, fs::read(&path).expect("a file"));
        }
    }
    contents
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

fn assert_run(run: &Run, code: i32, words: &str) {
    assert_eq!(run.code, code, "{words}: {run:#?}");
    assert!(run.stderr.contains(words), "{words}: {run:#?}");
}

/// Asserts exit code and message of each command that opens the store.
async fn assert_each_command(installation: &Installation, code: i32, words: &str) {
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
        assert!(run.stderr.contains(words), "{command}: {words}: {run:#?}");
    }
}

#[tokio::test]
async fn a_store_without_its_header_is_not_changed() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("without header", &key).await;
    let (header, aside) = (installation.path("data/quorate.json"), installation.path("header"));
    fs::rename(&header, &aside).expect("moved");
    let before = files(&installation.path("data"));
    let words = format!(
        "the store in {} has no quorate.json; restore that file from a backup",
        installation.path("data").display()
    );
    assert_each_command(&installation, DAMAGED, &words).await;
    let data = installation.path("data");
    let dev = ["dev", "--no-demo", "--listen", "127.0.0.1:0", "--data-dir", data.to_str().expect("UTF-8")];
    assert_run(&quorate_tests::installation::run(&installation.path(""), &dev).await, DAMAGED, &words);
    assert!(files(&data) == before, "the store is changed");

    // Even without the key file, no new key is created.
    fs::rename(installation.path("root.key"), installation.path("key")).expect("moved");
    assert_each_command(&installation, DAMAGED, &words).await;
    assert!(files(&data) == before && !installation.path("root.key").exists());
    fs::rename(installation.path("key"), installation.path("root.key")).expect("moved");

    fs::rename(&aside, &header).expect("moved");
    let served = installation.serve().await;
    served.caller(&organization, key).fetch("whoami", json!({})).await;
}

#[tokio::test]
async fn a_missing_key_file_is_never_replaced() {
    let installation = Installation::new(KEY_FILE);
    installation.create_organization("without key", &Key::named("first root user")).await;
    let file = installation.path("root.key");
    fs::rename(&file, installation.path("aside")).expect("moved");
    let words = format!(
        "key file {} not found, and the store in {} needs it; restore it from your copy, or correct [key]",
        file.display(),
        installation.path("data").display()
    );
    assert_each_command(&installation, NO_KEY, &words).await;
    assert!(!file.exists());
}

#[tokio::test]
async fn init_checks_its_folders_before_it_writes() {
    let installation = Installation::new("file = \"keys/root.key\"");
    let section = |guard: &str| {
        format!(
            "[socket]\npath = \"run/socket\"\n[store]\npath = \"data\"\nguard = \"{guard}\"\n[key]\nfile = \
             \"keys/root.key\"\n"
        )
    };
    installation.configure(&section("guards/guard"));
    let root_user = format!("root={}", Key::named("first root user").public_key());
    let init = async || installation.run("init", &["--name", "first", "--root-user", &root_user]).await;
    let missing = |folder: &str, file: &str| {
        let folder = installation.path(folder);
        format!(
            "the directory {} of the {file} file does not exist; create it with mode 0700",
            folder.display()
        )
    };
    assert_run(&init().await, UNUSABLE, &missing("keys", "key"));
    fs::create_dir(installation.path("keys")).expect("a folder");
    assert_run(&init().await, UNUSABLE, &missing("guards", "guard"));
    assert!(!installation.path("data").exists() && !installation.path("keys/root.key").exists());
    fs::create_dir(installation.path("guards")).expect("a folder");
    assert_eq!(init().await.code, 0);

    // A guard file without its store means lost data, not a first start.
    fs::rename(installation.path("data"), installation.path("aside")).expect("moved");
    for run in [init().await, installation.run("serve", &[]).await, installation.run("verify", &[]).await] {
        assert_run(&run, LOST, "belongs to a store that is not in");
    }
    assert!(!installation.path("data").exists());
}

#[tokio::test]
async fn a_duplicate_organization_name_needs_confirmation() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let first = installation.create_organization("treasury", &key).await;
    let root_user = format!("root={}", key.public_key());
    let init = ["--name", "treasury", "--root-user", &root_user];
    let rejected = installation.run("init", &init).await;
    assert_run(
        &rejected,
        FAILED,
        "an organization named \"treasury\" already exists; pass --another to create one more",
    );
    let created = installation.run("init", &[&init[..], &["--another"]].concat()).await;
    assert_eq!(created.code, 0, "{created:#?}");
    assert!(!created.output.contains(&first), "{created:#?}");
    installation.create_organization("another name", &key).await;
}

#[tokio::test]
async fn root_users_with_the_same_key_are_rejected() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("shared key");
    let users = ["mira", "jo"].map(|name| format!("{name}={}", key.public_key()));
    let init = ["--name", "treasury", "--root-user", &users[0], "--root-user", &users[1]];
    let rejected = installation.run("init", &init).await;
    let message = "--root-user: \"mira\" and \"jo\" have the same public key; create a key for each user with \
                   'quorate key add'";
    assert_run(&rejected, USAGE, message);
    assert!(!installation.path("data").exists(), "nothing was created");
}

#[tokio::test]
async fn a_damaged_store_is_reported_as_damaged() {
    let installation = Installation::new(KEY_FILE);
    installation.create_organization("damaged", &Key::named("first root user")).await;
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
    assert_each_command(&installation, DAMAGED, &words).await;
}

#[tokio::test]
async fn a_daemon_started_on_a_full_disk_answers_reads() {
    let Ok(disk) = Disk::of_memory(96 << 20) else { return };
    let installation = Installation::new(KEY_FILE);
    let data = disk.root().join("data");
    installation.configure(&format!(
        "[socket]\npath = \"run/socket\"\n\n[store]\npath = \"{}\"\n\n[key]\n{KEY_FILE}\n",
        data.display()
    ));
    let key = Key::named("first root user");
    let organization = installation.create_organization("full", &key).await;
    disk.fill();
    let problem = "Not ready: the file system of the store is full";
    let served = installation.serve_until(|readiness| readiness.json()["message"] == problem).await;
    let root = served.caller(&organization, key);
    root.fetch("whoami", json!({})).await;
    let wallet = requests::wallet("full");
    assert_eq!(root.submit(CREATE_WALLET, &wallet).await.status, 503);
    let log = fs::read_to_string(installation.path("log")).expect("a log");
    let words = format!("the file system of {} is full; free at least ", data.join("store").display());
    assert!(log.contains(&words) && log.contains(" MiB ([store] reserve_mib)"), "{log}");
    disk.free();
    let begun = Instant::now();
    while root.submit(CREATE_WALLET, &wallet).await.status != 200 {
        assert!(begun.elapsed() < TIMEOUT, "no writes are accepted although space is free");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[tokio::test]
async fn concurrent_first_starts_create_one_store() {
    for _ in 0..5 {
        let installation = Installation::new(KEY_FILE);
        let configuration = installation.path("quorated.toml");
        let init = async |name: &str| {
            let root_user = format!("root={}", Key::named(name).public_key());
            let folder = tempfile::tempdir().expect("a folder");
            let file = configuration.to_str().expect("UTF-8");
            let arguments = ["init", "--config", file, "--name", name, "--root-user", &root_user];
            quorate_tests::installation::run(folder.path(), &arguments).await
        };
        let (first, second) = tokio::join!(init("first"), init("second"));
        let codes = [first.code, second.code];
        assert!(codes.contains(&0), "{first:#?} {second:#?}");
        // The second one runs while the store is in use, or afterwards.
        assert!(codes.iter().all(|code| [0, IN_USE].contains(code)), "{first:#?} {second:#?}");
        assert!(!installation.path("data/store/unused").exists());
        assert_eq!(installation.run("verify", &[]).await.code, 0);
    }
}

#[tokio::test]
async fn unusable_files_are_not_reported_as_damage() {
    let installation = Installation::new(KEY_FILE);
    installation.create_organization("unusable", &Key::named("first root user")).await;
    // A folder in the position of a file is an operating system error for every user, including root.
    let file = installation.path("data/store").join(data_file(&engine()));
    fs::rename(&file, installation.path("aside")).expect("moved");
    fs::create_dir(&file).expect("a folder");
    let run = installation.run("serve", &[]).await;
    assert_run(
        &run,
        UNUSABLE,
        &format!("opening the store in {}", installation.path("data/store").display()),
    );
}

#[tokio::test]
async fn a_backup_is_restored_as_documented() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("restored", &key).await;
    let served = installation.serve().await;
    served.caller(&organization, key.clone()).completed(CREATE_WALLET, &requests::wallet("kept")).await;
    drop(served);
    // Copies everything except the guard file.
    let backup = tempfile::tempdir().expect("a folder");
    copy(&installation.path("data"), backup.path());
    fs::remove_file(backup.path().join("guard")).expect("removed");
    let served = installation.serve().await;
    served.caller(&organization, key.clone()).completed(CREATE_WALLET, &requests::wallet("lost")).await;
    drop(served);

    let guard = fs::read(installation.path("data/guard")).expect("a guard file");
    fs::remove_dir_all(installation.path("data/store")).expect("removed");
    // Same as when the disk of the store is not mounted.
    let run = installation.run("accept-loss", &["--confirm", "lost"]).await;
    assert_run(&run, LOST, "is empty; check that its disk is mounted");
    assert_eq!(fs::read(installation.path("data/guard")).expect("a guard file"), guard);
    let _ = fs::remove_dir_all(installation.path("data/store"));
    copy(backup.path(), &installation.path("data"));
    let on_purpose = "; to continue with the present store, run 'quorated accept-loss'";
    let run = installation.run("serve", &[]).await;
    assert_run(&run, LOST, "the store lost acknowledged changes: it ends at 20");
    assert_run(&run, LOST, ", and at least ");
    assert_run(&run, LOST, " missing (the guard file ");
    assert_run(&run, LOST, on_purpose);
    let run = installation.run("verify", &[]).await;
    assert_run(&run, LOST, on_purpose);
    assert!(run.output.contains("are complete and unchanged"), "{run:#?}");
    fs::remove_file(installation.path("data/guard")).expect("removed");
    assert_run(&installation.run("verify", &[]).await, LOST, on_purpose);
    fs::write(installation.path("data/guard"), guard).expect("written");
    let private = fs::Permissions::from_mode(0o600);
    fs::set_permissions(installation.path("data/guard"), private).expect("permitted");

    let run = installation.run("accept-loss", &["--confirm", "lost"]).await;
    assert_eq!(run.code, 0, "{run:#?}");
    assert!(run.output.starts_with("accepted: changes after 20"), "{run:#?}");
    assert!(run.output.contains(" UTC are lost, and consoles that saw them exit with 11 "), "{run:#?}");
    assert_eq!(installation.run("verify", &[]).await.code, 0);
    let served = installation.serve().await;
    let wallets = served.caller(&organization, key).fetch("list_wallets", json!({})).await;
    let names: Vec<_> =
        wallets["wallets"].as_array().expect("a list").iter().map(|one| &one["walletName"]).collect();
    assert_eq!(names, ["kept"]);
}
