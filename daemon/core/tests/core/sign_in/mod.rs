//! Sign-in without a credential: one-time codes, verification tokens, mailed keys and recovery.

use quorate_chain::curve::{Curve, Message, SecretKey};
use quorate_common::api_error::ApiError;
use quorate_common::bundle::{Sealed, TargetKey};
use quorate_common::ids::{ActivityId, OrganizationId, VerificationTokenId};
use quorate_common::token::{OtpType, TokenEnd, UnsignedToken, VerificationClaims};
use quorate_core::mail::Mail;
use quorate_core::model::layout::{self, outbox};
use quorate_core::model::record::Record;
use quorate_core::sms::Sms;
use quorate_core::world::{QuorumKey, Records};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::fixture::{AuthMethod, Fixture, NOW, Person, public_key, seal_for};
use crate::memory::Memory;

pub(crate) mod attested;
mod contacts;
mod established;
mod forged_tokens;
mod key_confusion;
mod limits;
mod logins;
mod mailed_keys;
mod messages;
mod oidc;
mod proxy;
mod queue;
mod registered;
mod shares;
mod stored;
mod tokens;

pub(crate) use mailed_keys::{mailed, mailed_secret, recovery_key};
pub(crate) use tokens::UNSIGNED;

/// Number of the key that tokens are bound to.
pub(crate) const TOKEN_KEY: u32 = 32;
/// Email address of the second root user, and of the root user of the first sub-organization.
const EMAIL: &str = "root1@house.example";

/// Codes and tokens that were not used yet. The tokens prove [`EMAIL`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Prepared {
    /// Id of a code, and the code.
    pub(crate) plain: [String; 2],
    /// Id of a code, and the code encrypted to its key.
    pub(crate) encrypted: [String; 2],
    /// Id of a code that opens a session, and the code.
    pub(crate) auth: [String; 2],
    /// A token without a key, and one that is bound to [`TOKEN_KEY`].
    pub(crate) tokens: [String; 2],
}

/// Enables sign-in, and sends codes. None of them is sent to [`EMAIL`], so that tests can send three.
pub(crate) fn prepare(fixture: &mut Fixture) -> Prepared {
    for name in ["EMAIL_AUTH", "EMAIL_RECOVERY", "SMS_AUTH", "OTP_EMAIL_AUTH"] {
        let feature = json!({"name": format!("FEATURE_NAME_{name}"), "value": ""});
        fixture.execute("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature);
    }
    let mut sent = |name: &str, contact: &str| {
        let parameters = json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact, "appName": "House"});
        let activity = fixture.execute(&format!("ACTIVITY_TYPE_{name}"), &parameters);
        SentCode::of(&fixture.memory, &activity)
    };
    let plain = sent("INIT_OTP", "plain@house.example");
    let encrypted = sent("INIT_OTP_V3", "encrypted@house.example");
    let auth = sent("INIT_OTP_AUTH", "root0@house.example");
    let bundle = encrypted.encrypted(TOKEN_KEY);
    let claims = Claims { organization: fixture.id, ..Claims::default() };
    Prepared {
        plain: [plain.id, plain.code],
        encrypted: [encrypted.id, bundle],
        auth: [auth.id, auth.code],
        tokens: [
            Claims { key: None, exp: TokenEnd::Seconds(NOW / 1000 + 3600), ..claims.clone() }
                .sign(&fixture.memory),
            Claims { id: 2, ..claims }.sign(&fixture.memory),
        ],
    }
}

/// A code, as its receiver and the client know it.
#[derive(Debug, Clone)]
pub(crate) struct SentCode {
    pub(crate) id: String,
    pub(crate) code: String,
    /// Message with the key that the code is encrypted to, if it is.
    pub(crate) target: Value,
}

impl SentCode {
    /// Reads the code in the message that an activity queued.
    pub(crate) fn of(memory: &Memory, activity: &Value) -> Self {
        let result = activity["result"].as_object().expect("an object").values().next().expect("a result");
        let text = message(memory, activity);
        let code = text.lines().find_map(|line| line.strip_prefix("    "));
        let code = code.or_else(|| text.split_whitespace().find_map(|word| word.strip_prefix("code=")));
        Self {
            id: result["otpId"].as_str().expect("an id").to_owned(),
            code: code.expect("the message contains a code").to_owned(),
            target: result["otpEncryptionTargetBundle"].clone(),
        }
    }

    /// Returns the encrypted code, with the public key of this number.
    pub(crate) fn encrypted(&self, key: u32) -> String {
        let plaintext = json!({"otp_code": self.code, "public_key": public_key(key)}).to_string();
        seal_for(&self.target, plaintext.as_bytes()).1
    }

    /// Returns the code with another last character.
    pub(crate) fn altered(&self) -> String {
        let (start, last) = self.code.split_at(self.code.len() - 1);
        format!("{start}{}", if last == "7" { "8" } else { "7" })
    }
}

/// Returns the id of an activity.
fn activity_id(activity: &Value) -> ActivityId {
    activity["id"].as_str().expect("an id").parse().expect("an id")
}

/// Returns the mail that an activity queued.
fn mail(memory: &Memory, activity: &Value) -> Option<Mail> {
    let row = memory.read(&layout::mail(activity_id(activity), 0)).expect("the store is readable");
    row.map(|row| Mail::decode(&row).expect("the mail decodes"))
}

/// Returns the SMS that an activity queued.
fn sms(memory: &Memory, activity: &Value) -> Option<Sms> {
    let row = memory.read(&outbox::sms(activity_id(activity), 0)).expect("the store is readable");
    row.map(|row| Sms::decode(&row).expect("the SMS decodes"))
}

/// Returns the text of the mail or the SMS that an activity queued.
fn message(memory: &Memory, activity: &Value) -> String {
    let mail = mail(memory, activity).map(|mail| mail.text.clone());
    mail.or_else(|| sms(memory, activity).map(|sms| sms.text.clone())).expect("a message is queued")
}

/// Claims of a token to sign.
#[derive(Debug, Clone)]
pub(crate) struct Claims {
    pub(crate) id: u8,
    pub(crate) contact: &'static str,
    pub(crate) organization: OrganizationId,
    pub(crate) key: Option<String>,
    pub(crate) exp: TokenEnd,
}

impl Default for Claims {
    fn default() -> Self {
        Self {
            id: 1,
            contact: EMAIL,
            organization: OrganizationId::from_bytes([0; 16]),
            key: Some(public_key(TOKEN_KEY)),
            exp: TokenEnd::Millis((NOW + 3_600_000).to_string()),
        }
    }
}

impl Claims {
    /// Signs the token with the quorum key, as `VERIFY_OTP` does.
    pub(crate) fn sign(self, memory: &Memory) -> String {
        let claims = VerificationClaims {
            id: VerificationTokenId::from_bytes([self.id; 16]),
            verification_type: if self.contact.contains('@') { OtpType::Email } else { OtpType::Sms },
            contact: self.contact.to_owned(),
            organization_id: self.organization,
            public_key: self.key,
            exp: self.exp,
        };
        let token = UnsignedToken::verification(&claims).expect("claims serialize");
        let signature = QuorumKey::sign(memory, token.statement()).expect("signing succeeds");
        token.signed(&signature).expect("a signature")
    }
}

/// Returns the claims of a token.
fn claims_of(token: &str) -> Value {
    use base64ct::Encoding;
    let payload = token.split('.').nth(1).expect("three parts");
    let payload = base64ct::Base64UrlUnpadded::decode_vec(payload).expect("base64url");
    serde_json::from_slice(&payload).expect("JSON")
}

/// Signs the statement that a token is used for a login with a public key.
pub(crate) fn client_signature(token: &str, key: u32, login: &str) -> Value {
    let message =
        json!({"login": {"publicKey": login}, "tokenId": claims_of(token)["id"], "type": "USAGE_TYPE_LOGIN"});
    sign_statement(&message, key)
}

/// Signs the statement that a token is used to create an organization with this root user.
pub(crate) fn sign_up_signature(token: &str, key: u32, user: &Value) -> Value {
    let message = json!({"signupV2": user, "tokenId": claims_of(token)["id"], "type": "USAGE_TYPE_SIGNUP"});
    sign_statement(&message, key)
}

/// Signs a statement with the key of this number.
fn sign_statement(message: &Value, key: u32) -> Value {
    sign_text(&message.to_string(), key)
}

/// Signs a text with the key of this number.
fn sign_text(message: &str, key: u32) -> Value {
    let mut secret = [1; 32];
    secret[..4].copy_from_slice(&key.to_be_bytes());
    let secret = SecretKey::from_bytes(Curve::P256, &secret).expect("a scalar");
    let digest = Message::Digest(Sha256::digest(message.as_bytes()).into());
    let signature = secret.sign(&digest).expect("signing succeeds");
    json!({"publicKey": public_key(key), "scheme": "CLIENT_SIGNATURE_SCHEME_API_P256", "message": message,
        "signature": const_hex::encode([signature.r, signature.s].concat())})
}

/// Submits a type, given without its prefix, and returns the activity.
fn submit(
    fixture: &mut Fixture,
    caller: &Person,
    organization: OrganizationId,
    name: &str,
    parameters: &Value,
    now: u64,
) -> Result<Value, ApiError> {
    let answer = fixture.submit(caller, organization, &format!("ACTIVITY_TYPE_{name}"), parameters, now)?;
    Ok(answer["activity"].clone())
}

/// Submits a type as the first root user, and returns the activity.
fn run(fixture: &mut Fixture, name: &str, parameters: &Value, now: u64) -> Result<Value, ApiError> {
    let (root, id) = (fixture.roots[0].clone(), fixture.id);
    submit(fixture, &root, id, name, parameters, now)
}

/// Sends a code to an email address or a phone number.
fn init(
    fixture: &mut Fixture,
    name: &str,
    contact: &str,
    more: &Value,
    now: u64,
) -> Result<SentCode, ApiError> {
    let is_phone = contact.starts_with('+');
    let mut parameters = json!({"otpType": if is_phone { "OTP_TYPE_SMS" } else { "OTP_TYPE_EMAIL" },
        "contact": contact, "appName": "House"});
    if is_phone {
        parameters["smsCustomization"] = json!({"template": "code={{.OtpCode}}"});
    }
    for (name, value) in more.as_object().expect("an object") {
        parameters[name] = value.clone();
    }
    let activity = run(fixture, name, &parameters, now)?;
    Ok(SentCode::of(&fixture.memory, &activity))
}

/// Sends a code back, and returns the verification token.
fn verify(fixture: &mut Fixture, id: &str, code: &str, now: u64) -> Result<String, ApiError> {
    let activity = run(fixture, "VERIFY_OTP", &json!({"otpId": id, "otpCode": code}), now)?;
    Ok(token_of(&activity))
}

/// Sends an encrypted code back, and returns the verification token, which is bound to [`TOKEN_KEY`].
fn verify_encrypted(fixture: &mut Fixture, code: &SentCode, now: u64) -> Result<String, ApiError> {
    let parameters = json!({"otpId": code.id, "encryptedOtpBundle": code.encrypted(TOKEN_KEY)});
    Ok(token_of(&run(fixture, "VERIFY_OTP_V2", &parameters, now)?))
}

/// Returns the token in the result of an activity.
fn token_of(activity: &Value) -> String {
    let result = &activity["result"]["verifyOtpResult"];
    result["verificationToken"].as_str().expect("a token").to_owned()
}

/// Logs in at an organization with a token, and returns the claims of the session.
fn log_in(
    fixture: &mut Fixture,
    organization: OrganizationId,
    token: &str,
    key: u32,
    now: u64,
) -> Result<Value, ApiError> {
    let is_bound = claims_of(token).get("public_key").is_some();
    let mut parameters = json!({"verificationToken": token, "publicKey": public_key(key)});
    if is_bound {
        parameters["clientSignature"] = client_signature(token, TOKEN_KEY, &public_key(key));
    }
    let root = fixture.roots[0].clone();
    let name = if is_bound { "OTP_LOGIN_V2" } else { "OTP_LOGIN" };
    let activity = submit(fixture, &root, organization, name, &parameters, now)?;
    Ok(claims_of(activity["result"]["otpLoginResult"]["session"].as_str().expect("a token")))
}

/// Returns the user whose key stamps a query.
fn whoami(
    fixture: &Fixture,
    person: &Person,
    organization: OrganizationId,
    now: u64,
) -> Result<Value, ApiError> {
    let body = json!({"organizationId": organization}).to_string().into_bytes();
    let answer = fixture.memory.query("whoami", &person.stamps(&body), &body, now)?;
    Ok(answer["userId"].clone())
}

/// Returns a person who stamps with the key of this number.
fn with_key(person: &Person, number: u32) -> Person {
    Person { number, auth: AuthMethod::Stamp, ..person.clone() }
}

/// Returns the key pair that mailed keys are encrypted to.
fn target() -> TargetKey {
    TargetKey::from_bytes(&[9; 32]).expect("a scalar")
}

/// Decrypts a credential bundle, and returns the person who stamps with its key.
fn with_bundle(person: &Person, bundle: &str) -> Person {
    let bundle = bs58::decode(bundle).with_check(None).into_vec().expect("Base58Check");
    let (encapped, ciphertext) = bundle.split_at(33);
    let sealed =
        json!({"encappedPublic": const_hex::encode(encapped), "ciphertext": const_hex::encode(ciphertext)});
    let secret = target().open(&Sealed::parse(&sealed.to_string()).expect("a bundle")).expect("decrypts");
    Person { auth: AuthMethod::Mailed(secret.as_slice().try_into().expect("a secret key")), ..person.clone() }
}

/// Asserts the message of an error.
fn refused<T: std::fmt::Debug>(answer: Result<T, ApiError>, message: &str) {
    assert_eq!(answer.expect_err("the request is refused").message, message);
}
