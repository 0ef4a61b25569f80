//! Overlays over a screen: key list, palette, signed bytes, full proof, comparison of fingerprints.

use ratatui::layout::Rect;
use tui_input::Input;

use super::{edit, insert, moved};
use crate::app::{Model, body};
use crate::canvas::{Canvas, Line};
use crate::keymap::{Action, Command, Key, View, action, commands};
use crate::proof::Review;
use crate::text::{clean, date_time, grouped, wrap};
use crate::theme::Theme;

mod copying;

pub(crate) use copying::{Piece, copy};

pub(crate) enum Overlay {
    /// A text.
    Text {
        title: String,
        /// Paragraphs, already cleaned.
        paragraphs: Vec<String>,
        /// First row that is shown.
        scroll: usize,
    },
    /// The key list.
    Keys {
        view: View,
        /// Search words.
        search: Input,
        /// First row that is shown.
        scroll: usize,
    },
    /// The command palette.
    Palette {
        view: View,
        /// Search words.
        search: Input,
        /// Index of the selected command.
        selected: usize,
    },
    /// The texts that can be copied, each by its key.
    Copy(Vec<Piece>),
    /// Comparison of the fingerprint.
    Compare {
        /// The fingerprint that this console computed, 64 hex digits.
        own: String,
        /// The fingerprint that was typed or pasted.
        input: Input,
    },
}

impl Overlay {
    /// Creates the key list of a view.
    pub(crate) fn keys(view: View) -> Self {
        Self::Keys { view, search: Input::default(), scroll: 0 }
    }

    /// Creates the command palette of a view.
    pub(crate) fn palette(view: View) -> Self {
        Self::Palette { view, search: Input::default(), selected: 0 }
    }

    /// Shows the signed bytes of a proposal and the daemon's own representation.
    pub(crate) fn raw(review: &Review) -> Self {
        let mut paragraphs = Vec::new();
        match &review.proposal {
            Some(proposal) => {
                paragraphs.push(format!(
                    "{} bytes, sha256 {}",
                    proposal.message.len(),
                    grouped(&proposal.fingerprint.hex())
                ));
                paragraphs.push(clean(&proposal.message));
            }
            None => paragraphs
                .push("[x] The record contains no signed bytes that match the fingerprint.".to_owned()),
        }
        paragraphs.push(String::new());
        paragraphs.push("Intent stated by the daemon [s]:".to_owned());
        paragraphs.push(clean(&review.activity.intent.to_string()));
        paragraphs.push("Result [s]:".to_owned());
        paragraphs.push(clean(&review.activity.result.to_string()));
        Self::Text { title: "Raw bytes that the proposer signed".to_owned(), paragraphs, scroll: 0 }
    }

    /// Shows all checks and votes.
    pub(crate) fn proof(review: &Review) -> Self {
        let mut paragraphs: Vec<String> = review
            .checks
            .iter()
            .map(|check| format!("{} {:<3} {}", check.mark.sign(), check.id, check.text))
            .collect();
        for (vote, proof) in review.activity.votes.iter().zip(&review.votes) {
            paragraphs.push(String::new());
            let state = proof
                .error
                .clone()
                .unwrap_or_else(|| if proof.expired { "expired".to_owned() } else { "verified".to_owned() });
            paragraphs.push(format!("user {} {} [s]", proof.user, proof.name));
            paragraphs.push(format!(
                "    {} {:?}{}, {}: {state}",
                if proof.error.is_none() { "[v]" } else { "[!]" },
                vote.selection,
                if proof.proposes { ", the proposal itself" } else { "" },
                date_time(proof.cast)
            ));
            paragraphs.push(format!("    key        {}", proof.public_key));
            paragraphs.push(format!("    scheme     {}", clean(&vote.scheme)));
            paragraphs.push(format!("    signature  {}", clean(&vote.signature)));
            paragraphs.push(format!("    message    {}", clean(&vote.message)));
        }
        Self::Text { title: "Proof".to_owned(), paragraphs, scroll: 0 }
    }

    /// Compares the fingerprint with one from another source.
    pub(crate) fn compare(review: &Review) -> Self {
        let own = review.proposal.as_ref().map(|proposal| proposal.fingerprint.hex()).unwrap_or_default();
        Self::Compare { own, input: Input::default() }
    }
}

/// Handles a key for the topmost overlay. Returns the command that was chosen.
pub(crate) fn press(model: &mut Model, key: Key) -> Option<Action> {
    let area = body(model);
    let columns = usize::from(area.width.saturating_sub(4));
    let height = usize::from(area.height.saturating_sub(2));
    // The last row shows how many are below.
    let page = height.saturating_sub(1).max(1);
    if key == Key::Esc {
        model.overlays.pop();
        return None;
    }
    match model.overlays.last_mut()? {
        Overlay::Text { scroll, paragraphs, .. } => match (key, action(View::Review, key)) {
            (Key::Char('q' | 'd' | 'v') | Key::Enter, _) => {
                model.overlays.pop();
            }
            (_, Some(wanted)) => {
                let rows = wrapped(paragraphs, columns).len();
                *scroll = moved(*scroll, rows, page, wanted).min(rows.saturating_sub(height));
            }
            _ => {}
        },
        Overlay::Keys { view, search, scroll } => {
            let wanted = match key {
                Key::Up => Action::Up,
                Key::Down => Action::Down,
                Key::PageUp => Action::PageUp,
                Key::PageDown => Action::PageDown,
                key => {
                    *scroll = 0;
                    edit(search, key);
                    return None;
                }
            };
            let rows = key_lines(*view, search.value(), columns).len();
            *scroll = moved(*scroll, rows, page, wanted).min(rows.saturating_sub(height));
        }
        Overlay::Palette { view, search, selected } => {
            let matches = matching(*view, search.value());
            match key {
                Key::Up => *selected = selected.saturating_sub(1),
                Key::Down => *selected = selected.saturating_add(1).min(matches.len().saturating_sub(1)),
                Key::Enter => {
                    let chosen = matches.get(*selected).map(|command| command.action);
                    model.overlays.pop();
                    return chosen;
                }
                key => {
                    *selected = 0;
                    edit(search, key);
                }
            }
        }
        Overlay::Compare { input, .. } => edit(input, key),
        Overlay::Copy(_) => {}
    }
    None
}

/// Inserts pasted text if the overlay has a field. Returns whether an overlay is open.
pub(crate) fn paste(model: &mut Model, text: &str) -> bool {
    match model.overlays.last_mut() {
        Some(Overlay::Compare { input, .. }) => {
            insert(input, text);
            true
        }
        Some(_) => {
            "pasted text was discarded".clone_into(&mut model.notice);
            true
        }
        None => false,
    }
}

/// Draws the topmost overlay over the body.
pub(crate) fn draw(model: &Model, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(overlay) = model.overlays.last() else { return };
    canvas.clear(area);
    let columns = usize::from(area.width.saturating_sub(4));
    match overlay {
        Overlay::Text { title, paragraphs, scroll } => {
            let inner = canvas.framed(area, title, "Esc closes");
            let lines: Vec<Line> = wrapped(paragraphs, columns)
                .into_iter()
                .map(|text| Line::styled(text.clone(), canvas.theme.of_mark(&text)))
                .collect();
            canvas.lines(inner, &lines, *scroll);
        }
        Overlay::Keys { view, search, scroll } => {
            let inner = canvas.framed(
                area,
                &format!("Keys here: {}_", clean(search.value())),
                "type to search, Esc closes",
            );
            canvas.lines(inner, &key_lines(*view, search.value(), columns), *scroll);
        }
        Overlay::Palette { view, search, selected } => palette(*view, search, *selected, canvas, area),
        Overlay::Copy(pieces) => copying::draw(pieces, canvas, area),
        Overlay::Compare { own, input } => {
            let inner = canvas.framed(area, "Compare the fingerprint", "type or paste, Esc closes");
            let mut lines: Vec<Line> = wrap(&format!("computed by this console: {}", grouped(own)), columns)
                .into_iter()
                .map(Line::plain)
                .collect();
            lines.extend(
                wrap(&format!("to compare: {}_", clean(input.value())), columns).into_iter().map(Line::plain),
            );
            let result = comparison(own, input.value());
            lines.push(Line::styled(result, canvas.theme.of_mark(result)));
            canvas.lines(inner, &lines, 0);
        }
    }
}

fn wrapped(paragraphs: &[String], columns: usize) -> Vec<String> {
    paragraphs.iter().flat_map(|paragraph| wrap(paragraph, columns)).collect()
}

fn key_lines(view: View, words: &str, columns: usize) -> Vec<Line> {
    matching(view, words)
        .iter()
        .flat_map(|command| wrap(&format!("{:<8} {}{}", command.shown, command.help, cli(command)), columns))
        .chain(wrap("Ctrl-C   Quit at once; a signed vote that was not sent yet is discarded", columns))
        .map(Line::plain)
        .collect()
}

fn palette(view: View, search: &Input, selected: usize, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.framed(area, &format!(": {}_", clean(search.value())), "Enter runs, Esc closes");
    let matches = matching(view, search.value());
    let line = |(index, command): (usize, &&Command)| {
        let at = index == selected;
        let text =
            format!("{} {:<8} {}{}", if at { ">" } else { " " }, command.shown, command.help, cli(command));
        Line::styled(text, if at { Theme::selected() } else { Theme::plain() })
    };
    let lines: Vec<Line> = matches.iter().enumerate().map(line).collect();
    let height = usize::from(inner.height);
    let from = if lines.len() > height { super::super::canvas::scrolled(selected, height) } else { 0 };
    canvas.lines(inner, &lines, from);
}

/// Compares two fingerprints. They are equal only if all digits match.
fn comparison(own: &str, given: &str) -> &'static str {
    let given: String =
        given.trim().trim_start_matches("sha256:").chars().filter(|letter| !letter.is_whitespace()).collect();
    if given.is_empty() || own.is_empty() {
        "nothing to compare yet"
    } else if given.eq_ignore_ascii_case(own) {
        "[v] EQUAL: all 64 digits"
    } else if given.len() == 64 {
        "[x] DIFFERENT"
    } else {
        "[x] DIFFERENT: a fingerprint has 64 digits"
    }
}

fn cli(command: &Command) -> String {
    if command.cli.is_empty() { String::new() } else { format!("   ({})", command.cli) }
}

/// Returns the commands of a view that match the words. Matches of key or name come first.
fn matching(view: View, words: &str) -> Vec<&'static Command> {
    let words = words.to_lowercase();
    let words = words.trim();
    let rank = |command: &'static Command| {
        // Every command line starts with the program name, so it is not searched.
        let cli = command.cli.trim_start_matches("quorate ");
        let (key, label) = (command.shown.to_lowercase(), command.label.to_lowercase());
        let label = label.trim_end_matches('.');
        let text = format!("{key} {label} {} {cli}", command.help).to_lowercase();
        let rank = if words.is_empty() || key == words || label == words {
            0
        } else if label.starts_with(words) {
            1
        } else if words.split_whitespace().all(|word| text.contains(word)) {
            2
        } else {
            return None;
        };
        Some((rank, command))
    };
    let mut matches: Vec<(u8, &'static Command)> = commands(view).filter_map(rank).collect();
    matches.sort_by_key(|(rank, _)| *rank);
    matches.into_iter().map(|(_, command)| command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_fingerprints() {
        let own = "50f7170439bc7c86634c4dff6e123b156118132baaf02da39f33e20bcef53932";
        assert_eq!(comparison(own, ""), "nothing to compare yet");
        assert!(comparison(own, &format!("sha256:{own}")).contains("EQUAL"));
        assert!(comparison(own, &grouped(&own.to_uppercase())).contains("EQUAL"));
        assert!(comparison(own, &own.replace("3932", "3933")).contains("DIFFERENT"));
        assert!(comparison(own, "50f7").contains("64 digits"));
    }
}
