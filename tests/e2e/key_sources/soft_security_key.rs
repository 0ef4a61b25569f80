//! A FIDO2 security key in software: `tests/clients/pypi/security_key.py`, which speaks CTAPHID over a socket.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use quorate_tests::http::TIMEOUT;
use quorate_tests::paths;
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::third_party;

const PYTHON: &str = ".venv/bin/python";

/// A running security key. It is removed when dropped.
pub(super) struct SoftSecurityKey {
    folder: TempDir,
    child: Child,
    input: ChildStdin,
    lines: UnboundedReceiver<String>,
}

impl SoftSecurityKey {
    /// PIN of every security key that has one.
    pub(super) const PIN: &str = "648219";

    /// Attaches a security key of CTAP 2.1 with the PIN.
    pub(super) async fn attach() -> Self {
        Self::attach_as(&[Self::PIN]).await
    }

    /// Attaches a security key with these arguments of the program: the PIN, `2.0` for CTAP 2.0, and `device` for a
    /// character device instead of a socket.
    pub(super) async fn attach_as(arguments: &[&str]) -> Self {
        third_party::install("pypi");
        let folder = tempfile::Builder::new().prefix("quorate-fido2-").tempdir().expect("a folder");
        let mut child = Command::new(PYTHON)
            .arg("security_key.py")
            .arg(folder.path().join("socket"))
            .args(arguments)
            .current_dir(paths::clients().join("pypi"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python can be started");
        let (input, output) = (child.stdin.take().expect("input"), child.stdout.take().expect("output"));
        let (sender, lines) = unbounded_channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut key = Self { folder, child, input, lines };
        key.reports("ready").await;
        key
    }

    /// Returns the path of the socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Defines what the person in front of the security key does, or what happens to it.
    pub(super) async fn set(&mut self, command: &str) {
        writeln!(self.input, "{command}").expect("the program reads");
        self.reports("done").await;
    }

    /// Waits until the program reports this.
    pub(super) async fn reports(&mut self, line: &str) {
        let wait = async { while self.lines.recv().await.expect("the program runs") != line {} };
        tokio::time::timeout(TIMEOUT, wait).await.unwrap_or_else(|_| panic!("{line} is not reported"));
    }

    /// Uses the security key with the unmodified client of `fido2`, and returns the observations.
    pub(super) fn observe_with_fido2(&self) -> Value {
        let socket = self.socket();
        third_party::observe("pypi", &[PYTHON, "security_key_check.py"], &[&socket, Path::new(Self::PIN)])
    }
}

impl Drop for SoftSecurityKey {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
