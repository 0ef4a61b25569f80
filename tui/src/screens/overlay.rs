//! Overlays over a screen: key list, palette, signed bytes, full proof, comparison of fingerprints.

use quorate_common::ids::{ActivityId, OrganizationId};
use ratatui::layout::Rect;
use tui_input::Input;

use super::filter::{edit, insert};
use crate::canvas::{Canvas, Line};
use crate::keymap::{Action, Command, EVERYWHERE, Key, action, scroll};
use crate::kinds::{masked_intent, masked_request};
use crate::link::Order;
use crate::proof::{PinnedBy, Review, json, policy_lines};
use crate::text::{clean, date_time, grouped, indented, pad, width, wrap};

mod choosing;
mod comparing;
mod confirming;
mod copying;
mod palette;

pub(crate) use choosing::{Choice, sort_name};
pub(crate) use confirming::Confirmation;
pub(crate) use copying::Piece;
pub(crate) use palette::{Entry, Palette, Place, Target, remember, things};

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
        commands: Vec<Command>,
        /// Search words.
        search: Input,
        /// First row that is shown.
        scroll: usize,
    },
    /// The palette of commands and things.
    Palette(Box<Palette>),
    /// The list of organizations.
    Organizations(Choice),
    /// The texts that can be copied, each by its key.
    Copy(Vec<Piece>),
    /// The question before an action with an effect.
    Confirm(Box<Confirmation>),
    /// Comparison of the fingerprint, or with a file.
    Compare {
        /// The fingerprint that this console computed, 64 hex digits.
        own: String,
        /// The fingerprint or the path that was typed or pasted.
        input: Input,
    },
}

impl Overlay {
    /// Creates an overlay with a text from cleaned paragraphs.
    pub(crate) fn text(title: &str, paragraphs: Vec<String>) -> Self {
        Self::Text { title: title.to_owned(), paragraphs, scroll: 0 }
    }

    /// Creates the list of these commands.
    pub(crate) fn keys(commands: Vec<Command>) -> Self {
        Self::Keys { commands, search: Input::default(), scroll: 0 }
    }

    /// Shows the bytes of a proposal and, unless it is a draft, what the daemon states about it.
    /// Sensitive members are masked unless `reveals`.
    pub(crate) fn raw(review: &Review, reveals: bool) -> Self {
        let shown = |message: &str| shown(message, reveals);
        let intent = &review.activity.intent;
        let masked = masked_intent(&review.activity.activity_type, intent.clone());
        let intent = if reveals { intent } else { &masked };
        let mut paragraphs = Vec::new();
        match &review.proposal {
            Some(proposal) => {
                let (length, digest) = (proposal.message.len(), grouped(&proposal.fingerprint.hex()));
                paragraphs.push(format!("{length} bytes, sha256 {digest}"));
                paragraphs.extend(shown(&proposal.message));
            }
            None => paragraphs
                .push("[x] The record contains no signed bytes that match the fingerprint.".to_owned()),
        }
        if review.draft.is_some() {
            return Self::text("Raw bytes that you would sign", paragraphs);
        }
        paragraphs.push(String::new());
        paragraphs.push("Intent stated by the daemon [s]:".to_owned());
        paragraphs.push(clean(&intent.to_string()));
        paragraphs.push("Result [s]:".to_owned());
        paragraphs.push(clean(&review.activity.result.to_string()));
        Self::text("Raw bytes that the proposer signed", paragraphs)
    }

    /// Shows all checks and votes. Sensitive members are masked unless `reveals`.
    pub(crate) fn proof(review: &Review, reveals: bool) -> Self {
        let mut paragraphs: Vec<String> = review
            .checks
            .iter()
            .map(|check| format!("{} {:<3} {}", check.mark.sign(), check.id, check.text))
            .collect();
        paragraphs.extend(policy_lines(review).into_iter().map(|text| format!("policy {text}")));
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
            if let Some(attested) = &proof.attested {
                let text = format!(
                    "    attested   {attested} [s]. The token was verified by the daemon and is not kept: only the \
                     signature by this key is verified here."
                );
                paragraphs.push(text);
            }
            paragraphs.push(format!("    signature  {}", clean(&vote.signature)));
            let message = shown(&vote.message, reveals).join(" ");
            paragraphs.push(format!("    message    {message}"));
        }
        Self::text("Proof", paragraphs)
    }

    /// Offers the texts of a review.
    pub(crate) fn copy_of_review(review: &Review) -> Self {
        let piece = |key, name, text: String| Piece { key, name, text };
        let mut pieces = Vec::new();
        if let Some(proposal) = &review.proposal {
            pieces.push(piece('f', "fingerprint", proposal.fingerprint.to_string()));
            let bytes = if review.draft.is_some() { "bytes to sign" } else { "signed bytes" };
            let (bytes, text) = match masked_request(&proposal.message) {
                Some((masked, _)) => ("masked request", masked),
                None => (bytes, proposal.message.clone()),
            };
            pieces.push(piece('m', bytes, text));
        }
        if review.draft.is_none() {
            pieces.push(piece('i', "activity id", review.activity.id.to_string()));
        }
        pieces.push(piece('j', "everything as JSON", json(review).to_string()));
        Self::Copy(pieces)
    }

    /// Offers the ids of an activity in a list.
    pub(crate) fn copy_of_activity(
        id: ActivityId,
        fingerprint: Option<String>,
        organization: OrganizationId,
    ) -> Self {
        let piece = |key, name, text: String| Piece { key, name, text };
        let mut pieces = vec![piece('i', "activity id", id.to_string())];
        pieces.extend(fingerprint.map(|text| piece('f', "fingerprint", text)));
        pieces.push(piece('o', "organization id", organization.to_string()));
        Self::Copy(pieces)
    }

    /// Compares the fingerprint with one from another source, or with a file, which may be `typed` already.
    pub(crate) fn compare(review: &Review, typed: Input) -> Self {
        let own = review.proposal.as_ref().map(|proposal| proposal.fingerprint.hex()).unwrap_or_default();
        Self::Compare { own, input: typed }
    }
}

/// What a key did.
pub(crate) enum Pressed {
    Nothing,
    /// The overlay is finished.
    Close,
    /// An entry of the palette was chosen.
    Chosen(Box<Entry>),
    /// An organization was chosen, by its id or from the list.
    Choose(OrganizationId, PinnedBy),
    /// A text was chosen for copying.
    Copy(Piece),
    /// A file was chosen for comparison.
    Compare(String),
    /// An action was confirmed.
    Confirmed(Order),
}

impl Overlay {
    /// Handles a key; `area` is where the overlay is drawn.
    pub(crate) fn press(&mut self, key: Key, area: Rect) -> Pressed {
        let columns = usize::from(area.width.saturating_sub(4));
        let height = usize::from(area.height.saturating_sub(2));
        if key == Key::Esc {
            return Pressed::Close;
        }
        match self {
            Self::Text { scroll: first, paragraphs, .. } => {
                if matches!(key, Key::Char('q' | 'd' | 'v') | Key::Enter) {
                    return Pressed::Close;
                }
                let page = (key == Key::Char(' ')).then_some(Action::PageDown);
                if let Some(wanted) = page.or_else(|| action(&EVERYWHERE, key)) {
                    *first = scroll(*first, wrapped(paragraphs, columns).len(), height, wanted);
                }
            }
            Self::Keys { commands, search, scroll: first } => {
                if let Some(wanted) = arrow(key) {
                    let rows = key_lines(commands, search.value(), columns).len();
                    *first = scroll(*first, rows, height, wanted);
                } else {
                    *first = 0;
                    edit(search, key);
                }
            }
            Self::Palette(palette) => return palette.press(key),
            Self::Organizations(choice) => return choice.press(key, height),
            Self::Compare { input, .. } if key == Key::Enter && comparing::is_path(input.value()) => {
                return Pressed::Compare(input.value().trim().to_owned());
            }
            Self::Compare { input, .. } => edit(input, key),
            Self::Confirm(wanted) => {
                return wanted.press(key, area).map_or(Pressed::Nothing, Pressed::Confirmed);
            }
            Self::Copy(pieces) => {
                copying::turn(pieces, key, height);
                let at = pieces.iter().position(|piece| key == Key::Char(piece.key));
                return at.map_or(Pressed::Nothing, |at| Pressed::Copy(pieces.swap_remove(at)));
            }
        }
        Pressed::Nothing
    }

    /// Inserts pasted text if the overlay has a field for it. Returns whether it has.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        match self {
            Self::Compare { input, .. } => insert(input, text),
            Self::Palette(palette) => palette.paste(text),
            Self::Organizations(choice) => choice.paste(text),
            _ => return false,
        }
        true
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, area: Rect) {
        canvas.clear(area);
        let columns = usize::from(area.width.saturating_sub(4));
        match self {
            Self::Text { title, paragraphs, scroll } => {
                let inner = canvas.framed(area, title, "Esc closes");
                let rows = wrapped(paragraphs, columns).into_iter();
                let lines: Vec<Line> = rows.map(|row| Line::marked(row, canvas.theme)).collect();
                canvas.lines(inner, &lines, *scroll);
            }
            Self::Keys { commands, search, scroll } => {
                let title = format!("Keys on this screen: {}_", clean(search.value()));
                let inner = canvas.framed(area, &title, "type to search, Esc closes");
                canvas.lines(inner, &key_lines(commands, search.value(), columns), *scroll);
            }
            Self::Palette(palette) => palette.draw(canvas, area),
            Self::Organizations(choice) => choice.draw(canvas, area),
            Self::Copy(pieces) => copying::draw(pieces, canvas, area),
            Self::Confirm(wanted) => wanted.draw(canvas, area),
            Self::Compare { own, input } => comparing::draw(own, input, canvas, area),
        }
    }
}

/// Returns the paragraphs with a signed message, whose sensitive members are masked unless `reveals`.
fn shown(message: &str, reveals: bool) -> Vec<String> {
    let Some((masked, paths)) = masked_request(message) else { return vec![clean(message)] };
    let paths = clean(&paths.join(", "));
    if reveals {
        return vec![format!("[!] sensitive, shown in full: {paths}"), clean(message)];
    }
    vec![format!("[!] masked: {paths}; Esc and * show it"), clean(&masked)]
}

/// Returns the movement of an arrow or page key. Letters go into the search field.
const fn arrow(key: Key) -> Option<Action> {
    match key {
        Key::Up => Some(Action::Up),
        Key::Down => Some(Action::Down),
        Key::PageUp => Some(Action::PageUp),
        Key::PageDown => Some(Action::PageDown),
        _ => None,
    }
}

fn wrapped(paragraphs: &[String], columns: usize) -> Vec<String> {
    paragraphs.iter().flat_map(|paragraph| wrap(paragraph, columns)).collect()
}

fn key_lines(commands: &[Command], words: &str, columns: usize) -> Vec<Line> {
    matching(commands, words)
        .iter()
        .flat_map(|command| {
            key_rows(&command.all_keys(), &format!("{}{}", command.help, cli(command)), columns)
        })
        .chain(key_rows("Ctrl-Z", "Lock your key and suspend the console", columns))
        .chain(key_rows("Ctrl-C", "Quit at once; a signed vote that was not sent yet is discarded", columns))
        .map(Line::plain)
        .collect()
}

/// Formats the keys of a command, with its description in a column of its own.
fn key_rows(keys: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = if columns < 60 { 10 } else { 14 };
    let first = if width(keys) < indent { pad(keys, indent) } else { format!("{keys}  ") };
    if first.len() > indent {
        let rest = indented(text, &" ".repeat(indent), indent, columns);
        return std::iter::once(keys.to_owned()).chain(rest).collect();
    }
    indented(text, &first, indent, columns)
}

fn cli(command: &Command) -> String {
    if command.cli.is_empty() { String::new() } else { format!("   ({})", command.cli) }
}

/// Returns the commands that match the words. Matches of key or name come first.
fn matching<'a>(commands: &'a [Command], words: &str) -> Vec<&'a Command> {
    let words = words.to_lowercase();
    let words = words.trim();
    let rank = |command: &Command| {
        // Every command line starts with the program name, so it is not searched.
        let cli = command.cli.trim_start_matches("quorate ");
        let (key, label) = (command.key().to_lowercase(), command.label.to_lowercase());
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
        Some(rank)
    };
    let ranked = commands.iter().filter_map(|command| Some((rank(command)?, command)));
    let mut matches: Vec<(u8, &Command)> = ranked.collect();
    matches.sort_by_key(|(rank, _)| *rank);
    matches.into_iter().map(|(_, command)| command).collect()
}
