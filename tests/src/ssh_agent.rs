//! SSH agents: the real one of OpenSSH, and one that answers as a test defines.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use tempfile::TempDir;

use crate::daemon::POLL_INTERVAL;
use crate::http::TIMEOUT;

/// A running `ssh-agent`. It is killed when dropped.
pub struct SshAgent {
    folder: TempDir,
    child: Child,
}

impl SshAgent {
    /// Starts the agent of OpenSSH, or reports that it is not installed.
    pub async fn start() -> Option<Self> {
        Self::start_as("ssh-agent").await
    }

    /// Starts the agent under another process name, as `sshd` is for a forwarded one.
    pub async fn start_as(name: &str) -> Option<Self> {
        let Some(program) = find("ssh-agent").filter(|_| find("ssh-add").is_some()) else {
            eprintln!("SKIPPED: keys in an SSH agent need the package openssh-client");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("quorate-agent-").tempdir().expect("a folder");
        // A link, since a copy cannot run while a process that another test starts still has it open for writing.
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(program, &link).expect("a link to ssh-agent");
        let child = Command::new(&link)
            .arg("-D")
            .arg("-a")
            .arg(folder.path().join("socket"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("ssh-agent can be started");
        let agent = Self { folder, child };
        let deadline = Instant::now() + TIMEOUT;
        while UnixStream::connect(agent.socket()).is_err() {
            assert!(Instant::now() < deadline, "ssh-agent did not listen in time");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Some(agent)
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Creates a key with these options of `ssh-keygen` and adds it to the agent, with its name as the comment.
    pub fn add(&self, name: &str, kind: &[&str]) {
        let path = self.folder.path().join(name);
        let file = path.to_str().expect("a path in UTF-8");
        let kind = kind.iter().copied();
        let arguments: Vec<&str> = ["-q", "-N", "", "-C", name, "-f", file].into_iter().chain(kind).collect();
        self.run("ssh-keygen", &arguments);
        self.run("ssh-add", &["-q", file]);
    }

    /// Runs a program of OpenSSH with this agent.
    pub fn run(&self, program: &str, arguments: &[&str]) {
        let mut command = Command::new(program);
        let command = command.args(arguments).env("SSH_AUTH_SOCK", self.socket());
        let output = command.stdin(Stdio::null()).output().expect("a program of OpenSSH");
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    }
}

impl Drop for SshAgent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the path of a program.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// An agent that answers each message, given without its length, with the bytes that a function returns. It sends nothing
/// more once the function returns `None`.
pub struct FakeAgent {
    folder: TempDir,
}

impl FakeAgent {
    /// Starts the agent.
    pub fn start(answer: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + 'static) -> Self {
        let folder = tempfile::Builder::new().prefix("quorate-agent-").tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("socket")).expect("a socket");
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                while let Some(message) = message(&mut stream) {
                    match answer(&message) {
                        Some(bytes) if stream.write_all(&bytes).is_ok() => {}
                        _ => {
                            // Open, but nothing is ever written.
                            silent.push(stream);
                            break;
                        }
                    }
                }
            }
        });
        Self { folder }
    }

    /// Starts an agent between a client and a real one, which changes its answers: the function gets the request and the
    /// answer, both without length, and returns the new answer.
    pub fn before(real: &Path, change: impl Fn(&[u8], Vec<u8>) -> Vec<u8> + Send + 'static) -> Self {
        let real = real.to_owned();
        Self::start(move |request| Some(framed(&change(request, exchanged(&real, request)?))))
    }

    /// Returns the path of the socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }
}

/// Sends a message to an agent, and returns its answer.
pub fn exchanged(socket: &Path, request: &[u8]) -> Option<Vec<u8>> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.write_all(&framed(request)).ok()?;
    message(&mut stream)
}

/// Returns a message with its length.
pub fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).expect("a short message");
    [&length.to_be_bytes(), message].concat()
}

fn message(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut message = vec![0; usize::try_from(u32::from_be_bytes(length)).ok()?];
    stream.read_exact(&mut message).ok()?;
    Some(message)
}
