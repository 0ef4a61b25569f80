//! Single private keys and their tags.

use quorate_common::ids::PrivateKeyId;
use quorate_common::json::Document;
use serde::Deserialize;

use super::{Asked, one, read, tags};
use crate::model::TagKind;
use crate::refusal::{Missing, Refusal};

/// One private key.
pub(super) fn get_private_key(asked: &Asked<'_>, value: &Document) -> Result<Vec<u8>, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Query {
        private_key_id: PrivateKeyId,
    }
    let query: Query = read(value)?;
    let key = asked.organization.private_key(query.private_key_id).ok_or(Missing::Thing("private key"))?;
    one("privateKey", &key.wire())
}

/// All private keys.
pub(super) fn list_private_keys(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    let mut keys: Vec<_> = asked.organization.private_keys().collect();
    keys.sort_by_key(|key| (key.created, key.id));
    one("privateKeys", &keys.into_iter().map(crate::model::PrivateKey::wire).collect::<Vec<_>>())
}

/// Tags of private keys.
pub(super) fn list_private_key_tags(asked: &Asked<'_>, _: &Document) -> Result<Vec<u8>, Refusal> {
    tags(asked, TagKind::PrivateKey, "privateKeyTags")
}
