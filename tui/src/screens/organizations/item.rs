//! A row of a section and its details, and the data from which rows are built.

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::WalletId;
use quorate_common::wire::WalletAccount;

use crate::text::{clean, pad};

pub(super) struct Item {
    /// Row text, already cleaned.
    pub(super) row: String,
    pub(super) title: String,
    /// Lines of the details, cleaned, with ids and keys in full.
    pub(super) detail: Vec<String>,
    pub(super) wallet: Option<WalletId>,
}

impl Item {
    pub(super) fn new(title: &str, row: String, detail: Vec<String>) -> Self {
        Self { row, title: clean(title), detail, wallet: None }
    }
}

/// Data from which the rows are built.
pub(super) struct Shown<'a> {
    pub(super) detail: &'a OrganizationDetail,
    /// Accounts that were loaded.
    pub(super) accounts: &'a [WalletAccount],
    /// Wallet of the accounts.
    pub(super) of: Option<WalletId>,
    /// Whether more accounts can be loaded.
    pub(super) more: bool,
    /// The daemon's key that signs bundles.
    pub(super) quorum_key: &'a str,
}

/// Formats the cells of a row: cleaned texts with their widths. The last one takes the rest of the row.
pub(super) fn cells<const N: usize>(padded: [(&str, usize); N], last: &str) -> String {
    let padded = padded.map(|(text, columns)| format!("{} ", pad(&clean(text), columns)));
    format!("{}{}", padded.concat(), clean(last))
}
