//! Describes Bitcoin transactions.

mod transfer;

use quorate_chain::address::Chain;
use quorate_chain::transaction::{
    Bitcoin, BitcoinHolder as Holder, BitcoinInput as Input, BitcoinLockTime as LockTime,
    BitcoinOutput as Output, BitcoinPart as Part,
};

use crate::kinds::prelude::*;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::text::{date_time, grouped};

use self::transfer::fee_text;
pub(super) use self::transfer::transfer;

/// Satoshis per bitcoin.
const BITCOIN: u64 = 100_000_000;
/// Largest fee in satoshis that is never flagged.
const USUAL_FEE: u64 = BITCOIN / 1_000;
/// Sequence numbers of inputs without a relative lock time: final, with a lock time, replaceable.
const PLAIN_SEQUENCES: core::ops::RangeInclusive<u32> = 0xffff_fffd..=0xffff_ffff;

pub(super) fn describe(transaction: &Bitcoin, key: &Key<'_>, context: &ReviewContext<'_>) -> Description {
    let recipients = Recipients::new(Chain::Bitcoin, key, context);
    let holder = Holder::read(key.text);
    let (inputs, outputs) = (transaction.inputs(holder.as_ref()), transaction.outputs(holder.as_ref()));
    let (back, away): (Vec<&Output>, Vec<&Output>) = outputs.iter().partition(|output| output.is_returned);
    let amount = bitcoins(total(&away));
    let sent = format!("{amount} to {}", recipient_text(&away, |address| recipients.named(address)));
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
        format!("{amount} to {}", recipient_text(&away, |address| recipients.short(address)))
    };
    let mut description = Description::new(
        brief,
        format!("Sign a Bitcoin transaction with {} that would {}.", key.signer, listed(what)),
    );
    add_outputs(&outputs, recipients, &mut description);
    add_inputs(transaction, &inputs, holder.as_ref(), &mut description);
    add_fee(transaction, &away, holder.as_ref(), &mut description);
    add_timing(transaction, &mut description);
    let network = holder.as_ref().map_or("mainnet", Holder::network);
    description.fact("network", network);
    description.fact("id without signatures, computed here", grouped(&transaction.tx_id()));
    if !key.signer.contains(key.text) {
        description.fact("public key, as the daemon states it", grouped(&clean(key.text)));
    }
    if holder.is_none() {
        description.flag_medium(
            "unknown-key",
            "Change cannot be recognized: the name of the key does not show which outputs return to it.",
        );
    }
    if key.is_stated && !back.is_empty() {
        let text =
            "What seems to return to the key may go elsewhere: only the daemon states its public key [s].";
        description.flag_medium("stated-key", text);
    }
    description.flag_medium("moves-funds", "Moves funds that the key controls.");
    description
}

/// Adds each output as a fact, with its address in full, and the flags.
fn add_outputs(outputs: &[Output], mut recipients: Recipients<'_>, description: &mut Description) {
    for (index, output) in outputs.iter().enumerate() {
        let back = if output.is_returned { ", back to the key itself" } else { "" };
        let kind = if output.address_type.is_empty() {
            String::new()
        } else {
            format!(" ({})", output.address_type)
        };
        description.fact(
            &format!("output {index}"),
            format!("{} to {}{kind}{back}", bitcoins(output.value), target(output)),
        );
        let in_full = format!("output {index}, in full");
        if let Some(address) = &output.address {
            if output.is_returned {
                description.fact(&in_full, grouped(address));
            } else {
                recipients.add(&in_full, address, description);
            }
        } else if let Some(op_return_data) = output.op_return_data() {
            description.fact(
                &format!("output {index} data"),
                format!("{} ({})", in_words(&op_return_data), hex(&op_return_data)),
            );
        }
    }
    recipients.finish(description);
    let burns = outputs.iter().any(|output| output.op_return_data().is_some() && output.value > 0);
    if burns {
        description.flag_with_word(
            "burns",
            "Destroys funds: it pays to an output that nobody can ever spend.",
            "BURNS",
        );
    }
    let is_unknown = |output: &Output| output.address.is_none() && output.op_return_data().is_none();
    if outputs.iter().any(is_unknown) {
        description.flag_with_word(
            "unknown-script",
            "Pays to an unknown recipient: the script is not decoded here.",
            "UNDECODED",
        );
    }
}

/// Adds each input as a fact, with its owner, and the flags.
fn add_inputs(
    transaction: &Bitcoin,
    inputs: &[Input],
    holder: Option<&Holder>,
    description: &mut Description,
) {
    for (index, input) in inputs.iter().enumerate() {
        let value = input.value.map_or_else(|| "[!] an unknown amount".to_owned(), bitcoins);
        let proven = match (input.value, input.is_proven) {
            (None, _) => "",
            (_, true) => ", proven by the transaction that paid it",
            (_, false) => ", as the proposer states",
        };
        let part = match input.part {
            Part::Signs => ", signed by this key",
            Part::MaySign => ", signed by this key if its script contains it",
            Part::Others => ", owned by somebody else",
            Part::Unknown => "",
        };
        let sequence = match input.sequence {
            plain if PLAIN_SEQUENCES.contains(&plain) => String::new(),
            other => format!(", with sequence number {other}"),
        };
        let from = format!("{}:{}", input.tx_id, input.vout);
        description.fact(&format!("input {index}"), format!("{value}{proven}{part}{sequence}, from {from}"));
    }
    let count_part = |part: Part| inputs.iter().filter(|input| input.part == part).count();
    let (others, signs, may) = (count_part(Part::Others), count_part(Part::Signs), count_part(Part::MaySign));
    if others > 0 {
        let text =
            format!("Spends funds that belong to others: {others} of {}.", count(inputs.len(), "input"));
        description.flag_medium("inputs-of-others", text);
    }
    let signing_error = holder.and_then(|holder| transaction.signing_error(holder));
    if let Some(error) = signing_error {
        description.flag_medium("not-signed", format!("Will not be signed: {error}."));
    } else if holder.is_some() && signs == 0 && may == 0 {
        description.flag_medium("not-signed", "Will not be signed: no input belongs to the key.");
    }
}

/// Adds the fee, and flags a high, unknown or unproven one.
fn add_fee(transaction: &Bitcoin, away: &[&Output], holder: Option<&Holder>, description: &mut Description) {
    let Some(fee) = transaction.fee() else {
        description.fact("fee", "unknown: not every input states its amount");
        description.flag_with_word(
            "unknown-fee",
            "The fee is unknown and may be all that the inputs hold: not every input states its amount.",
            "FEE",
        );
        return;
    };
    description.fact("fee", fee_text(transaction));
    let format_amount = |satoshis| u64::try_from(satoshis).map(bitcoins).unwrap_or_default();
    super::fee::flag_high_fee(fee.into(), USUAL_FEE.into(), total(away).into(), format_amount, description);
    let unproven = transaction.unproven(holder);
    if unproven > 0 {
        let text = format!(
            "The fee may be higher: {} may hold more than the proposer states, and the rest becomes fee.",
            count(unproven, "input")
        );
        description.flag_medium("unproven-amounts", text);
    }
}

/// Adds when the transaction can be mined, and whether it can be replaced.
fn add_timing(transaction: &Bitcoin, description: &mut Description) {
    description.fact("can be mined", mined_text(transaction));
    let can = if transaction.is_replaceable() { "yes, by one with a higher fee (BIP-125)" } else { "no" };
    description.fact("can be replaced", can);
}

/// Returns from when the transaction can be mined.
fn mined_text(transaction: &Bitcoin) -> String {
    match transaction.lock_time() {
        _ if !transaction.is_locked() => "at once".to_owned(),
        LockTime::Block(height) => format!("after block {height}"),
        LockTime::Second(second) => format!("after {}", date_time(u64::from(second).saturating_mul(1_000))),
    }
}

fn total(outputs: &[&Output]) -> u64 {
    outputs.iter().map(|output| output.value).fold(0, u64::saturating_add)
}

/// Returns the single recipient, or the number of outputs.
fn recipient_text(outputs: &[&Output], named: impl Fn(&str) -> String) -> String {
    match outputs {
        [one] => one.address.as_deref().map_or_else(|| target(one), named),
        many => format!("{} different outputs", many.len()),
    }
}

/// Returns the address of an output, or a description of its script.
fn target(output: &Output) -> String {
    match (&output.address, output.op_return_data()) {
        (Some(address), _) => address.clone(),
        (None, Some(_)) => "nobody (OP_RETURN)".to_owned(),
        (None, None) => format!("[!] the script {}", hex(&output.script)),
    }
}

fn in_words(bytes: &[u8]) -> String {
    match core::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() => format!("\"{}\"", clean(text)),
        _ => "not text".to_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

/// Formats satoshis in bitcoins, exactly.
fn bitcoins(satoshis: u64) -> String {
    let (whole, part) = (satoshis.div_euclid(BITCOIN), satoshis.rem_euclid(BITCOIN));
    format!("{whole}.{part:08} BTC")
}
