//! Draws the receivers, and the deliveries to the selected one.

use ratatui::layout::Rect;

use super::deliveries::{self, Delivery};
use super::{Pane, State};
use crate::canvas::{Canvas, Line, above};
use crate::screens::shared::Shared;
use crate::text::{clean, cut, pad};
use crate::theme::Theme;
use crate::webhooks::{
    counts_text, lag, last_text, name, parked_text, queue_text, state, subscriptions, waiting,
};

/// Minimum height at which both panes are shown.
const BOTH_ROWS: u16 = 16;
/// Minimum height of the deliveries at which everything about the receiver is shown above them.
const FACTS_ROWS: u16 = 14;
/// Maximum share of the receivers in the height.
const LIST_PART: u16 = 3;

/// Areas of the panes; a hidden pane has no height.
pub(super) struct Areas {
    pub(super) receivers: Rect,
    pub(super) deliveries: Rect,
}

pub(super) fn layout(pane: Pane, area: Rect, receivers: usize) -> Areas {
    let none = Rect { height: 0, ..area };
    if area.height < BOTH_ROWS {
        return match pane {
            Pane::Receivers => Areas { receivers: area, deliveries: none },
            Pane::Deliveries => Areas { receivers: none, deliveries: area },
        };
    }
    let rows = u16::try_from(receivers).unwrap_or(u16::MAX).saturating_mul(rows_each(area.width));
    let height = rows.saturating_add(3).clamp(4, (area.height / LIST_PART).max(5));
    let (receivers, deliveries) = above(area, height);
    Areas { receivers, deliveries }
}

/// Returns the number of rows per receiver or delivery in a terminal of this width.
pub(super) const fn rows_each(columns: u16) -> u16 {
    if columns >= 114 { 1 } else { 2 }
}

impl State {
    pub(super) fn draw_receivers(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let shown = self.visible();
        let all = self.all.as_ref().map_or(0, |all| all.receivers.len());
        let has_keys = self.pane == Pane::Receivers;
        let remark = match self.filter.summary(shown.len(), all) {
            text if text.is_empty() => if has_keys { "Tab: deliveries" } else { "Tab moves here" }.to_owned(),
            text => text,
        };
        let inner = canvas.framed(area, &format!("Webhook receivers {all}"), &remark);
        if shown.is_empty() {
            let text = match (&self.all, all == 0) {
                (None, _) if shared.is_missing => "Organization not found.",
                (None, _) => "Loading the webhook receivers.",
                (Some(_), true) => "No webhook receivers: no endpoint, and no webhook feature.",
                (Some(_), false) => "Nothing matches; Esc clears the filter.",
            };
            canvas.texts(inner, &[text]);
            return;
        }
        let each = rows_each(area.width);
        let head = u16::from(each == 1);
        let (heading, list) = above(inner, head);
        let columns = format!(
            "  {} {} {} {} {} URL",
            pad("NAME", 18),
            pad("STATE", 14),
            pad("WAITING", 12),
            pad("ACCEPTED", 8),
            pad("NOT", 5)
        );
        canvas.row(heading, 0, &columns, canvas.theme.faint());
        let selected = self.position(&shown);
        canvas.items(list, &shown, each, selected, has_keys, |one, marker| {
            let lag = lag(one, shared.now).map(|lag| format!(", {lag}")).unwrap_or_default();
            let queue = format!("{}{lag}", waiting(one));
            let (name, url) = (name(one), clean(&one.url));
            if each == 1 {
                let counts =
                    format!("{} {}", pad(&one.delivered.to_string(), 8), pad(&one.failed.to_string(), 5));
                let (name, state, queue) = (pad(&cut(&name, 18), 18), pad(state(one), 14), pad(&queue, 12));
                vec![format!("{marker}{name} {state} {queue} {counts} {url}")]
            } else {
                vec![format!("{marker}{} {}", pad(state(one), 11), name), format!("  waiting {queue}  {url}")]
            }
        });
    }

    pub(super) fn draw_deliveries(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(receiver) = self.selected() else {
            canvas.framed(area, "Deliveries", "");
            return;
        };
        let has_keys = self.pane == Pane::Deliveries;
        let remark = if has_keys { "Enter: activity, R: retry" } else { "Tab moves here" };
        let inner = canvas.framed(area, &format!("Deliveries to {}", name(receiver)), remark);
        let mut facts = vec![format!("URL       {}", clean(&receiver.url))];
        if area.height >= FACTS_ROWS {
            let since = self.all.as_ref().map_or(0, |all| all.counted_since_millis);
            facts.push(format!("events    {}", subscriptions(receiver)));
            facts.push(format!("queue     {}", queue_text(receiver, shared.now)));
            facts.extend(parked_text(receiver).map(|text| format!("parked    {text}")));
            facts.push(format!("attempts  {}", counts_text(receiver, since)));
            facts.push(format!("last      {}", last_text(receiver, shared.now)));
        }
        let head = u16::try_from(facts.len()).unwrap_or(u16::MAX);
        let (above_list, list) = above(inner, head);
        let lines: Vec<Line> = facts.into_iter().map(|text| Line::marked(text, canvas.theme)).collect();
        canvas.lines(above_list, &lines, 0);
        self.draw_rows(shared, canvas, list, has_keys);
    }

    fn draw_rows(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect, has_keys: bool) {
        let Some(shown) = self.shown_deliveries() else {
            canvas.lines(area, &[Line::plain("Loading the deliveries.")], 0);
            return;
        };
        if shown.is_empty() {
            let text = "Nothing waits, and nothing was sent since the daemon started.";
            canvas.texts(area, &[text]);
            return;
        }
        let selected = deliveries::position(&shown, self.delivery.as_deref());
        let columns = usize::from(area.width);
        let each = usize::from(rows_each(area.width.saturating_add(4)));
        canvas.rows(area, shown.len(), each, selected, has_keys, |index| {
            let is_selected = index == selected && has_keys;
            let marker = if is_selected { "> " } else { "  " };
            let texts = shown.get(index).map(|one: &Delivery<'_>| one.texts(marker, columns, shared.now));
            let texts = texts.unwrap_or_default();
            let mark = Theme::uncoloured().of_mark(&texts.concat());
            let style = if is_selected { Theme::selected() } else { mark };
            texts.into_iter().map(|text| Line::styled(text, style)).collect()
        });
    }
}
