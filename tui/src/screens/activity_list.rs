//! The newest activities of the organization, loaded page by page.

use quorate_common::console::{ActivityPage, ActivityRow};
use quorate_common::ids::ActivityId;

#[derive(Default)]
pub(crate) struct ActivityList {
    pub(crate) rows: Vec<ActivityRow>,
    /// Cursor of the next page, if there are older activities.
    pub(crate) next: Option<ActivityId>,
    pub(crate) is_loaded: bool,
}

impl ActivityList {
    /// Applies a page. The first page replaces the rows that it overlaps and keeps the older ones.
    pub(crate) fn apply(&mut self, after: Option<ActivityId>, page: ActivityPage) {
        if after.is_none() {
            let oldest = page.activities.last().map(|row| row.activity.id);
            let overlaps = oldest.is_some_and(|oldest| self.rows.iter().any(|row| row.activity.id == oldest));
            let older: Vec<ActivityRow> = if overlaps {
                self.rows.drain(..).skip_while(|row| Some(row.activity.id) != oldest).skip(1).collect()
            } else {
                self.next = page.next;
                Vec::new()
            };
            self.rows = page.activities;
            self.rows.extend(older);
        } else if self.next == after {
            self.rows.extend(page.activities);
            self.next = page.next;
        }
        self.is_loaded = true;
    }
}
