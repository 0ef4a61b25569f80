//! Authorizations (EIP-7702): an account lets the code of a contract act for it.

use quorate_chain::address::of_account;
use quorate_chain::authorization::Authorization;
use quorate_policy::Integer;

use super::recipient::Recipients;
use crate::kinds::prelude::*;

/// Returns the authorization as text.
pub(super) fn describe(authorization: &Authorization) -> String {
    let (chain, nonce) = (chain(authorization), authorization.nonce());
    if authorization.is_revocation() {
        format!(
            "an authorization that removes the code that acts for the account, on {chain}, with nonce {nonce}"
        )
    } else {
        let to = of_account(authorization.address());
        format!(
            "an authorization that lets the code of {to} act for the account, on {chain}, with nonce {nonce}"
        )
    }
}

/// Returns the authorization in a few words.
pub(super) fn brief(authorization: &Authorization) -> String {
    if authorization.is_revocation() {
        "revoke delegation".to_owned()
    } else {
        format!("delegate to {}", of_account(authorization.address()))
    }
}

/// Adds the members of the authorization as facts, and its flags.
pub(in crate::kinds) fn add_details(
    authorization: &Authorization,
    label: &str,
    recipients: &mut Recipients<'_>,
    description: &mut Description,
) {
    let to = of_account(authorization.address());
    description.fact(&format!("{label}address"), to.clone());
    description.fact(&format!("{label}chainId"), authorization.chain_id().to_string());
    description.fact(&format!("{label}nonce"), authorization.nonce().to_string());
    if !authorization.is_revocation() {
        recipients.add(&format!("{label}address, in full"), &to, description);
    }
    if authorization.is_revocation() {
        let text = format!("{label}Removes the code of the account, whatever it was used for.");
        description.flag_medium("revokes-delegation", text);
    } else {
        let text = format!(
            "{label}Gives away the account: the code of {to} can then move everything that it holds."
        );
        description.flag_with_word("delegates", text, "DELEGATES");
    }
    if is_for_any_chain(authorization) {
        description.flag_with_word(
            "any-chain",
            format!("{label}Applies on every chain: it names none."),
            "ANY",
        );
    }
}

fn is_for_any_chain(authorization: &Authorization) -> bool {
    authorization.chain_id() == Integer::ZERO
}

fn chain(authorization: &Authorization) -> String {
    if is_for_any_chain(authorization) {
        "ANY chain".to_owned()
    } else {
        format!("chain {}", authorization.chain_id())
    }
}
