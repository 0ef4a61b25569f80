//! The health of a daemon: its figures, the screen that shows them, and `quorate doctor`, which finds what is broken.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hyper::Method;
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL, engine};
use quorate_tests::http::TIMEOUT;
use quorate_tests::operator::{Ended, Operator};
use quorate_tests::receiver::{Answer, Receiver};
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::{Value, json};

use crate::screen::Screen;

const SET_FEATURE: &str = "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE";

/// Returns the figures of a daemon.
async fn figures(daemon: &Daemon) -> Value {
    let mut connection = daemon.socket().connect().await.expect("a connection");
    let reply = connection.call(Method::GET, "/console/v1/health", &[], b"").await.expect("an answer");
    reply.success()
}

/// Waits until the figures fulfil a condition.
async fn until(daemon: &Daemon, what: &str, condition: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let figures = figures(daemon).await;
        if condition(&figures) {
            return figures;
        }
        assert!(Instant::now() < deadline, "not in time: {what}; {figures:#}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[tokio::test]
async fn figures_follow_a_receiver_that_fails_and_then_accepts() {
    let (daemon, receiver) = (Daemon::start(Options::quorum(1, 2)).await, Receiver::start().await);
    let root = daemon.root(0);
    receiver.answer(Answer::Status(503));
    let parameters = json!({ "name": "FEATURE_NAME_WEBHOOK", "value": receiver.url("/hook") });
    root.result(SET_FEATURE, &parameters).await;
    root.completed(CREATE_WALLET, &requests::wallet("health")).await;

    let failing =
        until(&daemon, "a failed attempt", |figures| figures["deliveries"]["failed"].is_u64()).await;
    assert!(failing["webhooks"]["waiting"].as_u64() > Some(0), "{failing:#}");
    assert!(failing["webhooks"]["oldestAt"].is_object(), "{failing:#}");
    receiver.answer(Answer::Status(200));
    let done = until(&daemon, "nothing waits", |figures| figures["webhooks"]["waiting"] == 0).await;
    assert!(done["deliveries"]["delivered"].as_u64() > Some(0), "{done:#}");

    // The figures are those of /metrics.
    let commits = format!("quorate_commits_total {}", done["commits"]);
    let metrics =
        daemon.http().exchange(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(metrics.contains(&commits), "{commits} is missing in {metrics}");
    assert_eq!(done["status"]["engine"]["name"], engine(), "{done:#}");
    assert!(done["memoryBytes"].as_u64() > Some(1 << 20), "{done:#}");
    assert!(done["storeBytes"].as_u64() > Some(0), "{done:#}");
    assert!(done["diskFreeBytes"].as_u64() < done["diskBytes"].as_u64(), "{done:#}");
    // Only the socket serves them.
    let public = daemon
        .http()
        .exchange(b"GET /console/v1/health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        .await;
    assert!(public.starts_with("HTTP/1.1 404"), "{public}");
}

#[tokio::test]
async fn the_screen_shows_figures_and_pictures() {
    let daemon = Daemon::start(Options::demo()).await;
    for size in [(120, 36), (80, 24), (40, 12)] {
        let mut screen = Screen::sized(Operator::root(&daemon, 0), size);
        screen.shows("live").await;
        screen.press("7");
        screen.shows("since start").await;
        // The requests of the screen itself draw the line.
        screen.until("a picture", |text| text.contains('\u{2588}')).await;
        screen.press("\t");
        screen.shows("READY").await;
    }
}

/// The files of a user who configured the console.
struct Installation<'a> {
    operator: Operator,
    daemon: &'a Daemon,
}

impl<'a> Installation<'a> {
    /// Creates a configuration that names the daemon, its organization and a key.
    async fn new(daemon: &'a Daemon) -> Self {
        let installation = Self { operator: Operator::root(daemon, 0), daemon };
        installation.configure("");
        let added = ["key", "add", "laptop", "--passphrase-fd", "0"];
        drop(installation.operator.run_raw(&added, "correct horse\n").await.with(0));
        installation
    }

    fn config(&self, name: &str) -> PathBuf {
        self.operator.home().join("config/quorate").join(name)
    }

    fn state(&self, name: &str) -> PathBuf {
        self.operator.home().join("state/quorate").join(name)
    }

    fn configure(&self, more: &str) {
        let (socket, organization) =
            (&self.daemon.credentials().socket, self.daemon.root(0).organization().to_owned());
        let socket = Path::new(socket).display().to_string();
        let text = format!("socket = {socket:?}\norganization = {organization:?}\n{more}");
        write(&self.config("config.toml"), text.as_bytes(), 0o600);
    }

    async fn doctor(&self) -> Ended {
        self.operator.run_raw(&["doctor", "--json"], "").await
    }
}

fn write(path: &Path, bytes: &[u8], mode: u32) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, bytes).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

/// Returns the codes of the problems that were found.
fn problems(ended: &Ended) -> Vec<String> {
    let lines = ended.lines();
    for finding in &lines {
        let advice = finding["advice"].as_str().expect("advice");
        assert!(advice.ends_with('.'), "{finding:#}");
    }
    let found = lines.iter().filter(|finding| finding["level"] == "problem");
    found.map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
}

/// A break of an installation: the code of its finding, and what breaks it.
type Break = (&'static str, fn(&Installation<'_>));

const BREAKS: [Break; 16] = [
    ("config-invalid", |it| it.configure("kye = \"laptop\"\n")),
    ("config-unreadable", |it| write(&it.config("config.toml"), b"\xff\xfe", 0o600)),
    ("config-writable", |it| {
        let path = it.config("config.toml");
        fs::set_permissions(path, fs::Permissions::from_mode(0o664)).expect("permissions");
    }),
    ("key-missing", |it| it.configure("key = \"desktop\"\n")),
    ("key-permissions", |it| {
        it.configure("key = \"laptop\"\n");
        let path = key_file(it);
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("permissions");
    }),
    ("key-invalid", |it| {
        it.configure("key = \"laptop\"\n");
        write(&key_file(it), b"{}", 0o600);
    }),
    ("identity", |it| it.configure("key = \"laptop\"\n")),
    ("known-keys", |it| write(&it.state("roster.json"), b"{\"organizations\": 1", 0o600)),
    ("journal-broken", |it| write(&it.state("journal.jsonl"), b"{}\n", 0o600)),
    ("book", |it| write(&it.config("book.json"), b"[", 0o600)),
    ("folder-writable", |it| {
        let mode = fs::Permissions::from_mode(0o777);
        fs::set_permissions(it.config(""), mode).expect("permissions");
    }),
    ("organization-missing", |it| {
        let socket = Path::new(&it.daemon.credentials().socket).display().to_string();
        let text = format!("socket = {socket:?}\norganization = \"00000000-0000-4000-8000-000000000001\"\n");
        write(&it.config("config.toml"), text.as_bytes(), 0o600);
    }),
    ("socket-missing", |it| {
        write(&it.config("config.toml"), b"socket = \"/nowhere/quorated.sock\"\n", 0o600);
    }),
    ("socket-other", |it| write(&it.config("config.toml"), b"socket = \"/dev/null\"\n", 0o600)),
    ("daemon-down", |it| {
        // A socket that nobody listens on stays in the folder.
        let path = it.operator.home().join("left.sock");
        drop(UnixListener::bind(&path).expect("a socket"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("permissions");
        write(&it.config("config.toml"), format!("socket = '{}'\n", path.display()).as_bytes(), 0o600);
    }),
    ("journal", |it| write(&it.state("journal.jsonl"), b"", 0o644)),
];

fn key_file(it: &Installation<'_>) -> PathBuf {
    let entries = fs::read_dir(it.config("keys")).expect("keys");
    entries.map(|entry| entry.expect("an entry").path()).next().expect("a key file")
}

#[tokio::test]
async fn each_break_of_an_installation_is_found() {
    let daemon = Daemon::start(Options::demo()).await;
    let sound = Installation::new(&daemon).await;
    let ended = sound.doctor().await;
    assert_eq!(problems(&ended), [""; 0], "{ended:#?}");
    assert!(ended.code <= 1, "{ended:#?}");
    for (code, break_it) in BREAKS {
        let broken = Installation::new(&daemon).await;
        break_it(&broken);
        let ended = broken.doctor().await.with(7);
        assert_eq!(problems(&ended), [code], "{ended:#?}");
    }
}

#[tokio::test]
async fn the_configuration_is_checked_and_shown_with_its_origins() {
    let daemon = Daemon::start(Options::demo()).await;
    let it = Installation::new(&daemon).await;
    it.configure("key = \"laptop\"\n");
    let operator = &it.operator;
    drop(operator.run_raw(&["config", "check"], "").await.with(0));
    let shown = operator.run_raw(&["config", "show", "--json"], "").await.with(0).lines();
    let origin = |name: &str| {
        let found = shown.iter().find(|row| row["name"] == name).expect("a setting");
        found["origin"].as_str().expect("an origin").to_owned()
    };
    assert!(origin("socket").ends_with("config.toml:1"), "{shown:#?}");
    assert!(origin("key").ends_with("config.toml:3"), "{shown:#?}");
    assert_eq!(origin("user"), "not set");
    let chosen = ["config", "show", "--origin", "--socket", "/s"];
    let text = operator.run_raw(&chosen, "").await.with(0).output;
    assert!(text.contains("/s  (option --socket)"), "{text}");

    it.configure("kye = 1\nuser = 2\nkey = \"desktop\"\n");
    let found = operator.run_raw(&["config", "check", "--json"], "").await.with(2).lines();
    let lines: Vec<u64> = found.iter().filter_map(|row| row["line"].as_u64()).collect();
    assert_eq!(lines, [3, 4, 5], "{found:#?}");
}

#[tokio::test]
async fn a_configuration_that_others_can_change_is_refused() {
    let daemon = Daemon::start(Options::demo()).await;
    let it = Installation::new(&daemon).await;
    it.configure("key = \"laptop\"\ntheme = \"mine\"\n");
    let operator = &it.operator;
    let theme = "text = \"#eeeeee\"\n";
    write(&it.config("themes/mine.toml"), theme.as_bytes(), 0o600);
    let commands: [&[&str]; 4] =
        [&["status"], &["config", "check"], &["config", "show"], &["context", "use", "other"]];
    let path = it.config("config.toml");
    let set_mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
    };
    for mode in [0o602, 0o620, 0o664, 0o666] {
        set_mode(&path, mode);
        for command in commands {
            let ended = operator.run_raw(command, "").await.with(2);
            assert!(ended.stderr.contains("config.toml: other users can change it"), "{mode:o}: {ended:?}");
        }
    }
    // A file that others can only read has no secret.
    set_mode(&path, 0o644);
    if rustix::process::geteuid().is_root() {
        let nobody = 65_534;
        std::os::unix::fs::chown(&path, Some(nobody), None).expect("another owner");
        let ended = operator.run_raw(&["status"], "").await.with(2);
        assert!(ended.stderr.contains("config.toml: it belongs to another user (id 65534)"), "{ended:?}");
        std::os::unix::fs::chown(&path, Some(0), None).expect("the owner");
    }
    drop(operator.run_raw(&["config", "show"], "").await.with(0));

    set_mode(&it.config("themes/mine.toml"), 0o622);
    let ended = operator.run_raw(&["config", "check"], "").await.with(2);
    assert!(ended.output.contains("other users can change it"), "{ended:?}");
}
