//! Describes the permissions that a Tron account gets.

use quorate_chain::address::of_tron_account;
use quorate_chain::transaction::{TronPermission, TronPermissionKind};

use crate::kinds::prelude::*;
use crate::text::grouped;

/// The contract types of the protocol, by number. The omitted numbers were never used.
const CONTRACTS: [(usize, &str); 38] = [
    (0, "AccountCreate"),
    (1, "Transfer"),
    (2, "TransferAsset"),
    (3, "VoteAsset"),
    (4, "VoteWitness"),
    (5, "WitnessCreate"),
    (6, "AssetIssue"),
    (8, "WitnessUpdate"),
    (9, "ParticipateAssetIssue"),
    (10, "AccountUpdate"),
    (11, "FreezeBalance"),
    (12, "UnfreezeBalance"),
    (13, "WithdrawBalance"),
    (14, "UnfreezeAsset"),
    (15, "UpdateAsset"),
    (16, "ProposalCreate"),
    (17, "ProposalApprove"),
    (18, "ProposalDelete"),
    (19, "SetAccountId"),
    (20, "Custom"),
    (30, "CreateSmartContract"),
    (31, "TriggerSmartContract"),
    (32, "GetContract"),
    (33, "UpdateSetting"),
    (41, "ExchangeCreate"),
    (42, "ExchangeInject"),
    (43, "ExchangeWithdraw"),
    (44, "ExchangeTransaction"),
    (45, "UpdateEnergyLimit"),
    (46, "AccountPermissionUpdate"),
    (48, "ClearABI"),
    (49, "UpdateBrokerage"),
    (54, "FreezeBalanceV2"),
    (55, "UnfreezeBalanceV2"),
    (56, "WithdrawExpireUnfreeze"),
    (57, "DelegateResource"),
    (58, "UnDelegateResource"),
    (59, "CancelAllUnfreezeV2"),
];

/// Adds all permissions that `account` will have, the owner permission first, and the flags.
pub(super) fn add_permissions<'a>(
    account: &[u8; 20],
    owner: Option<&'a TronPermission>,
    others: impl Iterator<Item = &'a TronPermission>,
    description: &mut Description,
) {
    description.flag_with_word(
        "account-permissions",
        "Gives away the account: the holders of the owner keys below can do anything with it.",
        "PERMISSIONS",
    );
    flag_own_key(account, owner, description);
    for permission in owner.into_iter().chain(others) {
        let name = format!("{} permission {}", permission.kind.name(), permission.id);
        description.fact(&name, format!("{}, {}", quoted(&permission.name), needed(permission)));
        for (number, (address, weight)) in (1..).zip(&permission.keys) {
            let own = if address == account { ", the account's own" } else { "" };
            let key = grouped(&of_tron_account(address));
            description.fact(&format!("{name}, key {number}"), format!("{key}, weight {weight}{own}"));
        }
        if permission.kind == TronPermissionKind::Active {
            description.fact(&format!("{name} can sign"), allowed(&permission.operations));
        }
    }
}

/// Flags an owner permission that the account's own key does not meet alone.
fn flag_own_key(account: &[u8; 20], owner: Option<&TronPermission>, description: &mut Description) {
    let own = |owner: &TronPermission| {
        let mut keys = owner.keys.iter();
        keys.find(|(address, _)| address == account).map(|(_, weight)| *weight >= owner.threshold)
    };
    match owner.and_then(own) {
        Some(true) => {}
        Some(false) => description.flag_high(
            "account-key",
            "The account's own key alone is no longer enough to control the account.",
        ),
        None => {
            description.flag_high("account-key", "The account's own key LOSES all control of the account.");
        }
    }
}

/// Returns the threshold of a permission and the total weight of its keys.
fn needed(permission: &TronPermission) -> String {
    let there = permission.keys.iter().fold(0_u64, |sum, (_, weight)| sum.saturating_add(*weight));
    let parent = match permission.parent_id {
        0 => String::new(),
        parent => format!(", below permission {parent}"),
    };
    format!("threshold {}, total weight {there}{parent}", permission.threshold)
}

/// Returns the contract types whose bits are set.
fn allowed(operations: &[u8]) -> String {
    let bits = operations.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
    let numbers = bits.enumerate().filter_map(|(number, set)| set.then_some(number));
    let names: Vec<String> = numbers.map(contract).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(" ") }
}

fn contract(number: usize) -> String {
    let known = CONTRACTS.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("type-{number}"), |(_, name)| (*name).to_owned())
}
