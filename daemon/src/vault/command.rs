//! Keys that a program of the operator encrypts and decrypts, such as the client of a key management service. The program gets
//! `wrap` or `unwrap` as its last argument, reads from its standard input, and writes the result to its standard output.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::entropy::random;
use super::error::VaultError;
use super::source::{decode_key, encode_key};
use super::within::within;

/// Time that a run of the program may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// Time that the end of its output may take once it has ended.
const AFTER: Duration = Duration::from_secs(1);
/// Maximum length of what the program writes, in bytes. It fits into a pipe, so that nothing waits for the program to read it.
const LONGEST: usize = 16 * 1024;

/// The key of a slot, as the program has encrypted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandWrapped {
    /// What the program wrote, in hexadecimal digits.
    wrapped_key: String,
}

impl CommandWrapped {
    /// Makes a key, and lets the program encrypt it. Whether the program decrypts it again is checked.
    ///
    /// # Errors
    /// [`VaultError::Command`].
    pub(super) fn new(command: &[String]) -> Result<(Self, Zeroizing<[u8; 32]>), VaultError> {
        let key = Zeroizing::new(random::<32>()?);
        let wrapped = run(command, "wrap", encode_key(&key).as_bytes())?;
        if wrapped.is_empty() {
            return Err(failed(command, "it wrote nothing when it was called with `wrap`"));
        }
        let wrapped = Self { wrapped_key: const_hex::encode(wrapped.as_slice()) };
        if wrapped.open(command)? != key {
            return Err(failed(command, "it does not decrypt what it has encrypted"));
        }
        Ok((wrapped, key))
    }

    /// Lets the program decrypt the key.
    ///
    /// # Errors
    /// [`VaultError::Command`].
    pub(super) fn open(&self, command: &[String]) -> Result<Zeroizing<[u8; 32]>, VaultError> {
        let damaged = || failed(command, "its slot is damaged");
        let wrapped = const_hex::decode(&self.wrapped_key).map_err(|_| damaged())?;
        let written = run(command, "unwrap", &wrapped)?;
        let key = std::str::from_utf8(&written).ok().and_then(decode_key);
        key.ok_or_else(|| failed(command, "it did not write 64 hex digits when it was called with `unwrap`"))
    }
}

fn failed(command: &[String], reason: &str) -> VaultError {
    VaultError::Command { program: command.first().cloned().unwrap_or_default(), reason: reason.to_owned() }
}

/// Runs the program, and returns what it writes.
fn run(command: &[String], verb: &str, input: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
    let failed = |reason: &str| failed(command, reason);
    let (program, arguments) = command.split_first().ok_or_else(|| failed("it has no name"))?;
    let started = Command::new(program)
        .args(arguments)
        .arg(verb)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = started.map_err(|error| failed(&error.to_string()))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read it fails in its own way.
        let _ = stdin.write_all(input);
    }
    let ended = within(DEADLINE, move || read(child));
    if let Some(group) = group {
        // What it has started ends with it.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let ended = ended.ok_or_else(|| failed("it took longer than 10 seconds"))?;
    let (written, status) = ended.map_err(|error| failed(&error.to_string()))?;
    if written.len() > LONGEST {
        return Err(failed("it wrote more than 16 KiB"));
    }
    if status.success() { Ok(written) } else { Err(failed(&format!("it ended with {status}"))) }
}

/// Waits for the end of a program. Returns what it has written.
fn read(mut child: Child) -> std::io::Result<(Zeroizing<Vec<u8>>, ExitStatus)> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let stdout = child.stdout.take();
    // A process that the program has started may keep the pipe open.
    std::thread::spawn(move || sender.send(stdout.map_or_else(|| Ok(Zeroizing::default()), written)));
    let status = child.wait()?;
    let written = receiver
        .recv_timeout(AFTER)
        .map_err(|_| std::io::Error::other("a process that it has started keeps its standard output open"))?;
    Ok((written?, status))
}

fn written(mut stdout: ChildStdout) -> std::io::Result<Zeroizing<Vec<u8>>> {
    // A buffer that grows would leave copies of the key in memory that are not wiped.
    let mut buffer = Zeroizing::new(vec![0; LONGEST.saturating_add(1)]);
    let mut length = 0;
    while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match stdout.read(rest)? {
            0 => break,
            count => length = length.saturating_add(count),
        }
    }
    buffer.truncate(length);
    Ok(buffer)
}
