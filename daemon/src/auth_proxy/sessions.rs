//! Opens sessions in sub-organizations.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::OrganizationId;
use quorate_core::model::one_time_code::Contact;
use serde_json::{Map, Value, json};

use super::settings::Method;
use super::{Call, account, invalid};

/// Opens a session for the user whose contact a verification token proves.
pub(super) async fn otp(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    let contact = account::proven(call)?;
    let filter = match &contact {
        Contact::Email(_) => "EMAIL",
        Contact::Phone(_) => "PHONE_NUMBER",
    };
    call.check_method(Method::of(&contact))?;
    let organization = match named(call)? {
        Some(organization) => organization,
        None => account::find(call, "list_verified_suborgs", filter, contact.as_str())
            .await?
            .ok_or_else(nobody)?,
    };
    let mut members = login(call)?;
    members.extend(call.parameters.only(["verificationToken", "clientSignature"]));
    call.submit(organization, if is_v2 { "OTP_LOGIN_V2" } else { "OTP_LOGIN" }, members.into()).await
}

/// Opens a session for the user whose identity a token of an OAuth provider proves.
pub(super) async fn oauth(call: &Call<'_>) -> Result<Value, ApiError> {
    let token = call.parameters.text("oidcToken")?;
    call.check_oauth(Some(token))?;
    let organization = match named(call)? {
        Some(organization) => organization,
        None => account::with_identity(call, "OIDC_TOKEN", token).await?.ok_or_else(nobody)?,
    };
    let mut members = login(call)?;
    members.extend(call.parameters.only(["oidcToken"]));
    call.submit(organization, "OAUTH_LOGIN", members.into()).await
}

/// Returns the sub-organization that a request names. The proxy opens no session in its own organization, whose
/// users administer it.
fn named(call: &Call<'_>) -> Result<Option<OrganizationId>, ApiError> {
    let Some(text) = call.parameters.maybe_text("organizationId")? else { return Ok(None) };
    let id: OrganizationId =
        text.parse().map_err(|_| invalid("invalid request body: `organizationId`: expected an id"))?;
    if id == call.proxy.settings.organization {
        return Err(ApiError::new(
            Code::PermissionDenied,
            "the proxy opens sessions in sub-organizations only",
        ));
    }
    Ok(Some(id))
}

/// Returns the members that every login has.
fn login(call: &Call<'_>) -> Result<Map<String, Value>, ApiError> {
    let longest = u64::from(call.proxy.settings.session_seconds);
    let requested = call.parameters.maybe_text("expirationSeconds")?;
    let requested = requested.map(str::parse::<u64>).transpose();
    let requested = requested
        .map_err(|_| invalid("invalid request body: `expirationSeconds`: expected a number in a string"))?;
    let mut members = call.parameters.only(["publicKey", "invalidateExisting"]);
    let seconds = requested.map_or(longest, |seconds| seconds.min(longest));
    members.insert("expirationSeconds".to_owned(), json!(seconds.to_string()));
    Ok(members)
}

fn nobody() -> ApiError {
    ApiError::new(Code::NotFound, "no organization found for this login")
}
