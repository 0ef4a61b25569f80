//! Deletes OAuth providers of a user.

use super::credential::{CredentialType, describe_deleted};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_OAUTH_PROVIDERS", "Delete OAuth providers", |parameters, context| {
        describe_deleted(parameters, "providerIds", &TYPE, context)
    });

const TYPE: CredentialType = CredentialType {
    noun: "OAuth provider",
    names: |user| {
        let all = user.oauth_providers.iter();
        all.map(|one| (one.provider_id.to_string(), one.provider_name.as_str())).collect()
    },
    remove: |user, is_deleted| {
        user.oauth_providers.retain(|one| !is_deleted(&one.provider_id.to_string()));
    },
};
