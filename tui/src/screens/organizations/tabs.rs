//! The tabs of the sections of an organization.

use quorate_common::console::OrganizationDetail;

use crate::kinds::{SECTIONS, Section};
use crate::text::width;

/// Minimum height of a pane with two rows of tabs.
const TWO_ROWS_HEIGHT: usize = 9;

/// Returns the tabs in one or two rows. If the space is too small, only the tabs around the open one are
/// shown, with marks for more.
pub(super) fn tabs(detail: &OrganizationDetail, open: usize, columns: usize, height: usize) -> Vec<String> {
    let label = |(index, section): (usize, &Section)| {
        let label = format!("{} {}", section.name, (section.count)(detail));
        if index == open { format!("[{label}]") } else { label }
    };
    let tabs: Vec<String> = SECTIONS.iter().enumerate().map(label).collect();
    let rows = packed(&tabs, open, columns);
    if rows.len() <= if height < TWO_ROWS_HEIGHT { 1 } else { 2 } {
        return rows;
    }
    let (mut first, mut last) = (open, open);
    let strip = |first: usize, last: usize| {
        let marks = |more: bool, mark: &'static str| if more { mark } else { "" };
        let shown = tabs.get(first..=last).unwrap_or_default().join(" | ");
        format!("{}{shown}{}", marks(first > 0, "< "), marks(last.saturating_add(1) < tabs.len(), " >"))
    };
    loop {
        let (before, after) = (first.saturating_sub(1), last.saturating_add(1));
        if after < tabs.len() && width(&strip(first, after)) <= columns {
            last = after;
        } else if before < first && width(&strip(before, last)) <= columns {
            first = before;
        } else {
            return vec![strip(first, last)];
        }
    }
}

/// Returns the tabs in as many rows as they need. The row of a tab does not depend on which tab is open.
fn packed(tabs: &[String], open: usize, columns: usize) -> Vec<String> {
    const BRACKETS: usize = 2;
    const BETWEEN: &str = " | ";
    let mut rows: Vec<String> = Vec::new();
    let mut used: usize = 0;
    for (index, tab) in tabs.iter().enumerate() {
        let bare = width(tab).saturating_sub(if index == open { BRACKETS } else { 0 });
        let longer = used.saturating_add(BETWEEN.len()).saturating_add(bare);
        match rows.last_mut() {
            Some(row) if longer <= columns => {
                row.push_str(BETWEEN);
                row.push_str(tab);
                used = longer;
            }
            _ => {
                rows.push(tab.clone());
                used = bare.saturating_add(BRACKETS);
            }
        }
    }
    rows
}
