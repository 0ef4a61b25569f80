//! The users of the organization, and their credentials in numbers.

use quorate_common::wire::User;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::Shared;
use crate::canvas::{Canvas, Line};
use crate::keymap::{Action, BACK, Command, FILTER, Key, moved};
use crate::kinds::count;
use crate::text::{clean, pad};
use crate::theme::Theme;

pub(super) static TAB: Tab = Tab {
    title: "Users",
    show: showing(&[Key::Char('5')], "5", "Show the users").cli("quorate org get"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 2] = [BACK, FILTER];

#[derive(Default)]
struct State {
    selected: usize,
    filter: Filter,
}

impl Screen for State {
    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        // One row shows how many are below.
        let page = usize::from(area.height.saturating_sub(3));
        self.selected = moved(self.selected, self.visible(shared).len(), page, wanted);
        Vec::new()
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(organization) = &shared.organization else {
            let inner = canvas.framed(area, "Users", "");
            canvas.lines(inner, &[Line::plain("Loading the organization.")], 0);
            return;
        };
        let users = self.visible(shared);
        let all = organization.users.len();
        let inner = canvas.framed(area, &format!("Users: {all}"), &self.filter.summary(users.len(), all));
        if users.is_empty() {
            canvas.lines(inner, &[Line::plain("Nothing matches; Esc clears the filter.")], 0);
            return;
        }
        let selected = self.selected.min(users.len().saturating_sub(1));
        canvas.rows(inner, users.len(), 1, selected, true, |index| {
            let Some(user) = users.get(index) else { return Vec::new() };
            let (marker, style) =
                if index == selected { ("> ", Theme::selected()) } else { ("  ", Theme::plain()) };
            vec![Line::styled(format!("{marker}{}", text(user)), style)]
        });
    }
}

impl State {
    fn visible<'a>(&self, shared: &'a Shared) -> Vec<&'a User> {
        let users = shared.organization.iter().flat_map(|organization| &organization.users);
        users.filter(|user| self.filter.admits(&text(user), &[&user.user_id.to_string()])).collect()
    }
}

/// Formats one user.
fn text(user: &User) -> String {
    let name = pad(&clean(&user.user_name), 16);
    let (keys, passkeys) = (user.api_keys.len(), user.authenticators.len());
    format!("{name} {} {}", pad(&count(keys, "key"), 7), count(passkeys, "passkey"))
}
