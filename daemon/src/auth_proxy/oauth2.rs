//! Exchanges codes of OAuth 2.0 providers.

use quorate_common::api_error::{ApiError, Code};
use serde_json::{Map, Value};

use super::settings::Method;
use super::{Call, invalid};

/// Exchanges a code for an ID token, with the credential of the organization for this provider and client id.
pub(super) async fn authenticate(call: &Call<'_>) -> Result<Value, ApiError> {
    call.check_oauth(None)?;
    let (provider, client_id) = (call.parameters.text("provider")?, call.parameters.text("clientId")?);
    match provider {
        "OAUTH2_PROVIDER_X" => call.check_method(Method::X)?,
        "OAUTH2_PROVIDER_DISCORD" => call.check_method(Method::Discord)?,
        _ => return Err(invalid("invalid request body: `provider`: unknown name")),
    }
    let mut listed = call.query("list_oauth2_credentials", Map::new()).await?;
    let credentials = listed.get_mut("oauth2Credentials").and_then(Value::as_array_mut);
    let found = credentials.and_then(|all| {
        all.iter_mut().find(|one| {
            let has = |member: &str, value: &str| one.get(member).and_then(Value::as_str) == Some(value);
            has("provider", provider) && has("clientId", client_id)
        })
    });
    let id = found.and_then(|one| one.get_mut("oauth2CredentialId").map(Value::take));
    let id = id.ok_or_else(|| {
        let message = "no oauth2 credential found for this provider and client ID";
        ApiError::new(Code::NotFound, message).reason("OAUTH2_CREDENTIAL_NOT_FOUND")
    })?;
    let mut members = call.parameters.only(["authCode", "redirectUri", "codeVerifier", "nonce"]);
    members.insert("oauth2CredentialId".to_owned(), id);
    let turn = call.proxy.turns.wait(call.client).await?;
    let token = call.submit(call.proxy.settings.organization, "OAUTH2_AUTHENTICATE", members.into()).await?;
    turn.succeed();
    Ok(token)
}
