//! A conversation with a program of another maker's client: it acts, says in a line of JSON what it saw, and waits
//! until the story has looked at the same things from elsewhere. Judges nothing.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::daemon::{self, Daemon};
use crate::http::PATIENCE;
use crate::places;

/// A running program. It is killed when dropped.
pub struct Dialogue {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaint: PathBuf,
}

impl Dialogue {
    /// Starts a program of the npm client on a daemon, with the name of what it is to play.
    pub fn npm(daemon: &Daemon, program: &str, name: &str) -> Self {
        let folder = places::clients();
        let installed =
            Command::new(folder.join("setup.sh")).arg("npm").status().expect("setup.sh can be run");
        assert!(installed.success(), "the npm client can not be installed");
        let complaint = daemon.folder().join("dialogue.complaint");
        let mut child = Command::new("node")
            .arg(program)
            .arg(daemon.credentials_file())
            .arg(name)
            .current_dir(folder.join("npm"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(&complaint).expect("a file for the complaint"))
            .spawn()
            .expect("node can be run");
        let output = BufReader::new(child.stdout.take().expect("its output is piped"));
        let input = child.stdin.take();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            // Whoever waits for a line sees that there is none when this ends.
            output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { child, input, lines, complaint }
    }

    /// What it saw in its first or, told to go on, next step.
    pub fn hears(&self) -> Value {
        let line = self
            .lines
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|gone| panic!("no line from the client ({gone}): {}", self.complaint()));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}"))
    }

    /// Tells it to go on, and returns what it saw then.
    pub fn goes_on(&mut self) -> Value {
        let input = self.input.as_mut().expect("it is not at its end");
        let told = input.write_all(b"\n").and_then(|()| input.flush());
        told.unwrap_or_else(|gone| panic!("the client ended ({gone}): {}", self.complaint()));
        self.hears()
    }

    /// Asserts that it has nothing more to say and ends well.
    pub async fn ends(mut self) {
        self.input = None;
        let status = daemon::ended(&mut self.child).await;
        assert!(status.success(), "the client failed ({status}): {}", self.complaint());
        assert_eq!(self.lines.recv().ok(), None, "it said all");
    }

    fn complaint(&self) -> String {
        fs::read_to_string(&self.complaint).unwrap_or_default()
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
