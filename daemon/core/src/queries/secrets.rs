//! Secrets that were brought in. Their values are in no answer.

use std::cmp::Reverse;

use quorate_common::ids::SecretId;
use quorate_common::json::Document;
use serde::Deserialize;

use super::{Asked, Cursor, Pagination, one, read};
use crate::model::Secret;
use crate::refusal::{Intent, Refusal};

/// A page of secrets, newest first.
pub(super) fn list_secrets(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        pagination_options: Option<Pagination>,
    }
    let query: Query = read(value)?;
    let pagination = query.pagination_options.unwrap_or_default();
    let limit = pagination.limit()?;
    let mut secrets: Vec<&Secret> = asked.organization.secrets.iter().collect();
    secrets.sort_by_key(|secret| Reverse((secret.created, secret.id)));
    let place = |text: &str| -> Result<usize, Refusal> {
        let id: SecretId = text.parse().map_err(|_| Intent::Cursor)?;
        let place = secrets.iter().position(|secret| secret.id == id);
        Ok(place.ok_or(Intent::Cursor)?)
    };
    let from = match pagination.cursor()? {
        None => 0,
        Some(Cursor::After(text)) => place(text)?.saturating_add(1),
        Some(Cursor::Before(text)) => {
            let end = place(text)?;
            secrets.truncate(end);
            end.saturating_sub(limit)
        }
    };
    let page = secrets.into_iter().skip(from).take(limit);
    one("secrets", &page.map(Secret::wire).collect::<Vec<_>>())
}
