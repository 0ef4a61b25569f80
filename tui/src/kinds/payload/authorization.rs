//! Authorizations (EIP-7702): an account lets the code of a contract act for it.

use quorate_chain::address::of_account;
use quorate_chain::authorization::Authorization;
use quorate_policy::Integer;

use crate::kinds::transaction::recipient::Recipients;
use crate::kinds::{Level, Story};

/// The authorization in words.
pub(super) fn told(authorization: &Authorization) -> String {
    let (chain, nonce) = (chain(authorization), authorization.nonce());
    if authorization.is_revocation() {
        format!(
            "an authorization that takes the code away which acts for the account, on {chain}, with nonce {nonce}"
        )
    } else {
        let to = of_account(authorization.address());
        format!(
            "an authorization that lets the code of {to} act for the account, on {chain}, with nonce {nonce}"
        )
    }
}

/// The authorization in a few words.
pub(super) fn brief(authorization: &Authorization) -> String {
    if authorization.is_revocation() {
        "revoke delegation".to_owned()
    } else {
        format!("delegate to {}", of_account(authorization.address()))
    }
}

/// Adds its members, and what needs care about it.
pub(in crate::kinds) fn tell(
    authorization: &Authorization,
    label: &str,
    recipients: &mut Recipients<'_>,
    story: &mut Story,
) {
    let to = of_account(authorization.address());
    story.fact(&format!("{label}address"), to.clone());
    story.fact(&format!("{label}chainId"), authorization.chain_id().to_string());
    story.fact(&format!("{label}nonce"), authorization.nonce().to_string());
    if !authorization.is_revocation() {
        recipients.tell(&format!("{label}address, in full"), &to, story);
    }
    if authorization.is_revocation() {
        let text = format!("{label}the account has no code of its own any more, whatever it was used for");
        story.flag(Level::Med, "revokes-delegation", text);
    } else {
        let text =
            format!("{label}the code of {to} can move everything that the account holds, from then on");
        story.flag(Level::High, "delegates", text);
        story.danger("the word DELEGATES", "DELEGATES");
    }
    if is_for_any_chain(authorization) {
        story.flag(Level::High, "any-chain", format!("{label}names no chain: it holds on every one"));
        story.danger("the word ANY", "ANY");
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
