//! Tokens with unusual contacts and names: browsers decode them with plain base64, and the unmodified package
//! `@turnkey/crypto` verifies them.

use p256::ecdsa::signature::Signer;
use p256::ecdsa::{Signature, SigningKey};
use quorate_common::ids::{OrganizationId, SessionProfileId, UserId, VerificationTokenId};
use quorate_common::token::{OtpType, SessionClaims, TokenEnd, UnsignedToken, VerificationClaims};
use quorate_tests::caller::now_millis;
use quorate_tests::choices::Choices;
use quorate_tests::daemon::Options;
use quorate_tests::mailbox::Mailbox;
use serde_json::{Value, json};

use crate::third_party;

/// Number of texts in the tokens that the tests sign themselves.
const TEXTS: u32 = 10_000;
/// Number of tokens of each kind that are verified, except in the long form, which verifies all.
const VERIFIED: u32 = 300;
/// Number of contacts that sign in, and of names of session profiles.
const CONTACTS: usize = 50;
/// Letters whose encoding could contain `-` or `_`, and others that encodings treat in a special way.
const LETTERS: [&str; 16] =
    [">", "?", "~", "\u{7f}", "\"", "\\", "'", "/", "\n", "ä", "é", "ß", "漢", "\u{2028}", "🔑", "👩‍👧"];
/// Letters of local parts besides ASCII letters (RFC 5322 §3.2.3, RFC 6531 §3.3).
const LOCAL: [&str; 16] = ["?", "~", "'", "{", "}", "|", "^", "`", "!", "%", "&", "ä", "é", "ñ", "Ø", "漢"];

/// Returns a text of random letters.
fn text(choices: &mut Choices, special: &[&str], length: usize) -> String {
    let letter = |choices: &mut Choices| {
        if choices.one_in(2) {
            (*choices.pick(special).expect("letters")).to_owned()
        } else {
            char::from(b'a' + u8::try_from(choices.below(26)).expect("a letter")).to_string()
        }
    };
    (0..length).map(|_| letter(choices)).collect()
}

fn signed(token: &UnsignedToken, key: &SigningKey) -> String {
    let signature: Signature = key.sign(token.statement());
    token.signed(signature.to_der().as_bytes()).expect("a signature")
}

/// Returns a text, and a token of each kind that contains it.
fn tokens(number: u32, key: &SigningKey) -> Value {
    let mut choices = Choices::of_seed(u64::from(number));
    let length = 1 + choices.below(40);
    let text = text(&mut choices, &LETTERS, length);
    let id = u128::from(number).to_be_bytes();
    let public_key = const_hex::encode(key.verifying_key().to_sec1_point(true).as_bytes());
    let end = now_millis() + 3_600_000;
    let verification = UnsignedToken::verification(&VerificationClaims {
        id: VerificationTokenId::from_bytes(id),
        verification_type: OtpType::Email,
        contact: text.clone(),
        organization_id: OrganizationId::from_bytes(id),
        public_key: Some(public_key.clone()),
        exp: TokenEnd::Millis(end.to_string()),
    });
    let session = UnsignedToken::session(&SessionClaims {
        exp: end / 1000,
        public_key,
        session_type: text.clone(),
        user_id: UserId::from_bytes(id),
        organization_id: OrganizationId::from_bytes(id),
        session_profile_id: Some(SessionProfileId::from_bytes(id)),
        scope: Some(text.clone()),
    });
    let [verification, session] = [verification, session].map(|token| signed(&token.expect("claims"), key));
    json!({"text": text, "verification": verification, "session": session})
}

#[test]
fn f24_ten_thousand_tokens_decode_and_verify() {
    let is_long = std::env::var("FAULTS").is_ok_and(|form| form == "full");
    let verified = if is_long { TEXTS } else { VERIFIED };
    let key = SigningKey::from_slice(&[7; 32]).expect("a key");
    let tokens: Vec<Value> = (0..TEXTS).map(|number| tokens(number, &key)).collect();
    let public_key = const_hex::encode(key.verifying_key().to_sec1_point(false).as_bytes());
    let file = tempfile::NamedTempFile::new().expect("a file");
    let content = json!({"publicKey": public_key, "tokens": tokens}).to_string();
    std::fs::write(file.path(), content).expect("the file can be written");
    let seen = third_party::observe("npm", &["node", "tokens.mjs", &verified.to_string()], &[file.path()]);
    assert_eq!(
        seen,
        json!({"decoded": TEXTS, "verified": verified, "failures": [], "mixed": [false, false]})
    );
}

#[tokio::test]
async fn unusual_contacts_sign_in() {
    let mut choices = Choices::of_seed(1);
    let mut unusual = |special: &[&str]| {
        let length = 1 + choices.below(12);
        text(&mut choices, special, length)
    };
    // No new address may begin with `|`, which programs that handle mail take for a command.
    let contacts: Vec<String> = (0..CONTACTS)
        .map(|number| format!("c{}{number}@{}.example.org", unusual(&LOCAL), "straße"))
        .collect();
    // Control characters are not permitted in names.
    let letters: Vec<&str> =
        LETTERS.into_iter().filter(|letter| !letter.chars().any(char::is_control)).collect();
    let names: Vec<String> = (0..CONTACTS).map(|number| format!("{}{number}", unusual(&letters))).collect();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let content = json!({"contacts": contacts, "names": names}).to_string();
    std::fs::write(file.path(), content).expect("the file can be written");
    let mailbox = Mailbox::start(0);
    let options = Options::quorum(1, 1).with_mail(mailbox.url());
    let arguments = [mailbox.folder(), file.path()];
    let (_daemon, seen) = third_party::run_on(options, "npm", &["node", "contacts.mjs"], &arguments).await;
    for (contact, seen) in contacts.iter().zip(seen["contacts"].as_array().expect("contacts")) {
        // Mail is sent to the domain as the domain name system has it (RFC 5891).
        let receiver = contact.replace("straße", "xn--strae-oqa");
        assert_eq!(*seen, json!([receiver, contact, contact]));
    }
    for (name, seen) in names.iter().zip(seen["names"].as_array().expect("names")) {
        assert_eq!(*seen, json!([name, true, true]));
    }
    let count = |part: &str| seen[part].as_array().map(Vec::len);
    assert_eq!((count("contacts"), count("names")), (Some(CONTACTS), Some(CONTACTS)));
}
