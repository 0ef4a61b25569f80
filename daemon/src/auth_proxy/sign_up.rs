//! Creates sub-organizations for new clients.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::stamp::ApiKeyCurve;
use quorate_core::auth_proxy;
use quorate_core::established::Named;
use quorate_core::id_token::IdToken;
use quorate_core::model::one_time_code::Contact;
use serde_json::{Map, Value, json};

use super::credentials::Reservation;
use super::request::Parameters;
use super::settings::Method;
use super::{Call, account, disallowed, invalid};
use crate::clock;

/// Curve of the API keys that are not wallet keys.
const API_KEY_CURVE: &str = "API_KEY_CURVE_P256";
/// Maximum number of API keys and of passkeys of a sign-up, each of which is looked up.
const CREDENTIALS: usize = 8;
/// Maximum number of accounts of the wallet of a sign-up.
const ACCOUNTS: usize = 16;

/// Creates a sub-organization with one root user.
pub(super) async fn sign_up(call: &Call<'_>, is_v2: bool) -> Result<Value, ApiError> {
    check(call)?;
    check_wallet(call)?;
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
    let (proxy, organization) = (call.proxy, call.proxy.settings.organization);
    if !proxy.sign_ups.take(call.client, clock::now()) {
        let message = "Too many sign-ups from this address (`sign_ups_per_address`). Please try again later";
        return Err(ApiError::new(Code::ResourceExhausted, message).reason("RATE_LIMIT_EXCEEDED"));
    }
    let created = call.submit_then(organization, version, parameters, |_| drop(reservations)).await;
    if created.is_err() {
        proxy.sign_ups.give_back(&call.client);
    }
    let created = created?;
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
    let own_clients = call.own_clients()?;
    for identity in parameters.items("oauthProviders") {
        call.check_oauth(identity.get("oidcToken").and_then(Value::as_str))?;
        let claim = |name| identity.pointer(name).and_then(Value::as_str).unwrap_or_default();
        let is_claimed = identity.get("oidcClaims").is_some_and(|claims| !claims.is_null());
        let (issuer, audience) = (claim("/oidcClaims/iss"), claim("/oidcClaims/aud"));
        if is_claimed {
            let audiences = [audience.to_owned()];
            disallowed::check_client(&call.proxy.settings, issuer, &audiences, &own_clients)?;
        }
    }
    let proven = if has_token { Some(account::proven(call)?) } else { None };
    if let Some(contact) = &proven {
        call.check_method(Method::of(contact))?;
    }
    check_contacts(parameters, proven.as_ref())?;
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

/// Checks that a sign-up has no contact without a token that may prove it: codes to a contact open sessions, so an unproven
/// one beside the public key of somebody else would be a second way in. Whether the token proves the contact is checked
/// when the organization is created.
fn check_contacts(parameters: &Parameters, proven: Option<&Contact>) -> Result<(), ApiError> {
    let provable = match proven {
        Some(Contact::Email(_)) => "userEmail",
        Some(Contact::Phone(_)) => "userPhoneNumber",
        None => "",
    };
    for name in ["userEmail", "userPhoneNumber"] {
        let has_contact = parameters.maybe_text(name)?.is_some_and(|text| !text.is_empty());
        if has_contact && name != provable {
            let message = format!("a sign-up needs a verification token that proves `{name}`");
            return Err(ApiError::new(Code::PermissionDenied, message));
        }
    }
    Ok(())
}

fn is_wallet(key: &Value) -> bool {
    key.get("curveType").is_some_and(|curve| curve != API_KEY_CURVE)
}

/// Reserves the API keys and the passkeys of a sign-up, and checks that nobody has signed up with them. Otherwise, anyone
/// who knows a public key could keep its owner from being found by it, and a sign-up that is sent twice would have two
/// sub-organizations. The text of a wallet key can be a key on P-256 too, which proves nothing and must not keep the
/// wallet from signing up.
async fn reserve(call: &Call<'_>) -> Result<Vec<Reservation>, ApiError> {
    let (keys, passkeys) = (call.parameters.items("apiKeys"), call.parameters.items("authenticators"));
    for (list, items) in [("apiKeys", keys), ("authenticators", passkeys)] {
        if items.len() > CREDENTIALS {
            return Err(invalid(format!("invalid request body: `{list}`: more than {CREDENTIALS} items")));
        }
    }
    let mut reservations = Vec::with_capacity(keys.len().saturating_add(passkeys.len()));
    for key in keys {
        let public_key = key.get("publicKey").and_then(Value::as_str);
        let public_key =
            public_key.ok_or_else(|| invalid("invalid request body: missing field `publicKey`"))?;
        // As keys are stored.
        let public_key = &public_key.to_ascii_lowercase();
        let exists = || ApiError::new(Code::AlreadyExists, "a sub-organization with this public key exists");
        reservations.push(call.proxy.credentials.reserve(public_key).ok_or_else(exists)?);
        let found = account::with_credential(call, "PUBLIC_KEY", public_key).await?;
        let is_taken = call.proxy.read(|world, _| {
            if is_wallet(key) {
                return Ok(!auth_proxy::with_wallet_key(world, &found, public_key)?.is_empty());
            }
            auth_proxy::is_registered(world, &found, Named::Key(ApiKeyCurve::P256, public_key))
        })?;
        if is_taken {
            return Err(exists());
        }
    }
    for passkey in passkeys {
        let id = passkey.pointer("/attestation/credentialId").and_then(Value::as_str);
        let id = id.ok_or_else(|| invalid("invalid request body: missing field `credentialId`"))?;
        // As ids are stored.
        let id = id.trim_end_matches('=');
        let exists = || ApiError::new(Code::AlreadyExists, "a sub-organization with this passkey exists");
        reservations.push(call.proxy.credentials.reserve(id).ok_or_else(exists)?);
        let found = account::with_credential(call, "CREDENTIAL_ID", id).await?;
        let is_taken =
            call.proxy.read(|world, _| auth_proxy::is_registered(world, &found, Named::Passkey(id)))?;
        if is_taken {
            return Err(exists());
        }
    }
    Ok(reservations)
}

/// Checks that a wallet has few accounts: anyone can sign up, and deriving accounts takes time from all organizations.
fn check_wallet(call: &Call<'_>) -> Result<(), ApiError> {
    let accounts = call.parameters.inner("wallet", "accounts").and_then(Value::as_array);
    if accounts.is_some_and(|accounts| accounts.len() > ACCOUNTS) {
        return Err(invalid(format!("invalid request body: `wallet.accounts`: more than {ACCOUNTS} items")));
    }
    Ok(())
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

    /// Checks that an OAuth provider is configured, and that an ID token comes from one and is for a configured client:
    /// every other application of the provider has tokens of its visitors, too. The issuer of a token is contacted before
    /// the token is verified, so anyone could have this service contact others.
    ///
    /// # Errors
    /// If no provider is configured, or the token has another issuer or audience.
    pub(super) fn check_oauth(&self, token: Option<&str>) -> Result<(), ApiError> {
        let (settings, own_clients) = (&self.proxy.settings, self.own_clients()?);
        if !settings.allows_oauth() {
            return Err(disallowed::unconfigured());
        }
        let token = token.and_then(IdToken::read);
        token.map_or(Ok(()), |token| disallowed::check(settings, &token, &own_clients))
    }

    /// Returns the client ids of the organization at OAuth 2.0 providers, if the daemon issues ID tokens for them.
    fn own_clients(&self) -> Result<Vec<String>, ApiError> {
        if self.proxy.settings.own_issuer.is_none() {
            return Ok(Vec::new());
        }
        self.proxy.read(|_, organization| {
            let credentials = organization.records.oauth2_credentials.iter();
            Ok(credentials.map(|one| one.client_id.clone()).collect())
        })
    }
}
