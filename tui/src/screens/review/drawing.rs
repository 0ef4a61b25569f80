//! Draws a review, with the panel of a decision below it.

use quorate_common::console::WaitingRule;
use ratatui::layout::Rect;

use super::panel::Panel;
use super::sections::{SECTIONS, rows};
use super::state::State;
use crate::canvas::{Canvas, Line, above};
use crate::kinds::count;
use crate::proof::{Challenge, Review, state_text};
use crate::screens::shared::Shared;
use crate::text::{clean, clock, duration, width};
use crate::theme::Theme;

/// Returns the areas of the status row and of the sections, above a panel of this height.
fn regions(panel: u16, body: Rect) -> (Rect, Rect) {
    let (upper, _) = above(body, body.height.saturating_sub(panel));
    let (status, rest) = above(upper, 1.min(upper.height));
    let foot = if upper.height >= 8 { 2 } else { 1 };
    (status, above(rest, rest.height.saturating_sub(foot)).0)
}

impl State {
    /// Returns the panel of the decision, if there is one.
    pub(super) fn panel<'a>(&'a self, shared: &'a Shared) -> Option<Panel<'a>> {
        let decide = self.decide.as_ref()?;
        Some(Panel { decide, activity: self.review.activity.id, sentence: &self.review.sentence, shared })
    }

    /// Returns the columns and rows of the sections.
    pub(crate) fn viewport(&self, shared: &Shared, body: Rect) -> (usize, usize) {
        let (_, viewport) = regions(self.panel(shared).map_or(0, |panel| panel.height(body)), body);
        (usize::from(viewport.width), usize::from(viewport.height))
    }

    /// Returns the verb of the action that signs an approval: a draft is proposed.
    pub(super) const fn approval_verb(&self) -> &'static str {
        if self.review.draft.is_some() { "propose" } else { "approve" }
    }

    /// Draws the review, with the panel of a decision below it.
    pub(crate) fn draw(&self, shared: &Shared, canvas: &mut Canvas<'_>, body: Rect) {
        let panel = self.panel(shared);
        let height = panel.as_ref().map_or(0, |panel| panel.height(body));
        let (status, viewport) = regions(height, body);
        let review = &self.review;
        let (head, state) = self.status(shared.now, usize::from(status.width));
        canvas.split(status, 0, &head, &state, Theme::selected());
        let all: Vec<Line> =
            rows(review, &self.replay, usize::from(viewport.width), shared.now, canvas.theme)
                .into_iter()
                .map(|row| row.line)
                .collect();
        canvas.lines(viewport, &all, self.scroll.min(all.len().saturating_sub(usize::from(viewport.height))));
        let end = body.bottom().saturating_sub(height);
        let foot = Rect { y: viewport.bottom(), height: end.saturating_sub(viewport.bottom()), ..body };
        let columns = usize::from(foot.width);
        canvas.row(foot, 0, &self.copy_text(columns), Theme::plain());
        canvas.row(foot, 1, &self.hint(shared, columns), Theme::plain());
        if let Some(panel) = panel {
            panel.draw(canvas, Rect { y: end, height, ..body });
        }
    }
}

impl State {
    /// Returns the two ends of the status row. What the viewer's approval effects comes first: it is never cut.
    fn status(&self, now: u64, columns: usize) -> (String, String) {
        let review = &self.review;
        let risk = format!("{} RISK", review.risk.word());
        let forms = match (&self.closed, review.ended) {
            (Some(closed), _) => {
                vec![(format!(" {closed}"), format!("{risk} ")), (format!(" {closed}"), String::new())]
            }
            (None, Some(_)) => {
                let state = state_text(&review.activity, &review.organization);
                vec![
                    (format!(" {state}"), format!("{} ", expiry_text(review, now))),
                    (format!(" {state}"), String::new()),
                ]
            }
            (None, None) => {
                let (whole, effect) = tally_texts(review);
                let whole = format!(" {risk} | {whole}");
                vec![
                    (whole.clone(), format!("{} ", expiry_text(review, now))),
                    (whole, String::new()),
                    (format!(" {risk} | {effect}"), String::new()),
                    (format!(" {} | {effect}", review.risk.word()), String::new()),
                ]
            }
        };
        let fits = |(left, right): &(String, String)| {
            let gap = usize::from(!right.is_empty());
            width(left).saturating_add(width(right)).saturating_add(gap) <= columns
        };
        let last = forms.last().cloned().unwrap_or_default();
        forms.into_iter().find(fits).unwrap_or(last)
    }

    /// Returns which sections were on screen, and how old the copy is.
    fn copy_text(&self, columns: usize) -> String {
        let seen: Vec<String> = self.seen.iter().map(ToString::to_string).collect();
        let seen = format!("{} of {}", seen.join(" "), SECTIONS.len());
        let taken = clock(self.review.reviewed_at);
        let is_sent = self.review.draft.as_ref().is_some_and(|draft| draft.is_sent);
        let forms = match &self.changed {
            _ if is_sent => vec![" the bytes that were sent; the receipt names the activity".to_owned()],
            _ if self.has_ended() => vec![format!(" copy taken {taken}")],
            Some(changed) => {
                vec![format!(" [!] changed since: {changed} (r reloads) | sections seen: {seen}")]
            }
            None if self.review.draft.is_some() => {
                vec![
                    format!(" sections seen: {seen} | a draft: nothing was sent"),
                    format!(" seen {seen} | a draft"),
                ]
            }
            None => vec![
                format!(" sections seen: {seen} | frozen copy taken {taken}, no change since"),
                format!(" seen {seen} | copy of {taken}"),
            ],
        };
        fitting(forms, columns)
    }

    /// Returns what an approval needs, or why there can be none.
    fn hint(&self, shared: &Shared, columns: usize) -> String {
        if self.review.draft.as_ref().is_some_and(|draft| draft.is_sent) {
            return String::new();
        }
        let verb = self.approval_verb();
        if let Some(error) = self.approval_error() {
            return format!(" cannot {verb}: {error}");
        }
        let (challenge, unlocking) = (challenge_text(&self.review), unlocking(shared));
        let whole = format!(" to {verb}, type {challenge}{unlocking}");
        fitting(
            vec![
                format!("{whole}; you then have 3 s to cancel"),
                whole,
                format!(" {verb}: type {challenge}"),
            ],
            columns,
        )
    }
}

/// Returns the first text that fits, or the last one.
fn fitting(texts: Vec<String>, columns: usize) -> String {
    let last = texts.last().cloned().unwrap_or_default();
    texts.into_iter().find(|text| width(text) <= columns).unwrap_or(last)
}

fn unlocking(shared: &Shared) -> String {
    match (&shared.identity.key_name, shared.needs_passphrase()) {
        (Some(name), true) => format!(", unlock {}", clean(name)),
        _ => String::new(),
    }
}

fn challenge_text(review: &Review) -> String {
    match review.challenge() {
        Challenge::Yes => "y".to_owned(),
        Challenge::LastFour(_) => "the last four characters of the fingerprint".to_owned(),
        // Where to find the answer is part of the panel.
        Challenge::Value(danger) => danger.prompt.split(", ").next().unwrap_or_default().to_owned(),
    }
}

/// Returns the tally with the effect of the viewer's approval, as in `1 of 3 votes [s]; after yours 1 more needed`, and
/// the effect alone.
fn tally_texts(review: &Review) -> (String, String) {
    let tally = &review.tally;
    let has = tally.has();
    let base = format!("{has} of {} votes [s]", tally.needed);
    let both = |text: String| (text.clone(), text);
    match tally.rule {
        None if review.draft.is_some() => both("a draft".to_owned()),
        None => both(state_text(&review.activity, &review.organization)),
        Some(WaitingRule::Policy) => {
            let votes = count(has, "vote");
            (format!("{votes}; a policy decides how many are needed"), format!("{votes}; a policy decides"))
        }
        Some(WaitingRule::RootQuorum) if review.approval_error().is_some() => both(base),
        Some(WaitingRule::RootQuorum) => {
            let effect = match tally.short_by().saturating_sub(1) {
                0 => "yours EXECUTES it at once".to_owned(),
                missing => format!("after yours {missing} more needed"),
            };
            (format!("{base}; {effect}"), effect)
        }
    }
}

fn expiry_text(review: &Review, now: u64) -> String {
    match review.tally.expires_at {
        Some(at) if review.tally.rule.is_some() => {
            format!("votes expire in {}", duration(at.saturating_sub(now)))
        }
        _ if review.tally.rule.is_some()
            && review.votes.iter().all(|vote| vote.error.is_none() && vote.expired) =>
        {
            "all votes have expired; it stays open".to_owned()
        }
        _ if review.tally.rule.is_some() => "no valid votes; it stays open".to_owned(),
        _ if review.draft.as_ref().is_some_and(|draft| draft.is_sent) => "sent".to_owned(),
        _ if review.draft.is_some() => "nothing was sent".to_owned(),
        _ => format!("decided {}", clock(review.activity.updated_at.millis())),
    }
}
