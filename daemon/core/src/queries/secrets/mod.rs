//! Imported secrets. Answers never contain their values.

use super::prelude::*;

mod list_secrets;

pub(super) const ENTRIES: &[Entry] = &[entry::<list_secrets::ListSecrets>("list_secrets", "secrets")];
