//! The form of one kind: its fields, the suggestions for them, and the review of the draft.

use quorate_common::catalog::KindEntry;
use ratatui::layout::Rect;

use crate::forms::{Candidate, Content, Form, Known, Node, Place, Row};
use crate::keymap::{Action, Key, moved};

/// Length from which a text may have several lines, in characters.
const LINES_FROM: u64 = 4_096;

/// What a key did.
pub(super) enum Done {
    Nothing,
    Notice(String),
    /// The values are valid, and their draft is to be reviewed.
    Review,
}

pub(super) struct Filling {
    pub(super) form: Form,
    /// Index of the row with the cursor; the row behind the last one reviews the draft.
    pub(super) row: usize,
    /// The marked suggestion.
    pub(super) marked: Option<usize>,
    /// First row of the description that is shown.
    pub(super) scroll: usize,
    /// Whether missing members are reported, after the user wanted to review the draft.
    pub(super) reports_all: bool,
}

impl Filling {
    pub(super) fn new(entry: &'static KindEntry) -> Self {
        Self { form: Form::new(entry), row: 0, marked: None, scroll: 0, reports_all: false }
    }

    /// Returns the place of the row with the cursor; none for the row that reviews the draft.
    fn place(&self) -> Option<Place> {
        self.form.rows().get(self.row).map(|row| row.place.clone())
    }

    pub(super) fn current(&self) -> Option<&Node> {
        self.form.node(&self.place()?)
    }

    /// Returns whether a field takes an account.
    pub(super) fn needs_accounts(&self) -> bool {
        let takes = |row: &Row| {
            self.form.node(&row.place).is_some_and(|node| {
                let schema = node.schema.get("items").unwrap_or(&node.schema);
                Known::needs_accounts(&node.name, schema)
            })
        };
        self.form.rows().iter().any(takes)
    }

    /// Returns the suggestions for the field with the cursor: those that contain the typed text, or all if the field
    /// has one of them as its value.
    pub(super) fn suggestions(&self, known: &Known<'_>) -> Vec<Candidate> {
        let Some(node) = self.current() else { return Vec::new() };
        let Content::Text(field) = &node.content else { return Vec::new() };
        let all = all_suggestions(node, known);
        let typed = field.text().to_lowercase();
        if all.iter().any(|one| one.value == field.text()) {
            return all;
        }
        let contains = |one: &Candidate| {
            one.value.to_lowercase().contains(&typed) || one.name.to_lowercase().contains(&typed)
        };
        all.into_iter().filter(contains).collect()
    }

    /// Handles a key; `area` is where the form is drawn.
    pub(super) fn press(&mut self, known: &Known<'_>, key: Key, area: Rect) -> Done {
        match key {
            Key::Ctrl('r') => return self.review(known),
            Key::Enter if self.place().is_none() => return self.review(known),
            Key::Enter => self.enter(known),
            Key::Tab | Key::Down => self.go(known, self.row.saturating_add(1)),
            Key::BackTab | Key::Up => self.go(known, self.row.saturating_sub(1)),
            Key::PageDown => self.mark(known, area, Action::PageDown),
            Key::PageUp => self.mark(known, area, Action::PageUp),
            Key::Ctrl('d') => {
                let place = self.place().unwrap_or_default();
                let Some(left) = self.form.remove(&place) else {
                    return Done::Notice("only items and optional objects can be removed".to_owned());
                };
                let rows = self.form.rows();
                let at = rows.iter().position(|row| row.place == left);
                (self.row, self.marked, self.scroll) = (at.unwrap_or(self.row.min(rows.len())), None, 0);
            }
            key => {
                self.marked = None;
                if let Some(Content::Text(field)) = self.content() {
                    field.press(key);
                }
            }
        }
        Done::Nothing
    }

    /// Marks the next or the previous suggestion, or scrolls the description of a field without suggestions.
    fn mark(&mut self, known: &Known<'_>, area: Rect, wanted: Action) {
        let count = self.suggestions(known).len();
        if count == 0 {
            return self.scroll_texts(known, area, wanted);
        }
        self.marked = Some(self.marked.map_or(0, |at| moved(at, count, 1, wanted)));
    }

    /// Inserts pasted text into the field with the cursor. Returns whether it did.
    pub(super) fn paste(&mut self, text: &str) -> bool {
        let length = self.current().and_then(|node| node.schema.get("maxLength")?.as_u64());
        self.marked = None;
        let Some(Content::Text(field)) = self.content() else { return false };
        field.paste(text, length.is_some_and(|length| length >= LINES_FROM))
    }

    fn content(&mut self) -> Option<&mut Content> {
        let place = self.place()?;
        self.form.node_mut(&place).map(|node| &mut node.content)
    }

    /// Takes a suggestion and goes on, or adds an item or an object.
    fn enter(&mut self, known: &Known<'_>) {
        let Some(place) = self.place() else { return };
        if self.form.add(&place) {
            let items = self.form.node(&place).map_or(0, |node| match &node.content {
                Content::List(items) => items.len(),
                _ => 1,
            });
            // The cursor goes to the first field of what was added.
            let rows = self.form.rows();
            let mut inner = place.clone();
            inner.push(items.saturating_sub(1));
            let added = rows.iter().position(|row| row.place == inner);
            let is_object = |at: &usize| {
                let node = rows.get(*at).and_then(|row| self.form.node(&row.place));
                node.is_some_and(|node| matches!(node.content, Content::Group { .. }))
            };
            self.row = match added {
                Some(at) if is_object(&at) && items > 0 => at.saturating_add(1),
                Some(at) => at,
                None => self.row,
            };
            return;
        }
        let suggestions = self.suggestions(known);
        let marked = self.marked.and_then(|at| suggestions.get(at));
        let is_required = self.current().is_some_and(|node| node.is_required);
        if let Some(Content::Text(field)) = self.content() {
            let has_one = suggestions.iter().any(|one| one.value == field.text());
            // An optional member may be left out.
            let is_wanted = is_required || !field.text().is_empty();
            let first = suggestions.first().filter(|_| !has_one && is_wanted);
            if let Some(taken) = marked.or(first) {
                field.set(&taken.value);
            }
        }
        self.go(known, self.row.saturating_add(1));
    }

    /// Moves the cursor. A name in the field that it leaves becomes the id of its record, if only one has the name.
    fn go(&mut self, known: &Known<'_>, row: usize) {
        let id = self.current().and_then(|node| match &node.content {
            Content::Text(field) => known.id_of(field.text(), &node.name, &node.schema).ok(),
            _ => None,
        });
        if let (Some(Content::Text(field)), Some(id)) = (self.content(), id)
            && field.text() != id
        {
            field.set(&id);
        }
        (self.marked, self.row, self.scroll) = (None, row.min(self.form.rows().len()), 0);
    }

    /// Returns that the draft is to be reviewed, or goes to the first member that is not valid.
    fn review(&mut self, known: &Known<'_>) -> Done {
        self.go(known, self.row);
        self.reports_all = true;
        let problems = self.form.problems();
        let Some((pointer, words)) = problems.first() else { return Done::Review };
        let rows = self.form.rows();
        let at = rows.iter().position(|row| row.pointer == *pointer);
        self.row = at.unwrap_or(self.row);
        let name = at.and_then(|at| rows.get(at)).map_or("", |row| row.label.as_str());
        Done::Notice(format!("[!] {name}: {words}; {} to mend", problems.len()))
    }
}

/// Returns everything that a field can be chosen from: values of the schema, or names of records.
pub(super) fn all_suggestions(node: &Node, known: &Known<'_>) -> Vec<Candidate> {
    let choices = node.choices();
    if choices.is_empty() {
        return known.candidates(&node.name, &node.schema);
    }
    let candidate =
        |(value, name): &(&str, &str)| Candidate { value: (*value).to_owned(), name: (*name).to_owned() };
    choices.iter().map(candidate).collect()
}
