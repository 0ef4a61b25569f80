//! A daemon as it is installed for real: a configuration file, `quorated init`, `quorated serve`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hyper::Method;
use tempfile::TempDir;

use crate::caller::Caller;
use crate::daemon::{GLANCE, ended};
use crate::http::{Door, PATIENCE, Reply};
use crate::keys::Key;
use crate::places;

/// How a run of `quorated` ended.
#[derive(Debug)]
pub struct Run {
    /// Exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub complaint: String,
}

/// A folder with configuration, key and data.
pub struct Installation {
    place: PathBuf,
    /// Removed at the end, unless the folder is somebody else's.
    _folder: Option<TempDir>,
}

/// A daemon of an installation. It is killed when dropped.
pub struct Served {
    child: Child,
    door: Door,
}

impl Installation {
    /// A folder whose daemon is served over the local socket only. `key` is the section of the root key.
    pub fn new(key: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-").tempdir().expect("a temporary folder");
        let installation = Self { place: folder.path().to_owned(), _folder: Some(folder) };
        installation.begin(key);
        installation
    }

    /// The same in a folder that is there.
    pub fn at(place: &Path, key: &str) -> Self {
        let installation = Self { place: place.to_owned(), _folder: None };
        installation.begin(key);
        installation
    }

    fn begin(&self, key: &str) {
        let text = format!("[socket]\npath = \"run/socket\"\n\n[store]\npath = \"data\"\n\n[key]\n{key}\n");
        self.configure(&text);
    }

    /// Replaces the configuration.
    pub fn configure(&self, text: &str) {
        fs::write(self.path("quorated.toml"), text).expect("the configuration can be written");
    }

    /// A path in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// Runs `quorated` with the configuration to its end.
    pub async fn run(&self, command: &str, more: &[&str]) -> Run {
        let configuration = self.path("quorated.toml");
        let mut arguments = vec![command, "--config", configuration.to_str().expect("UTF-8")];
        arguments.extend(more);
        run(&self.place, &arguments).await
    }

    /// Founds an organization whose one root user has this key, and returns its id.
    pub async fn found(&self, name: &str, key: &Key) -> String {
        let root_user = format!("root={}", key.public_key());
        let run = self.run("init", &["--name", name, "--root-user", &root_user]).await;
        assert_eq!(run.code, 0, "{run:#?}");
        let answer: serde_json::Value = serde_json::from_str(&run.output).expect("init prints JSON");
        answer["organizationId"].as_str().expect("an organization id").to_owned()
    }

    /// Serves, and waits until the daemon is ready.
    pub async fn serve(&self) -> Served {
        self.serve_until(|readiness| readiness.status == 200).await
    }

    /// Serves, and waits until the daemon reports this readiness.
    pub async fn serve_until(&self, is_awaited: impl Fn(&Reply) -> bool) -> Served {
        let log = File::create(self.path("log")).expect("a log file");
        let mut child = Command::new(places::program("quorated"))
            .args(["serve", "--config"])
            .arg(self.path("quorated.toml"))
            .stdout(log.try_clone().expect("a log file"))
            .stderr(log)
            .spawn()
            .expect("quorated can be started");
        let door = Door::Socket(self.path("run/socket"));
        let deadline = Instant::now() + PATIENCE;
        while !readiness(&door).await.is_some_and(|readiness| is_awaited(&readiness)) {
            let over = child.try_wait().expect("the daemon can be waited for");
            if over.is_some() || Instant::now() > deadline {
                let _ = child.kill();
                let log = fs::read_to_string(self.path("log")).unwrap_or_default();
                panic!("the daemon is not ready ({over:?}): {log}");
            }
            tokio::time::sleep(GLANCE).await;
        }
        Served { child, door }
    }
}

async fn readiness(door: &Door) -> Option<Reply> {
    let mut connection = door.connect().await.ok()?;
    connection.call(Method::GET, "/readyz", &[], b"").await.ok()
}

impl Served {
    /// A caller over the socket.
    pub fn caller(&self, organization: &str, key: Key) -> Caller {
        Caller::new(self.door.clone(), organization, key)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `quorated` and kills it after a while, if it lives that long.
pub async fn run_for(life: Duration, folder: &Path, arguments: &[&str]) {
    let mut child = spawn(folder, arguments);
    tokio::time::sleep(life).await;
    child.kill().expect("a child can be killed");
    child.wait().expect("the daemon ends");
}

/// Runs `quorated` to its end. What it says is kept in `folder`.
pub async fn run(folder: &Path, arguments: &[&str]) -> Run {
    let mut child = spawn(folder, arguments);
    let status = ended(&mut child).await;
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("output in UTF-8");
    Run { code: status.code().unwrap_or(-1), output: read("output"), complaint: read("complaint") }
}

fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let made = |name: &str| File::create(folder.join(name)).expect("a file for the output");
    Command::new(places::program("quorated"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(made("output"))
        .stderr(made("complaint"))
        .spawn()
        .expect("quorated can be started")
}
