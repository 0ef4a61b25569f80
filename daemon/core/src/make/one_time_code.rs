//! Sends one-time codes, and accepts each of them once.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use quorate_common::bundle::{Sealed, TargetKey, TargetPublicKey};
use quorate_common::ids::{OtpId, UserId};
use serde::Deserialize;
use zeroize::{Zeroize, Zeroizing};

use super::child_messages::{self, Sending};
use crate::error::{Intent, RequestError};
use crate::execution::Execution;
use crate::limits::{SENT_CODES, SENT_WINDOW_MILLIS};
use crate::model::Millis;
use crate::model::one_time_code::{ATTEMPTS, Claim, CodeFlow, Contact, OneTimeCode, SentCode};
use crate::view::View;

/// How many codes to one receiver are read. More cannot be valid, as each is valid for ten minutes at most.
const SENT_READ: usize = 16;
/// Private key that codes are decrypted with, without success, if their id is unknown.
const DECOY_KEY: &str = "0101010101010101010101010101010101010101010101010101010101010101";
/// The digits of base 32 by Crockford: no letter looks like a digit.
const ALPHANUMERIC: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const DIGITS: &[u8; 10] = b"0123456789";

/// Minimum number of digits of a code that cannot be guessed. Codes with letters cannot either.
const STRONG_DIGITS: usize = 9;

/// Returns whether a code with this many characters, which may be letters, cannot be guessed: not even if it is sent
/// again and again, with three attempts each time.
pub const fn is_strong(length: usize, is_alphanumeric: bool) -> bool {
    is_alphanumeric || length >= STRONG_DIGITS
}

/// The code to send.
pub struct NewCode {
    /// Contact that it is sent to.
    pub contact: Contact,
    /// The user who requests it, as the client names them. Codes are counted for them too.
    pub user_identifier: Option<String>,
    /// Number of characters.
    pub length: usize,
    /// Whether it contains letters.
    pub is_alphanumeric: bool,
    /// Lifetime in seconds.
    pub seconds: u64,
}

/// A code that was made, and is to be sent.
pub struct SentTo {
    /// Id of the code.
    pub id: OtpId,
    /// Code.
    pub code: Zeroizing<String>,
    /// Key that the client encrypts the code to, in an encrypted flow.
    pub target: Option<TargetPublicKey>,
    /// Time from which the code is no longer valid.
    pub expires: Millis,
}

/// The flow of a code to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// [`CodeFlow::Plain`].
    Plain,
    /// [`CodeFlow::Encrypted`], with a new key.
    Encrypted,
    /// [`CodeFlow::Auth`].
    Auth(UserId),
}

impl NewCode {
    /// Makes a code and stores its digest.
    ///
    /// # Errors
    /// [`Intent::TooManyCodes`] or [`Intent::TooManyValidCodes`] if too many codes were sent to the contact, or requested for
    /// the user identifier, an error of [`child_messages::claims`], or the error of the store.
    pub fn create(self, flow: Flow, context: &mut Execution<'_>) -> Result<SentTo, RequestError> {
        let now = context.now();
        let id = OtpId::random(context.random());
        let sent = SentCode { id, sent: now };
        let expires = now.saturating_add(self.seconds.saturating_mul(1000));
        let address = self.contact.receiver();
        let contact = Some(("contact", address.as_str()));
        let receivers = [contact, self.user_identifier.as_deref().map(|user| ("user", user))];
        // All limits are checked before the first claim, since claims last although the request fails.
        let window = now.saturating_add(SENT_WINDOW_MILLIS);
        let is_sms = matches!(self.contact, Contact::Phone(_));
        let sending = Sending { count: 1, sent, receiver: contact.map(<[&str; 2]>::from), is_sms };
        let mut claims = child_messages::claims(sending, &context.view())?;
        for (word, receiver) in receivers.into_iter().flatten() {
            let number = next_number(&[word, receiver], &context.view())?;
            claims.push((Claim::Sent([word.to_owned(), receiver.to_owned()], number, sent), window));
        }
        for (claim, end) in claims {
            context.claim(claim, end.max(expires));
        }
        let letters = if self.is_alphanumeric { ALPHANUMERIC.as_slice() } else { DIGITS.as_slice() };
        let code = random_text(letters, self.length, context.entropy());
        let (flow, target) = match flow {
            Flow::Plain => (CodeFlow::Plain, None),
            Flow::Auth(user) => (CodeFlow::Auth(user), None),
            Flow::Encrypted => {
                let key = TargetKey::generate(context.entropy());
                let secret = const_hex::encode(key.to_bytes().as_slice());
                (CodeFlow::Encrypted(secret), Some(key.public().clone()))
            }
        };
        let digest = context.code_digest(id, &code);
        let is_strong = is_strong(self.length, self.is_alphanumeric);
        context.put_code(id, OneTimeCode { digest, contact: self.contact, flow, is_strong, expires });
        Ok(SentTo { id, code, target, expires })
    }
}

/// Counts a mail with a key to a contact, as codes are counted. Such mails and codes have separate limits.
///
/// # Errors
/// [`Intent::TooManyMails`] if too many such mails were sent to the contact, or the error of the store.
pub fn count_mail(contact: &Contact, context: &mut Execution<'_>) -> Result<(), RequestError> {
    let (now, address) = (context.now(), contact.receiver());
    let number = next_number(&["mail", &address], &context.view()).map_err(|error| match error {
        RequestError::Intent(Intent::TooManyCodes(count, minutes)) => {
            Intent::TooManyMails(count, minutes).into()
        }
        other => other,
    })?;
    let sent = SentCode { id: OtpId::random(context.random()), sent: now };
    let sending = Sending { count: 1, sent, receiver: Some(["mail", &address]), is_sms: false };
    let of_child = child_messages::claims(sending, &context.view())?;
    let of_address = Claim::Sent(["mail".to_owned(), address], number, sent);
    let end = now.saturating_add(SENT_WINDOW_MILLIS);
    for (claim, end) in of_child.into_iter().chain([(of_address, end)]) {
        context.claim(claim, end);
    }
    Ok(())
}

/// Returns the number of the next code to a receiver.
fn next_number(receiver: &[&str; 2], view: &View<'_>) -> Result<u32, RequestError> {
    let sent = view.records().sent_codes(receiver, SENT_READ)?;
    let since = view.now.saturating_sub(SENT_WINDOW_MILLIS);
    let recent: Vec<Millis> = sent.iter().map(|(_, one)| one.sent).filter(|sent| *sent > since).collect();
    let mut valid = Vec::new();
    for (_, one) in &sent {
        valid.extend(end(one.id, view)?);
    }
    // The newest code is the first: one more can be sent when fewer than the limit are left.
    let recent_until =
        recent.get(SENT_CODES.saturating_sub(1)).map(|sent| sent.saturating_add(SENT_WINDOW_MILLIS));
    valid.sort_unstable_by(|one, other| other.cmp(one));
    if let Some(end) = valid.get(SENT_CODES.saturating_sub(1)) {
        let wait = recent_until.map_or(*end, |until| until.max(*end)).saturating_sub(view.now);
        return Err(Intent::TooManyValidCodes(SENT_CODES, wait.div_ceil(1000)).into());
    }
    if recent_until.is_some() {
        return Err(Intent::TooManyCodes(SENT_CODES, SENT_WINDOW_MILLIS / 60_000).into());
    }
    Ok(sent.first().map_or(0, |(number, _)| number.saturating_add(1)))
}

/// Returns the time until which a code can still be used, if it can.
fn end(id: OtpId, view: &View<'_>) -> Result<Option<Millis>, RequestError> {
    let Some(code) = view.records().code(id)?.filter(|code| code.expires > view.now) else { return Ok(None) };
    Ok((view.records().attempts(id)? < ATTEMPTS).then_some(code.expires))
}

/// Returns a text of uniformly distributed letters.
fn random_text(letters: &[u8], length: usize, fill: &mut dyn FnMut(&mut [u8])) -> Zeroizing<String> {
    // Bytes beyond the last multiple of the number of letters would make the first letters more likely.
    let unbiased = 256_usize.checked_rem(letters.len()).map_or(0, |rest| 256_usize.saturating_sub(rest));
    let mut text = Zeroizing::new(String::with_capacity(length));
    let mut byte = [0; 1];
    while text.len() < length {
        fill(&mut byte);
        let [byte] = byte;
        let index = usize::from(byte);
        let letter = index.checked_rem(letters.len()).and_then(|index| letters.get(index));
        text.extend(letter.filter(|_| index < unbiased).map(|letter| char::from(*letter)));
    }
    byte.zeroize();
    text
}

/// A code that was accepted.
pub struct Accepted<T> {
    /// Contact that received the code.
    pub contact: Contact,
    /// What the code was for.
    pub flow: T,
    /// Whether the code could not be guessed.
    pub is_strong: bool,
}

/// Accepts a code that is sent back as it is.
///
/// # Errors
/// [`Intent::OtpCode`] if it is not valid, or the error of the store.
pub fn accept_plain(
    id: OtpId,
    code: &str,
    context: &mut Execution<'_>,
) -> Result<Accepted<()>, RequestError> {
    let read = |flow: &CodeFlow| (*flow == CodeFlow::Plain).then(|| (Zeroizing::new(code.to_owned()), ()));
    accept(id, &CodeFlow::Plain, context, read)
}

/// Accepts a code that opens a session. Returns the user whose session it is.
///
/// # Errors
/// As [`accept_plain`].
pub fn accept_auth(
    id: OtpId,
    code: &str,
    context: &mut Execution<'_>,
) -> Result<Accepted<UserId>, RequestError> {
    let read = |flow: &CodeFlow| match flow {
        CodeFlow::Auth(user) => Some((Zeroizing::new(code.to_owned()), *user)),
        CodeFlow::Plain | CodeFlow::Encrypted(_) => None,
    };
    accept(id, &CodeFlow::Auth(UserId::from_bytes([0; 16])), context, read)
}

/// Accepts an encrypted code. Returns the public key that the client encrypted with it, as it is.
///
/// # Errors
/// As [`accept_plain`].
pub fn accept_encrypted(
    id: OtpId,
    sealed: &Sealed,
    context: &mut Execution<'_>,
) -> Result<Accepted<String>, RequestError> {
    accept(id, &CodeFlow::Encrypted(DECOY_KEY.to_owned()), context, |flow| {
        let CodeFlow::Encrypted(secret) = flow else { return None };
        let secret: Zeroizing<[u8; 32]> = Zeroizing::new(const_hex::decode_to_array(secret).ok()?);
        let plaintext = TargetKey::from_bytes(secret.as_slice()).ok()?.open(sealed).ok()?;
        let EncryptedCode { otp_code, public_key } = serde_json::from_slice(&plaintext).ok()?;
        Some((Zeroizing::new(otp_code), public_key))
    })
}

/// The plaintext of an encrypted code.
#[derive(Deserialize)]
struct EncryptedCode {
    otp_code: String,
    public_key: String,
}

/// Counts an attempt, and accepts the code if it is right. `read` returns the code that was sent back, unless it
/// belongs to another flow. It reads `decoy`, a code of the wanted flow, if there is no valid code.
fn accept<T>(
    id: OtpId,
    decoy: &CodeFlow,
    context: &mut Execution<'_>,
    read: impl FnOnce(&CodeFlow) -> Option<(Zeroizing<String>, T)>,
) -> Result<Accepted<T>, RequestError> {
    let now: Millis = context.now();
    // Another request may be committed between two reads. If it used the code, then either its attempt is counted
    // here, and the code is gone when it is read afterwards, or the claim below fails.
    let attempts = context.records().attempts(id)?;
    let stored = context.records().code(id)?.filter(|code| code.expires > now && attempts < ATTEMPTS);
    let number = u8::try_from(attempts).unwrap_or(u8::MAX);
    // As much work and as many writes without a code as for a wrong one, so that the time of the answer does not show
    // whether there is a code.
    let (claim, expires, flow) = match &stored {
        Some(stored) => (Claim::Attempt(id, number), stored.expires, &stored.flow),
        None => (Claim::Attempt(OtpId::random(context.random()), 0), now, decoy),
    };
    context.claim(claim, expires);
    let (code, flow) = read(flow).ok_or(Intent::OtpCode)?;
    let digest = context.code_digest(id, &normal(&code));
    let is_right = |stored: &OneTimeCode| verify_slices_are_equal(&digest, &stored.digest).is_ok();
    let stored = stored.filter(is_right).ok_or(Intent::OtpCode)?;
    context.remove_code(id);
    Ok(Accepted { contact: stored.contact.clone(), flow, is_strong: stored.is_strong })
}

/// Returns a code in the letters in which codes are sent: upper case, with digits for the letters that look like
/// them.
fn normal(code: &str) -> Zeroizing<String> {
    let letter = |letter: char| match letter.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        other => other,
    };
    Zeroizing::new(code.chars().map(letter).collect())
}
