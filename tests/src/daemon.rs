//! The daemon as a process of its own: started, killed, started again on the same data, and its log
//! shown when a story fails.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tempfile::TempDir;

use crate::caller::Caller;
use crate::http::{Door, PATIENCE};
use crate::keys::Key;
use crate::places;

/// How often a condition outside of this process is looked at.
pub const GLANCE: Duration = Duration::from_millis(10);

/// How to start the daemon.
#[derive(Debug, Clone)]
pub struct Options {
    /// Root users.
    pub users: u32,
    /// How many of them must agree.
    pub threshold: u32,
    /// Whether the demo data is made.
    pub demo: bool,
    /// Mail server, if there is one.
    pub mail: Option<String>,
    /// Variables of the environment that the daemon gets beside those of the tests.
    pub variables: Vec<(String, String)>,
}

impl Options {
    /// What `quorated dev` makes by itself: three root users, two of whom must agree, and something to approve.
    pub fn demo() -> Self {
        Self { demo: true, ..Self::quorum(2, 3) }
    }

    /// The same with a mail server.
    #[must_use]
    pub fn with_mail(self, url: String) -> Self {
        Self { mail: Some(url), ..self }
    }

    /// The same with variables of the environment.
    #[must_use]
    pub fn with_variables(self, variables: Vec<(String, String)>) -> Self {
        Self { variables, ..self }
    }

    /// Root users and threshold, without demo data.
    pub fn quorum(threshold: u32, users: u32) -> Self {
        Self { users, threshold, demo: false, mail: None, variables: Vec::new() }
    }
}

/// The credentials file of a DEV daemon.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// Where the API is.
    pub base_url: String,
    /// The local socket.
    pub socket: PathBuf,
    /// The first organization.
    pub organization_id: String,
    /// Its name.
    pub organization_name: String,
    /// Its root quorum threshold.
    pub threshold: u32,
    /// Its root users.
    pub root_users: Vec<RootUser>,
    /// P-256 key that signs bundles, uncompressed hex.
    pub quorum_public_key: String,
}

/// A root user in the credentials file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RootUser {
    /// Id.
    pub user_id: String,
    /// Name.
    pub user_name: String,
    /// Mail address.
    pub user_email: String,
    /// Id of the API key.
    pub api_key_id: String,
    /// Public key, 66 hex digits.
    pub public_key: String,
    /// Secret key, 64 hex digits.
    pub private_key: String,
}

/// How a daemon ended that did not become ready.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// What this start wrote to its log and to standard error.
    pub complaint: String,
}

/// A running daemon. It is killed when dropped.
pub struct Daemon {
    options: Options,
    folder: TempDir,
    data: PathBuf,
    child: Option<Child>,
    credentials: Credentials,
}

impl Daemon {
    /// Starts with an empty data folder and waits until it is ready.
    pub async fn start(options: Options) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-").tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        Self::start_with(options, folder, data).await
    }

    /// Starts on a data folder elsewhere.
    pub async fn start_on(options: Options, data: &Path) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-").tempdir().expect("a temporary folder");
        Self::start_with(options, folder, data.to_owned()).await
    }

    async fn start_with(options: Options, folder: TempDir, data: PathBuf) -> Self {
        Self::try_start_with(options, folder, data).await.unwrap_or_else(|ended| {
            panic!("the daemon ended before it was ready: {}\n{}", ended.status, ended.complaint)
        })
    }

    /// Starts on a data folder elsewhere, unless the daemon ends before it is ready.
    pub async fn try_start_on(options: Options, data: &Path) -> Result<Self, Ended> {
        let folder = tempfile::Builder::new().prefix("quorate-").tempdir().expect("a temporary folder");
        Self::try_start_with(options, folder, data.to_owned()).await
    }

    async fn try_start_with(options: Options, folder: TempDir, data: PathBuf) -> Result<Self, Ended> {
        let (child, credentials) = launch(&options, folder.path(), &data).await?;
        Ok(Self { options, folder, data, child: Some(child), credentials })
    }

    /// Gives the next start other variables of the environment.
    pub fn set_variables(&mut self, variables: Vec<(String, String)>) {
        self.options.variables = variables;
    }

    /// What the credentials file says.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Path of the credentials file.
    pub fn credentials_file(&self) -> PathBuf {
        credentials_file(self.folder.path())
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// A folder of the story's own, removed at its end.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Process id.
    pub fn process_id(&self) -> Pid {
        let child = self.child.as_ref().expect("the daemon runs");
        Pid::from_raw(i32::try_from(child.id()).expect("a process id fits"))
            .expect("a process id is not zero")
    }

    /// The HTTP door.
    pub fn http(&self) -> Door {
        Door::Tcp(self.address())
    }

    /// Where the HTTP door is.
    pub fn address(&self) -> SocketAddr {
        let address = self.credentials.base_url.strip_prefix("http://").expect("a base URL without TLS");
        address.parse().expect("a base URL with address and port")
    }

    /// The local socket.
    pub fn socket(&self) -> Door {
        Door::Socket(self.credentials.socket.clone())
    }

    /// A root user, over HTTP.
    pub fn root(&self, index: usize) -> Caller {
        Caller::new(self.http(), &self.credentials.organization_id, self.root_key(index))
    }

    /// The key of a root user.
    pub fn root_key(&self, index: usize) -> Key {
        Key::of_hex(&self.credentials.root_users[index].private_key)
    }

    /// Id of a root user.
    pub fn root_id(&self, index: usize) -> &str {
        &self.credentials.root_users[index].user_id
    }

    /// Sends a signal to the daemon.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.process_id(), signal).expect("the daemon runs");
    }

    /// Stops the daemon in its tracks and waits until none of its threads is in a system call any more.
    pub async fn freeze(&self) {
        self.signal(Signal::STOP);
        let threads = format!("/proc/{}/task", self.process_id().as_raw_nonzero());
        let deadline = Instant::now() + PATIENCE;
        while !all_stopped(Path::new(&threads)) {
            assert!(Instant::now() < deadline, "the daemon does not stand still");
            tokio::time::sleep(GLANCE).await;
        }
    }

    /// `kill -9`, and waits until the process is gone.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("the daemon can be killed");
            child.wait().expect("the daemon ends");
        }
    }

    /// Asks the daemon to stop and waits until it has.
    pub async fn stop(&mut self, signal: Signal) -> ExitStatus {
        self.signal(signal);
        ended(&mut self.child.take().expect("the daemon runs")).await
    }

    /// Waits until the daemon has ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        ended(&mut self.child.take().expect("the daemon runs")).await
    }

    /// Whether the daemon has not ended.
    pub fn is_alive(&mut self) -> bool {
        let child = self.child.as_mut();
        child.is_some_and(|child| child.try_wait().expect("the daemon can be waited for").is_none())
    }

    /// Starts again on the same data.
    pub async fn restart(&mut self) {
        self.try_restart().await.unwrap_or_else(|ended| {
            panic!("the daemon ended before it was ready: {}\n{}", ended.status, ended.complaint)
        });
    }

    /// Starts again on the same data, unless the daemon ends before it is ready.
    pub async fn try_restart(&mut self) -> Result<(), Ended> {
        self.kill();
        let (child, credentials) = launch(&self.options, self.folder.path(), &self.data).await?;
        self.child = Some(child);
        self.credentials = credentials;
        Ok(())
    }

    /// Everything that it has logged.
    pub fn log(&self) -> String {
        fs::read_to_string(log_file(self.folder.path())).unwrap_or_default()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if std::thread::panicking() {
            show_log(self.folder.path());
        }
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether each thread is in state T, the third field of its `stat`, behind the name in parentheses.
fn all_stopped(threads: &Path) -> bool {
    let stopped = |thread: std::io::Result<fs::DirEntry>| {
        let text =
            thread.and_then(|thread| fs::read_to_string(thread.path().join("stat"))).unwrap_or_default();
        text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
    };
    fs::read_dir(threads).expect("the threads of a living process").all(stopped)
}

/// Waits until a process has ended by itself.
pub async fn ended(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the process does not end");
        }
        tokio::time::sleep(GLANCE).await;
    }
}

fn credentials_file(folder: &Path) -> PathBuf {
    folder.join("credentials.json")
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("daemon.log")
}

#[expect(clippy::print_stderr, reason = "shown by the test runner beside the failure")]
fn show_log(folder: &Path) {
    const LINES: usize = 60;
    let log = fs::read_to_string(log_file(folder)).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    eprintln!("--- last lines of the daemon's log");
    for line in &lines[lines.len().saturating_sub(LINES)..] {
        eprintln!("{line}");
    }
}

fn command(options: &Options, folder: &Path, data: &Path) -> Command {
    let log = File::options().create(true).append(true).open(log_file(folder)).expect("a log file");
    let mut command = Command::new(places::program("quorated"));
    command
        .arg("dev")
        .args(["--listen", "127.0.0.1:0"])
        .arg("--data-dir")
        .arg(data)
        .arg("--socket")
        .arg(folder.join("quorated.sock"))
        .arg("--credentials")
        .arg(credentials_file(folder))
        .args(["--users", &options.users.to_string(), "--threshold", &options.threshold.to_string()])
        .args(if options.demo { &[][..] } else { &["--no-demo"][..] })
        .args(options.mail.iter().flat_map(|url| ["--mail", url]))
        .envs(options.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a log file"))
        .stderr(log);
    command
}

async fn launch(options: &Options, folder: &Path, data: &Path) -> Result<(Child, Credentials), Ended> {
    let file = credentials_file(folder);
    let before = mark(&file);
    let logged = fs::metadata(log_file(folder)).map_or(0, |metadata| metadata.len());
    let mut child = command(options, folder, data).spawn().expect("quorated can be started");
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("the daemon can be waited for") {
            let log = fs::read(log_file(folder)).unwrap_or_default();
            let own = log.get(usize::try_from(logged).expect("a log fits")..).unwrap_or_default();
            return Err(Ended { status, complaint: String::from_utf8_lossy(own).into_owned() });
        }
        if mark(&file) != before
            && let Ok(credentials) = serde_json::from_slice(&fs::read(&file).unwrap_or_default())
        {
            return Ok((child, credentials));
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            show_log(folder);
            panic!("the daemon is not ready in time");
        }
        tokio::time::sleep(GLANCE).await;
    }
}

/// Tells one writing of a file from the next.
fn mark(file: &Path) -> Option<(u64, i64, i64)> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}
