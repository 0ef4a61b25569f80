//! Queries of private keys and their tags.

use quorate_common::ids::PrivateKeyId;
use quorate_common::json::Document;
use serde::Deserialize;

use super::{QueryContext, one, read, tags};
use crate::error::{Missing, RequestError};
use crate::model::TagKind;

/// Answers with one private key.
pub(super) fn get_private_key(context: &QueryContext<'_>, value: &Document) -> Result<Vec<u8>, RequestError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        private_key_id: PrivateKeyId,
    }
    let query: Query = read(value)?;
    let key = context.organization.private_key(query.private_key_id).ok_or(Missing::Other("private key"))?;
    one("privateKey", &key.wire())
}

/// Answers with all private keys, oldest first.
pub(super) fn list_private_keys(context: &QueryContext<'_>, _: &Document) -> Result<Vec<u8>, RequestError> {
    let mut keys: Vec<_> = context.organization.private_keys().collect();
    keys.sort_by_key(|key| (key.created, key.id));
    one("privateKeys", &keys.into_iter().map(crate::model::PrivateKey::wire).collect::<Vec<_>>())
}

/// Answers with all tags of private keys.
pub(super) fn list_private_key_tags(
    context: &QueryContext<'_>,
    _: &Document,
) -> Result<Vec<u8>, RequestError> {
    tags(context, TagKind::PrivateKey, "privateKeyTags")
}
