//! Finds the sub-organization of a client.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::OrganizationId;
use quorate_core::auth_proxy;
use quorate_core::established::{self, Named};
use quorate_core::id_token::IdToken;
use quorate_core::model::layout::{self, Lookup};
use quorate_core::model::one_time_code::Contact;
use serde_json::{Map, Value, json};

use super::{Call, invalid};
use crate::clock;

/// Maximum number of sub-organizations with the same value that are compared.
const COMPARED: usize = 100;

/// Returns the sub-organization with a value. The member is absent if no sub-organization has it.
pub(super) async fn account(call: &Call<'_>) -> Result<Value, ApiError> {
    let filter = call.parameters.text("filterType")?;
    let value = call.parameters.text("filterValue")?;
    let found = match filter {
        "EMAIL" | "PHONE_NUMBER" => {
            if call.proxy.settings.needs_token_for_contacts {
                check_proven(call, filter, value).await?;
            } else {
                call.proxy.count_contact(value)?;
            }
            find(call, "list_verified_suborgs", filter, value).await?
        }
        "OIDC_TOKEN" | "OIDC_CLAIMS" => {
            call.check_oauth(Some(value).filter(|_| filter == "OIDC_TOKEN"))?;
            with_identity(call, filter, value).await?
        }
        "PUBLIC_KEY" => {
            let ids = with_credential(call, filter, value).await?;
            let key = value.to_ascii_lowercase();
            call.proxy
                .read(|world, _| auth_proxy::oldest(world, &auth_proxy::with_key(world, &ids, &key)?))?
        }
        "CREDENTIAL_ID" => {
            let ids = with_credential(call, filter, value).await?;
            call.proxy.read(|world, _| {
                auth_proxy::oldest(world, &established::that_count(world, &ids, Named::Passkey(value))?)
            })?
        }
        _ => return Err(invalid("invalid request body: `filterType`: unknown name")),
    };
    Ok(found.map_or_else(|| json!({}), |id| json!({"organizationId": id})))
}

/// Returns the sub-organization that counts for a person with an identity.
pub(super) async fn with_identity(
    call: &Call<'_>,
    filter: &str,
    value: &str,
) -> Result<Option<OrganizationId>, ApiError> {
    let identities = identities(filter, value);
    let text = |[issuer, audience, subject]: &[String; 3]| layout::identity(issuer, audience, subject);
    let texts: Vec<String> = identities.iter().map(text).collect();
    let ids = found(call, (Lookup::OauthIdentity, &texts), filter, value).await?;
    call.proxy
        .read(|world, _| auth_proxy::oldest(world, &auth_proxy::with_identity(world, &ids, &identities)?))
}

/// Returns the sub-organizations with a public key or a credential id.
pub(super) async fn with_credential(
    call: &Call<'_>,
    filter: &str,
    value: &str,
) -> Result<Vec<OrganizationId>, ApiError> {
    let (lookup, text) = match filter {
        "PUBLIC_KEY" => (Lookup::PublicKey, value.to_ascii_lowercase()),
        _ => (Lookup::CredentialId, value.to_owned()),
    };
    found(call, (lookup, &[text]), filter, value).await
}

/// Returns the sub-organizations that a query finds, after those in which the credential is established. The query alone
/// would not find these behind many registrations by others.
async fn found(
    call: &Call<'_>,
    established: (Lookup, &[String]),
    filter: &str,
    value: &str,
) -> Result<Vec<OrganizationId>, ApiError> {
    let mut ids = call.proxy.read(|world, organization| {
        auth_proxy::established_in(world, organization.id(), established, COMPARED)
    })?;
    ids.extend(find_all(call, "list_suborgs", filter, value).await?);
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Returns the identities that a lookup names, each as issuer, audience and subject. The query has checked them.
fn identities(filter: &str, value: &str) -> Vec<[String; 3]> {
    if filter == "OIDC_TOKEN" {
        let Some(token) = IdToken::read(value) else { return Vec::new() };
        let of =
            |audience: &String| [token.issuer().to_owned(), audience.clone(), token.subject().to_owned()];
        return token.audiences().iter().map(of).collect();
    }
    let claims: Value = serde_json::from_str(value).unwrap_or_default();
    let claim = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    vec![["iss", "aud", "sub"].map(claim)]
}

/// Returns the oldest sub-organization that a query finds.
pub(super) async fn find(
    call: &Call<'_>,
    query: &str,
    filter: &str,
    value: &str,
) -> Result<Option<OrganizationId>, ApiError> {
    let ids = find_all(call, query, filter, value).await?;
    call.proxy.read(|world, _| auth_proxy::oldest(world, &ids))
}

/// Returns the sub-organizations that a query finds.
pub(super) async fn find_all(
    call: &Call<'_>,
    query: &str,
    filter: &str,
    value: &str,
) -> Result<Vec<OrganizationId>, ApiError> {
    let body = Map::from_iter([
        ("filterType".to_owned(), json!(filter)),
        ("filterValue".to_owned(), json!(value)),
        ("paginationOptions".to_owned(), json!({"limit": COMPARED.to_string()})),
    ]);
    let answer = call.query(query, body).await?;
    let ids = answer.get("organizationIds").and_then(Value::as_array).into_iter().flatten();
    Ok(ids.filter_map(|id| id.as_str()?.parse().ok()).collect())
}

/// Returns the contact that the verification token of a request proves.
pub(super) fn proven(call: &Call<'_>) -> Result<Contact, ApiError> {
    let token = call.parameters.text("verificationToken")?;
    let contact = call.proxy.read(|world, organization| {
        Ok(auth_proxy::proven_contact(world, organization.id(), token, clock::now()))
    })?;
    contact.ok_or_else(|| invalid("invalid verification token"))
}

async fn check_proven(call: &Call<'_>, filter: &str, value: &str) -> Result<(), ApiError> {
    let is_proven = if call.parameters.maybe_text("verificationToken")?.is_some() {
        match &proven(call)? {
            Contact::Email(email) => filter == "EMAIL" && email.as_str().eq_ignore_ascii_case(value),
            Contact::Phone(phone) => filter == "PHONE_NUMBER" && phone.as_str() == value,
        }
    } else if let Some(token) = call.parameters.maybe_text("oidcToken")? {
        filter == "EMAIL" && proven_email(call, token).await?.eq_ignore_ascii_case(value)
    } else {
        let message = "a lookup by a contact needs a token that proves it";
        return Err(ApiError::new(Code::PermissionDenied, message));
    };
    if is_proven { Ok(()) } else { Err(invalid("the token proves another contact")) }
}

/// Returns the email address that an ID token proves.
async fn proven_email(call: &Call<'_>, text: &str) -> Result<String, ApiError> {
    call.check_oauth(Some(text))?;
    let token = IdToken::read(text).ok_or_else(|| invalid("invalid OIDC token"))?;
    let settings = &call.proxy.settings;
    let is_accepted = settings.email_issuers.iter().any(|issuer| issuer == token.issuer())
        && (settings.client_ids.is_empty()
            || settings.client_ids.iter().any(|(_, id)| token.is_for_client(id)));
    let email = token.verified_email().filter(|_| is_accepted);
    let email = email.ok_or_else(|| invalid("the OIDC token proves no email address"))?;
    // The query verifies the token.
    find(call, "list_suborgs", "OIDC_TOKEN", text).await?;
    Ok(email.to_owned())
}
