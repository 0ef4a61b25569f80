//! Transactions of Ethereum.

use quorate_chain::address::{Chain, of_account};
use quorate_chain::authorization::Signed;
use quorate_chain::contract::Call;
use quorate_chain::transaction::Ethereum;
use quorate_policy::Integer;

use super::fee;
use super::recipient::Recipients;
use super::token::{self, TokenCall};
use crate::contracts::Stated;
use crate::kinds::payload::authorization;
use crate::kinds::scene::count;
use crate::kinds::{Level, Scene, Story};
use crate::text::{clean, grouped, quoted};

/// Gas that a plain transfer takes.
const TRANSFER_GAS: u64 = 21_000;
/// A fee in wei that needs no second look, however little is sent: a tenth of an ether.
const USUAL_FEE: u128 = 100_000_000_000_000_000;

/// A call as an interface of the organization tells it.
struct Told {
    call: Call,
    /// Name of the interface, in quotes.
    interface: String,
}

impl Told {
    fn of(transaction: &Ethereum, scene: &Scene<'_>) -> Option<Self> {
        let stated = Stated::of(&scene.organization.smart_contract_interfaces);
        let interface = quoted(&stated.ethereum(&transaction.to()?)?.label);
        Some(Self { call: transaction.call(&stated)?, interface })
    }
}

pub(super) fn told(transaction: &Ethereum, signer: &str, key: &str, scene: &Scene<'_>) -> Story {
    let mut recipients = Recipients::new(Chain::Ethereum, key, scene);
    let value = ether(&transaction.value());
    let chain =
        transaction.chain_id().map_or_else(|| "ANY chain".to_owned(), |chain| format!("chain {chain}"));
    let to = transaction.to().map(|to| of_account(&to));
    let data = transaction.data();
    let known = Told::of(transaction, scene);
    let named = to.as_ref().map(|to| recipients.named(to));
    let token = to.as_ref().and_then(|_| TokenCall::read(data));
    let words = token.as_ref().map(|call| call.words(of_account, &recipients));
    let is_paid = transaction.value() != [0; 32];
    let paid = if is_paid { format!(", with {value} ETH") } else { String::new() };
    let what = match (&named, data.is_empty()) {
        (Some(to), _) if let Some((_, what)) = &words => {
            format!("call {to} as a contract of tokens, to {what}{paid}")
        }
        (Some(to), _) if let Some(Told { call, interface }) = &known => {
            format!(
                "call {}{} of {to}, in the words of its interface {interface}, with {value} ETH",
                clean(&call.name),
                spelled(call)
            )
        }
        (None, _) => format!("create a contract from {} bytes of code, with {value} ETH", data.len()),
        (Some(to), true) => format!("send {value} ETH to {to}"),
        (Some(to), false) => format!("call {to} with {} bytes of data and {value} ETH", data.len()),
    };
    let brief = words.map_or_else(
        || match &to {
            Some(to) => format!("{value} ETH to {}", recipients.short(to)),
            None => format!("{value} ETH to a new contract"),
        },
        |(brief, _)| brief + &paid,
    );
    let what = format!("{what}, on {chain}{}", delegates(&transaction.authorizations()));
    let mut story = Story::new(brief, format!("Sign a transaction with {signer} that would {what}."));
    if let Some(to) = &to {
        // A contract of tokens gets nothing itself, unless ether comes with the call.
        if token.is_some() && !is_paid {
            recipients.tell_keeper("to, in full", to, &mut story);
        } else {
            recipients.tell("to, in full", to, &mut story);
        }
    }
    cost(transaction, &mut story);
    story.fact("nonce", transaction.nonce().to_string());
    story.fact("kind", transaction.kind().to_owned());
    let is_told = known.is_some_and(|known| arguments(&known, &mut story));
    if !data.is_empty() {
        story.fact("data", const_hex::encode_prefixed(data));
    }
    match token {
        Some(token) => token.tell(of_account, &mut recipients, &mut story),
        None if to.is_some() && !data.is_empty() => token::unknown(is_told, &mut story),
        None => {}
    }
    recipients.finish(&mut story);
    rest(transaction, &mut story);
    story.fact("digest, computed here", grouped(&const_hex::encode(transaction.digest())));
    story
}

/// What it costs at most, and whether to believe that.
fn cost(transaction: &Ethereum, story: &mut Story) {
    let (most, tip) = transaction.fees();
    let gas = transaction.gas();
    let mut cost = u128::from(gas).saturating_mul(most);
    let tipped =
        tip.map_or_else(String::new, |tip| format!(", of which {tip} at most for whoever includes it"));
    story.fact("fee at most", format!("{} ETH: {gas} gas at {most} wei each{tipped}", ether(&wide(cost))));
    if let Some((number, most)) = transaction.blobs() {
        story.fact("blobs", format!("{number}, for {} ETH at most on top", ether(&wide(most))));
        cost = cost.saturating_add(most);
    }
    let value = transaction.value();
    let sent = match value.split_first_chunk::<16>() {
        Some(([0, ..], _)) => value.last_chunk::<16>().map_or(u128::MAX, |low| u128::from_be_bytes(*low)),
        _ => u128::MAX,
    };
    fee::judge(cost, USUAL_FEE, sent, |wei| format!("{} ETH", ether(&wide(wei))), story);
    if tip.is_some_and(|tip| tip > most) {
        story.flag(
            Level::Med,
            "tip-above-fee",
            "a larger tip than the whole price of gas: no block takes it",
        );
    }
}

/// Whose code it changes, as the end of a sentence.
fn delegates(signed: &[Signed]) -> String {
    match signed {
        [] => String::new(),
        [Signed { authorization, authority: Some(authority) }] if !authorization.is_revocation() => {
            format!(", and let the code of {} act for {authority}", of_account(authorization.address()))
        }
        several => format!(", and change whose code acts for {}", count(several.len(), "account")),
    }
}

/// What is not the plain transfer of some ether.
fn rest(transaction: &Ethereum, story: &mut Story) {
    if transaction.to().is_none() {
        story.flag(Level::High, "creates-contract", "creates a contract whose code is not looked into here");
        story.danger("the word CONTRACT", "CONTRACT");
    }
    if transaction.chain_id().is_none() {
        story.flag(Level::High, "any-chain", "names no chain: it can be sent on every one");
        story.danger("the word ANY", "ANY");
    }
    if transaction.accessed() > 0 {
        story.fact("access list", format!("{} addresses", transaction.accessed()));
    }
    for (place, Signed { authorization, authority }) in transaction.authorizations().iter().enumerate() {
        let label = format!("authorization[{place}] ");
        let whose = authority.clone().unwrap_or_else(|| "nobody: its signature is no account's".to_owned());
        story.fact(&format!("{label}of"), whose);
        authorization::tell(authorization, &label, story);
    }
    if transaction.data().is_empty() && transaction.gas() > TRANSFER_GAS {
        story.fact("gas", format!("more than the {TRANSFER_GAS} of a plain transfer"));
    }
    story.flag(Level::Med, "moves-funds", "moves funds, or acts for whoever holds the address");
}

/// The arguments of a call in brackets, if they are few.
fn spelled(call: &Call) -> String {
    const FEW: usize = 3;
    let lines = call.lines().filter(|told| told.left_out == 0 && (1..=FEW).contains(&told.lines.len()));
    let told = lines.map(|told| {
        let spelled = told.lines.iter().map(|line| format!("{} {}", clean(&line.path), clean(&line.text)));
        format!("({})", spelled.collect::<Vec<_>>().join(", "))
    });
    told.unwrap_or_default()
}

/// Tells the arguments of a call by their names. Whether they can be told.
fn arguments(known: &Told, story: &mut Story) -> bool {
    let Told { call, interface } = known;
    story.fact("calls", format!("{} ({})", clean(&call.name), const_hex::encode_prefixed(call.selector)));
    let Some(told) = call.lines() else {
        story.fact("arguments", format!("not what {} takes by the interface {interface}", clean(&call.name)));
        return false;
    };
    for line in &told.lines {
        story.fact(&clean(&line.path), format!("{} ({})", clean(&line.text), clean(&line.kind)));
    }
    if told.left_out > 0 {
        story.fact("more arguments", format!("{} that are not shown", told.left_out));
    }
    story.fact(
        "names by",
        format!("the interface {interface}, which the organization uploaded: what they mean is not proven by the bytes"),
    );
    true
}

fn wide(number: u128) -> [u8; 32] {
    let mut bytes = [0; 32];
    if let Some(low) = bytes.last_chunk_mut::<16>() {
        *low = number.to_be_bytes();
    }
    bytes
}

/// An amount of wei in ether, exactly.
fn ether(wei: &[u8; 32]) -> String {
    const DECIMALS: usize = 18;
    let digits = Integer::from_be_bytes(wei).map(|number| number.to_string()).unwrap_or_default();
    let digits = format!("{digits:0>width$}", width = DECIMALS + 1);
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(DECIMALS));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}
