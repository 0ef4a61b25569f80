//! Parameters and results of one-time codes, and parameters of the tokens that prove their receipt.

use quorate_common::bounded::{Between, Email, Label, Lifetime, Text};
use quorate_common::ids::OtpId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::message::{
    EmailCustomizationParams, EmailCustomizationParamsV2, MailSender, SmsCustomizationParams,
};
use crate::limits::{LONGEST_CODE_SECONDS, LONGEST_TOKEN_SECONDS, MAX_CODE_LENGTH, MIN_CODE_LENGTH};
use crate::model::one_time_code::OtpType;

/// Longest contact, in bytes.
const CONTACT: usize = 254;
/// Longest identifier by which a client names the user who requests a code, in bytes.
const USER_IDENTIFIER: usize = 256;
/// Longest code that is read, in bytes.
pub const CODE: usize = 64;
/// Longest encrypted code that is read, in bytes.
pub const ENCRYPTED_CODE: usize = 2048;

/// Number of characters of a code.
pub type CodeLength = Between<MIN_CODE_LENGTH, MAX_CODE_LENGTH>;
/// Number of characters of a code unless its request states it.
const DEFAULT_LENGTH: usize = 9;
/// Lifetime of a code, at most ten minutes.
pub type CodeLifetime = Lifetime<LONGEST_CODE_SECONDS>;
/// Lifetime of a verification token, at most one day.
pub type TokenLifetime = Lifetime<LONGEST_TOKEN_SECONDS>;

/// Parameters of a code whose mail names the organization unless it is customized.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeParams {
    otp_type: OtpType,
    contact: Text<CONTACT>,
    otp_length: Option<CodeLength>,
    email_customization: Option<EmailCustomizationParams>,
    sms_customization: Option<SmsCustomizationParams>,
    user_identifier: Option<Text<USER_IDENTIFIER>>,
    send_from_email_address: Option<Email>,
    alphanumeric: Option<bool>,
    send_from_email_sender_name: Option<Label>,
    expiration_seconds: Option<CodeLifetime>,
    reply_to_email_address: Option<Email>,
}

/// Parameters of a code with the default length, letters and lifetime, whose mail names the organization unless it is
/// customized.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DefaultCodeParams {
    otp_type: OtpType,
    contact: Text<CONTACT>,
    email_customization: Option<EmailCustomizationParams>,
    sms_customization: Option<SmsCustomizationParams>,
    user_identifier: Option<Text<USER_IDENTIFIER>>,
    send_from_email_address: Option<Email>,
    send_from_email_sender_name: Option<Label>,
    reply_to_email_address: Option<Email>,
}

/// Parameters of a code whose mail names an application.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppCodeParams {
    otp_type: OtpType,
    contact: Text<CONTACT>,
    otp_length: Option<CodeLength>,
    app_name: Label,
    email_customization: Option<EmailCustomizationParamsV2>,
    sms_customization: Option<SmsCustomizationParams>,
    user_identifier: Option<Text<USER_IDENTIFIER>>,
    send_from_email_address: Option<Email>,
    alphanumeric: Option<bool>,
    send_from_email_sender_name: Option<Label>,
    expiration_seconds: Option<CodeLifetime>,
    reply_to_email_address: Option<Email>,
}

/// Parameters of a code, in the form that all versions are converted to.
pub struct CodeRequest {
    /// How the code is sent.
    pub otp_type: OtpType,
    /// Contact that it is sent to.
    pub contact: Text<CONTACT>,
    /// Number of its characters.
    pub length: usize,
    /// Whether it contains letters.
    pub is_alphanumeric: bool,
    /// Its lifetime.
    pub lifetime: Option<CodeLifetime>,
    /// How its mail is customized.
    pub customization: EmailCustomizationParams,
    /// How its SMS is customized.
    pub sms: Option<SmsCustomizationParams>,
    /// Sender of its mail.
    pub sender: MailSender,
    /// The user who requests it, as the client names them.
    pub user_identifier: Option<Text<USER_IDENTIFIER>>,
}

impl From<DefaultCodeParams> for CodeRequest {
    fn from(params: DefaultCodeParams) -> Self {
        Self {
            otp_type: params.otp_type,
            contact: params.contact,
            length: DEFAULT_LENGTH,
            is_alphanumeric: true,
            lifetime: None,
            customization: params.email_customization.unwrap_or_default(),
            sms: params.sms_customization,
            sender: MailSender {
                from: params.send_from_email_address,
                name: params.send_from_email_sender_name,
                reply_to: params.reply_to_email_address,
            },
            user_identifier: params.user_identifier,
        }
    }
}

impl From<CodeParams> for CodeRequest {
    fn from(params: CodeParams) -> Self {
        Self {
            otp_type: params.otp_type,
            contact: params.contact,
            length: params.otp_length.map_or(DEFAULT_LENGTH, CodeLength::size),
            is_alphanumeric: params.alphanumeric.unwrap_or(true),
            lifetime: params.expiration_seconds,
            customization: params.email_customization.unwrap_or_default(),
            sms: params.sms_customization,
            sender: MailSender {
                from: params.send_from_email_address,
                name: params.send_from_email_sender_name,
                reply_to: params.reply_to_email_address,
            },
            user_identifier: params.user_identifier,
        }
    }
}

impl From<AppCodeParams> for CodeRequest {
    fn from(params: AppCodeParams) -> Self {
        Self {
            otp_type: params.otp_type,
            contact: params.contact,
            length: params.otp_length.map_or(DEFAULT_LENGTH, CodeLength::size),
            is_alphanumeric: params.alphanumeric.unwrap_or(true),
            lifetime: params.expiration_seconds,
            customization: EmailCustomizationParams::of_app(params.app_name, params.email_customization),
            sms: params.sms_customization,
            sender: MailSender {
                from: params.send_from_email_address,
                name: params.send_from_email_sender_name,
                reply_to: params.reply_to_email_address,
            },
            user_identifier: params.user_identifier,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OtpResult {
    pub(crate) otp_id: OtpId,
}

/// A signature by the key of a verification token, over a statement of what the token is used for.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientSignature {
    /// Public key of the token, in hex.
    pub public_key: Text<140>,
    /// `CLIENT_SIGNATURE_SCHEME_API_P256`.
    pub scheme: Text<64>,
    /// Statement, as JSON.
    pub message: Text<16384>,
    /// r and s of the signature, in hex.
    pub signature: Text<256>,
}
