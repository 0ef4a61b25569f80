//! The five sections of a review as rows of text, wrapped to the width. Nothing in them is ever cut.

use quorate_common::activity::Selection;

use super::super::approvals::tally_of_marks;
use crate::canvas::Line;
use crate::cli::needs;
use crate::proof::Review;
use crate::text::{ago, clean, clock, date_time, grouped, pad, width, wrap};
use crate::theme::Theme;

/// Titles of the sections.
pub(super) const SECTIONS: [&str; 5] = [
    "1 What happens",
    "2 Change against current state",
    "3 Who asked, and why it needs you",
    "4 Flags",
    "5 Proof",
];

/// All rows with the section each belongs to.
pub(super) fn lines(
    review: &Review,
    replay: &[String],
    columns: usize,
    now: u64,
    theme: Theme,
) -> Vec<(usize, Line)> {
    let sections = [
        what(review, columns),
        change(review, columns).into_iter().chain(replayed(replay, columns)).collect(),
        who(review, columns, now),
        flags(review, columns),
        proof(review, columns),
    ];
    let source = match (&review.draft, &review.proposal) {
        (Some(_), _) => "from the bytes that you would sign [v]",
        (None, Some(_)) => "from the signed bytes [v]",
        (None, None) => "",
    };
    let remarks = [source, "NOW [s], AFTER [v]", "", "", "v details"];
    let mut out = Vec::new();
    for (index, ((title, remark), texts)) in SECTIONS.iter().zip(remarks).zip(sections).enumerate() {
        let section = index.saturating_add(1);
        out.push((section, Line::styled(rule(title, remark, columns), Theme::strong())));
        for text in texts {
            let style = theme.of_mark(&text);
            out.push((section, Line::styled(text, style)));
        }
    }
    out
}

/// Which activities of late would come out otherwise.
fn replayed(replay: &[String], columns: usize) -> Vec<String> {
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

fn what(review: &Review, columns: usize) -> Vec<String> {
    let mut out = wrap(&review.sentence, columns);
    let Some(proposal) = &review.proposal else {
        let stated = clean(&review.activity.activity_type);
        let text = format!(
            "Type by the daemon's word [s]: {stated}. No bytes are proven, so no fields are shown; d shows the daemon's word."
        );
        out.extend(wrap(&text, columns));
        return out;
    };
    let raw = clean(&proposal.activity_type);
    // What was read from the bytes is what people decide by; the members that it was read from follow.
    for fact in &review.facts {
        labelled(&mut out, &fact.name, &fact.value, columns);
    }
    out.extend(wrap(
        &format!("Raw type: {raw}, all {} fields of the bytes are shown:", review.fields.len()),
        columns,
    ));
    for field in &review.fields {
        labelled(&mut out, &field.name, &field.value, columns);
    }
    if review.fields.is_empty() {
        out.push("  none: the parameters are empty".to_owned());
    }
    if !review.leftover.is_empty() {
        out.extend(wrap(
            &format!("[!] left over, without meaning here: {}", review.leftover.join(", ")),
            columns,
        ));
    }
    out
}

fn labelled(out: &mut Vec<String>, label: &str, text: &str, columns: usize) {
    let indent = width(label).saturating_add(4).clamp(12, (columns / 3).max(12));
    if width(label).saturating_add(4) > indent {
        out.extend(wrap(&format!("  {label}"), columns));
        out.extend(
            wrap(text, columns.saturating_sub(indent))
                .into_iter()
                .map(|part| format!("{}{part}", " ".repeat(indent))),
        );
        return;
    }
    for (index, part) in wrap(text, columns.saturating_sub(indent)).into_iter().enumerate() {
        let label = if index == 0 { format!("  {label}") } else { String::new() };
        out.push(format!("{}{part}", pad(&label, indent)));
    }
}

fn change(review: &Review, columns: usize) -> Vec<String> {
    if review.proposal.is_none() {
        return vec!["  nothing to compare: what was signed is not known here".to_owned()];
    }
    if review.changes.is_empty() {
        return vec!["  nothing to compare with: it adds or does something new".to_owned()];
    }
    let mut out = Vec::new();
    if columns >= 76 {
        // The remark is the widest of the three.
        let cell = columns.saturating_sub(16).saturating_mul(3) / 10;
        let rest = columns.saturating_sub(16).saturating_sub(cell.saturating_mul(2));
        out.push(
            format!("{}{}{}", pad("", 16), pad("NOW [s]", cell), pad("AFTER [v]", cell))
                .trim_end()
                .to_owned(),
        );
        for change in &review.changes {
            let fits = width(&change.label) < 16
                && width(&change.now) < cell
                && width(&change.after) < cell
                && width(&change.note) <= rest;
            if fits {
                out.push(
                    format!(
                        "{}{}{}{}",
                        pad(&change.label, 16),
                        pad(&change.now, cell),
                        pad(&change.after, cell),
                        change.note
                    )
                    .trim_end()
                    .to_owned(),
                );
            } else {
                stacked(&mut out, change, columns);
            }
        }
    } else {
        review.changes.iter().for_each(|change| stacked(&mut out, change, columns));
    }
    out
}

fn stacked(out: &mut Vec<String>, change: &crate::kinds::Change, columns: usize) {
    out.extend(wrap(&format!("{} {}", change.label, change.note), columns));
    out.extend(
        wrap(&format!("now [s] {}", change.now), columns.saturating_sub(2))
            .into_iter()
            .map(|part| format!("  {part}")),
    );
    out.extend(
        wrap(&format!("after [v] {}", change.after), columns.saturating_sub(2))
            .into_iter()
            .map(|part| format!("  {part}")),
    );
}

fn who(review: &Review, columns: usize, now: u64) -> Vec<String> {
    let mut out = Vec::new();
    let asked = review.activity.created_at.millis();
    let key = review
        .proposal
        .as_ref()
        .map_or_else(String::new, |proposal| format!("key {}", clean(&proposal.public_key)));
    labelled(&mut out, "asked by", &format!("{}  {key}", review.asker), columns);
    let when = match review.draft {
        Some(_) => "not yet: it is not signed, and nothing was sent".to_owned(),
        None => format!("{}, {}", date_time(asked), ago(asked, now)),
    };
    labelled(&mut out, "asked at", &when, columns);
    labelled(&mut out, "rule", &needs(review), columns);
    for vote in &review.votes {
        let said = if vote.selection == Selection::Approved { "yes" } else { "NO" };
        let state = match (&vote.flaw, vote.lapsed) {
            (Some(flaw), _) => format!("[!] not counted: {flaw}"),
            (None, true) => "[!] lapsed".to_owned(),
            (None, false) => "[v]".to_owned(),
        };
        let key = if vote.new_key { ", key first seen within a day [!]" } else { "" };
        labelled(
            &mut out,
            "vote",
            &format!("{said} {} {}{key} {state}", vote.name, clock(vote.cast)),
            columns,
        );
    }
    if let Some(fault) = &review.activity.failure {
        labelled(&mut out, "failed", &clean(&fault.message), columns);
    }
    out
}

fn flags(review: &Review, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    for flag in &review.flags {
        let wrapped = wrap(
            &format!("[!] {:<5} {}  ({})", flag.level.word(), flag.text, flag.name),
            columns.saturating_sub(10),
        );
        for (index, part) in wrapped.into_iter().enumerate() {
            out.push(if index == 0 { part } else { format!("          {part}") });
        }
    }
    if out.is_empty() {
        out.push("  none".to_owned());
    }
    if review.draft.is_none() {
        out.extend(wrap("[i] the API carries no note from the asker: ask by another channel", columns));
    }
    out
}

fn proof(review: &Review, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    for check in &review.checks {
        for (index, part) in wrap(&format!("{} {}", check.mark.sign(), check.text), columns.saturating_sub(4))
            .into_iter()
            .enumerate()
        {
            out.push(if index == 0 { part } else { format!("    {part}") });
        }
    }
    out.extend(wrap(&tally_of_marks(review), columns));
    if let Some(proposal) = &review.proposal {
        for (index, part) in
            wrap(&grouped(&proposal.fingerprint.hex()), columns.saturating_sub(8)).into_iter().enumerate()
        {
            out.push(format!("{}{part}", if index == 0 { "sha256  " } else { "        " }));
        }
    }
    if review.draft.is_none() {
        out.push(format!("id      {}", review.activity.id));
    }
    out
}
