//! The state of the organizations screen: the tree, the organization that is shown, and its open section.

use std::sync::Arc;

use quorate_common::console::{AccountPage, Change, OrganizationDetail};
use quorate_common::ids::{OrganizationId, WalletAccountId, WalletId};
use quorate_common::wire::WalletAccount;
use ratatui::layout::Rect;

use super::tabs::tabs;
use super::tree::Tree;
use crate::canvas::{Canvas, Line, above, beside};
use crate::keymap::{
    Action, BACK, COPY, Command, FILTER, Key, LEFT, NEXT_PANE, RIGHT, command, moved, scroll,
};
use crate::kinds::{Item, SECTIONS, SectionData};
use crate::link::{Answer, Order, Subject};
use crate::screens::filter::Filter;
use crate::screens::overlay::{Entry, Place};
use crate::screens::request::Request;
use crate::screens::screen::{Screen, Tab, showing};
use crate::screens::shared::Shared;
use crate::text::{clean, cut, wrap};
use crate::theme::Theme;

pub(in crate::screens) static TAB: Tab = Tab {
    title: "Organizations",
    show: showing(&[Key::Char('2')], "Show organizations").cli("quorate org ls"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 7] = [OPEN, COPY, BACK, FILTER, NEXT_PANE, LEFT, RIGHT];

const OPEN: Command =
    command(Action::Open, &[Key::Enter], "Open", "Show the organization, or the accounts of the wallet")
        .cli("quorate org get ID");

/// The pane with the keyboard focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Pane {
    Tree,
    #[default]
    List,
    Detail,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) pane: Pane,
    /// The organization that was opened last; nothing means the pinned one.
    pub(super) wanted: Option<OrganizationId>,
    /// The organization that is shown.
    pub(super) detail: Option<Arc<OrganizationDetail>>,
    pub(super) section: usize,
    pub(super) selected: usize,
    /// First row of the details that is shown.
    pub(super) scroll: usize,
    pub(super) accounts: Vec<WalletAccount>,
    accounts_of: Option<WalletId>,
    /// The page of accounts that was requested. Others are of a form.
    wanted_accounts: Option<(WalletId, Option<WalletAccountId>)>,
    accounts_next: Option<WalletAccountId>,
    pub(super) filter: Filter,
    /// Address that the palette looks up.
    pub(super) sought: Option<String>,
}

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let areas = layout(self.pane, area);
        if areas.tree.height > 0 {
            let in_tree = self.pane == Pane::Tree;
            self.tree.draw(canvas, areas.tree, self.shown_id(), in_tree, shared.is_missing);
        }
        if areas.list.height > 0 {
            self.draw_list(shared, canvas, areas.list);
        }
        if areas.detail.height > 2 {
            self.draw_detail(shared, canvas, areas.detail);
        }
    }

    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        let areas = layout(self.pane, area);
        match wanted {
            Action::NextPane => {
                self.pane = match self.pane {
                    Pane::Tree => Pane::List,
                    Pane::List => Pane::Detail,
                    Pane::Detail => Pane::Tree,
                }
            }
            Action::Left | Action::Right => {
                let step = if wanted == Action::Right { 1 } else { SECTIONS.len().saturating_sub(1) };
                self.section = self.section.saturating_add(step) % SECTIONS.len();
                (self.selected, self.scroll) = (0, 0);
            }
            Action::Copy => return self.copies(shared).map(Request::Overlay).into_iter().collect(),
            Action::Open if self.pane == Pane::Tree => return self.open_organization(),
            Action::Open => return self.open_wallet(shared).into_iter().collect(),
            wanted if self.pane == Pane::Tree => {
                let page = usize::from(areas.tree.height.saturating_sub(3));
                let next = self.tree.select(page, wanted);
                let order = next.map(|(parent, after)| Order::Organizations(parent, Some(after)));
                return order.map(Request::from).into_iter().collect();
            }
            wanted if self.pane == Pane::Detail => {
                let columns = usize::from(areas.detail.width.saturating_sub(4));
                let items = self.items(shared);
                let rows = items.get(self.selected).map_or(0, |item| detail_lines(item, columns).len());
                let height = usize::from(areas.detail.height.saturating_sub(2));
                self.scroll = scroll(self.scroll, rows, height, wanted);
            }
            wanted => {
                let page = usize::from(areas.list.height.saturating_sub(3))
                    .saturating_sub(self.tab_rows(areas.list));
                let at = moved(self.selected, self.items(shared).len(), page, wanted);
                if at != self.selected {
                    (self.selected, self.scroll) = (at, 0);
                }
            }
        }
        Vec::new()
    }

    /// Returns the filter of the pane with the keyboard focus.
    fn filter(&mut self) -> &mut Filter {
        if self.pane == Pane::Tree { &mut self.tree.filter } else { &mut self.filter }
    }

    fn prepare(&mut self, _shared: &Shared) -> Vec<Request> {
        let page = self.tree.sought().map(|(parent, after)| Order::Organizations(parent, Some(after)));
        page.map(Request::from).into_iter().collect()
    }

    fn things(&self, _shared: &Shared) -> Vec<Entry> {
        self.loaded()
    }

    fn reveal(&mut self, shared: &Shared, place: &Place) -> Option<Vec<Request>> {
        self.show_place(shared, place)
    }

    fn reload(&mut self, shared: &Shared, _is_shown: bool) -> Vec<Request> {
        self.tree.retry();
        let mut orders = vec![Order::Organizations(None, None)];
        if let Some(pinned) = shared.organization_id {
            orders.push(Order::Organizations(Some(pinned), None));
            // The pinned organization is loaded together with its inbox.
            orders.extend(self.shown_id().filter(|shown| *shown != pinned).map(Order::Organization));
        }
        orders.into_iter().map(Request::from).collect()
    }

    fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        match answer {
            Answer::Organizations(parent, after, page) => self.tree.apply(*parent, *after, page),
            Answer::Organization(detail) => self.show(detail),
            Answer::Head(head) => self.tree.refresh(head),
            Answer::Signer(name, signer) => return self.found(shared, name, signer.as_deref()),
            Answer::Accounts(wallet, after, page) => self.apply_accounts(*wallet, *after, page),
            Answer::Changed(Change::Organization { organization_id, .. }) => {
                return self.changed(shared, *organization_id).map(Request::from).into_iter().collect();
            }
            Answer::Failed(Subject::Approvals, error) if error.is_missing() => {
                self.forget(shared.organization_id);
            }
            _ => {}
        }
        Vec::new()
    }
}

impl State {
    fn shown_id(&self) -> Option<OrganizationId> {
        self.detail.as_ref().map(|detail| detail.head.organization_id)
    }

    fn open_organization(&mut self) -> Vec<Request> {
        let Some(head) = self.tree.chosen() else { return Vec::new() };
        let id = head.organization_id;
        (self.pane, self.wanted) = (Pane::List, Some(id));
        vec![Order::Organization(id).into(), Order::Organizations(Some(id), None).into()]
    }

    /// Requests the first or the next accounts of the selected wallet.
    fn open_wallet(&mut self, shared: &Shared) -> Option<Request> {
        let wallet = self.items(shared).get(self.selected)?.wallet?;
        let after = if self.accounts_of == Some(wallet) { self.accounts_next } else { None };
        let id = self.shown_id()?;
        self.wanted_accounts = Some((wallet, after));
        Some(Order::Accounts(id, wallet, after).into())
    }

    /// Shows an organization, unless another one was opened.
    pub(super) fn show(&mut self, detail: &Arc<OrganizationDetail>) {
        self.tree.refresh(&detail.head);
        let id = detail.head.organization_id;
        if self.wanted.is_some_and(|wanted| wanted != id) {
            return;
        }
        if self.shown_id() != Some(id) {
            (self.selected, self.scroll) = (0, 0);
            (self.accounts, self.accounts_of, self.accounts_next) = (Vec::new(), None, None);
        }
        self.detail = Some(Arc::clone(detail));
    }

    /// Returns the order that reads a changed organization. The pinned one is read by the application.
    fn changed(&self, shared: &Shared, id: OrganizationId) -> Option<Order> {
        if shared.organization_id == Some(id) {
            None
        } else if self.shown_id() == Some(id) {
            Some(Order::Organization(id))
        } else {
            let is_known = self.tree.heads.iter().any(|head| head.organization_id == id);
            is_known.then_some(Order::Head(id))
        }
    }

    /// Removes an organization that no longer exists.
    fn forget(&mut self, id: Option<OrganizationId>) {
        self.tree.heads.retain(|head| Some(head.organization_id) != id);
        if self.shown_id() == id {
            self.detail = None;
        }
    }

    /// Applies a page of accounts of a wallet.
    fn apply_accounts(&mut self, wallet: WalletId, after: Option<WalletAccountId>, page: &AccountPage) {
        if self.wanted_accounts.take_if(|wanted| *wanted == (wallet, after)).is_none() {
            return;
        }
        if after.is_none() || self.accounts_of != Some(wallet) {
            self.accounts.clear();
            self.accounts_of = Some(wallet);
        }
        self.accounts.extend(page.accounts.iter().cloned());
        self.accounts_next = page.next;
    }

    pub(super) fn items(&self, shared: &Shared) -> Vec<Item> {
        let (Some(detail), Some(section)) = (&self.detail, SECTIONS.get(self.section)) else {
            return Vec::new();
        };
        let mut items = (section.items)(&SectionData {
            detail,
            accounts: &self.accounts,
            of: self.accounts_of,
            more: self.accounts_next.is_some(),
            now: shared.now,
            actor: shared.identity.actor_in(detail),
            quorum_key: shared.daemon.as_ref().map_or("", |daemon| &daemon.quorum_public_key),
        });
        items.retain(|item| self.filter.admits(&format!("{} {}", item.row, item.detail.join(" ")), &[]));
        items
    }

    /// Returns the number of rows that the tabs take.
    fn tab_rows(&self, list: Rect) -> usize {
        let (columns, height) =
            (usize::from(list.width.saturating_sub(4)), usize::from(list.height.saturating_sub(2)));
        self.detail.as_ref().map_or(0, |detail| tabs(detail, self.section, columns, height).len())
    }

    fn draw_list(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(detail) = &self.detail else {
            let inner = canvas.framed(area, "Organization", "");
            let text = if shared.is_missing {
                "Organization not found.".to_owned()
            } else {
                shared.loading("the organization")
            };
            let lines = wrap(&text, usize::from(inner.width)).into_iter().map(Line::plain);
            canvas.lines(inner, &lines.collect::<Vec<_>>(), 0);
            return;
        };
        let items = self.items(shared);
        let name = cut(&clean(&detail.head.organization_name), 30);
        let registration = detail.head.registration().map_or_else(String::new, |text| format!(", {text}"));
        let all = SECTIONS.get(self.section).map_or(0, |section| (section.count)(detail));
        let inner = canvas.framed(
            area,
            &format!("{name} {}{registration}", detail.head.organization_id),
            &self.filter.summary(items.len(), all),
        );
        let tabs = tabs(detail, self.section, usize::from(inner.width), usize::from(inner.height));
        let mut lines: Vec<Line> = tabs.into_iter().map(|text| Line::styled(text, Theme::strong())).collect();
        let head_rows = lines.len();
        if items.is_empty() {
            let text = if all == 0 { "none" } else { "nothing matches; Esc clears the filter" };
            lines.push(Line::plain(format!("  {text}")));
        }
        for (index, item) in items.iter().enumerate() {
            let at = index == self.selected && self.pane != Pane::Tree;
            let style = if at { Theme::selected() } else { canvas.theme.of_mark(&item.row) };
            lines.push(Line::styled(format!("{} {}", if at { ">" } else { " " }, item.row), style));
        }
        canvas.list(inner, &lines, self.selected.saturating_add(head_rows), self.pane == Pane::List);
    }

    fn draw_detail(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let items = self.items(shared);
        let Some(item) = items.get(self.selected) else {
            canvas.framed(area, "", "");
            return;
        };
        let has_keys = self.pane == Pane::Detail;
        let remark = match (has_keys, item.wallet.is_some()) {
            (true, _) => "selected; Tab goes on",
            (false, true) => "Enter loads its accounts; Tab selects this pane",
            (false, false) => "Tab selects this pane",
        };
        let inner = canvas.framed(area, &item.title, remark);
        canvas.pane(inner, &detail_lines(item, usize::from(inner.width)), self.scroll, has_keys);
    }
}

/// Areas of the panes; a hidden pane has no height.
struct Areas {
    tree: Rect,
    list: Rect,
    detail: Rect,
}

fn layout(pane: Pane, area: Rect) -> Areas {
    let none = Rect { height: 0, ..area };
    if area.height < 16 && pane == Pane::Detail {
        return Areas { tree: none, list: none, detail: area };
    }
    let (upper, detail) =
        above(area, if area.height >= 16 { area.height.saturating_mul(3) / 5 } else { area.height });
    let (tree, list) = match pane {
        _ if area.width >= 110 => beside(upper, 38),
        Pane::Tree => (upper, none),
        Pane::List | Pane::Detail => (none, upper),
    };
    Areas { tree, list, detail }
}

fn detail_lines(item: &Item, columns: usize) -> Vec<Line> {
    item.detail.iter().flat_map(|text| wrap(text, columns)).map(Line::plain).collect()
}
