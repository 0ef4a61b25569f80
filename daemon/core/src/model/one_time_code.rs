//! One-time codes, as they are stored, and the claims that limit how often they are sent and tried.

use quorate_common::bounded::{Email, Phone};
use quorate_common::ids::{OrganizationId, OtpId, UserId, VerificationTokenId};
pub use quorate_common::token::OtpType;
use serde::{Deserialize, Serialize};
use url::Host;
use zeroize::ZeroizeOnDrop;

use super::layout::{IndexKey, Key, sign_in};
use super::record::Record;
use super::{FeatureName, Millis, User};

/// How often a code may be tried.
pub const ATTEMPTS: usize = 3;

/// The address that a code is sent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Contact {
    /// Email address.
    Email(Email),
    /// Phone number.
    Phone(Phone),
}

impl Contact {
    /// Returns how a code reaches the contact.
    pub const fn otp_type(&self) -> OtpType {
        match self {
            Self::Email(_) => OtpType::Email,
            Self::Phone(_) => OtpType::Sms,
        }
    }

    /// Returns the feature that permits codes to such contacts.
    pub const fn feature(&self) -> FeatureName {
        match self {
            Self::Email(_) => FeatureName::OtpEmailAuth,
            Self::Phone(_) => FeatureName::SmsAuth,
        }
    }

    /// Returns what the contact is, as it follows "this" in a message.
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Email(_) => "email",
            Self::Phone(_) => "phone number",
        }
    }

    /// Returns whether a user has the contact.
    pub fn is_of(&self, user: &User) -> bool {
        match self {
            // Mail servers ignore the case of ASCII letters. Other letters that have a common lower case, such as the
            // Kelvin sign and `k`, can belong to different mailboxes.
            Self::Email(email) => {
                user.email.as_ref().is_some_and(|own| own.as_str().eq_ignore_ascii_case(email.as_str()))
            }
            Self::Phone(phone) => user.phone.as_ref() == Some(phone),
        }
    }

    /// Returns whether a user has the contact and proved it.
    pub fn is_verified_by(&self, user: &User) -> bool {
        let is_verified = match self {
            Self::Email(_) => user.email_verified,
            Self::Phone(_) => user.phone_verified,
        };
        is_verified && self.is_of(user)
    }

    /// Returns the user with this contact as proved.
    #[must_use]
    pub fn verified(&self, mut user: User) -> User {
        match self {
            Self::Email(_) => user.email_verified = true,
            Self::Phone(_) => user.phone_verified = true,
        }
        user
    }

    /// Returns the receiver in one form, whatever the spelling of the contact: mail servers ignore the case of
    /// addresses, and domains have several spellings.
    pub fn receiver(&self) -> String {
        match self {
            Self::Email(email) => {
                let local = email.as_str().rsplit_once('@').map_or("", |(local, _)| local);
                format!("{}@{}", local.to_lowercase(), ascii_domain(email))
            }
            Self::Phone(phone) => phone.to_string(),
        }
    }

    /// Returns the address or the number.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Email(email) => email.as_str(),
            Self::Phone(phone) => phone.as_str(),
        }
    }
}

/// Returns the domain of an address as the domain name system has it: in lower case, and in ASCII (RFC 5890). A domain
/// without such a form is returned in lower case.
pub fn ascii_domain(email: &Email) -> String {
    let domain = email.as_str().rsplit_once('@').map_or("", |(_, domain)| domain);
    Host::parse(domain).map_or_else(|_| domain.to_lowercase(), |host| host.to_string())
}

/// What a code is for, and in which form it is sent back. A code of one flow is useless in the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CodeFlow {
    /// It is verified as it is (`INIT_OTP` versions 1 and 2).
    Plain,
    /// It is verified encrypted to this key, whose secret is in hex (`INIT_OTP` version 3).
    Encrypted(String),
    /// It opens a session of this user (`INIT_OTP_AUTH`).
    Auth(UserId),
}

/// A one-time code that was sent. The code itself is not stored.
#[derive(Serialize, Deserialize, ZeroizeOnDrop)]
pub struct OneTimeCode {
    /// Keyed digest of the code.
    #[zeroize(skip)]
    pub digest: [u8; 16],
    /// Contact that it was sent to.
    #[zeroize(skip)]
    pub contact: Contact,
    /// What it is for.
    pub flow: CodeFlow,
    /// Whether it cannot be guessed. Codes of earlier versions are taken for ones that can.
    #[zeroize(skip)]
    #[serde(default)]
    pub is_strong: bool,
    /// Time from which it is no longer valid.
    #[zeroize(skip)]
    pub expires: Millis,
}

impl zeroize::Zeroize for CodeFlow {
    fn zeroize(&mut self) {
        if let Self::Encrypted(secret) = self {
            secret.zeroize();
        }
    }
}

impl Record for OneTimeCode {
    const NOUN: &'static str = "one-time code";
}

/// When a code was sent, and which. It counts towards the limits of its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentCode {
    /// Code.
    pub id: OtpId,
    /// Time at which it was sent.
    pub sent: Millis,
}

impl Record for SentCode {
    const NOUN: &'static str = "sent code";
}

/// Something that can be done once only, by one of all requests that try it at the same time. A claim lasts even
/// if the activity that makes it fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The attempt with this number to use a code.
    Attempt(OtpId, u8),
    /// The code with this number to a receiver: a contact or a user identifier, after a word that distinguishes them.
    Sent([String; 2], u32, SentCode),
    /// The message with this number that users of the sub-organizations of this parent had sent to a receiver, or those of
    /// registered tenants, which have no parent.
    SentByChildren(OrganizationId, [String; 2], u32, SentCode),
    /// A use of a verification token, which this organization issued.
    TokenUse(OrganizationId, VerificationTokenId, TokenUsage),
}

/// What a verification token is used for. Each use is possible once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenUsage {
    /// A login, or a step of an MFA policy. So one code is never both a session and a further step.
    Login = 1,
    /// The creation of a sub-organization.
    SignUp = 2,
    /// A change of a user's contact.
    Contact = 3,
    /// A step of an MFA policy. Only tokens for codes that could be guessed are marked so, as soon as they are issued:
    /// they prove no step.
    Step = 4,
}

impl Claim {
    /// Returns the key of the claim in an organization.
    pub fn key(&self, organization: OrganizationId, index: &IndexKey) -> Key {
        match self {
            Self::Attempt(code, number) => sign_in::attempt(organization, *code, *number),
            Self::Sent([word, receiver], number, _) => {
                sign_in::sent_code(index, organization, &[word, receiver], *number)
            }
            Self::SentByChildren(parent, [word, receiver], number, _) => {
                sign_in::message_by_children(index, *parent, &[word, receiver], *number)
            }
            Self::TokenUse(issuer, token, usage) => sign_in::token_use(*issuer, *token, *usage as u8),
        }
    }
}
