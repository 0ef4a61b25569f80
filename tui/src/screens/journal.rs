//! The user's own journal of decisions, newest first, and whether its hash chain is intact. The file is read when the
//! screen is opened.

use quorate_common::ids::OrganizationId;
use ratatui::layout::Rect;

use super::filter::Filter;
use super::overlay::Overlay;
use super::request::{Effect, Request};
use super::screen::{Screen, Tab, showing};
use super::shared::Shared;
use crate::canvas::{Canvas, Line, list_and_detail, rows_each};
use crate::journal::{Entry, LISTED};
use crate::keymap::{Action, BACK, COPY, Command, FILTER, Key, NEXT_PANE, REVIEW, moved, scroll};
use crate::text::{clean, counted, cut, date_time, pad, wrap};

pub(super) static TAB: Tab = Tab {
    title: "Journal",
    show: showing(&[Key::Char('9')], "Show your own decisions").cli("quorate journal verify"),
    commands: &COMMANDS,
    reads_activities: false,
    create: || Box::new(State::default()),
};

static COMMANDS: [Command; 5] = [REVIEW, NEXT_PANE, COPY, BACK, FILTER];

/// Rows of the details.
const DETAIL_ROWS: u16 = 9;

/// What identifies an entry: its time and its fingerprint.
type EntryKey = (u64, String);

#[derive(Default)]
struct State {
    selected: Option<EntryKey>,
    filter: Filter,
    /// Whether the details have the keyboard focus, and the first row that they show.
    in_detail: bool,
    scroll: usize,
}

impl Screen for State {
    fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let (list, detail) = list_and_detail(area, DETAIL_ROWS, self.in_detail);
        let shown = self.visible(shared);
        let listed = shared.journal.as_ref().and_then(|read| read.as_ref().ok());
        let title = match listed {
            None => "Journal".to_owned(),
            Some(journal) => {
                let count = u64::try_from(journal.count).unwrap_or(u64::MAX);
                let chain = journal.broken_at.map_or_else(
                    || "[v] the hash chain is intact".to_owned(),
                    |line| format!("[x] the hash chain breaks at line {line}"),
                );
                format!("Journal: {}, {chain}", counted(count, "decision"))
            }
        };
        let all = listed.map_or(0, |journal| journal.newest.len());
        let inner = canvas.framed(list, &title, &self.filter.summary(shown.len(), all));
        if shown.is_empty() {
            let text = match &shared.journal {
                None => "Reading the journal.".to_owned(),
                Some(Err(error)) => format!("[x] the journal cannot be read: {}", clean(error)),
                Some(Ok(_)) if all == 0 => "No decisions yet on this machine.".to_owned(),
                Some(Ok(_)) => "Nothing matches; Esc clears the filter.".to_owned(),
            };
            let lines =
                wrap(&text, usize::from(inner.width)).into_iter().map(|row| Line::marked(row, canvas.theme));
            canvas.lines(inner, &lines.collect::<Vec<_>>(), 0);
        }
        let selected = self.position(&shown);
        canvas.items(inner, &shown, rows_each(area.width), selected, !self.in_detail, |entry, marker| {
            texts(entry, marker, usize::from(inner.width))
        });
        if detail.height > 0 {
            let older = listed.is_some_and(|journal| journal.count > LISTED);
            self.draw_detail(shown.get(selected).copied(), older, canvas, detail);
        }
    }

    fn perform(&mut self, shared: &Shared, wanted: Action, area: Rect) -> Vec<Request> {
        let shown = self.visible(shared);
        let selected = self.position(&shown);
        let entry = shown.get(selected).copied();
        match wanted {
            Action::Open => return entry.map(open).into_iter().collect(),
            Action::Copy => return entry.map(|entry| Request::Overlay(copies(entry))).into_iter().collect(),
            Action::NextPane => self.in_detail = !self.in_detail,
            Action::Back => self.in_detail = false,
            wanted if self.in_detail => {
                let inner = list_and_detail(area, DETAIL_ROWS, true).1;
                let rows = entry
                    .map_or(0, |entry| detail_rows(entry, usize::from(inner.width.saturating_sub(4))).len());
                self.scroll = scroll(self.scroll, rows, usize::from(inner.height.saturating_sub(2)), wanted);
            }
            wanted => {
                let page = list_and_detail(area, DETAIL_ROWS, false).0.height.saturating_sub(3)
                    / rows_each(area.width);
                let target = moved(selected, shown.len(), usize::from(page), wanted);
                self.selected = shown.get(target).map(|entry| key(entry));
                self.scroll = 0;
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

    fn open(&mut self, _shared: &Shared) -> Vec<Request> {
        vec![Effect::ReadJournal.into()]
    }
}

impl State {
    fn visible<'a>(&self, shared: &'a Shared) -> Vec<&'a Entry> {
        let read = shared.journal.iter().flatten();
        let admitted = |entry: &&Entry| {
            let words =
                [&entry.choice, &entry.outcome, &entry.sentence, entry.note.as_deref().unwrap_or_default()];
            let organization: OrganizationId = entry.organization_id;
            self.filter.admits(
                &words.join(" "),
                &[&entry.activity_id.to_string(), &organization.to_string(), &entry.fingerprint],
            )
        };
        read.flat_map(|journal| &journal.newest).filter(admitted).collect()
    }

    fn draw_detail(&self, entry: Option<&Entry>, older: bool, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(entry) = entry else {
            canvas.framed(area, "", "");
            return;
        };
        let remark = if older { format!("the newest {LISTED} are listed") } else { String::new() };
        let title = cut(&format!("{}: {}", clean(&entry.choice), clean(&entry.outcome)), 60);
        let inner = canvas.framed(area, &title, &remark);
        let rows = detail_rows(entry, usize::from(inner.width)).into_iter();
        canvas.pane(inner, &rows.map(Line::plain).collect::<Vec<_>>(), self.scroll, self.in_detail);
    }

    fn position(&self, shown: &[&Entry]) -> usize {
        shown.iter().position(|entry| self.selected.as_ref() == Some(&key(entry))).unwrap_or(0)
    }
}

fn key(entry: &Entry) -> EntryKey {
    (entry.at_millis, entry.fingerprint.clone())
}

/// Opens the activity of a decision, which may be of another organization.
fn open(entry: &Entry) -> Request {
    Request::Open { organization: entry.organization_id, id: entry.activity_id, title: "Journal".to_owned() }
}

fn copies(entry: &Entry) -> Overlay {
    Overlay::copies([
        ('a', "activity id", entry.activity_id.to_string()),
        ('f', "fingerprint", entry.fingerprint.clone()),
        ('o', "organization id", entry.organization_id.to_string()),
        ('j', "entry as JSON", serde_json::to_string(entry).unwrap_or_default()),
    ])
}

/// Returns the details of a decision.
fn detail_rows(entry: &Entry, columns: usize) -> Vec<String> {
    let note = entry.note.as_deref().map_or_else(|| "none".to_owned(), clean);
    let texts = [
        clean(&entry.sentence),
        format!("activity     {} in organization {}", entry.activity_id, entry.organization_id),
        format!("fingerprint  {}", clean(&entry.fingerprint)),
        format!("note         {note}"),
    ];
    texts.iter().flat_map(|text| wrap(text, columns)).collect()
}

fn texts(entry: &Entry, marker: &str, columns: usize) -> Vec<String> {
    let when = date_time(entry.at_millis);
    let when = when.trim_end_matches(" UTC");
    let (choice, outcome) = (pad(&clean(&entry.choice), 8), clean(&entry.outcome));
    let sentence = clean(&entry.sentence);
    if columns >= 76 {
        return vec![format!("{marker}{when}  {choice} {} {sentence}", pad(&cut(&outcome, 12), 12))];
    }
    vec![format!("{marker}{choice} {sentence}"), format!("  {when}  {outcome}")]
}
