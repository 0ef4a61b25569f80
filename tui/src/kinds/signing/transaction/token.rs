//! Calls of token contracts on all chains: ERC-20, ERC-721 and ERC-1155, of which TRC-20 is a copy.

use quorate_policy::Integer;

use crate::kinds::prelude::*;
use crate::kinds::signing::recipient::Recipients;
use crate::kinds::transfer::{Amount, Right};

/// First bytes of the calls, which name the function (Contract ABI Specification, "Function Selector").
const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];
const APPROVE: [u8; 4] = [0x09, 0x5e, 0xa7, 0xb3];
const INCREASE_ALLOWANCE: [u8; 4] = [0x39, 0x50, 0x93, 0x51];
const SET_APPROVAL_FOR_ALL: [u8; 4] = [0xa2, 0x2c, 0xb4, 0x65];
/// Minimum number of bytes of an amount with all bits set that counts as unlimited. Contracts that store
/// allowances in fewer bits treat such an amount as unlimited, and no supply is so large.
const LEAST_UNLIMITED_BYTES: usize = 12;

/// Amount of an approval of all tokens.
const ALL: &Amount = &[0xff; 32];

/// A call of a token contract by a token holder.
pub(super) struct TokenCall<'a> {
    name: &'static str,
    operation: TokenOperation<'a>,
    /// Whether there are bytes after the arguments, or an account is longer than 20 bytes. Contracts treat
    /// this differently.
    is_odd: bool,
}

enum TokenOperation<'a> {
    /// Moves tokens (ERC-20).
    Transfer { to: &'a [u8; 20], amount: &'a [u8; 32] },
    /// Lets another account move some tokens, or one (ERC-20, ERC-721).
    Approve { spender: &'a [u8; 20], amount: &'a [u8; 32] },
    /// Lets another account move all tokens, or revokes that (ERC-721, ERC-1155).
    ApproveAll { operator: &'a [u8; 20], is_approved: bool },
    /// Lets another account move tokens, but is cut off before it names the account.
    Truncated,
}

impl<'a> TokenCall<'a> {
    /// Parses the data of a call. Returns `None` if it is not one of these calls.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let (selector, _) = data.split_first_chunk::<4>()?;
        let arguments = arguments(data);
        let is_odd = arguments.as_ref().is_none_or(|arguments| arguments.is_odd);
        let of = |operation: fn(&'a [u8; 20], &'a [u8; 32]) -> TokenOperation<'a>| {
            arguments.as_ref().map(|arguments| operation(arguments.account, arguments.word))
        };
        let approve = || of(|spender, amount| TokenOperation::Approve { spender, amount });
        let (name, operation) = match *selector {
            TRANSFER => ("transfer", Some(of(|to, amount| TokenOperation::Transfer { to, amount })?)),
            APPROVE => ("approve", approve()),
            INCREASE_ALLOWANCE => ("increaseAllowance", approve()),
            SET_APPROVAL_FOR_ALL => {
                // Contracts may treat every non-zero value as true.
                let is_approved = |word: &[u8; 32]| word.iter().any(|byte| *byte != 0);
                let all = arguments.as_ref().map(|arguments| TokenOperation::ApproveAll {
                    operator: arguments.account,
                    is_approved: is_approved(arguments.word),
                });
                ("setApprovalForAll", all)
            }
            _ => return None,
        };
        Some(Self { name, operation: operation.unwrap_or(TokenOperation::Truncated), is_odd })
    }

    /// Returns the account, the amount that it receives or may take, and with which right. Returns `None` for a
    /// call that revokes a right or is cut off.
    pub(super) fn moved(&self) -> Option<(&'a [u8; 20], &'a Amount, Right)> {
        match self.operation {
            TokenOperation::Transfer { to, amount } => Some((to, amount, Right::Amount)),
            TokenOperation::Approve { spender, amount } if is_unlimited(amount) => {
                Some((spender, amount, Right::UnlimitedAllowance))
            }
            TokenOperation::Approve { spender, amount } => Some((spender, amount, Right::Allowance)),
            TokenOperation::ApproveAll { operator, is_approved: true } => {
                Some((operator, ALL, Right::AllTokens))
            }
            TokenOperation::ApproveAll { .. } | TokenOperation::Truncated => None,
        }
    }

    /// Returns the call data as a part of the transaction.
    pub(super) fn rest(&self) -> String {
        let odd = if self.is_odd { ", with [!] bytes that are not its arguments" } else { "" };
        format!("call data of {}, if the contract is one of a token{odd}", self.name)
    }

    /// Returns a summary of a few words, and a clause for a sentence that has named the contract. `address`
    /// formats an account as its chain does.
    pub(super) fn words(
        &self,
        address: fn(&[u8; 20]) -> String,
        recipients: &Recipients<'_>,
    ) -> (String, String) {
        let texts_of = |account: &[u8; 20]| {
            let address = address(account);
            (recipients.short(&address), recipients.named(&address))
        };
        match &self.operation {
            TokenOperation::Transfer { to, amount } => {
                let (short, named) = texts_of(to);
                (format!("tokens to {short}"), format!("move {} to {named}", units(amount)))
            }
            TokenOperation::Approve { spender, amount } => {
                let (short, named) = texts_of(spender);
                if is_unlimited(amount) {
                    let brief = format!("[!] WITHOUT LIMIT: tokens, movable by {short}");
                    return (brief, format!("let {named} move tokens [!] WITHOUT LIMIT"));
                }
                (format!("tokens, movable by {short}"), format!("let {named} move {}", units(amount)))
            }
            TokenOperation::ApproveAll { operator, is_approved: true } => {
                let (short, named) = texts_of(operator);
                (
                    format!("[!] ALL tokens, movable by {short}"),
                    format!("let {named} move [!] ALL tokens there"),
                )
            }
            TokenOperation::ApproveAll { operator, is_approved: false } => {
                let (short, named) = texts_of(operator);
                (
                    format!("tokens, no longer movable by {short}"),
                    format!("stop {named} from moving all tokens there"),
                )
            }
            TokenOperation::Truncated => {
                ("let others move tokens".to_owned(), "let others move tokens".to_owned())
            }
        }
    }

    /// Adds the affected accounts as facts, and the flags.
    pub(super) fn add_details(
        &self,
        address: fn(&[u8; 20]) -> String,
        recipients: &mut Recipients<'_>,
        description: &mut Description,
    ) {
        if self.is_odd {
            let text = format!(
                "Contracts may read the call differently: {} has bytes that are not its arguments.",
                self.name
            );
            description.flag_with_word("trailing-bytes", text, "TRAILING");
        }
        let moves =
            |recipients: &mut Recipients<'_>, what: String, spender: &str, description: &mut Description| {
                description.fact("allowance", format!("{what} for {}", recipients.named(spender)));
                recipients.add("spender, in full", spender, description);
            };
        match &self.operation {
            TokenOperation::Transfer { to, amount } => {
                let to = address(to);
                let named = recipients.named(&to);
                description
                    .fact("tokens", format!("{} to {named}, if it is a token contract", units(amount)));
                recipients.add("tokens to, in full", &to, description);
                return;
            }
            TokenOperation::Approve { spender, amount } => {
                moves(recipients, units(amount), &address(spender), description);
            }
            TokenOperation::ApproveAll { operator, is_approved: true } => {
                let what = "[!] ALL tokens of the contract, including future ones".to_owned();
                moves(recipients, what, &address(operator), description);
            }
            TokenOperation::ApproveAll { operator, is_approved: false } => {
                let operator = address(operator);
                description.fact(
                    "revokes",
                    format!("the right of {} to move all tokens", recipients.named(&operator)),
                );
                let text = format!("Revokes the right of others to move tokens: it calls {}.", self.name);
                description.flag_low("token-approval", text);
                return;
            }
            TokenOperation::Truncated => {}
        }
        let text = format!("Lets others move tokens from then on: it calls {}.", self.name);
        description.flag_with_word("token-approval", text, "APPROVAL");
    }
}

/// Flags a call whose effect is unknown, or is only described by an interface. The operator of the daemon may
/// have changed that interface.
pub(super) fn flag_unknown_call(is_stated: bool, description: &mut Description) {
    if is_stated {
        let text = "May do something else: only an interface that the daemon states [s] describes the call \
            of the contract.";
        description.flag_with_word("unknown-call", text, "STATED");
    } else {
        description.flag_with_word(
            "unknown-call",
            "May do anything: it calls a contract with data that is not decoded here.",
            "UNDECODED",
        );
    }
}

/// The arguments of all these calls: an account and a word.
struct Arguments<'a> {
    account: &'a [u8; 20],
    word: &'a [u8; 32],
    is_odd: bool,
}

fn arguments(data: &[u8]) -> Option<Arguments<'_>> {
    let (account, rest) = data.get(4..)?.split_first_chunk::<32>()?;
    let (zeros, account) = account.split_first_chunk::<12>()?;
    let (word, rest) = rest.split_first_chunk::<32>()?;
    let is_odd = !rest.is_empty() || zeros.iter().any(|byte| *byte != 0);
    Some(Arguments { account: account.try_into().ok()?, word, is_odd })
}

/// Returns an amount in the smallest units of a token.
fn units(amount: &[u8; 32]) -> String {
    if is_unlimited(amount) {
        return "[!] WITHOUT LIMIT".to_owned();
    }
    let number = Integer::from_be_bytes(amount).map(|number| number.to_string()).unwrap_or_default();
    format!("{number} of the token's smallest units")
}

fn is_unlimited(amount: &[u8; 32]) -> bool {
    let first = amount.iter().position(|byte| *byte != 0).unwrap_or(amount.len());
    let used = amount.get(first..).unwrap_or_default();
    let has_all_set = used.len() >= LEAST_UNLIMITED_BYTES && used.iter().all(|byte| *byte == 0xff);
    has_all_set || amount.first().is_some_and(|first| *first >= 0x80)
}
