//! Draws a review, with the panel of a decision below it.

use quorate_common::console::WaitingRule;
use ratatui::layout::Rect;

use super::panel::Panel;
use super::sections::{SECTIONS, rows};
use super::state::State;
use crate::canvas::{Canvas, Line, above};
use crate::kinds::count;
use crate::proof::{Challenge, Review, status_word};
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
        let tally_text =
            if self.closed.is_some() { String::new() } else { format!("| {}", tally_text(review)) };
        let head = match review.ended {
            Some(_) => format!(" {}", status_word(review.activity.status)),
            None => format!(" {} RISK {tally_text}", review.risk.word()),
        };
        let state = self.closed.clone().unwrap_or_else(|| expiry_text(review, shared.now));
        // What the approval does is never cut off. The expiry is also among the details.
        let is_fitting =
            width(&head).saturating_add(width(&state)).saturating_add(2) <= usize::from(status.width);
        let state = if is_fitting { format!("{state} ") } else { String::new() };
        canvas.split(status, 0, &head, &state, Theme::selected());
        let all: Vec<Line> =
            rows(review, &self.replay, usize::from(viewport.width), shared.now, canvas.theme)
                .into_iter()
                .map(|row| row.line)
                .collect();
        canvas.lines(viewport, &all, self.scroll.min(all.len().saturating_sub(usize::from(viewport.height))));
        let end = body.bottom().saturating_sub(height);
        let foot = Rect { y: viewport.bottom(), height: end.saturating_sub(viewport.bottom()), ..body };
        let seen: Vec<String> = self.seen.iter().map(ToString::to_string).collect();
        let copy = match &self.changed {
            None if review.draft.is_some() => "a draft: nothing was sent".to_owned(),
            Some(changed) => format!("[!] changed since: {changed} (r reloads)"),
            None => format!("frozen copy taken {}, no change since", clock(review.reviewed_at)),
        };
        canvas.row(
            foot,
            0,
            &format!(" sections seen: {} of {} | {copy}", seen.join(" "), SECTIONS.len()),
            Theme::plain(),
        );
        let hint = match self.approval_error() {
            Some(error) => format!(" cannot {}: {error}", self.approval_verb()),
            None => format!(
                " to {}, type {}{}; then 3 s to cancel",
                self.approval_verb(),
                challenge_text(review),
                unlocking(shared)
            ),
        };
        canvas.row(foot, 1, &hint, Theme::plain());
        if let Some(panel) = panel {
            panel.draw(canvas, Rect { y: end, height, ..body });
        }
    }
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

/// Returns the tally and the effect of the viewer's approval: `after yours 1 more needed; 1 of 3 votes
/// [s]`.
fn tally_text(review: &Review) -> String {
    let tally = &review.tally;
    let has = tally.has();
    let base = format!("{has} of {} votes [s]", tally.needed);
    match tally.rule {
        None if review.draft.is_some() => "a draft".to_owned(),
        None => status_word(review.activity.status).to_owned(),
        Some(WaitingRule::Policy) => format!("{}; a policy decides how many are needed", count(has, "vote")),
        Some(WaitingRule::RootQuorum) if review.approval_error().is_some() => base,
        Some(WaitingRule::RootQuorum) => match tally.short_by().saturating_sub(1) {
            0 => format!("yours EXECUTES it at once; {base}"),
            missing => format!("after yours {missing} more needed; {base}"),
        },
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
        _ if review.draft.is_some() => "nothing was sent".to_owned(),
        _ => format!("decided {}", clock(review.activity.updated_at.millis())),
    }
}
