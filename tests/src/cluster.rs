//! A server of PostgreSQL for one test, which listens on a socket in its own folder. It is ended when dropped.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Name of the superuser and of the database of stores.
pub const NAME: &str = "quorate";
/// File name of the socket of a server with the default port.
pub const SOCKET: &str = ".s.PGSQL.5432";

/// A server with its data in a temporary folder.
pub struct Cluster {
    folder: TempDir,
    server: Option<Child>,
}

/// Returns the path of a program of PostgreSQL: of the newest Debian package, or in the search path.
fn program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin").join(name)))
        })
        .filter(|(_, path)| path.exists())
        .collect();
    found.sort();
    found.pop().map_or_else(|| PathBuf::from(name), |(_, path)| path)
}

/// Returns the user and the group that run the server: PostgreSQL rejects root.
pub fn unprivileged() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("the list of users");
    let ids = |name: &str| {
        let mut fields = users.lines().find(|line| line.split(':').next() == Some(name))?.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(ids("postgres").or_else(|| ids("nobody")).expect("a user without privileges"))
}

fn command(name: &str) -> Command {
    let mut command = Command::new(program(name));
    if let Some((user, group)) = unprivileged() {
        command.uid(user).gid(group);
    }
    command.current_dir("/").env_remove("PGDATA").env("LC_ALL", "C").stdin(Stdio::null());
    command
}

/// Creates a temporary folder, which the server can reach.
fn folder(parent: &Path) -> TempDir {
    let folder =
        tempfile::Builder::new().prefix("quorate-pg-").tempdir_in(parent).expect("a temporary folder");
    if let Some((user, group)) = unprivileged() {
        chown(folder.path(), Some(user), Some(group)).expect("root may change the owner");
    }
    folder
}

impl Cluster {
    /// Creates and starts a server, with an empty database for a store.
    ///
    /// # Panics
    /// Panics if PostgreSQL is not installed or does not start.
    pub fn start() -> Self {
        Self::create(folder(&std::env::temp_dir()), &[])
    }

    /// Does the same with the log in a folder below `parent`, in short files, which a small disk has room for.
    ///
    /// # Panics
    /// Panics if PostgreSQL is not installed or does not start.
    pub fn start_with_log_in(parent: &Path) -> Self {
        let log = parent.join("log").display().to_string();
        Self::create(folder(&std::env::temp_dir()), &["--wal-segsize", "1", "--waldir", &log])
    }

    fn create(folder: TempDir, more: &[&str]) -> Self {
        let output = command("initdb")
            .arg("--pgdata")
            .arg(folder.path().join("data"))
            .args(["--username", NAME, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"])
            .args(more)
            .output()
            .expect("initdb runs");
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        let mut cluster = Self { folder, server: None };
        cluster.run();
        cluster.query("postgres", "CREATE DATABASE quorate ENCODING 'UTF8'");
        cluster
    }

    /// Copies this server to a standby, which follows it.
    ///
    /// # Panics
    /// Panics if the server cannot be copied.
    #[must_use]
    pub fn standby(&self) -> Self {
        let folder = folder(&std::env::temp_dir());
        let output = command("pg_basebackup")
            .arg("-D")
            .arg(folder.path().join("data"))
            .arg("-h")
            .arg(self.folder())
            .args(["-U", NAME, "-R", "-c", "fast", "--no-sync"])
            .output()
            .expect("pg_basebackup runs");
        assert!(output.status.success(), "pg_basebackup: {}", String::from_utf8_lossy(&output.stderr));
        let mut standby = Self { folder, server: None };
        standby.run();
        standby
    }

    /// Returns the URL of the database of stores on this server and on another one, to be tried in this order.
    pub fn url_with(&self, other: &Self) -> String {
        format!("{}&host={}", self.url(), other.folder().display())
    }

    /// Returns the folder of the server, which contains its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts the server again, after it was stopped or killed.
    ///
    /// # Panics
    /// Panics if the server does not start.
    pub fn run(&mut self) {
        let mut server = command("postgres")
            .arg("-D")
            .arg(self.folder().join("data"))
            .arg("-k")
            .arg(self.folder())
            .args(["-h", "", "-c", "log_destination=stderr", "-c", "logging_collector=off"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("postgres runs");
        let mut lines = BufReader::new(server.stderr.take().expect("a pipe")).lines();
        let mut log = String::new();
        let is_ready = lines.by_ref().map_while(Result::ok).any(|line| {
            log.push_str(&line);
            log.push('\n');
            line.contains("database system is ready to accept")
        });
        assert!(is_ready, "postgres: {log}");
        // The server writes until it ends.
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        self.server = Some(server);
    }

    /// Returns the URL of the database of stores.
    pub fn url(&self) -> String {
        self.url_of(NAME)
    }

    /// Returns the URL of a database.
    pub fn url_of(&self, database: &str) -> String {
        format!("postgres://{NAME}@/{database}?host={}", self.folder().display())
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.folder().join(SOCKET)
    }

    /// Lets the server store what the database of stores contains in a folder below `parent`.
    ///
    /// # Panics
    /// Panics if the server rejects the folder, or a session uses the database.
    pub fn move_database(&self, parent: &Path) {
        let place = parent.join("tables");
        fs::create_dir(&place).expect("a new folder");
        if let Some((user, group)) = unprivileged() {
            chown(&place, Some(user), Some(group)).expect("root may change the owner");
        }
        self.query("postgres", &format!("CREATE TABLESPACE elsewhere LOCATION '{}'", place.display()));
        self.query("postgres", &format!("ALTER DATABASE {NAME} SET TABLESPACE elsewhere"));
    }

    /// Copies the database of stores, which no session may use.
    ///
    /// # Panics
    /// Panics if a session uses it.
    pub fn copy_database(&self, copy: &str) {
        self.query("postgres", &format!("CREATE DATABASE {copy} TEMPLATE {NAME}"));
    }

    /// Replaces the database of stores with a copy.
    ///
    /// # Panics
    /// Panics if there is no such copy.
    pub fn put_back_database(&self, copy: &str) {
        self.query("postgres", &format!("DROP DATABASE {NAME} WITH (FORCE)"));
        self.query("postgres", &format!("ALTER DATABASE {copy} RENAME TO {NAME}"));
    }

    /// Runs statements in a database and returns their rows, with one line each.
    ///
    /// # Panics
    /// Panics if a statement fails.
    pub fn query(&self, database: &str, text: &str) -> String {
        let output = Command::new(program("psql"))
            .arg("-h")
            .arg(self.folder())
            .args(["-U", NAME, "-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text])
            .output()
            .expect("psql runs");
        assert!(output.status.success(), "{text}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Runs statements in the database of stores.
    pub fn sql(&self, text: &str) -> String {
        self.query(NAME, text)
    }

    /// Changes a setting of the server, which reads it again.
    ///
    /// # Panics
    /// Panics if the setting cannot be written.
    pub fn set(&mut self, setting: &str) {
        self.write_setting(setting);
        self.stop();
        self.run();
    }

    /// Changes a setting while the server runs, as `pg_ctl reload` does.
    ///
    /// # Panics
    /// Panics if the setting cannot be written.
    pub fn reload(&self, setting: &str) {
        self.write_setting(setting);
        self.query("postgres", "SELECT pg_reload_conf()");
    }

    fn write_setting(&self, setting: &str) {
        let path = self.folder().join("data/postgresql.auto.conf");
        let mut file = File::options().append(true).open(path).expect("the settings");
        writeln!(file, "{setting}").expect("the settings are written");
    }

    /// Replaces the rules by which the server admits clients.
    ///
    /// # Panics
    /// Panics if they cannot be written.
    pub fn admit(&self, rules: &str) {
        fs::write(self.folder().join("data/pg_hba.conf"), rules).expect("the rules are written");
        self.query("postgres", "SELECT pg_reload_conf()");
    }

    /// Begins a session of another client, which executes statements.
    ///
    /// # Panics
    /// Panics if a statement fails.
    pub fn session(&self, text: &str) -> OpenSession {
        OpenSession::begin(self.folder(), text)
    }

    /// Ends the server at once, as a crash does.
    pub fn kill(&mut self) {
        self.end(Signal::QUIT);
    }

    /// Stops the server; its sessions end.
    pub fn stop(&mut self) {
        self.end(Signal::INT);
    }

    /// Suspends all processes of the server, or lets them continue.
    ///
    /// # Panics
    /// Panics if the server does not run.
    pub fn signal(&self, signal: Signal) {
        let server = self.server.as_ref().expect("the server runs").id();
        let children =
            fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap_or_default();
        for id in children.split_whitespace().filter_map(|id| id.parse().ok()).chain([server.cast_signed()]) {
            // A session may have ended meanwhile.
            let _ = Pid::from_raw(id).map(|id| kill_process(id, signal));
        }
    }

    fn end(&mut self, signal: Signal) {
        if let Some(mut server) = self.server.take() {
            let id = Pid::from_raw(server.id().cast_signed()).expect("a process id is not zero");
            let _ = kill_process(id, signal);
            // A server that a test has suspended ends as well.
            let _ = kill_process(id, Signal::CONT);
            let _ = server.wait();
        }
    }
}

/// A session of another client of the server. It ends when it is dropped.
pub struct OpenSession {
    client: Child,
    _input: ChildStdin,
}

impl OpenSession {
    /// Begins a session at the socket in a folder, which executes statements in the database of stores.
    ///
    /// # Panics
    /// Panics if a statement fails.
    pub fn begin(folder: &Path, text: &str) -> Self {
        let mut client = Command::new(program("psql"))
            .arg("-h")
            .arg(folder)
            .args(["-U", NAME, "-d", NAME, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("psql runs");
        let mut input = client.stdin.take().expect("a pipe");
        writeln!(input, "{text};\n\\echo executed").expect("psql reads");
        let lines = BufReader::new(client.stdout.take().expect("a pipe")).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "executed"), "{text}");
        Self { client, _input: input }
    }
}

impl Drop for OpenSession {
    fn drop(&mut self) {
        let _ = self.client.kill();
        let _ = self.client.wait();
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.end(Signal::QUIT);
    }
}
