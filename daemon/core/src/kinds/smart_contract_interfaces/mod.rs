//! Interfaces of smart contracts.

use super::prelude::*;

mod create_smart_contract_interface;
mod delete_smart_contract_interface;

pub(super) const ENTRIES: &[Entry] =
    &[entry::<create_smart_contract_interface::Intent>(), entry::<delete_smart_contract_interface::Intent>()];
