//! Creates a tag and adds it to private keys.

use super::tag::PRIVATE_KEYS;
use crate::kinds::prelude::*;

pub(super) const KIND: Kind =
    Kind::new("CREATE_PRIVATE_KEY_TAG", "Create private key tag", |parameters, context| {
        PRIVATE_KEYS.describe_creation(parameters, "privateKeyTagName", "privateKeyIds", context)
    });
