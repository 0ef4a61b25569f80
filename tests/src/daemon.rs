//! The daemon as a separate process: started, killed and restarted on the same data. Its log is shown when a
//! scenario fails.

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
use crate::cluster::Cluster;
use crate::http::{Listener, TIMEOUT};
use crate::keys::Key;
use crate::paths;

/// Interval at which a condition outside of this process is polled.
pub const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Options of `quorated dev`.
#[derive(Debug, Clone)]
pub struct Options {
    /// Number of root users.
    pub users: u32,
    /// Root quorum threshold.
    pub threshold: u32,
    /// Whether the demo data is created.
    pub demo: bool,
    /// URL of the mail server, if there is one.
    pub mail: Option<String>,
    /// URL of the SMS gateway, if there is one.
    pub sms: Option<String>,
    /// Whether the pages for browsers are served.
    pub pages: bool,
    /// Engine of a new store, in the words of `--engine`.
    pub engine: String,
    /// URL of the database of a store on PostgreSQL; `None` for a server of its own.
    pub database: Option<String>,
    /// Environment variables of the daemon, in addition to those of the tests.
    pub variables: Vec<(String, String)>,
    /// Folder of the programs of another release, which may know no engine but sled; `None` for those of this one.
    pub programs: Option<PathBuf>,
}

/// Returns the engine of new stores in tests: the environment variable `ENGINE`, or `sled`.
pub fn engine() -> String {
    std::env::var("ENGINE").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "sled".to_owned())
}

/// Returns the name of the file of all records of this engine, in the directory of the store.
pub fn data_file(engine: &str) -> &'static str {
    if engine == "redb" { "store.redb" } else { "db" }
}

impl Options {
    /// Returns the defaults of `quorated dev`: three root users with threshold two, and demo data to approve.
    pub fn demo() -> Self {
        Self { demo: true, ..Self::quorum(2, 3) }
    }

    /// Sets the mail server.
    #[must_use]
    pub fn with_mail(self, url: String) -> Self {
        Self { mail: Some(url), ..self }
    }

    /// Sets the SMS gateway.
    #[must_use]
    pub fn with_sms(self, url: String) -> Self {
        Self { sms: Some(url), ..self }
    }

    /// Serves the pages for browsers.
    #[must_use]
    pub fn with_pages(self) -> Self {
        Self { pages: true, ..self }
    }

    /// Sets the environment variables.
    #[must_use]
    pub fn with_variables(self, variables: Vec<(String, String)>) -> Self {
        Self { variables, ..self }
    }

    /// Sets the engine of a new store.
    #[must_use]
    pub fn on_engine(self, engine: &str) -> Self {
        Self { engine: engine.to_owned(), ..self }
    }

    /// Sets the database of a store on PostgreSQL.
    #[must_use]
    pub fn on_database(self, url: String) -> Self {
        Self { engine: "postgres".to_owned(), database: Some(url), ..self }
    }

    /// Returns options with these numbers and without demo data, on the engine that [`engine`] names.
    pub fn quorum(threshold: u32, users: u32) -> Self {
        Self {
            users,
            threshold,
            demo: false,
            mail: None,
            sms: None,
            pages: false,
            engine: engine(),
            database: None,
            variables: Vec::new(),
            programs: None,
        }
    }
}

/// The credentials file of a DEV daemon.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credentials {
    /// Base URL of the API.
    pub base_url: String,
    /// Path of the local socket.
    pub socket: PathBuf,
    /// Id of the first organization.
    pub organization_id: String,
    /// Name of the first organization.
    pub organization_name: String,
    /// Root quorum threshold of the first organization.
    pub threshold: u32,
    /// Root users of the first organization.
    pub root_users: Vec<RootUser>,
    /// P-256 key that signs bundles, uncompressed hex.
    pub quorum_public_key: String,
}

/// A root user in the credentials file.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RootUser {
    /// Id in the organization.
    pub user_id: String,
    /// Name that requests and reviews show.
    pub user_name: String,
    /// Mail address.
    pub user_email: String,
    /// Id of the user's API key.
    pub api_key_id: String,
    /// Public key, 66 hex digits.
    pub public_key: String,
    /// Secret key, 64 hex digits.
    pub private_key: String,
}

/// A daemon that exited before it became ready.
#[derive(Debug)]
pub struct Ended {
    /// Exit status.
    pub status: ExitStatus,
    /// Log and standard error of this start.
    pub log: String,
}

/// A running daemon. It is killed when dropped.
pub struct Daemon {
    options: Options,
    folder: TempDir,
    data: PathBuf,
    child: Option<Child>,
    credentials: Credentials,
    cluster: Option<Cluster>,
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
            panic!("the daemon ended before it was ready: {}\n{}", ended.status, ended.log)
        })
    }

    /// Starts on a data folder elsewhere, unless the daemon ends before it is ready.
    ///
    /// # Errors
    ///
    /// Returns [`Ended`] if the daemon exits before it is ready.
    pub async fn try_start_on(options: Options, data: &Path) -> Result<Self, Ended> {
        let folder = tempfile::Builder::new().prefix("quorate-").tempdir().expect("a temporary folder");
        Self::try_start_with(options, folder, data.to_owned()).await
    }

    async fn try_start_with(mut options: Options, folder: TempDir, data: PathBuf) -> Result<Self, Ended> {
        let needs_cluster = options.engine == "postgres" && options.database.is_none();
        let cluster = needs_cluster.then(Cluster::start);
        options.database = options.database.or(cluster.as_ref().map(Cluster::url));
        let (child, credentials) = launch(&options, folder.path(), &data).await?;
        Ok(Self { options, folder, data, child: Some(child), credentials, cluster })
    }

    /// Replaces the environment variables of the next start.
    pub fn set_variables(&mut self, variables: Vec<(String, String)>) {
        self.options.variables = variables;
    }

    /// Replaces the folder of the programs of the next start.
    pub fn set_programs(&mut self, programs: Option<PathBuf>) {
        self.options.programs = programs;
    }

    /// Returns the content of the credentials file.
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Returns the path of the credentials file.
    pub fn credentials_file(&self) -> PathBuf {
        credentials_file(self.folder.path())
    }

    /// Returns the path of the data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns a temporary folder of the scenario, which is removed at its end.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the server of PostgreSQL of this daemon, if its store is there.
    pub fn database(&self) -> Option<&Cluster> {
        self.cluster.as_ref()
    }

    /// Returns the same to change it.
    pub fn cluster(&mut self) -> &mut Cluster {
        self.cluster.as_mut().expect("the store is on PostgreSQL")
    }

    /// Returns the process id.
    pub fn process_id(&self) -> Pid {
        let child = self.child.as_ref().expect("the daemon runs");
        Pid::from_raw(i32::try_from(child.id()).expect("a process id fits"))
            .expect("a process id is not zero")
    }

    /// Returns the HTTP listener.
    pub fn http(&self) -> Listener {
        Listener::Tcp(self.address())
    }

    /// Returns the address of the HTTP listener.
    pub fn address(&self) -> SocketAddr {
        let address = self.credentials.base_url.strip_prefix("http://").expect("a base URL without TLS");
        address.parse().expect("a base URL with address and port")
    }

    /// Returns the local socket.
    pub fn socket(&self) -> Listener {
        Listener::Socket(self.credentials.socket.clone())
    }

    /// Returns a caller that acts as a root user over HTTP.
    pub fn root(&self, index: usize) -> Caller {
        Caller::new(self.http(), &self.credentials.organization_id, self.root_key(index))
    }

    /// Returns the API key of a root user.
    pub fn root_key(&self, index: usize) -> Key {
        Key::of_hex(&self.credentials.root_users[index].private_key)
    }

    /// Returns the id of a root user.
    pub fn root_id(&self, index: usize) -> &str {
        &self.credentials.root_users[index].user_id
    }

    /// Sends a signal to the daemon.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.process_id(), signal).expect("the daemon runs");
    }

    /// Suspends the daemon with SIGSTOP and waits until none of its threads is in a system call any more.
    pub async fn freeze(&self) {
        self.signal(Signal::STOP);
        let threads = format!("/proc/{}/task", self.process_id().as_raw_nonzero());
        let deadline = Instant::now() + TIMEOUT;
        while !all_stopped(Path::new(&threads)) {
            assert!(Instant::now() < deadline, "the daemon is not suspended in time");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Kills the daemon with SIGKILL and waits until the process is gone.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("the daemon can be killed");
            child.wait().expect("the daemon ends");
        }
    }

    /// Sends a signal that stops the daemon, and waits until it has exited.
    pub async fn stop(&mut self, signal: Signal) -> ExitStatus {
        self.signal(signal);
        ended(&mut self.child.take().expect("the daemon runs")).await
    }

    /// Waits until the daemon has exited by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        ended(&mut self.child.take().expect("the daemon runs")).await
    }

    /// Returns whether the daemon still runs.
    pub fn is_alive(&mut self) -> bool {
        let child = self.child.as_mut();
        child.is_some_and(|child| child.try_wait().expect("the daemon can be waited for").is_none())
    }

    /// Starts again on the same data.
    pub async fn restart(&mut self) {
        self.try_restart().await.unwrap_or_else(|ended| {
            panic!("the daemon ended before it was ready: {}\n{}", ended.status, ended.log)
        });
    }

    /// Starts again on the same data, unless the daemon ends before it is ready.
    ///
    /// # Errors
    ///
    /// Returns [`Ended`] if the daemon exits before it is ready.
    pub async fn try_restart(&mut self) -> Result<(), Ended> {
        self.kill();
        let (child, credentials) = launch(&self.options, self.folder.path(), &self.data).await?;
        self.child = Some(child);
        self.credentials = credentials;
        Ok(())
    }

    /// Returns the whole log.
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

/// Returns whether each thread is in state T, the third field of its `stat`, which follows the name in
/// parentheses.
fn all_stopped(threads: &Path) -> bool {
    let stopped = |thread: std::io::Result<fs::DirEntry>| {
        let text =
            thread.and_then(|thread| fs::read_to_string(thread.path().join("stat"))).unwrap_or_default();
        text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
    };
    fs::read_dir(threads).expect("the threads of a living process").all(stopped)
}

/// Waits until a process has exited by itself.
pub async fn ended(child: &mut Child) -> ExitStatus {
    ended_within(child, TIMEOUT).await
}

/// Does the same for a process that may take longer.
pub async fn ended_within(child: &mut Child, limit: Duration) -> ExitStatus {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the process does not end");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn credentials_file(folder: &Path) -> PathBuf {
    folder.join("credentials.json")
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("daemon.log")
}

#[expect(clippy::print_stderr, reason = "shown by the test runner next to the failure")]
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
    let program = options.programs.as_ref().map(|folder| folder.join("quorated"));
    let mut command = Command::new(program.unwrap_or_else(|| paths::program("quorated")));
    let engine = Some(&options.engine).filter(|engine| *engine != "sled");
    command
        .arg("dev")
        .args(["--listen", "127.0.0.1:0"])
        .arg("--data-dir")
        .arg(data)
        .arg("--socket")
        .arg(folder.join("quorated.sock"))
        .arg("--credentials")
        .arg(credentials_file(folder))
        .args(engine.iter().flat_map(|engine| ["--engine", engine]))
        .args(options.database.iter().flat_map(|url| ["--database", url]))
        .args(["--users", &options.users.to_string(), "--threshold", &options.threshold.to_string()])
        .args(if options.demo { &[][..] } else { &["--no-demo"][..] })
        .args(if options.pages { &["--pages"][..] } else { &[][..] })
        .args(options.mail.iter().flat_map(|url| ["--mail", url]))
        .args(options.sms.iter().flat_map(|url| ["--sms", url]))
        .envs(options.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a log file"))
        .stderr(log);
    command
}

async fn launch(options: &Options, folder: &Path, data: &Path) -> Result<(Child, Credentials), Ended> {
    let file = credentials_file(folder);
    let before = file_stamp(&file);
    let logged = fs::metadata(log_file(folder)).map_or(0, |metadata| metadata.len());
    let mut child = command(options, folder, data).spawn().expect("quorated can be started");
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = child.try_wait().expect("the daemon can be waited for") {
            let log = fs::read(log_file(folder)).unwrap_or_default();
            let this_start = log.get(usize::try_from(logged).expect("a log fits")..).unwrap_or_default();
            return Err(Ended { status, log: String::from_utf8_lossy(this_start).into_owned() });
        }
        if file_stamp(&file) != before
            && let Ok(credentials) = serde_json::from_slice(&fs::read(&file).unwrap_or_default())
        {
            return Ok((child, credentials));
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            show_log(folder);
            panic!("the daemon is not ready in time");
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Returns a value that changes whenever the file is written again.
fn file_stamp(file: &Path) -> Option<(u64, i64, i64)> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
}
