//! Interfaces of smart contracts.

use super::Kind;

mod create_smart_contract_interface;
mod delete_smart_contract_interface;
mod section;

pub(super) const KINDS: &[Kind] =
    &[create_smart_contract_interface::KIND, delete_smart_contract_interface::KIND];
