//! Ends lists of a daemon that never end. All lists that are read page by page pass through [`Lists::turn`].
//!
//! A cursor is a position in an order that does not change, such as the id of the last entry of a page. An honest daemon
//! therefore never leads from a page to one before it, even if readings of one list overlap and entries come and go.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use quorate_common::console::{
    AccountPage, ActivityPage, HistoryPage, InboxPage, MessagePage, OrganizationPage, ParkedPage,
};
use serde::de::DeserializeOwned;

use super::error::{LinkError, Result};

/// Maximum number of pages of a list that are read one after the other.
const PAGES: usize = 10_000;
/// Maximum number of pages without entries that are read one after the other. A few occur, because entries may be removed
/// while a page is read.
const EMPTY_PAGES: usize = 100;
/// Maximum length of the pages of a list that are read one after the other, in bytes.
const BYTES: usize = 1024 * 1024 * 1024;
/// Maximum length of a cursor, in bytes.
const CURSOR_BYTES: usize = 256;
/// Number of lists whose cursors are remembered.
const LISTS: usize = 64;

/// A page of a list.
pub(super) trait Page: DeserializeOwned {
    /// Whether any number of pages may have no entries although others follow, because the daemon filters what it reads.
    const IS_FILTERED: bool = false;

    fn is_empty(&self) -> bool;

    /// Returns the cursor of the next page, if there is one.
    fn next(&self) -> Option<String>;
}

/// Implements [`Page`] for a page with entries in this member.
macro_rules! pages {
    ($($page:ty, $entries:ident, $is_filtered:literal;)*) => {$(
        impl Page for $page {
            const IS_FILTERED: bool = $is_filtered;

            fn is_empty(&self) -> bool {
                self.$entries.is_empty()
            }

            fn next(&self) -> Option<String> {
                self.next.as_ref().map(ToString::to_string)
            }
        }
    )*};
}

pages! {
    AccountPage, accounts, false;
    ActivityPage, activities, false;
    HistoryPage, activities, true;
    // Those of a sub-organization are filtered from those of its parent.
    MessagePage, events, true;
    OrganizationPage, organizations, false;
    ParkedPage, destinations, false;
}

impl Page for InboxPage {
    fn is_empty(&self) -> bool {
        self.organizations.iter().all(|one| one.activities.is_empty())
    }

    fn next(&self) -> Option<String> {
        self.next.clone()
    }
}

/// Where a cursor is in its list.
#[derive(Debug, Clone, Default)]
struct Position {
    /// Cursor of the page that stated this one.
    before: Option<String>,
    /// Number of pages up to here.
    pages: usize,
    /// Number of pages without entries directly before.
    empty: usize,
    /// Length of the pages up to here.
    bytes: usize,
}

#[derive(Debug, Default)]
struct List {
    positions: BTreeMap<String, Position>,
    /// When the list was used last, as a number that increases.
    used: u64,
}

/// The lists that a client reads, by their paths, and the cursors that the daemon stated.
#[derive(Debug, Default)]
pub(super) struct Lists(Mutex<BTreeMap<String, List>>);

impl Lists {
    /// Records a page of a list that was requested with a cursor. Returns the length in bytes of the page and of those before
    /// it.
    ///
    /// # Errors
    /// If the cursor of the next page leads back, or the list exceeds a limit.
    pub(super) fn turn<P: Page>(
        &self,
        path: &str,
        after: Option<&str>,
        page: &P,
        bytes: usize,
    ) -> Result<usize> {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let used = lists.values().map(|list| list.used).max().unwrap_or_default().saturating_add(1);
        if !lists.contains_key(path) && lists.len() >= LISTS {
            let oldest = lists.iter().min_by_key(|(_, list)| list.used).map(|(path, _)| path.clone());
            oldest.map(|oldest| lists.remove(&oldest));
        }
        let list = lists.entry(path.to_owned()).or_default();
        list.used = used;
        list.turn(after, page, bytes)
    }
}

impl List {
    fn turn<P: Page>(&mut self, after: Option<&str>, page: &P, bytes: usize) -> Result<usize> {
        if after.is_none() && self.positions.len() >= PAGES {
            // Earlier readings had other cursors.
            self.positions.clear();
        }
        let at = after.and_then(|cursor| self.positions.get(cursor)).cloned().unwrap_or_default();
        let total = at.bytes.saturating_add(bytes);
        let Some(next) = page.next() else { return Ok(total) };
        let position = Position {
            before: after.map(str::to_owned),
            pages: at.pages.saturating_add(1),
            empty: if page.is_empty() && !P::IS_FILTERED { at.empty.saturating_add(1) } else { 0 },
            bytes: total,
        };
        if next.len() > CURSOR_BYTES {
            return Err(endless("the daemon states a cursor that is too long"));
        }
        if self.leads_back(after, &next) {
            return Err(endless("the daemon repeats a page of a list"));
        }
        if position.empty > EMPTY_PAGES {
            return Err(endless("the daemon lists pages without entries, and never the end"));
        }
        if position.pages > PAGES || total > BYTES {
            let text = format!("a list has more than {PAGES} pages or 1 GiB: list less of it, with a filter");
            return Err(LinkError::Unreadable(text));
        }
        self.positions.insert(next, position);
        Ok(total)
    }

    /// Returns whether a cursor is that of a page, or of one before it.
    fn leads_back(&self, after: Option<&str>, next: &str) -> bool {
        let is_known = self.positions.contains_key(next) || after == Some(next);
        let before = |cursor: &&str| self.positions.get(*cursor)?.before.as_deref();
        is_known && std::iter::successors(after, before).any(|cursor| cursor == next)
    }
}

fn endless(text: &str) -> LinkError {
    LinkError::Unreadable(text.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use quorate_common::console::{ParkedDeliveries, ParkedPage};

    use super::*;

    fn page(next: Option<&str>) -> HistoryPage {
        HistoryPage { activities: Vec::new(), next: next.map(str::to_owned), reached: None }
    }

    fn empty(next: usize) -> ParkedPage {
        ParkedPage { destinations: Vec::<ParkedDeliveries>::new(), next: Some(next.to_string()) }
    }

    /// Reads pages with these cursors, each of which the page before it stated.
    fn read(lists: &Lists, path: &str, cursors: &[&str]) -> Result<usize> {
        let mut after = None;
        let mut total = 0;
        for cursor in cursors {
            total = lists.turn(path, after, &page(Some(cursor)), 10)?;
            after = Some(cursor);
        }
        Ok(total)
    }

    #[test]
    fn a_page_that_was_read_before_is_an_error() {
        for cursors in [&["1", "1"][..], &["1", "2", "1"], &["1", "2", "3", "2"], &["1", "2", "3", "3"]] {
            let error = read(&Lists::default(), "a", cursors).unwrap_err();
            assert!(error.to_string().contains("repeats a page"), "{cursors:?}: {error}");
        }
    }

    #[test]
    fn readings_of_one_list_may_overlap_and_be_repeated() {
        let lists = Lists::default();
        for _ in 0..3 {
            assert_eq!(read(&lists, "a", &["1", "2", "3"]).unwrap(), 30);
            // The entries of a page were removed, and others were added.
            assert_eq!(read(&lists, "a", &["2", "3", "4"]).unwrap(), 30);
            assert_eq!(read(&lists, "b", &["3", "1"]).unwrap(), 20);
        }
        lists.turn("a", None, &page(Some("1")), 1).unwrap();
        lists.turn("a", Some("3"), &page(Some("4")), 1).unwrap();
        lists.turn("a", Some("1"), &page(Some("2")), 1).unwrap();
        lists.turn("a", Some("1"), &page(Some("2")), 1).unwrap();
        assert_eq!(lists.turn("a", Some("2"), &page(None), 1).unwrap(), 3);
    }

    #[test]
    fn pages_are_limited_in_number_length_and_cursors() {
        type Turn<'a> = &'a dyn Fn(&Lists, Option<&str>, usize) -> Result<usize>;
        let ends_at = |read: Turn<'_>| {
            let (lists, mut after) = (Lists::default(), None);
            for number in 1..=PAGES + 5 {
                if read(&lists, after.as_deref(), number).is_err() {
                    return number;
                }
                after = Some(number.to_string());
            }
            0
        };
        assert_eq!(
            ends_at(&|lists, after, number| lists.turn("a", after, &empty(number), 1)),
            EMPTY_PAGES + 1
        );
        let filtered = |lists: &Lists, after: Option<&str>, number: usize| {
            lists.turn("a", after, &page(Some(&number.to_string())), 1)
        };
        assert_eq!(ends_at(&filtered), PAGES + 1);
        let long = |lists: &Lists, after: Option<&str>, number: usize| {
            lists.turn("a", after, &page(Some(&number.to_string())), BYTES / 3)
        };
        assert_eq!(ends_at(&long), 4);
        let cursor = "z".repeat(CURSOR_BYTES + 1);
        drop(Lists::default().turn("a", None, &page(Some(&cursor)), 1).unwrap_err());
    }

    #[test]
    fn the_memory_for_cursors_is_limited() {
        let lists = Lists::default();
        for number in 0..LISTS * 2 {
            read(&lists, &number.to_string(), &["1", "2"]).unwrap();
        }
        assert_eq!(lists.0.lock().unwrap().len(), LISTS);
        for number in 0..PAGES * 2 {
            lists.turn("a", None, &page(Some(&number.to_string())), 1).unwrap();
        }
        assert!(lists.0.lock().unwrap().get("a").unwrap().positions.len() <= PAGES);
    }
}
