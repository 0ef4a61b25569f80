//! What the service must offer, against what it offers: `assets/seed.json` names each intent and each result
//! with its members, and a row whose type is offered has exactly these, with these types.
//!
//! A type in the file is `string`, `boolean`, `integer`, a list of one, an object of members, or the name of a
//! shape. `besides` holds members that current clients send beyond the seed, by their path.

use std::collections::{BTreeMap, BTreeSet};

use quorate_core::kind::Entry;
use quorate_core::kinds;
use serde::Deserialize;
use serde_json::Value;

use crate::catalog::{camel, split};
use crate::golden;

/// How many intents the seed names.
const INTENTS: usize = 80;

/// The file.
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
    /// What a type that is not offered will come with.
    pub(crate) with: Option<With>,
}

/// Larger parts that a type may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum With {
    /// Mails, codes, tokens, sessions and recovery.
    SignIn,
    /// Transactions that are read and signed.
    Transactions,
    /// Keys that leave and enter encrypted.
    Bundles,
}

/// Paths of members with their types.
type Members = BTreeSet<String>;

/// Reads the file.
pub(crate) fn read() -> Seed {
    let text = std::fs::read_to_string(golden::place("seed.json")).expect("the seed can be read");
    serde_json::from_str(&text).expect("the seed has its form")
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
fn what_is_not_offered_says_why() {
    let rows = read().rows;
    let mut flaws = Vec::new();
    for Row { activity_type, with, .. } in &rows {
        let flaw = match (kinds::find(activity_type), with) {
            (Some(_), None) | (None, Some(_)) => continue,
            (Some(_), Some(_)) => "is offered: take its `with` out of assets/seed.json",
            (None, None) => "is not offered, and nothing says why",
        };
        flaws.push(format!("{activity_type} {flaw}"));
    }
    assert!(flaws.is_empty(), "\n{}\n", flaws.join("\n"));
}

#[test]
fn what_is_offered_has_the_members_of_the_seed() {
    let seed = read();
    let mut flaws = Vec::new();
    for row in &seed.rows {
        // Rows that are not offered are read too: their shapes must exist.
        let wanted = (seed.parameters(row), seed.members(&row.outcome));
        if let Some(entry) = kinds::find(&row.activity_type) {
            flaws.extend(differences(row, entry, &wanted));
        }
    }
    assert!(flaws.is_empty(), "\n{}\n", flaws.join("\n"));
}

/// In what an entry differs from its row.
fn differences(row: &Row, entry: &Entry, wanted: &(Members, Members)) -> Vec<String> {
    let described = entry.describe();
    let mut flaws = Vec::new();
    for (what, wanted, offered) in [
        ("intent", Some(&row.intent), Some(&described.intent)),
        ("result", row.result.as_ref(), described.result.as_ref()),
    ] {
        if wanted != offered {
            flaws.push(format!("{}: {what}: {wanted:?} in the seed, offered {offered:?}", row.activity_type));
        }
    }
    for (what, wanted, schema) in
        [("parameters", &wanted.0, &described.parameters), ("outcome", &wanted.1, &described.outcome)]
    {
        let mut offered = Members::new();
        of_schema(schema, "", &mut offered);
        let name = format!("{}: {what}", row.activity_type);
        flaws.extend(wanted.difference(&offered).map(|member| format!("{name}: `{member}` is not offered")));
        flaws.extend(offered.difference(wanted).map(|member| format!("{name}: `{member}` is not asked for")));
    }
    flaws
}

impl Seed {
    /// Parameters of a row, with those that clients send besides.
    fn parameters(&self, row: &Row) -> Members {
        let own = self.members(&row.parameters);
        let mut all = own.clone();
        for (path, shape) in &row.besides {
            let before = all.len();
            self.of_shape(shape, path, &mut all);
            assert!(all.len() > before, "{}: `{path}` is listed twice", row.activity_type);
        }
        all
    }

    fn members(&self, shape: &Value) -> Members {
        let mut found = Members::new();
        self.of_shape(shape, "", &mut found);
        found
    }

    /// Members of a shape as the seed writes it.
    fn of_shape(&self, shape: &Value, path: &str, found: &mut Members) {
        match shape {
            Value::String(name) if ["string", "boolean", "integer"].contains(&name.as_str()) => {
                found.insert(format!("{path}: {name}"));
            }
            Value::String(name) => {
                let shape = self.shapes.get(name).unwrap_or_else(|| panic!("{path}: no shape {name}"));
                self.of_shape(shape, path, found);
            }
            Value::Array(items) => {
                let [item] = items.as_slice() else { panic!("{path}: a list of one type") };
                self.of_shape(item, &format!("{path}[]"), found);
            }
            Value::Object(members) => {
                found.extend((!path.is_empty()).then(|| format!("{path}: object")));
                members.iter().for_each(|(name, shape)| self.of_shape(shape, &below(path, name), found));
            }
            other => panic!("{path}: {other} is no type"),
        }
    }
}

/// Members of a JSON schema. Whether a member may be absent or null makes no difference.
fn of_schema(schema: &Value, path: &str, found: &mut Members) {
    let alternatives = ["oneOf", "anyOf"].iter().filter_map(|list| schema.get(list)?.as_array());
    alternatives.clone().flatten().for_each(|one| of_schema(one, path, found));
    let names = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::String(name) => vec![name.as_str()],
        _ if alternatives.count() > 0 => Vec::new(),
        _ => vec!["anything"],
    };
    for name in names.into_iter().filter(|name| *name != "null") {
        match name {
            "array" => of_schema(&schema["items"], &format!("{path}[]"), found),
            "object" => {
                found.extend((!path.is_empty()).then(|| format!("{path}: object")));
                let members = schema["properties"].as_object().into_iter().flatten();
                members.for_each(|(name, schema)| of_schema(schema, &below(path, name), found));
            }
            name => _ = found.insert(format!("{path}: {name}")),
        }
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
