//! Compares what the service must offer with what it offers. `assets/seed.json` lists each intent and result
//! with its members; an offered type has exactly these members, with these types.
//!
//! A type in the file is `string`, `boolean`, `integer`, a list of one type, an object of members, or the
//! name of an entry in `shapes`. `besides` lists the members that current clients send beyond the seed, by
//! path.

use std::collections::{BTreeMap, BTreeSet};

use quorate_common::api_error::Code;
use quorate_core::kind::Entry;
use quorate_core::kinds;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::{camel, split};
use crate::fixture::{Fixture, NOW};
use crate::{golden, samples};

/// Number of intents in the seed.
const INTENTS: usize = 80;

/// Contents of `assets/seed.json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seed {
    shapes: BTreeMap<String, Value>,
    /// One row for each intent.
    pub(crate) rows: Vec<Row>,
}

/// An intent and its result.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// Member of `intent`.
    pub(crate) intent: String,
    /// The type on the wire.
    #[serde(rename = "type")]
    pub(crate) activity_type: String,
    parameters: Value,
    /// Member of `result`; votes have none.
    pub(crate) result: Option<String>,
    outcome: Value,
    #[serde(default)]
    besides: BTreeMap<String, Value>,
    /// The part of the service with which a type is planned, if it was not offered from the start.
    pub(crate) with: Option<PlannedWith>,
}

/// Parts of the service on which a type may depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlannedWith {
    /// Email, codes, tokens, sessions and recovery.
    SignIn,
    /// Parsing and signing of transactions.
    Transactions,
    /// Encrypted export and import of keys.
    Bundles,
}

/// Paths of members with their types.
type Members = BTreeSet<String>;

/// Reads the seed.
pub(crate) fn read() -> Seed {
    let text = std::fs::read_to_string(golden::path("seed.json")).expect("the seed can be read");
    serde_json::from_str(&text).expect("the seed has the expected structure")
}

#[test]
fn each_intent_has_one_row() {
    let rows = read().rows;
    let intents: BTreeSet<&str> = rows.iter().map(|row| row.intent.as_str()).collect();
    assert_eq!((rows.len(), intents.len()), (INTENTS, INTENTS), "rows, and intents that differ");
    for Row { intent, activity_type, .. } in &rows {
        let name = activity_type.strip_prefix("ACTIVITY_TYPE_").expect("a type has the prefix");
        let (base, version) = split(name);
        assert_eq!(*intent, format!("{}Intent{version}", camel(base)), "{activity_type}");
    }
}

#[test]
fn each_type_is_offered() {
    let rows = read().rows;
    let missing: Vec<&str> = rows.iter().map(|row| row.activity_type.as_str()).collect();
    let missing: Vec<&str> = missing.into_iter().filter(|name| kinds::find(name).is_none()).collect();
    assert!(missing.is_empty(), "not offered: {missing:?}");
}

/// A type that the service does not offer has code 12.
#[test]
fn no_type_answers_that_it_is_not_implemented() {
    let fixture = Fixture::new(1);
    for Row { activity_type, .. } in read().rows {
        let root = &fixture.roots[0];
        let sample = samples::parameters(&activity_type, &fixture, &fixture.spare);
        for parameters in [json!({}), json!([]), json!(null), sample] {
            let mut fixture = fixture.clone();
            let (caller, organization) = samples::stage(&activity_type, &fixture);
            for caller in [root, &caller] {
                let answer = fixture.submit(caller, organization, &activity_type, &parameters, NOW);
                let code = answer.err().map(|error| error.code);
                assert_ne!(code, Some(Code::Unimplemented), "{activity_type} with {parameters}");
            }
        }
    }
}

#[test]
fn offered_types_have_the_members_of_the_seed() {
    let seed = read();
    let mut errors = Vec::new();
    for row in &seed.rows {
        // Rows that are not offered are resolved as well: their shapes must exist.
        let wanted = (seed.parameters(row), seed.members(&row.outcome));
        if let Some(entry) = kinds::find(&row.activity_type) {
            errors.extend(differences(row, entry, &wanted));
        }
    }
    assert!(errors.is_empty(), "\n{}\n", errors.join("\n"));
}

/// Returns the differences between an entry and its row.
fn differences(row: &Row, entry: &Entry, wanted: &(Members, Members)) -> Vec<String> {
    let described = entry.describe();
    let mut errors = Vec::new();
    for (what, wanted, offered) in [
        ("intent", Some(&row.intent), Some(&described.intent)),
        ("result", row.result.as_ref(), described.result.as_ref()),
    ] {
        if wanted != offered {
            errors
                .push(format!("{}: {what}: {wanted:?} in the seed, offered {offered:?}", row.activity_type));
        }
    }
    for (what, wanted, schema) in
        [("parameters", &wanted.0, &described.parameters), ("outcome", &wanted.1, &described.outcome)]
    {
        let mut offered = Members::new();
        collect_schema(schema, "", &mut offered);
        let name = format!("{}: {what}", row.activity_type);
        errors.extend(wanted.difference(&offered).map(|member| format!("{name}: `{member}` is not offered")));
        errors.extend(
            offered.difference(wanted).map(|member| format!("{name}: `{member}` is not in the seed")),
        );
    }
    errors
}

impl Seed {
    /// Returns the parameters of a row, including those that clients send in addition.
    fn parameters(&self, row: &Row) -> Members {
        let own = self.members(&row.parameters);
        let mut all = own.clone();
        for (path, shape) in &row.besides {
            let before = all.len();
            self.collect_type(shape, path, &mut all);
            assert!(all.len() > before, "{}: `{path}` is listed twice", row.activity_type);
        }
        all
    }

    fn members(&self, shape: &Value) -> Members {
        let mut found = Members::new();
        self.collect_type(shape, "", &mut found);
        found
    }

    /// Collects the members of a type in the notation of the seed.
    fn collect_type(&self, shape: &Value, path: &str, found: &mut Members) {
        match shape {
            Value::String(name) if ["string", "boolean", "integer"].contains(&name.as_str()) => {
                found.insert(format!("{path}: {name}"));
            }
            Value::String(name) => {
                let shape = self.shapes.get(name).unwrap_or_else(|| panic!("{path}: no shape {name}"));
                self.collect_type(shape, path, found);
            }
            Value::Array(items) => {
                let [item] = items.as_slice() else { panic!("{path}: a list of one type") };
                self.collect_type(item, &format!("{path}[]"), found);
            }
            Value::Object(members) => {
                found.extend((!path.is_empty()).then(|| format!("{path}: object")));
                members.iter().for_each(|(name, shape)| self.collect_type(shape, &join(path, name), found));
            }
            other => panic!("{path}: {other} is not a type"),
        }
    }
}

/// Collects the members of a JSON schema. Whether a member may be absent or null does not matter.
fn collect_schema(schema: &Value, path: &str, found: &mut Members) {
    let alternatives = ["oneOf", "anyOf"].iter().filter_map(|list| schema.get(list)?.as_array());
    alternatives.clone().flatten().for_each(|one| collect_schema(one, path, found));
    let names = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::String(name) => vec![name.as_str()],
        _ if alternatives.count() > 0 => Vec::new(),
        _ => vec!["anything"],
    };
    for name in names.into_iter().filter(|name| *name != "null") {
        match name {
            "array" => collect_schema(&schema["items"], &format!("{path}[]"), found),
            "object" => {
                found.extend((!path.is_empty()).then(|| format!("{path}: object")));
                let members = schema["properties"].as_object().into_iter().flatten();
                members.for_each(|(name, schema)| collect_schema(schema, &join(path, name), found));
            }
            name => _ = found.insert(format!("{path}: {name}")),
        }
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
