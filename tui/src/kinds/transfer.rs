//! What a transaction moves: how much, from whom and to whom, as approvers read it first.

use quorate_common::ids::ActivityId;
use quorate_policy::Integer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of payments that are shown one by one; the details list all of them.
const SHOWN_PAYMENTS: usize = 20;
/// Characters at the end of a recipient's address that an approver types.
const END_LETTERS: usize = 4;
/// Same for an activity of HIGH risk without a dangerous value of its own.
const LONG_END_LETTERS: usize = 8;

/// Name of a recipient that neither the user's book nor the daemon knows.
pub(crate) const UNKNOWN_RECIPIENT: &str = "unknown recipient";

/// Amount in base units, big-endian.
pub(crate) type Amount = [u8; 32];

/// Something that is moved, and its units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asset {
    /// Identifies the asset. The same in every transaction that moves it.
    pub(crate) id: String,
    /// Name of the unit that people use and its decimals, if both are known.
    pub(crate) unit: Option<(String, u8)>,
    /// Name of the base unit.
    pub(crate) base: &'static str,
}

impl Asset {
    /// Formats an amount exactly: in the unit that people use, then in base units.
    pub(crate) fn text(&self, amount: &Amount) -> String {
        let exact = digits(amount);
        match &self.unit {
            Some((name, decimals)) => {
                format!("{} {name} ({exact} {})", pointed(&exact, *decimals), self.base)
            }
            None => format!("{exact} {} of {} (decimals unknown)", self.base, self.id),
        }
    }
}

/// What the recipient gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Right {
    /// The amount itself.
    Amount,
    /// The right to take up to the amount later.
    Allowance,
    /// The right to take any amount at any time.
    UnlimitedAllowance,
    /// The right to take all tokens of a contract, including future ones.
    AllTokens,
}

/// One payment of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payment {
    pub(crate) right: Right,
    pub(crate) asset: Asset,
    pub(crate) amount: Amount,
    /// Recipient in words: the name in the user's own book, or `unknown recipient`.
    pub(crate) who: String,
    /// Whether the recipient is in the user's book, or the signer itself.
    pub(crate) is_known: bool,
    /// Whole address in the canonical form of its chain, or a description of a script without one.
    pub(crate) address: String,
}

impl Payment {
    /// Formats what the recipient gets, the danger first.
    pub(crate) fn text(&self) -> String {
        let amount = self.asset.text(&self.amount);
        match self.right {
            Right::Amount => amount,
            Right::Allowance => format!("allowance of {amount}"),
            Right::UnlimitedAllowance => format!("[!] WITHOUT LIMIT: allowance of {amount}"),
            Right::AllTokens => format!("[!] ALL tokens, including future ones, of {}", self.asset.id),
        }
    }

    /// Names the account of the organization that receives the payment, unless the user's book or the signed bytes
    /// name the recipient.
    pub(crate) fn set_owner(&mut self, OtherOwner(account): &OtherOwner) {
        if self.who == UNKNOWN_RECIPIENT {
            self.who = of_organization(account);
        }
    }

    /// Returns the last characters of the address, if it has so many and all can be typed.
    fn end(&self, letters: usize) -> Option<&str> {
        let first = self.address.len().checked_sub(letters)?;
        let is_typeable = self.address.bytes().all(|byte| byte.is_ascii_alphanumeric());
        self.address.get(first..).filter(|_| is_typeable)
    }
}

/// One executed or approved payment, reduced to what later payments are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Sent {
    /// Time of the execution or of the decision, in milliseconds since the Unix epoch.
    #[serde(skip)]
    pub(crate) at_millis: u64,
    /// Activity that moved it.
    #[serde(skip)]
    pub(crate) activity: Option<ActivityId>,
    /// Account that pays.
    pub(crate) from: String,
    /// Whole address of the recipient.
    pub(crate) to: String,
    /// Id of the asset, see [`Asset::id`].
    pub(crate) asset: String,
    #[serde(with = "const_hex")]
    #[schemars(with = "String")]
    pub(crate) amount: Amount,
}

/// Wallet account or private key of the organization that holds an address, in words, as the daemon states.
pub(crate) struct OtherOwner(pub(crate) String);

/// The account that pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Payer {
    /// The account in words.
    pub(crate) words: String,
    /// Whole address, or the name in the request if the address is not known.
    pub(crate) from: String,
    /// All names by which other requests can name the account.
    pub(crate) names: Vec<String>,
}

/// A transaction by what it moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// Name of the network.
    pub(crate) network: String,
    pub(crate) payer: Payer,
    /// Payments, the largest first within an asset.
    pub(crate) payments: Vec<Payment>,
    /// Maximum fee.
    pub(crate) fee: String,
    /// Further lines by their labels: nonce, expiry and the like.
    pub(crate) more: Vec<(&'static str, String)>,
    /// Everything else in the bytes; empty if there is nothing else.
    pub(crate) rest: Vec<String>,
    /// What to state about a transaction with nothing else in its bytes.
    pub(crate) nothing: &'static str,
    /// Earlier transfers to the recipients, once they are known.
    pub(crate) before: Vec<String>,
}

impl Transfer {
    /// Returns whether the payments are all that the transaction does.
    pub(crate) fn is_whole(&self) -> bool {
        self.rest.is_empty() && !self.payments.is_empty()
    }

    /// Returns the line of the amount.
    pub(crate) fn headline(&self) -> String {
        let [first, rest @ ..] = self.payments.as_slice() else { return "nothing to others".to_owned() };
        if rest.is_empty() {
            return first.text();
        }
        let count = self.payments.len();
        let is_same = |other: &Payment| other.asset == first.asset && other.right == Right::Amount;
        if first.right == Right::Amount && rest.iter().all(is_same) {
            let total = self.payments.iter().try_fold([0; 32], |sum, payment| added(&sum, &payment.amount));
            return match total {
                Some(total) => format!("{} in {count} payments", first.asset.text(&total)),
                None => format!("[!] {count} payments that exceed every supply together"),
            };
        }
        let more = rest.len();
        format!("{}, and {more} more {}", first.text(), if more == 1 { "payment" } else { "payments" })
    }

    /// Returns the lines below the amount: label and text. An empty label continues the line above.
    pub(crate) fn lines(&self) -> Vec<(&str, String)> {
        let mut out = vec![
            ("on", self.network.clone()),
            ("from", self.payer.words.clone()),
            ("", self.payer.from.clone()),
        ];
        let is_single = self.payments.len() == 1;
        for payment in self.payments.iter().take(SHOWN_PAYMENTS) {
            let label = if payment.right == Right::Amount { "to" } else { "allows" };
            let who = &payment.who;
            let who = if is_single { who.clone() } else { format!("{who}: {}", payment.text()) };
            out.extend([(label, who), ("", payment.address.clone())]);
        }
        if let Some(more @ 1..) = self.payments.len().checked_sub(SHOWN_PAYMENTS) {
            out.push(("to", format!("[!] {more} more, all of them under Details")));
        }
        out.extend(self.before.iter().map(|text| ("before", text.clone())));
        out.push(("fee", self.fee.clone()));
        out.extend(self.more.iter().map(|(label, text)| (*label, text.clone())));
        let rest = if self.rest.is_empty() {
            format!("nothing else is in these bytes: {}", self.nothing)
        } else {
            self.rest.join("; ")
        };
        out.push(("rest", rest));
        out
    }

    /// Returns the payments of an amount as they are remembered, executed at this time.
    pub(crate) fn sent(&self, at_millis: u64) -> impl Iterator<Item = Sent> {
        let amounts = self.payments.iter().filter(|payment| payment.right == Right::Amount);
        amounts.map(move |payment| Sent {
            at_millis,
            activity: None,
            from: self.payer.from.clone(),
            to: payment.address.clone(),
            asset: payment.asset.id.clone(),
            amount: payment.amount,
        })
    }

    /// Returns whether an earlier payment is of the same account, which another request may have named otherwise.
    pub(crate) fn is_of_payer(&self, sent: &Sent) -> bool {
        self.payer.names.iter().any(|name| name.eq_ignore_ascii_case(&sent.from))
    }

    /// Returns all payments of the first asset to an address as one. Returns `None` if there is no payment of an
    /// amount to it.
    pub(crate) fn to_one(&self, address: &str) -> Option<Payment> {
        let to = |payment: &&Payment| payment.right == Right::Amount && payment.address == address;
        let mut payments = self.payments.iter().filter(to);
        let first = payments.next()?.clone();
        let same = payments.filter(|payment| payment.asset.id == first.asset.id);
        let sum = same.fold(first.amount, |sum, payment| added(&sum, &payment.amount).unwrap_or([0xff; 32]));
        Some(Payment { amount: sum, ..first })
    }

    /// Returns the first of the largest payments of the asset that is shown first.
    pub(crate) fn largest(&self) -> Option<&Payment> {
        let first = self.payments.first()?;
        let same = self.payments.iter().filter(|payment| payment.asset.id == first.asset.id);
        same.reduce(|one, other| if other.amount > one.amount { other } else { one })
    }

    /// Returns the prompt and the answer of the challenge: the end of the address of the largest payment.
    /// Returns `None` if there is no such address.
    pub(crate) fn challenge(&self, is_high: bool) -> Option<(String, String)> {
        let (letters, words) =
            if is_high { (LONG_END_LETTERS, "LAST EIGHT") } else { (END_LETTERS, "LAST FOUR") };
        let end = self.largest()?.end(letters)?;
        let whose = if self.payments.len() == 1 {
            "the recipient's address"
        } else {
            "the address of the largest payment"
        };
        let prompt = format!("the {words} of {whose}, from your payment order");
        Some((prompt, end.to_owned()))
    }
}

/// Returns a recipient that only the daemon states to belong to the organization, in words.
pub(crate) fn of_organization(account: &str) -> String {
    format!("{account} of this organization, not in your address book")
}

/// Returns an amount in 32 bytes.
pub(crate) fn wide(number: u128) -> Amount {
    let mut bytes = [0; 32];
    if let Some(low) = bytes.last_chunk_mut::<16>() {
        *low = number.to_be_bytes();
    }
    bytes
}

/// Formats an amount of base units with this number of decimals, exactly.
pub(crate) fn decimal(amount: &Amount, decimals: u8) -> String {
    pointed(&digits(amount), decimals)
}

/// Formats an amount in base units.
pub(crate) fn digits(amount: &Amount) -> String {
    Integer::from_be_bytes(amount).map(|number| number.to_string()).unwrap_or_default()
}

fn pointed(digits: &str, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    let digits = format!("{digits:0>width$}", width = decimals.saturating_add(1));
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(decimals));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// Adds two amounts. Returns `None` if the sum needs more than 32 bytes.
pub(crate) fn added(one: &Amount, other: &Amount) -> Option<Amount> {
    let mut sum = [0; 32];
    let mut carry = 0;
    for ((out, one), other) in sum.iter_mut().zip(one).zip(other).rev() {
        let [high, low] = (u16::from(*one) + u16::from(*other) + carry).to_be_bytes();
        (*out, carry) = (low, u16::from(high));
    }
    (carry == 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::*;

    #[test]
    fn amounts_are_exact_in_each_unit() {
        let most = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        let check = |amount: Amount, unit: Option<(&str, u8)>, expected: &str| {
            let unit = unit.map(|(name, decimals)| (name.to_owned(), decimals));
            let asset = Asset { id: "token T".to_owned(), unit, base: "base units" };
            assert_eq!(asset.text(&amount), expected);
        };
        check(wide(0), Some(("USDC", 6)), "0 USDC (0 base units)");
        check(wide(1), Some(("USDC", 6)), "0.000001 USDC (1 base units)");
        check(wide(1), Some(("DAI", 18)), "0.000000000000000001 DAI (1 base units)");
        check(wide(1_500_000), Some(("USDC", 6)), "1.5 USDC (1500000 base units)");
        check(wide(1_500_000), Some(("DAI", 18)), "0.0000000000015 DAI (1500000 base units)");
        check(wide(1_000_000), Some(("N", 0)), "1000000 N (1000000 base units)");
        check(wide(1_500_000), None, "1500000 base units of token T (decimals unknown)");
        let point = format!("{}.{} DAI ({most} base units)", &most[..60], &most[60..]);
        check([0xff; 32], Some(("DAI", 18)), &point);
        check([0xff; 32], Some(("X", 77)), &format!("1.{} X ({most} base units)", &most[1..]));
        check([0xff; 32], None, &format!("{most} base units of token T (decimals unknown)"));
    }

    #[test]
    fn sums_never_wrap_around() {
        let sum = added(&wide(u128::MAX), &wide(1)).map(|sum| digits(&sum));
        assert_eq!(sum.as_deref(), Some("340282366920938463463374607431768211456"));
        assert_eq!(added(&[0xff; 32], &wide(0)), Some([0xff; 32]));
        assert_eq!(added(&[0xff; 32], &wide(1)), None);
    }
}
