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
    /// Whether the server rejected it temporarily.
    pub refused: bool,
    /// Envelope sender.
    pub from: String,
    /// Envelope recipients.
    pub to: Vec<String>,
    /// Header `Subject`.
    pub subject: String,
    /// Header `Date`.
    pub date: String,
    /// Header `From`.
    pub header_from: String,
    /// Header `Reply-To`.
    pub reply_to: Option<String>,
    /// Text, decoded.
    pub text: String,
    /// HTML, decoded.
    pub html: Option<String>,
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
    pub fn start(rejections: u32) -> Self {
        let folder = paths::clients();
        let installed =
            Command::new(folder.join("setup.sh")).arg("pypi").status().expect("setup.sh can be run");
        assert!(installed.success(), "the mail server cannot be installed");
        let mails = tempfile::tempdir().expect("a folder can be created");
        let mut child = Command::new(folder.join("pypi/.venv/bin/python"))
            .args(["mailbox.py", "refuse", &rejections.to_string()])
            .arg(mails.path())
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

    /// Returns the URL for the daemon's configuration.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// Returns the folder with the accepted mails, for clients that read them: `1.json`, `2.json` and so on.
    pub fn folder(&self) -> &Path {
        self.folder.path()
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
