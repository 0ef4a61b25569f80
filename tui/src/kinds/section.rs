//! How the console shows the records of an organization: sections of rows with details, and lines.

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::WalletId;
use quorate_common::wire::WalletAccount;

use crate::credentials::Actor;
use crate::text::{clean, pad};

/// A section of an organization, shown as a tab.
pub(crate) struct Section {
    pub(crate) name: &'static str,
    pub(crate) count: fn(&OrganizationDetail) -> usize,
    pub(crate) items: fn(&SectionData<'_>) -> Vec<Item>,
}

impl Section {
    /// Creates the section of a class of records.
    pub(super) const fn of<T: Listed>(name: &'static str) -> Self {
        Self {
            name,
            count: |organization| T::all(organization).len(),
            items: |data| T::all(data.detail).iter().map(|one| one.item(data)).collect(),
        }
    }
}

/// Returns the lines of a class of records.
pub(super) fn lines<T: Listed>(organization: &OrganizationDetail) -> Vec<Row> {
    let of_one = |one: &T| std::iter::once(one.line(organization)).chain(one.more_lines(organization));
    T::all(organization).iter().flat_map(of_one).collect()
}

/// Records of an organization that have a section, and lines of `quorate org get`.
pub(super) trait Listed: Sized {
    /// Returns all records of the organization.
    fn all(organization: &OrganizationDetail) -> &[Self];

    /// Returns the row of the section.
    fn item(&self, data: &SectionData<'_>) -> Item;

    /// Returns the line of `quorate org get`.
    fn line(&self, organization: &OrganizationDetail) -> Row;

    /// Returns the lines of `quorate org get` below it.
    fn more_lines(&self, _: &OrganizationDetail) -> Vec<Row> {
        Vec::new()
    }
}

/// A line of `quorate org get`: the kind of a record and its description.
pub(crate) type Row = (&'static str, String);

/// A row of a section and its details.
pub(crate) struct Item {
    /// Row text, already cleaned.
    pub(crate) row: String,
    pub(crate) title: String,
    /// Lines of the details, cleaned, with ids and keys in full.
    pub(crate) detail: Vec<String>,
    pub(crate) wallet: Option<WalletId>,
}

impl Item {
    pub(super) fn new(title: &str, row: String, detail: Vec<String>) -> Self {
        Self { row, title: clean(title), detail, wallet: None }
    }
}

/// Data from which the rows are built.
pub(crate) struct SectionData<'a> {
    pub(crate) detail: &'a OrganizationDetail,
    /// Accounts that were loaded.
    pub(crate) accounts: &'a [WalletAccount],
    /// Wallet of the accounts.
    pub(crate) of: Option<WalletId>,
    /// Whether more accounts can be loaded.
    pub(crate) more: bool,
    /// Current time in milliseconds since the Unix epoch.
    pub(crate) now: u64,
    /// Whether the user of this console can revoke credentials of the organization.
    pub(crate) actor: Actor,
    /// The daemon's key that signs bundles.
    pub(crate) quorum_key: &'a str,
}

/// Formats the cells of a row: cleaned texts with their widths. The last one takes the rest of the row.
pub(super) fn cells<const N: usize>(padded: [(&str, usize); N], last: &str) -> String {
    let padded = padded.map(|(text, columns)| format!("{} ", pad(&clean(text), columns)));
    format!("{}{}", padded.concat(), clean(last))
}
