//! Creates a key to which a wallet can be encrypted for its import.

use crate::kinds::prelude::*;
use crate::kinds::shared::key_import::describe_preparation;

pub(super) const KIND: Kind =
    Kind::new("INIT_IMPORT_WALLET", "Prepare wallet import", |parameters, context| {
        describe_preparation("one wallet", parameters, context)
    });
