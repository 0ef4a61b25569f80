//! The panel of a decision: what is asked, what will be signed, and where it stands. Draws only.

use ratatui::layout::Rect;

use super::{Decide, Focus, Step};
use crate::app::{Model, body};
use crate::ballot::Choice;
use crate::canvas::{Canvas, Line};
use crate::kinds::Level;
use crate::proof::Challenge;
use crate::text::{clean, wrap};
use crate::theme::Theme;

/// Rows that the panel takes of a body.
pub(crate) fn height(model: &Model, body: Rect) -> u16 {
    if model.decide.is_none() {
        return 0;
    }
    let wanted = u16::try_from(text(model, usize::from(body.width.saturating_sub(4))).len())
        .unwrap_or(u16::MAX)
        .saturating_add(2);
    if body.height < 14 { body.height } else { wanted.min(body.height.saturating_sub(6)) }
}

/// Draws the panel.
pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(decide) = &model.decide else { return };
    let (number, steps) = match decide.step {
        Step::Quiet { .. } | Step::Challenge { .. } => (2, "1 review  [2 challenge]  3 key  4 send"),
        Step::Key { .. } | Step::Signing => (3, "1 review  2 challenge  [3 key]  4 send"),
        _ => (4, "1 review  2 challenge  3 key  [4 send]"),
    };
    let title = format!("{}, step {number} of 4", decide.choice.word().to_uppercase());
    canvas.clear(area);
    let inner = canvas.framed(area, &title, steps);
    let lines: Vec<Line> = text(model, usize::from(inner.width))
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

/// Scrolls the panel by what is visible.
pub(super) fn scroll(model: &mut Model, down: bool) {
    let body = body(model);
    let rows = text(model, usize::from(body.width.saturating_sub(4))).len();
    let page = usize::from(height(model, body).saturating_sub(2));
    let Some(decide) = &mut model.decide else { return };
    // The last row counts what is below; one row of the page before stays.
    let step = page.saturating_sub(2).max(1);
    let at = if down { decide.scroll.saturating_add(step) } else { decide.scroll.saturating_sub(step) };
    decide.scroll = at.min(rows.saturating_sub(page));
}

fn text(model: &Model, columns: usize) -> Vec<String> {
    let Some(decide) = &model.decide else { return Vec::new() };
    let mut out = Vec::new();
    let mut say = |text: &str| out.extend(wrap(text, columns));
    match &decide.step {
        Step::Quiet { .. } => {
            say(&prompt(decide));
            say("   [ the field opens after one second without a key ]");
        }
        Step::Challenge { typed, focus, wrong } => {
            for line in fields(decide, typed, *focus, *wrong) {
                say(&line);
            }
        }
        Step::Key { passphrase, flaw } => {
            let name = model.identity.key_name.as_deref().map_or_else(String::new, clean);
            say(&format!(
                "Passphrase of the key {name}, for fingerprint {}: {}",
                ends(decide),
                "*".repeat(passphrase.chars().count().min(8))
            ));
            if let Some(flaw) = flaw {
                say(&format!("[!] {flaw}"));
            }
        }
        Step::Signing => say("Unlocking the key."),
        Step::Hold { until, .. } => {
            let left = until.saturating_sub(model.now).div_ceil(1000);
            say(&format!("Signed. It leaves in {left} s. Esc calls it back; nothing has left yet."));
        }
        Step::Reread { .. } => say("Reading the record once more before sending."),
        Step::Sending { .. } => say("Sending. A lost answer leads to the same bytes being sent again."),
        Step::Over { lines, good } => {
            for line in lines {
                say(line);
            }
            say(if *good { "Enter or Esc closes." } else { "Esc closes." });
            return out;
        }
    }
    if let Some(open) = &model.review {
        say(&open.review.sentence);
    }
    say(
        "You will sign exactly this message, built here (the fingerprint is this console's own, not the daemon's):",
    );
    say(&decide.ballot.message);
    say(
        "Pasted text is discarded, and so were keys pressed before the field opened. After signing it waits 3 s (Esc calls it back).",
    );
    out
}

fn prompt(decide: &Decide) -> String {
    match (&decide.challenge, decide.choice) {
        (_, Choice::Reject) => {
            "Reject this? One rejection is final. Type y, then go to the button with Tab:".to_owned()
        }
        (Challenge::Yes, _) => format!("{} risk. Type y, then go to the button with Tab:", Level::Low.word()),
        (Challenge::LastFour(_), _) => {
            "Type the LAST FOUR characters of the fingerprint, then Enter:".to_owned()
        }
        (Challenge::Value(danger), _) => format!("Type {}, then Enter:", danger.prompt),
    }
}

fn enter(decide: &Decide) -> &'static str {
    match decide.challenge {
        Challenge::Yes => "Tab moves; Enter works on a button only",
        _ => "Enter works once the answer stands there",
    }
}

fn ends(decide: &Decide) -> String {
    let hex = decide.ballot.fingerprint.hex();
    format!("{}..{}", hex.get(..4).unwrap_or_default(), hex.get(60..).unwrap_or_default())
}

/// The field, the remark and the buttons.
fn fields(decide: &Decide, typed: &str, focus: Focus, wrong: bool) -> Vec<String> {
    let cursor = |at: Focus| if focus == at { "_" } else { " " };
    let told = if wrong { "   [!] that is not it" } else { "" };
    let mut out = vec![prompt(decide), format!("   [ {}{} ]{told}", clean(typed), cursor(Focus::Field))];
    if decide.choice == Choice::Reject {
        let note = clean(decide.note.value());
        out.push(format!("   remark for the journal: [ {note}{} ]", cursor(Focus::Note)));
    }
    let button =
        |at: Focus, word: &str| if focus == at { format!("> [{word}]") } else { format!("  [{word}]") };
    let (send, cancel) = (button(Focus::Send, "Go on"), button(Focus::Cancel, "Esc cancels"));
    out.push(format!("  {send}   {cancel}   {}", enter(decide)));
    out
}
