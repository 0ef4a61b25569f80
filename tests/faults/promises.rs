//! What the product promises and does not keep yet. Scenarios assert the rest; with `STRICT=1` all of it, and with
//! `STRICT=Recovers,ReadsGoOn` these beside the rest.

use crate::scenario::variable;

/// Promises of the product that a scenario tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Promise {
    /// A store failure ends by itself when its cause is gone.
    Recovers,
    /// No answer, event or webhook shows what is not durable.
    ShowsOnlyDurable,
    /// Reads of what is durable go on while the store takes no writes.
    ReadsGoOn,
    /// Records of every legal size survive a power cut.
    KeepsLargeRecords,
    /// A store that lost its end, or was replaced by an older copy, is refused at the start.
    NoticesLoss,
    /// A record that was put back, removed or added stops its organization.
    NoticesRecords,
    /// A store that does not open is reported in one message.
    OneMessage,
    /// Time never runs backwards, so what has expired stays expired.
    ExpiryIsFinal,
}

/// Promises that are not kept yet. Remove the line of one that is.
const NOT_YET: &[Promise] = &[Promise::KeepsLargeRecords];

impl Promise {
    /// Whether scenarios assert it.
    pub(crate) fn holds(self) -> bool {
        let strict = variable::<String>("STRICT").unwrap_or_default();
        let name = format!("{self:?}");
        strict == "1" || strict.split(',').any(|one| one == name) || !NOT_YET.contains(&self)
    }
}
