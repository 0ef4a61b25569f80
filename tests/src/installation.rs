//! A daemon as operators install it: a configuration file, `quorated init` and `quorated serve`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hyper::Method;
use tempfile::TempDir;

use crate::caller::Caller;
use crate::daemon::{POLL_INTERVAL, ended_within, engine};
use crate::http::{Listener, Reply, TIMEOUT};
use crate::keys::Key;
use crate::operator::write_secret;
use crate::paths;

/// Time that a verification of a large store may take.
const VERIFICATION: Duration = Duration::from_mins(10);

/// Outcome of a run of `quorated`.
#[derive(Debug)]
pub struct Run {
    /// Exit code; -1 after a signal.
    pub code: i32,
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub stderr: String,
}

/// A folder with configuration, key and data.
pub struct Installation {
    root: PathBuf,
    /// Removed when dropped, unless the folder belongs to the test.
    _folder: Option<TempDir>,
}

/// A running daemon of an installation. It is killed when dropped.
pub struct RunningDaemon {
    child: Child,
    listener: Listener,
}

impl Installation {
    /// Creates an installation whose daemon listens on the local socket only, on the engine that [`engine`] names. `key`
    /// is the section of the root key.
    pub fn new(key: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-").tempdir().expect("a temporary folder");
        let installation = Self { root: folder.path().to_owned(), _folder: Some(folder) };
        installation.write_default_configuration(key);
        installation
    }

    /// Creates the same installation in an existing folder.
    pub fn at(root: &Path, key: &str) -> Self {
        let installation = Self { root: root.to_owned(), _folder: None };
        installation.write_default_configuration(key);
        installation
    }

    fn write_default_configuration(&self, key: &str) {
        let store = format!("path = \"data\"\nengine = \"{}\"", engine());
        let text = format!("[socket]\npath = \"run/socket\"\n\n[store]\n{store}\n\n[key]\n{key}\n");
        self.configure(&text);
    }

    /// Replaces the configuration.
    pub fn configure(&self, text: &str) {
        fs::write(self.path("quorated.toml"), text).expect("the configuration can be written");
    }

    /// Writes a file that only its owner can read.
    pub fn write_secret(&self, name: &str, text: &str) {
        write_secret(&self.path(name), text.as_bytes());
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Runs a command of `quorated` with the configuration until it exits.
    pub async fn run(&self, command: &str, more: &[&str]) -> Run {
        let configuration = self.path("quorated.toml");
        let mut arguments = vec![command, "--config", configuration.to_str().expect("UTF-8")];
        arguments.extend(more);
        run(&self.root, &arguments).await
    }

    /// Checks every record of the store, of which there may be a million.
    pub async fn verify(&self) -> Run {
        let configuration = self.path("quorated.toml");
        let arguments = ["verify", "--config", configuration.to_str().expect("UTF-8")];
        run_within(&self.root, &arguments, VERIFICATION).await
    }

    /// Creates an organization with one root user, who has this key, and returns its id.
    pub async fn create_organization(&self, name: &str, key: &Key) -> String {
        let root_user = format!("root={}", key.public_key());
        let run = self.run("init", &["--name", name, "--root-user", &root_user]).await;
        assert_eq!(run.code, 0, "{run:#?}");
        let answer: serde_json::Value = serde_json::from_str(&run.output).expect("init prints JSON");
        answer["organizationId"].as_str().expect("an organization id").to_owned()
    }

    /// Starts `quorated serve` and waits until the daemon is ready.
    pub async fn serve(&self) -> RunningDaemon {
        self.serve_until(|readiness| readiness.status == 200).await
    }

    /// Starts `quorated serve` and waits until its readiness satisfies the condition.
    pub async fn serve_until(&self, is_expected: impl Fn(&Reply) -> bool) -> RunningDaemon {
        self.start(&[], is_expected).await
    }

    /// Starts `quorated serve` with more environment variables, and waits until the daemon is ready.
    pub async fn serve_with(&self, variables: &[(&str, &str)]) -> RunningDaemon {
        self.start(variables, |readiness| readiness.status == 200).await
    }

    /// Waits until the log of the last start contains these words.
    ///
    /// # Panics
    /// Panics if it does not in time.
    pub async fn logs(&self, words: &str) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let log = fs::read_to_string(self.path("log")).unwrap_or_default();
            if log.contains(words) {
                return;
            }
            assert!(Instant::now() < deadline, "not in the log in time: {words}:\n{log}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn start(&self, variables: &[(&str, &str)], is_expected: impl Fn(&Reply) -> bool) -> RunningDaemon {
        let log = File::create(self.path("log")).expect("a log file");
        let mut child = Command::new(paths::program("quorated"))
            .args(["serve", "--config"])
            .arg(self.path("quorated.toml"))
            .envs(variables.iter().copied())
            .stdout(log.try_clone().expect("a log file"))
            .stderr(log)
            .spawn()
            .expect("quorated can be started");
        let listener = Listener::Socket(self.path("run/socket"));
        let deadline = Instant::now() + TIMEOUT;
        while !readiness(&listener).await.is_some_and(|readiness| is_expected(&readiness)) {
            let status = child.try_wait().expect("the daemon can be waited for");
            if status.is_some() || Instant::now() > deadline {
                let _ = child.kill();
                let log = fs::read_to_string(self.path("log")).unwrap_or_default();
                panic!("the daemon is not ready ({status:?}): {log}");
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        RunningDaemon { child, listener }
    }
}

async fn readiness(listener: &Listener) -> Option<Reply> {
    let mut connection = listener.connect().await.ok()?;
    connection.call(Method::GET, "/readyz", &[], b"").await.ok()
}

impl RunningDaemon {
    /// Returns the local socket.
    pub fn listener(&self) -> &Listener {
        &self.listener
    }

    /// Returns a caller over the socket.
    pub fn caller(&self, organization: &str, key: Key) -> Caller {
        Caller::new(self.listener.clone(), organization, key)
    }

    /// Returns the process id of the daemon.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the daemon is ready.
    ///
    /// # Panics
    /// Panics if it is not in time.
    pub async fn becomes_ready(&self) {
        let deadline = Instant::now() + TIMEOUT;
        while readiness(&self.listener).await.is_none_or(|readiness| readiness.status != 200) {
            assert!(Instant::now() < deadline, "the daemon is not ready in time");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Waits until the daemon has ended, and returns its exit code; -1 after a signal.
    pub async fn ended(&mut self) -> i32 {
        ended_within(&mut self.child, TIMEOUT).await.code().unwrap_or(-1)
    }

    /// Returns the answer to a GET request over the socket.
    pub async fn get(&self, path: &str) -> Reply {
        let mut connection = self.listener.connect().await.expect("the daemon accepts connections");
        connection.call(Method::GET, path, &[], b"").await.expect("an answer")
    }
}

impl Drop for RunningDaemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `quorated` and kills it after `life`, if it still runs then.
pub async fn run_for(life: Duration, folder: &Path, arguments: &[&str]) {
    let mut child = spawn(folder, arguments);
    tokio::time::sleep(life).await;
    child.kill().expect("a child can be killed");
    child.wait().expect("the daemon ends");
}

/// Runs `quorated` until it exits. Its output is kept in `folder`.
pub async fn run(folder: &Path, arguments: &[&str]) -> Run {
    run_within(folder, arguments, TIMEOUT).await
}

async fn run_within(folder: &Path, arguments: &[&str], limit: Duration) -> Run {
    let mut child = spawn(folder, arguments);
    let status = ended_within(&mut child, limit).await;
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect("output in UTF-8");
    Run { code: status.code().unwrap_or(-1), output: read("output"), stderr: read("complaint") }
}

fn spawn(folder: &Path, arguments: &[&str]) -> Child {
    let create = |name: &str| File::create(folder.join(name)).expect("a file for the output");
    Command::new(paths::program("quorated"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(create("output"))
        .stderr(create("complaint"))
        .spawn()
        .expect("quorated can be started")
}
