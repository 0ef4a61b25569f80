//! The organizations screen: users with their credentials, keys, wallets and rules. Read only.

use quorate_common::console::{AccountPage, OrganizationDetail, OrganizationHead, OrganizationPage};
use quorate_common::ids::{OrganizationId, WalletAccountId, WalletId};
use quorate_common::wire::WalletAccount;
use ratatui::layout::Rect;

use super::{Filter, moved};
use crate::app::{Effect, Model, body};
use crate::canvas::{Canvas, Line, above, beside, scrolled};
use crate::keymap::Action;
use crate::link::Order;
use crate::text::{width, wrap};
use crate::theme::Theme;

mod contents;
mod records;
mod settings;

use contents::{Item, SECTIONS, Section, Shown};

/// Minimum height of a pane with two rows of tabs.
const ROOMY: usize = 9;

/// The pane with the keyboard focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Pane {
    Tree,
    #[default]
    List,
    Detail,
}

#[derive(Default)]
pub(crate) struct State {
    heads: Vec<OrganizationHead>,
    next: Vec<(Option<OrganizationId>, OrganizationId)>,
    tree_selected: Option<OrganizationId>,
    pane: Pane,
    /// The organization that was opened last; nothing means the pinned one.
    wanted: Option<OrganizationId>,
    /// The organization that is shown.
    pub(crate) detail: Option<OrganizationDetail>,
    section: usize,
    selected: usize,
    /// First row of the details that is shown.
    scroll: usize,
    accounts: Vec<WalletAccount>,
    accounts_of: Option<WalletId>,
    accounts_next: Option<WalletAccountId>,
    /// The daemon's key that signs bundles, in uncompressed hex.
    pub(crate) quorum_key: String,
    /// Whether the organization no longer exists.
    pub(crate) is_missing: bool,
    pub(crate) filter: Filter,
}

/// Applies a page of organizations: top-level organizations, or children of `parent`.
pub(crate) fn apply_page(
    state: &mut State,
    parent: Option<OrganizationId>,
    after: Option<OrganizationId>,
    page: OrganizationPage,
) {
    state.next.retain(|(of, at)| !(*of == parent && Some(*at) == after));
    let known = state.heads.iter().filter(|head| head.parent_organization_id == parent).count();
    // Reading the first page again does not undo the reading of later pages.
    let read_on = after.is_none() && known > page.organizations.len();
    if after.is_none() && page.next.is_none() {
        // The first page is complete: organizations that it does not contain were deleted.
        let there = |head: &OrganizationHead| {
            head.parent_organization_id != parent
                || page.organizations.iter().any(|one| one.organization_id == head.organization_id)
        };
        state.heads.retain(there);
    }
    for head in page.organizations {
        match state.heads.iter_mut().find(|known| known.organization_id == head.organization_id) {
            Some(known) => *known = head,
            None => state.heads.push(head),
        }
    }
    state.heads = arranged(std::mem::take(&mut state.heads));
    if let Some(next) = page.next.filter(|next| !read_on && !state.next.contains(&(parent, *next))) {
        state.next.push((parent, next));
    }
}

/// Sorts children behind their parent.
fn arranged(heads: Vec<OrganizationHead>) -> Vec<OrganizationHead> {
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

/// Updates an organization of the tree.
pub(crate) fn refresh(state: &mut State, head: &OrganizationHead) {
    if let Some(known) = state.heads.iter_mut().find(|known| known.organization_id == head.organization_id) {
        known.clone_from(head);
    }
}

/// Returns whether the tree contains an organization.
pub(crate) fn is_known(state: &State, id: OrganizationId) -> bool {
    state.heads.iter().any(|head| head.organization_id == id)
}

/// Shows an organization, unless another one was opened.
pub(crate) fn show(state: &mut State, detail: OrganizationDetail) {
    if state.wanted.is_some_and(|wanted| wanted != detail.head.organization_id) {
        return;
    }
    let same =
        state.detail.as_ref().is_some_and(|shown| shown.head.organization_id == detail.head.organization_id);
    if !same {
        (state.selected, state.scroll) = (0, 0);
        (state.accounts, state.accounts_of, state.accounts_next) = (Vec::new(), None, None);
    }
    state.detail = Some(detail);
    state.is_missing = false;
}

/// Removes an organization that no longer exists.
pub(crate) fn forget(state: &mut State, id: OrganizationId) {
    state.heads.retain(|head| head.organization_id != id);
    if state.detail.as_ref().is_none_or(|detail| detail.head.organization_id == id) {
        state.detail = None;
        state.is_missing = true;
    }
}

/// Applies a page of accounts of a wallet.
pub(crate) fn apply_accounts(
    state: &mut State,
    wallet: WalletId,
    after: Option<WalletAccountId>,
    page: AccountPage,
) {
    if after.is_none() || state.accounts_of != Some(wallet) {
        state.accounts.clear();
        state.accounts_of = Some(wallet);
    }
    state.accounts.extend(page.accounts);
    state.accounts_next = page.next;
}

/// Handles the keys of this screen.
pub(crate) fn perform(model: &mut Model, wanted: Action) -> Vec<Effect> {
    let areas = layout(&model.organizations, body(model));
    let items = items(&model.organizations);
    let state = &mut model.organizations;
    match wanted {
        Action::NextPane => {
            state.pane = match state.pane {
                Pane::Tree => Pane::List,
                Pane::List => Pane::Detail,
                Pane::Detail => Pane::Tree,
            }
        }
        Action::Left | Action::Right => {
            let step = if wanted == Action::Right { 1 } else { SECTIONS.len().saturating_sub(1) };
            state.section = state.section.saturating_add(step) % SECTIONS.len();
            (state.selected, state.scroll) = (0, 0);
        }
        Action::Open if state.pane == Pane::Tree => {
            let Some(head) = state.heads.get(tree_at(state)) else { return Vec::new() };
            let id = head.organization_id;
            (state.pane, state.wanted) = (Pane::List, Some(id));
            return vec![
                Effect::Order(Order::Organization(id)),
                Effect::Order(Order::Organizations(Some(id), None)),
            ];
        }
        Action::Open => {
            let (Some(detail), Some(Item { wallet: Some(wallet), .. })) =
                (&state.detail, items.get(state.selected))
            else {
                return Vec::new();
            };
            let after = if state.accounts_of == Some(*wallet) { state.accounts_next } else { None };
            return vec![Effect::Order(Order::Accounts(detail.head.organization_id, *wallet, after))];
        }
        wanted if state.pane == Pane::Tree => {
            let page = usize::from(areas.tree.height.saturating_sub(3));
            let at = moved(tree_at(state), state.heads.len(), page, wanted);
            state.tree_selected = state.heads.get(at).map(|head| head.organization_id);
            let at_end = at.saturating_add(1) >= state.heads.len();
            if let Some((parent, after)) = state.next.first().filter(|_| at_end) {
                return vec![Effect::Order(Order::Organizations(*parent, Some(*after)))];
            }
        }
        wanted if state.pane == Pane::Detail => {
            let columns = usize::from(areas.detail.width.saturating_sub(4));
            let rows = items.get(state.selected).map_or(0, |item| detail_lines(item, columns).len());
            let page = usize::from(areas.detail.height.saturating_sub(2));
            let last = rows.saturating_sub(page);
            state.scroll = moved(state.scroll, rows, page.saturating_sub(1), wanted).min(last);
        }
        wanted => {
            let page =
                usize::from(areas.list.height.saturating_sub(3)).saturating_sub(tab_rows(state, areas.list));
            let at = moved(state.selected, items.len(), page, wanted);
            if at != state.selected {
                (state.selected, state.scroll) = (at, 0);
            }
        }
    }
    Vec::new()
}

/// Areas of the panes; a hidden pane has no height.
struct Areas {
    tree: Rect,
    list: Rect,
    detail: Rect,
}

fn layout(state: &State, area: Rect) -> Areas {
    let none = Rect { height: 0, ..area };
    if area.height < 16 && state.pane == Pane::Detail {
        return Areas { tree: none, list: none, detail: area };
    }
    let (upper, detail) =
        above(area, if area.height >= 16 { area.height.saturating_mul(3) / 5 } else { area.height });
    let (tree, list) = match state.pane {
        _ if area.width >= 110 => beside(upper, 38),
        Pane::Tree => (upper, none),
        Pane::List | Pane::Detail => (none, upper),
    };
    Areas { tree, list, detail }
}

/// Returns the number of rows that the tabs take.
fn tab_rows(state: &State, list: Rect) -> usize {
    let (columns, height) =
        (usize::from(list.width.saturating_sub(4)), usize::from(list.height.saturating_sub(2)));
    state.detail.as_ref().map_or(0, |detail| tabs(detail, state.section, columns, height).len())
}

fn tree_at(state: &State) -> usize {
    state.heads.iter().position(|head| Some(head.organization_id) == state.tree_selected).unwrap_or(0)
}

fn items(state: &State) -> Vec<Item> {
    let (Some(detail), Some(section)) = (&state.detail, SECTIONS.get(state.section)) else {
        return Vec::new();
    };
    let mut items = (section.items)(&Shown {
        detail,
        accounts: &state.accounts,
        of: state.accounts_of,
        more: state.accounts_next.is_some(),
        quorum_key: &state.quorum_key,
    });
    items.retain(|item| state.filter.admits(&format!("{} {}", item.row, item.detail.join(" ")), &[]));
    items
}

pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let state = &model.organizations;
    let areas = layout(state, area);
    if areas.tree.height > 0 {
        tree(model, canvas, areas.tree);
    }
    if areas.list.height > 0 {
        contents_pane(state, canvas, areas.list);
    }
    if areas.detail.height > 2 {
        detail(state, canvas, areas.detail);
    }
}

fn tree(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let state = &model.organizations;
    let at = tree_at(state);
    let more = if state.next.is_empty() { "" } else { "+" };
    let inner = canvas.framed(
        area,
        &format!("Organizations {}{more}", state.heads.len()),
        if state.pane == Pane::Tree { "here" } else { "Tab" },
    );
    let in_tree = state.pane == Pane::Tree;
    let mut lines: Vec<Line> = Vec::new();
    for (index, head) in state.heads.iter().enumerate() {
        let marker = if in_tree && index == at { ">" } else { " " };
        let open =
            state.detail.as_ref().is_some_and(|detail| detail.head.organization_id == head.organization_id);
        let style = if in_tree && index == at { Theme::selected() } else { Theme::plain() };
        let indent = if head.parent_organization_id.is_some() { "  " } else { "" };
        let quorum = format!("root {}/{}", head.root_quorum.threshold, head.root_quorum.user_ids.len());
        let name_room = usize::from(inner.width).saturating_sub(quorum.len() + 4 + indent.len());
        let name = crate::text::pad(&crate::text::clean(&head.organization_name), name_room);
        lines.push(Line::styled(
            format!("{marker}{}{indent} {name} {quorum}", if open { "*" } else { " " }),
            style,
        ));
    }
    if !state.next.is_empty() {
        lines.push(Line::styled("   more: go to the end", canvas.theme.faint()));
    }
    if lines.is_empty() {
        lines.push(Line::plain(if state.is_missing { "none" } else { "Loading organizations." }));
    }
    let height = usize::from(inner.height);
    let from = if lines.len() > height { scrolled(at, height) } else { 0 };
    canvas.pane(inner, &lines, from, in_tree);
}

fn contents_pane(state: &State, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(detail) = &state.detail else {
        let inner = canvas.framed(area, "Organization", "");
        let text = if state.is_missing { "Organization not found." } else { "Loading the organization." };
        canvas.lines(inner, &[Line::plain(text)], 0);
        return;
    };
    let items = items(state);
    let name = crate::text::cut(&crate::text::clean(&detail.head.organization_name), 30);
    let all = SECTIONS.get(state.section).map_or(0, |section| (section.count)(detail));
    let inner = canvas.framed(
        area,
        &format!("{name} {}", detail.head.organization_id),
        &state.filter.summary(items.len(), all),
    );
    let tabs = tabs(detail, state.section, usize::from(inner.width), usize::from(inner.height));
    let mut lines: Vec<Line> = tabs.into_iter().map(|text| Line::styled(text, Theme::strong())).collect();
    let head_rows = lines.len();
    if items.is_empty() {
        let text = if all == 0 { "none" } else { "nothing matches; Esc clears the filter" };
        lines.push(Line::plain(format!("  {text}")));
    }
    for (index, item) in items.iter().enumerate() {
        let at = index == state.selected && state.pane != Pane::Tree;
        let style = if at { Theme::selected() } else { canvas.theme.of_mark(&item.row) };
        lines.push(Line::styled(format!("{} {}", if at { ">" } else { " " }, item.row), style));
    }
    let height = usize::from(inner.height);
    let from =
        if lines.len() > height { scrolled(state.selected.saturating_add(head_rows), height) } else { 0 };
    canvas.pane(inner, &lines, from, state.pane == Pane::List);
}

/// Returns the tabs in one or two rows. If the space is too small, only the tabs around the open one are
/// shown, with marks for more.
fn tabs(detail: &OrganizationDetail, open: usize, columns: usize, height: usize) -> Vec<String> {
    let label = |(index, section): (usize, &Section)| {
        let label = format!("{} {}", section.name, (section.count)(detail));
        if index == open { format!("[{label}]") } else { label }
    };
    let tabs: Vec<String> = SECTIONS.iter().enumerate().map(label).collect();
    let rows = packed(&tabs, open, columns);
    if rows.len() <= if height < ROOMY { 1 } else { 2 } {
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

fn detail(state: &State, canvas: &mut Canvas<'_>, area: Rect) {
    let items = items(state);
    let Some(item) = items.get(state.selected) else {
        canvas.framed(area, "", "");
        return;
    };
    let has_keys = state.pane == Pane::Detail;
    let remark = match (has_keys, item.wallet.is_some()) {
        (true, _) => "here; Tab moves on",
        (false, true) => "Enter loads its accounts; Tab moves here",
        (false, false) => "Tab moves here",
    };
    let inner = canvas.framed(area, &item.title, remark);
    canvas.pane(inner, &detail_lines(item, usize::from(inner.width)), state.scroll, has_keys);
}

fn detail_lines(item: &Item, columns: usize) -> Vec<Line> {
    item.detail.iter().flat_map(|text| wrap(text, columns)).map(Line::plain).collect()
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
        let mut state = State::default();
        let page = |heads: Vec<OrganizationHead>| OrganizationPage { organizations: heads, next: None };
        apply_page(&mut state, Some(parent.organization_id), None, page(vec![child(1), child(2)]));
        apply_page(&mut state, None, None, page(vec![parent.clone()]));
        let second = Some(child(2).organization_id);
        apply_page(&mut state, Some(parent.organization_id), second, page(vec![child(2), child(3)]));
        let ids: Vec<OrganizationId> = state.heads.iter().map(|head| head.organization_id).collect();
        assert_eq!(
            ids,
            [
                parent.organization_id,
                child(1).organization_id,
                child(2).organization_id,
                child(3).organization_id
            ]
        );
        apply_page(&mut state, Some(parent.organization_id), None, page(vec![child(3)]));
        let ids: Vec<OrganizationId> = state.heads.iter().map(|head| head.organization_id).collect();
        assert_eq!(
            ids,
            [parent.organization_id, child(3).organization_id],
            "deleted organizations are removed"
        );
    }
}
