//! Calls of contracts that keep tokens, wherever they are called: ERC-20 and ERC-721, of which TRC-20 is a copy.

use quorate_policy::Integer;

use super::recipient::Recipients;
use crate::kinds::{Level, Story};

/// What approves that another moves tokens: the first bytes of its calls (ERC-20, ERC-721).
const APPROVALS: [([u8; 4], &str); 3] = [
    ([0x09, 0x5e, 0xa7, 0xb3], "approve"),
    ([0x39, 0x50, 0x93, 0x51], "increaseAllowance"),
    ([0xa2, 0x2c, 0xb4, 0x65], "setApprovalForAll"),
];
/// The first bytes of the call that moves tokens (ERC-20).
const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];

/// Whether the data of a call can be told.
pub(super) fn tells(data: &[u8]) -> bool {
    approval(data).is_some() || transfer(data).is_some()
}

/// Tells what a contract is called with, which is something, and whether it could be told; `address` writes an account as
/// its chain does.
pub(super) fn is_told(
    data: &[u8],
    address: fn(&[u8; 20]) -> String,
    recipients: &mut Recipients<'_>,
    story: &mut Story,
) -> bool {
    if let Some(name) = approval(data) {
        let tokens = tokens(data).map(|(whom, amount)| (address(whom), amount));
        if let Some((whom, amount)) = &tokens {
            story.fact("lets move", format!("{} by {}", units(amount), recipients.named(whom)));
            recipients.tell("who may move, in full", whom, story);
        }
        story.flag(
            Level::High,
            "token-approval",
            format!("calls {name}: another may move tokens from then on"),
        );
        story.danger("the word APPROVAL", "APPROVAL");
    } else if let Some((whom, amount)) = transfer(data) {
        let whom = address(whom);
        let named = recipients.named(&whom);
        story.fact("tokens", format!("{} to {named}, if the contract is one of tokens", units(amount)));
        recipients.tell("tokens to, in full", &whom, story);
    } else {
        return false;
    }
    true
}

/// Says that nothing here knows what a call does, or that only an interface tells it.
pub(super) fn unknown(by_interface: bool, story: &mut Story) {
    if by_interface {
        let text = "calls a contract in the words of its interface, which no byte proves";
        story.flag(Level::Med, "unknown-call", text);
    } else {
        story.flag(Level::High, "unknown-call", "calls a contract with data that is not decoded here");
        story.danger("the word UNDECODED", "UNDECODED");
    }
}

/// The name of the approval that a call is.
fn approval(data: &[u8]) -> Option<&'static str> {
    let called = data.first_chunk::<4>()?;
    APPROVALS.iter().find(|(selector, _)| selector == called).map(|(_, name)| *name)
}

/// Whom a call moves tokens to, and how many.
fn transfer(data: &[u8]) -> Option<(&[u8; 20], &[u8; 32])> {
    tokens(data).filter(|_| data.first_chunk() == Some(&TRANSFER))
}

/// The account and the number of a call that has exactly these two arguments.
fn tokens(data: &[u8]) -> Option<(&[u8; 20], &[u8; 32])> {
    let arguments = data.get(4..).filter(|arguments| arguments.len() == 64)?;
    let (whom, amount) = arguments.split_first_chunk::<32>()?;
    let (zeros, whom) = whom.split_first_chunk::<12>()?;
    let whom = whom.try_into().ok()?;
    let amount = amount.try_into().ok()?;
    zeros.iter().all(|byte| *byte == 0).then_some((whom, amount))
}

/// How many of the smallest parts of a token.
fn units(amount: &[u8; 32]) -> String {
    if amount.first().is_some_and(|first| *first >= 0x80) {
        return "[!] WITHOUT LIMIT".to_owned();
    }
    let number = Integer::from_be_bytes(amount).map(|number| number.to_string()).unwrap_or_default();
    format!("{number} of the token's smallest parts")
}
