//! What a Bitcoin transaction moves.

use std::cmp::Reverse;

use quorate_chain::address::Chain;
use quorate_chain::transaction::{
    Bitcoin, BitcoinHolder as Holder, BitcoinOutput as Output, BitcoinPart as Part,
};

use super::{bitcoins, mined_text, target, total};
use crate::kinds::prelude::*;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::kinds::transfer::{Asset, Payment, Right, Transfer, wide};

/// Decimals of a bitcoin.
const DECIMALS: u8 = 8;

pub(in crate::kinds::signing::transaction) fn transfer(
    transaction: &Bitcoin,
    key: &Key<'_>,
    context: &ReviewContext<'_>,
) -> Transfer {
    let recipients = Recipients::new(Chain::Bitcoin, key, context);
    let holder = Holder::read(key.text);
    let outputs = transaction.outputs(holder.as_ref());
    let (back, away): (Vec<&Output>, Vec<&Output>) = outputs.iter().partition(|output| output.is_returned);
    let network = holder.as_ref().map_or("mainnet", Holder::network);
    let mut payments: Vec<Payment> =
        away.iter().map(|output| payment(output, network, &recipients)).collect();
    payments.sort_by_key(|payment| Reverse(payment.amount));
    Transfer {
        network: format!("Bitcoin {network}"),
        payer: recipients.payer(key.name, key.text),
        payments,
        fee: fee_text(transaction),
        more: more(transaction, &back, key, holder.as_ref()),
        rest: Vec::new(),
        nothing: "every output is shown here",
        before: Vec::new(),
    }
}

/// Returns what comes back, what is spent, and when the transaction can be mined.
fn more(
    transaction: &Bitcoin,
    back: &[&Output],
    key: &Key<'_>,
    holder: Option<&Holder>,
) -> Vec<(&'static str, String)> {
    let field = |name: &'static str, value: String| (name, value);
    let mut more = Vec::new();
    if !back.is_empty() {
        let stated = if key.is_stated { ", if the daemon states its public key truly [s]" } else { "" };
        let value = format!("{} back to the key itself{stated}", in_both_units(total(back)));
        more.push(field("change", value));
    }
    let inputs = transaction.inputs(holder);
    let others = inputs.iter().filter(|input| input.part == Part::Others).count();
    let owned = if others == 0 { String::new() } else { format!(", [!] {others} owned by others") };
    more.push(field("spends", format!("{}{owned}", count(inputs.len(), "input"))));
    more.push(field("mined", mined_text(transaction)));
    more
}

fn payment(output: &Output, network: &str, recipients: &Recipients<'_>) -> Payment {
    let unit = Some(("BTC".to_owned(), DECIMALS));
    let asset = Asset { id: format!("coin of Bitcoin {network}"), unit, base: "sat" };
    let amount = wide(output.value.into());
    let who = match (&output.address, output.op_return_data()) {
        (Some(address), _) => return recipients.payment(address, asset, amount),
        (None, Some(_)) => "nobody, only data",
        (None, None) => "[!] unknown recipient",
    };
    let (who, address) = (who.to_owned(), target(output));
    Payment { right: Right::Amount, asset, amount, who, is_known: false, address }
}

fn in_both_units(satoshis: u64) -> String {
    format!("{} ({satoshis} sat)", bitcoins(satoshis))
}

/// Returns the fee, and its rate at the estimated size of the signed transaction.
pub(super) fn fee_text(transaction: &Bitcoin) -> String {
    let Some(fee) = transaction.fee() else {
        return "[!] NOT KNOWN: not every input states its amount".to_owned();
    };
    let rate = transaction.estimated_vsize().map_or_else(
        || "at a rate that depends on the scripts".to_owned(),
        |size| {
            let tenths = fee.saturating_mul(10).div_ceil(size.max(1));
            let (whole, tenth) = (tenths.div_euclid(10), tenths.rem_euclid(10));
            format!("about {whole}.{tenth} sat/vB at an estimated {size} vB")
        },
    );
    format!("{}, {rate}", in_both_units(fee))
}
