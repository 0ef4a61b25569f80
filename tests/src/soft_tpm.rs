//! A TPM in software: `swtpm`.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::http::TIMEOUT;

/// A running TPM with a state that survives a restart.
pub struct SoftTpm {
    folder: TempDir,
    child: Child,
}

impl SoftTpm {
    /// Starts a new TPM whose register 7 was extended, or reports what is not installed.
    ///
    /// # Panics
    /// Panics if the TPM does not start.
    pub fn new() -> Option<Self> {
        let needed = ["swtpm", "tpm2_pcrextend", "systemd-creds"];
        if let Some(missing) = needed.iter().find(|program| crate::ssh_agent::find(program).is_none()) {
            eprintln!("SKIPPED: keys that a TPM encrypts need {missing}");
            return None;
        }
        let folder = tempfile::Builder::new().prefix("quorate-tpm-").tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("state")).expect("a folder");
        let child = run(folder.path());
        let tpm = Self { folder, child };
        tpm.boots();
        Some(tpm)
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Returns the value of `--tpm2-device` of `systemd-creds`.
    pub fn device(&self) -> String {
        format!("swtpm:path={}", self.socket().display())
    }

    /// Measures what a machine boots.
    fn boots(&self) {
        self.extend(&"11".repeat(32));
    }

    /// Extends register 7, as another boot loader would.
    ///
    /// # Panics
    /// Panics if the TPM rejects it.
    pub fn extend(&self, digest: &str) {
        let mut command = Command::new("tpm2_pcrextend");
        let command = command.arg(format!("7:sha256={digest}")).env("TPM2TOOLS_TCTI", self.device());
        let ended = command.output().expect("a program");
        assert!(ended.status.success(), "{ended:?}");
    }

    /// Restarts the machine: the registers begin again.
    pub fn reboot(&mut self) {
        self.stop();
        self.child = run(self.folder.path());
        self.boots();
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for name in ["socket", "socket.ctrl"] {
            let _ = std::fs::remove_file(self.folder.path().join(name));
        }
    }
}

impl Drop for SoftTpm {
    fn drop(&mut self) {
        self.stop();
    }
}

fn run(folder: &Path) -> Child {
    let socket = folder.join("socket");
    let child = Command::new("swtpm")
        .args(["socket", "--tpm2", "--flags", "startup-clear,not-need-init", "--tpmstate"])
        .arg(format!("dir={}", folder.join("state").display()))
        .args(["--server", &format!("type=unixio,path={}", socket.display())])
        .args(["--ctrl", &format!("type=unixio,path={}.ctrl", socket.display())])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("swtpm can be started");
    let deadline = Instant::now() + TIMEOUT;
    while !socket.exists() || !folder.join("socket.ctrl").exists() {
        assert!(Instant::now() < deadline, "swtpm does not listen");
        std::thread::yield_now();
    }
    child
}
