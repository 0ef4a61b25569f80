//! Deletes authenticators of a user.

use super::credential::{CredentialType, describe_deleted};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_AUTHENTICATORS", "Delete authenticators", |parameters, context| {
        describe_deleted(parameters, "authenticatorIds", &TYPE, context)
    });

const TYPE: CredentialType = CredentialType {
    noun: "authenticator",
    names: |user| {
        let all = user.authenticators.iter();
        all.map(|one| (one.authenticator_id.to_string(), one.authenticator_name.as_str())).collect()
    },
    remove: |user, is_deleted| {
        user.authenticators.retain(|one| !is_deleted(&one.authenticator_id.to_string()));
    },
};
