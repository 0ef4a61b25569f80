//! What lies over a screen: key list, palette, signed bytes, proof in full, comparison of fingerprints.

use ratatui::layout::Rect;
use tui_input::Input;

use super::{edit, insert, moved};
use crate::app::{Model, body};
use crate::canvas::{Canvas, Line};
use crate::keymap::{Action, Command, Key, Place, action, commands};
use crate::proof::Review;
use crate::text::{clean, date_time, grouped, wrap};
use crate::theme::Theme;

mod copying;

pub(crate) use copying::{Piece, copy};

/// A layer over the screen.
pub(crate) enum Overlay {
    /// Text to read.
    Text {
        /// Title of the frame.
        title: String,
        /// Paragraphs, cleaned.
        paragraphs: Vec<String>,
        /// First row shown.
        scroll: usize,
    },
    /// The keys that work here.
    Keys {
        /// Where.
        place: Place,
        /// Words to search.
        search: Input,
        /// First row shown.
        scroll: usize,
    },
    /// Commands by name.
    Palette {
        /// Where.
        place: Place,
        /// Words to search.
        search: Input,
        /// Which one is marked.
        selected: usize,
    },
    /// What can be copied, each by its key.
    Copy(Vec<Piece>),
    /// Comparison of the fingerprint.
    Compare {
        /// The console's own, 64 hex digits.
        own: String,
        /// What was typed or pasted.
        input: Input,
    },
}

impl Overlay {
    /// The keys that work in a place.
    pub(crate) fn keys(place: Place) -> Self {
        Self::Keys { place, search: Input::default(), scroll: 0 }
    }

    /// The commands of a place.
    pub(crate) fn palette(place: Place) -> Self {
        Self::Palette { place, search: Input::default(), selected: 0 }
    }

    /// The signed bytes of a proposal, and the daemon's own rendering beside them.
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
            None => paragraphs.push("[x] No vote carries bytes that hash to the fingerprint.".to_owned()),
        }
        paragraphs.push(String::new());
        paragraphs.push("The daemon's intent [s]:".to_owned());
        paragraphs.push(clean(&review.activity.intent.to_string()));
        paragraphs.push("Result [s]:".to_owned());
        paragraphs.push(clean(&review.activity.result.to_string()));
        Self::Text { title: "Raw bytes that the proposer signed".to_owned(), paragraphs, scroll: 0 }
    }

    /// Every check and every vote.
    pub(crate) fn proof(review: &Review) -> Self {
        let mut paragraphs: Vec<String> = review
            .checks
            .iter()
            .map(|check| format!("{} {:<3} {}", check.mark.sign(), check.id, check.text))
            .collect();
        for (vote, proof) in review.activity.votes.iter().zip(&review.votes) {
            paragraphs.push(String::new());
            let state = proof
                .flaw
                .clone()
                .unwrap_or_else(|| if proof.lapsed { "expired".to_owned() } else { "verified".to_owned() });
            paragraphs.push(format!("user {} {} [s]", proof.user, proof.name));
            paragraphs.push(format!(
                "    {} {:?}{}, {}: {state}",
                if proof.flaw.is_none() { "[v]" } else { "[!]" },
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

    /// Compares the fingerprint with one from elsewhere.
    pub(crate) fn compare(review: &Review) -> Self {
        let own = review.proposal.as_ref().map(|proposal| proposal.fingerprint.hex()).unwrap_or_default();
        Self::Compare { own, input: Input::default() }
    }
}

/// Takes a key for the topmost layer. Returns a command that was chosen.
pub(crate) fn press(model: &mut Model, key: Key) -> Option<Action> {
    let area = body(model);
    let columns = usize::from(area.width.saturating_sub(4));
    let height = usize::from(area.height.saturating_sub(2));
    // The last row counts what is below.
    let page = height.saturating_sub(1).max(1);
    if key == Key::Esc {
        model.overlays.pop();
        return None;
    }
    match model.overlays.last_mut()? {
        Overlay::Text { scroll, paragraphs, .. } => match (key, action(Place::Review, key)) {
            (Key::Char('q' | 'd' | 'v') | Key::Enter, _) => {
                model.overlays.pop();
            }
            (_, Some(wanted)) => {
                let rows = wrapped(paragraphs, columns).len();
                *scroll = moved(*scroll, rows, page, wanted).min(rows.saturating_sub(height));
            }
            _ => {}
        },
        Overlay::Keys { place, search, scroll } => {
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
            let rows = key_lines(*place, search.value(), columns).len();
            *scroll = moved(*scroll, rows, page, wanted).min(rows.saturating_sub(height));
        }
        Overlay::Palette { place, search, selected } => {
            let found = matching(*place, search.value());
            match key {
                Key::Up => *selected = selected.saturating_sub(1),
                Key::Down => *selected = selected.saturating_add(1).min(found.len().saturating_sub(1)),
                Key::Enter => {
                    let chosen = found.get(*selected).map(|command| command.action);
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

/// Takes pasted text where a layer has use for it.
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

/// Draws the topmost layer over the body.
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
        Overlay::Keys { place, search, scroll } => {
            let inner = canvas.framed(
                area,
                &format!("Keys here: {}_", clean(search.value())),
                "type to search, Esc closes",
            );
            canvas.lines(inner, &key_lines(*place, search.value(), columns), *scroll);
        }
        Overlay::Palette { place, search, selected } => palette(*place, search, *selected, canvas, area),
        Overlay::Copy(pieces) => copying::draw(pieces, canvas, area),
        Overlay::Compare { own, input } => {
            let inner = canvas.framed(area, "Compare the fingerprint", "type or paste, Esc closes");
            let mut lines: Vec<Line> = wrap(&format!("this console's own: {}", grouped(own)), columns)
                .into_iter()
                .map(Line::plain)
                .collect();
            lines.extend(
                wrap(&format!("the other one: {}_", clean(input.value())), columns)
                    .into_iter()
                    .map(Line::plain),
            );
            let told = verdict(own, input.value());
            lines.push(Line::styled(told, canvas.theme.of_mark(told)));
            canvas.lines(inner, &lines, 0);
        }
    }
}

fn wrapped(paragraphs: &[String], columns: usize) -> Vec<String> {
    paragraphs.iter().flat_map(|paragraph| wrap(paragraph, columns)).collect()
}

fn key_lines(place: Place, words: &str, columns: usize) -> Vec<Line> {
    matching(place, words)
        .iter()
        .flat_map(|command| wrap(&format!("{:<8} {}{}", command.shown, command.help, cli(command)), columns))
        .chain(wrap("Ctrl-C   quit at once; a vote being held is dropped", columns))
        .map(Line::plain)
        .collect()
}

fn palette(place: Place, search: &Input, selected: usize, canvas: &mut Canvas<'_>, area: Rect) {
    let inner = canvas.framed(area, &format!(": {}_", clean(search.value())), "Enter runs, Esc closes");
    let found = matching(place, search.value());
    let line = |(index, command): (usize, &&Command)| {
        let at = index == selected;
        let text =
            format!("{} {:<8} {}{}", if at { ">" } else { " " }, command.shown, command.help, cli(command));
        Line::styled(text, if at { Theme::selected() } else { Theme::plain() })
    };
    let lines: Vec<Line> = found.iter().enumerate().map(line).collect();
    let height = usize::from(inner.height);
    let from = if lines.len() > height { super::super::canvas::scrolled(selected, height) } else { 0 };
    canvas.lines(inner, &lines, from);
}

/// Equal or different; there is nothing in between.
fn verdict(own: &str, given: &str) -> &'static str {
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

/// The commands of a place with these words, those first that are meant by their key or their name.
fn matching(place: Place, words: &str) -> Vec<&'static Command> {
    let words = words.to_lowercase();
    let words = words.trim();
    let rank = |command: &'static Command| {
        // The name of the program stands before each command line, and tells nothing apart.
        let cli = command.cli.trim_start_matches("quorate ");
        let (key, label) = (command.shown.to_lowercase(), command.label.trim_end_matches('.'));
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
    let mut found: Vec<(u8, &'static Command)> = commands(place).filter_map(rank).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, command)| command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_by_machine() {
        let own = "50f7170439bc7c86634c4dff6e123b156118132baaf02da39f33e20bcef53932";
        assert_eq!(verdict(own, ""), "nothing to compare yet");
        assert!(verdict(own, &format!("sha256:{own}")).contains("EQUAL"));
        assert!(verdict(own, &grouped(&own.to_uppercase())).contains("EQUAL"));
        assert!(verdict(own, &own.replace("3932", "3933")).contains("DIFFERENT"));
        assert!(verdict(own, "50f7").contains("64 digits"));
    }
}
