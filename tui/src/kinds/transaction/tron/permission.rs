//! Who may sign for an account of Tron from then on.

use quorate_chain::address::of_tron_account;
use quorate_chain::transaction::{TronPermission, TronPermissionKind};

use crate::kinds::{Level, Story};
use crate::text::{grouped, quoted};

/// The types of contracts of the protocol, by number. Those that are left out have never been.
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

/// Tells all permissions that `account` has from then on: that of its owner, and the others.
pub(super) fn told<'a>(
    account: &[u8; 20],
    owner: Option<&'a TronPermission>,
    others: impl Iterator<Item = &'a TronPermission>,
    story: &mut Story,
) {
    story.flag(
        Level::High,
        "account-permissions",
        "hands the account to these keys: whoever holds those of the owner can do anything with it",
    );
    story.danger("the word PERMISSIONS", "PERMISSIONS");
    own_key(account, owner, story);
    for permission in owner.into_iter().chain(others) {
        let name = format!("{} permission {}", permission.kind.name(), permission.id);
        story.fact(&name, format!("{}, {}", quoted(&permission.name), needed(permission)));
        for (place, (address, weight)) in (1..).zip(&permission.keys) {
            let own = if address == account { ", the account's own" } else { "" };
            let key = grouped(&of_tron_account(address));
            story.fact(&format!("{name}, key {place}"), format!("{key}, weight {weight}{own}"));
        }
        if permission.kind == TronPermissionKind::Active {
            story.fact(&format!("{name} signs"), allowed(&permission.operations));
        }
    }
}

/// Tells if the key of the account itself is no longer enough for everything.
fn own_key(account: &[u8; 20], owner: Option<&TronPermission>, story: &mut Story) {
    let own = |owner: &TronPermission| {
        let mut keys = owner.keys.iter();
        keys.find(|(address, _)| address == account).map(|(_, weight)| *weight >= owner.threshold)
    };
    match owner.and_then(own) {
        Some(true) => {}
        Some(false) => story.flag(Level::High, "account-key", "the account's own key is not enough any more"),
        None => story.flag(Level::High, "account-key", "the account's own key LOSES all control of it"),
    }
}

/// How much weight is needed, and how much there is.
fn needed(permission: &TronPermission) -> String {
    let there = permission.keys.iter().fold(0_u64, |sum, (_, weight)| sum.saturating_add(*weight));
    let parent = match permission.parent_id {
        0 => String::new(),
        parent => format!(", below permission {parent}"),
    };
    format!("threshold {}, the weights come to {there}{parent}", permission.threshold)
}

/// The types of contracts that the bits stand for.
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
