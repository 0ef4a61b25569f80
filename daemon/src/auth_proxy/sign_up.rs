//! Creates sub-organizations for new clients.

use quorate_common::api_error::{ApiError, Code};
use serde_json::{Map, Value, json};

use super::Call;
use super::settings::Method;

/// Creates a sub-organization with one root user.
pub(super) async fn sign_up(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    if call.parameters.has_items("authenticators") {
        call.check_method(Method::Passkey)?;
    }
    if call.parameters.has_items("oauthProviders") {
        call.check_oauth()?;
    }
    let user_name = call.parameters.text("userName")?;
    let name = call.parameters.maybe_text("organizationName")?.unwrap_or(user_name);
    let names = ["userName", "userEmail", "userPhoneNumber", "apiKeys", "authenticators", "oauthProviders"];
    let user = call.parameters.only(names);
    let mut parameters = json!({"subOrganizationName": name, "rootUsers": [user], "rootQuorumThreshold": 1});
    if let Some(members) = parameters.as_object_mut() {
        members.extend(call.parameters.only(["wallet", "verificationToken", "clientSignature"]));
    }
    let version = if is_v2 { "CREATE_SUB_ORGANIZATION_V8" } else { "CREATE_SUB_ORGANIZATION_V7" };
    let created = call.submit(call.proxy.settings.organization, version, parameters).await?;
    let mut answer = Map::from_iter([("appProofs".to_owned(), json!([]))]);
    let members =
        [("organizationId", "/subOrganizationId"), ("userId", "/rootUserIds/0"), ("wallet", "/wallet")];
    for (name, pointer) in members {
        answer.extend(created.pointer(pointer).map(|value| (name.to_owned(), value.clone())));
    }
    Ok(answer.into())
}

impl Call<'_> {
    /// Checks that a method is configured.
    ///
    /// # Errors
    /// If it is not.
    pub(super) fn check_method(&self, method: Method) -> Result<(), ApiError> {
        let message = || format!("{} disallowed", method.name().to_uppercase());
        let is_allowed = self.proxy.settings.methods.contains(&method);
        if is_allowed { Ok(()) } else { Err(ApiError::new(Code::PermissionDenied, message())) }
    }

    /// Checks that an OAuth provider is configured.
    ///
    /// # Errors
    /// If none is.
    pub(super) fn check_oauth(&self) -> Result<(), ApiError> {
        let is_allowed = self.proxy.settings.allows_oauth();
        if is_allowed { Ok(()) } else { Err(ApiError::new(Code::PermissionDenied, "OAUTH disallowed")) }
    }
}
