//! `paginationOptions`: the limit as a string, and ids as cursors.

use quorate_common::bounded::Decimal;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Intent, RequestError};

/// Default page size.
const PAGE_DEFAULT: usize = 10;
/// Maximum page size.
const PAGE_LIMIT: usize = 100;

/// Which page of a list is requested.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct Pagination {
    /// Number of elements: 1 to 100, 10 by default.
    limit: Option<Decimal>,
    /// Id of the element immediately after the page. An empty text counts as absent.
    #[schemars(length(max = 36))]
    before: Option<String>,
    /// Id of the element immediately before the page. An empty text counts as absent.
    #[schemars(length(max = 36))]
    after: Option<String>,
}

impl Pagination {
    /// Returns the page size: 1 to 100, 10 by default.
    pub(super) fn limit(&self) -> Result<usize, RequestError> {
        match self.limit.map(|limit| usize::try_from(limit.0).unwrap_or(usize::MAX)) {
            None | Some(0) => Ok(PAGE_DEFAULT),
            Some(limit) if limit <= PAGE_LIMIT => Ok(limit),
            Some(_) => {
                let text = "invalid request body: `paginationOptions.limit`: expected 1 to 100";
                Err(Intent::Text(text).into())
            }
        }
    }

    /// Finds the element next to the page, if a cursor is given. Also returns whether the page ends before
    /// that element, rather than starting after it.
    pub(super) fn cursor<T>(
        &self,
        find: impl Fn(&str) -> Result<T, RequestError>,
    ) -> Result<(Option<T>, bool), RequestError> {
        let [before, after] =
            [&self.before, &self.after].map(|text| text.as_deref().filter(|text| !text.is_empty()));
        if before.is_some() && after.is_some() {
            let text = "invalid request body: `paginationOptions` must not have both `before` and `after`";
            return Err(Intent::Text(text).into());
        }
        Ok((before.or(after).map(find).transpose()?, before.is_some()))
    }
}
