//! Lists the ids of sub-organizations, all or those that match a filter, page by page, the oldest first.
//!
//! - `{}` is answered.
//! - `{"filterType": "NAME", "filterValue": "child"}` is answered.
//! - `{"filterType": "COLOR"}` is refused with 400: invalid request body: `filterType`: unknown name
//! - `{"filterType": "OIDC_CLAIMS", "filterValue": "{\"iss\": \"https://issuer.example\", \"sub\": \"s\", \"aud\": \"a\"}"}` is answered.
//! - `{"filterType": "OIDC_CLAIMS", "filterValue": "{}"}` is refused with 400: invalid OIDC token
//! - `{"filterType": "OIDC_TOKEN", "filterValue": "a.b.c"}` is refused with 400: invalid OIDC token

use quorate_common::json;

use super::{Filters, having, matching, names};
use crate::id_token::{IdToken, MALFORMED};
use crate::model::layout::{self, Lookup};
use crate::queries::prelude::*;
use crate::records;
use crate::world::{Order, Page};

const FILTERS: &Filters = &[
    ("NAME", Lookup::Name),
    ("USERNAME", Lookup::Username),
    ("EMAIL", Lookup::Email),
    ("PHONE_NUMBER", Lookup::PhoneNumber),
    ("CREDENTIAL_ID", Lookup::CredentialId),
    ("PUBLIC_KEY", Lookup::PublicKey),
    ("WALLET_ACCOUNT_ADDRESS", Lookup::WalletAccountAddress),
];

/// Name of the filter by the identity that an ID token proves.
const TOKEN: &str = "OIDC_TOKEN";
/// Name of the filter by the claims of an identity, in JSON.
const CLAIMS: &str = "OIDC_CLAIMS";
/// Maximum length of an ID token, in bytes.
const TOKEN_LIMIT: usize = 16 * 1024;

/// Returns a page of the ids of sub-organizations, the oldest first. Those in which the credential of a filter is established
/// precede the others. If a filter matches more than 100, the others are ordered by id.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListSuborgs {
    /// Values by which sub-organizations are found; empty for all sub-organizations.
    #[serde(default)]
    #[schemars(extend("enum" = ["", TOKEN, CLAIMS].into_iter().chain(names(FILTERS)).collect::<Vec<_>>()))]
    filter_type: String,
    /// Value that they have.
    #[serde(default)]
    #[schemars(length(max = TOKEN_LIMIT))]
    filter_value: String,
    pagination_options: Option<Pagination>,
}

impl Query for ListSuborgs {
    type Answer = Vec<OrganizationId>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<OrganizationId>, RequestError> {
        let pagination = self.pagination_options.unwrap_or_default();
        match self.filter_type.as_str() {
            "" => children(context, &pagination),
            TOKEN => {
                having(context, Lookup::OauthIdentity, &proven(context, &self.filter_value)?, &pagination)
            }
            CLAIMS => having(context, Lookup::OauthIdentity, &[claimed(&self.filter_value)?], &pagination),
            name => matching(context, FILTERS, name, &self.filter_value, &pagination),
        }
    }
}

/// Returns the identities that a token may prove, as the index contains them.
fn proven(context: &QueryContext<'_>, token: &str) -> Result<Vec<String>, RequestError> {
    let token = IdToken::read(token).ok_or(Intent::OidcToken(MALFORMED))?;
    let keys = context.world.issuer_keys(token.issuer(), token.key_id())?;
    token.check(&keys, context.now).map_err(Intent::OidcToken)?;
    Ok(token.identities())
}

/// Returns the identity with these claims, as the index contains it.
fn claimed(claims: &str) -> Result<String, RequestError> {
    #[derive(Deserialize)]
    struct Claims {
        iss: String,
        aud: String,
        sub: String,
    }
    let claims = json::parse(claims.as_bytes()).ok().and_then(|claims| serde_json::from_value(claims).ok());
    let Claims { iss, aud, sub } =
        claims.ok_or(Intent::OidcToken("the claims are not JSON with `iss`, `aud` and `sub`"))?;
    Ok(layout::identity(&iss, &aud, &sub))
}

fn children(
    context: &QueryContext<'_>,
    pagination: &Pagination,
) -> Result<Vec<OrganizationId>, RequestError> {
    let (after, is_before) = pagination.cursor(|text| {
        let id: OrganizationId = text.parse().map_err(|_| Intent::Cursor)?;
        // A sub-organization that was deleted since still has its position in the order.
        let child = records::head(context.world.records(), id)?;
        let child = child.filter(|child| child.parent == Some(context.id())).ok_or(Intent::Cursor)?;
        Ok(layout::child(context.id(), child.created, id))
    })?;
    let order = if is_before { Order::Descending } else { Order::Ascending };
    let (prefix, limit) = (layout::children(context.id()), pagination.limit()?);
    let keys =
        context.world.records().keys(Page { prefix: &prefix, after: after.as_deref(), order, limit })?;
    let mut ids: Vec<_> = keys.iter().filter_map(|key| layout::organization_id(key)).collect();
    if is_before {
        ids.reverse();
    }
    Ok(ids)
}
