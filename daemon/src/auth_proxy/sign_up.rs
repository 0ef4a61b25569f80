//! Creates sub-organizations for new clients.

use quorate_common::api_error::{ApiError, Code};
use quorate_core::auth_proxy;
use quorate_core::model::one_time_code::Contact;
use serde_json::{Map, Value, json};

use super::api_keys::Reservation;
use super::settings::Method;
use super::{Call, account, invalid};

/// Curve of the API keys that are not wallet keys.
const API_KEY_CURVE: &str = "API_KEY_CURVE_P256";
/// Maximum number of API keys of a sign-up, each of which is looked up.
const API_KEYS: usize = 8;

/// Creates a sub-organization with one root user.
pub(super) async fn sign_up(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    check(call)?;
    let reservations = reserve(call).await?;
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
        call.submit_holding(call.proxy.settings.organization, version, parameters, reservations).await?;
    let mut answer = Map::from_iter([("appProofs".to_owned(), json!([]))]);
    let members =
        [("organizationId", "/subOrganizationId"), ("userId", "/rootUserIds/0"), ("wallet", "/wallet")];
    for (name, pointer) in members {
        answer.extend(created.pointer(pointer).map(|value| (name.to_owned(), value.clone())));
    }
    Ok(answer.into())
}

/// Checks that a sign-up uses configured methods only, and at least one.
///
/// Public keys of wallets are known to everyone, and a sign-up does not prove that the client has the private key. The
/// owner of the wallet must therefore not share the sub-organization with another credential.
fn check(call: &Call<'_>) -> Result<(), ApiError> {
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
    let keys = parameters.items("apiKeys");
    let has_wallet = keys.iter().any(is_wallet);
    if has_wallet {
        call.check_method(Method::Wallet)?;
    }
    let denied = |message: &str| Err(ApiError::new(Code::PermissionDenied, message));
    if has_wallet && (keys.len() > 1 || has_passkey || has_identity || has_token) {
        denied("a wallet key must be the only credential of a sign-up")
    } else if !(has_wallet || has_passkey || has_identity || has_token) {
        denied("a sign-up needs a verification token, a passkey, a wallet key or an OAuth identity")
    } else {
        Ok(())
    }
}

fn is_wallet(key: &Value) -> bool {
    key.get("curveType").is_some_and(|curve| curve != API_KEY_CURVE)
}

/// Reserves the API keys of a sign-up, and checks that no sub-organization has them. Otherwise, anyone who knows a public
/// key could keep its owner from being found by it. The text of a wallet key can be a key on P-256 too, which proves
/// nothing and must not keep the wallet from signing up.
async fn reserve(call: &Call<'_>) -> Result<Vec<Reservation>, ApiError> {
    let keys = call.parameters.items("apiKeys");
    if keys.len() > API_KEYS {
        return Err(invalid(format!("invalid request body: `apiKeys`: more than {API_KEYS} items")));
    }
    let mut reservations = Vec::with_capacity(keys.len());
    for key in keys {
        let public_key = key.get("publicKey").and_then(Value::as_str);
        let public_key =
            public_key.ok_or_else(|| invalid("invalid request body: missing field `publicKey`"))?;
        // As keys are stored.
        let public_key = &public_key.to_ascii_lowercase();
        let exists = || ApiError::new(Code::AlreadyExists, "a sub-organization with this public key exists");
        reservations.push(call.proxy.api_keys.reserve(public_key).ok_or_else(exists)?);
        let mut found = account::find_all(call, "list_suborgs", "PUBLIC_KEY", public_key).await?;
        if is_wallet(key) {
            found = call.proxy.read(|world, _| auth_proxy::with_wallet_key(world, &found, public_key))?;
        }
        if !found.is_empty() {
            return Err(exists());
        }
    }
    Ok(reservations)
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
