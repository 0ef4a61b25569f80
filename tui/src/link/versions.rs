//! The versions of organizations that the daemon stated. Each change of an organization increases its version, so an older
//! one was true once and is not true now: a policy may be missing that denies what waits.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use quorate_common::console::OrganizationHead;
use quorate_common::ids::OrganizationId;

use super::error::{LinkError, Result};

/// Maximum number of organizations whose versions are remembered. Those beyond are not compared.
const ORGANIZATIONS: usize = 20_000;

/// A moment in the order in which versions became known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(u64);

#[derive(Debug, Default)]
struct Known {
    now: Moment,
    /// The newest version of each organization, and when it became known.
    newest: BTreeMap<OrganizationId, (u64, Moment)>,
}

/// The newest version of each organization that a daemon stated to this process.
#[derive(Debug, Default)]
pub(super) struct Versions(Mutex<Known>);

impl Versions {
    /// Returns the moment at which a request is sent.
    pub(super) fn now(&self) -> Moment {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).now
    }

    /// Compares the version of an organization in the answer to a request that was sent at this moment.
    ///
    /// # Errors
    /// If a newer version was known already when the request was sent. Answers may overtake each other.
    pub(super) fn check(&self, sent: Moment, head: &OrganizationHead) -> Result<()> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = head.organization_id;
        let newest = known.newest.get(&id).copied();
        match newest {
            Some((version, since)) if head.version < version && since <= sent => {
                Err(LinkError::Older { organization: id, stated: head.version, known: version })
            }
            Some((version, _)) if head.version <= version => Ok(()),
            None if known.newest.len() >= ORGANIZATIONS => Ok(()),
            _ => {
                known.now = Moment(known.now.0.saturating_add(1));
                let now = known.now;
                known.newest.insert(id, (head.version, now));
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fixture;

    #[test]
    fn an_older_version_is_refused_unless_its_answer_was_overtaken() {
        let versions = Versions::default();
        let check = |sent, version| {
            let mut head = Fixture::new(3, 2).organization().head;
            head.version = version;
            versions.check(sent, &head)
        };
        let first = versions.now();
        assert_eq!(check(first, 5), Ok(()));
        let second = versions.now();
        assert_eq!(check(second, 7), Ok(()));
        // The answers to requests that were sent before version 7 was known.
        assert_eq!(check(first, 5), Ok(()));
        assert_eq!(check(second, 6), Ok(()));
        let third = versions.now();
        assert_eq!(check(third, 7), Ok(()));
        let error = check(third, 6).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("version 6") && error.contains("version 7"), "{error}");
        assert_eq!(check(third, 8), Ok(()));
    }
}
