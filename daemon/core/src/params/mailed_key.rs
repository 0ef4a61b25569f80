//! Parameters of flows that mail the key of a session to a user.

use quorate_common::bounded::{Email, ExpirationSeconds, Label, Text};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::message::{EmailAuthCustomizationParams, EmailCustomizationParams, MailSender};

/// Parameters of a session whose mail names the organization unless it is customized.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionMailParams {
    email: Email,
    target_public_key: Text<130>,
    api_key_name: Option<Label>,
    expiration_seconds: Option<ExpirationSeconds>,
    email_customization: Option<EmailCustomizationParams>,
    invalidate_existing: Option<bool>,
    send_from_email_address: Option<Email>,
    send_from_email_sender_name: Option<Label>,
    reply_to_email_address: Option<Email>,
}

/// Parameters of a session whose mail names an application.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppSessionMailParams {
    email: Email,
    target_public_key: Text<130>,
    api_key_name: Option<Label>,
    expiration_seconds: Option<ExpirationSeconds>,
    email_customization: EmailAuthCustomizationParams,
    invalidate_existing: Option<bool>,
    send_from_email_address: Option<Email>,
    send_from_email_sender_name: Option<Label>,
    reply_to_email_address: Option<Email>,
}

/// Parameters of a recovery whose mail names the organization unless it is customized.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecoveryMailParams {
    email: Email,
    target_public_key: Text<130>,
    expiration_seconds: Option<ExpirationSeconds>,
    email_customization: Option<EmailCustomizationParams>,
    send_from_email_address: Option<Email>,
    send_from_email_sender_name: Option<Label>,
    reply_to_email_address: Option<Email>,
}

/// Parameters of a recovery whose mail names an application.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AppRecoveryMailParams {
    email: Email,
    target_public_key: Text<130>,
    expiration_seconds: Option<ExpirationSeconds>,
    email_customization: EmailAuthCustomizationParams,
    send_from_email_address: Option<Email>,
    send_from_email_sender_name: Option<Label>,
    reply_to_email_address: Option<Email>,
}

/// Parameters of a mailed key, in the form that all versions are converted to.
pub struct MailedKeyRequest {
    /// Email address of the user.
    pub email: Email,
    /// Public key that the key is encrypted to.
    pub target: Text<130>,
    /// Name of the key.
    pub name: Option<Label>,
    /// Lifetime of the key.
    pub seconds: Option<ExpirationSeconds>,
    /// How the mail is customized.
    pub customization: EmailCustomizationParams,
    /// Whether the key replaces the user's other keys of the same flow.
    pub invalidates_existing: bool,
    /// Sender of the mail.
    pub sender: MailSender,
}

impl From<SessionMailParams> for MailedKeyRequest {
    fn from(params: SessionMailParams) -> Self {
        Self {
            email: params.email,
            target: params.target_public_key,
            name: params.api_key_name,
            seconds: params.expiration_seconds,
            customization: params.email_customization.unwrap_or_default(),
            invalidates_existing: params.invalidate_existing == Some(true),
            sender: MailSender {
                from: params.send_from_email_address,
                name: params.send_from_email_sender_name,
                reply_to: params.reply_to_email_address,
            },
        }
    }
}

impl From<AppSessionMailParams> for MailedKeyRequest {
    fn from(params: AppSessionMailParams) -> Self {
        Self {
            email: params.email,
            target: params.target_public_key,
            name: params.api_key_name,
            seconds: params.expiration_seconds,
            customization: params.email_customization.into(),
            invalidates_existing: params.invalidate_existing == Some(true),
            sender: MailSender {
                from: params.send_from_email_address,
                name: params.send_from_email_sender_name,
                reply_to: params.reply_to_email_address,
            },
        }
    }
}

impl From<RecoveryMailParams> for MailedKeyRequest {
    fn from(params: RecoveryMailParams) -> Self {
        Self {
            email: params.email,
            target: params.target_public_key,
            name: None,
            seconds: params.expiration_seconds,
            customization: params.email_customization.unwrap_or_default(),
            invalidates_existing: false,
            sender: MailSender {
                from: params.send_from_email_address,
                name: params.send_from_email_sender_name,
                reply_to: params.reply_to_email_address,
            },
        }
    }
}

impl From<AppRecoveryMailParams> for MailedKeyRequest {
    fn from(params: AppRecoveryMailParams) -> Self {
        Self {
            email: params.email,
            target: params.target_public_key,
            name: None,
            seconds: params.expiration_seconds,
            customization: params.email_customization.into(),
            invalidates_existing: false,
            sender: MailSender {
                from: params.send_from_email_address,
                name: params.send_from_email_sender_name,
                reply_to: params.reply_to_email_address,
            },
        }
    }
}
