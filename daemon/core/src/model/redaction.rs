//! Removes the secrets of a message from the answer of the server that took or rejected it. Servers and filters quote
//! messages: whole, wrapped, cut, or encoded.

use base64ct::{Base64Unpadded, Encoding};

/// Minimum length of a word of a message that may be a secret, in characters. Codes have at least six.
const SECRET_LENGTH: usize = 6;
/// Minimum length of a word that may be a secret whatever it contains. Bundles and keys are longer.
const LONG_SECRET: usize = 32;
/// Length of a part of a code that is too much to keep, in characters: three attempts do not find the rest of a code of
/// nine, but they may find two digits.
const CODE_PART: usize = 4;
/// The same for a long secret. Shorter parts occur in it by chance.
const LONG_PART: usize = 8;
/// Minimum length of a word that is decoded as base64, in characters.
const BASE64_LENGTH: usize = 8;
/// What an answer contains instead of a secret.
const REDACTED: &str = "[redacted]";

/// Returns an answer on one line, without the secrets in the texts of a message. Nothing but the enhanced status code
/// (RFC 3463) is left of an answer that reveals a part of a secret in another way.
pub(super) fn redacted(line: &str, message: &[&str]) -> String {
    let secrets: Vec<&str> = message.iter().flat_map(|text| secrets(text)).collect();
    let redacted = secrets.iter().fold(line.to_owned(), |line, secret| redact(&line, secret));
    let forms = forms(&redacted.replace(REDACTED, " "));
    if !secrets.iter().any(|secret| forms.iter().any(|form| reveals(form, secret))) {
        return redacted;
    }
    let status = line.split(' ').next().filter(|word| is_enhanced_status(word));
    status.map_or_else(|| REDACTED.to_owned(), |status| format!("{status} {REDACTED}"))
}

/// Returns the words of a text that could be secrets: codes contain a digit or no lowercase letter, and all other
/// secrets are long.
fn secrets(text: &str) -> impl Iterator<Item = &str> {
    text.split(|one: char| !one.is_ascii_alphanumeric()).filter(|word| {
        let is_code =
            word.chars().any(|one| one.is_ascii_digit()) || !word.chars().any(|one| one.is_ascii_lowercase());
        word.len() >= LONG_SECRET || (word.len() >= SECRET_LENGTH && is_code)
    })
}

/// Replaces each occurrence of a secret, in any case.
fn redact(line: &str, secret: &str) -> String {
    let (folded, secret) = (line.to_ascii_lowercase(), secret.to_ascii_lowercase());
    let mut redacted = String::with_capacity(line.len());
    let mut rest = 0;
    for (at, found) in folded.match_indices(&secret) {
        redacted.push_str(line.get(rest..at).unwrap_or_default());
        redacted.push_str(REDACTED);
        rest = at.saturating_add(found.len());
    }
    redacted.push_str(line.get(rest..).unwrap_or_default());
    redacted
}

/// Returns the letters and digits of a line: as it is, with its hexadecimal escapes decoded (RFC 2045 §6.7, RFC 3986
/// §2.1), and of its words as base64 (RFC 4648 §4), from each position at which an encoded group could begin.
fn forms(line: &str) -> Vec<String> {
    let mut forms = vec![squeezed(line.bytes()), squeezed(unescaped(line).into_iter())];
    for word in line.split(|one: char| !(one.is_ascii_alphanumeric() || matches!(one, '+' | '/'))) {
        for start in 0..4 {
            let rest = word.get(start..).unwrap_or_default();
            let groups = rest.get(..rest.len().saturating_sub(rest.len() % 4)).unwrap_or_default();
            if groups.len() >= BASE64_LENGTH {
                forms
                    .extend(Base64Unpadded::decode_vec(groups).ok().map(|bytes| squeezed(bytes.into_iter())));
            }
        }
    }
    forms
}

/// Returns the ASCII letters and digits among some bytes, in lower case.
fn squeezed(bytes: impl Iterator<Item = u8>) -> String {
    bytes.filter(u8::is_ascii_alphanumeric).map(|byte| char::from(byte.to_ascii_lowercase())).collect()
}

/// Decodes `=XX` and `%XX`.
fn unescaped(line: &str) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(line.len());
    let mut rest = line.as_bytes();
    while let [first, after @ ..] = rest {
        let escape = after.split_at_checked(2).filter(|_| matches!(first, b'=' | b'%'));
        let byte = escape.and_then(|(digits, _)| const_hex::decode_to_array::<_, 1>(digits).ok());
        if let (Some([byte]), Some((_, after))) = (byte, escape) {
            decoded.push(byte);
            rest = after;
        } else {
            decoded.push(*first);
            rest = after;
        }
    }
    decoded
}

/// Returns whether a form of an answer contains a part of a secret.
fn reveals(form: &str, secret: &str) -> bool {
    let secret = secret.to_ascii_lowercase();
    let length = if secret.len() >= LONG_SECRET { LONG_PART } else { CODE_PART };
    let ends = length..=secret.len();
    ends.filter_map(|end| secret.get(end.saturating_sub(length)..end)).any(|part| form.contains(part))
}

/// Returns whether a word is an enhanced status code, such as `5.1.1`.
fn is_enhanced_status(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let is_number =
        |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|one| one.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_form_of_a_code_remains() {
        let text = "Your code for Acme is:\n\n    7F3K9QHXM\n\nSign in today";
        for answer in [
            "5.7.1 quoted: 7F3K9 QHXM",
            "5.7.1 quoted: 7F3K-9QHXM",
            "5.7.1 quoted: 7f3k9q...",
            "5.7.1 quoted: =37=46=33=4B=39=51=48=58=4D",
            "5.7.1 quoted: %37%46%33%4b%39%51%48%58%4d",
            // Base64 of the code, and of it after one and two other characters.
            "5.7.1 quoted: N0YzSzlRSFhN",
            "5.7.1 quoted: IDdGM0s5UUhYTQ==",
            "5.7.1 quoted: ICA3RjNLOVFIWE0=",
        ] {
            assert_eq!(redacted(answer, &[text]), "5.7.1 [redacted]", "{answer}");
        }
        for answer in ["2.0.0 OK: queued as 4XyZ", "5.1.1 no such user here", "Your code for Acme: rejected"]
        {
            assert_eq!(redacted(answer, &[text]), answer);
        }
        assert_eq!(redacted("7F3K9 QHXM", &[text]), "[redacted]");
    }

    #[test]
    fn no_part_of_a_key_remains() {
        let key = const_hex::encode([0x5a, 0xc3, 0x77, 0x19].repeat(16));
        assert_eq!(redacted(&format!("5.6.0 {}", &key[..24]), &[&key]), "5.6.0 [redacted]");
        assert_eq!(redacted("5.6.0 5ac3 is short", &[&key]), "5.6.0 5ac3 is short");
    }
}
