//! The catalogue as a page for people, `assets/catalog.md`: each intent of the seed with what is offered of it,
//! and the test rows that prove it. All of it is taken from tables; nothing is written here.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use quorate_common::ids::UserId;
use quorate_core::kind::Entry;
use quorate_core::kinds;
use quorate_policy::request::kind_of;
use serde_json::Value;

use crate::catalog::split;
use crate::golden;
use crate::house::House;
use crate::samples;
use crate::seed::{self, Seed, With};
use crate::{outcomes, refusals};

const ABOUT: &str = "\
The seed is what the service is asked to offer, `assets/seed.json`. This page is made from the tables of kinds and of
outcomes: `make bless` writes it, and a test compares it. The proof of a type names the tests in
`daemon/core/tests/core/` that send it through the front door: with the members of its sample, and with the first
refusal that is tried, which is who is refused, for which member, and how the answer begins. Ids are left out.
";

const COLUMNS: &str = "\
| intent | type | path | offered versions | result | gate | proof |
|---|---|---|---|---|---|---|
";

#[test]
fn the_golden_is_fresh() {
    golden::check("catalog.md", &Page::new().text());
}

/// What the page is made from.
struct Page {
    house: House,
    refusals: BTreeMap<String, Vec<refusals::Row>>,
    seed: Seed,
}

impl Page {
    fn new() -> Self {
        let house = House::found(1);
        Self { refusals: refusals::by_type(&house), seed: seed::read(), house }
    }

    fn text(&self) -> String {
        let mut text = format!("# Catalogue of activities\n\n{}\n{ABOUT}\n", self.count());
        text.push_str("## Intents of the seed\n\n");
        text.push_str(COLUMNS);
        for row in &self.seed.rows {
            let offered = kinds::find(&row.activity_type);
            let proof = match (offered, row.with) {
                (Some(entry), _) => self.proof(entry),
                (None, Some(with)) => format!("built with: {}", words(with)),
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

    /// How many of how many, and what the others wait for.
    fn count(&self) -> String {
        let rows = &self.seed.rows;
        let mut offered = 0;
        let mut open: BTreeMap<Option<With>, usize> = BTreeMap::new();
        for row in rows {
            if kinds::find(&row.activity_type).is_some() {
                offered += 1;
            } else {
                *open.entry(row.with).or_default() += 1;
            }
        }
        let mut text = format!("**{offered} of {} intents of the seed are offered.**\n\n", rows.len());
        for (with, count) in open {
            let state = with.map_or("not offered".to_owned(), |with| format!("built with: {}", words(with)));
            writeln!(text, "- {count} {state}").expect("a text can be written to");
        }
        let newer = kinds::all().len() - offered;
        writeln!(text, "- {newer} newer types beyond the seed").expect("a text can be written to");
        text
    }

    /// The rows of tests that prove a type.
    fn proof(&self, entry: &Entry) -> String {
        let sample = samples::parameters(entry.activity_type, &self.house, &self.house.spare);
        let members = sample.as_object().into_iter().flatten().map(|(name, _)| code(name));
        let members = Some(members.collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty());
        let members = members.unwrap_or_else(|| "no members".to_owned());
        let first = self.refusals.get(entry.activity_type).and_then(|rows| rows.first());
        let first = first.unwrap_or_else(|| panic!("{} has no refusal row", entry.activity_type));
        let [succeeds, refuses] =
            [outcomes::proof(), refusals::proof()].map(|name| code(name.trim_start_matches("core::")));
        format!("{succeeds} with {members}; {refuses}: {}", refusal(first))
    }
}

/// A row of the table.
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
    writeln!(text, "| {} |", cells.join(" | ")).expect("a text can be written to");
}

fn version(entry: &Entry) -> &'static str {
    let (_, version) = split(entry.activity_type);
    if version.is_empty() { "V1" } else { version }
}

/// A refusal in a sentence.
fn refusal((_, from, changes, fault, reason, message): &refusals::Row) -> String {
    let who = match from {
        refusals::From::Root => "a root user",
        refusals::From::User => "a user without policies",
        refusals::From::Child => "a root user of a sub-organization",
        refusals::From::Bare => "a root user of an empty organization",
        refusals::From::Invited => "whoever was invited",
        refusals::From::Founder => "a founder",
    };
    let changes = changes.as_object().into_iter().flatten().map(|(name, value)| {
        let how = if value.is_null() { "without" } else { "with other" };
        format!(" {how} {}", code(name))
    });
    let changes = changes.collect::<Vec<_>>().join(" and");
    let reason = reason.map(|reason| format!(" {reason}")).unwrap_or_default();
    format!("{who}{changes}, {fault:?}{reason}, {}", code(&without_ids(message)))
}

/// A text whose ids are left out: they say nothing to a reader.
fn without_ids(text: &str) -> String {
    let words = text.split(' ').map(|word| if word.parse::<UserId>().is_ok() { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn words(with: With) -> &'static str {
    match with {
        With::SignIn => "sign-in flows",
        With::Transactions => "transactions",
        With::Bundles => "bundles",
    }
}

/// A code span in a cell of a table.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

fn none() -> String {
    "–".to_owned()
}
