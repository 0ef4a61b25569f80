//! Draws lines and frames into a buffer. All text is fitted to its columns, so truncated text is always
//! marked.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Widget;

use crate::text::{cut, drawn_in_ascii, pad, width, wrap};
use crate::theme::Theme;

/// Columns below which a remark in a frame is left out instead of cut.
const SHORTEST_REMARK: usize = 12;
/// Minimum height at which a list and the details of its selected item are both shown.
const BOTH_ROWS: u16 = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// Text, already cleaned.
    pub(crate) text: String,
    pub(crate) style: Style,
}

impl Line {
    /// Creates a line in the default style.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self::styled(text, Theme::plain())
    }

    /// Creates a line in the style of the mark that it contains.
    pub(crate) fn marked(text: String, theme: Theme) -> Self {
        let style = theme.of_mark(&text);
        Self { text, style }
    }

    pub(crate) fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// A drawing area over a terminal buffer.
pub(crate) struct Canvas<'a> {
    buffer: &'a mut Buffer,
    pub(crate) theme: Theme,
}

impl<'a> Canvas<'a> {
    pub(crate) fn new(buffer: &'a mut Buffer, theme: Theme) -> Self {
        Self { buffer, theme }
    }

    /// Draws one line of text, padded or cut to the width of the area.
    pub(crate) fn row(&mut self, area: Rect, down: u16, text: &str, style: Style) {
        if down >= area.height {
            return;
        }
        let (columns, y) = (usize::from(area.width), area.y.saturating_add(down));
        let line = if self.theme.is_ascii { pad(&drawn_in_ascii(text), columns) } else { pad(text, columns) };
        let style = self.theme.base().patch(style);
        self.buffer.set_stringn(area.x, y, &line, columns, style);
        if style.add_modifier.contains(Modifier::REVERSED) || !line.contains('[') {
            return;
        }
        for (at, length, mark) in self.theme.marks(&line) {
            let before = u16::try_from(width(line.get(..at).unwrap_or_default())).unwrap_or(u16::MAX);
            let columns = u16::try_from(length).unwrap_or(u16::MAX).min(area.width.saturating_sub(before));
            let place = Rect { x: area.x.saturating_add(before), y, width: columns, height: 1 };
            self.buffer.set_style(place, mark);
        }
    }

    /// Fills an area with the background.
    pub(crate) fn fill(&mut self, area: Rect) {
        self.buffer.set_style(area, self.theme.base());
    }

    /// Draws left-aligned and right-aligned text in one row. The left text is cut first.
    pub(crate) fn split(&mut self, area: Rect, down: u16, left: &str, right: &str, style: Style) {
        let columns = usize::from(area.width);
        let right = cut(right, columns);
        let gap = usize::from(!right.is_empty());
        let space = columns.saturating_sub(width(&right)).saturating_sub(gap);
        self.row(area, down, &format!("{}{}{right}", pad(left, space), " ".repeat(gap)), style);
    }

    /// Draws the lines that start at index `from`. If they do not fit, the last row shows how many are
    /// missing.
    pub(crate) fn lines(&mut self, area: Rect, lines: &[Line], from: usize) {
        self.pane(area, lines, from, true);
    }

    /// Like [`Self::lines`], for one of several panes of which one has the keyboard focus. `from` is limited
    /// to the last page.
    pub(crate) fn pane(&mut self, area: Rect, lines: &[Line], from: usize, has_keys: bool) {
        self.hinted(area, lines, from, if has_keys { "PgDn" } else { "Tab, PgDn" });
    }

    /// Draws lines that no key scrolls.
    pub(crate) fn unscrolled(&mut self, area: Rect, lines: &[Line]) {
        self.hinted(area, lines, 0, "enlarge it");
    }

    /// Draws the lines that start at index `from`. `keys` show hidden lines.
    fn hinted(&mut self, area: Rect, lines: &[Line], from: usize, keys: &str) {
        let from = from.min(lines.len().saturating_sub(usize::from(area.height)));
        let height = usize::from(area.height);
        let rest = lines.get(from.min(lines.len())..).unwrap_or_default();
        let overflow = rest.len() > height;
        for (down, line) in rest.iter().take(height).enumerate() {
            let down_row = u16::try_from(down).unwrap_or(u16::MAX);
            if overflow && down.saturating_add(1) == height {
                let more = rest.len().saturating_sub(down);
                self.row(area, down_row, &below(more, keys), self.theme.faint());
            } else {
                self.row(area, down_row, &line.text, line.style);
            }
        }
    }

    /// Like [`Self::pane`], scrolled to the selected line.
    pub(crate) fn list(&mut self, area: Rect, lines: &[Line], selected: usize, has_keys: bool) {
        self.pane(area, lines, first_row(area, lines, selected), has_keys);
    }

    /// Like [`Self::list`], for a list in which only the arrows move.
    pub(crate) fn fields(&mut self, area: Rect, lines: &[Line], selected: usize) {
        self.hinted(area, lines, first_row(area, lines, selected), "Down");
    }

    /// Draws a list of `count` items with `rows_per_item` rows each, scrolled to the selected item. Only visible
    /// items are rendered.
    pub(crate) fn rows(
        &mut self,
        area: Rect,
        count: usize,
        rows_per_item: usize,
        selected: usize,
        has_keys: bool,
        render: impl Fn(usize) -> Vec<Line>,
    ) {
        let height = usize::from(area.height);
        let whole = count.saturating_mul(rows_per_item);
        let rows_per_item = rows_per_item.max(1);
        let wanted = selected.saturating_add(1).saturating_mul(rows_per_item).saturating_sub(1);
        let from = match () {
            () if whole <= height => 0,
            () if height <= rows_per_item => selected.saturating_mul(rows_per_item),
            // The first row that is shown is the first one of an item.
            () => scrolled(wanted, height)
                .min(whole.saturating_sub(height))
                .next_multiple_of(rows_per_item)
                .min(selected.saturating_mul(rows_per_item)),
        };
        let first = from / rows_per_item;
        let last = from.saturating_add(height).div_ceil(rows_per_item).min(count);
        let lines: Vec<Line> = (first..last).flat_map(render).skip(from % rows_per_item).collect();
        // One item is worth more than the number of those below it.
        let is_hinted = whole.saturating_sub(from) > height && height > rows_per_item;
        let full = if is_hinted { height.saturating_sub(1) } else { height };
        for (down, line) in lines.iter().take(full).enumerate() {
            self.row(area, u16::try_from(down).unwrap_or(u16::MAX), &line.text, line.style);
        }
        if is_hinted {
            let keys = if has_keys { "PgDn" } else { "Tab, PgDn" };
            let hidden = count.saturating_sub(from.saturating_add(full) / rows_per_item);
            let text = if rows_per_item == 1 {
                below(hidden, keys)
            } else {
                format!("  {hidden} more below: {keys}")
            };
            self.row(area, area.height.saturating_sub(1), &text, self.theme.faint());
        }
    }

    /// Draws the items of a list, each with so many rows. The selected item has a marker and a style of its own, the
    /// others have the styles of the marks that they contain.
    pub(crate) fn items<T>(
        &mut self,
        area: Rect,
        items: &[T],
        rows_each: u16,
        selected: usize,
        has_keys: bool,
        texts: impl Fn(&T, &str) -> Vec<String>,
    ) {
        self.rows(area, items.len(), usize::from(rows_each), selected, has_keys, |index| {
            let Some(item) = items.get(index) else { return Vec::new() };
            let texts = texts(item, if index == selected { "> " } else { "  " });
            let marked = Theme::uncoloured().of_mark(&texts.concat());
            let style = if index == selected { Theme::selected() } else { marked };
            texts.into_iter().map(|text| Line::styled(text, style)).collect()
        });
    }

    /// Draws texts without a style, wrapped.
    pub(crate) fn texts<T: AsRef<str>>(&mut self, area: Rect, texts: &[T]) {
        let columns = usize::from(area.width);
        let rows = texts.iter().flat_map(|text| wrap(text.as_ref(), columns));
        self.lines(area, &rows.map(Line::plain).collect::<Vec<_>>(), 0);
    }

    /// Draws a frame with a title and a remark, and returns the area inside it.
    pub(crate) fn framed(&mut self, area: Rect, title: &str, remark: &str) -> Rect {
        if area.width < 4 || area.height < 2 {
            return Rect { height: 0, ..area };
        }
        let columns = usize::from(area.width);
        let style = self.theme.base().patch(self.theme.faint());
        let inner = columns.saturating_sub(2);
        let title = if title.is_empty() {
            String::new()
        } else {
            format!("\u{2500} {} ", cut(title, inner.saturating_sub(4)))
        };
        let space = inner.saturating_sub(width(&title));
        let room = space.saturating_sub(4);
        let remark = if remark.is_empty() || width(remark).min(SHORTEST_REMARK) > room {
            String::new()
        } else {
            format!(" {} \u{2500}", cut(remark, room))
        };
        let rule = "\u{2500}".repeat(space.saturating_sub(width(&remark)));
        self.row(area, 0, &format!("\u{250c}{title}{rule}{remark}\u{2510}"), style);
        for down in 1..area.height.saturating_sub(1) {
            let y = area.y.saturating_add(down);
            let side = if self.theme.is_ascii { "|" } else { "\u{2502}" };
            self.buffer.set_stringn(area.x, y, side, 1, style);
            self.buffer.set_stringn(area.right().saturating_sub(1), y, side, 1, style);
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

    /// Draws a widget, which must not contain text from the daemon.
    pub(crate) fn widget(&mut self, area: Rect, widget: impl Widget) {
        let area = area.intersection(self.buffer.area);
        widget.render(area, self.buffer);
        for position in area.positions().filter(|_| self.theme.is_ascii) {
            if let Some(cell) = self.buffer.cell_mut(position).filter(|cell| !cell.symbol().is_ascii()) {
                // Blocks and dots of a picture.
                cell.set_char('#');
            }
        }
    }

    /// Clears an area before something else is drawn over it.
    pub(crate) fn clear(&mut self, area: Rect) {
        for down in 0..area.height {
            self.row(area, down, "", Theme::plain());
        }
    }
}

/// Returns the hint for hidden rows: how many there are, and the keys that show them.
fn below(rows: usize, keys: &str) -> String {
    let noun = if rows == 1 { "row" } else { "rows" };
    format!("  {rows} more {noun} below: {keys}")
}

/// Returns the first line that a pane shows so that the selected one is visible.
fn first_row(area: Rect, lines: &[Line], selected: usize) -> usize {
    let height = usize::from(area.height);
    if lines.len() > height { scrolled(selected, height) } else { 0 }
}

/// Splits an area into a list and the details of the selected item below it, which have so many rows. With too little
/// space for both, the one without the keyboard focus has no height.
pub(crate) fn list_and_detail(area: Rect, rows: u16, in_detail: bool) -> (Rect, Rect) {
    if area.height < BOTH_ROWS {
        let none = Rect { height: 0, ..area };
        return if in_detail { (none, area) } else { (area, none) };
    }
    above(area, area.height.saturating_sub(rows))
}

/// Returns the number of rows per item of a list in a terminal of this width.
pub(crate) const fn rows_each(columns: u16) -> u16 {
    if columns >= 80 { 1 } else { 2 }
}

/// Splits an area into an upper part of `rows` rows and the rest below.
pub(crate) fn above(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    (
        Rect { height: rows, ..area },
        Rect { y: area.y.saturating_add(rows), height: area.height.saturating_sub(rows), ..area },
    )
}

/// Splits an area into a left part of `columns` columns and the rest to the right.
pub(crate) fn beside(area: Rect, columns: u16) -> (Rect, Rect) {
    let columns = columns.min(area.width);
    (
        Rect { width: columns, ..area },
        Rect { x: area.x.saturating_add(columns), width: area.width.saturating_sub(columns), ..area },
    )
}

/// Returns the first row to show so that `selected` is visible within `height` rows.
fn scrolled(selected: usize, height: usize) -> usize {
    selected.saturating_add(2).saturating_sub(height.max(2))
}
