//! The two exchanges with an SSH agent that are needed (draft-ietf-sshm-ssh-agent): the list of keys and a signature.
//! Lengths and times are bounded, because the agent is not trusted.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};
use ssh_encoding::{Decode, Encode};
use ssh_key::Signature;

use super::error::AgentError;

/// Maximum length of a message, as in OpenSSH.
const MESSAGE_LIMIT: usize = 256 * 1024;
/// Maximum number of keys, as in OpenSSH.
const IDENTITIES_LIMIT: u32 = 2048;

const REQUEST_IDENTITIES: u8 = 11;
const IDENTITIES_ANSWER: u8 = 12;
const SIGN_REQUEST: u8 = 13;
const SIGN_RESPONSE: u8 = 14;
const FAILURE: u8 = 5;
/// No flags are defined for the usable algorithms.
const FLAGS: u32 = 0;

/// A key as the agent lists it. Nothing is checked yet.
pub(super) struct Identity {
    /// Public key in the encoding of RFC 4253 §6.6.
    pub(super) blob: Vec<u8>,
    pub(super) comment: String,
}

/// Returns the keys of the agent, and what is risky about the way to it.
pub(super) fn identities(
    socket: &Path,
    timeout: Duration,
) -> Result<(Vec<Identity>, Option<String>), AgentError> {
    let mut connection = Connection::open(socket, timeout)?;
    let answer = connection.exchange(&[REQUEST_IDENTITIES])?;
    let warning = forwarding(&connection.stream);
    Ok((parse_identities(&answer).ok_or(AgentError::Answer)?, warning))
}

fn parse_identities(mut answer: &[u8]) -> Option<Vec<Identity>> {
    let reader = &mut answer;
    let count = match u8::decode(reader).ok()? {
        IDENTITIES_ANSWER => u32::decode(reader).ok().filter(|count| *count <= IDENTITIES_LIMIT)?,
        _ => return None,
    };
    let mut identities = Vec::new();
    for _ in 0..count {
        let (blob, comment) = (Vec::decode(reader).ok()?, Vec::decode(reader).ok()?);
        identities.push(Identity { blob, comment: String::from_utf8_lossy(&comment).into_owned() });
    }
    reader.is_empty().then_some(identities)
}

/// Returns the signature over `data` by the key with this public key, or `None` if the agent refuses.
pub(super) fn signature(
    socket: &Path,
    blob: &[u8],
    data: &[u8],
    timeout: Duration,
) -> Result<Option<Signature>, AgentError> {
    let mut message = Vec::new();
    let encoded = SIGN_REQUEST
        .encode(&mut message)
        .and_then(|()| blob.encode(&mut message))
        .and_then(|()| data.encode(&mut message))
        .and_then(|()| FLAGS.encode(&mut message));
    if encoded.is_err() || message.len() > MESSAGE_LIMIT {
        return Err(AgentError::TooLong(data.len()));
    }
    let answer = Connection::open(socket, timeout)?.exchange(&message)?;
    if answer.as_slice() == [FAILURE] {
        return Ok(None);
    }
    parse_signature(&answer).map(Some).ok_or(AgentError::Answer)
}

fn parse_signature(mut answer: &[u8]) -> Option<Signature> {
    let reader = &mut answer;
    if u8::decode(reader).ok()? != SIGN_RESPONSE {
        return None;
    }
    let signature: Vec<u8> = Vec::decode(reader).ok()?;
    let mut inner = signature.as_slice();
    let signature = Signature::decode(&mut inner).ok()?;
    (reader.is_empty() && inner.is_empty()).then_some(signature)
}

/// A connection to an agent, for one exchange.
struct Connection {
    stream: UnixStream,
    path: String,
    timeout: Duration,
    deadline: Instant,
}

impl Connection {
    /// Connects without waiting: an agent that accepts no connection is an error at once.
    fn open(socket: &Path, timeout: Duration) -> Result<Self, AgentError> {
        let system = |source| AgentError::System { path: socket.display().to_string(), source };
        let stream = connect(socket).map_err(system)?;
        let path = socket.display().to_string();
        Ok(Self { stream, path, timeout, deadline: Instant::now() + timeout })
    }

    /// Sends a message and returns the answer.
    fn exchange(&mut self, message: &[u8]) -> Result<Vec<u8>, AgentError> {
        let length = u32::try_from(message.len()).map_err(|_| AgentError::TooLong(message.len()))?;
        let framed = [&length.to_be_bytes(), message].concat();
        self.write(&framed)?;
        let mut length = [0; 4];
        self.read(&mut length)?;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if length == 0 || length > MESSAGE_LIMIT {
            return Err(AgentError::Answer);
        }
        let mut answer = vec![0; length];
        self.read(&mut answer)?;
        Ok(answer)
    }

    fn write(&mut self, mut bytes: &[u8]) -> Result<(), AgentError> {
        while !bytes.is_empty() {
            let left = self.left()?;
            let written = self.stream.set_write_timeout(Some(left)).and_then(|()| self.stream.write(bytes));
            let count = self.transferred(written)?;
            bytes = bytes.get(count..).unwrap_or_default();
        }
        Ok(())
    }

    fn read(&mut self, mut buffer: &mut [u8]) -> Result<(), AgentError> {
        while !buffer.is_empty() {
            let left = self.left()?;
            let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(buffer));
            let count = self.transferred(read)?;
            buffer = buffer.get_mut(count..).unwrap_or_default();
        }
        Ok(())
    }

    /// Returns the time until the deadline.
    fn left(&self) -> Result<Duration, AgentError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(AgentError::Timeout(self.timeout.as_secs())) } else { Ok(left) }
    }

    /// Returns the number of bytes of a transfer. An interrupted one is tried again.
    fn transferred(&self, result: std::io::Result<usize>) -> Result<usize, AgentError> {
        match result {
            Ok(0) => Err(AgentError::Answer),
            Ok(count) => Ok(count),
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => Ok(0),
                ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                    Err(AgentError::Timeout(self.timeout.as_secs()))
                }
                _ => Err(AgentError::System { path: self.path.clone(), source: error }),
            },
        }
    }
}

fn connect(socket: &Path) -> std::io::Result<UnixStream> {
    let address = SocketAddrUnix::new(socket)?;
    let stream = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    fcntl_setfd(&stream, FdFlags::CLOEXEC)?;
    let stream = UnixStream::from(stream);
    // A full queue of a blocking socket would block for ever.
    stream.set_nonblocking(true)?;
    rustix::net::connect(&stream, &address)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Returns a warning if the socket is forwarded from another host: then `sshd` listens on it.
fn forwarding(stream: &UnixStream) -> Option<String> {
    let is = match listener(stream) {
        Some(name) if name.starts_with("sshd") => "is",
        None if std::env::var_os("SSH_CONNECTION").is_some() => "may be",
        Some(_) | None => return None,
    };
    Some(format!(
        "the SSH agent {is} forwarded: root on this host can sign with your key while you are connected"
    ))
}

/// Returns the name of the program that listens on the other side, if the system reports it.
#[cfg(target_os = "linux")]
fn listener(stream: &UnixStream) -> Option<String> {
    /// Longer than any name (`TASK_COMM_LEN`).
    const NAME_LIMIT: u64 = 64;
    let process = rustix::net::sockopt::socket_peercred(stream).ok()?.pid;
    let path = format!("/proc/{}/comm", process.as_raw_nonzero());
    let name = crate::files::read(Path::new(&path), NAME_LIMIT).ok()??;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

#[cfg(not(target_os = "linux"))]
fn listener(_: &UnixStream) -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::os::unix::net::UnixListener;

    use super::*;

    /// Starts an agent that sends these bytes to each client and then stays silent.
    fn agent(answer: &'static [u8]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            let streams = listener.incoming().map_while(Result::ok);
            let write = |mut stream: UnixStream| stream.write_all(answer).map(|()| stream);
            streams.map_while(|stream| write(stream).ok()).collect::<Vec<_>>()
        });
        (folder, path)
    }

    #[test]
    fn an_agent_that_stops_within_an_answer_times_out() {
        const SHORT: Duration = Duration::from_millis(50);
        for answer in [&b""[..], b"\0\0", b"\0\0\0\x10", b"\0\0\0\x10\x0e\0\0\0"] {
            let (_folder, path) = agent(answer);
            let listed = identities(&path, SHORT).map(|_| ());
            assert!(matches!(listed, Err(AgentError::Timeout(_))), "{answer:?}: {listed:?}");
            let signed = signature(&path, b"key", b"body", SHORT).map(|_| ());
            assert!(matches!(signed, Err(AgentError::Timeout(_))), "{answer:?}: {signed:?}");
        }
    }

    #[test]
    fn an_agent_that_accepts_nobody_is_an_error_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&listener, 1).unwrap();
        let waiting: Vec<UnixStream> = (0..16).map_while(|_| connect(&path).ok()).collect();
        assert!(waiting.len() < 16, "the queue of the listener is full");
        let long = Duration::from_hours(1);
        assert!(matches!(identities(&path, long), Err(AgentError::System { .. })));
    }

    #[test]
    fn requests_are_bounded() {
        let (_folder, path) = agent(b"");
        let body = vec![b'x'; MESSAGE_LIMIT];
        let signed = signature(&path, b"key", &body, Duration::from_secs(1)).map(|_| ());
        assert!(matches!(signed, Err(AgentError::TooLong(MESSAGE_LIMIT))), "{signed:?}");
        let missing = identities(&path.join("below"), Duration::from_secs(1)).map(|_| ());
        assert!(matches!(missing, Err(AgentError::System { .. })), "{missing:?}");
    }
}
