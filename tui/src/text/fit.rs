//! Fits text to terminal columns by grapheme. Truncated text ends in `>>`.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Mark at the end of truncated text.
pub(crate) const CUT: &str = ">>";

/// Returns the number of columns that the text takes.
pub(crate) fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Cuts the text to at most `columns` columns. Truncated text ends with the mark.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let available = columns.saturating_sub(CUT.len());
    let mut out = fitting(text, available).to_owned();
    let mark = CUT.get(..columns.min(CUT.len())).unwrap_or_default();
    let blanks = columns.saturating_sub(width(&out)).saturating_sub(mark.len());
    out.extend(std::iter::repeat_n(' ', blanks));
    out.push_str(mark);
    out
}

/// Cuts or pads the text to exactly `columns` columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let mut out = cut(text, columns);
    let blanks = columns.saturating_sub(width(&out));
    out.extend(std::iter::repeat_n(' ', blanks));
    out
}

/// Wraps the text to lines of at most `columns` columns, at spaces where possible. No text is lost.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        let mut rest = word;
        loop {
            // Measures no more of a long word than fits on a line.
            let ink = rest.trim_end_matches(' ');
            let available = columns.checked_sub(width(&line));
            if available.is_some_and(|available| fitting(ink, available).len() == ink.len()) {
                line.push_str(rest);
                break;
            }
            if !line.trim_end().is_empty() {
                lines.push(std::mem::take(&mut line).trim_end().to_owned());
                continue;
            }
            line.clear();
            let head = fitting(rest, columns);
            // A grapheme wider than a line gets a line of its own.
            let head = if head.is_empty() { rest.graphemes(true).next().unwrap_or_default() } else { head };
            lines.push(head.to_owned());
            rest = rest.get(head.len()..).unwrap_or_default();
            if rest.is_empty() {
                break;
            }
        }
    }
    if !line.trim_end().is_empty() || lines.is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// Wraps text into rows that are indented by `indent` columns. In the first row, `first` takes their place.
pub(crate) fn indented(text: &str, first: &str, indent: usize, columns: usize) -> Vec<String> {
    let blanks = " ".repeat(indent);
    let rows = wrap(text, columns.saturating_sub(indent)).into_iter().enumerate();
    rows.map(|(index, row)| format!("{}{row}", if index == 0 { first } else { &blanks })).collect()
}

/// Groups hex digits by four, as fingerprints are shown.
pub(crate) fn grouped(hex: &str) -> String {
    let mut out = String::with_capacity(hex.len() + hex.len() / 4);
    for (index, letter) in hex.chars().enumerate() {
        if index > 0 && index % 4 == 0 {
            out.push(' ');
        }
        out.push(letter);
    }
    out
}

/// Returns whether each byte takes one column.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn fitting(text: &str, columns: usize) -> &str {
    // A combining mark after the last column would belong to the character before it.
    let start = text.get(..columns.saturating_add(1)).unwrap_or(text);
    if is_plain(start) {
        return start.get(..columns).unwrap_or(start);
    }
    let mut used = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        used += UnicodeWidthStr::width(grapheme);
        if used > columns {
            return text.get(..start).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_ends_with_the_mark() {
        let check = |text: &str, columns: usize, expected: &str| {
            assert_eq!(cut(text, columns), expected, "{text} in {columns}");
            assert_eq!(width(&pad(text, columns)), columns);
        };
        check("abcdef", 6, "abcdef");
        check("abcdefg", 6, "abcd>>");
        check("\u{65e5}\u{672c}\u{8a9e}x", 6, "\u{65e5}\u{672c}>>");
        check("\u{65e5}\u{672c}\u{8a9e}", 5, "\u{65e5} >>");
        check("abc", 2, ">>");
        check("abc", 1, ">");
        check("abc", 0, "");
        check("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}");
    }

    #[test]
    fn wraps_very_long_words() {
        for letter in ["x", "\u{e9}"] {
            assert_eq!(wrap(&letter.repeat(1_000_000), 100).len(), 10_000);
        }
    }

    #[test]
    fn wrap_loses_no_text() {
        let check = |text: &str, columns: usize, expected: &[&str]| {
            assert_eq!(wrap(text, columns), expected, "{text} in {columns}");
        };
        check("one two three", 8, &["one two", "three"]);
        check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
        check("a bcdefghij", 4, &["a", "bcde", "fghi", "j"]);
        check("", 4, &[""]);
        check("abcde\u{301}f", 5, &["abcde\u{301}", "f"]);
        check("ab  \u{65e5}\u{672c}", 4, &["ab", "\u{65e5}\u{672c}"]);
        check("\u{65e5}\u{672c}\u{8a9e}", 4, &["\u{65e5}\u{672c}", "\u{8a9e}"]);
        assert_eq!(grouped("50f7170439"), "50f7 1704 39");
    }
}
