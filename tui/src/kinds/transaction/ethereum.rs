//! Transactions of Ethereum.

use quorate_chain::address::of_account;
use quorate_chain::transaction::Ethereum;
use quorate_policy::Integer;

use crate::kinds::{Level, Story};
use crate::text::grouped;

/// What approves that another moves tokens: the first bytes of its calls (ERC-20, ERC-721).
const APPROVALS: [([u8; 4], &str); 3] = [
    ([0x09, 0x5e, 0xa7, 0xb3], "approve"),
    ([0x39, 0x50, 0x93, 0x51], "increaseAllowance"),
    ([0xa2, 0x2c, 0xb4, 0x65], "setApprovalForAll"),
];
/// The first bytes of the call that moves tokens (ERC-20).
const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];
/// Gas that a plain transfer takes.
const TRANSFER_GAS: u64 = 21_000;

pub(super) fn told(transaction: &Ethereum, signer: &str) -> Story {
    let value = ether(&transaction.value());
    let chain =
        transaction.chain_id().map_or_else(|| "ANY chain".to_owned(), |chain| format!("chain {chain}"));
    let to = transaction.to().map(|to| of_account(&to));
    let data = transaction.data();
    let what = match (&to, data.is_empty()) {
        (None, _) => format!("create a contract from {} bytes of code, with {value} ETH", data.len()),
        (Some(to), true) => format!("send {value} ETH to {to}"),
        (Some(to), false) => format!("call {to} with {} bytes of data and {value} ETH", data.len()),
    };
    let mut story = Story::new(
        format!("{value} ETH to {}", to.as_deref().unwrap_or("a new contract")),
        format!("Sign a transaction with {signer} that would {what}, on {chain}."),
    );
    if let Some(to) = &to {
        story.fact("to, in full", grouped(to.trim_start_matches("0x")));
    }
    let (most, tip) = transaction.fees();
    let cost = u128::from(transaction.gas()).checked_mul(most);
    let cost = cost.map_or_else(|| "more than can be".to_owned(), |cost| ether(&wide(cost)));
    story.fact(
        "fee at most",
        format!("{cost} ETH: {} gas at {most} wei each{}", transaction.gas(), tipped(tip)),
    );
    story.fact("nonce", transaction.nonce().to_string());
    story.fact("kind", transaction.kind().to_owned());
    rest(transaction, &mut story);
    story.fact("digest, computed here", grouped(&const_hex::encode(transaction.digest())));
    story
}

fn tipped(tip: Option<u128>) -> String {
    tip.map_or_else(String::new, |tip| format!(", of which {tip} at most for whoever includes it"))
}

/// What is not the plain transfer of some ether.
fn rest(transaction: &Ethereum, story: &mut Story) {
    let data = transaction.data();
    if !data.is_empty() {
        story.fact("data", const_hex::encode_prefixed(data));
    }
    let called = data.first_chunk::<4>();
    let tokens = tokens(data);
    let approval = APPROVALS.iter().find(|(selector, _)| Some(selector) == called);
    if let Some((_, name)) = approval {
        story.flag(
            Level::High,
            "token-approval",
            format!("calls {name}: another may move tokens from then on"),
        );
        story.danger("the word APPROVAL", "APPROVAL");
        if let Some((whom, amount)) = tokens {
            story.fact("lets move", format!("{} by {whom}", units(&amount)));
        }
    } else if let Some((whom, amount)) = tokens.filter(|_| called == Some(&TRANSFER)) {
        story.fact("tokens", format!("{} to {whom}, if the contract is one of tokens", units(&amount)));
    } else if !data.is_empty() && transaction.to().is_some() {
        story.flag(Level::High, "unknown-call", "calls a contract with data that is not decoded here");
        story.danger("the word UNDECODED", "UNDECODED");
    }
    if transaction.to().is_none() {
        story.flag(Level::High, "creates-contract", "creates a contract whose code is not looked into here");
        story.danger("the word CONTRACT", "CONTRACT");
    }
    if transaction.chain_id().is_none() {
        story.flag(Level::High, "any-chain", "names no chain: it can be sent on every one");
        story.danger("the word ANY", "ANY");
    }
    let (access, blobs, authorizations) = transaction.extras();
    if access > 0 {
        story.fact("access list", format!("{access} addresses"));
    }
    if blobs > 0 {
        story.fact("blobs", blobs.to_string());
    }
    if authorizations > 0 {
        story.flag(
            Level::High,
            "delegates",
            format!("sets the code of {authorizations} accounts (EIP-7702)"),
        );
        story.danger("the word DELEGATES", "DELEGATES");
    }
    if data.is_empty() && transaction.gas() > TRANSFER_GAS {
        story.fact("gas", format!("more than the {TRANSFER_GAS} of a plain transfer"));
    }
    story.flag(Level::Med, "moves-funds", "moves funds, or acts for whoever holds the address");
}

/// The address and the number of a call that has exactly these two arguments.
fn tokens(data: &[u8]) -> Option<(String, [u8; 32])> {
    let arguments = data.get(4..).filter(|arguments| arguments.len() == 64)?;
    let (whom, amount) = arguments.split_at_checked(32)?;
    let (zeros, whom) = whom.split_at_checked(12)?;
    let whom: &[u8; 20] = whom.try_into().ok()?;
    let amount = amount.try_into().ok()?;
    zeros.iter().all(|byte| *byte == 0).then(|| (of_account(whom), amount))
}

/// How many of the smallest parts of a token.
fn units(amount: &[u8; 32]) -> String {
    if amount.first().is_some_and(|first| *first >= 0x80) {
        return "[!] WITHOUT LIMIT".to_owned();
    }
    let number = Integer::from_be_bytes(amount).map(|number| number.to_string()).unwrap_or_default();
    format!("{number} of the token's smallest parts")
}

fn wide(number: u128) -> [u8; 32] {
    let mut bytes = [0; 32];
    if let Some(low) = bytes.last_chunk_mut::<16>() {
        *low = number.to_be_bytes();
    }
    bytes
}

/// An amount of wei in ether, exactly.
fn ether(wei: &[u8; 32]) -> String {
    const DECIMALS: usize = 18;
    let digits = Integer::from_be_bytes(wei).map(|number| number.to_string()).unwrap_or_default();
    let digits = format!("{digits:0>width$}", width = DECIMALS + 1);
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(DECIMALS));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
