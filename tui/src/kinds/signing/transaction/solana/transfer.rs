//! What a Solana transaction moves.

use std::cmp::Reverse;

use quorate_chain::address::Chain;
use quorate_chain::transaction::Solana;
use quorate_chain::transaction::solana::{Act, System, Token, TokenTransfer};

use super::description::named;
use super::{cost, holder};
use crate::kinds::prelude::*;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::kinds::transfer::{Asset, Payment, Transfer, wide};

/// Decimals of SOL.
const DECIMALS: u8 = 9;

/// The payments of a transaction, each with the account that pays, and the number of other instructions.
#[derive(Default)]
struct Moved {
    payments: Vec<(String, Payment)>,
    others: usize,
}

/// Returns what the transaction moves, or `None` if it moves neither SOL nor tokens.
pub(in crate::kinds::signing::transaction) fn transfer(
    transaction: &Solana,
    key: &Key<'_>,
    context: &ReviewContext<'_>,
) -> Option<Transfer> {
    let recipients = Recipients::new(Chain::Solana, key, context);
    let Moved { payments, others } = moved(transaction, &recipients);
    let from = payments.first()?.0.clone();
    let is_one = payments.iter().all(|(other, _)| *other == from);
    let mut payer = recipients.payer(&from, &from);
    if !is_one {
        "[!] several accounts, the first is".clone_into(&mut payer.words);
    }
    let mut payments: Vec<Payment> = payments.into_iter().map(|(_, payment)| payment).collect();
    let first = payments.first()?.asset.id.clone();
    payments.sort_by_key(|payment| (payment.asset.id != first, Reverse(payment.amount)));
    let valid = if transaction.uses_durable_nonce() {
        "[!] at any later time: it uses a durable nonce".to_owned()
    } else {
        format!("until soon after block {}", transaction.recent_blockhash())
    };
    let mut rest = Vec::new();
    if others > 0 {
        rest.push(format!("{}, see below", count(others, "more instruction")));
    }
    if !is_one {
        rest.push("payments of several accounts, see below".to_owned());
    }
    let tables = transaction.tables().len();
    if tables > 0 {
        rest.push(format!("[!] accounts from {}", count(tables, "lookup table")));
    }
    Some(Transfer {
        network: "Solana".to_owned(),
        payer,
        payments,
        fee: format!("at most {}", cost(transaction).1),
        more: vec![("valid", valid)],
        rest,
        nothing: "no other instructions, no memo",
        before: Vec::new(),
    })
}

fn moved(transaction: &Solana, recipients: &Recipients<'_>) -> Moved {
    let mut found = Moved::default();
    for instruction in transaction.instructions() {
        match instruction.act() {
            Act::System(
                System::Transfer { from, to, lamports }
                | System::TransferWithSeed { from, to, lamports }
                | System::WithdrawNonceAccount { account: from, to, lamports },
            ) => found.payments.push((named(from), sol_payment(to, lamports, recipients))),
            Act::Token(Token::Transfer(transfer)) => {
                let payment = token_payment(&transfer, transaction, recipients);
                found.payments.push((named(transfer.owner), payment));
            }
            Act::ComputeBudget(_) => {}
            _ => found.others = found.others.saturating_add(1),
        }
    }
    found
}

fn sol_payment(to: &str, lamports: u64, recipients: &Recipients<'_>) -> Payment {
    let unit = Some(("SOL".to_owned(), DECIMALS));
    let asset = Asset { id: "SOL".to_owned(), unit, base: "lamports" };
    recipients.payment(&named(to), asset, wide(lamports.into()))
}

/// Returns the payment of tokens. Its recipient is the wallet if the transaction creates the wallet's account.
fn token_payment(transfer: &TokenTransfer<'_>, transaction: &Solana, recipients: &Recipients<'_>) -> Payment {
    let amount = wide(transfer.amount.into());
    let asset = if let Some((mint, decimals)) = transfer.mint {
        let mint = named(mint);
        let unit = Some((format!("tokens of {}", recipients.named(&mint)), decimals));
        Asset { id: format!("token {mint}"), unit, base: "base units" }
    } else {
        let id = format!("the token of the account {}", named(transfer.from));
        Asset { id, unit: None, base: "base units" }
    };
    match holder(transaction, transfer.to).filter(|_| !recipients.knows(transfer.to)) {
        None => recipients.payment(&named(transfer.to), asset, amount),
        Some(wallet) => {
            let payment = recipients.payment(&named(wallet), asset, amount);
            let account = named(transfer.to);
            Payment { who: format!("{}, by its token account {account}", payment.who), ..payment }
        }
    }
}
