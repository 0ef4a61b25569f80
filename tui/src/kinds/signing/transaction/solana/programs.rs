//! Describes the instructions of the system program and of the token programs.

use std::fmt::Write as _;

use quorate_chain::transaction::solana::{System, Token, TokenTransfer};

use super::decimal;
use super::description::{ActDescription, Alarm, named};
use crate::kinds::prelude::*;

pub(super) fn describe_system(system: System<'_>) -> ActDescription<'_> {
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
            ActDescription::new(format!("a new account with {sol} SOL"), what).to(account)
        }
        System::CreateAccountAllowPrefund { account, lamports, owner } => {
            let mut description = describe_assignment(account, &owner);
            let _ = write!(description.what, ", with what it holds and {} SOL", sol(lamports));
            description
        }
        System::Assign { account, owner } => describe_assignment(account, &owner),
        System::Allocate { account, space } => {
            let what = format!("allocate {space} bytes for the account {}", named(account));
            ActDescription::new("space for an account", what)
        }
        System::AdvanceNonceAccount { account } => {
            ActDescription::new("a nonce used up", format!("use up the nonce of {}", named(account)))
        }
        System::InitializeNonceAccount { account, authority } => {
            let what = format!("initialize the nonce account {} for {authority}", named(account));
            ActDescription::new("a nonce account", what)
        }
        System::AuthorizeNonceAccount { account, authority } => {
            let what =
                format!("let {authority} use the nonces and the SOL of {} from then on", named(account));
            ActDescription::new("a new authority of a nonce account", what).alarm(Alarm::Authority)
        }
        System::UpgradeNonceAccount { account } => {
            let what = format!("upgrade the nonce account {}", named(account));
            ActDescription::new("a nonce account upgraded", what)
        }
    }
}

pub(super) fn describe_token(token: Token<'_>) -> ActDescription<'_> {
    match token {
        Token::Transfer(transfer) => describe_transfer(&transfer),
        Token::Approve { account, delegate, amount, mint } => {
            let amount =
                if amount == u64::MAX { "[!] WITHOUT LIMIT".to_owned() } else { tokens_of(amount, mint) };
            let what = format!("let {} move tokens of {}: {amount}", named(delegate), named(account));
            ActDescription::new("a token approval", what).to(delegate).alarm(Alarm::Approval)
        }
        Token::Revoke { account } => {
            let what = format!("revoke the right of others to move tokens of {}", named(account));
            ActDescription::new("an approval revoked", what)
        }
        Token::SetAuthority { account, kind, authority } => {
            let (what, account) = (authority_of(kind), named(account));
            let what = match authority {
                Some(to) => format!("make {to} {what} {account}"),
                None => format!("remove {what} {account}"),
            };
            ActDescription::new("authority transferred", what).alarm(Alarm::Authority)
        }
        Token::MintTo { mint, to, amount, decimals } => {
            let what = format!("mint {} of {} to {}", tokens(amount, decimals), named(mint), named(to));
            ActDescription::new("new tokens", what).to(to)
        }
        Token::Burn { account, mint, amount, decimals } => {
            let (amount, mint, account) = (tokens(amount, decimals), named(mint), named(account));
            ActDescription::new("tokens burned", format!("burn {amount} of {mint} held in {account}"))
        }
        Token::CloseAccount { account, to } => {
            let what =
                format!("close the token account {} and send all SOL in it to {}", named(account), named(to));
            ActDescription::new("a token account closed", what).to(to).alarm(Alarm::Closes)
        }
        Token::FreezeAccount { account } => {
            ActDescription::new("tokens frozen", format!("freeze the tokens of {}", named(account)))
        }
        Token::ThawAccount { account } => {
            ActDescription::new("tokens thawed", format!("thaw the tokens of {}", named(account)))
        }
        Token::SyncNative { account } => {
            let what = format!("sync the wrapped SOL balance of {}", named(account));
            ActDescription::new("wrapped SOL synced", what)
        }
    }
}

fn describe_sol<'a>(verb: &str, (from, to): (&'a str, &'a str), lamports: u64) -> ActDescription<'a> {
    let sol = sol(lamports);
    let what = format!("{verb} {sol} SOL from {} to {}", named(from), named(to));
    let description = ActDescription::new(format!("{sol} SOL to {}", named(to)), what).to(to);
    ActDescription { lamports, ..description }
}

fn describe_assignment<'a>(account: &str, owner: &str) -> ActDescription<'a> {
    let what = format!("assign the account {} to the program {owner}", named(account));
    ActDescription::new("an account assigned to a program", what).alarm(Alarm::Assigns)
}

fn describe_transfer<'a>(transfer: &TokenTransfer<'a>) -> ActDescription<'a> {
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
    ActDescription { details, ..ActDescription::new(format!("{amount} to {to}"), what).to(transfer.to) }
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
