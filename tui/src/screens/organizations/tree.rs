//! The tree of organizations, loaded page by page. A filter finds organizations by name or id; meanwhile the tree is loaded
//! to its end.

use quorate_common::console::{OrganizationHead, OrganizationPage};
use quorate_common::ids::OrganizationId;
use ratatui::layout::Rect;

use crate::canvas::{Canvas, Line};
use crate::keymap::{Action, moved};
use crate::screens::filter::Filter;
use crate::screens::overlay::sort_name;
use crate::text::{clean, pad};
use crate::theme::Theme;

/// Minimum width of the tree in which rows state how an organization was created, beside its name.
const REGISTRATION_WIDTH: usize = 40;
/// Maximum number of organizations that a filter loads.
const SEARCHED: usize = 10_000;

#[derive(Default)]
pub(super) struct Tree {
    pub(super) heads: Vec<OrganizationHead>,
    /// Cursors of the next pages, each with the parent of its organizations.
    next: Vec<(Option<OrganizationId>, OrganizationId)>,
    selected: Option<OrganizationId>,
    pub(super) filter: Filter,
    /// The page that was requested for the filter.
    requested: Option<(Option<OrganizationId>, OrganizationId)>,
}

impl Tree {
    /// Applies a page of organizations: top-level organizations, or children of `parent`.
    pub(super) fn apply(
        &mut self,
        parent: Option<OrganizationId>,
        after: Option<OrganizationId>,
        page: &OrganizationPage,
    ) {
        self.next.retain(|(of, at)| !(*of == parent && Some(*at) == after));
        let known = self.heads.iter().filter(|head| head.parent_organization_id == parent).count();
        // Reading the first page again does not undo the reading of later pages.
        let read_on = after.is_none() && known > page.organizations.len();
        if after.is_none() && page.next.is_none() {
            // The first page is complete: organizations that it does not contain were deleted.
            let there = |head: &OrganizationHead| {
                head.parent_organization_id != parent
                    || page.organizations.iter().any(|one| one.organization_id == head.organization_id)
            };
            self.heads.retain(there);
        }
        for head in &page.organizations {
            match self.heads.iter_mut().find(|known| known.organization_id == head.organization_id) {
                Some(known) => known.clone_from(head),
                None => self.heads.push(head.clone()),
            }
        }
        self.heads = arranged(std::mem::take(&mut self.heads));
        if let Some(next) = page.next.filter(|next| !read_on && !self.next.contains(&(parent, *next))) {
            self.next.push((parent, next));
        }
    }

    /// Updates an organization.
    pub(super) fn refresh(&mut self, head: &OrganizationHead) {
        let id = head.organization_id;
        if let Some(known) = self.heads.iter_mut().find(|known| known.organization_id == id) {
            known.clone_from(head);
        }
    }

    /// Moves the selection. Returns the parent and the cursor of the next page if the end is selected.
    pub(super) fn select(
        &mut self,
        page: usize,
        wanted: Action,
    ) -> Option<(Option<OrganizationId>, OrganizationId)> {
        let shown = self.visible();
        let at = moved(self.position(&shown), shown.len(), page, wanted);
        let at_end = at.saturating_add(1) >= shown.len();
        self.selected = shown.get(at).map(|head| head.organization_id);
        self.next.first().copied().filter(|_| at_end)
    }

    /// Returns the organizations that the filter admits.
    fn visible(&self) -> Vec<&OrganizationHead> {
        let is_admitted = |head: &&OrganizationHead| {
            self.filter.admits(&head.organization_name, &[&head.organization_id.to_string()])
        };
        self.heads.iter().filter(is_admitted).collect()
    }

    /// Returns the selected organization.
    pub(super) fn chosen(&self) -> Option<&OrganizationHead> {
        let shown = self.visible();
        shown.get(self.position(&shown)).copied()
    }

    fn position(&self, shown: &[&OrganizationHead]) -> usize {
        shown.iter().position(|head| Some(head.organization_id) == self.selected).unwrap_or(0)
    }

    /// Returns the parent and the cursor of a page that the filter needs, once.
    pub(super) fn sought(&mut self) -> Option<(Option<OrganizationId>, OrganizationId)> {
        let next = self.next.first().copied();
        let is_wanted = !self.filter.is_empty() && self.heads.len() < SEARCHED && next != self.requested;
        let next = next.filter(|_| is_wanted)?;
        self.requested = Some(next);
        Some(next)
    }

    /// Forgets what was requested, because it may have failed.
    pub(super) fn retry(&mut self) {
        self.requested = None;
    }

    /// Draws the tree. `opened` is the organization that is shown beside it.
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas<'_>,
        area: Rect,
        opened: Option<OrganizationId>,
        in_tree: bool,
        is_missing: bool,
    ) {
        let shown = self.visible();
        let at = self.position(&shown);
        let more = if self.next.is_empty() { "" } else { "+" };
        let (count, all) = (shown.len(), self.heads.len());
        let (title, remark) = match (self.filter.summary(count, all).is_empty(), in_tree) {
            // The pane is too narrow for the whole summary.
            (false, _) => (format!("{count} of {all}{more}, Esc clears"), self.filter.field()),
            (true, true) => (format!("Organizations {all}{more}"), "selected".to_owned()),
            (true, false) => (format!("Organizations {all}{more}"), "Tab".to_owned()),
        };
        let inner = canvas.framed(area, &title, &remark);
        let mut lines: Vec<Line> = Vec::new();
        for (index, head) in shown.into_iter().enumerate() {
            let marker = if in_tree && index == at { ">" } else { " " };
            let open = opened == Some(head.organization_id);
            let style = if in_tree && index == at { Theme::selected() } else { Theme::plain() };
            let indent = if head.parent_organization_id.is_some() { "  " } else { "" };
            let quorum = format!("root {}/{}", head.root_quorum.threshold, head.root_quorum.user_ids.len());
            let quorum = match head.registration() {
                Some(registration) if usize::from(inner.width) >= REGISTRATION_WIDTH => {
                    format!("{registration}, {quorum}")
                }
                _ => quorum,
            };
            let name_room = usize::from(inner.width).saturating_sub(quorum.len() + 4 + indent.len());
            let name = pad(&clean(&head.organization_name), name_room);
            lines.push(Line::styled(
                format!("{marker}{}{indent} {name} {quorum}", if open { "*" } else { " " }),
                style,
            ));
        }
        if !self.next.is_empty() {
            let is_loading = !self.filter.is_empty() && self.heads.len() < SEARCHED;
            let text = if is_loading { "   more are being read" } else { "   more: go to the end" };
            lines.push(Line::styled(text, canvas.theme.faint()));
        } else if lines.is_empty() {
            lines.push(Line::plain(match (self.heads.is_empty(), is_missing) {
                (false, _) => "Nothing matches; Esc clears the filter.",
                (true, true) => "none",
                (true, false) => "Loading organizations.",
            }));
        }
        canvas.list(inner, &lines, at, in_tree);
    }
}

/// Sorts by name, children behind their parent.
fn arranged(mut heads: Vec<OrganizationHead>) -> Vec<OrganizationHead> {
    heads.sort_by_cached_key(|head| (sort_name(head), head.organization_id));
    let known: Vec<OrganizationId> = heads.iter().map(|head| head.organization_id).collect();
    let is_top =
        |head: &OrganizationHead| head.parent_organization_id.is_none_or(|parent| !known.contains(&parent));
    let (tops, children): (Vec<_>, Vec<_>) = heads.into_iter().partition(is_top);
    let mut out = Vec::new();
    for top in tops {
        let id = top.organization_id;
        out.push(top);
        out.extend(children.iter().filter(|child| child.parent_organization_id == Some(id)).cloned());
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
    use super::*;
    use crate::testing::Fixture;

    #[test]
    fn children_follow_their_parent() {
        let parent = Fixture::new(2, 1).organization().head;
        let child = |byte: u8| OrganizationHead {
            organization_id: OrganizationId::from_bytes([byte; 16]),
            parent_organization_id: Some(parent.organization_id),
            ..parent.clone()
        };
        let mut tree = Tree::default();
        let page = |heads: Vec<OrganizationHead>| OrganizationPage { organizations: heads, next: None };
        tree.apply(Some(parent.organization_id), None, &page(vec![child(1), child(2)]));
        tree.apply(None, None, &page(vec![parent.clone()]));
        let second = Some(child(2).organization_id);
        tree.apply(Some(parent.organization_id), second, &page(vec![child(2), child(3)]));
        let ids: Vec<OrganizationId> = tree.heads.iter().map(|head| head.organization_id).collect();
        assert_eq!(
            ids,
            [
                parent.organization_id,
                child(1).organization_id,
                child(2).organization_id,
                child(3).organization_id
            ]
        );
        tree.apply(Some(parent.organization_id), None, &page(vec![child(3)]));
        let ids: Vec<OrganizationId> = tree.heads.iter().map(|head| head.organization_id).collect();
        assert_eq!(
            ids,
            [parent.organization_id, child(3).organization_id],
            "deleted organizations are removed"
        );
    }
}
