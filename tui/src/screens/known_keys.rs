//! The known keys and root quorums of this user (trust on first use). Keys that appeared later are marked until the
//! user accepts them, which only a command does.

use std::collections::BTreeMap;

use quorate_common::ids::{OrganizationId, UserId};
use ratatui::layout::Rect;
use sha2::{Digest, Sha256};

use super::filter::Filter;
use super::overlay::Overlay;
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::Shared;
use crate::canvas::{Canvas, Line, list_and_detail, rows_each};
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, NEXT_PANE, moved, scroll};
use crate::keys::canonical;
use crate::known_keys::KnownKey;
use crate::text::{clean, cut, date, date_time, grouped, pad, wrap};

pub(super) static TAB: Tab = Tab {
    title: "Known keys",
    show: showing(&[Key::Char('0')], "Show the known keys and root quorums").cli("quorate known-keys ls"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 4] = [NEXT_PANE, COPY, BACK, FILTER];

/// Rows of the details.
const DETAIL_ROWS: u16 = 10;

/// What identifies a key: organization, user and public key.
type KeyId = (OrganizationId, UserId, String);

#[derive(Default)]
struct State {
    selected: Option<KeyId>,
    filter: Filter,
    /// Whether the details have the keyboard focus, and the first row that they show.
    in_detail: bool,
    scroll: usize,
}

/// A known key with the names that belong to it.
struct Row<'a> {
    key: KnownKey<'a>,
    user: String,
    /// Whether the daemon states the key for the user now; unknown for other organizations.
    is_stated: Option<bool>,
}

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let (list, detail) = list_and_detail(area, DETAIL_ROWS, self.in_detail);
        let all = rows(shared);
        let shown = self.visible(&all);
        let new = all.iter().filter(|row| !row.key.is_confirmed).count();
        let marked = if new == 0 { String::new() } else { format!(", [!] {new} not accepted") };
        let title = format!("Known keys {}{marked}", all.len());
        let inner = canvas.framed(list, &title, &self.filter.summary(shown.len(), all.len()));
        if shown.is_empty() {
            let text = if all.is_empty() {
                "No known keys yet. They are recorded when an organization is read."
            } else {
                "Nothing matches; Esc clears the filter."
            };
            canvas.texts(inner, &[text]);
        }
        let selected = self.position(&shown);
        canvas.items(inner, &shown, rows_each(area.width), selected, !self.in_detail, |row, marker| {
            row.texts(marker, usize::from(inner.width))
        });
        if detail.height > 0 {
            self.draw_detail(shared, shown.get(selected).copied(), canvas, detail);
        }
    }

    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        let all = rows(shared);
        let shown = self.visible(&all);
        let selected = self.position(&shown);
        let row = shown.get(selected).copied();
        match wanted {
            Action::Copy => return row.map(|row| Request::Overlay(row.copies())).into_iter().collect(),
            Action::NextPane => self.in_detail = !self.in_detail,
            Action::Back => self.in_detail = false,
            wanted if self.in_detail => {
                let inner = list_and_detail(area, DETAIL_ROWS, true).1;
                let columns = usize::from(inner.width.saturating_sub(4));
                let rows = row.map_or(0, |row| row.details(shared, columns).len());
                self.scroll = scroll(self.scroll, rows, usize::from(inner.height.saturating_sub(2)), wanted);
            }
            wanted => {
                let page = list_and_detail(area, DETAIL_ROWS, false).0.height.saturating_sub(3)
                    / rows_each(area.width);
                let target = moved(selected, shown.len(), usize::from(page), wanted);
                (self.selected, self.scroll) = (shown.get(target).map(|row| row.id()), 0);
            }
        }
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn is_at_top(&self) -> bool {
        !self.in_detail
    }
}

/// Returns the known keys: those of the pinned organization first, and in it those that are not accepted.
fn rows(shared: &Shared) -> Vec<Row<'_>> {
    let organization = shared.organization.as_deref();
    let mut stated: BTreeMap<UserId, Vec<String>> = BTreeMap::new();
    for user in organization.iter().flat_map(|organization| &organization.users) {
        stated.insert(user.user_id, user.public_keys().map(canonical).collect());
    }
    let row = |key: KnownKey<'_>| {
        let is_pinned = organization.is_some_and(|one| one.head.organization_id == key.organization);
        let holds = |keys: &Vec<String>| keys.iter().any(|known| known == key.public_key);
        let is_stated = is_pinned.then(|| stated.get(&key.user).is_some_and(holds));
        (is_pinned, is_stated)
    };
    let name = |key: &KnownKey<'_>| {
        let known = shared.known_keys.name(key.organization, key.user);
        known.map_or_else(|| key.user.to_string(), clean)
    };
    let mut rows: Vec<(bool, Row<'_>)> = shared
        .known_keys
        .seen()
        .into_iter()
        .map(|key| {
            let (is_pinned, is_stated) = row(key);
            (is_pinned, Row { user: name(&key), key, is_stated })
        })
        .collect();
    rows.sort_by_key(|(is_pinned, row)| (!is_pinned, row.key.is_confirmed));
    rows.into_iter().map(|(_, row)| row).collect()
}

impl State {
    fn visible<'a>(&self, all: &'a [Row<'a>]) -> Vec<&'a Row<'a>> {
        let admitted = |row: &&Row<'_>| {
            let ids = [row.key.organization.to_string(), row.key.user.to_string()];
            self.filter
                .admits(&format!("{} {}", row.user, row.state()), &[&ids[0], &ids[1], row.key.public_key])
        };
        all.iter().filter(admitted).collect()
    }

    fn draw_detail(&self, shared: &Shared, row: Option<&Row<'_>>, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(row) = row else {
            canvas.framed(area, "", "");
            return;
        };
        let inner = canvas.framed(area, &format!("Key of {}: {}", row.user, row.state()), "");
        let rows = row.details(shared, usize::from(inner.width)).into_iter();
        let lines: Vec<Line> = rows.map(|text| Line::marked(text, canvas.theme)).collect();
        canvas.pane(inner, &lines, self.scroll, self.in_detail);
    }

    fn position(&self, shown: &[&Row<'_>]) -> usize {
        shown.iter().position(|row| self.selected.as_ref() == Some(&row.id())).unwrap_or(0)
    }
}

impl Row<'_> {
    fn id(&self) -> KeyId {
        (self.key.organization, self.key.user, self.key.public_key.to_owned())
    }

    fn state(&self) -> &'static str {
        match (self.key.is_confirmed, self.is_stated) {
            (false, _) => "not accepted [!]",
            (true, Some(false)) => "not in use",
            (true, _) => "known",
        }
    }

    /// Returns the SHA-256 digest of the public key, which people can compare.
    fn fingerprint(&self) -> String {
        const_hex::encode(Sha256::digest(const_hex::decode(self.key.public_key).unwrap_or_default()))
    }

    fn copies(&self) -> Overlay {
        Overlay::copies([
            ('k', "public key", self.key.public_key.to_owned()),
            ('f', "SHA-256 of the key", self.fingerprint()),
            ('u', "user id", self.key.user.to_string()),
            ('o', "organization id", self.key.organization.to_string()),
        ])
    }

    /// Returns the details of a key, what to do first.
    fn details(&self, shared: &Shared, columns: usize) -> Vec<String> {
        let KnownKey { organization, user, public_key, since, is_confirmed } = self.key;
        let stated = match self.is_stated {
            Some(true) => "the daemon states this key for the user now [s]",
            Some(false) => "the daemon does not state this key for the user now [s]",
            None => "another organization is shown, so what the daemon states is not known",
        };
        let quorum = shared.known_keys.quorum(organization).map_or_else(
            || "not recorded".to_owned(),
            |pin| format!("{} since {}", pin.value.short(), date_time(pin.since_millis)),
        );
        let mut texts = vec![
            format!("key          {public_key}"),
            format!("SHA-256      {}", grouped(&self.fingerprint())),
            format!("first seen   {}; {stated}", date_time(since)),
            format!("user         {user} in organization {organization}, root quorum {quorum}"),
        ];
        if !is_confirmed {
            texts.push(format!(
                "[!] Compare it with the user in person, then run quorate known-keys accept --public-key {user}:{public_key}"
            ));
        }
        texts.iter().flat_map(|text| wrap(text, columns)).collect()
    }

    fn texts(&self, marker: &str, columns: usize) -> Vec<String> {
        let (state, since) = (pad(self.state(), 16), date(self.key.since));
        let user = pad(&cut(&self.user, 17), 17);
        if columns >= 76 {
            return vec![format!("{marker}{user} {state} {since}  {}", self.key.public_key)];
        }
        vec![format!("{marker}{state} {user}"), format!("  {since}  {}", self.key.public_key)]
    }
}
