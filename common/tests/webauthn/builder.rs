//! Builds responses from pieces of encoded CBOR, so that tests can make exactly one piece invalid.

use minicbor::{Decoder, Encoder};

use crate::authenticator::{Authenticator, Registration, encoded};

/// An encoded CBOR value.
pub(crate) type Piece = Vec<u8>;
/// Encoded keys and values of a map.
pub(crate) type Members = Vec<(Piece, Piece)>;

fn piece(write: impl FnOnce(&mut Encoder<Vec<u8>>)) -> Piece {
    let mut encoder = Encoder::new(Vec::new());
    write(&mut encoder);
    encoder.into_writer()
}

pub(crate) fn text(value: &str) -> Piece {
    piece(|encoder| drop(encoder.str(value)))
}

pub(crate) fn bytes(value: &[u8]) -> Piece {
    piece(|encoder| drop(encoder.bytes(value)))
}

pub(crate) fn number(value: i64) -> Piece {
    piece(|encoder| drop(encoder.i64(value)))
}

pub(crate) fn list(items: &[Piece]) -> Piece {
    let mut out = piece(|encoder| drop(encoder.array(items.len() as u64)));
    out.extend(items.concat());
    out
}

pub(crate) fn map(members: &[(Piece, Piece)]) -> Piece {
    let mut out = piece(|encoder| drop(encoder.map(members.len() as u64)));
    for (name, value) in members {
        out.extend(name);
        out.extend(value);
    }
    out
}

/// Returns the same value with an indefinite length; `head` is the indefinite-length head of its type.
pub(crate) fn indefinite(head: u8, content: &[u8]) -> Piece {
    [&[head], content, &[0xff]].concat()
}

/// The parts of authenticator data.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) relying_party: Vec<u8>,
    pub(crate) flags: u8,
    pub(crate) count: Vec<u8>,
    pub(crate) aaguid: Vec<u8>,
    pub(crate) length: u16,
    pub(crate) id: Vec<u8>,
    pub(crate) key: Piece,
    pub(crate) rest: Vec<u8>,
}

impl Parts {
    /// Splits authenticator data with a credential, by the layout of the standard.
    pub(crate) fn of(data: &[u8]) -> Self {
        let length = u16::from_be_bytes([data[53], data[54]]);
        let end = 55 + usize::from(length);
        Self {
            relying_party: data[..32].to_vec(),
            flags: data[32],
            count: data[33..37].to_vec(),
            aaguid: data[37..53].to_vec(),
            length,
            id: data[55..end].to_vec(),
            key: data[end..].to_vec(),
            rest: Vec::new(),
        }
    }

    pub(crate) fn join(&self) -> Vec<u8> {
        [
            self.relying_party.as_slice(),
            &[self.flags],
            &self.count,
            &self.aaguid,
            &self.length.to_be_bytes(),
            &self.id,
            &self.key,
            &self.rest,
        ]
        .concat()
    }
}

/// Returns the members of an attestation object.
pub(crate) fn object(format: &str, statement: &[u8], data: &[u8]) -> Members {
    vec![(text("fmt"), text(format)), (text("attStmt"), statement.to_vec()), (text("authData"), bytes(data))]
}

/// Returns the authenticator data within a recorded attestation object.
pub(crate) fn data_of(object: &[u8]) -> Vec<u8> {
    let mut decoder = Decoder::new(object);
    for _ in 0..decoder.map().unwrap().unwrap() {
        if decoder.str().unwrap() == "authData" {
            return decoder.bytes().unwrap().to_vec();
        }
        decoder.skip().unwrap();
    }
    panic!("no authenticator data");
}

/// Returns a recorded registration and the parts of its authenticator data.
pub(crate) fn registered() -> (Authenticator, Registration, Parts) {
    let authenticator = Authenticator::new();
    let registration = authenticator.register();
    let parts = Parts::of(&data_of(&registration.object));
    (authenticator, registration, parts)
}

impl Registration {
    /// Returns the registration with this attestation object.
    pub(crate) fn with_object(&self, object: &[(Piece, Piece)]) -> Self {
        Self { object: map(object), ..self.clone() }
    }

    /// Returns the registration with this authenticator data.
    pub(crate) fn with_data(&self, data: &[u8]) -> Self {
        self.with_object(&object("none", &map(&[]), data))
    }

    /// Returns the registration with these parts of authenticator data and the credential id in them.
    pub(crate) fn with_parts(&self, parts: &Parts) -> Self {
        Self { credential_id: encoded(&parts.id), ..self.with_data(&parts.join()) }
    }

    /// Returns the registration with this client data.
    pub(crate) fn with_client_data(&self, json: &str) -> Self {
        Self { client_data: json.as_bytes().to_vec(), ..self.clone() }
    }
}
