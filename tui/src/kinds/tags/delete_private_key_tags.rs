//! Deletes tags of private keys.

use super::tag::PRIVATE_KEYS;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("DELETE_PRIVATE_KEY_TAGS", "Delete private key tags", |parameters, context| {
        PRIVATE_KEYS.describe_deletion(parameters, "privateKeyTagIds", context)
    });
