//! Draws the list of policies and the details of the selected one: its expressions, who can satisfy it, its history and findings about it.

use quorate_common::wire::Policy;
use quorate_policy::lint::Level;
use ratatui::layout::Rect;

use super::state::{Pane, State, labelled};
use crate::canvas::{Canvas, Line};
use crate::kinds::ReviewContext;
use crate::policies::{self, Rules};
use crate::proof::status_word;
use crate::screens::overlay::Overlay;
use crate::screens::shared::Shared;
use crate::text::{clean, cut, date_time, duration, pad, quoted, wrap};
use crate::theme::Theme;

impl State {
    pub(super) fn draw_list(&self, shared: &Shared, canvas: &mut Canvas<'_>, area: Rect) {
        let shown = self.shown(shared);
        let all = shared.organization.as_ref().map_or(0, |organization| organization.policies.len());
        let remark = match self.filter.summary(shown.len(), all) {
            summary if summary.is_empty() && self.pane != Pane::List => "Tab".to_owned(),
            summary => summary,
        };
        let inner = canvas.framed(area, &format!("Policies {all}"), &remark);
        let at = self.position(&shown);
        let line = |(index, policy): (usize, &&Policy)| {
            let warns = self.findings(policy).iter().any(|finding| finding.level == Level::Warning);
            let selected = index == at;
            let has_keys = self.pane == Pane::List;
            let style = if selected && has_keys { Theme::selected() } else { Theme::plain() };
            let effect = pad(&clean(policy.effect.trim_start_matches("EFFECT_")), 5);
            let last = self.matched.get(&policy.policy_id).map(|matched| match matched.last {
                Some(last) => duration(shared.now.saturating_sub(last)),
                None => "never".to_owned(),
            });
            let available = usize::from(inner.width).saturating_sub(18);
            let name = pad(&clean(&policy.policy_name), available);
            let mark = if warns { "!" } else { " " };
            let marker = if selected { ">" } else { " " };
            Line::styled(format!("{marker} {effect} {name} {:>7} {mark}", last.unwrap_or_default()), style)
        };
        let mut lines: Vec<Line> = shown.iter().enumerate().map(line).collect();
        if lines.is_empty() {
            lines.push(Line::plain(if all == 0 {
                "  none: the root quorum decides"
            } else {
                "  nothing matches; Esc clears the filter"
            }));
        }
        canvas.list(inner, &lines, at, self.pane == Pane::List);
    }

    pub(super) fn draw_detail(
        &self,
        shared: &Shared,
        rules: &Rules<'_>,
        canvas: &mut Canvas<'_>,
        area: Rect,
    ) {
        let Some(policy) = self.selected(shared) else {
            canvas.framed(area, "", "");
            return;
        };
        let effect = clean(policy.effect.trim_start_matches("EFFECT_"));
        let title = format!("{} {}", cut(&clean(&policy.policy_name), 40), policy.policy_id);
        let has_keys = self.pane == Pane::Detail;
        let remark = if has_keys { format!("{effect}, selected") } else { effect };
        let inner = canvas.framed(area, &title, &remark);
        let lines = self.detail_lines(shared, rules, policy, usize::from(inner.width), canvas.theme);
        canvas.pane(inner, &lines, self.scroll, has_keys);
    }

    pub(super) fn detail_lines(
        &self,
        shared: &Shared,
        rules: &Rules<'_>,
        policy: &Policy,
        columns: usize,
        theme: Theme,
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        let words = match policies::program(policy) {
            Ok(program) => policies::sentence(&program, rules),
            Err(error) => format!("[x] this console cannot parse it: {error}"),
        };
        let changed = self.changed(shared, policy);
        let matched = self.matched.get(&policy.policy_id).zip(self.history.as_ref());
        let matched = matched.map(|(matched, history)| match matched.all() {
            0 => format!("none of the last {} activities", history.examined),
            all => format!(
                "{all} of the last {} activities: {}; Enter lists them",
                history.examined,
                matched.summary()
            ),
        });
        let notes = if policy.notes.is_empty() { String::new() } else { quoted(&policy.notes) };
        let who = rules.who(policy).join(", ");
        for (label, text) in [
            ("in words", words.as_str()),
            ("condition", text_or(&policy.condition, "none: any activity")),
            ("consensus", text_or(&policy.consensus, "none: the proposer alone")),
            ("time", policy.time.as_deref().unwrap_or_default()),
            ("who", &who),
            ("matched", &matched.unwrap_or_default()),
            ("notes", &notes),
            ("changed", &changed),
        ] {
            labelled(&mut lines, label, text, columns);
        }
        for finding in self.findings(policy) {
            let mark = if finding.level == Level::Warning { "[!]" } else { "[i]" };
            let text = format!("{mark} {}: {}", finding.expression.name(), finding.text);
            let style = theme.of_mark(&text);
            lines.extend(wrap(&clean(&text), columns).into_iter().map(|text| Line::styled(text, style)));
        }
        lines
    }

    /// Returns when the policy was last changed and by whom, and when it was created.
    fn changed(&self, shared: &Shared, policy: &Policy) -> String {
        let (updated, created) = (policy.updated_at.millis(), policy.created_at.millis());
        let known = self.history.as_ref().zip(shared.organization.as_ref());
        let by = known.and_then(|(history, organization)| {
            let change = history.changed(&policy.policy_id.to_string())?;
            let context = ReviewContext::of(organization);
            let people = change.people.iter().map(|user| context.user_name(&user.to_string()));
            Some(format!(" by {} (activity {})", people.collect::<Vec<_>>().join(", "), change.activity_id))
        });
        let created =
            if created == updated { String::new() } else { format!("; created {}", date_time(created)) };
        format!("{}{}{created}", date_time(updated), by.unwrap_or_default())
    }

    /// Lists the recent activities that match the selected policy, and the activity that changed it last.
    pub(super) fn matching_activities(&self, shared: &Shared) -> Option<Overlay> {
        let policy = self.selected(shared)?;
        let (history, organization) = (self.history.as_ref()?, shared.organization.as_ref()?);
        let context = ReviewContext::of(organization);
        let program = policies::program(policy).ok()?;
        let mut paragraphs = Vec::new();
        if let Some(change) = history.changed(&policy.policy_id.to_string()) {
            paragraphs.push(format!("last changed by activity {}", change.activity_id));
            paragraphs.push(String::new());
        }
        let matched = history.matched(&program);
        let (number, examined) = (matched.len(), history.examined);
        paragraphs.push(format!("matches {number} of the last {examined} activities [s]:"));
        paragraphs.extend(matched.into_iter().map(|past| {
            let when = date_time(past.proposed_millis);
            let kind = clean(past.activity_type.trim_start_matches("ACTIVITY_TYPE_"));
            let who = context.user_name(&past.proposer.to_string());
            format!("{when}  {} {kind} by {who}  {}", pad(status_word(past.status), 9), past.activity_id)
        }));
        let title = format!("Activities that match {}", quoted(&policy.policy_name));
        Some(Overlay::text(&title, paragraphs))
    }
}

fn text_or<'t>(text: &'t str, none: &'t str) -> &'t str {
    if text.is_empty() { none } else { text }
}
