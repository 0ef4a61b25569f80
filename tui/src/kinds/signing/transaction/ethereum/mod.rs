//! Describes Ethereum transactions.

mod transfer;

use std::fmt::Write as _;

use quorate_chain::address::{Chain, of_account};
use quorate_chain::authorization::Signed;
use quorate_chain::contract::Call;
use quorate_chain::transaction::Ethereum;

use super::fee;
use super::token::{self, TokenCall};
use crate::contracts::{StatedInterfaces, argument};
use crate::kinds::prelude::*;
use crate::kinds::signing::authorization;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::kinds::transfer::{decimal, wide};
use crate::text::grouped;

pub(super) use self::transfer::transfer;

/// Gas of a plain transfer.
const TRANSFER_GAS: u64 = 21_000;
/// Largest fee in wei that is never flagged: 0.1 ether.
const USUAL_FEE: u128 = 100_000_000_000_000_000;

/// Decimals of the coin of a chain, and of gwei, in which gas prices are stated.
const COIN_DECIMALS: u8 = 18;
const GWEI_DECIMALS: u8 = 9;
/// The main network, which summaries do not name.
const MAINNET: u64 = 1;
/// Chains whose own coin is ether: the main network, OP, Zora, Base, Arbitrum One and Nova, Linea, Blast,
/// Scroll, `ZKsync`, Mode and World Chain. Also the test networks Sepolia, Hoodi, Base Sepolia, OP Sepolia and
/// Arbitrum Sepolia.
const CHAINS_OF_ETHER: [u64; 17] = [
    1, 10, 324, 480, 8453, 34443, 42161, 42170, 59144, 81457, 534_352, 7_777_777, 11_155_111, 560_048, 84532,
    11_155_420, 421_614,
];

/// A call as an interface of the organization describes it.
struct InterfaceCall {
    call: Call,
    /// Label of the interface, in quotes.
    interface: String,
}

impl InterfaceCall {
    fn of(transaction: &Ethereum, context: &ReviewContext<'_>) -> Option<Self> {
        let stated = StatedInterfaces::of(&context.organization.smart_contract_interfaces);
        let interface = quoted(&stated.ethereum(&transaction.to()?)?.label);
        Some(Self { call: transaction.call(&stated)?, interface })
    }
}

pub(super) fn describe(transaction: &Ethereum, key: &Key<'_>, context: &ReviewContext<'_>) -> Description {
    let mut recipients = Recipients::new(Chain::Ethereum, key, context);
    let (to, data) = (transaction.to().map(|to| of_account(&to)), transaction.data());
    let known = InterfaceCall::of(transaction, context);
    let token = to.as_ref().and_then(|_| TokenCall::read(data));
    let (brief, mut what) = summarize(transaction, token.as_ref(), known.as_ref(), &recipients);
    match transaction.chain_id() {
        Some(chain) => {
            let _ = write!(what, ", on chain {chain}");
        }
        None => what.push_str(", on ANY chain"),
    }
    let brief = dangers(transaction) + &brief;
    what.push_str(&delegation_clause(&transaction.authorizations()));
    let mut description =
        Description::new(brief, format!("Sign a transaction with {} that would {what}.", key.signer));
    if let Some(to) = &to {
        // A token contract receives nothing itself, unless the call sends something along.
        if token.is_some() && !is_paid(transaction) {
            recipients.add_contract("to, in full", to, &mut description);
        } else {
            recipients.add("to, in full", to, &mut description);
        }
    }
    let is_to_itself = to.as_ref().is_some_and(|to| recipients.is_own(to));
    add_cost(transaction, is_to_itself, &mut description);
    description.fact("nonce", transaction.nonce().to_string());
    description.fact("kind", transaction.kind().to_owned());
    if let Some(known) = &known {
        add_arguments(known, &mut recipients, &mut description);
    }
    if !data.is_empty() {
        description.fact("data", const_hex::encode_prefixed(data));
    }
    match token {
        Some(token) => token.add_details(of_account, &mut recipients, &mut description),
        None if to.is_some() && !data.is_empty() => {
            token::flag_unknown_call(known.is_some(), &mut description);
        }
        None => {}
    }
    add_delegations(transaction, &mut recipients, &mut description);
    recipients.finish(&mut description);
    add_other_facts(transaction, &mut description);
    description.fact("digest, computed here", grouped(&const_hex::encode(transaction.digest())));
    description
}

/// Returns the dangers that a summary begins with, because its end may be cut off.
fn dangers(transaction: &Ethereum) -> String {
    let delegates = if transaction.authorizations().is_empty() { "" } else { "[!] DELEGATES code: " };
    match transaction.chain_id() {
        None => format!("{delegates}[!] ANY chain: "),
        Some(chain) if chain != MAINNET => format!("{delegates}on chain {chain}: "),
        Some(_) => delegates.to_owned(),
    }
}

/// Returns the effect in a few words and as a clause.
fn summarize(
    transaction: &Ethereum,
    token: Option<&TokenCall<'_>>,
    known: Option<&InterfaceCall>,
    recipients: &Recipients<'_>,
) -> (String, String) {
    let value = coins(transaction, &transaction.value());
    let data = transaction.data();
    let Some(to) = transaction.to().map(|to| of_account(&to)) else {
        let what = format!("create a contract from {} of code, with {value}", count(data.len(), "byte"));
        return (format!("[!] NEW CONTRACT with {value}"), what);
    };
    let (short, named) = (recipients.short(&to), recipients.named(&to));
    if let Some(token) = token {
        let (brief, what) = token.words(of_account, recipients);
        let paid = if is_paid(transaction) { format!(", with {value}") } else { String::new() };
        return (brief + &paid, format!("call {named} as a token contract, to {what}{paid}"));
    }
    let brief = format!("{value} to {short}");
    if let Some(InterfaceCall { call, interface }) = known {
        let (name, spelled) = (clean(&call.name), spelled(call));
        let what = format!(
            "call {name}{spelled} of {named}, as its interface {interface} describes it, with {value}"
        );
        return (brief, what);
    }
    if data.is_empty() {
        return (brief, format!("send {value} to {named}"));
    }
    let what = format!("call {named} with {} of data and {value}", count(data.len(), "byte"));
    (format!("UNDECODED call with {value} of {short}"), what)
}

fn is_paid(transaction: &Ethereum) -> bool {
    transaction.value() != [0; 32]
}

/// Returns the maximum fee in the coin of the chain, in base units, and as gas and its price.
fn fee_text(transaction: &Ethereum) -> String {
    let (most, tip) = transaction.fees();
    let gas = transaction.gas();
    let cost = u128::from(gas).saturating_mul(most);
    let gwei = |wei: u128| decimal(&wide(wei), GWEI_DECIMALS);
    let tipped = tip.map_or_else(String::new, |tip| format!(", tip {} gwei", gwei(tip)));
    let amount = coins(transaction, &wide(cost));
    format!("{amount} ({cost} wei): {gas} gas at {} gwei{tipped}", gwei(most))
}

/// Adds the maximum cost, and flags a high or impossible fee.
fn add_cost(transaction: &Ethereum, is_to_itself: bool, description: &mut Description) {
    let format_amount = |wei: u128| coins(transaction, &wide(wei));
    let (most, tip) = transaction.fees();
    let gas = transaction.gas();
    let mut cost = u128::from(gas).saturating_mul(most);
    description.fact("fee at most", fee_text(transaction));
    if let Some((number, most)) = transaction.blobs() {
        description.fact("blobs", format!("{number}, for at most {} more", format_amount(most)));
        cost = cost.saturating_add(most);
    }
    let value = transaction.value();
    let sent = match (is_to_itself, value.split_first_chunk::<16>()) {
        (true, _) => 0,
        (false, Some(([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], low))) => {
            low.try_into().map_or(u128::MAX, u128::from_be_bytes)
        }
        (false, _) => u128::MAX,
    };
    fee::flag_high_fee(cost, USUAL_FEE, sent, format_amount, description);
    if tip.is_some_and(|tip| tip > most) {
        description.flag_medium(
            "tip-above-fee",
            "No block will include this: the tip is higher than the whole gas price.",
        );
    }
}

/// Returns the accounts whose code it changes, as the end of a sentence.
fn delegation_clause(signed: &[Signed]) -> String {
    match signed {
        [] => String::new(),
        [Signed { authorization, authority: Some(authority) }] if !authorization.is_revocation() => {
            format!(", and let the code of {} act for {authority}", of_account(authorization.address()))
        }
        several => format!(", and change whose code acts for {}", count(several.len(), "account")),
    }
}

/// Adds each account whose code it changes as a fact, with the flags.
fn add_delegations(transaction: &Ethereum, recipients: &mut Recipients<'_>, description: &mut Description) {
    for (index, Signed { authorization, authority }) in transaction.authorizations().iter().enumerate() {
        let label = format!("authorization[{index}]: ");
        let whose =
            authority.clone().unwrap_or_else(|| "nobody: its signature matches no account".to_owned());
        description.fact(&format!("{label}of"), whose);
        authorization::add_details(authorization, &label, recipients, description);
    }
}

/// Adds facts and flags of everything that is not a plain transfer.
fn add_other_facts(transaction: &Ethereum, description: &mut Description) {
    if transaction.to().is_none() {
        description.flag_with_word(
            "creates-contract",
            "May do anything: it creates a contract whose code is not examined here.",
            "CONTRACT",
        );
    }
    if transaction.chain_id().is_none() {
        description.flag_with_word("any-chain", "Can be sent on every chain: it names none.", "ANY");
    }
    if transaction.access_list_len() > 0 {
        let access_list_len = transaction.access_list_len();
        let addresses = if access_list_len == 1 { "address" } else { "addresses" };
        description.fact("access list", format!("{access_list_len} {addresses}"));
    }
    if transaction.data().is_empty() && transaction.gas() > TRANSFER_GAS {
        description.fact("gas", format!("more than the {TRANSFER_GAS} of a plain transfer"));
    }
    description.flag_medium("moves-funds", "Moves funds, or acts for the holder of the address.");
}

/// Returns the arguments of a call in brackets, if they are few.
fn spelled(call: &Call) -> String {
    const FEW: usize = 3;
    let lines = call.lines().filter(|lines| lines.left_out == 0 && (1..=FEW).contains(&lines.lines.len()));
    let text = lines.map(|lines| {
        let spelled = lines.lines.iter().map(|line| format!("{} {}", clean(&line.path), argument(line)));
        format!("({})", spelled.collect::<Vec<_>>().join(", "))
    });
    text.unwrap_or_default()
}

/// Adds the arguments of a call as facts, by their names in the interface.
fn add_arguments(known: &InterfaceCall, recipients: &mut Recipients<'_>, description: &mut Description) {
    let InterfaceCall { call, interface } = known;
    description
        .fact("calls", format!("{} ({})", clean(&call.name), const_hex::encode_prefixed(call.selector)));
    let Some(lines) = call.lines() else {
        let text = format!("NOT the arguments of {} in the interface {interface}", clean(&call.name));
        description.fact("arguments", text);
        return;
    };
    for line in &lines.lines {
        let path = clean(&line.path);
        description.fact(&path, format!("{} ({})", argument(line), clean(&line.kind)));
        if line.kind == "address" {
            recipients.add(&format!("{path}, in full"), &line.text, description);
        }
    }
    if lines.left_out > 0 {
        description.fact("more arguments", format!("{} that are not shown", lines.left_out));
    }
    description.fact(
        "names from",
        format!(
            "the interface {interface}, which the organization uploaded, as the daemon states [s]: the bytes \
             do not prove what they mean"
        ),
    );
}

/// Formats an amount of wei in the coin of the chain, exactly. The coin is only named where it is known to be
/// ether.
fn coins(transaction: &Ethereum, wei: &[u8; 32]) -> String {
    let amount = decimal(wei, COIN_DECIMALS);
    format!("{amount} {}", coin(transaction))
}

/// Returns the name of the coin of the chain.
fn coin(transaction: &Ethereum) -> String {
    match transaction.chain_id() {
        Some(chain) if CHAINS_OF_ETHER.contains(&chain) => "ETH".to_owned(),
        Some(chain) => format!("coins of chain {chain}"),
        None => "coins".to_owned(),
    }
}
