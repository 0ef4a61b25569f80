//! Draws a form: the fields, and beside or below them what the schema states about the field with the cursor.

use ratatui::layout::Rect;

use super::filling::{Filling, all_suggestions};
use crate::canvas::{Canvas, Line, above, beside};
use crate::forms::{self, Content, Field, Known, Node, Row};
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
        let (fields, detail) = if area.width >= WIDE {
            let (fields, detail) = beside(inner, inner.width.saturating_mul(11) / 20);
            (fields, beside(detail, 2).1)
        } else {
            above(inner, inner.height.saturating_sub((inner.height / 2).max(4).min(inner.height)).max(2))
        };
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
        canvas.list(fields, &lines, self.row, true);
        if is_leaving {
            let text = "[!] Discard what you typed? y discards it, any other key keeps it.";
            let lines: Vec<Line> =
                wrap(text, usize::from(detail.width)).into_iter().map(Line::plain).collect();
            canvas.lines(detail, &lines, 0);
            return;
        }
        let problem =
            rows.get(self.row).and_then(|row| problems.iter().find(|(path, _)| *path == row.pointer));
        let (mut lines, marked) =
            self.detail(problem.map(|(_, words)| words.as_str()), known, detail, canvas.theme);
        // The marked suggestion stays visible.
        let hidden = marked.unwrap_or(0).saturating_add(2).saturating_sub(usize::from(detail.height));
        lines.drain(..hidden.min(lines.len()));
        canvas.pane(detail, &lines, 0, true);
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

    /// Returns what is known about the field with the cursor, and the line of the marked suggestion.
    fn detail(
        &self,
        problem: Option<&str>,
        known: &Known<'_>,
        area: Rect,
        theme: Theme,
    ) -> (Vec<Line>, Option<usize>) {
        let columns = usize::from(area.width);
        let mut lines = Vec::new();
        let mut add =
            |text: &str| lines.extend(wrap(text, columns).into_iter().map(|row| Line::marked(row, theme)));
        let Some(node) = self.current() else {
            let count = self.form.problems().len();
            add(&self.form.entry.description);
            if count == 0 {
                add("[v] The values match the schema of the type.");
            } else {
                add(&format!("[!] {} to mend before the review.", crate::kinds::count(count, "member")));
            }
            return (lines, None);
        };
        let is_typed = node.is_touched();
        if let Some(words) = problem.filter(|_| is_typed || self.reports_all) {
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
        if known.has_more_accounts && Known::needs_accounts(&node.name, schema) {
            add(
                "[i] Not all accounts are suggested, because there are too many. Type the address of any other.",
            );
        }
        let mut marked = None;
        for (at, candidate) in self.suggestions(known).iter().enumerate() {
            let is_marked = self.marked == Some(at);
            let name = if candidate.name.is_empty() {
                String::new()
            } else {
                format!("  {}", clean(&candidate.name))
            };
            let text = format!("{} {}{name}", if is_marked { ">" } else { " " }, clean(&candidate.value));
            if is_marked {
                marked = Some(lines.len());
            }
            lines.push(Line::styled(text, if is_marked { Theme::selected() } else { Theme::plain() }));
        }
        (lines, marked)
    }
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
        return format!("{}{name}", clean(field.text()));
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
