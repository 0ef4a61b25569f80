//! What one instruction does, in words.

use std::fmt::Write as _;

use quorate_chain::contract::Line;
use quorate_chain::transaction::solana::{
    Act, Instruction, LOOKED_UP, ProgramInterfaces, System, Token, TokenTransfer,
};

use super::decimal;
use crate::contracts::{Stated, argument};
use crate::kinds::scene::{count, listed};
use crate::text::{clean, quoted};

/// Why an act needs the most care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// An account goes to a program.
    Assigns,
    /// Another may control an account, a token or a nonce.
    Authority,
    /// Another may move tokens.
    Approval,
    /// An account of tokens ends.
    Closes,
    /// It is not known what it does.
    Undecoded,
    /// Only an interface tells what it does.
    Stated,
}

impl Alarm {
    /// The worst first.
    pub(super) const ALL: &'static [Self] =
        &[Self::Assigns, Self::Authority, Self::Approval, Self::Closes, Self::Undecoded, Self::Stated];

    /// Its stable name, what it is in words, and the word to type.
    pub(super) fn told(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Assigns => (
                "assigns-account",
                "gives an account to a program, which may take what it holds from then on",
                "ASSIGN",
            ),
            Self::Authority => ("hands-over-authority", "hands over who controls something", "AUTHORITY"),
            Self::Approval => ("token-approval", "lets another move tokens from then on", "APPROVAL"),
            Self::Closes => ("closes-account", "closes an account of tokens, and sends off its SOL", "CLOSE"),
            Self::Undecoded => ("unknown-call", "calls a program that is not decoded here", "UNDECODED"),
            Self::Stated => (
                "unknown-call",
                "calls a program in the words of its interface, which the daemon states [s] and no byte proves",
                "STATED",
            ),
        }
    }
}

/// Interfaces as the daemon states them, and those of the programs that are called, as they are read here.
pub(super) struct Known<'a> {
    pub(super) stated: Stated<'a>,
    pub(super) programs: ProgramInterfaces,
}

/// An act in words.
pub(super) struct Told<'a> {
    /// A few words for lists.
    pub(super) brief: String,
    /// What it would do: a verb and all that belongs to it.
    pub(super) what: String,
    /// More about it, by name.
    pub(super) details: Vec<(&'static str, String)>,
    /// Who gets something.
    pub(super) to: Option<&'a str>,
    /// The program, in base58.
    pub(super) program: &'a str,
    /// Why it needs the most care, if it does.
    pub(super) alarm: Option<Alarm>,
    /// How much SOL it moves, in lamports.
    pub(super) lamports: u64,
}

/// What an instruction does; nothing if it only sets what the transaction may use.
pub(super) fn told<'a>(instruction: &Instruction<'a>, known: &Known<'_>) -> Option<Told<'a>> {
    let mut told = Told {
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
        Act::System(system) => tell_system(&mut told, system),
        Act::Token(token) => tell_token(&mut told, token),
        Act::CreateAssociatedTokenAccount { from, account, wallet, mint } => {
            let [from, account, wallet, mint] = [from, account, wallet, mint].map(named);
            let what = format!(
                "make the token account {account} for tokens of {mint} held by {wallet}, paid by {from}"
            );
            tell(&mut told, "a new token account", what);
        }
        Act::Memo(text) => tell(&mut told, "a memo", format!("publish the memo {}", quoted(text))),
        Act::Undecoded if tell_stated(&mut told, instruction, known).is_some() => {}
        Act::Undecoded => tell_undecoded(&mut told, instruction),
    }
    Some(told)
}

/// Tells an instruction in the words of the interface of its program; nothing if there is none that reads it.
fn tell_stated(told: &mut Told<'_>, instruction: &Instruction<'_>, known: &Known<'_>) -> Option<()> {
    let program = instruction.program();
    let interface = quoted(&known.stated.solana(program)?.label);
    let read = instruction.by_interface(&known.programs)?;
    let name = clean(&read.name);
    told.brief = format!("{name} of {program}");
    told.what = format!("call {name} of {program}, in the words of its interface {interface}");
    told.alarm = Some(Alarm::Stated);
    let accounts = read.accounts.iter().map(|(name, address)| format!("{} {address}", clean(name)));
    told.details.push(("accounts", listed(accounts)));
    // The interface need not name all.
    let further: Vec<&str> = instruction.accounts().skip(read.accounts.len()).collect();
    if !further.is_empty() {
        told.details.push(("further accounts", listed(further.into_iter().map(named))));
    }
    let lines = read.lines();
    let argument =
        |line: &Line| format!("{} = {} ({})", clean(&line.path), argument(line), clean(&line.kind));
    told.details.push(("arguments", listed(lines.lines.iter().map(argument))));
    if lines.left_out > 0 {
        told.details.push(("more arguments", format!("{} that are not shown", lines.left_out)));
    }
    told.details.push(("data", const_hex::encode_prefixed(instruction.data())));
    Some(())
}

fn tell_undecoded(told: &mut Told<'_>, instruction: &Instruction<'_>) {
    let (program, data) = (instruction.program(), instruction.data());
    let accounts = instruction.accounts().count();
    let keys: Vec<&str> = instruction.accounts().filter(|account| *account != LOOKED_UP).collect();
    let looked_up = accounts.saturating_sub(keys.len());
    told.brief = format!("UNDECODED call of {program}");
    told.what = format!(
        "call {program}, NOT DECODED here, with {} and {} of data",
        count(accounts, "account"),
        count(data.len(), "byte")
    );
    told.alarm = Some(Alarm::Undecoded);
    told.details.push(("data", const_hex::encode_prefixed(data)));
    let mut given = listed(keys.into_iter().map(str::to_owned));
    if looked_up > 0 {
        let _ = write!(given, ", and {looked_up} from lookup tables");
    }
    told.details.push(("accounts", given));
}

fn tell_system<'a>(told: &mut Told<'a>, system: System<'a>) {
    match system {
        System::Transfer { from, to, lamports } | System::TransferWithSeed { from, to, lamports } => {
            tell_sol(told, "send", (from, to), lamports);
        }
        System::WithdrawNonceAccount { account, to, lamports } => {
            tell_sol(told, "withdraw", (account, to), lamports);
        }
        System::CreateAccount { from, account, lamports, owner } => {
            let sol = sol(lamports);
            told.brief = format!("a new account with {sol} SOL");
            told.to = Some(account);
            told.what = format!(
                "make the account {} of the program {owner} with {sol} SOL from {}",
                named(account),
                named(from)
            );
        }
        System::CreateAccountAllowPrefund { account, lamports, owner } => {
            let sol = sol(lamports);
            tell_assigned(told, account, &owner);
            let _ = write!(told.what, ", with what it holds and {sol} SOL");
        }
        System::Assign { account, owner } => tell_assigned(told, account, &owner),
        System::Allocate { account, space } => {
            tell(told, "an account given room", format!("give the account {} {space} bytes", named(account)));
        }
        System::AdvanceNonceAccount { account } => {
            tell(told, "a nonce used up", format!("use up the nonce of {}", named(account)));
        }
        System::InitializeNonceAccount { account, authority } => {
            let what = format!("make {} hold nonces for {authority}", named(account));
            tell(told, "a nonce account", what);
        }
        System::AuthorizeNonceAccount { account, authority } => {
            let what =
                format!("let {authority} use the nonces and the SOL of {} from then on", named(account));
            tell(told, "another for a nonce account", what);
            told.alarm = Some(Alarm::Authority);
        }
        System::UpgradeNonceAccount { account } => {
            tell(told, "a nonce account upgraded", format!("upgrade the nonce account {}", named(account)));
        }
    }
}

fn tell_token<'a>(told: &mut Told<'a>, token: Token<'a>) {
    match token {
        Token::Transfer(transfer) => tell_transfer(told, &transfer),
        Token::Approve { account, delegate, amount, mint } => {
            let amount =
                if amount == u64::MAX { "[!] WITHOUT LIMIT".to_owned() } else { tokens_of(amount, mint) };
            told.to = Some(delegate);
            let what = format!("let {} move tokens of {}: {amount}", named(delegate), named(account));
            tell(told, "a token approval", what);
            told.alarm = Some(Alarm::Approval);
        }
        Token::Revoke { account } => {
            tell(told, "an approval taken back", format!("let no other move tokens of {}", named(account)));
        }
        Token::SetAuthority { account, kind, authority } => {
            let (what, account) = (authority_of(kind), named(account));
            let what = match authority {
                Some(to) => format!("make {to} {what} {account}"),
                None => format!("let nobody be {what} {account} any more"),
            };
            tell(told, "an authority handed over", what);
            told.alarm = Some(Alarm::Authority);
        }
        Token::MintTo { mint, to, amount, decimals } => {
            told.to = Some(to);
            let amount = tokens(amount, decimals);
            tell(
                told,
                "new tokens",
                format!("make {amount} of {} and give them to {}", named(mint), named(to)),
            );
        }
        Token::Burn { account, mint, amount, decimals } => {
            let amount = tokens(amount, decimals);
            let what = format!("destroy {amount} of {} held in {}", named(mint), named(account));
            tell(told, "tokens destroyed", what);
        }
        Token::CloseAccount { account, to } => {
            told.to = Some(to);
            let what =
                format!("close the token account {} and send all SOL in it to {}", named(account), named(to));
            tell(told, "a token account closed", what);
            told.alarm = Some(Alarm::Closes);
        }
        Token::FreezeAccount { account } => {
            tell(told, "tokens frozen", format!("freeze the tokens of {}", named(account)));
        }
        Token::ThawAccount { account } => {
            tell(told, "tokens thawed", format!("thaw the tokens of {}", named(account)));
        }
        Token::SyncNative { account } => {
            tell(told, "wrapped SOL counted", format!("count the SOL of {} as tokens", named(account)));
        }
    }
}

fn tell(told: &mut Told<'_>, brief: &str, what: String) {
    brief.clone_into(&mut told.brief);
    told.what = what;
}

fn tell_sol<'a>(told: &mut Told<'a>, verb: &str, (from, to): (&'a str, &'a str), lamports: u64) {
    told.lamports = lamports;
    let sol = sol(lamports);
    told.to = Some(to);
    told.brief = format!("{sol} SOL to {}", named(to));
    told.what = format!("{verb} {sol} SOL from {} to {}", named(from), named(to));
}

fn tell_assigned(told: &mut Told<'_>, account: &str, owner: &str) {
    tell(
        told,
        "an account given away",
        format!("give the account {} to the program {owner}", named(account)),
    );
    told.alarm = Some(Alarm::Assigns);
}

fn tell_transfer<'a>(told: &mut Told<'a>, transfer: &TokenTransfer<'a>) {
    let decimals = transfer.mint.map(|(_, decimals)| decimals);
    let (from, to) = (named(transfer.from), named(transfer.to));
    told.to = Some(transfer.to);
    told.brief = format!("{} to {to}", tokens_of(transfer.amount, transfer.mint));
    told.what = format!(
        "send {} from the token account {from} to the token account {to}",
        tokens_of(transfer.amount, transfer.mint)
    );
    if let Some(fee) = transfer.fee {
        let _ = write!(told.what, ", of which {} must be kept back", tokens(fee, decimals));
    }
    told.details.push(("by", named(transfer.owner)));
    if !transfer.signers.is_empty() {
        told.details.push(("signed by", listed(transfer.signers.iter().map(|signer| named(signer)))));
    }
}

/// An account in words: one that a lookup table holds has no key here.
fn named(account: &str) -> String {
    if account == LOOKED_UP { "an account of a lookup table".to_owned() } else { account.to_owned() }
}

fn sol(lamports: u64) -> String {
    decimal(lamports.into(), 9)
}

/// An amount of tokens: exact where the decimals are named, since the program checks them.
fn tokens(amount: u64, decimals: Option<u8>) -> String {
    match decimals {
        Some(decimals) => format!("{} tokens", decimal(amount.into(), decimals)),
        None => format!("{amount} smallest parts"),
    }
}

/// The same with the token, if it is named.
fn tokens_of(amount: u64, mint: Option<(&str, u8)>) -> String {
    let of = mint.map_or_else(|| "a token that is not named".to_owned(), |(mint, _)| named(mint));
    format!("{} of {of}", tokens(amount, mint.map(|(_, decimals)| decimals)))
}

/// What the new authority of an account or a token would be (`AuthorityType`).
fn authority_of(kind: u8) -> String {
    match kind {
        0 => "the one who makes tokens of".to_owned(),
        1 => "the one who freezes tokens of".to_owned(),
        2 => "the OWNER of the token account".to_owned(),
        3 => "the one who closes".to_owned(),
        8 => "the permanent delegate, who moves and destroys anyone's tokens, of".to_owned(),
        other => format!("the authority of kind {other} over"),
    }
}
