//! What admits people to the organization: credentials, sessions and open invitations of all users, with their last
//! use, their end and how to revoke them.

use quorate_common::console::OrganizationDetail;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::overlay::Overlay;
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::Shared;
use crate::canvas::{Canvas, Line, list_and_detail, rows_each};
use crate::credentials::{self, Credential};
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, command, moved};
use crate::link::Order;
use crate::text::{cut, date_time, pad};

pub(super) static TAB: Tab = Tab {
    title: "Access",
    show: showing(&[Key::Char('5')], "Show credentials, sessions and invitations").cli("quorate user ls"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

const REVOKE: Action = Action::OfScreen("revoke");
const SESSIONS: Action = Action::OfScreen("sessions");

static COMMANDS: [Command; 5] = [
    command(REVOKE, &[Key::Char('D')], "Revoke...", "Review and propose the deletion of the credential")
        .cli("quorate user revoke ID"),
    command(SESSIONS, &[Key::Char('s')], "Sessions", "Show only sessions that have not ended, or everything")
        .cli("quorate user ls --sessions"),
    COPY,
    BACK,
    FILTER,
];

/// Rows of the details.
const DETAIL_ROWS: u16 = 9;

#[derive(Default)]
struct State {
    /// Id of the selected row.
    selected: Option<String>,
    /// Whether only sessions that have not ended are shown.
    only_sessions: bool,
    filter: Filter,
}

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let all = rows(shared);
        let shown = self.visible(shared, &all);
        let (list, detail) = list_and_detail(area, DETAIL_ROWS, false);
        let sessions = all.iter().filter(|one| one.is_live_session(shared.now)).count();
        let title = format!("Access: {}, live sessions {sessions}", all.len());
        let inner = canvas.framed(list, &title, &self.summary(shown.len(), all.len()));
        if shown.is_empty() {
            canvas.lines(inner, &[Line::plain(empty(shared, &all, self.only_sessions))], 0);
        } else {
            self.draw_rows(shared, &shown, canvas, inner);
        }
        if detail.height > 0 {
            self.draw_detail(shared, &shown, canvas, detail);
        }
    }

    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        let all = rows(shared);
        let shown = self.visible(shared, &all);
        let position = self.position(&shown);
        let selected = shown.get(position).copied();
        match wanted {
            REVOKE => return selected.map(|one| revoke(shared, one)).into_iter().collect(),
            Action::Copy => return selected.map(|one| Request::Overlay(copies(one))).into_iter().collect(),
            SESSIONS => self.only_sessions = !self.only_sessions,
            Action::Back => self.only_sessions = false,
            wanted => {
                let rows = list_and_detail(area, DETAIL_ROWS, false).0.height.saturating_sub(4)
                    / rows_each(area.width);
                let at = moved(position, shown.len(), usize::from(rows), wanted);
                self.selected = shown.get(at).map(|one| one.id.clone());
            }
        }
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn is_at_top(&self) -> bool {
        !self.only_sessions
    }

    fn open(&mut self, shared: &Shared) -> Vec<Request> {
        // The screen opens with all rows, so that the key for sessions always has the same effect.
        self.only_sessions = false;
        // A use of a credential is no change of the organization, so it is read again.
        shared.organization_id.map(|id| Order::Organization(id).into()).into_iter().collect()
    }

    fn reload(&mut self, _: &Shared, _: bool) -> Vec<Request> {
        // The organization is loaded together with its inbox.
        Vec::new()
    }

    /// Keeps the row that is shown as selected, so that it stays selected when other rows appear around it.
    fn prepare(&mut self, shared: &Shared) -> Vec<Request> {
        let all = rows(shared);
        let shown = self.visible(shared, &all);
        let selected = shown.get(self.position(&shown)).map(|one| one.id.clone());
        self.selected = selected.or(self.selected.take());
        Vec::new()
    }
}

impl State {
    /// Returns which rows are shown, and the key that shows all of them, for the frame of the list.
    fn summary(&self, shown: usize, all: usize) -> String {
        let filter = self.filter.summary(shown, all);
        match (self.only_sessions, filter.is_empty()) {
            (false, _) => filter,
            (true, true) => format!("only sessions  {shown} of {all}, Esc shows all"),
            (true, false) => format!("only sessions  {filter}"),
        }
    }

    fn visible<'a>(&self, shared: &Shared, all: &'a [Credential]) -> Vec<&'a Credential> {
        let admitted = |one: &&Credential| {
            let (last_use, end) = (one.last_use_cell(shared.now), one.end_cell(shared.now));
            let kind = one.kind_cell();
            let words = [&one.user, &kind, &one.name, &one.material, &last_use, &end];
            (!self.only_sessions || one.is_live_session(shared.now))
                && self.filter.admits(&words.map(String::as_str).join(" "), &[&one.id])
        };
        all.iter().filter(admitted).collect()
    }

    fn position(&self, rows: &[&Credential]) -> usize {
        rows.iter().position(|one| Some(&one.id) == self.selected.as_ref()).unwrap_or(0)
    }

    fn draw_rows(&self, shared: &Shared, shown: &[&Credential], canvas: &mut Canvas<'_>, area: Rect) {
        let (columns, each) = (usize::from(area.width), rows_each(area.width.saturating_add(4)));
        if each == 1 {
            canvas.row(area, 0, &format!("  {}", heading(columns)), canvas.theme.faint());
        }
        let head = u16::from(each == 1);
        let height = area.height.saturating_sub(head);
        let body = Rect { y: area.y.saturating_add(head), height, ..area };
        let selected = self.position(shown);
        canvas
            .items(body, shown, each, selected, true, |one, marker| texts(one, shared.now, marker, columns));
    }

    fn draw_detail(&self, shared: &Shared, shown: &[&Credential], canvas: &mut Canvas<'_>, area: Rect) {
        let Some(one) = shown.get(self.position(shown)) else {
            canvas.framed(area, "", "");
            return;
        };
        let inner = canvas.framed(area, &format!("{}: {}", one.user, one.kind), "");
        let mut texts = vec![
            format!("id        {}", one.id),
            format!("last use  {}", one.last_use_text(Some(shared.now))),
            format!("end       {}", one.end_text(Some(shared.now))),
            format!("revoke    {}", one.revocation_text()),
        ];
        texts.extend(one.warning().map(|text| format!("counter   {text}")));
        texts.extend(one.mail_text(Some(shared.now)).map(|mail| format!("mail      {mail}")));
        let added = one.added.map_or_else(String::new, |at| format!("  added {}", date_time(at)));
        texts.push(format!("name      {}{added}", if one.name.is_empty() { "none" } else { &one.name }));
        if !one.material.is_empty() && one.user_id.is_some() {
            texts.push(format!("key       {}", one.material));
        }
        canvas.texts(inner, &texts);
    }
}

fn rows(shared: &Shared) -> Vec<Credential> {
    let of = |one: &OrganizationDetail| credentials::all(one, shared.identity.actor_in(one), shared.now);
    shared.organization.as_deref().map(of).unwrap_or_default()
}

fn empty(shared: &Shared, all: &[Credential], only_sessions: bool) -> &'static str {
    match (&shared.organization, all.is_empty()) {
        (None, _) => "Loading the organization.",
        (Some(_), true) => "No credentials.",
        (Some(_), false) if only_sessions => "No session matches; Esc shows everything.",
        (Some(_), false) => "Nothing matches; Esc clears the filter.",
    }
}

/// Opens the review of the request that revokes a credential.
fn revoke(shared: &Shared, credential: &Credential) -> Request {
    match credential.revocation() {
        Some(request) => Request::review(shared.review_request(&request)),
        None => Request::Notice(format!("[!] {}", credential.revocation_error().unwrap_or_default())),
    }
}

fn copies(credential: &Credential) -> Overlay {
    let user = credential.user_id.map(|id| id.to_string()).unwrap_or_default();
    let revocation = credential.revocation().map(|_| credential.revocation_text()).unwrap_or_default();
    let pieces = [
        ('i', "id", credential.id.clone()),
        ('u', "user id", user),
        ('k', "key", credential.material.clone()),
        ('r', "revoke command", revocation),
    ];
    Overlay::copies(pieces)
}

/// Widths of the columns user, kind, name and last use.
const fn widths(columns: usize) -> [usize; 4] {
    if columns >= 110 { [14, 18, 34, 16] } else { [11, 18, 16, 13] }
}

fn cells(texts: [&str; 5], columns: usize) -> String {
    let [user, kind, name, last_use, end] = texts;
    let padded = [user, kind, name, last_use].into_iter().zip(widths(columns));
    let padded: Vec<String> = padded.map(|(text, width)| pad(&cut(text, width), width)).collect();
    format!("{} {end}", padded.join(" "))
}

fn heading(columns: usize) -> String {
    cells(["USER", "KIND", "NAME", "LAST USE", "EXPIRES"], columns)
}

/// Formats a credential as one row if the width allows it, otherwise as two.
fn texts(one: &Credential, now: u64, marker: &str, columns: usize) -> Vec<String> {
    let (kind, last_use, end) = (one.kind_cell(), one.last_use_cell(now), one.end_cell(now));
    if columns >= 76 {
        return vec![format!("{marker}{}", cells([&one.user, &kind, &one.name, &last_use, &end], columns))];
    }
    let last_use =
        if one.last_use.is_some() { format!("used {last_use}") } else { "no use recorded".to_owned() };
    vec![format!("{marker}{} {}", pad(&cut(&one.user, 12), 12), kind), format!("  {last_use}, {end}")]
}
