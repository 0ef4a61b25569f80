//! Describes what one instruction does.

use std::fmt::Write as _;

use quorate_chain::contract::Line;
use quorate_chain::transaction::solana::{
    Act, Instruction, LOOKED_UP, ProgramInterfaces, System, Token, TokenTransfer,
};

use super::decimal;
use crate::contracts::{Stated, argument};
use crate::kinds::scene::{count, listed};
use crate::text::{clean, quoted};

/// Why an instruction is dangerous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// It assigns an account to a program.
    Assigns,
    /// It gives others control of an account, a token or a nonce.
    Authority,
    /// It lets others move tokens.
    Approval,
    /// It closes a token account.
    Closes,
    /// Its effect is unknown.
    Undecoded,
    /// Only an interface describes its effect.
    Stated,
}

impl Alarm {
    /// All variants, worst first.
    pub(super) const ALL: &'static [Self] =
        &[Self::Assigns, Self::Authority, Self::Approval, Self::Closes, Self::Undecoded, Self::Stated];

    /// Returns the name of the flag, its text, and the word to type.
    pub(super) fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Assigns => (
                "assigns-account",
                "Gives an account to a program, which can then take what it holds",
                "ASSIGN",
            ),
            Self::Authority => (
                "hands-over-authority",
                "Gives others control of an account, a token or a nonce",
                "AUTHORITY",
            ),
            Self::Approval => ("token-approval", "Lets others move tokens from then on", "APPROVAL"),
            Self::Closes => ("closes-account", "Closes a token account and sends its SOL away", "CLOSE"),
            Self::Undecoded => (
                "unknown-call",
                "May do anything, because it calls a program that is not decoded here",
                "UNDECODED",
            ),
            Self::Stated => (
                "unknown-call",
                "May do something else, because only an interface that the daemon states [s] describes the \
                 call",
                "STATED",
            ),
        }
    }
}

/// The interfaces that the daemon states, and those of the called programs, as parsed here.
pub(super) struct Known<'a> {
    pub(super) stated: Stated<'a>,
    pub(super) programs: ProgramInterfaces,
}

/// The description of an instruction.
pub(super) struct ActDescription<'a> {
    /// Summary of a few words, for lists.
    pub(super) brief: String,
    /// Effect as a clause that starts with a verb.
    pub(super) what: String,
    /// Further facts: name and value.
    pub(super) details: Vec<(&'static str, String)>,
    /// Account that receives something.
    pub(super) to: Option<&'a str>,
    /// Called program, in base58.
    pub(super) program: &'a str,
    /// Why it is dangerous, if it is.
    pub(super) alarm: Option<Alarm>,
    /// Amount of SOL that it moves, in lamports.
    pub(super) lamports: u64,
}

/// Describes an instruction. Returns `None` if it only sets the resource limits of the transaction.
pub(super) fn describe<'a>(instruction: &Instruction<'a>, known: &Known<'_>) -> Option<ActDescription<'a>> {
    let mut description = ActDescription {
        brief: String::new(),
        what: String::new(),
        details: Vec::new(),
        to: None,
        program: instruction.program(),
        alarm: None,
        lamports: 0,
    };
    match instruction.act() {
        Act::ComputeBudget(_) => return None,
        Act::System(system) => describe_system(&mut description, system),
        Act::Token(token) => describe_token(&mut description, token),
        Act::CreateAssociatedTokenAccount { from, account, wallet, mint } => {
            let [from, account, wallet, mint] = [from, account, wallet, mint].map(named);
            let what = format!(
                "create the token account {account} for tokens of {mint} held by {wallet}, paid by {from}"
            );
            set_texts(&mut description, "a new token account", what);
        }
        Act::Memo(text) => {
            set_texts(&mut description, "a memo", format!("publish the memo {}", quoted(text)));
        }
        Act::Undecoded if describe_by_interface(&mut description, instruction, known).is_some() => {}
        Act::Undecoded => describe_undecoded(&mut description, instruction),
    }
    Some(description)
}

/// Describes an instruction with the interface of its program. Returns `None` if no interface decodes it.
fn describe_by_interface(
    description: &mut ActDescription<'_>,
    instruction: &Instruction<'_>,
    known: &Known<'_>,
) -> Option<()> {
    let program = instruction.program();
    let interface = quoted(&known.stated.solana(program)?.label);
    let read = instruction.decode_with(&known.programs)?;
    let name = clean(&read.name);
    description.brief = format!("{name} of {program}");
    description.what = format!("call {name} of {program}, as its interface {interface} describes it");
    description.alarm = Some(Alarm::Stated);
    let accounts = read.accounts.iter().map(|(name, address)| format!("{} {address}", clean(name)));
    description.details.push(("accounts", listed(accounts)));
    // The interface may name only some of the accounts.
    let further: Vec<&str> = instruction.accounts().skip(read.accounts.len()).collect();
    if !further.is_empty() {
        description.details.push(("further accounts", listed(further.into_iter().map(named))));
    }
    let lines = read.lines();
    let argument =
        |line: &Line| format!("{} = {} ({})", clean(&line.path), argument(line), clean(&line.kind));
    description.details.push(("arguments", listed(lines.lines.iter().map(argument))));
    if lines.left_out > 0 {
        description.details.push(("more arguments", format!("{} that are not shown", lines.left_out)));
    }
    description.details.push(("data", const_hex::encode_prefixed(instruction.data())));
    Some(())
}

fn describe_undecoded(description: &mut ActDescription<'_>, instruction: &Instruction<'_>) {
    let (program, data) = (instruction.program(), instruction.data());
    let accounts = instruction.accounts().count();
    let keys: Vec<&str> = instruction.accounts().filter(|account| *account != LOOKED_UP).collect();
    let looked_up = accounts.saturating_sub(keys.len());
    description.brief = format!("UNDECODED call of {program}");
    description.what = format!(
        "call {program}, NOT DECODED here, with {} and {} of data",
        count(accounts, "account"),
        count(data.len(), "byte")
    );
    description.alarm = Some(Alarm::Undecoded);
    description.details.push(("data", const_hex::encode_prefixed(data)));
    let mut account_list = listed(keys.into_iter().map(str::to_owned));
    if looked_up > 0 {
        let _ = write!(account_list, ", and {looked_up} from lookup tables");
    }
    description.details.push(("accounts", account_list));
}

fn describe_system<'a>(description: &mut ActDescription<'a>, system: System<'a>) {
    match system {
        System::Transfer { from, to, lamports } | System::TransferWithSeed { from, to, lamports } => {
            describe_sol(description, "send", (from, to), lamports);
        }
        System::WithdrawNonceAccount { account, to, lamports } => {
            describe_sol(description, "withdraw", (account, to), lamports);
        }
        System::CreateAccount { from, account, lamports, owner } => {
            let sol = sol(lamports);
            description.brief = format!("a new account with {sol} SOL");
            description.to = Some(account);
            description.what = format!(
                "create the account {} of the program {owner} with {sol} SOL from {}",
                named(account),
                named(from)
            );
        }
        System::CreateAccountAllowPrefund { account, lamports, owner } => {
            let sol = sol(lamports);
            describe_assignment(description, account, &owner);
            let _ = write!(description.what, ", with what it holds and {sol} SOL");
        }
        System::Assign { account, owner } => describe_assignment(description, account, &owner),
        System::Allocate { account, space } => {
            set_texts(
                description,
                "space for an account",
                format!("allocate {space} bytes for the account {}", named(account)),
            );
        }
        System::AdvanceNonceAccount { account } => {
            set_texts(description, "a nonce used up", format!("use up the nonce of {}", named(account)));
        }
        System::InitializeNonceAccount { account, authority } => {
            let what = format!("initialize the nonce account {} for {authority}", named(account));
            set_texts(description, "a nonce account", what);
        }
        System::AuthorizeNonceAccount { account, authority } => {
            let what =
                format!("let {authority} use the nonces and the SOL of {} from then on", named(account));
            set_texts(description, "a new authority of a nonce account", what);
            description.alarm = Some(Alarm::Authority);
        }
        System::UpgradeNonceAccount { account } => {
            set_texts(
                description,
                "a nonce account upgraded",
                format!("upgrade the nonce account {}", named(account)),
            );
        }
    }
}

fn describe_token<'a>(description: &mut ActDescription<'a>, token: Token<'a>) {
    match token {
        Token::Transfer(transfer) => describe_transfer(description, &transfer),
        Token::Approve { account, delegate, amount, mint } => {
            let amount =
                if amount == u64::MAX { "[!] WITHOUT LIMIT".to_owned() } else { tokens_of(amount, mint) };
            description.to = Some(delegate);
            let what = format!("let {} move tokens of {}: {amount}", named(delegate), named(account));
            set_texts(description, "a token approval", what);
            description.alarm = Some(Alarm::Approval);
        }
        Token::Revoke { account } => {
            set_texts(
                description,
                "an approval revoked",
                format!("revoke the right of others to move tokens of {}", named(account)),
            );
        }
        Token::SetAuthority { account, kind, authority } => {
            let (what, account) = (authority_of(kind), named(account));
            let what = match authority {
                Some(to) => format!("make {to} {what} {account}"),
                None => format!("remove {what} {account}"),
            };
            set_texts(description, "authority transferred", what);
            description.alarm = Some(Alarm::Authority);
        }
        Token::MintTo { mint, to, amount, decimals } => {
            description.to = Some(to);
            let amount = tokens(amount, decimals);
            set_texts(
                description,
                "new tokens",
                format!("mint {amount} of {} to {}", named(mint), named(to)),
            );
        }
        Token::Burn { account, mint, amount, decimals } => {
            let amount = tokens(amount, decimals);
            let what = format!("burn {amount} of {} held in {}", named(mint), named(account));
            set_texts(description, "tokens burned", what);
        }
        Token::CloseAccount { account, to } => {
            description.to = Some(to);
            let what =
                format!("close the token account {} and send all SOL in it to {}", named(account), named(to));
            set_texts(description, "a token account closed", what);
            description.alarm = Some(Alarm::Closes);
        }
        Token::FreezeAccount { account } => {
            set_texts(description, "tokens frozen", format!("freeze the tokens of {}", named(account)));
        }
        Token::ThawAccount { account } => {
            set_texts(description, "tokens thawed", format!("thaw the tokens of {}", named(account)));
        }
        Token::SyncNative { account } => {
            set_texts(
                description,
                "wrapped SOL synced",
                format!("sync the wrapped SOL balance of {}", named(account)),
            );
        }
    }
}

fn set_texts(description: &mut ActDescription<'_>, brief: &str, what: String) {
    brief.clone_into(&mut description.brief);
    description.what = what;
}

fn describe_sol<'a>(
    description: &mut ActDescription<'a>,
    verb: &str,
    (from, to): (&'a str, &'a str),
    lamports: u64,
) {
    description.lamports = lamports;
    let sol = sol(lamports);
    description.to = Some(to);
    description.brief = format!("{sol} SOL to {}", named(to));
    description.what = format!("{verb} {sol} SOL from {} to {}", named(from), named(to));
}

fn describe_assignment(description: &mut ActDescription<'_>, account: &str, owner: &str) {
    set_texts(
        description,
        "an account assigned to a program",
        format!("assign the account {} to the program {owner}", named(account)),
    );
    description.alarm = Some(Alarm::Assigns);
}

fn describe_transfer<'a>(description: &mut ActDescription<'a>, transfer: &TokenTransfer<'a>) {
    let decimals = transfer.mint.map(|(_, decimals)| decimals);
    let (from, to) = (named(transfer.from), named(transfer.to));
    description.to = Some(transfer.to);
    description.brief = format!("{} to {to}", tokens_of(transfer.amount, transfer.mint));
    description.what = format!(
        "send {} from the token account {from} to the token account {to}",
        tokens_of(transfer.amount, transfer.mint)
    );
    if let Some(fee) = transfer.fee {
        let _ = write!(description.what, ", of which {} must be withheld", tokens(fee, decimals));
    }
    description.details.push(("by", named(transfer.owner)));
    if !transfer.signers.is_empty() {
        description.details.push(("signed by", listed(transfer.signers.iter().map(|signer| named(signer)))));
    }
}

/// Returns an account as text. An account from a lookup table has no key in the bytes.
fn named(account: &str) -> String {
    if account == LOOKED_UP { "an account from a lookup table".to_owned() } else { account.to_owned() }
}

fn sol(lamports: u64) -> String {
    decimal(lamports.into(), 9)
}

/// Formats an amount of tokens. It is exact if the decimals are given, because the program checks them.
fn tokens(amount: u64, decimals: Option<u8>) -> String {
    match decimals {
        Some(decimals) => format!("{} tokens", decimal(amount.into(), decimals)),
        None => format!("{amount} smallest units"),
    }
}

/// Formats an amount with the name of its token, if the instruction names it.
fn tokens_of(amount: u64, mint: Option<(&str, u8)>) -> String {
    let of = mint.map_or_else(|| "an unnamed token".to_owned(), |(mint, _)| named(mint));
    format!("{} of {of}", tokens(amount, mint.map(|(_, decimals)| decimals)))
}

/// Returns the name of an authority over an account or a token (`AuthorityType`).
fn authority_of(kind: u8) -> String {
    match kind {
        0 => "the mint authority of".to_owned(),
        1 => "the freeze authority of".to_owned(),
        2 => "the OWNER of the token account".to_owned(),
        3 => "the close authority of".to_owned(),
        8 => "the permanent delegate, who can move and burn anyone's tokens, of".to_owned(),
        other => format!("the authority of kind {other} over"),
    }
}
