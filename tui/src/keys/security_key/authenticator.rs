//! The commands of a security key that are used here (CTAP 2.1 §6): what it can do, PIN, registration and use.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use zeroize::Zeroizing;

use super::channel::Channel;
use super::error::{SecurityKeyError, TriesLeft};
use super::message::{
    Authentication, CLIENT_PIN, Created, Creation, GET_ASSERTION, GET_INFO, Info, MAKE_CREDENTIAL, PinAnswer,
    PinRequest, Use, Used,
};
use super::pin::{Protocol, SharedKey};
use super::port::Port;
use super::record::Record;

/// Permissions of tokens (CTAP 2.1 §6.5.5.7): to create a credential, and to use one.
const MAY_CREATE: u8 = 0x01;
const MAY_USE: u8 = 0x02;
/// Lengths of a PIN: code points at least, bytes at most (CTAP 2.1 §6.5.1).
const PIN_CHARACTERS: usize = 4;
const PIN_BYTES: usize = 63;

/// Status codes (CTAP 2.1 §8.2).
mod status {
    pub(super) const UNSUPPORTED_ALGORITHM: u8 = 0x26;
    pub(super) const OPERATION_DENIED: u8 = 0x27;
    pub(super) const KEY_STORE_FULL: u8 = 0x28;
    pub(super) const INVALID_CREDENTIAL: u8 = 0x22;
    pub(super) const NO_CREDENTIALS: u8 = 0x2e;
    pub(super) const USER_ACTION_TIMEOUT: u8 = 0x2f;
    pub(super) const PIN_INVALID: u8 = 0x31;
    pub(super) const PIN_BLOCKED: u8 = 0x32;
    pub(super) const PIN_AUTH_BLOCKED: u8 = 0x34;
    pub(super) const PIN_NOT_SET: u8 = 0x35;
    pub(super) const PUAT_REQUIRED: u8 = 0x36;
    pub(super) const ACTION_TIMEOUT: u8 = 0x3a;
}

/// Whether a security key has a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Yes,
    No,
    /// It reports that only after the PIN.
    Unknown,
}

/// An attached security key.
pub(super) struct Authenticator<'a> {
    channel: Channel,
    info: Info,
    is_cancelled: &'a AtomicBool,
}

impl<'a> Authenticator<'a> {
    /// Opens the security key at a path.
    fn open(path: &Path, is_cancelled: &'a AtomicBool) -> Result<Self, SecurityKeyError> {
        let mut channel = Channel::open(Port::open(path)?)?;
        let info = Info::decode(&channel.request(GET_INFO, &[], is_cancelled)?)?;
        Ok(Self { channel, info, is_cancelled })
    }

    /// Opens the only one of the attached security keys, to create a credential on it.
    ///
    /// # Errors
    /// [`SecurityKeyError`] if there is none, or more than one.
    pub(super) fn only(paths: &[PathBuf], is_cancelled: &'a AtomicBool) -> Result<Self, SecurityKeyError> {
        match paths {
            [] => Err(SecurityKeyError::Absent),
            [path] => Self::open(path, is_cancelled),
            several => Err(SecurityKeyError::Several(several.len())),
        }
    }

    /// Opens the attached security key that has the credential of a record. No PIN is sent to another one, which would
    /// count it as a wrong one.
    ///
    /// # Errors
    /// [`SecurityKeyError`] if no attached security key has the credential.
    pub(super) fn of(
        record: &Record,
        name: &str,
        paths: &[PathBuf],
        is_cancelled: &'a AtomicBool,
    ) -> Result<Self, SecurityKeyError> {
        let (mut uncertain, mut first_error) = (Vec::new(), None);
        for path in paths {
            let found = Self::open(path, is_cancelled).and_then(|mut key| Ok((key.holds(record)?, key)));
            match found {
                Ok((Holds::Yes, key)) => return Ok(key),
                Ok((Holds::Unknown, key)) => uncertain.push(key),
                Ok((Holds::No, _)) => {}
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        match (uncertain.len(), uncertain.pop(), first_error) {
            (1, Some(key), _) => Ok(key),
            (0, _, Some(error)) => Err(error),
            (0, _, None) if paths.is_empty() => Err(SecurityKeyError::Absent),
            (0, _, None) => Err(SecurityKeyError::Unknown(name.to_owned())),
            (count, ..) => Err(SecurityKeyError::Several(count)),
        }
    }

    /// Returns whether the security key has a credential, without a touch and without signing anything that is used.
    fn holds(&mut self, record: &Record) -> Result<Holds, SecurityKeyError> {
        let probe = Use {
            client_data_hash: [0; 32],
            relying_party: record.relying_party(),
            credential: record.credential(),
            touch: false,
        };
        match self.channel.request(GET_ASSERTION, &probe.encode(None)?, self.is_cancelled) {
            Ok(_) => Ok(Holds::Yes),
            Err(SecurityKeyError::Status(status::NO_CREDENTIALS | status::INVALID_CREDENTIAL)) => {
                Ok(Holds::No)
            }
            Err(SecurityKeyError::Status(status::PUAT_REQUIRED)) => Ok(Holds::Unknown),
            Err(error) => Err(error),
        }
    }

    /// Creates a credential. The security key is touched for it.
    pub(super) fn create(&mut self, creation: &Creation<'_>, pin: &str) -> Result<Created, SecurityKeyError> {
        let (protocol, token) = self.token(pin, MAY_CREATE, creation.relying_party)?;
        let parameter = protocol.authenticate(&token, &creation.client_data_hash);
        let request = creation.encode(Some((protocol, &parameter)))?;
        Created::decode(
            &self.channel.request(MAKE_CREDENTIAL, &request, self.is_cancelled).map_err(explained)?,
        )
    }

    /// Signs with a credential. The security key is touched for it.
    pub(super) fn sign(
        &mut self,
        record: &Record,
        name: &str,
        client_data_hash: [u8; 32],
        pin: &str,
    ) -> Result<Used, SecurityKeyError> {
        let (relying_party, credential) = (record.relying_party(), record.credential());
        let (protocol, token) = self.token(pin, MAY_USE, relying_party)?;
        let parameter = protocol.authenticate(&token, &client_data_hash);
        let authentication: Authentication<'_> = Some((protocol, &parameter));
        let request =
            Use { client_data_hash, relying_party, credential, touch: true }.encode(authentication)?;
        let answer = self.channel.request(GET_ASSERTION, &request, self.is_cancelled);
        Used::decode(&answer.map_err(|error| match error {
            SecurityKeyError::Status(status::NO_CREDENTIALS | status::INVALID_CREDENTIAL) => {
                SecurityKeyError::Unknown(name.to_owned())
            }
            error => explained(error),
        })?)
    }

    /// Exchanges the PIN for a token, which authenticates the next request.
    fn token(
        &mut self,
        pin: &str,
        permissions: u8,
        relying_party: &str,
    ) -> Result<(Protocol, Zeroizing<Vec<u8>>), SecurityKeyError> {
        match self.info.client_pin {
            None => return Err(SecurityKeyError::Unsupported("it does not support a PIN")),
            Some(false) => return Err(SecurityKeyError::NoPin),
            Some(true) => {}
        }
        // A security key would count it as a wrong PIN.
        if pin.chars().count() < PIN_CHARACTERS || pin.len() > PIN_BYTES {
            return Err(SecurityKeyError::PinLength);
        }
        // Security keys of CTAP 2.0 may leave the list out.
        let offered: &[u8] = if self.info.protocols.is_empty() { &[1] } else { &self.info.protocols };
        let protocol = Protocol::preferred(offered)
            .ok_or(SecurityKeyError::Unsupported("it supports no known PIN protocol"))?;
        let invalid = SecurityKeyError::Answer("about its PIN");
        let peer = self.ask(&PinRequest::KeyAgreement, protocol)?.key.ok_or(invalid)?;
        let shared = SharedKey::agree(protocol, &peer)?;
        let sealed = shared.encrypt_pin(pin)?;
        let (own, pin) = (&shared.own, sealed.as_slice());
        let request = if self.info.has_permissions {
            PinRequest::Permitted { own, pin, permissions, relying_party }
        } else {
            PinRequest::Token { own, pin }
        };
        let answer = match self.ask(&request, protocol) {
            Err(SecurityKeyError::Status(status::PIN_INVALID)) => {
                let left = self.ask(&PinRequest::Retries, protocol).ok().and_then(|answer| answer.retries);
                return Err(SecurityKeyError::Pin(TriesLeft(left)));
            }
            answer => answer.map_err(explained)?,
        };
        let token = answer.token.ok_or(SecurityKeyError::Answer("about its PIN"))?;
        Ok((protocol, shared.decrypt(&token)?))
    }

    fn ask(&mut self, request: &PinRequest<'_>, protocol: Protocol) -> Result<PinAnswer, SecurityKeyError> {
        let request = request.encode(protocol)?;
        PinAnswer::decode(&self.channel.request(CLIENT_PIN, &request, self.is_cancelled)?)
    }
}

/// Returns the error that a status means.
fn explained(error: SecurityKeyError) -> SecurityKeyError {
    let SecurityKeyError::Status(code) = error else { return error };
    match code {
        status::PIN_BLOCKED => SecurityKeyError::PinBlocked,
        status::PIN_AUTH_BLOCKED => SecurityKeyError::PinPaused,
        status::PIN_NOT_SET => SecurityKeyError::NoPin,
        status::USER_ACTION_TIMEOUT | status::ACTION_TIMEOUT => SecurityKeyError::Touch,
        status::OPERATION_DENIED => SecurityKeyError::Denied,
        status::UNSUPPORTED_ALGORITHM => SecurityKeyError::Unsupported("it does not support ES256"),
        status::KEY_STORE_FULL => SecurityKeyError::Unsupported("its memory is full"),
        code => SecurityKeyError::Status(code),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use std::io::{Read, Write};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    /// Status of the answer to a request for a signature.
    const SIGNED: u8 = 0;
    const NOT_MINE: u8 = status::NO_CREDENTIALS;
    const PIN_FIRST: u8 = status::PUAT_REQUIRED;

    /// Answers all requests of one client: a channel, a description that is empty, and this status for signatures.
    fn serve(mut stream: UnixStream, status: u8) {
        let mut packet = [0; 64];
        while stream.read_exact(&mut packet).is_ok() {
            let mut rest = usize::from(u16::from_be_bytes([packet[5], packet[6]])).saturating_sub(57);
            let mut answer = packet;
            match (packet[4], packet[7]) {
                // Nonce, channel, versions, capability to process CTAP 2.
                (0x86, _) => answer[6] = 17,
                (_, GET_INFO) => answer[6..9].copy_from_slice(&[2, 0, 0xa0]),
                (_, _) => answer[6..9].copy_from_slice(&[1, status, 0]),
            }
            answer[15..24].copy_from_slice(&[1, 1, 1, 1, 2, 1, 0, 0, 4]);
            while rest > 0 {
                stream.read_exact(&mut packet).unwrap();
                rest = rest.saturating_sub(59);
            }
            answer[5] = 0;
            stream.write_all(&answer).unwrap();
        }
    }

    /// Returns the paths of security keys with these statuses; `None` is one that is not attached.
    fn attach(folder: &Path, statuses: &[Option<u8>]) -> Vec<PathBuf> {
        let attach = |(number, status): (usize, &Option<u8>)| {
            let path = folder.join(number.to_string());
            if let Some(status) = *status {
                let listener = UnixListener::bind(&path).unwrap();
                std::thread::spawn(move || {
                    listener.incoming().map_while(Result::ok).for_each(|stream| serve(stream, status));
                });
            }
            path
        };
        statuses.iter().enumerate().map(attach).collect()
    }

    #[test]
    fn the_security_key_that_has_the_credential_is_used() {
        let check = |statuses: &[Option<u8>], expected: Result<(), &str>| {
            let folder = tempfile::tempdir().unwrap();
            let (paths, never) = (attach(folder.path(), statuses), AtomicBool::new(false));
            let found = Authenticator::of(&Record::sample(), "mira", &paths, &never);
            let found = found.map(drop).map_err(|error| error.to_string());
            match expected {
                Ok(()) => assert_eq!(found, Ok(()), "{statuses:?}"),
                Err(text) => assert!(found.as_ref().is_err_and(|error| error.contains(text)), "{found:?}"),
            }
        };
        check(&[Some(NOT_MINE), None, Some(SIGNED)], Ok(()));
        check(&[Some(NOT_MINE), Some(PIN_FIRST)], Ok(()));
        check(&[Some(PIN_FIRST), Some(PIN_FIRST)], Err("2 security keys are attached"));
        check(&[Some(NOT_MINE), Some(NOT_MINE)], Err("no attached security key has the key mira"));
        check(&[None, Some(NOT_MINE)], Err("is not attached"));
        check(&[Some(0x7f)], Err("0x7f"));
        check(&[], Err("no security key is attached"));
    }

    #[test]
    fn a_key_is_created_on_the_only_security_key() {
        let (folder, never) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let paths = attach(folder.path(), &[Some(SIGNED), Some(SIGNED)]);
        let error = |paths: &[PathBuf]| Authenticator::only(paths, &never).err().unwrap().to_string();
        assert!(error(&paths).contains("2 security keys are attached: attach only the one"));
        assert!(error(&[]).contains("no security key is attached"));
        assert!(Authenticator::only(&paths[..1], &never).is_ok());
    }
}
