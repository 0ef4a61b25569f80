//! The sections of a review as rows of wrapped text. Nothing is truncated. Flags come before the fields that
//! they are about.

use quorate_common::activity::Selection;

use crate::canvas::Line;
use crate::kinds::{Change, Field};
use crate::proof::{Review, needs, result_values, tally_of_marks};
use crate::text::{ago, clean, clock, date_time, grouped, indented, pad, width, wrap};
use crate::theme::Theme;

/// Titles of the sections in the review of an activity.
pub(super) const SECTIONS: [&str; 6] = [
    "1 What happens",
    "2 Flags",
    "3 Details",
    "4 Change against current state",
    "5 Who proposed it, and why it needs you",
    "6 Proof",
];

/// Titles of the sections in the review of a draft.
const DRAFT_SECTIONS: [&str; 6] = [
    "1 What would happen",
    "2 Flags",
    "3 Details",
    "4 Change against current state",
    "5 Who would propose it, and who must approve",
    "6 Proof",
];

pub(super) struct Row {
    /// Section number, starting with 1.
    pub(super) section: usize,
    /// Index of the flag that the row shows, if any.
    pub(super) flag: Option<usize>,
    pub(super) line: Line,
}

/// Returns all rows of a review.
pub(super) fn rows(review: &Review, replay: &[String], columns: usize, now: u64, theme: Theme) -> Vec<Row> {
    let plain = |texts: Vec<String>| texts.into_iter().map(|text| (None, text)).collect::<Vec<_>>();
    let sections = [
        plain(what(review, columns)),
        flags(review, columns),
        plain(details(review, columns)),
        plain(change(review, columns).into_iter().chain(replay_rows(replay, columns)).collect()),
        plain(who(review, columns, now)),
        plain(proof(review, columns)),
    ];
    let source = match (&review.draft, &review.proposal) {
        (Some(_), _) => "from the bytes that you would sign [v], names as stated [s]",
        (None, Some(_)) => "from the signed bytes [v], names as stated [s]",
        (None, None) => "",
    };
    let remarks = [source, "", "", "NOW [s], AFTER [v]", "", "v details"];
    let titles = if review.draft.is_some() { DRAFT_SECTIONS } else { SECTIONS };
    let mut out = Vec::new();
    // The amount of a transfer is the most visible text.
    let amount = review.transfer.as_ref().map_or(0, |transfer| wrap(&transfer.headline(), columns).len());
    for (index, ((title, remark), texts)) in titles.iter().zip(remarks).zip(sections).enumerate() {
        let section = index.saturating_add(1);
        let title = Line::styled(rule(title, remark, columns), Theme::strong());
        out.push(Row { section, flag: None, line: title });
        let row = |(flag, text)| Row { section, flag, line: Line::marked(text, theme) };
        out.extend(texts.into_iter().map(row));
    }
    for row in out.iter_mut().skip(1).take(amount) {
        row.line.style = row.line.style.patch(Theme::strong());
    }
    out
}

/// Formats the recent activities that would have a different outcome.
fn replay_rows(replay: &[String], columns: usize) -> Vec<String> {
    let rows = |(number, line): (usize, &String)| {
        let indent = if number == 0 { "" } else { "  " };
        wrap(&format!("{indent}{line}"), columns)
    };
    replay.iter().enumerate().flat_map(rows).collect()
}

fn rule(title: &str, remark: &str, columns: usize) -> String {
    let remark =
        if remark.is_empty() || width(title).saturating_add(width(remark)).saturating_add(8) > columns {
            String::new()
        } else {
            format!(" {remark} \u{2500}")
        };
    let fill = columns.saturating_sub(width(title)).saturating_sub(width(&remark)).saturating_sub(3);
    format!("\u{2500} {title} {}{remark}", "\u{2500}".repeat(fill))
}

/// Returns the effect: what a transaction moves, or the sentence.
fn what(review: &Review, columns: usize) -> Vec<String> {
    let Some(transfer) = &review.transfer else { return wrap(&review.sentence, columns) };
    // The amount has the first rows for itself.
    let mut out = wrap(&transfer.headline(), columns);
    let lines = transfer.lines();
    labels(&mut out, lines.iter().map(|(label, text)| (*label, text.as_str())), columns);
    if !transfer.is_whole() {
        out.extend(wrap(&review.sentence, columns));
    }
    out
}

fn details(review: &Review, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    let Some(proposal) = &review.proposal else {
        let stated = clean(&review.activity.activity_type);
        let text = format!(
            "Type stated by the daemon [s]: {stated}. The signed bytes cannot be verified, so no fields are shown; d shows the daemon's data."
        );
        out.extend(wrap(&text, columns));
        return out;
    };
    let raw = clean(&proposal.activity_type);
    // Decoded facts come first because people decide by them; the raw fields follow.
    labels(&mut out, pairs(&review.facts), columns);
    let fields = if review.draft.is_some() { "All fields to sign" } else { "All signed fields" };
    out.extend(wrap(&format!("Raw type: {raw}. {fields} ({}):", review.fields.len()), columns));
    labels(&mut out, pairs(&review.fields), columns);
    if review.fields.is_empty() {
        out.push("  none: the parameters are empty".to_owned());
    }
    if !review.unknown_members.is_empty() {
        out.extend(wrap(
            &format!("[!] fields unknown to this console: {}", review.unknown_members.join(", ")),
            columns,
        ));
    }
    out
}

/// Adds labelled texts. All texts of a block begin in the same column. A label that is too long for its column
/// has a row of its own.
fn labels<'a>(
    out: &mut Vec<String>,
    block: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    columns: usize,
) {
    let most = (columns / 3).max(12);
    let fitting = |label: &str| Some(width(label).saturating_add(4)).filter(|indent| *indent <= most);
    let indent = block.clone().filter_map(|(label, _)| fitting(label)).max().unwrap_or_default().max(12);
    for (label, text) in block {
        let mut first = format!("  {label}");
        if width(label).saturating_add(4) > indent {
            out.extend(wrap(&first, columns));
            first.clear();
        }
        out.extend(indented(text, &pad(&first, indent), indent, columns));
    }
}

fn change(review: &Review, columns: usize) -> Vec<String> {
    if review.proposal.is_none() {
        return vec!["  nothing to compare: the signed bytes are not known".to_owned()];
    }
    if review.ended.is_some() {
        return vec!["  not compared: the activity has ended".to_owned()];
    }
    if review.changes.is_empty() {
        return vec!["  nothing to compare with: it creates or does something new".to_owned()];
    }
    let is_wide = columns >= 76;
    // The remark is the widest of the three columns.
    let cell = columns.saturating_sub(16).saturating_mul(3) / 10;
    let rest = columns.saturating_sub(16).saturating_sub(cell.saturating_mul(2));
    let row = |label: &str, now: &str, after: &str, note: &str| {
        let row = format!("{}{}{}{note}", pad(label, 16), pad(now, cell), pad(after, cell));
        row.trim_end().to_owned()
    };
    let mut out = Vec::new();
    if is_wide {
        out.push(row("", "NOW [s]", "AFTER [v]", ""));
    }
    for change in &review.changes {
        let Change { label, now, after, note } = change;
        let fits = width(label) < 16 && width(now) < cell && width(after) < cell && width(note) <= rest;
        if is_wide && fits {
            out.push(row(label, now, after, note));
        } else {
            stacked(&mut out, change, columns);
        }
    }
    out
}

fn stacked(out: &mut Vec<String>, change: &Change, columns: usize) {
    out.extend(wrap(&format!("{} {}", change.label, change.note), columns));
    out.extend(indented(&format!("now [s] {}", change.now), "  ", 2, columns));
    out.extend(indented(&format!("after [v] {}", change.after), "  ", 2, columns));
}

fn who(review: &Review, columns: usize, now: u64) -> Vec<String> {
    let mut block: Vec<(&str, String)> = Vec::new();
    let proposed_at = review.activity.created_at.millis();
    let key = review
        .proposal
        .as_ref()
        .map_or_else(String::new, |proposal| format!("key {}", clean(&proposal.public_key)));
    block.push(("proposer", format!("{}  {key}", review.proposer)));
    let (when, rule) = match &review.draft {
        Some(draft) if draft.is_sent => ("signed and sent".to_owned(), "rule"),
        Some(_) => ("not yet: nothing is signed or sent".to_owned(), "if sent"),
        None => (format!("{}, {}", date_time(proposed_at), ago(proposed_at, now)), "rule"),
    };
    block.push(("proposed", when));
    block.push((rule, needs(review)));
    for vote in &review.votes {
        let selection = if vote.selection == Selection::Approved { vote.noun() } else { "REJECTION" };
        let state = match (&vote.error, vote.expired) {
            (Some(error), _) => format!("[!] not counted: {error}"),
            (None, true) => "[!] expired".to_owned(),
            (None, false) => vote.verified_part(),
        };
        let key = vote.key_note();
        let text = format!("{selection} by {} [s] {}{key}, {state}", vote.name, clock(vote.cast));
        block.push(("vote", text));
    }
    if let Some(error) = &review.activity.failure {
        block.push(("failed", clean(&error.message)));
    }
    let values = result_values(&review.activity.result).into_iter();
    block.extend(
        values
            .zip(std::iter::once("result").chain(std::iter::repeat("")))
            .map(|(value, label)| (label, value)),
    );
    let mut out = Vec::new();
    labels(&mut out, block.iter().map(|(label, text)| (*label, text.as_str())), columns);
    out
}

/// Returns fields as labelled texts.
fn pairs(fields: &[Field]) -> impl Iterator<Item = (&str, &str)> + Clone {
    fields.iter().map(|field| (field.name.as_str(), field.value.as_str()))
}

/// Returns the rows of the flags, each with the index of its flag.
fn flags(review: &Review, columns: usize) -> Vec<(Option<usize>, String)> {
    let mut out = Vec::new();
    let indent = if columns < 60 { 4 } else { 10 };
    for (number, flag) in review.flags.iter().enumerate() {
        let text = format!("[!] {:<5} {}  ({})", flag.level.word(), flag.text, flag.name);
        out.extend(indented(&text, "", indent, columns).into_iter().map(|row| (Some(number), row)));
    }
    if out.is_empty() {
        out.push((None, "  none".to_owned()));
    }
    if let Some(note) = review.ended {
        out.extend(wrap(&format!("[i] {note}"), columns).into_iter().map(|part| (None, part)));
    } else if review.draft.is_none() {
        let text =
            "[i] The signed bytes contain no reason. If in doubt, contact the proposer by another channel.";
        out.extend(wrap(text, columns).into_iter().map(|part| (None, part)));
    }
    out
}

fn proof(review: &Review, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    for check in &review.checks {
        out.extend(indented(&format!("{} {}", check.mark.sign(), check.text), "", 4, columns));
    }
    out.extend(wrap(&tally_of_marks(review), columns));
    if let Some(proposal) = &review.proposal {
        out.extend(indented(&grouped(&proposal.fingerprint.hex()), "sha256  ", 8, columns));
    }
    if review.draft.is_none() {
        out.push(format!("id      {}", review.activity.id));
    }
    out
}
