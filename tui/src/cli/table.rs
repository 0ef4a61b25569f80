//! Lists as tables: a header, one row per item, and a line that sums them up. Nothing is cut off.

use serde_json::Value;

use crate::output::{Answer, summary};
use crate::text::{clean, width};

/// Blanks between two columns.
const GAP: usize = 2;

/// A row of a table.
pub(super) struct Row {
    /// The item for scripts.
    pub(super) data: Value,
    /// Id of the item, or its name if that identifies it.
    pub(super) name: String,
    /// One cell per column, those of the wide form last. They are cleaned here.
    pub(super) cells: Vec<String>,
    /// Lines below the row, which are clean.
    pub(super) notes: Vec<String>,
}

/// A list.
pub(super) struct Table {
    /// The item in the singular and the plural.
    pub(super) noun: (&'static str, &'static str),
    pub(super) columns: &'static [&'static str],
    /// More columns of the wide form.
    pub(super) wide: &'static [&'static str],
    pub(super) rows: Vec<Row>,
    /// The text of an empty list.
    pub(super) none: &'static str,
    /// Why the list is not complete.
    pub(super) more: Option<String>,
}

impl Table {
    /// Returns the list in every form.
    pub(super) fn answer(self) -> Answer {
        let (one, many) = self.noun;
        let more = self.more.as_ref().map(|more| format!("; {more}")).unwrap_or_default();
        let end = format!("{}{more}\n", summary(self.rows.len(), one, many));
        let rows = || self.rows.iter().map(|row| (row.cells.as_slice(), row.notes.as_slice()));
        let of = |wide: &[&str]| {
            let columns: Vec<&str> = self.columns.iter().chain(wide).copied().collect();
            if self.rows.is_empty() { format!("{}\n", self.none) } else { text(&columns, rows()) + &end }
        };
        let (text, wide) = (of(&[]), of(self.wide));
        let (data, names) = self.rows.into_iter().map(|row| (row.data, row.name)).unzip();
        Answer { wide: Some(wide), names: Some(names), ..Answer::list(data, text) }
    }
}

/// Creates the row of an item without notes.
pub(super) fn row(data: Value, name: &impl ToString, cells: impl IntoIterator<Item = String>) -> Row {
    Row { data, name: name.to_string(), cells: cells.into_iter().collect(), notes: Vec::new() }
}

/// Returns a header and rows, each of which has cells and lines below it.
pub(super) fn text<'a>(
    columns: &[&str],
    rows: impl Iterator<Item = (&'a [String], &'a [String])> + Clone,
) -> String {
    let cells = |(cells, _): (&[String], _)| {
        cells.iter().take(columns.len()).map(|cell| clean(cell)).collect::<Vec<_>>()
    };
    let all: Vec<Vec<String>> = rows.clone().map(cells).collect();
    let header: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
    let widest = |number: usize| {
        let cells = all.iter().chain([&header]).filter_map(|cells| cells.get(number));
        cells.map(|cell| width(cell)).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns.len()).map(widest).collect();
    let mut out = line(&header, &widths);
    for ((_, notes), cells) in rows.zip(&all) {
        out.push_str(&line(cells, &widths));
        for note in notes {
            out.push_str("    ");
            out.push_str(note);
            out.push('\n');
        }
    }
    out
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (cell, columns) in cells.iter().zip(widths) {
        out.push_str(cell);
        let blanks = columns.saturating_sub(width(cell)).saturating_add(GAP);
        out.extend(std::iter::repeat_n(' ', blanks));
    }
    let mut out = out.trim_end().to_owned();
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(rows: Vec<Row>, more: Option<String>) -> Answer {
        let noun = ("user", "users");
        Table { noun, columns: &["NAME", "ID"], wide: &["KEYS"], rows, none: "No users.", more }.answer()
    }

    #[test]
    fn a_table_has_a_header_whole_cells_and_a_summary() {
        let rows = || {
            let long = "a name that is longer than each of the others, \u{540d}\u{524d}";
            let cells = |name: &str| [name.to_owned(), "1".to_owned(), "3".to_owned()];
            let mut noted = row(json!({"name": "a"}), &"1", cells("a\u{1b}[31m"));
            noted.notes.push("unused".to_owned());
            vec![noted, row(json!({"name": "b"}), &"2", cells(long))]
        };
        let answer = table(rows(), None);
        let long = "a name that is longer than each of the others, \u{540d}\u{524d}";
        let padded = |cell: &str| crate::text::pad(cell, width(long) + GAP);
        let (header, short) = (padded("NAME"), padded("a<U+001B>[31m"));
        let expected = format!("{header}ID\n{short}1\n    unused\n{long}  1\n2 users\n");
        assert_eq!(answer.text, expected);
        assert!(answer.wide.is_some_and(|text| text.contains("ID  KEYS\n") && text.contains("1   3\n")));
        assert_eq!(answer.names, Some(vec!["1".to_owned(), "2".to_owned()]));
        let cut = table(rows(), Some("more exist: raise --limit".to_owned()));
        assert!(cut.text.ends_with("\n2 users; more exist: raise --limit\n"));
        assert_eq!(table(Vec::new(), None).text, "No users.\n");
    }
}
