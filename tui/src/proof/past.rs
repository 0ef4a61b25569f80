//! Earlier transfers from the same account to the same recipients: from the activities that the daemon lists, and
//! from the user's own journal.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use quorate_common::activity::Status;
use quorate_common::console::{ActivityRow, Signer};

use super::proposal::Proposal;
use super::review::Review;
use crate::kinds::{
    self, Amount, Flag, Level, OtherOwner, Payment, ReviewContext, Right, Sent, Transfer, account_text, count,
};
use crate::text::date;

/// Name of the flag for an amount above all earlier ones.
const LARGEST_FLAG: &str = "largest-so-far";
/// Maximum number of recipients of one transaction that are compared with earlier transfers, the largest first.
const COMPARED_RECIPIENTS: usize = 8;

/// What is known about earlier transfers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Past {
    /// Executed transfers that the daemon lists, newest first.
    listed: Vec<Sent>,
    /// Number of executed transactions that the daemon listed.
    examined: usize,
    /// Whether the daemon has older ones that were not read.
    is_partial: bool,
    /// Why the daemon listed nothing, if so.
    error: Option<String>,
    /// Transfers that the user approved or proposed, oldest first.
    journal: Vec<Sent>,
    /// Wallet accounts and keys of the organization by the addresses of recipients, as the daemon states them.
    owners: BTreeMap<String, Signer>,
}

impl Past {
    /// Reads the earlier transfers out of executed activities, whose signed bytes must match their fingerprints.
    pub(crate) fn of(
        review: &Review,
        (rows, is_partial): (&[ActivityRow], bool),
        owners: BTreeMap<String, Signer>,
        mut journal: Vec<Sent>,
    ) -> Self {
        // The proposer's own decision on this activity is no earlier transfer.
        journal.retain(|sent| sent.activity != Some(review.activity.id));
        let context = ReviewContext::of(&review.organization);
        let executed = rows
            .iter()
            .map(|row| &row.activity)
            .filter(|activity| activity.status == Status::Completed && activity.id != review.activity.id);
        let (mut listed, mut examined) = (Vec::new(), 0_usize);
        for activity in executed {
            examined = examined.saturating_add(1);
            let Some(proposal) = Proposal::of(activity) else { continue };
            let transfer = kinds::transfer(&proposal.activity_type, &proposal.parameters, &context);
            let at = activity.updated_at.millis();
            listed.extend(transfer.iter().flat_map(|transfer| transfer.sent(at)));
        }
        Self { listed, examined, is_partial, error: None, journal, owners }
    }

    /// Returns what is known if the daemon did not list the earlier transfers.
    pub(crate) fn unread(review: &Review, error: String, mut journal: Vec<Sent>) -> Self {
        journal.retain(|sent| sent.activity != Some(review.activity.id));
        Self { error: Some(error), journal, ..Self::default() }
    }

    /// Describes the earlier transfers to a recipient.
    fn lines(&self, transfer: &Transfer, payment: &Payment) -> [String; 2] {
        let of = |sent: &[Sent]| matching(sent, transfer, payment).cloned().collect::<Vec<_>>();
        let (listed, journal) = (of(&self.listed), of(&self.journal));
        let scope = if self.is_partial { "newest " } else { "" };
        let examined = count(self.examined, "executed transaction");
        let among = format!("the {scope}{examined} that the daemon lists [s]");
        let listed = match (&self.error, listed.len()) {
            (Some(error), _) => format!("unknown: the daemon did not list earlier transactions: {error}"),
            (None, 0) => format!("never signed: not among {among}"),
            (None, _) => format!("signed {}, among {among}", summary(&listed, payment)),
        };
        let journal = match journal.len() {
            0 => "not in your journal".to_owned(),
            _ => format!("in your journal {}", summary(&journal, payment)),
        };
        [listed, journal]
    }

    /// Returns the largest amount of the same asset that went to the recipient before.
    fn largest(&self, transfer: &Transfer, payment: &Payment) -> Option<Amount> {
        let all = matching(&self.listed, transfer, payment).chain(matching(&self.journal, transfer, payment));
        all.filter(|sent| sent.asset == payment.asset.id).map(|sent| sent.amount).max()
    }
}

/// Returns the transfers from the same account to the same recipient.
fn matching<'a>(
    sent: &'a [Sent],
    transfer: &'a Transfer,
    payment: &'a Payment,
) -> impl Iterator<Item = &'a Sent> {
    sent.iter().filter(|sent| transfer.is_of_payer(sent) && sent.to == payment.address)
}

/// Returns how often, when and how much at most.
fn summary(sent: &[Sent], payment: &Payment) -> String {
    let last = sent.iter().map(|sent| sent.at_millis).max().map(date).unwrap_or_default();
    let same = sent.iter().filter(|sent| sent.asset == payment.asset.id).map(|sent| sent.amount);
    let largest = match same.max() {
        Some(amount) => format!("at most {}", payment.asset.text(&amount)),
        None => "always another asset".to_owned(),
    };
    format!("{}, last {last}, {largest}", count(sent.len(), "time"))
}

impl Review {
    /// Returns the addresses that are compared with earlier transfers, the largest payments first.
    pub(crate) fn recipients(&self) -> Vec<String> {
        let mut addresses = self.addresses();
        addresses.truncate(COMPARED_RECIPIENTS);
        addresses
    }

    /// Returns the addresses of all recipients, the largest payments first.
    fn addresses(&self) -> Vec<String> {
        let payments = self.transfer.iter().flat_map(|transfer| &transfer.payments);
        let mut seen = BTreeSet::new();
        let addresses = payments.map(|payment| &payment.address).filter(|address| seen.insert(*address));
        addresses.cloned().collect()
    }

    /// Compares the payments with earlier ones: adds a description and the flag for unusually large amounts, and names
    /// recipients that belong to the organization.
    pub(crate) fn compare_with(&mut self, past: &Past) {
        let (addresses, all) = (self.recipients(), self.addresses().len());
        let Some(transfer) = &mut self.transfer else { return };
        for payment in &mut transfer.payments {
            let owner = past.owners.get(&payment.address);
            if let Some(account) = owner.and_then(|owner| account_text(owner, &self.organization)) {
                payment.set_owner(&OtherOwner(account));
            }
        }
        let mut before = Vec::new();
        let mut larger: Vec<String> = Vec::new();
        let is_single = addresses.len() == 1;
        for address in &addresses {
            let Some(payment) = transfer.to_one(address) else { continue };
            let [listed, journal] = past.lines(transfer, &payment);
            let to = if is_single { String::new() } else { format!("{address}: ") };
            before.push(format!("{to}{listed}; {journal}"));
            if let Some(most) = past.largest(transfer, &payment).filter(|most| payment.amount > *most) {
                let (now, most) = (payment.asset.text(&payment.amount), payment.asset.text(&most));
                larger.push(format!("{now} to {address}, at most {most} before"));
            }
        }
        if let Some(more @ 1..) = all.checked_sub(addresses.len()) {
            before.push(format!("[!] {more} more, of smaller payments: not compared with earlier transfers"));
        }
        transfer.before = before;
        self.flags.retain(|flag| flag.name != LARGEST_FLAG);
        if !larger.is_empty() {
            let text = format!("Sends more than ever before: {}.", larger.join("; "));
            self.flags.push(Flag { name: LARGEST_FLAG, level: Level::Med, text, of_now: true });
            self.flags.sort_by_key(|flag| Reverse(flag.level));
        }
        self.risk = self.flags.iter().map(|flag| flag.level).max().unwrap_or(Level::Low);
    }

    /// Returns whether earlier transfers matter for the decision.
    pub(crate) fn has_past(&self) -> bool {
        // Later transfers would be compared with an activity that has ended.
        if self.ended.is_some() {
            return false;
        }
        let payments = self.transfer.iter().flat_map(|transfer| &transfer.payments);
        payments.into_iter().any(|payment| payment.right == Right::Amount)
    }
}
