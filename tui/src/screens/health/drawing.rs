//! Draws the items of the screen. A large terminal shows all panes, a small one shows one of them.

use ratatui::layout::Rect;
use ratatui::widgets::{Bar, BarChart, BarGroup, Gauge, RenderDirection, Sparkline};

use super::items::{Item, Picture};
use crate::canvas::{Canvas, above, beside};
use crate::text::{pad, wrap};
use crate::theme::Theme;

/// Width of the labels, in columns.
const LABEL_COLUMNS: usize = 13;
/// Width of the texts beside a picture, with their labels.
const TEXT_COLUMNS: u16 = 50;
/// Minimum width at which a picture is beside its text.
const BESIDE_COLUMNS: u16 = 72;
/// Height of bars with their labels.
const BARS_ROWS: u16 = 4;
/// Minimum size at which all panes are shown.
const WIDE: (u16, u16) = (100, 28);

/// A part of the screen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Pane {
    #[default]
    Work,
    Daemon,
    Findings,
}

impl Pane {
    /// Returns the pane after this one.
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Work => Self::Daemon,
            Self::Daemon => Self::Findings,
            Self::Findings => Self::Work,
        }
    }
}

/// What the panes show.
pub(super) struct Parts {
    pub(super) work: Vec<Item>,
    pub(super) daemon: Vec<Item>,
    pub(super) findings: Vec<Item>,
    /// Number of findings to act on.
    pub(super) problems: usize,
    /// What a pane without figures shows.
    pub(super) nothing: &'static str,
}

impl Parts {
    fn items(&self, pane: Pane) -> &[Item] {
        match pane {
            Pane::Work => &self.work,
            Pane::Daemon => &self.daemon,
            Pane::Findings => &self.findings,
        }
    }

    fn title(&self, pane: Pane) -> String {
        match pane {
            Pane::Work => "Work".to_owned(),
            Pane::Daemon => "Daemon".to_owned(),
            Pane::Findings => format!("Findings: {} to act on", self.problems),
        }
    }
}

/// Returns whether all panes are shown.
pub(super) const fn is_wide(area: Rect) -> bool {
    area.width >= WIDE.0 && area.height >= WIDE.1
}

/// Draws the panes, of which one has the keyboard focus and shows its items from the first one.
pub(super) fn draw(parts: &Parts, canvas: &mut Canvas<'_>, area: Rect, focus: Pane, first: usize) {
    if !is_wide(area) {
        let remark = format!("Tab: {}", parts.title(focus.next()));
        draw_pane(parts, canvas, area, focus, first, &remark);
        return;
    }
    let rows = parts.work.iter().map(|item| height(item, area.width.saturating_sub(4)));
    let rows = rows.fold(2, |sum: u16, rows| sum.saturating_add(rows)).max(4);
    let (work, rest) = above(area, rows.min(area.height.saturating_sub(8)));
    let (daemon, findings) = beside(rest, area.width / 2);
    for (pane, area) in [(Pane::Work, work), (Pane::Daemon, daemon), (Pane::Findings, findings)] {
        let (first, remark) = if pane == focus { (first, "selected; Tab: next pane") } else { (0, "") };
        draw_pane(parts, canvas, area, pane, first, remark);
    }
}

fn draw_pane(parts: &Parts, canvas: &mut Canvas<'_>, area: Rect, pane: Pane, first: usize, remark: &str) {
    let mut inner = canvas.framed(area, &parts.title(pane), remark);
    let items = parts.items(pane);
    if items.is_empty() {
        canvas.texts(inner, &[parts.nothing]);
        return;
    }
    let heights: Vec<u16> = items.iter().map(|item| height(item, inner.width)).collect();
    let first = first.min(last_first(&heights, inner.height));
    let mut rest: u16 = heights.iter().skip(first).fold(0, |sum, rows| sum.saturating_add(*rows));
    for (item, rows) in items.iter().zip(heights).skip(first) {
        let is_last = rest <= inner.height;
        if inner.height == 0 || (!is_last && rows >= inner.height && rest > rows) {
            break;
        }
        draw_item(item, canvas, above(inner, rows).0);
        inner = above(inner, rows).1;
        rest = rest.saturating_sub(rows);
    }
    if rest > 0 && inner.height > 0 {
        let text = format!("  {rest} more rows below: PgDn");
        let style = canvas.theme.faint();
        canvas.row(inner, inner.height.saturating_sub(1), &text, style);
    }
}

/// Returns the largest first item at which the pane is still full.
fn last_first(heights: &[u16], rows: u16) -> usize {
    let mut sum: u16 = 0;
    let fits = heights.iter().rev().take_while(|height| {
        sum = sum.saturating_add(**height);
        sum <= rows
    });
    heights.len().saturating_sub(fits.count().max(1))
}

/// Returns the rows of an item in an area of this width.
fn height(item: &Item, columns: u16) -> u16 {
    let picture = match item.picture {
        Picture::None => 0,
        Picture::Spark(_) | Picture::Gauge(_) => 1,
        Picture::Bars(_) => BARS_ROWS,
    };
    let texts = u16::try_from(texts(item, columns).len()).unwrap_or(u16::MAX);
    if columns >= BESIDE_COLUMNS { texts.max(picture) } else { texts.saturating_add(picture) }
}

/// Returns the rows of the text of an item, with its label.
fn texts(item: &Item, columns: u16) -> Vec<String> {
    let is_beside = columns >= BESIDE_COLUMNS && item.picture != Picture::None;
    let columns = usize::from(if is_beside { TEXT_COLUMNS.saturating_sub(1) } else { columns });
    // The marks of findings are shorter than the labels of figures.
    let label = if item.label.starts_with('[') { 4 } else { LABEL_COLUMNS };
    let rows = wrap(&item.text, columns.saturating_sub(label));
    let first = pad(item.label, label);
    rows.into_iter()
        .enumerate()
        .map(
            |(index, row)| {
                if index == 0 { format!("{first}{row}") } else { format!("{}{row}", " ".repeat(label)) }
            },
        )
        .collect()
}

fn draw_item(item: &Item, canvas: &mut Canvas<'_>, area: Rect) {
    let texts = texts(item, area.width);
    let style = canvas.theme.of_mark(&format!("{}{}", item.label, item.text));
    let rows = u16::try_from(texts.len()).unwrap_or(u16::MAX);
    for (down, text) in texts.iter().enumerate() {
        canvas.row(area, u16::try_from(down).unwrap_or(u16::MAX), text, style);
    }
    let picture =
        if area.width >= BESIDE_COLUMNS { beside(area, TEXT_COLUMNS).1 } else { above(area, rows).1 };
    if picture.width > 2 && picture.height > 0 {
        draw_picture(&item.picture, canvas, picture);
    }
}

fn draw_picture(picture: &Picture, canvas: &mut Canvas<'_>, area: Rect) {
    match picture {
        Picture::None => {}
        Picture::Spark(numbers) => {
            let line = Sparkline::default().data(numbers).direction(RenderDirection::RightToLeft);
            canvas.widget(above(area, 1).0, line.style(Theme::plain()));
        }
        Picture::Gauge(part) => {
            let row = above(area, 1).0;
            canvas.split(row, 0, "[", "]", Theme::plain());
            let inner = beside(Rect { width: row.width.saturating_sub(1), ..row }, 1).1;
            let gauge = Gauge::default().ratio(part.clamp(0.0, 1.0)).use_unicode(true);
            canvas.widget(inner, gauge.gauge_style(Theme::plain()));
        }
        Picture::Bars(bars) => {
            let count = u16::try_from(bars.len()).unwrap_or(1).max(1);
            let width = (area.width / count).saturating_sub(1).clamp(1, 9);
            let bars: Vec<Bar<'_>> = bars
                .iter()
                .map(|(label, count)| Bar::default().value(*count).text_value("").label(*label))
                .collect();
            let chart = BarChart::default().data(BarGroup::default().bars(&bars));
            canvas.widget(area, chart.bar_width(width).bar_gap(1).style(Theme::plain()));
        }
    }
}
