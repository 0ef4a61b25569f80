//! Transactions of Bitcoin.

use quorate_chain::address::Chain;
use quorate_chain::transaction::{
    Bitcoin, BitcoinHolder as Holder, BitcoinInput as Input, BitcoinLockTime as LockTime,
    BitcoinOutput as Output, BitcoinPart as Part,
};

use super::Key;
use super::recipient::Recipients;
use crate::kinds::scene::{count, listed};
use crate::kinds::{Level, Scene, Story};
use crate::text::{clean, date_time, grouped};

/// Satoshis of a bitcoin.
const BITCOIN: u64 = 100_000_000;
/// A fee in satoshis that needs no second look, however little is sent.
const USUAL_FEE: u64 = BITCOIN / 1_000;
/// Sequence numbers without a meaning of their own: final, with a lock time, replaceable.
const PLAIN_SEQUENCES: core::ops::RangeInclusive<u32> = 0xffff_fffd..=0xffff_ffff;

pub(super) fn told(transaction: &Bitcoin, signer: &str, key: &Key<'_>, scene: &Scene<'_>) -> Story {
    let recipients = Recipients::new(Chain::Bitcoin, key, scene);
    let holder = Holder::read(key.text);
    let (inputs, outputs) = (transaction.inputs(holder.as_ref()), transaction.outputs(holder.as_ref()));
    let (back, away): (Vec<&Output>, Vec<&Output>) = outputs.iter().partition(|output| output.is_returned);
    let amount = bitcoins(total(&away));
    let sent = format!("{amount} to {}", whom(&away, |address| recipients.named(address)));
    let mut what =
        vec![if away.is_empty() { "send nothing to others".to_owned() } else { format!("send {sent}") }];
    if !back.is_empty() {
        what.push(format!("return {} to the key itself", bitcoins(total(&back))));
    }
    what.push(match transaction.fee() {
        Some(fee) => format!("and leave a fee of {}", bitcoins(fee)),
        None => "and leave a fee that is [!] NOT KNOWN".to_owned(),
    });
    let brief = if away.is_empty() {
        format!("{} to itself", bitcoins(total(&back)))
    } else {
        format!("{amount} to {}", whom(&away, |address| recipients.short(address)))
    };
    let mut story =
        Story::new(brief, format!("Sign a Bitcoin transaction with {signer} that would {}.", listed(what)));
    paid(&outputs, recipients, &mut story);
    taken(transaction, &inputs, holder.as_ref(), &mut story);
    fee(transaction, &away, holder.as_ref(), &mut story);
    time(transaction, &mut story);
    let network = holder.as_ref().map_or("mainnet", Holder::network);
    story.fact("addresses are those of", network);
    story.fact("id without signatures, computed here", grouped(&transaction.tx_id()));
    if !signer.contains(key.text) {
        story.fact("public key, as the daemon states it", grouped(&clean(key.text)));
    }
    if holder.is_none() {
        story.flag(
            Level::Med,
            "unknown-key",
            "the name of the key does not tell which outputs come back to it",
        );
    }
    if key.is_stated && !back.is_empty() {
        let text =
            "what comes back to the key itself does so by the daemon's word [s]: it states the public key";
        story.flag(Level::Med, "stated-key", text);
    }
    story.flag(Level::Med, "moves-funds", "moves funds of whoever holds the key");
    story
}

/// Each output, with its address in full.
fn paid(outputs: &[Output], mut recipients: Recipients<'_>, story: &mut Story) {
    for (place, output) in outputs.iter().enumerate() {
        let back = if output.is_returned { ", back to the key itself" } else { "" };
        let kind = if output.address_type.is_empty() {
            String::new()
        } else {
            format!(" ({})", output.address_type)
        };
        story.fact(
            &format!("output {place}"),
            format!("{} to {}{kind}{back}", bitcoins(output.value), target(output)),
        );
        let in_full = format!("output {place}, in full");
        if let Some(address) = &output.address {
            if output.is_returned {
                story.fact(&in_full, grouped(address));
            } else {
                recipients.tell(&in_full, address, story);
            }
        } else if let Some(said) = output.said() {
            story.fact(&format!("output {place} says"), format!("{} ({})", in_words(&said), hex(&said)));
        }
    }
    recipients.finish(story);
    let burns = outputs.iter().any(|output| output.said().is_some() && output.value > 0);
    if burns {
        story.flag(Level::High, "burns", "pays to what nobody can ever spend");
        story.danger("the word BURNS", "BURNS");
    }
    let is_unknown = |output: &Output| output.address.is_none() && output.said().is_none();
    if outputs.iter().any(is_unknown) {
        story.flag(Level::High, "unknown-script", "pays to a script that is not decoded here");
        story.danger("the word UNDECODED", "UNDECODED");
    }
}

/// Each input, and whose they are.
fn taken(transaction: &Bitcoin, inputs: &[Input], holder: Option<&Holder>, story: &mut Story) {
    for (place, input) in inputs.iter().enumerate() {
        let value = input.value.map_or_else(|| "[!] an unknown amount".to_owned(), bitcoins);
        let proven = match (input.value, input.is_proven) {
            (None, _) => "",
            (_, true) => ", proven by the transaction that paid it",
            (_, false) => ", as the asker says",
        };
        let part = match input.part {
            Part::Signs => ", signed by this key",
            Part::MaySign => ", signed by this key if its script has it",
            Part::Foreign => ", of somebody else",
            Part::Unknown => "",
        };
        let sequence = match input.sequence {
            plain if PLAIN_SEQUENCES.contains(&plain) => String::new(),
            other => format!(", with sequence number {other}"),
        };
        let from = format!("{}:{}", input.tx_id, input.vout);
        story.fact(&format!("input {place}"), format!("{value}{proven}{part}{sequence}, from {from}"));
    }
    let parted = |part: Part| inputs.iter().filter(|input| input.part == part).count();
    let (foreign, signs, may) = (parted(Part::Foreign), parted(Part::Signs), parted(Part::MaySign));
    if foreign > 0 {
        let text = format!("spends what belongs to others: {foreign} of {}", count(inputs.len(), "input"));
        story.flag(Level::Med, "foreign-inputs", text);
    }
    let refused = holder.and_then(|holder| transaction.refused(holder));
    if let Some(flaw) = refused {
        story.flag(Level::Med, "not-signed", format!("will not be signed: {flaw}"));
    } else if holder.is_some() && signs == 0 && may == 0 {
        story.flag(Level::Med, "not-signed", "will not be signed: no input belongs to the key");
    }
}

/// The fee, and whether to believe it.
fn fee(transaction: &Bitcoin, away: &[&Output], holder: Option<&Holder>, story: &mut Story) {
    let Some(fee) = transaction.fee() else {
        story.fact("fee", "not known: not every input says what it spends");
        story.flag(Level::High, "unknown-fee", "the fee is not known, and may be all that the inputs hold");
        story.danger("the word FEE", "FEE");
        return;
    };
    story.fact("fee", bitcoins(fee));
    let told = |satoshis| u64::try_from(satoshis).map(bitcoins).unwrap_or_default();
    super::fee::judge(fee.into(), USUAL_FEE.into(), total(away).into(), told, story);
    let unproven = transaction.unproven(holder);
    if unproven > 0 {
        let text = format!(
            "{} may hold more than the asker says, and all beyond it would be fee",
            count(unproven, "input")
        );
        story.flag(Level::Med, "unproven-amounts", text);
    }
}

/// When it can be mined, and whether another may take its place.
fn time(transaction: &Bitcoin, story: &mut Story) {
    let from = match transaction.lock_time() {
        _ if !transaction.is_locked() => "at once".to_owned(),
        LockTime::Block(height) => format!("after block {height}"),
        LockTime::Second(second) => format!("after {}", date_time(u64::from(second).saturating_mul(1_000))),
    };
    story.fact("can be mined", from);
    let can = if transaction.is_replaceable() { "yes, by one with a higher fee (BIP-125)" } else { "no" };
    story.fact("can be replaced", can);
}

fn total(outputs: &[&Output]) -> u64 {
    outputs.iter().map(|output| output.value).fold(0, u64::saturating_add)
}

/// To whom, or to how many.
fn whom(outputs: &[&Output], named: impl Fn(&str) -> String) -> String {
    match outputs {
        [one] => one.address.as_deref().map_or_else(|| target(one), named),
        many => format!("{} different outputs", many.len()),
    }
}

/// The address, or what stands for it.
fn target(output: &Output) -> String {
    match (&output.address, output.said()) {
        (Some(address), _) => address.clone(),
        (None, Some(_)) => "nobody (OP_RETURN)".to_owned(),
        (None, None) => format!("[!] the script {}", hex(&output.script)),
    }
}

fn in_words(bytes: &[u8]) -> String {
    match core::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() => format!("\"{}\"", clean(text)),
        _ => "no text".to_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

/// Satoshis in bitcoins, exactly.
fn bitcoins(satoshis: u64) -> String {
    let (whole, part) = (satoshis.div_euclid(BITCOIN), satoshis.rem_euclid(BITCOIN));
    format!("{whole}.{part:08} BTC")
}
