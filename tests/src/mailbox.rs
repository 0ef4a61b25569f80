//! A third-party mail server that accepts mail from the daemon and reports what arrived.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use serde::Deserialize;
use tempfile::TempDir;

use crate::http::TIMEOUT;
use crate::paths;

/// A received mail.
#[derive(Debug, Clone, Deserialize)]
pub struct Mail {
    /// Whether the server did not accept it.
    pub refused: bool,
    /// Answer of the server, as it was configured.
    pub answer: String,
    /// Envelope sender.
    pub from: String,
    /// Envelope recipients.
    pub to: Vec<String>,
    /// Header `Subject`.
    pub subject: String,
    /// Header `Date`.
    pub date: String,
    /// Header `Message-ID`.
    pub message_id: String,
    /// Header `From`.
    pub header_from: String,
    /// Header `Reply-To`.
    pub reply_to: Option<String>,
    /// Text, decoded.
    pub text: String,
    /// HTML, decoded.
    pub html: Option<String>,
    /// Whether the connection was encrypted.
    pub tls: bool,
    /// User name of the login, if there was one.
    pub login: Option<String>,
}

/// What a server requires before it accepts mail: STARTTLS with a certificate, and then a login.
#[derive(Debug, Clone, Copy)]
pub struct Security<'a> {
    /// Certificate in PEM.
    pub certificate: &'a Path,
    /// Its private key in PEM.
    pub key: &'a Path,
    /// User name.
    pub user: &'a str,
    /// Password.
    pub password: &'a str,
}

#[derive(Deserialize)]
struct Ready {
    port: u16,
}

/// A running server. It is killed when dropped.
pub struct Mailbox {
    child: Child,
    port: u16,
    lines: Mutex<Receiver<String>>,
    folder: TempDir,
}

impl Mailbox {
    /// Starts a server that rejects the first `rejections` mails temporarily.
    pub fn start(rejections: usize) -> Self {
        Self::answering(&vec!["451 4.7.1 come back later"; rejections])
    }

    /// Starts a server that gives these answers to the first mails, one after the other, and accepts all others. In
    /// an answer, `{text}` is replaced by the text of the mail. `drop` closes the connection instead of an answer.
    pub fn answering(answers: &[&str]) -> Self {
        Self::start_with(answers, None)
    }

    /// Starts a server that rejects all mails temporarily until [`Self::open`].
    pub fn closed() -> Self {
        Self::answering(&["closed"])
    }

    /// Accepts all further mails, and those to `hangs.example` that wait for an answer.
    pub fn open(&self) {
        std::fs::write(self.folder.path().join("open"), "").expect("the file can be written");
    }

    /// Starts a server that requires STARTTLS and a login.
    pub fn secured(security: Security<'_>) -> Self {
        Self::start_with(&[], Some(security))
    }

    fn start_with(answers: &[&str], security: Option<Security<'_>>) -> Self {
        let folder = paths::clients();
        let installed =
            Command::new(folder.join("setup.sh")).arg("pypi").status().expect("setup.sh can be run");
        assert!(installed.success(), "the mail server cannot be installed");
        let mails = tempfile::tempdir().expect("a folder can be created");
        let mut command = Command::new(folder.join("pypi/.venv/bin/python"));
        command.arg("mailbox.py").arg(mails.path()).arg(serde_json::json!(answers).to_string());
        if let Some(Security { certificate, key, user, password }) = security {
            command.arg(certificate).arg(key).args([user, password]);
        }
        let mut child = command
            .current_dir(folder.join("pypi"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the mail server can be started");
        let output = BufReader::new(child.stdout.take().expect("its output is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // The sender is dropped at the end, so that a waiting receiver returns at once.
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let first = lines.recv_timeout(TIMEOUT).expect("the mail server reports its port");
        let Ready { port } = serde_json::from_str(&first).expect("the mail server speaks JSON");
        Self { child, port, lines: Mutex::new(lines), folder: mails }
    }

    /// Returns the port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the URL for the daemon's configuration.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Returns the folder with the accepted mails, for clients that read them: `1.json`, `2.json` and so on.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns how many mails were accepted.
    pub fn accepted(&self) -> usize {
        let files = std::fs::read_dir(self.folder.path()).expect("the folder exists");
        files.filter(|file| file.as_ref().is_ok_and(|file| file.path().extension().is_some())).count()
    }

    /// Waits for the next mail and returns it.
    pub fn next(&self) -> Mail {
        let lines = self.lines.lock().expect("no reader panics");
        let line = lines.recv_timeout(TIMEOUT).expect("a mail arrives in time");
        serde_json::from_str(&line).expect("the mail server speaks JSON")
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
