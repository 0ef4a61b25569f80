//! Requests and answers of CTAP 2.1 (§6) in CBOR, in the canonical form of §8.

use minicbor::data::Type;
use minicbor::{Decoder, Encoder};

use super::error::SecurityKeyError;
use super::pin::{POINT, Protocol};

/// Commands (§6).
pub(super) const MAKE_CREDENTIAL: u8 = 0x01;
pub(super) const GET_ASSERTION: u8 = 0x02;
pub(super) const GET_INFO: u8 = 0x04;
pub(super) const CLIENT_PIN: u8 = 0x06;

/// Type of all credentials, and the algorithm ES256 (RFC 9053 §2.1).
const PUBLIC_KEY: &str = "public-key";
const ES256: i8 = -7;

type Result<T> = std::result::Result<T, SecurityKeyError>;
type Output = Encoder<Vec<u8>>;
type Encoded = std::result::Result<(), minicbor::encode::Error<std::convert::Infallible>>;

/// Writing to memory does not fail.
fn encoded(write: impl FnOnce(&mut Output) -> Encoded) -> Result<Vec<u8>> {
    let mut output = Encoder::new(Vec::new());
    write(&mut output).map_err(|_| SecurityKeyError::Unsupported("the request cannot be encoded"))?;
    Ok(output.into_writer())
}

/// What authenticates a request: the protocol and the parameter.
pub(super) type Authentication<'a> = Option<(Protocol, &'a [u8])>;

/// A credential to create.
pub(super) struct Creation<'a> {
    pub(super) client_data_hash: [u8; 32],
    pub(super) relying_party: &'a str,
    /// Handle of the user, which the relying party chooses.
    pub(super) user: [u8; 16],
    pub(super) user_name: &'a str,
}

impl Creation<'_> {
    /// Encodes the request (§6.1). The credential is not discoverable: it needs no memory of the security key.
    pub(super) fn encode(&self, authentication: Authentication<'_>) -> Result<Vec<u8>> {
        encoded(|output| {
            output.map(if authentication.is_some() { 6 } else { 4 })?;
            output.u8(1)?.bytes(&self.client_data_hash)?;
            output.u8(2)?.map(2)?;
            output.str("id")?.str(self.relying_party)?.str("name")?.str("Quorate")?;
            output.u8(3)?.map(3)?;
            output.str("id")?.bytes(&self.user)?.str("name")?.str(self.user_name)?;
            output.str("displayName")?.str(self.user_name)?;
            output.u8(4)?.array(1)?.map(2)?;
            output.str("alg")?.i8(ES256)?.str("type")?.str(PUBLIC_KEY)?;
            if let Some((protocol, parameter)) = authentication {
                output.u8(8)?.bytes(parameter)?.u8(9)?.u8(protocol.number())?;
            }
            Ok(())
        })
    }
}

/// A use of a credential.
pub(super) struct Use<'a> {
    pub(super) client_data_hash: [u8; 32],
    pub(super) relying_party: &'a str,
    pub(super) credential: &'a [u8],
    /// Whether a touch is required. Without one, the answer only shows that the security key has the credential.
    pub(super) touch: bool,
}

impl Use<'_> {
    /// Encodes the request (§6.2).
    pub(super) fn encode(&self, authentication: Authentication<'_>) -> Result<Vec<u8>> {
        encoded(|output| {
            let options = u64::from(!self.touch);
            output.map(3 + options + if authentication.is_some() { 2 } else { 0 })?;
            output.u8(1)?.str(self.relying_party)?;
            output.u8(2)?.bytes(&self.client_data_hash)?;
            output.u8(3)?.array(1)?.map(2)?;
            output.str("id")?.bytes(self.credential)?.str("type")?.str(PUBLIC_KEY)?;
            if !self.touch {
                output.u8(5)?.map(1)?.str("up")?.bool(false)?;
            }
            if let Some((protocol, parameter)) = authentication {
                output.u8(6)?.bytes(parameter)?.u8(7)?.u8(protocol.number())?;
            }
            Ok(())
        })
    }
}

/// Subcommand of `authenticatorClientPIN` (§6.5.5).
pub(super) enum PinRequest<'a> {
    Retries,
    KeyAgreement,
    /// A token for all purposes, of CTAP 2.0.
    Token {
        own: &'a [u8; POINT],
        pin: &'a [u8],
    },
    /// A token for one purpose at one relying party.
    Permitted {
        own: &'a [u8; POINT],
        pin: &'a [u8],
        permissions: u8,
        relying_party: &'a str,
    },
}

impl PinRequest<'_> {
    /// Encodes the request.
    pub(super) fn encode(&self, protocol: Protocol) -> Result<Vec<u8>> {
        let (members, subcommand) = match self {
            Self::Retries => (2, 1),
            Self::KeyAgreement => (2, 2),
            Self::Token { .. } => (4, 5),
            Self::Permitted { .. } => (6, 9),
        };
        encoded(|output| {
            output.map(members)?.u8(1)?.u8(protocol.number())?.u8(2)?.u8(subcommand)?;
            if let Self::Token { own, pin } | Self::Permitted { own, pin, .. } = self {
                let (x, y) = own[1..].split_at(32);
                // COSE (RFC 9053 §7.1.1): EC2, ECDH-ES + HKDF-256, P-256, x, y.
                output.u8(3)?.map(5)?.u8(1)?.u8(2)?.u8(3)?.i8(-25)?;
                output.i8(-1)?.u8(1)?.i8(-2)?.bytes(x)?.i8(-3)?.bytes(y)?;
                output.u8(6)?.bytes(pin)?;
            }
            if let Self::Permitted { permissions, relying_party, .. } = self {
                output.u8(9)?.u8(*permissions)?.u8(10)?.str(relying_party)?;
            }
            Ok(())
        })
    }
}

/// Reads the members of a map with the numbers that `take` knows; it returns whether it read the value.
fn members<'b>(
    decoder: &mut Decoder<'b>,
    mut take: impl FnMut(i64, &mut Decoder<'b>) -> std::result::Result<bool, minicbor::decode::Error>,
) -> std::result::Result<(), minicbor::decode::Error> {
    let length = decoder.map()?.ok_or_else(|| minicbor::decode::Error::message("indefinite"))?;
    for _ in 0..length {
        if !is_number(decoder.datatype()?) {
            decoder.skip()?;
            decoder.skip()?;
            continue;
        }
        let number = decoder.i64()?;
        if !take(number, decoder)? {
            decoder.skip()?;
        }
    }
    Ok(())
}

const fn is_number(kind: Type) -> bool {
    use Type::{I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(kind, U8 | U16 | U32 | U64 | I8 | I16 | I32 | I64)
}

/// What a security key can do (§6.4), as far as it is used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// PIN/UV auth protocols, the preferred one first.
    pub(super) protocols: Vec<u8>,
    /// Whether a PIN is set; `None` if the security key knows no PIN.
    pub(super) client_pin: Option<bool>,
    /// Whether tokens are for one purpose.
    pub(super) has_permissions: bool,
}

impl Info {
    /// Decodes an answer.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut info = Self::default();
        let mut decoder = Decoder::new(bytes);
        let read = members(&mut decoder, |number, decoder| {
            match number {
                4 => info.read_options(decoder)?,
                6 => {
                    for protocol in decoder.array_iter::<u8>()? {
                        info.protocols.push(protocol?);
                    }
                }
                _ => return Ok(false),
            }
            Ok(true)
        });
        read.map_err(|_| SecurityKeyError::Answer("its description"))?;
        Ok(info)
    }

    fn read_options(
        &mut self,
        decoder: &mut Decoder<'_>,
    ) -> std::result::Result<(), minicbor::decode::Error> {
        for option in decoder.map_iter::<&str, bool>()? {
            match option? {
                ("clientPin", is_set) => self.client_pin = Some(is_set),
                ("pinUvAuthToken", value) => self.has_permissions = value,
                _ => {}
            }
        }
        Ok(())
    }
}

/// Answer to a [`PinRequest`].
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PinAnswer {
    /// Public key of the security key, as an uncompressed point.
    pub(super) key: Option<[u8; POINT]>,
    /// Encrypted token.
    pub(super) token: Option<Vec<u8>>,
    /// How many wrong PINs remain.
    pub(super) retries: Option<u8>,
}

impl PinAnswer {
    /// Decodes an answer.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let mut answer = Self::default();
        let mut decoder = Decoder::new(bytes);
        let read = members(&mut decoder, |number, decoder| {
            match number {
                1 => answer.key = point(decoder)?,
                2 => answer.token = Some(decoder.bytes()?.to_vec()),
                3 => answer.retries = Some(decoder.u8()?),
                _ => return Ok(false),
            }
            Ok(true)
        });
        read.map_err(|_| SecurityKeyError::Answer("about its PIN"))?;
        Ok(answer)
    }
}

/// Reads a COSE key on P-256 as an uncompressed point.
fn point(decoder: &mut Decoder<'_>) -> std::result::Result<Option<[u8; POINT]>, minicbor::decode::Error> {
    let (mut x, mut y): (&[u8], &[u8]) = (&[], &[]);
    members(decoder, |number, decoder| {
        match number {
            -2 => x = decoder.bytes()?,
            -3 => y = decoder.bytes()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(if x.len() == 32 { [&[4], x, y].concat().try_into().ok() } else { None })
}

/// Answer to a [`Creation`].
pub(super) struct Created {
    /// Attestation object (Web Authentication §6.5.4), as the daemon reads it.
    pub(super) attestation_object: Vec<u8>,
    /// Authenticator data (Web Authentication §6.1).
    pub(super) authenticator_data: Vec<u8>,
}

impl Created {
    /// Decodes an answer.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let (mut format, mut data, mut statement): (&str, &[u8], &[u8]) = ("", &[], &[]);
        let mut decoder = Decoder::new(bytes);
        let read = members(&mut decoder, |number, decoder| {
            match number {
                1 => format = decoder.str()?,
                2 => data = decoder.bytes()?,
                3 => {
                    let start = decoder.position();
                    decoder.skip()?;
                    statement = bytes.get(start..decoder.position()).unwrap_or_default();
                }
                _ => return Ok(false),
            }
            Ok(true)
        });
        read.map_err(|_| SecurityKeyError::Answer("to the registration"))?;
        if statement.is_empty() {
            return Err(SecurityKeyError::Answer("to the registration"));
        }
        let head = encoded(|output| {
            output.map(3)?.str("fmt")?.str(format)?.str("attStmt")?;
            Ok(())
        })?;
        let tail = encoded(|output| {
            output.str("authData")?.bytes(data)?;
            Ok(())
        })?;
        let attestation_object = [&head, statement, &tail].concat();
        Ok(Self { attestation_object, authenticator_data: data.to_vec() })
    }
}

/// Answer to a [`Use`].
pub(super) struct Used {
    pub(super) authenticator_data: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

impl Used {
    /// Decodes an answer.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let (mut data, mut signature): (&[u8], &[u8]) = (&[], &[]);
        let mut decoder = Decoder::new(bytes);
        let read = members(&mut decoder, |number, decoder| {
            match number {
                2 => data = decoder.bytes()?,
                3 => signature = decoder.bytes()?,
                _ => return Ok(false),
            }
            Ok(true)
        });
        read.map_err(|_| SecurityKeyError::Answer("to the request for a signature"))?;
        Ok(Self { authenticator_data: data.to_vec(), signature: signature.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        const_hex::decode(hex).unwrap()
    }

    /// Versions, extensions, AAGUID, options, message size and PIN protocols, and a member of a later version.
    const INFO: &str = "a7018266553246 5f5632684649444f5f325f3002816b686d61632d736563726574035000000000000000000000000000000000 04a462726bf5627570f569636c69656e7450696ef56e70696e557641757468546f6b656ef505190400 0682020118 1fa0";

    #[test]
    fn descriptions_are_decoded() {
        let info = Info::decode(&bytes(&INFO.replace(' ', ""))).unwrap();
        let expected = Info { protocols: vec![2, 1], client_pin: Some(true), has_permissions: true };
        assert_eq!(info, expected);
        assert_eq!(Info::decode(&[0xa0]).unwrap(), Info::default());
    }

    #[test]
    fn answers_about_pins_are_decoded() {
        let (x, y) = ("11".repeat(32), "22".repeat(32));
        let key = format!("a101a501020338182001215820{x}225820{y}");
        let point = PinAnswer::decode(&bytes(&key)).unwrap().key.unwrap();
        assert_eq!(const_hex::encode(point), format!("04{x}{y}"));
        let answer = PinAnswer::decode(&bytes("a20242aabb0307")).unwrap();
        assert_eq!(answer, PinAnswer { key: None, token: Some(vec![0xaa, 0xbb]), retries: Some(7) });
        // A coordinate of another length is no point.
        assert_eq!(PinAnswer::decode(&bytes("a101a2214111224122")).unwrap().key, None);
    }

    #[test]
    fn the_attestation_object_has_the_statement_unchanged() {
        let created =
            Created::decode(&bytes("a301667061636b65640243010203 03a163616c6726".replace(' ', "").as_str()));
        let created = created.unwrap();
        assert_eq!(created.authenticator_data, [1, 2, 3]);
        let expected = "a363666d74667061636b65646761747453746d74a163616c6726686175746844617461 43010203";
        assert_eq!(const_hex::encode(created.attestation_object), expected.replace(' ', ""));
        assert!(Created::decode(&bytes("a101667061636b6564")).is_err(), "no statement");
    }

    #[test]
    fn requests_are_canonical() {
        let request = Use {
            client_data_hash: [0xaa; 32],
            relying_party: "example.org",
            credential: &[1, 2],
            touch: false,
        };
        let hash = "aa".repeat(32);
        let start = format!(
            "016b6578616d706c652e6f7267025820{hash}0381a26269644201026474797065 6a7075626c69632d6b6579"
        );
        let start = start.replace(' ', "");
        assert_eq!(const_hex::encode(request.encode(None).unwrap()), format!("a4{start}05a1627570f4"));
        let request = Use { touch: true, ..request };
        let encoded = request.encode(Some((Protocol::Two, &[7]))).unwrap();
        assert_eq!(const_hex::encode(encoded), format!("a5{start}0641070702"));
        let retries = PinRequest::Retries.encode(Protocol::One).unwrap();
        assert_eq!(const_hex::encode(retries), "a201010201");
    }

    #[test]
    fn no_answer_causes_a_panic() {
        let samples = [
            INFO.replace(' ', ""),
            "a20242aabb0307".into(),
            "a301667061636b6564024301020303a163616c6726".into(),
        ];
        for sample in samples {
            let sample = bytes(&sample);
            for end in 0..=sample.len() {
                for value in [0x00, 0x1b, 0x5b, 0x9f, 0xbb, 0xbf, 0xff] {
                    let mut changed = sample[..end].to_vec();
                    changed.extend([value; 12]);
                    let _ = (Info::decode(&changed), PinAnswer::decode(&changed));
                    let _ = (Created::decode(&changed).is_ok(), Used::decode(&changed).is_ok());
                }
            }
        }
    }
}
