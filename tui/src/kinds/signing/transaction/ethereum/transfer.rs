//! What an Ethereum transaction moves.

use quorate_chain::address::{Chain, of_account};
use quorate_chain::transaction::Ethereum;

use super::{COIN_DECIMALS, MAINNET, coin, coins, fee_text, is_paid};
use crate::kinds::prelude::*;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::kinds::signing::transaction::token::TokenCall;
use crate::kinds::transfer::{Asset, Payment, Transfer, wide};

/// Names of chains that people know by name.
const NAMES: [(u64, &str); 9] = [
    (MAINNET, "Ethereum mainnet"),
    (10, "OP mainnet"),
    (56, "BNB Smart Chain"),
    (100, "Gnosis"),
    (137, "Polygon"),
    (8453, "Base"),
    (42161, "Arbitrum One"),
    (43114, "Avalanche C-Chain"),
    (11_155_111, "Sepolia, a test network"),
];

pub(in crate::kinds::signing::transaction) fn transfer(
    transaction: &Ethereum,
    key: &Key<'_>,
    context: &ReviewContext<'_>,
) -> Transfer {
    let recipients = Recipients::new(Chain::Ethereum, key, context);
    let contract = transaction.to().map(|to| of_account(&to));
    let token = contract.as_ref().and_then(|_| TokenCall::read(transaction.data()));
    let (mut payments, mut more) = (Vec::new(), Vec::new());
    let field = |name: &'static str, value: String| (name, value);
    if let (Some(contract), Some(call)) = (&contract, &token) {
        payments.extend(token_payment(contract, call, transaction, &recipients));
        more.push(field("token", recipients.named(contract)));
    }
    if payments.is_empty() || is_paid(transaction) {
        payments.push(coin_payment(contract.as_deref(), transaction, &recipients));
    }
    more.push(field("nonce", transaction.nonce().to_string()));
    more.push(field("kind", transaction.kind().to_owned()));
    Transfer {
        network: network(transaction),
        payer: recipients.payer(key.name, key.text),
        payments,
        fee: fee(transaction),
        more,
        rest: rest(transaction, token.as_ref()),
        nothing: "no call data, no access list",
        before: Vec::new(),
    }
}

/// Returns the maximum fee, with that of blobs.
fn fee(transaction: &Ethereum) -> String {
    let fee = format!("at most {}", fee_text(transaction));
    match transaction.blobs() {
        None => fee,
        Some((blobs, most)) => {
            format!("{fee}; and at most {} for {}", coins(transaction, &wide(most)), count(blobs, "blob"))
        }
    }
}

fn coin_payment(to: Option<&str>, transaction: &Ethereum, recipients: &Recipients<'_>) -> Payment {
    let asset = Asset {
        id: format!("coin of {}", chain_text(transaction)),
        unit: Some((coin(transaction), COIN_DECIMALS)),
        base: "wei",
    };
    let payment = recipients.payment(to.unwrap_or_default(), asset, transaction.value());
    match to {
        Some(_) => payment,
        None => Payment {
            who: "[!] a new contract".to_owned(),
            address: "no address: the transaction creates it".to_owned(),
            ..payment
        },
    }
}

/// Returns what a call of a token contract moves or allows, if its arguments can be decoded.
fn token_payment(
    contract: &str,
    call: &TokenCall<'_>,
    transaction: &Ethereum,
    recipients: &Recipients<'_>,
) -> Option<Payment> {
    let (account, amount, right) = call.moved()?;
    let id = format!("token {contract} of {}", chain_text(transaction));
    let asset = Asset { id, unit: recipients.token_unit(contract), base: "base units" };
    Some(Payment { right, ..recipients.payment(&of_account(account), asset, *amount) })
}

fn chain_text(transaction: &Ethereum) -> String {
    transaction.chain_id().map_or_else(|| "ANY chain".to_owned(), |chain| format!("chain {chain}"))
}

fn network(transaction: &Ethereum) -> String {
    let Some(chain) = transaction.chain_id() else {
        return "[!] ANY chain: it names none".to_owned();
    };
    match NAMES.iter().find(|(known, _)| *known == chain) {
        Some((_, name)) => format!("chain {chain}, {name}"),
        None => format!("chain {chain}"),
    }
}

/// Returns everything in the bytes besides the payments.
fn rest(transaction: &Ethereum, token: Option<&TokenCall<'_>>) -> Vec<String> {
    let bytes = count(transaction.data().len(), "byte");
    let mut rest = Vec::new();
    match token {
        _ if transaction.to().is_none() => rest.push(format!("[!] {bytes} of code of a new contract")),
        Some(call) => rest.push(call.rest()),
        None if !transaction.data().is_empty() => rest.push(format!("[!] {bytes} of call data, see below")),
        None => {}
    }
    match transaction.access_list_len() {
        0 => {}
        1 => rest.push("an access list of 1 address".to_owned()),
        listed => rest.push(format!("an access list of {listed} addresses")),
    }
    if let Some((blobs, _)) = transaction.blobs() {
        rest.push(count(blobs, "blob"));
    }
    let delegations = transaction.authorizations().len();
    if delegations > 0 {
        rest.push(format!("[!] {}, see below", count(delegations, "delegation")));
    }
    rest
}
