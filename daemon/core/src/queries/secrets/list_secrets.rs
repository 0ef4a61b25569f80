//! Lists imported secrets, page by page. The answer never contains their values.
//!
//! - `{}` is answered.
//! - `{"paginationOptions": {"after": "$unknown"}}` is refused with 400: invalid request body: the cursor does not refer to an item of this list

use std::cmp::Reverse;

use crate::queries::prelude::*;

/// Returns a page of imported secrets, newest first, without their values.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListSecrets {
    pagination_options: Option<Pagination>,
}

impl Query for ListSecrets {
    type Answer = Vec<wire::Secret>;

    fn answer(self, context: &QueryContext<'_>) -> Result<Vec<wire::Secret>, RequestError> {
        let pagination = self.pagination_options.unwrap_or_default();
        let limit = pagination.limit()?;
        let mut secrets: Vec<&Secret> = context.organization.records.secrets.iter().collect();
        secrets.sort_by_key(|secret| Reverse((secret.created, secret.id)));
        let (position, is_before) = pagination.cursor(|text| {
            let id: SecretId = text.parse().map_err(|_| Intent::Cursor)?;
            Ok(secrets.iter().position(|secret| secret.id == id).ok_or(Intent::Cursor)?)
        })?;
        let from = match position {
            None => 0,
            Some(end) if is_before => {
                secrets.truncate(end);
                end.saturating_sub(limit)
            }
            Some(position) => position.saturating_add(1),
        };
        Ok(secrets.into_iter().skip(from).take(limit).map(Secret::wire).collect())
    }
}
