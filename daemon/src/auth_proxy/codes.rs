//! Sends one-time codes, and accepts them.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::ActivityId;
use quorate_core::model::queued_message::{Channel, MessageId};
use serde_json::{Value, json};

use super::settings::Method;
use super::{Call, invalid};
use crate::clock;

/// Sends a code. In version 2, the code must be sent back encrypted.
pub(super) async fn init(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    let (kind, contact) = (call.parameters.text("otpType")?, call.parameters.text("contact")?);
    match kind {
        "OTP_TYPE_EMAIL" => call.check_method(Method::Email)?,
        "OTP_TYPE_SMS" => call.check_method(Method::Sms)?,
        _ => return Err(invalid("invalid request body: `otpType`: unknown name")),
    }
    call.proxy.count_contact(contact)?;
    if kind == "OTP_TYPE_EMAIL" {
        return send(call, is_v2).await;
    }
    call.proxy.sms.count(call.client, clock::now())?;
    let sent = send(call, is_v2).await;
    if sent.is_err() {
        call.proxy.sms.forget(call.client);
    }
    sent
}

async fn send(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    let (kind, contact) = (call.parameters.text("otpType")?, call.parameters.text("contact")?);
    let proxy = call.proxy;
    let settings = &proxy.settings;
    let is_queued = |activity, channel| {
        proxy.executor.world().messages(channel).is_queued(MessageId { activity, number: 0 })
    };
    let waits =
        |activity| [Channel::Mail, Channel::Sms].into_iter().any(|channel| is_queued(activity, channel));
    let place = proxy.waiting_codes.take(call.client, waits).ok_or_else(full)?;
    let mut parameters = json!({"otpType": kind, "contact": contact, "otpLength": settings.code_length,
        "alphanumeric": settings.code_letters});
    // Anyone can call the proxy, so the operator decides what its mails contain. The rest of the customization could be a
    // link to another site.
    let template = call.parameters.inner("emailCustomization", "templateId");
    let app = match &settings.app_name {
        Some(name) => name.clone(),
        None => call.proxy.read(|_, organization| Ok(organization.head.name.to_string()))?,
    };
    if let Some(members) = parameters.as_object_mut() {
        members.extend(template.map(|id| ("emailCustomization".to_owned(), json!({"templateId": id}))));
        if is_v2 {
            members.insert("appName".to_owned(), json!(app));
        }
    }
    let name = if is_v2 { "INIT_OTP_V3" } else { "INIT_OTP" };
    let keep = move |activity: Option<ActivityId>| {
        if let Some(activity) = activity {
            place.keep(activity);
        }
    };
    call.submit_then(settings.organization, name, parameters, keep).await
}

fn full() -> ApiError {
    let message = "Too many codes that were requested from this address wait to be sent (`waiting_codes_per_address`). Please try again later";
    ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED")
}

/// Accepts a code, and returns a verification token.
pub(super) async fn verify(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    let (name, members) = if is_v2 {
        ("VERIFY_OTP_V2", call.parameters.only(["otpId", "encryptedOtpBundle"]))
    } else {
        ("VERIFY_OTP", call.parameters.only(["otpId", "otpCode", "publicKey"]))
    };
    call.submit(call.proxy.settings.organization, name, members.into()).await
}
