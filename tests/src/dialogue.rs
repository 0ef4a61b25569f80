//! A dialogue with a program that uses a third-party client. The program acts, reports what it observed as
//! one line of JSON, and waits until the scenario has checked the same things by other means. Makes no
//! assertions about the content.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::daemon::{self, Daemon};
use crate::http::TIMEOUT;
use crate::paths;

/// A running client program. It is killed when dropped.
pub struct Dialogue {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: PathBuf,
}

impl Dialogue {
    /// Starts a program of the npm client against a daemon, with the name of the scenario to run.
    pub fn npm(daemon: &Daemon, program: &str, name: &str) -> Self {
        let folder = paths::clients();
        let installed =
            Command::new(folder.join("setup.sh")).arg("npm").status().expect("setup.sh can be run");
        assert!(installed.success(), "the npm client cannot be installed");
        let stderr = daemon.folder().join("dialogue.stderr");
        let mut child = Command::new("node")
            .arg(program)
            .arg(daemon.credentials_file())
            .arg(name)
            .current_dir(folder.join("npm"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&stderr).expect("a file for standard error"))
            .spawn()
            .expect("node can be run");
        let output = BufReader::new(child.stdout.take().expect("its output is piped"));
        let input = child.stdin.take();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // The sender is dropped at the end, so that a waiting receiver returns at once.
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, input, lines, stderr }
    }

    /// Returns the next line of observations.
    pub fn observed(&self) -> Value {
        let line = self
            .lines
            .recv_timeout(TIMEOUT)
            .unwrap_or_else(|error| panic!("no line from the client ({error}): {}", self.stderr()));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}"))
    }

    /// Lets the program proceed, and returns its next line of observations.
    pub fn proceed(&mut self) -> Value {
        let input = self.input.as_mut().expect("the program still runs");
        let written = input.write_all(b"\n").and_then(|()| input.flush());
        written.unwrap_or_else(|error| panic!("the client exited ({error}): {}", self.stderr()));
        self.observed()
    }

    /// Asserts that the program reports nothing more and exits with success.
    pub async fn finish(mut self) {
        self.input = None;
        let status = daemon::ended(&mut self.child).await;
        assert!(status.success(), "the client failed ({status}): {}", self.stderr());
        assert_eq!(self.lines.recv().ok(), None, "the client reported more than expected");
    }

    fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap_or_default()
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
