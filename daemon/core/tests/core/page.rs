//! The catalog for readers, `assets/catalog.md`: each intent of the seed with the offered versions and the
//! tests that prove it. All of it is generated from tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use quorate_common::ids::UserId;
use quorate_core::kind::Entry;
use quorate_core::kinds;
use quorate_policy::request::kind_of;
use serde_json::Value;

use crate::catalog::split;
use crate::fixture::Fixture;
use crate::golden;
use crate::samples;
use crate::seed::{self, PlannedWith, Seed};
use crate::{errors, outcomes};

const ABOUT: &str = "\
The seed, `assets/seed.json`, lists the intents that the service must offer. This page is generated from the tables of
kinds and outcomes: `make bless` writes it, and a test compares it. The proof of a type names the tests in
`daemon/core/tests/core/` that submit it: with the members of its sample, and with its first expected error. For an
error, the proof states the caller, the changed member, the code and the beginning of the message. Ids are left out.
";

const COLUMNS: &str = "\
| intent | type | path | offered versions | result | gate | proof |
|---|---|---|---|---|---|---|
";

#[test]
fn golden_file_is_up_to_date() {
    golden::check("catalog.md", &Page::new().text());
}

/// Data from which the page is generated.
struct Page {
    fixture: Fixture,
    errors: BTreeMap<String, Vec<errors::Row>>,
    seed: Seed,
}

impl Page {
    fn new() -> Self {
        let fixture = Fixture::new(1);
        Self { errors: errors::by_type(&fixture), seed: seed::read(), fixture }
    }

    fn text(&self) -> String {
        let mut text = format!("# Catalog of activities\n\n{}\n{ABOUT}\n", self.count());
        text.push_str("## Intents of the seed\n\n");
        text.push_str(COLUMNS);
        for row in &self.seed.rows {
            let offered = kinds::find(&row.activity_type);
            let proof = match (offered, row.with) {
                (Some(entry), _) => self.proof(entry),
                (None, Some(with)) => format!("planned with: {}", planned(with)),
                (None, None) => "not offered".to_owned(),
            };
            line(&mut text, &row.intent, &row.activity_type, row.result.as_deref(), offered, &proof);
        }
        text.push_str("\n## Newer types\n\n");
        text.push_str(COLUMNS);
        let known: BTreeSet<&str> = self.seed.rows.iter().map(|row| row.activity_type.as_str()).collect();
        for entry in kinds::all().iter().filter(|entry| !known.contains(entry.activity_type)) {
            let row = entry.describe();
            let (intent, result, proof) = (&row.intent, row.result.as_deref(), self.proof(entry));
            line(&mut text, intent, &row.activity_type, result, Some(entry), &proof);
        }
        text
    }

    /// Returns how many intents are offered, and when the others will be.
    fn count(&self) -> String {
        let rows = &self.seed.rows;
        let mut offered = 0;
        let mut open: BTreeMap<Option<PlannedWith>, usize> = BTreeMap::new();
        for row in rows {
            if kinds::find(&row.activity_type).is_some() {
                offered += 1;
            } else {
                *open.entry(row.with).or_default() += 1;
            }
        }
        let mut text = format!("**{offered} of {} intents of the seed are offered.**\n\n", rows.len());
        for (with, count) in open {
            let state =
                with.map_or("not offered".to_owned(), |with| format!("planned with: {}", planned(with)));
            writeln!(text, "- {count} {state}").expect("writing to a string succeeds");
        }
        let newer = kinds::all().len() - offered;
        writeln!(text, "- {newer} newer types beyond the seed").expect("writing to a string succeeds");
        text
    }

    /// Returns the tests that prove a type.
    fn proof(&self, entry: &Entry) -> String {
        let sample = samples::parameters(entry.activity_type, &self.fixture, &self.fixture.spare);
        let members = sample.as_object().into_iter().flatten().map(|(name, _)| code(name));
        let members = Some(members.collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty());
        let members = members.unwrap_or_else(|| "no members".to_owned());
        let first = self.errors.get(entry.activity_type).and_then(|rows| rows.first());
        let first = first.unwrap_or_else(|| panic!("{} has no expected error", entry.activity_type));
        let [succeeds, fails] =
            [outcomes::proof(), errors::proof()].map(|name| code(name.trim_start_matches("core::")));
        format!("{succeeds} with {members}; {fails}: {}", describe(first))
    }
}

/// Appends a row of the table.
fn line(
    text: &mut String,
    intent: &str,
    activity_type: &str,
    result: Option<&str>,
    offered: Option<&Entry>,
    proof: &str,
) {
    let (base, _) = split(activity_type.trim_start_matches("ACTIVITY_TYPE_"));
    let versions = kinds::all().iter().filter(|entry| kind_of(entry.activity_type) == base).map(version);
    let versions = Some(versions.collect::<Vec<_>>().join(" ")).filter(|all| !all.is_empty());
    let path = offered
        .map_or_else(|| format!("/public/v1/submit/{}", base.to_lowercase()), |entry| entry.describe().path);
    let gate = offered.map(|entry| serde_json::to_value(entry.gate).expect("a gate has a name"));
    let cells = [
        code(intent),
        code(activity_type),
        code(&path),
        versions.unwrap_or_else(none),
        result.map_or_else(none, code),
        gate.as_ref().and_then(Value::as_str).map_or_else(none, str::to_owned),
        proof.to_owned(),
    ];
    writeln!(text, "| {} |", cells.join(" | ")).expect("writing to a string succeeds");
}

fn version(entry: &Entry) -> &'static str {
    let (_, version) = split(entry.activity_type);
    if version.is_empty() { "V1" } else { version }
}

/// Describes an expected error in one sentence.
fn describe((_, sender, changes, error, reason, message): &errors::Row) -> String {
    let sender = match sender {
        errors::Sender::Root => "a root user",
        errors::Sender::User => "a user without policies",
        errors::Sender::Child => "a root user of a sub-organization",
        errors::Sender::Bare => "a root user of an empty organization",
        errors::Sender::Invited => "an invited person",
        errors::Sender::Registrant => "the creator of an organization",
    };
    let changes = changes.as_object().into_iter().flatten().map(|(name, value)| {
        let how = if value.is_null() { "without" } else { "with other" };
        format!(" {how} {}", code(name))
    });
    let changes = changes.collect::<Vec<_>>().join(" and");
    let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    format!("{sender}{changes}, {error:?}{reason}, {}", code(&without_ids(message)))
}

/// Replaces ids in a text, which mean nothing to a reader.
fn without_ids(text: &str) -> String {
    let words = text.split(' ').map(|word| if word.parse::<UserId>().is_ok() { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn planned(with: PlannedWith) -> &'static str {
    match with {
        PlannedWith::SignIn => "sign-in flows",
        PlannedWith::Transactions => "transactions",
        PlannedWith::Bundles => "bundles",
    }
}

/// Formats a code span in a table cell.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn none() -> String {
    "–".to_owned()
}
