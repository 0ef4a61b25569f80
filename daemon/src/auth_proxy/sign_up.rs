//! Creates sub-organizations for new clients.

use quorate_common::api_error::{ApiError, Code};
use quorate_core::model::one_time_code::Contact;
use serde_json::{Map, Value, json};

use super::settings::Method;
use super::wallet_keys::Reservation;
use super::{Call, account, invalid};

/// Curve of the API keys that are not wallet keys.
const API_KEY_CURVE: &str = "API_KEY_CURVE_P256";

/// Creates a sub-organization with one root user.
pub(super) async fn sign_up(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    let reservation = check(call).await?;
    let user_name = call.parameters.text("userName")?;
    let name = call.parameters.maybe_text("organizationName")?.unwrap_or(user_name);
    let names = ["userName", "userEmail", "userPhoneNumber", "apiKeys", "authenticators", "oauthProviders"];
    let user = call.parameters.only(names);
    let mut parameters = json!({"subOrganizationName": name, "rootUsers": [user], "rootQuorumThreshold": 1});
    if let Some(members) = parameters.as_object_mut() {
        members.extend(call.parameters.only(["wallet", "verificationToken", "clientSignature"]));
    }
    let version = if is_v2 { "CREATE_SUB_ORGANIZATION_V8" } else { "CREATE_SUB_ORGANIZATION_V7" };
    let created =
        call.submit_holding(call.proxy.settings.organization, version, parameters, reservation).await?;
    let mut answer = Map::from_iter([("appProofs".to_owned(), json!([]))]);
    let members =
        [("organizationId", "/subOrganizationId"), ("userId", "/rootUserIds/0"), ("wallet", "/wallet")];
    for (name, pointer) in members {
        answer.extend(created.pointer(pointer).map(|value| (name.to_owned(), value.clone())));
    }
    Ok(answer.into())
}

/// Checks that a sign-up uses configured methods only, and at least one. Returns the reservation of its wallet key, if it
/// has one.
async fn check(call: &Call<'_>) -> Result<Option<Reservation>, ApiError> {
    let parameters = &call.parameters;
    let has_passkey = parameters.has_items("authenticators");
    let has_identity = parameters.has_items("oauthProviders");
    let has_token = parameters.maybe_text("verificationToken")?.is_some();
    if has_passkey {
        call.check_method(Method::Passkey)?;
    }
    if has_identity {
        call.check_oauth()?;
    }
    if has_token {
        call.check_method(Method::of(&account::proven(call)?))?;
    }
    let is_wallet = |key: &&Value| key.get("curveType").is_some_and(|curve| curve != API_KEY_CURVE);
    if let Some(key) = parameters.items("apiKeys").iter().find(is_wallet) {
        call.check_method(Method::Wallet)?;
        let is_only = parameters.items("apiKeys").len() == 1 && !has_passkey && !has_identity && !has_token;
        return wallet_key(call, key, is_only).await.map(Some);
    }
    if has_passkey || has_identity || has_token {
        Ok(None)
    } else {
        let message = "a sign-up needs a verification token, a passkey, a wallet key or an OAuth identity";
        Err(ApiError::new(Code::PermissionDenied, message))
    }
}

/// Reserves the wallet key of a sign-up.
///
/// Public keys of wallets are known to everyone, and a sign-up does not prove that the client has the private key. The
/// owner of the wallet must therefore not share the sub-organization with another credential, and must not find two.
async fn wallet_key(call: &Call<'_>, key: &Value, is_only: bool) -> Result<Reservation, ApiError> {
    if !is_only {
        let message = "a wallet key must be the only credential of a sign-up";
        return Err(ApiError::new(Code::PermissionDenied, message));
    }
    let key = key.get("publicKey").and_then(Value::as_str);
    let key = key.ok_or_else(|| invalid("invalid request body: missing field `publicKey`"))?;
    // As keys are stored.
    let key = &key.to_ascii_lowercase();
    let exists = || ApiError::new(Code::AlreadyExists, "a sub-organization with this public key exists");
    let reservation = call.proxy.wallet_keys.reserve(key).ok_or_else(exists)?;
    match account::find(call, "list_suborgs", "PUBLIC_KEY", key).await? {
        Some(_) => Err(exists()),
        None => Ok(reservation),
    }
}

impl Method {
    /// Returns the method that proves a contact.
    pub(super) const fn of(contact: &Contact) -> Self {
        match contact {
            Contact::Email(_) => Self::Email,
            Contact::Phone(_) => Self::Sms,
        }
    }
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
