//! Draws lines and frames into a buffer. Everything passes the text layer, so nothing is cut off unmarked.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::text::{cut, pad, width};
use crate::theme::Theme;

/// A line of a pane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Text, cleaned.
    pub(crate) text: String,
    /// Style.
    pub(crate) style: Style,
}

impl Line {
    /// A line in an ordinary style.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::styled(text, Theme::plain())
    }

    /// A line in a style.
    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// A place to draw on.
pub(crate) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    /// The styles.
    pub(crate) theme: Theme,
}

impl<'a> Canvas<'a> {
    /// Over a buffer.
    pub(crate) fn new(buffer: &'a mut Buffer, theme: Theme) -> Self {
        Self { buffer, theme }
    }

    /// One line of text in exactly the width of the row.
    pub(crate) fn row(&mut self, area: Rect, down: u16, text: &str, style: Style) {
        if down >= area.height {
            return;
        }
        let line = pad(text, usize::from(area.width));
        self.buffer.set_stringn(area.x, area.y.saturating_add(down), line, usize::from(area.width), style);
    }

    /// Left and right text in one row; the right one is never cut before the left one.
    pub(crate) fn split(&mut self, area: Rect, down: u16, left: &str, right: &str, style: Style) {
        let columns = usize::from(area.width);
        let right = cut(right, columns);
        let gap = usize::from(!right.is_empty());
        let room = columns.saturating_sub(width(&right)).saturating_sub(gap);
        self.row(area, down, &format!("{}{}{right}", pad(left, room), " ".repeat(gap)), style);
    }

    /// Lines from `from` on. What does not fit is counted in the last row. Says nothing when it all fits.
    pub(crate) fn lines(&mut self, area: Rect, lines: &[Line], from: usize) {
        self.pane(area, lines, from, true);
    }

    /// The same for one pane of several, of which one has the keys. `from` is lowered to what there is.
    pub(crate) fn pane(&mut self, area: Rect, lines: &[Line], from: usize, has_keys: bool) {
        let from = from.min(lines.len().saturating_sub(usize::from(area.height)));
        let height = usize::from(area.height);
        let rest = lines.get(from.min(lines.len())..).unwrap_or_default();
        let overflow = rest.len() > height;
        for (down, line) in rest.iter().take(height).enumerate() {
            let down_row = u16::try_from(down).unwrap_or(u16::MAX);
            if overflow && down.saturating_add(1) == height {
                let more = rest.len().saturating_sub(down);
                self.row(area, down_row, &below(more, has_keys), self.theme.faint());
            } else {
                self.row(area, down_row, &line.text, line.style);
            }
        }
    }

    /// A list of `count` things of `per_thing` rows each, around the selected one. Only what is shown is made.
    pub(crate) fn rows(
        &mut self,
        area: Rect,
        count: usize,
        per_thing: usize,
        selected: usize,
        has_keys: bool,
        made: impl Fn(usize) -> Vec<Line>,
    ) {
        let height = usize::from(area.height);
        let whole = count.saturating_mul(per_thing);
        let per_thing = per_thing.max(1);
        let wanted = selected.saturating_add(1).saturating_mul(per_thing).saturating_sub(1);
        let from =
            if whole > height { scrolled(wanted, height).min(whole.saturating_sub(height)) } else { 0 };
        let first = from / per_thing;
        let last = from.saturating_add(height).div_ceil(per_thing).min(count);
        let lines: Vec<Line> = (first..last).flat_map(made).skip(from % per_thing).collect();
        let below = whole.saturating_sub(from).saturating_sub(height);
        let full = if below > 0 { height.saturating_sub(1) } else { height };
        for (down, line) in lines.iter().take(full).enumerate() {
            self.row(area, u16::try_from(down).unwrap_or(u16::MAX), &line.text, line.style);
        }
        if below > 0 {
            let text = self::below(below.saturating_add(1), has_keys);
            self.row(area, area.height.saturating_sub(1), &text, self.theme.faint());
        }
    }

    /// A frame with titles; returns what is inside.
    pub(crate) fn framed(&mut self, area: Rect, title: &str, remark: &str) -> Rect {
        if area.width < 4 || area.height < 2 {
            return Rect { height: 0, ..area };
        }
        let columns = usize::from(area.width);
        let style = self.theme.faint();
        let inner = columns.saturating_sub(2);
        let title = if title.is_empty() {
            String::new()
        } else {
            format!("\u{2500} {} ", cut(title, inner.saturating_sub(4)))
        };
        let room = inner.saturating_sub(width(&title));
        let remark = if remark.is_empty() || width(remark).saturating_add(4) > room {
            String::new()
        } else {
            format!(" {remark} \u{2500}")
        };
        let rule = "\u{2500}".repeat(room.saturating_sub(width(&remark)));
        self.row(area, 0, &format!("\u{250c}{title}{rule}{remark}\u{2510}"), style);
        for down in 1..area.height.saturating_sub(1) {
            let y = area.y.saturating_add(down);
            self.buffer.set_stringn(area.x, y, "\u{2502}", 1, style);
            self.buffer.set_stringn(area.right().saturating_sub(1), y, "\u{2502}", 1, style);
        }
        self.row(
            area,
            area.height.saturating_sub(1),
            &format!("\u{2514}{}\u{2518}", "\u{2500}".repeat(inner)),
            style,
        );
        Rect {
            x: area.x.saturating_add(2),
            y: area.y.saturating_add(1),
            width: area.width.saturating_sub(4),
            height: area.height.saturating_sub(2),
        }
    }

    /// Empties an area, for what is drawn over something else.
    pub(crate) fn clear(&mut self, area: Rect) {
        for down in 0..area.height {
            self.row(area, down, "", Theme::plain());
        }
    }
}

/// How many rows are below, and the keys that show them.
fn below(rows: usize, has_keys: bool) -> String {
    let noun = if rows == 1 { "row" } else { "rows" };
    format!("  {rows} more {noun} below: {}", if has_keys { "PgDn" } else { "Tab, PgDn" })
}

/// Cuts an area in two, the first one `rows` high.
pub(crate) fn above(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (
        Rect { height: rows, ..area },
        Rect { y: area.y.saturating_add(rows), height: area.height.saturating_sub(rows), ..area },
    )
}

/// Cuts an area in two, the first one `columns` wide.
pub(crate) fn beside(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    (
        Rect { width: columns, ..area },
        Rect { x: area.x.saturating_add(columns), width: area.width.saturating_sub(columns), ..area },
    )
}

/// The first row to show so that `selected` is within `height` rows.
pub(crate) fn scrolled(selected: usize, height: usize) -> usize {
    selected.saturating_add(2).saturating_sub(height.max(2))
}
