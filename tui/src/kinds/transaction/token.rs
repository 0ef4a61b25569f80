//! Calls of contracts that keep tokens, wherever they are called: ERC-20, ERC-721 and ERC-1155, of which TRC-20 is a copy.

use quorate_policy::Integer;

use super::recipient::Recipients;
use crate::kinds::{Level, Story};

/// First bytes of the calls, which name the function (Contract ABI Specification, "Function Selector").
const TRANSFER: [u8; 4] = [0xa9, 0x05, 0x9c, 0xbb];
const APPROVE: [u8; 4] = [0x09, 0x5e, 0xa7, 0xb3];
const INCREASE_ALLOWANCE: [u8; 4] = [0x39, 0x50, 0x93, 0x51];
const SET_APPROVAL_FOR_ALL: [u8; 4] = [0xa2, 0x2c, 0xb4, 0x65];
/// Contracts that count allowances in fewer bits take as without limit what has all of them set; no supply is so large.
const LEAST_UNLIMITED_BYTES: usize = 12;

/// What the holder of tokens asks their contract for.
pub(super) struct TokenCall<'a> {
    name: &'static str,
    act: TokenAct<'a>,
    /// Whether there is more than the arguments, or an account longer than one is; contracts differ in what they make of it.
    is_odd: bool,
}

enum TokenAct<'a> {
    /// Moves tokens (ERC-20).
    Transfer { to: &'a [u8; 20], amount: &'a [u8; 32] },
    /// Lets another move some tokens, or one (ERC-20, ERC-721).
    Approve { spender: &'a [u8; 20], amount: &'a [u8; 32] },
    /// Lets another move all tokens, or ends that (ERC-721, ERC-1155).
    ApproveAll { operator: &'a [u8; 20], is_approved: bool },
    /// Lets another move tokens, and breaks off before it says whom.
    Garbled,
}

impl<'a> TokenCall<'a> {
    /// Reads the data of a call.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let (selector, _) = data.split_first_chunk::<4>()?;
        let arguments = arguments(data);
        let is_odd = arguments.as_ref().is_none_or(|arguments| arguments.is_odd);
        let of = |act: fn(&'a [u8; 20], &'a [u8; 32]) -> TokenAct<'a>| {
            arguments.as_ref().map(|arguments| act(arguments.whom, arguments.word))
        };
        let approve = || of(|spender, amount| TokenAct::Approve { spender, amount });
        let (name, act) = match *selector {
            TRANSFER => ("transfer", Some(of(|to, amount| TokenAct::Transfer { to, amount })?)),
            APPROVE => ("approve", approve()),
            INCREASE_ALLOWANCE => ("increaseAllowance", approve()),
            SET_APPROVAL_FOR_ALL => {
                // Whatever is not zero may be taken for true.
                let is_approved = |word: &[u8; 32]| word.iter().any(|byte| *byte != 0);
                let all = arguments.as_ref().map(|arguments| TokenAct::ApproveAll {
                    operator: arguments.whom,
                    is_approved: is_approved(arguments.word),
                });
                ("setApprovalForAll", all)
            }
            _ => return None,
        };
        Some(Self { name, act: act.unwrap_or(TokenAct::Garbled), is_odd })
    }

    /// In a few words, and in a clause for a sentence in which the contract is named before; `address` writes an account as
    /// its chain does.
    pub(super) fn words(
        &self,
        address: fn(&[u8; 20]) -> String,
        recipients: &Recipients<'_>,
    ) -> (String, String) {
        let whom = |account: &[u8; 20]| {
            let address = address(account);
            (recipients.short(&address), recipients.named(&address))
        };
        match &self.act {
            TokenAct::Transfer { to, amount } => {
                let (short, named) = whom(to);
                (format!("tokens to {short}"), format!("move {} to {named}", units(amount)))
            }
            TokenAct::Approve { spender, amount } => {
                let (short, named) = whom(spender);
                if is_unlimited(amount) {
                    let without = "move tokens [!] WITHOUT LIMIT";
                    return (format!("let {short} {without}"), format!("let {named} {without}"));
                }
                (format!("let {short} move tokens"), format!("let {named} move {}", units(amount)))
            }
            TokenAct::ApproveAll { operator, is_approved: true } => {
                let (short, named) = whom(operator);
                (format!("let {short} move [!] ALL tokens"), format!("let {named} move [!] ALL tokens there"))
            }
            TokenAct::ApproveAll { operator, is_approved: false } => {
                let (short, named) = whom(operator);
                (
                    format!("end that {short} moves tokens"),
                    format!("end that {named} may move all tokens there"),
                )
            }
            TokenAct::Garbled => ("let another move tokens".to_owned(), "let another move some".to_owned()),
        }
    }

    /// Tells whom it concerns, and what needs care about it.
    pub(super) fn tell(
        &self,
        address: fn(&[u8; 20]) -> String,
        recipients: &mut Recipients<'_>,
        story: &mut Story,
    ) {
        if self.is_odd {
            let text = format!("calls {} with bytes that are not its arguments", self.name);
            story.flag(Level::High, "leftover-bytes", text);
            story.danger("the word LEFTOVER", "LEFTOVER");
        }
        let moves = |recipients: &mut Recipients<'_>, what: String, whom: &str, story: &mut Story| {
            story.fact("lets move", format!("{what} by {}", recipients.named(whom)));
            recipients.tell("who may move, in full", whom, story);
        };
        match &self.act {
            TokenAct::Transfer { to, amount } => {
                let to = address(to);
                let named = recipients.named(&to);
                story.fact(
                    "tokens",
                    format!("{} to {named}, if the contract is one of tokens", units(amount)),
                );
                recipients.tell("tokens to, in full", &to, story);
                return;
            }
            TokenAct::Approve { spender, amount } => {
                moves(recipients, units(amount), &address(spender), story);
            }
            TokenAct::ApproveAll { operator, is_approved: true } => {
                let what = "[!] ALL tokens of the contract, those to come included".to_owned();
                moves(recipients, what, &address(operator), story);
            }
            TokenAct::ApproveAll { operator, is_approved: false } => {
                let whom = address(operator);
                story.fact("ends", format!("that {} may move all tokens", recipients.named(&whom)));
                let text = format!("calls {}: another may not move tokens any more", self.name);
                story.flag(Level::Low, "token-approval", text);
                return;
            }
            TokenAct::Garbled => {}
        }
        let text = format!("calls {}: another may move tokens from then on", self.name);
        story.flag(Level::High, "token-approval", text);
        story.danger("the word APPROVAL", "APPROVAL");
    }
}

/// Says that nothing here knows what a call does, or that only an interface tells it: whoever keeps the daemon may have changed
/// that.
pub(super) fn unknown(is_stated: bool, story: &mut Story) {
    if is_stated {
        let text =
            "calls a contract in the words of its interface, which the daemon states [s] and no byte proves";
        story.flag(Level::High, "unknown-call", text);
        story.danger("the word STATED", "STATED");
    } else {
        story.flag(Level::High, "unknown-call", "calls a contract with data that is not decoded here");
        story.danger("the word UNDECODED", "UNDECODED");
    }
}

/// The account and the word that all these calls have for arguments.
struct Arguments<'a> {
    whom: &'a [u8; 20],
    word: &'a [u8; 32],
    is_odd: bool,
}

fn arguments(data: &[u8]) -> Option<Arguments<'_>> {
    let (whom, rest) = data.get(4..)?.split_first_chunk::<32>()?;
    let (zeros, whom) = whom.split_first_chunk::<12>()?;
    let (word, rest) = rest.split_first_chunk::<32>()?;
    let is_odd = !rest.is_empty() || zeros.iter().any(|byte| *byte != 0);
    Some(Arguments { whom: whom.try_into().ok()?, word, is_odd })
}

/// How many of the smallest parts of a token.
fn units(amount: &[u8; 32]) -> String {
    if is_unlimited(amount) {
        return "[!] WITHOUT LIMIT".to_owned();
    }
    let number = Integer::from_be_bytes(amount).map(|number| number.to_string()).unwrap_or_default();
    format!("{number} of the token's smallest parts")
}

fn is_unlimited(amount: &[u8; 32]) -> bool {
    let first = amount.iter().position(|byte| *byte != 0).unwrap_or(amount.len());
    let used = amount.get(first..).unwrap_or_default();
    let has_all_set = used.len() >= LEAST_UNLIMITED_BYTES && used.iter().all(|byte| *byte == 0xff);
    has_all_set || amount.first().is_some_and(|first| *first >= 0x80)
}
