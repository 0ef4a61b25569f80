//! What opens a store without people: a command of the operator, and a PKCS #11 token.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

use quorate_tests::installation::{Installation, Run};
use quorate_tests::keys::Key;
use quorate_tests::requests::{self, SIGN};
use quorate_tests::soft_token::SoftTokens;
use quorate_tests::soft_tpm::SoftTpm;

use super::{KEY_FILE, NOT_FOUND, USAGE, WRONG_KEY, slot_ids, slots, use_key};

const NO_KEY: i32 = 4;

/// A program that encrypts and decrypts with a file of its own.
const PROGRAM: &str = r#"#!/bin/bash
set -eu
folder=$(dirname "$0")
case "$1 $2" in
"prod wrap") openssl enc -aes-256-cbc -pbkdf2 -pass "file:$folder/kms.secret" ;;
"prod unwrap") openssl enc -d -aes-256-cbc -pbkdf2 -pass "file:$folder/kms.secret" ;;
*) exit 9 ;;
esac
"#;

fn write_program(installation: &Installation, text: &str) -> String {
    let path = installation.path("kms");
    fs::write(&path, text).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("permitted");
    path.to_str().expect("UTF-8").to_owned()
}

/// Runs `quorated` in the folder of an installation, with these environment variables.
fn run_with(installation: &Installation, words: &[&str], variables: &[(&str, &str)]) -> Run {
    let ended = Command::new(quorate_tests::paths::program("quorated"))
        .args(words)
        .envs(variables.iter().copied())
        .current_dir(installation.path(""))
        .output()
        .expect("the program can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { code: ended.status.code().unwrap_or(-1), output: text(&ended.stdout), stderr: text(&ended.stderr) }
}

fn fails(run: &Run, code: i32, words: &str) {
    assert!(run.code == code && run.stderr.contains(words), "{words}: {run:#?}");
}

#[tokio::test]
async fn a_command_opens_the_store() {
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let served = installation.serve().await;
    let address = requests::create_wallet(&served.caller(&organization, key.clone()), "signs").await;
    fs::write(installation.path("kms.secret"), "of the service\n").expect("written");
    let program = write_program(&installation, PROGRAM);
    for (command, words) in [
        (vec!["kms", "prod"], "not an absolute path"),
        (vec![program.as_str(), "test"], "exit status: 9"),
        (vec!["/nonexistent/kms"], "No such file"),
        (vec!["/bin/true"], "it wrote nothing"),
        (vec!["/bin/echo", "x"], "64 hex digits"),
    ] {
        let words_of = ["add", "--config", "quorated.toml", "--command"].into_iter().chain(command.clone());
        let words_of: Vec<&str> = std::iter::once("slot").chain(words_of).collect();
        let added = run_with(&installation, &words_of, &[]);
        assert!(added.code != 0 && added.stderr.contains(words), "{command:?}: {added:#?}");
    }
    let add = ["slot", "add", "--config", "quorated.toml", "--json", "--command", &program, "prod"];
    let added = run_with(&installation, &add, &[]);
    assert!(added.code == 0 && added.output.contains("\"command\""), "{added:#?}");
    let ids = slot_ids(&installation).await;
    let remove = ["slot", "rm", &ids[0], "--config", "quorated.toml", "--confirm", "remove"];
    assert_eq!(run_with(&installation, &remove, &[]).code, 0);
    drop(served);
    fs::remove_file(installation.path("root.key")).expect("removed");

    fails(
        &run_with(&installation, &["serve", "--config", "quorated.toml"], &[]),
        WRONG_KEY,
        "is opened by a command",
    );
    use_key(&installation, &format!("command = [\"{program}\", \"prod\"]"));
    let served = installation.serve().await;
    let root = served.caller(&organization, key.clone());
    root.completed(SIGN, &requests::sign(&address, "signed")).await;
    drop(served);
    let verified = installation.verify().await;
    assert_eq!(verified.code, 0, "{verified:#?}");

    let other = "#!/bin/bash\ncat >/dev/null\nprintf '%064d' 7\n";
    let late = "#!/bin/bash\necho $$ > \"$(dirname \"$0\")/pid\"\nsleep 100\n";
    let long = "#!/bin/bash\nhead -c 100000 /dev/zero\n";
    for (text, code, words) in [
        ("#!/bin/bash\nexit 3\n", NO_KEY, "exit status: 3"),
        ("#!/bin/bash\nkill -9 $$\n", NO_KEY, "signal: 9"),
        ("#!/bin/bash\necho secret\n", NO_KEY, "64 hex digits"),
        (long, NO_KEY, "more than 16 KiB"),
        (other, WRONG_KEY, "wrong key"),
        (late, NO_KEY, "longer than 10 seconds"),
    ] {
        write_program(&installation, text);
        let begun = Instant::now();
        fails(&run_with(&installation, &["verify", "--config", "quorated.toml"], &[]), code, words);
        assert!(begun.elapsed() < Duration::from_mins(1), "{words}");
    }
    // What it started was ended with it.
    let process = fs::read_to_string(installation.path("pid")).expect("a process id");
    let is_gone = || !fs::exists(format!("/proc/{}/cmdline", process.trim())).unwrap_or(true);
    let deadline = Instant::now() + quorate_tests::http::TIMEOUT;
    while !is_gone() {
        assert!(Instant::now() < deadline, "the program goes on");
        std::thread::yield_now();
    }
    // A new store can begin with a command.
    write_program(&installation, PROGRAM);
    fs::remove_dir_all(installation.path("data")).expect("removed");
    installation.create_organization("anew", &key).await;
    assert_eq!(slots(&installation).await[0]["kind"], "command");
}

/// A wrong PIN is tried once, however many slots a token could open: it may lock itself.
fn logs_in_once(installation: &Installation, module: &str, variables: &[(&str, &str)], section: &str) {
    let folders = fs::read_dir("/usr/lib").expect("a folder").flatten();
    let spy = folders.map(|folder| folder.path().join("pkcs11-spy.so")).find(|path| path.exists());
    let Some(spy) = spy else {
        return eprintln!("SKIPPED: attempts with a wrong PIN are counted with pkcs11-spy.so");
    };
    use_key(installation, &section.replace(module, spy.to_str().expect("UTF-8")));
    let calls = installation.path("calls");
    let spied = [("PKCS11SPY", module), ("PKCS11SPY_OUTPUT", calls.to_str().expect("UTF-8"))];
    let run = run_with(installation, &["verify", "--config", "quorated.toml"], &[variables, &spied].concat());
    fails(&run, WRONG_KEY, "the PIN is wrong");
    let calls = fs::read_to_string(&calls).expect("the calls of the module");
    assert_eq!(calls.matches("C_Login").count(), 1, "{calls}");
}

/// A program that hangs keeps nobody else from reading the state of the seal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_program_blocks_nobody() {
    let installation = Installation::new(KEY_FILE);
    installation.create_organization("treasury", &Key::named("first root user")).await;
    let served = installation.serve().await;
    let program = write_program(&installation, "#!/bin/bash\ntouch \"$(dirname \"$0\")/begun\"\nsleep 100\n");
    let add = ["slot", "add", "--config", "quorated.toml", "--command", &program];
    let mut slow = Command::new(quorate_tests::paths::program("quorated"))
        .args(add)
        .current_dir(installation.path(""))
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program can be started");
    let deadline = Instant::now() + quorate_tests::http::TIMEOUT;
    while !installation.path("begun").exists() {
        assert!(Instant::now() < deadline, "the program is not started");
        std::thread::yield_now();
    }
    for _ in 0..20 {
        served.get("/console/v1/seal").await.success();
    }
    let second = run_with(&installation, &add, &[]);
    fails(&second, 1, "is being tried for another slot");
    assert!(slow.try_wait().expect("a process").is_none(), "the first one still waits");
    slow.kill().expect("it runs");
    slow.wait().expect("it ends");
}

#[tokio::test]
async fn a_token_opens_the_store() {
    let Some(tokens) = SoftTokens::new() else { return };
    tokens.create("hsm");
    tokens.add_secret_key("hsm", "store");
    let configuration = tokens.configuration();
    let variables = [("SOFTHSM2_CONF", configuration.to_str().expect("UTF-8"))];
    let module = tokens.module().to_str().expect("UTF-8").to_owned();
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let served = installation.serve_with(&variables).await;
    let address = requests::create_wallet(&served.caller(&organization, key.clone()), "signs").await;
    let write_pin = |pin: &str| installation.write_secret("pin", pin);
    write_pin(&format!("{}\n", SoftTokens::PIN));
    let words = |labels: &'static str| {
        ["slot", "add", "--config", "quorated.toml", "--pkcs11", labels, "--pkcs11-module"].map(str::to_owned)
    };
    let add = |labels: &'static str, module: &str| {
        let mut words = words(labels).to_vec();
        words.extend([module.to_owned(), "--pin-file".to_owned(), "pin".to_owned()]);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run_with(&installation, &words, &[])
    };
    for (labels, module, words) in [
        ("hsm/other", module.as_str(), "no secret key labelled other"),
        ("other/store", &module, "not connected"),
        ("hsm/store", "/etc/passwd", "/etc/passwd"),
    ] {
        let added = add(labels, module);
        assert!(added.code != 0 && added.stderr.contains(words), "{labels}: {added:#?}");
    }
    let added = add("hsm/store", &module);
    assert!(added.code == 0 && added.output.contains("PKCS #11 token"), "{added:#?}");
    assert_eq!(add("hsm/store", &module).code, 0);
    let ids = slot_ids(&installation).await;
    let remove = ["slot", "rm", &ids[0], "--config", "quorated.toml", "--confirm", "remove"];
    assert_eq!(run_with(&installation, &remove, &[]).code, 0);
    drop(served);

    let section =
        |labels: &str| format!("pkcs11 = \"{labels}\"\npkcs11_module = \"{module}\"\npin_file = \"pin\"");
    use_key(&installation, &section("hsm/store"));
    let served = installation.serve_with(&variables).await;
    served.caller(&organization, key.clone()).completed(SIGN, &requests::sign(&address, "signed")).await;
    drop(served);
    let verify = || run_with(&installation, &["verify", "--config", "quorated.toml"], &variables);
    assert_eq!(verify().code, 0, "{:#?}", verify());

    write_pin("999999\n");
    let refused = verify();
    fails(&refused, WRONG_KEY, "the PIN is wrong");
    assert!(!refused.stderr.contains("999999"));
    logs_in_once(&installation, &module, &variables, &section("hsm/store"));
    use_key(&installation, &section("hsm/store"));
    fs::set_permissions(installation.path("pin"), fs::Permissions::from_mode(0o644)).expect("permitted");
    fails(&verify(), WRONG_KEY, "accessible to other users");
    fs::remove_file(installation.path("pin")).expect("removed");
    fails(&verify(), NOT_FOUND, "pin");
    write_pin(&format!("{}\n", SoftTokens::PIN));
    // Another key with the same label decrypts nothing.
    tokens.remove_secret_key("hsm", "store");
    fails(&verify(), NO_KEY, "no secret key labelled store");
    tokens.add_secret_key("hsm", "store");
    fails(&verify(), WRONG_KEY, "its key does not decrypt the slot");
    tokens.add_secret_key("hsm", "store");
    fails(&verify(), NO_KEY, "several of its keys");
    tokens.remove("hsm");
    fails(&verify(), NO_KEY, "not connected");
    use_key(&installation, "pkcs11 = \"hsm/store\"");
    fails(&verify(), USAGE, "pkcs11 needs pkcs11_module and pin_file");
    use_key(&installation, &section("hsm"));
    fails(&verify(), USAGE, "use TOKEN/LABEL");
}

/// A program that encrypts with a TPM, so that only this machine decrypts with these programs at its start.
const TPM_PROGRAM: &str = r#"#!/bin/sh
case "$2" in
wrap) exec systemd-creds encrypt --name=quorate --with-key=tpm2 --tpm2-pcrs=7 --tpm2-device="$1" - - ;;
unwrap) exec systemd-creds decrypt --name=quorate --tpm2-device="$1" - - ;;
esac
"#;

#[tokio::test]
async fn a_tpm_opens_the_store() {
    let Some(mut tpm) = SoftTpm::new() else { return };
    let installation = Installation::new(KEY_FILE);
    let program = write_program(&installation, TPM_PROGRAM);
    use_key(&installation, &format!("command = [\"{program}\", \"{}\"]", tpm.device()));
    let key = Key::named("first root user");
    let organization = installation.create_organization("treasury", &key).await;
    let served = installation.serve().await;
    let address = requests::create_wallet(&served.caller(&organization, key.clone()), "signs").await;
    drop(served);
    tpm.reboot();
    let served = installation.serve().await;
    served.caller(&organization, key.clone()).completed(SIGN, &requests::sign(&address, "signed")).await;
    drop(served);
    // Another boot loader was measured.
    tpm.extend(&"22".repeat(32));
    let verify = || run_with(&installation, &["verify", "--config", "quorated.toml"], &[]);
    fails(&verify(), NO_KEY, "the command");
    tpm.reboot();
    assert_eq!(verify().code, 0, "{:#?}", verify());
    // Another TPM.
    let other = SoftTpm::new().expect("swtpm is installed");
    use_key(&installation, &format!("command = [\"{program}\", \"{}\"]", other.device()));
    fails(&verify(), NO_KEY, "the command");
}

/// A key file that systemd decrypts with the TPM, as it does for a unit with `LoadCredentialEncrypted`.
#[tokio::test]
async fn a_credential_of_a_tpm_opens_the_store() {
    let Some(mut tpm) = SoftTpm::new() else { return };
    let installation = Installation::new(KEY_FILE);
    let key = Key::named("first root user");
    installation.create_organization("treasury", &key).await;
    let plain = installation.path("root.key");
    let credential = installation.path("root.key.cred");
    let device = format!("--tpm2-device={}", tpm.device());
    let encrypted = Command::new("systemd-creds")
        .args(["encrypt", "--name=root.key", "--with-key=tpm2", "--tpm2-pcrs=7", &device])
        .args([&plain, &credential])
        .status();
    assert!(encrypted.is_ok_and(|encrypted| encrypted.success()));
    fs::remove_file(&plain).expect("removed");
    let shown = installation.path("credentials");
    fs::create_dir(&shown).expect("a folder");
    use_key(&installation, "file = \"credentials/root.key\"");
    let start = || {
        let file = shown.join("root.key");
        let _ = fs::remove_file(&file);
        let decrypted = Command::new("systemd-creds")
            .args(["decrypt", "--name=root.key", &device])
            .arg(&credential)
            .arg(&file)
            .output();
        if decrypted.expect("a program").status.success() {
            fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).expect("permitted");
        }
        run_with(&installation, &["verify", "--config", "quorated.toml"], &[])
    };
    assert_eq!(start().code, 0, "{:#?}", start());
    tpm.reboot();
    assert_eq!(start().code, 0, "{:#?}", start());
    tpm.extend(&"22".repeat(32));
    fails(&start(), NO_KEY, "not found");
}
