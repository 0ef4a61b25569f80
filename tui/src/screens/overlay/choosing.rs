//! The list of organizations from which one is chosen.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::console::{OrganizationHead, OrganizationPage};
use quorate_common::ids::OrganizationId;
use ratatui::layout::Rect;
use tui_input::Input;

use super::super::filter::{edit, insert};
use super::Pressed;
use crate::canvas::{Canvas, Line};
use crate::keymap::{Action, Key, moved};
use crate::link::Order;
use crate::proof::PinnedBy;
use crate::text::{clean, imitations, pad};
use crate::theme::Theme;

/// Returns the name by which an organization is sorted.
pub(crate) fn sort_name(head: &OrganizationHead) -> String {
    head.organization_name.to_lowercase()
}

/// Maximum number of organizations in the list. Any other one is chosen by its id.
const LIST_LIMIT: usize = 2000;

/// The list: top-level organizations, and the sub-organizations of the one that is shown.
pub(crate) struct Choice {
    heads: Vec<OrganizationHead>,
    /// The organization that is shown now.
    shown: Option<OrganizationId>,
    /// Organizations whose names may imitate others.
    doubtful: BTreeSet<OrganizationId>,
    /// The pages that are being read: the parent and the cursor.
    reading: Vec<(Option<OrganizationId>, Option<OrganizationId>)>,
    /// Whether the list ends before the last organization, and whether it could not be read.
    is_cut: bool,
    has_failed: bool,
    search: Input,
    selected: usize,
}

impl Choice {
    /// Creates the list, and the orders that read it. The sub-organizations of one organization are listed too.
    pub(crate) fn new(
        shown: Option<OrganizationId>,
        above: Option<OrganizationId>,
    ) -> (Self, impl Iterator<Item = Order>) {
        let reading: Vec<_> =
            [Some(None), above.map(Some)].into_iter().flatten().map(|parent| (parent, None)).collect();
        let orders: Vec<Order> =
            reading.iter().map(|(parent, after)| Order::Organizations(*parent, *after)).collect();
        let choice = Self {
            heads: Vec::new(),
            doubtful: BTreeSet::new(),
            shown,
            reading,
            is_cut: false,
            has_failed: false,
            search: Input::default(),
            selected: 0,
        };
        (choice, orders.into_iter())
    }

    /// Records that the list could not be read.
    pub(crate) fn fail(&mut self) {
        self.reading.clear();
        self.has_failed = true;
    }

    /// Adds a page of organizations that was requested. Returns the order that reads the next one.
    pub(crate) fn apply(
        &mut self,
        parent: Option<OrganizationId>,
        after: Option<OrganizationId>,
        page: &OrganizationPage,
    ) -> Option<Order> {
        let at = self.reading.iter().position(|page| *page == (parent, after))?;
        self.reading.swap_remove(at);
        // The first row stays selected until another one was.
        let selected = self.matching().get(self.selected).map(|head| head.organization_id);
        let selected = selected.filter(|_| self.selected > 0);
        for head in &page.organizations {
            if self.heads.iter().all(|known| known.organization_id != head.organization_id) {
                self.heads.push(head.clone());
            }
        }
        self.arrange();
        let names = self.heads.iter().map(|head| (head.organization_id, head.organization_name.as_str()));
        self.doubtful = imitations(names);
        if let Some(at) = self.matching().iter().position(|head| Some(head.organization_id) == selected) {
            self.selected = at;
        }
        let next = page.next?;
        if self.heads.len() >= LIST_LIMIT {
            self.is_cut = true;
            return None;
        }
        self.reading.push((parent, Some(next)));
        Some(Order::Organizations(parent, Some(next)))
    }

    /// Sorts the list by name; sub-organizations follow their parent.
    fn arrange(&mut self) {
        let names: BTreeMap<OrganizationId, String> =
            self.heads.iter().map(|head| (head.organization_id, sort_name(head))).collect();
        self.heads.sort_by_cached_key(|head| {
            let id = head.organization_id;
            let above = head.parent_organization_id.unwrap_or(id);
            let above_name = names.get(&above).cloned().unwrap_or_default();
            (above_name, above, above != id, sort_name(head), id)
        });
    }

    /// Returns the organizations that match the search words.
    fn matching(&self) -> Vec<&OrganizationHead> {
        let words = self.search.value().to_lowercase();
        let is_found = |head: &&OrganizationHead| {
            let (name, id) = (head.organization_name.to_lowercase(), head.organization_id.to_string());
            words.split_whitespace().all(|word| name.contains(word) || id.starts_with(word))
        };
        self.heads.iter().filter(is_found).collect()
    }

    pub(super) fn press(&mut self, key: Key, height: usize) -> Pressed {
        let matches = self.matching();
        let wanted = match key {
            Key::Up => Action::Up,
            Key::Down => Action::Down,
            Key::PageUp => Action::PageUp,
            Key::PageDown => Action::PageDown,
            Key::Home => Action::Top,
            Key::End => Action::Bottom,
            Key::Enter => {
                if let Ok(typed) = self.search.value().trim().parse() {
                    return Pressed::Choose(typed, PinnedBy::Id);
                }
                let chosen = matches.get(self.selected).map(|head| head.organization_id);
                return chosen.map_or(Pressed::Nothing, |id| Pressed::Choose(id, PinnedBy::Name));
            }
            key => {
                self.selected = 0;
                edit(&mut self.search, key);
                return Pressed::Nothing;
            }
        };
        self.selected = moved(self.selected, matches.len(), height.saturating_sub(1), wanted);
        Pressed::Nothing
    }

    pub(super) fn paste(&mut self, text: &str) {
        self.selected = 0;
        insert(&mut self.search, text);
    }

    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let matches = self.matching();
        let cut = if self.is_cut { " listed; type the id of any other" } else { "" };
        let reading = match (self.has_failed, self.reading.is_empty()) {
            (true, _) => ", the rest cannot be read",
            (false, false) => ", reading more",
            (false, true) => "",
        };
        let title = format!(
            "Organization: {}_  {} of {}{cut}{reading}",
            clean(self.search.value()),
            matches.len(),
            self.heads.len()
        );
        let inner = canvas.framed(area, &title, "type to search, Enter shows it, Esc closes");
        let columns = usize::from(inner.width);
        if matches.is_empty() {
            let text = match (self.reading.is_empty(), self.heads.is_empty()) {
                (false, _) => "Reading the organizations.",
                (true, true) if self.has_failed => {
                    "The organizations cannot be read; Enter shows the organization with the typed id."
                }
                (true, true) => "This daemon has no organization yet.",
                (true, false) => "Nothing matches; Enter shows the organization with the typed id.",
            };
            canvas.lines(inner, &[Line::plain(text)], 0);
            return;
        }
        let inner = match self.hint() {
            Some(hint) => {
                let style = canvas.theme.faint();
                let last = inner.height.saturating_sub(1);
                canvas.row(inner, last, hint, style);
                Rect { height: last, ..inner }
            }
            None => inner,
        };
        canvas.rows(inner, matches.len(), 1, self.selected, true, |index| {
            let Some(head) = matches.get(index) else { return Vec::new() };
            let style = if index == self.selected { Theme::selected() } else { Theme::plain() };
            let mark = if self.doubtful.contains(&head.organization_id) { "[!] " } else { "" };
            vec![Line::styled(self.text(head, (index == self.selected, mark), columns), style)]
        });
    }

    /// Returns what the list cannot show.
    fn hint(&self) -> Option<&'static str> {
        let is_read = self.reading.is_empty() && !self.has_failed && self.shown.is_some();
        let has_children = self.heads.iter().any(|head| head.parent_organization_id.is_some());
        (is_read && !has_children).then_some("* is shown now; it has no sub-organizations")
    }

    fn text(&self, head: &OrganizationHead, (is_selected, mark): (bool, &str), columns: usize) -> String {
        let id = head.organization_id;
        let marker = if is_selected { ">" } else { " " };
        let shown = if self.shown == Some(id) { "*" } else { " " };
        let indent = if head.parent_organization_id.is_some() { "  " } else { "" };
        let quorum = &head.root_quorum;
        let rest = if columns >= 76 {
            format!("{id}  root {}/{}", quorum.threshold, quorum.user_ids.len())
        } else {
            id.to_string().chars().take(8).collect()
        };
        let name = format!("{marker}{shown}{indent} {mark}{}", clean(&head.organization_name));
        format!("{} {rest}", pad(&name, columns.saturating_sub(rest.len().saturating_add(1))))
    }
}
