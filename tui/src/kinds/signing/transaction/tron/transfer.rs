//! What a Tron transaction moves.

use quorate_chain::address::{Chain, of_tron_account};
use quorate_chain::transaction::{Tron, TronContract};

use super::{FIRST_ACTIVE, cost};
use crate::kinds::prelude::*;
use crate::kinds::signing::key::Key;
use crate::kinds::signing::recipient::Recipients;
use crate::kinds::signing::transaction::token::TokenCall;
use crate::kinds::transfer::{Asset, Payer, Payment, Transfer, wide};
use crate::text::date_time;

/// Decimals of TRX.
const DECIMALS: u8 = 6;

/// Returns what the transaction moves, or `None` if it changes stakes or permissions.
pub(in crate::kinds::signing::transaction) fn transfer(
    transaction: &Tron,
    key: &Key<'_>,
    context: &ReviewContext<'_>,
) -> Option<Transfer> {
    let recipients = Recipients::new(Chain::Tron, key, context);
    let field = |name: &'static str, value: String| (name, value);
    let (mut more, mut rest) = (Vec::new(), Vec::new());
    let payments = match transaction.contract() {
        TronContract::Transfer { to, amount } => vec![trx_payment(to, *amount, &recipients)],
        TronContract::Trigger { contract, call_value, data, call_token_value, token_id } => {
            let call = TokenCall::read(data);
            let address = of_tron_account(contract);
            match &call {
                Some(call) => {
                    more.push(field("token", recipients.named(&address)));
                    rest.push(call.rest());
                }
                None => {
                    rest.push(format!("[!] a call with {} of data, see below", count(data.len(), "byte")));
                }
            }
            if *call_token_value > 0 || *token_id > 0 {
                rest.push(format!("[!] {call_token_value} base units of the token {token_id} (TRC-10)"));
            }
            let tokens = call.and_then(|call| token_payment(&address, &call, &recipients));
            let is_paid = *call_value > 0 || tokens.is_none();
            let coins = is_paid.then(|| trx_payment(contract, *call_value, &recipients));
            tokens.into_iter().chain(coins).collect()
        }
        _ => return None,
    };
    if !transaction.memo().is_empty() {
        rest.push(format!("a memo of {}, see Details", count(transaction.memo().len(), "byte")));
    }
    let permission = transaction.permission_id();
    if permission >= FIRST_ACTIVE {
        rest.push(format!("[!] signed under permission {permission} of the account"));
    }
    more.push(field("valid", format!("until {}", date_time(transaction.expiration()))));
    let owner = of_tron_account(&transaction.owner());
    Some(Transfer {
        network: "Tron".to_owned(),
        payer: Payer { from: owner.clone(), names: vec![owner], ..recipients.payer(key.name, key.text) },
        payments,
        fee: format!("bandwidth and energy: {}", cost(transaction)),
        more,
        rest,
        nothing: "no call, no memo",
        before: Vec::new(),
    })
}

fn trx_payment(to: &[u8; 20], sun: u64, recipients: &Recipients<'_>) -> Payment {
    let asset = Asset { id: "TRX".to_owned(), unit: Some(("TRX".to_owned(), DECIMALS)), base: "sun" };
    recipients.payment(&of_tron_account(to), asset, wide(sun.into()))
}

fn token_payment(contract: &str, call: &TokenCall<'_>, recipients: &Recipients<'_>) -> Option<Payment> {
    let (account, amount, right) = call.moved()?;
    let unit = recipients.token_unit(contract);
    let asset = Asset { id: format!("token {contract}"), unit, base: "base units" };
    Some(Payment { right, ..recipients.payment(&of_tron_account(account), asset, *amount) })
}
