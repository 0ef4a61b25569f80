//! Mail and SMS of the organization with their delivery states, newest first, loaded page by page.

use quorate_common::console::MessageEvent;
use quorate_common::ids::OrganizationId;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::overlay::Overlay;
use super::request::Request;
use super::screen::{Screen, Tab, showing};
use super::shared::Shared;
use crate::canvas::{Canvas, Line, list_and_detail, rows_each};
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, REVIEW, moved};
use crate::link::{Answer, Order};
use crate::messages::{Newest, is_lost, state};
use crate::text::{clean, cut, date_time, pad};

pub(super) static TAB: Tab = Tab {
    title: "Messages",
    show: showing(&[Key::Char('6')], "Show mail and SMS with their delivery states")
        .cli("quorate messages ls"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 4] = [REVIEW, COPY, BACK, FILTER];

/// Rows of the details.
const DETAIL_ROWS: u16 = 8;

#[derive(Default)]
struct State {
    /// Id of the selected message.
    selected: Option<String>,
    filter: Filter,
    messages: Newest,
    /// Organization of the messages.
    of: Option<OrganizationId>,
}

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let shown = self.visible();
        let (list, detail) = list_and_detail(area, DETAIL_ROWS, false);
        let all = self.messages.events.len();
        let more = if self.messages.next.is_some() { ", more below" } else { "" };
        let title = format!("Messages: {all}{more}; the last 30 days, times in UTC");
        let inner = canvas.framed(list, &title, &self.filter.summary(shown.len(), all));
        if shown.is_empty() {
            let text = match (self.messages.is_loaded, all == 0) {
                (false, _) if shared.is_missing => "Organization not found.",
                (false, _) => "Loading messages.",
                (true, true) => "No messages.",
                (true, false) => "Nothing matches; Esc clears the filter.",
            };
            canvas.lines(inner, &[Line::plain(text)], 0);
        }
        let selected = self.position(&shown);
        canvas.items(inner, &shown, rows_each(area.width), selected, true, |event, marker| {
            texts(event, marker, usize::from(inner.width))
        });
        if detail.height > 0 {
            draw_detail(shown.get(selected).copied(), canvas, detail);
        }
    }

    fn perform(&mut self, _shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        let shown = self.visible();
        let selected = self.position(&shown);
        if wanted == Action::Open {
            return shown.get(selected).map(|event| open(event)).into_iter().collect();
        }
        if wanted == Action::Copy {
            let copies = shown.get(selected).map(|event| Request::Overlay(copies(event)));
            return copies.into_iter().collect();
        }
        let page =
            list_and_detail(area, DETAIL_ROWS, false).0.height.saturating_sub(3) / rows_each(area.width);
        let target = moved(selected, shown.len(), usize::from(page), wanted);
        let at_end = target.saturating_add(1) >= shown.len();
        self.selected = shown.get(target).map(|event| event.message_id.clone());
        match (at_end, self.messages.next, self.of) {
            (true, Some(next), Some(id)) => vec![Order::Messages(id, Some(next)).into()],
            _ => Vec::new(),
        }
    }

    fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    fn open(&mut self, shared: &Shared) -> Vec<Request> {
        shared.organization_id.map(|id| Order::Messages(id, None).into()).into_iter().collect()
    }

    fn apply(&mut self, shared: &Shared, answer: &Answer) -> Vec<Request> {
        if let Answer::Messages(of, after, page) = answer
            && shared.organization_id == Some(*of)
            && (after.is_none() || self.of == Some(*of))
        {
            self.messages.add(*after, page);
            self.of = Some(*of);
        }
        Vec::new()
    }
}

impl State {
    fn visible(&self) -> Vec<&MessageEvent> {
        let admitted = |event: &&MessageEvent| {
            let answer = event.answer.as_deref().unwrap_or_default();
            let words = [&state(event), kind(event), &event.to_address, answer];
            self.filter.admits(&words.join(" "), &[&event.message_id, &event.organization_id.to_string()])
        };
        self.messages.events.iter().filter(admitted).collect()
    }

    fn position(&self, rows: &[&MessageEvent]) -> usize {
        rows.iter().position(|event| Some(&event.message_id) == self.selected.as_ref()).unwrap_or(0)
    }
}

/// Opens the activity that sends a message, which may be of a sub-organization.
fn open(event: &MessageEvent) -> Request {
    Request::Open { organization: event.organization_id, id: event.activity_id, title: "Message".to_owned() }
}

/// Returns what can be copied of a message.
fn copies(event: &MessageEvent) -> Overlay {
    Overlay::copies([
        ('t', "receiver", event.to_address.clone()),
        ('m', "message id", event.message_id.clone()),
        ('a', "activity id", event.activity_id.to_string()),
        ('o', "organization id", event.organization_id.to_string()),
        ('s', "answer", event.answer.clone().unwrap_or_default()),
    ])
}

fn draw_detail(event: Option<&MessageEvent>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(event) = event else {
        canvas.framed(area, "", "");
        return;
    };
    let title = format!("{} to {}: {}", kind(event), clean(&event.to_address), state(event));
    let inner = canvas.framed(area, &title, "");
    let from = event.from_address.as_deref().map_or_else(|| "the gateway".to_owned(), clean);
    let answer = event.answer.as_deref().map_or_else(|| "none yet".to_owned(), clean);
    let texts = [
        format!("answer    {answer}"),
        format!("since     {}   from {from}", date_time(event.at_millis)),
        format!("message   {}", clean(&event.message_id)),
        format!("activity  {} in organization {}", event.activity_id, event.organization_id),
    ];
    canvas.texts(inner, &texts);
}

/// Returns whether a message is a mail or an SMS.
fn kind(event: &MessageEvent) -> &'static str {
    if event.to_address.contains('@') { "mail" } else { "SMS" }
}

/// Formats a message as one row if the width allows it, otherwise as two. A message that was given up is marked.
fn texts(event: &MessageEvent, marker: &str, columns: usize) -> Vec<String> {
    let when = date_time(event.at_millis);
    let when = when.trim_end_matches(" UTC");
    let mark = if is_lost(&event.event_type) { " [!]" } else { "" };
    let (state, kind) = (pad(&format!("{}{mark}", state(event)), 11), pad(kind(event), 4));
    let (to, answer) = (clean(&event.to_address), event.answer.as_deref().map(clean).unwrap_or_default());
    if columns >= 76 {
        let room = if columns >= 110 { 32 } else { 22 };
        return vec![format!("{marker}{when}  {state} {kind} {} {answer}", pad(&cut(&to, room), room))];
    }
    vec![format!("{marker}{state} {to}"), format!("  {when} {kind} {answer}")]
}
