//! A channel to a security key (CTAP 2.1 §11.2, CTAPHID): one request at a time, which can be cancelled while the
//! security key waits for a touch.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use passkey_transports::hid::{ChannelHandler, Command, Message};

use super::error::SecurityKeyError;
use super::port::Port;

/// Channel of all programs, on which a channel of one's own is requested (§11.2.9.1.3).
const BROADCAST: u32 = 0xffff_ffff;
/// Interval in which cancellation is noticed.
const SLICE: Duration = Duration::from_millis(50);
/// Longest time without a packet. A security key that works on a request sends one every 100 milliseconds.
const SILENCE: Duration = Duration::from_secs(3);
/// Longest time for a touch. Security keys give up after about 30 seconds themselves.
const TOUCH: Duration = Duration::from_mins(1);
/// Time to confirm a cancellation.
const CANCELLATION: Duration = Duration::from_secs(1);
/// Error code of a security key that another channel uses (§11.2.9.1.6).
const CHANNEL_BUSY: u8 = 0x06;
/// Capability to process CTAP 2 (§11.2.9.1.3).
const CAPABILITY_CBOR: u8 = 0x04;
/// Status of a request that was cancelled (CTAP 2.1 §8.2).
const KEEPALIVE_CANCEL: u8 = 0x2d;

/// An open channel.
pub(super) struct Channel {
    port: Port,
    id: u32,
    messages: ChannelHandler,
}

impl Channel {
    /// Opens a channel of one's own.
    ///
    /// # Errors
    /// [`SecurityKeyError`] if the security key does not answer, or cannot process CTAP 2.
    pub(super) fn open(port: Port) -> Result<Self, SecurityKeyError> {
        let mut nonce = [0; 8];
        getrandom::fill(&mut nonce).map_err(|_| SecurityKeyError::Random)?;
        let mut channel = Self { port, id: BROADCAST, messages: ChannelHandler::default() };
        channel.send(Command::Init, &nonce)?;
        let began = Instant::now();
        while began.elapsed() < SILENCE {
            let Some(message) = channel.receive()? else { continue };
            // Nonce, channel, version of the protocol, three bytes of the version of the device, capabilities.
            let Some((own, rest)) = message.payload.split_first_chunk::<8>() else { continue };
            // Answers to other programs arrive as well.
            if !matches!(message.command, Command::Init) || *own != nonce {
                continue;
            }
            let (Some(id), Some(capabilities)) = (rest.first_chunk::<4>(), rest.get(8)) else {
                return Err(SecurityKeyError::Answer("a short channel"));
            };
            if capabilities & CAPABILITY_CBOR == 0 {
                return Err(SecurityKeyError::Unsupported("it supports U2F only, not FIDO2"));
            }
            channel.id = u32::from_ne_bytes(*id);
            return Ok(channel);
        }
        Err(SecurityKeyError::Silent)
    }

    /// Sends a request of CTAP 2 and returns the answer without its status. `is_cancelled` cancels it.
    ///
    /// # Errors
    /// [`SecurityKeyError`]; [`SecurityKeyError::Status`] if the security key reports an error.
    pub(super) fn request(
        &mut self,
        command: u8,
        parameters: &[u8],
        is_cancelled: &AtomicBool,
    ) -> Result<Vec<u8>, SecurityKeyError> {
        self.send(Command::Cbor, &[&[command], parameters].concat())?;
        let (began, mut last) = (Instant::now(), Instant::now());
        let mut cancelled: Option<(Instant, SecurityKeyError)> = None;
        loop {
            let reason = if is_cancelled.load(Ordering::SeqCst) {
                Some(SecurityKeyError::Cancelled)
            } else {
                (began.elapsed() > TOUCH).then_some(SecurityKeyError::Touch)
            };
            if let (None, Some(reason)) = (&cancelled, reason) {
                self.send(Command::Cancel, &[])?;
                cancelled = Some((Instant::now(), reason));
            }
            match self.receive()? {
                Some(message) if matches!(message.command, Command::KeepAlive) => last = Instant::now(),
                Some(message) => {
                    let answer = answer(&message);
                    return match (answer, cancelled) {
                        (_, Some((_, reason))) => Err(reason),
                        (Err(SecurityKeyError::Status(KEEPALIVE_CANCEL)), None) => {
                            Err(SecurityKeyError::Cancelled)
                        }
                        (answer, None) => answer,
                    };
                }
                None => {}
            }
            match cancelled {
                Some((at, reason)) if at.elapsed() > CANCELLATION => return Err(reason),
                _ if last.elapsed() > SILENCE => return Err(SecurityKeyError::Silent),
                other => cancelled = other,
            }
        }
    }

    fn send(&mut self, command: Command, payload: &[u8]) -> Result<(), SecurityKeyError> {
        let message = Message::new(self.id, command, payload)
            .map_err(|_| SecurityKeyError::Unsupported("the request is too long"))?;
        message.send(&mut self.port).map_err(|error| lost(&error))
    }

    /// Waits for a moment for a message on this channel.
    fn receive(&mut self) -> Result<Option<Message>, SecurityKeyError> {
        let packet = self.port.receive(SLICE).map_err(|error| lost(&error))?;
        // Packets begin with their channel (CTAP 2.1 §11.2.4). Unfinished messages of other channels are not collected.
        let own = packet.filter(|packet| packet.starts_with(&self.id.to_ne_bytes()));
        let message = own.and_then(|packet| self.messages.handle_packet(&packet));
        Ok(message.filter(|message| message.channel == self.id))
    }
}

/// Returns the answer in a message.
fn answer(message: &Message) -> Result<Vec<u8>, SecurityKeyError> {
    match (message.command, message.payload.split_first()) {
        (Command::Cbor, Some((0, answer))) => Ok(answer.to_vec()),
        (Command::Cbor, Some((status, _))) => Err(SecurityKeyError::Status(*status)),
        (Command::Err, Some((&CHANNEL_BUSY, _))) => Err(SecurityKeyError::Busy),
        (Command::Err, _) => Err(SecurityKeyError::Answer("an error of the transport")),
        _ => Err(SecurityKeyError::Answer("an unexpected message")),
    }
}

/// Returns the error of a connection that ended.
fn lost(error: &io::Error) -> SecurityKeyError {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => SecurityKeyError::Silent,
        _ => SecurityKeyError::Removed,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;

    use super::*;

    const OWN: [u8; 4] = [1, 2, 3, 4];

    /// Returns a packet.
    fn packet(channel: [u8; 4], rest: &[u8]) -> Vec<u8> {
        let mut packet = [&channel, rest].concat();
        packet.resize(64, 0);
        packet
    }

    /// Opens a channel to a device with these capabilities that answers its first request with these packets.
    fn open(capabilities: u8, packets: Vec<Vec<u8>>) -> Result<Channel, SecurityKeyError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 64];
            stream.read_exact(&mut request).unwrap();
            // Answers to others come first.
            let other = packet([0xff; 4], &[0x86, 0, 17, 9, 9, 9, 9, 9, 9, 9, 9, 7, 7, 7, 7, 2, 1, 0, 0, 4]);
            let answer = [&[0x86, 0, 17], &request[7..15], &OWN, &[2, 1, 0, 0, capabilities]].concat();
            stream.write_all(&[other, packet([0xff; 4], &answer)].concat()).unwrap();
            if stream.read_exact(&mut request).is_ok() {
                stream.write_all(&packets.concat()).unwrap();
            }
        });
        Channel::open(Port::open(&path)?)
    }

    #[test]
    fn answers_are_read_between_packets_of_others() {
        let check = |packets: Vec<Vec<u8>>, expected: Result<&[u8], &str>| {
            let mut channel = open(CAPABILITY_CBOR, packets).unwrap();
            let answer = channel.request(4, &[], &AtomicBool::new(false)).map_err(|error| error.to_string());
            match expected {
                Ok(bytes) => assert_eq!(answer.unwrap(), bytes),
                Err(text) => assert!(answer.as_ref().unwrap_err().contains(text), "{answer:?}"),
            }
        };
        let touch = packet(OWN, &[0xbb, 0, 1, 2]);
        check(vec![packet([9; 4], &[0x90, 0, 1, 1]), touch, packet(OWN, &[0x90, 0, 2, 0, 7])], Ok(&[7]));
        check(vec![packet(OWN, &[0x90, 0, 1, 0x2e])], Err("0x2e"));
        check(vec![packet(OWN, &[0x90, 0, 1, 0x2d])], Err("cancelled"));
        check(vec![packet(OWN, &[0x90, 0, 0])], Err("an unexpected message"));
        check(vec![packet(OWN, &[0x86, 0, 1, 0])], Err("an unexpected message"));
        check(vec![packet(OWN, &[0xbf, 0, 1, 6])], Err("another program uses"));
        check(vec![packet(OWN, &[0xbf, 0, 1, 1])], Err("an error of the transport"));
        // Continuations without a beginning, of another number, and a command that does not exist; then the end.
        let odd = vec![
            packet(OWN, &[0]),
            packet(OWN, &[0x90, 1, 0]),
            packet(OWN, &[5]),
            packet(OWN, &[0xff, 0xff, 0xff]),
        ];
        check(odd, Err("was removed"));
        check(vec![vec![1; 30]], Err("was removed"));
    }

    #[test]
    fn keys_without_fido2_are_refused() {
        assert!(open(0, Vec::new()).err().unwrap().to_string().contains("U2F only"));
    }
}
