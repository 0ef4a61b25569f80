//! A mail server of another maker, which takes what the daemon sends and says what came.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};

use serde::Deserialize;

use crate::http::PATIENCE;
use crate::places;

/// A mail as it came.
#[derive(Debug, Clone, Deserialize)]
pub struct Mail {
    /// Whether the server asked for it to come later.
    pub refused: bool,
    /// Envelope sender.
    pub from: String,
    /// Envelope receivers.
    pub to: Vec<String>,
    /// Header `Subject`.
    pub subject: String,
    /// Header `Date`.
    pub date: String,
    /// Text, decoded.
    pub text: String,
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
}

impl Mailbox {
    /// Starts a server that asks for the first `refusals` mails to come later.
    pub fn start(refusals: u32) -> Self {
        let folder = places::clients();
        let installed =
            Command::new(folder.join("setup.sh")).arg("pypi").status().expect("setup.sh can be run");
        assert!(installed.success(), "the mail server can not be installed");
        let mut child = Command::new(folder.join("pypi/.venv/bin/python"))
            .args(["mailbox.py", "refuse", &refusals.to_string()])
            .current_dir(folder.join("pypi"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the mail server can be started");
        let output = BufReader::new(child.stdout.take().expect("its output is piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Whoever waits for a line sees that there is none when this ends.
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let first = lines.recv_timeout(PATIENCE).expect("the mail server says where it is");
        let Ready { port } = serde_json::from_str(&first).expect("the mail server speaks JSON");
        Self { child, port, lines: Mutex::new(lines) }
    }

    /// Where it is, as the daemon is told.
    pub fn url(&self) -> String {
        format!("smtp://127.0.0.1:{}", self.port)
    }

    /// The next mail.
    pub fn next(&self) -> Mail {
        let lines = self.lines.lock().expect("no reader panics");
        let line = lines.recv_timeout(PATIENCE).expect("a mail comes in time");
        serde_json::from_str(&line).expect("the mail server speaks JSON")
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
