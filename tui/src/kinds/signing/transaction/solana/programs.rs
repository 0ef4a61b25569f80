//! Describes the instructions of the system program and of the token programs.

use std::fmt::Write as _;

use quorate_chain::transaction::solana::{System, Token, TokenTransfer};

use super::decimal;
use super::description::{InstructionDescription, Warning, named};
use crate::kinds::prelude::*;

pub(super) fn describe_system(system: System<'_>) -> InstructionDescription<'_> {
    match system {
        System::Transfer { from, to, lamports } | System::TransferWithSeed { from, to, lamports } => {
            describe_sol("send", (from, to), lamports)
        }
        System::WithdrawNonceAccount { account, to, lamports } => {
            describe_sol("withdraw", (account, to), lamports)
        }
        System::CreateAccount { from, account, lamports, owner } => {
            let (sol, new, from) = (sol(lamports), named(account), named(from));
            let what = format!("create the account {new} of the program {owner} with {sol} SOL from {from}");
            InstructionDescription::new(format!("a new account with {sol} SOL"), what).to(account)
        }
        System::CreateAccountAllowPrefund { account, lamports, owner } => {
            let mut description = describe_assignment(account, &owner);
            let _ = write!(description.what, ", with what it holds and {} SOL", sol(lamports));
            description
        }
        System::Assign { account, owner } => describe_assignment(account, &owner),
        System::Allocate { account, space } => {
            let what = format!("allocate {space} bytes for the account {}", named(account));
            InstructionDescription::new("space for an account", what)
        }
        System::AdvanceNonceAccount { account } => {
            InstructionDescription::new("a nonce used up", format!("use up the nonce of {}", named(account)))
        }
        System::InitializeNonceAccount { account, authority } => {
            let what = format!("initialize the nonce account {} for {authority}", named(account));
            InstructionDescription::new("a nonce account", what)
        }
        System::AuthorizeNonceAccount { account, authority } => {
            let what =
                format!("let {authority} use the nonces and the SOL of {} from then on", named(account));
            InstructionDescription::new("a new authority of a nonce account", what)
                .warning(Warning::Authority)
        }
        System::UpgradeNonceAccount { account } => {
            let what = format!("upgrade the nonce account {}", named(account));
            InstructionDescription::new("a nonce account upgraded", what)
        }
    }
}

pub(super) fn describe_token(token: Token<'_>) -> InstructionDescription<'_> {
    match token {
        Token::Transfer(transfer) => describe_transfer(&transfer),
        Token::Approve { account, delegate, amount, mint } => {
            let amount =
                if amount == u64::MAX { "[!] WITHOUT LIMIT".to_owned() } else { tokens_of(amount, mint) };
            let what = format!("let {} move tokens of {}: {amount}", named(delegate), named(account));
            InstructionDescription::new("a token approval", what).to(delegate).warning(Warning::Approval)
        }
        Token::Revoke { account } => {
            let what = format!("revoke the right of others to move tokens of {}", named(account));
            InstructionDescription::new("an approval revoked", what)
        }
        Token::SetAuthority { account, kind, authority } => {
            let (what, account) = (authority_of(kind), named(account));
            let what = match authority {
                Some(to) => format!("make {to} {what} {account}"),
                None => format!("remove {what} {account}"),
            };
            InstructionDescription::new("authority transferred", what).warning(Warning::Authority)
        }
        Token::MintTo { mint, to, amount, decimals } => {
            let what = format!("mint {} of {} to {}", tokens(amount, decimals), named(mint), named(to));
            InstructionDescription::new("new tokens", what).to(to)
        }
        Token::Burn { account, mint, amount, decimals } => {
            let (amount, mint, account) = (tokens(amount, decimals), named(mint), named(account));
            InstructionDescription::new("tokens burned", format!("burn {amount} of {mint} held in {account}"))
        }
        Token::CloseAccount { account, to } => {
            let what =
                format!("close the token account {} and send all SOL in it to {}", named(account), named(to));
            InstructionDescription::new("a token account closed", what).to(to).warning(Warning::Closes)
        }
        Token::FreezeAccount { account } => {
            InstructionDescription::new("tokens frozen", format!("freeze the tokens of {}", named(account)))
        }
        Token::ThawAccount { account } => {
            InstructionDescription::new("tokens thawed", format!("thaw the tokens of {}", named(account)))
        }
        Token::SyncNative { account } => {
            let what = format!("sync the wrapped SOL balance of {}", named(account));
            InstructionDescription::new("wrapped SOL synced", what)
        }
    }
}

fn describe_sol<'a>(verb: &str, (from, to): (&'a str, &'a str), lamports: u64) -> InstructionDescription<'a> {
    let sol = sol(lamports);
    let what = format!("{verb} {sol} SOL from {} to {}", named(from), named(to));
    let description = InstructionDescription::new(format!("{sol} SOL to {}", named(to)), what).to(to);
    InstructionDescription { lamports, ..description }
}

fn describe_assignment<'a>(account: &str, owner: &str) -> InstructionDescription<'a> {
    let what = format!("assign the account {} to the program {owner}", named(account));
    InstructionDescription::new("an account assigned to a program", what).warning(Warning::Assigns)
}

fn describe_transfer<'a>(transfer: &TokenTransfer<'a>) -> InstructionDescription<'a> {
    let (from, to) = (named(transfer.from), named(transfer.to));
    let amount = tokens_of(transfer.amount, transfer.mint);
    let mut what = format!("send {amount} from the token account {from} to the token account {to}");
    if let Some(fee) = transfer.fee {
        let decimals = transfer.mint.map(|(_, decimals)| decimals);
        let _ = write!(what, ", of which {} must be withheld", tokens(fee, decimals));
    }
    let mut details = vec![("by", named(transfer.owner))];
    if !transfer.signers.is_empty() {
        details.push(("signed by", listed(transfer.signers.iter().map(|signer| named(signer)))));
    }
    InstructionDescription {
        details,
        ..InstructionDescription::new(format!("{amount} to {to}"), what).to(transfer.to)
    }
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
