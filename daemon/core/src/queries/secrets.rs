//! Queries of imported secrets. Answers never contain their values.

use std::cmp::Reverse;

use quorate_common::ids::SecretId;
use quorate_common::json::Document;
use serde::Deserialize;

use super::{Cursor, Pagination, QueryContext, one, read};
use crate::error::{Intent, RequestError};
use crate::model::Secret;

/// Answers with a page of secrets, newest first.
pub(super) fn list_secrets(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        pagination_options: Option<Pagination>,
    }
    let query: Query = read(value)?;
    let pagination = query.pagination_options.unwrap_or_default();
    let limit = pagination.limit()?;
    let mut secrets: Vec<&Secret> = context.organization.secrets.iter().collect();
    secrets.sort_by_key(|secret| Reverse((secret.created, secret.id)));
    let position = |text: &str| -> Result<usize, RequestError> {
        let id: SecretId = text.parse().map_err(|_| Intent::Cursor)?;
        let found = secrets.iter().position(|secret| secret.id == id);
        Ok(found.ok_or(Intent::Cursor)?)
    };
    let from = match pagination.cursor()? {
        None => 0,
        Some(Cursor::After(text)) => position(text)?.saturating_add(1),
        Some(Cursor::Before(text)) => {
            let end = position(text)?;
            secrets.truncate(end);
            end.saturating_sub(limit)
        }
    };
    let page = secrets.into_iter().skip(from).take(limit);
    one("secrets", &page.map(Secret::wire).collect::<Vec<_>>())
}
