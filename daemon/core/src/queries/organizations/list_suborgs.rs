//! Lists the ids of sub-organizations, all or those that match a filter, page by page.
//!
//! - `{}` is answered.
//! - `{"filterType": "NAME", "filterValue": "child"}` is answered.
//! - `{"filterType": "COLOR"}` is refused with 400: invalid request body: `filterType`: unknown name
//! - `{"filterType": "OIDC_TOKEN"}` is refused with 501: unimplemented: sub-organizations cannot be filtered by OIDC token

use super::{FILTER_LIMIT, Filters, matching, names};
use crate::error::Unimplemented;
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

/// Returns a page of the ids of sub-organizations.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListSuborgs {
    /// Values by which sub-organizations are found; empty for all sub-organizations.
    #[serde(default)]
    #[schemars(extend("enum" = [""].into_iter().chain(names(FILTERS)).collect::<Vec<_>>()))]
    filter_type: String,
    /// Value that they have.
    #[serde(default)]
    #[schemars(length(max = FILTER_LIMIT))]
    filter_value: String,
    pagination_options: Option<Pagination>,
}

impl Query for ListSuborgs {
    type Answer = Vec<OrganizationId>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<OrganizationId>, RequestError> {
        let pagination = self.pagination_options.unwrap_or_default();
        match self.filter_type.as_str() {
            "" => children(context, &pagination),
            "OIDC_TOKEN" => {
                let text = "sub-organizations cannot be filtered by OIDC token";
                Err(Unimplemented::Feature(text.to_owned()).into())
            }
            name => matching(context, FILTERS, name, &self.filter_value, &pagination),
        }
    }
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
