//! Draws a form: the fields, and beside or below them what the schema states about the field with the cursor.

use ratatui::layout::Rect;

use super::filling::{Filling, all_suggestions};
use crate::canvas::{Canvas, Line, above, beside};
use crate::forms::{self, Candidate, Content, Field, Known, Node, Row};
use crate::keymap::{Action, scroll};
use crate::text::{clean, cut, quoted, width, wrap};
use crate::theme::Theme;

/// Width from which the description is beside the fields, in columns.
const WIDE: u16 = 100;
/// Maximum number of stars in place of a secret.
const STARS: usize = 8;

impl Filling {
    pub(super) fn draw(&self, known: &Known<'_>, is_leaving: bool, canvas: &mut Canvas<'_>, area: Rect) {
        let heading = format!("Propose: {}", forms::title(self.form.entry));
        let inner = canvas.framed(area, &heading, "* required; nothing is sent before the review");
        let (fields, detail) = split(inner, area.width >= WIDE);
        let problems = self.form.problems();
        let rows = self.form.rows();
        let columns = usize::from(fields.width);
        let line = |(at, row): (usize, &Row)| {
            let problem = problems.iter().find(|(pointer, _)| *pointer == row.pointer);
            self.line(at, row, problem.is_some(), known, columns)
        };
        let mut lines: Vec<Line> = rows.iter().enumerate().map(line).collect();
        let is_last = self.row >= rows.len();
        let text = format!("{} Review the draft (Ctrl-R)", if is_last { ">" } else { " " });
        lines.push(Line::styled(text, if is_last { Theme::selected() } else { Theme::strong() }));
        canvas.fields(fields, &lines, self.row);
        if is_leaving {
            let text = "[!] Discard what you typed? y discards it, any other key keeps it.";
            canvas.texts(detail, &[text]);
            return;
        }
        let texts = self.texts(&rows, &problems, known);
        let texts = texts.iter().flat_map(|text| wrap(text, usize::from(detail.width)));
        let mut lines: Vec<Line> = texts.map(|row| Line::marked(row, canvas.theme)).collect();
        let marked = self.marked.map_or(0, |at| lines.len().saturating_add(at).saturating_add(2));
        lines.extend(self.suggested(known));
        // The marked suggestion stays visible.
        let hidden = marked.saturating_sub(usize::from(detail.height)).max(self.scroll);
        canvas.pane(detail, &lines, hidden, true);
    }

    /// Scrolls the description of the field in a form that is drawn in this area.
    pub(super) fn scroll_texts(&mut self, known: &Known<'_>, area: Rect, wanted: Action) {
        let inner =
            Rect { width: area.width.saturating_sub(4), height: area.height.saturating_sub(2), ..area };
        let detail = split(inner, area.width >= WIDE).1;
        let texts = self.texts(&self.form.rows(), &self.form.problems(), known);
        let rows = texts.iter().map(|text| wrap(text, usize::from(detail.width)).len()).sum();
        self.scroll = scroll(self.scroll, rows, usize::from(detail.height), wanted);
    }

    /// Returns the line of a field.
    fn line(&self, at: usize, row: &Row, is_wrong: bool, known: &Known<'_>, columns: usize) -> Line {
        let Some(node) = self.form.node(&row.place) else { return Line::plain("") };
        let is_current = at == self.row;
        let depth = row.place.len().saturating_sub(1).saturating_mul(2);
        let star = if node.is_required { "*" } else { "" };
        let head = format!(
            "{}{} {}{star}  ",
            " ".repeat(depth.min(columns / 4)),
            if is_current { ">" } else { " " },
            clean(&row.label)
        );
        let is_reported = is_wrong && (self.reports_all || !is_current && node.is_touched());
        let tail = if is_reported { " [!]" } else { "" };
        let space = columns.saturating_sub(width(&head)).saturating_sub(width(tail));
        let value = match &node.content {
            Content::Text(field) => text(node, field, is_current, known, space),
            Content::Group { is_present: true, .. } => String::new(),
            Content::Group { .. } => "left out; Enter adds it".to_owned(),
            Content::List(items) if items.is_empty() => "none; Enter adds one".to_owned(),
            Content::List(items) => format!("{}; Enter adds one", crate::kinds::count(items.len(), "item")),
        };
        let style = if is_current { Theme::strong() } else { Theme::plain() };
        Line::styled(format!("{head}{}{tail}", cut(&value, space)), style)
    }

    /// Returns what is known about the field with the cursor.
    fn texts(&self, rows: &[Row], problems: &[(String, String)], known: &Known<'_>) -> Vec<String> {
        let mut texts = Vec::new();
        let mut add = |text: &str| texts.push(text.to_owned());
        let Some(node) = self.current() else {
            let count = problems.len();
            add(&forms::description(self.form.entry));
            if count == 0 {
                add("[v] The values match the schema of the type.");
            } else {
                add(&format!("[!] {} to mend before the review.", crate::kinds::count(count, "member")));
            }
            return texts;
        };
        let is_typed = node.is_touched();
        let problem =
            rows.get(self.row).and_then(|row| problems.iter().find(|(path, _)| *path == row.pointer));
        if let Some((_, words)) = problem.filter(|_| is_typed || self.reports_all) {
            add(&format!("[!] {words}"));
        }
        if let Some(description) = node.schema.get("description").and_then(|value| value.as_str()) {
            add(&clean(description));
        }
        let need = if node.is_required { "Required" } else { "Optional" };
        add(&format!("{need}: {}", forms::limits(&node.schema)));
        if let Some(made) = forms::made_by(&node.name) {
            add(&format!("[i] Not made here: {}.", made.text));
        }
        let schema = node.schema.get("items").unwrap_or(&node.schema);
        if let Some(nothing) = known.nothing_for(&node.name, schema) {
            add(&format!("[!] {nothing}"));
        }
        if known.has_more_accounts && Known::needs_accounts(&node.name, schema) {
            add(
                "[i] Not all accounts are suggested, because there are too many. Type the address of any other.",
            );
        }
        texts
    }

    /// Returns the suggestions for the field with the cursor.
    fn suggested(&self, known: &Known<'_>) -> Vec<Line> {
        let is_named = self.current().is_some_and(|node| node.choices().is_empty());
        let line = |(at, candidate): (usize, &Candidate)| {
            let is_marked = self.marked == Some(at);
            let (value, name) = (clean(&candidate.value), clean(&candidate.name));
            // People choose records by name, and the end of a long row is cut off.
            let parts = if is_named { [name, value] } else { [value, name] };
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let text = format!("{} {}", if is_marked { ">" } else { " " }, parts.join("  "));
            Line::styled(text, if is_marked { Theme::selected() } else { Theme::plain() })
        };
        self.suggestions(known).iter().enumerate().map(line).collect()
    }
}

/// Splits the inside of a form into the fields and the description of one of them.
fn split(inner: Rect, is_wide: bool) -> (Rect, Rect) {
    if is_wide {
        let (fields, detail) = beside(inner, inner.width.saturating_mul(11) / 20);
        return (fields, beside(detail, 2).1);
    }
    above(inner, inner.height.saturating_sub((inner.height / 2).max(4).min(inner.height)).max(2))
}

/// Returns the value of a field as it is shown: a secret as stars, and an id with the name of its record.
fn text(node: &Node, field: &Field, is_current: bool, known: &Known<'_>, columns: usize) -> String {
    let length = field.text().chars().count();
    if forms::is_secret(&node.name) {
        let stars = "*".repeat(length.min(STARS));
        let cursor = if is_current { "_" } else { "" };
        return if length == 0 { cursor.to_owned() } else { format!("{stars}{cursor} {length} characters") };
    }
    let all = all_suggestions(node, known);
    let named = all.iter().find(|one| one.value == field.text() && !one.name.is_empty());
    let name = named.map(|one| format!("  {}", quoted(&one.name))).unwrap_or_default();
    if !is_current {
        // Records come by name, because the end of the line is cut off.
        let value = clean(field.text());
        return if node.choices().is_empty() && !name.is_empty() {
            format!("{}  {value}", name.trim_start())
        } else {
            value
        };
    }
    let (before, after) = field.parts();
    let (before, after) = (clean(before), clean(after));
    // The end of the text before the cursor stays visible.
    let mut start = before.as_str();
    while width(start).saturating_add(2) > columns {
        start = start.char_indices().nth(1).and_then(|(at, _)| start.get(at..)).unwrap_or_default();
        if start.is_empty() {
            break;
        }
    }
    let mark = if start.len() < before.len() { "<" } else { "" };
    format!("{mark}{start}_{after}{name}")
}
