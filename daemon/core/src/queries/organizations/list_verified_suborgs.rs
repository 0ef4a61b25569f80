//! Lists the ids of sub-organizations that have a user with a verified contact, page by page.
//!
//! - `{"filterType": "EMAIL", "filterValue": "nobody@house.example"}` is answered.
//! - `{"filterType": "NAME", "filterValue": "child"}` is refused with 400: invalid request body: `filterType`: unknown name
//! - `{"filterType": "EMAIL"}` is refused with 400: invalid request body: missing field `filterValue`

use super::{FILTER_LIMIT, Filters, matching, names};
use crate::model::layout::Lookup;
use crate::queries::prelude::*;

const FILTERS: &Filters = &[("EMAIL", Lookup::VerifiedEmail), ("PHONE_NUMBER", Lookup::VerifiedPhoneNumber)];

/// Returns a page of the ids of sub-organizations that have a user with a verified contact, the oldest first. If there
/// are more than 100, they are ordered by id.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListVerifiedSuborgs {
    /// Kind of contact.
    #[schemars(extend("enum" = names(FILTERS).collect::<Vec<_>>()))]
    filter_type: String,
    /// Contact of the user.
    #[schemars(length(max = FILTER_LIMIT))]
    filter_value: String,
    pagination_options: Option<Pagination>,
}

impl Query for ListVerifiedSuborgs {
    type Answer = Vec<OrganizationId>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<OrganizationId>, RequestError> {
        let pagination = self.pagination_options.unwrap_or_default();
        matching(context, FILTERS, &self.filter_type, &self.filter_value, &pagination)
    }
}
