//! Draws the panel of a decision: the challenge, the message to sign, and the current step.

use quorate_common::ids::ActivityId;
use ratatui::layout::Rect;

use crate::ballot::Choice;
use crate::canvas::{Canvas, Line};
use crate::kinds::Level;
use crate::proof::Challenge;
use crate::screens::decide::{Decide, Focus, Step};
use crate::screens::receipt::Next;
use crate::screens::shared::Shared;
use crate::text::{clean, grouped, wrap};
use crate::theme::Theme;

/// What the panel shows beside the decision.
pub(super) struct Panel<'a> {
    pub(super) decide: &'a Decide,
    /// The reviewed activity.
    pub(super) activity: ActivityId,
    /// The activity in sentences.
    pub(super) sentence: &'a str,
    pub(super) shared: &'a Shared,
}

impl Panel<'_> {
    /// Returns the height of the panel within a body.
    pub(super) fn height(&self, body: Rect) -> u16 {
        let rows = self.text(usize::from(body.width.saturating_sub(4))).len();
        let wanted = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(2);
        if body.height < 14 { body.height } else { wanted.min(body.height.saturating_sub(6)) }
    }

    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let decide = self.decide;
        let (number, steps) = match decide.step {
            Step::DiscardingKeys { .. } | Step::Challenge { .. } => {
                (2, "1 review  [2 challenge]  3 key  4 send")
            }
            Step::Key { .. } | Step::Signing => (3, "1 review  2 challenge  [3 key]  4 send"),
            _ => (4, "1 review  2 challenge  3 key  [4 send]"),
        };
        let choice = decide.choice.word().to_uppercase();
        let (title, steps) = match decide.step {
            Step::Receipt(_) => (format!("{choice}: receipt"), ""),
            _ => (format!("{choice}, step {number} of 4"), steps),
        };
        canvas.clear(area);
        let inner = canvas.framed(area, &title, steps);
        let lines: Vec<Line> = self
            .text(usize::from(inner.width))
            .into_iter()
            .map(|text| {
                let style = if text.contains("[x]") || text.contains("[!]") {
                    canvas.theme.of_mark(&text)
                } else {
                    Theme::plain()
                };
                Line::styled(text, style)
            })
            .collect();
        canvas.lines(inner, &lines, decide.scroll);
    }

    /// Returns the first row to show after scrolling by one page.
    pub(super) fn scrolled(&self, body: Rect, down: bool) -> usize {
        let rows = self.text(usize::from(body.width.saturating_sub(4))).len();
        let page = usize::from(self.height(body).saturating_sub(2));
        // The last row shows how many are below; one row of the previous page stays visible.
        let step = page.saturating_sub(2).max(1);
        let first = self.decide.scroll;
        let at = if down { first.saturating_add(step) } else { first.saturating_sub(step) };
        at.min(rows.saturating_sub(page))
    }

    fn text(&self, columns: usize) -> Vec<String> {
        let Self { decide, sentence, shared, .. } = self;
        let mut out = Vec::new();
        let mut push = |text: &str| out.extend(wrap(text, columns));
        match &decide.step {
            Step::DiscardingKeys { .. } => {
                push(&prompt(decide));
                push("   [ the field opens after one second without a key ]");
            }
            Step::Challenge { typed, focus, wrong } => {
                for line in fields(decide, typed, *focus, *wrong) {
                    push(&line);
                }
            }
            Step::Key { passphrase, error } => {
                let name = shared.identity.key_name.as_deref().map_or_else(String::new, clean);
                let secret = shared.identity.secret.word();
                let hidden = "*".repeat(passphrase.chars().count().min(8));
                push(&format!("{secret} for key {name}: {hidden}"));
                push(&format!("sha256  {}", grouped(&decide.ballot.fingerprint.hex())));
                push("Type or paste it; Ctrl-U clears it.");
                if let Some(error) = error {
                    push(&format!("[!] {error}"));
                }
            }
            Step::Signing => {
                push(if shared.identity.secret.needs_touch() {
                    "Touch the security key when it blinks. Esc cancels; nothing has been sent yet."
                } else {
                    "Waiting for the signature of the key. An SSH agent may ask you to confirm it."
                });
            }
            Step::Hold { until, .. } => {
                let left = until.saturating_sub(shared.now).div_ceil(1000);
                push(&format!(
                    "Signed. It will be sent in {left} s. Esc cancels; nothing has been sent yet."
                ));
            }
            Step::Reread { .. } => push("Checking the record once more before sending."),
            Step::Sending { .. } => {
                push("Sending. If no answer arrives, the same bytes are sent again and count once.");
            }
            Step::Receipt(receipt) => {
                let next = Next::after(self.activity, shared);
                receipt.lines(&next).iter().for_each(|line| push(line));
                return out;
            }
        }
        push(sentence);
        if let Some(warning) = &shared.identity.key_warning {
            push(&format!("[!] {}", clean(warning)));
        }
        push(
            "You will sign exactly this message. This console built it and computed the fingerprint itself:",
        );
        push(&decide.ballot.message);
        let discarded = match &decide.step {
            Step::Key { .. } => "Keys pressed before the field opened are discarded.",
            _ => "Pasted text is discarded, as are keys pressed before the field opened.",
        };
        push(&format!("{discarded} After signing you have 3 s to cancel with Esc."));
        out
    }
}

fn prompt(decide: &Decide) -> String {
    match (&decide.challenge, decide.choice) {
        (_, Choice::Reject) => {
            "Reject this activity? A single rejection is final. Type y, then move to the button with Tab:"
                .to_owned()
        }
        (Challenge::Yes, _) => {
            format!("{} risk. Type y, then press Enter:", Level::Low.word())
        }
        (Challenge::LastFour(_), _) => {
            "Type the LAST FOUR characters of the fingerprint, then press Enter:".to_owned()
        }
        (Challenge::Value(danger), _) => format!("Type {}, then press Enter:", danger.prompt),
    }
}

fn enter_hint(decide: &Decide) -> &'static str {
    match decide.choice {
        Choice::Reject => "Tab moves; Enter works on a button only",
        Choice::Approve | Choice::Propose => "Enter works once the answer is typed",
    }
}

/// Returns the answer field, the note field and the buttons.
fn fields(decide: &Decide, typed: &str, focus: Focus, wrong: bool) -> Vec<String> {
    let cursor = |at: Focus| if focus == at { "_" } else { " " };
    let error = if wrong { "   [!] wrong answer" } else { "" };
    let mut out = vec![prompt(decide), format!("   [ {}{} ]{error}", clean(typed), cursor(Focus::Field))];
    if decide.choice == Choice::Reject {
        let note = clean(decide.note.value());
        out.push(format!("   note for the journal: [ {note}{} ]", cursor(Focus::Note)));
    }
    let button =
        |at: Focus, word: &str| if focus == at { format!("> [{word}]") } else { format!("  [{word}]") };
    let (send, cancel) = (button(Focus::Send, "Continue"), button(Focus::Cancel, "Cancel (Esc)"));
    out.push(format!("  {send}   {cancel}   {}", enter_hint(decide)));
    out
}
