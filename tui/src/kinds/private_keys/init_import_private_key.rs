//! Creates a key to which a private key can be encrypted for its import.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_import::describe_preparation;

pub(super) const KIND: Kind =
    Kind::new("INIT_IMPORT_PRIVATE_KEY", "Prepare private key import", |parameters, context| {
        describe_preparation("one private key", parameters, context)
    });
