//! `PgBouncer` in front of a server of PostgreSQL, as operators run it. It is ended when dropped.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::cluster::{Cluster, NAME, OpenSession, SOCKET, unprivileged};
use crate::daemon::POLL_INTERVAL;
use crate::http::TIMEOUT;

/// A pooler, which listens on a socket in its own folder.
pub struct Pooler {
    folder: TempDir,
    child: Child,
}

impl Pooler {
    /// Starts a pooler with these settings, one on each line, in addition to where it listens and whom it admits.
    ///
    /// # Panics
    /// Panics if `PgBouncer` is not installed or does not start.
    pub async fn start(cluster: &Cluster, settings: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-pool-").tempdir().expect("a temporary folder");
        let place = folder.path().display();
        // Each client is the user of the store.
        let text = format!(
            "[databases]\n* = user={NAME} host={}\n[pgbouncer]\nunix_socket_dir = {place}\nlisten_port = 5432\n\
             auth_type = any\nlogfile = {place}/log\npidfile = {place}/pid\n{settings}\n",
            cluster.folder().display()
        );
        let configuration = folder.path().join("pgbouncer.ini");
        fs::write(&configuration, text).expect("the configuration can be written");
        let mut command = Command::new("pgbouncer");
        if let Some((user, group)) = unprivileged() {
            chown(folder.path(), Some(user), Some(group)).expect("root may change the owner");
            command.uid(user).gid(group);
        }
        let child = command
            .arg("--quiet")
            .arg(&configuration)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("pgbouncer is installed");
        let pooler = Self { folder, child };
        let deadline = Instant::now() + TIMEOUT;
        while !pooler.folder.path().join(SOCKET).exists() {
            assert!(Instant::now() < deadline, "pgbouncer does not start: {}", pooler.log());
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        pooler
    }

    /// Returns the URL of the database of stores through the pooler.
    pub fn url(&self) -> String {
        format!("postgres://{NAME}@/{NAME}?host={}", self.folder.path().display())
    }

    /// Begins a session of another client of the pooler.
    pub fn session(&self, text: &str) -> OpenSession {
        OpenSession::begin(self.folder.path(), text)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let id = Pid::from_raw(self.child.id().cast_signed()).expect("a process id is not zero");
        let _ = kill_process(id, Signal::KILL);
        let _ = self.child.wait();
    }
}
