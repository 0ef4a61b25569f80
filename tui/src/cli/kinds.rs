//! `quorate propose --list` and `quorate propose TYPE --schema`: what can be proposed, and the members of each type.

use quorate_common::catalog::KindEntry;
use quorate_policy::request::kind_of;
use serde_json::{Value, json};

use super::table::{self, Table};
use crate::forms::{self, Form};
use crate::nearest::nearest;
use crate::output::Answer;

/// Returns the name of a kind as options take it, such as `create-wallet`: its newest type.
fn option(entry: &KindEntry) -> String {
    kind_of(&entry.activity_type).to_lowercase().replace('_', "-")
}

/// Returns the types that can be proposed here, of each kind the newest.
fn proposable() -> impl Iterator<Item = &'static KindEntry> {
    forms::newest().into_iter().filter(|entry| forms::unavailable(entry).is_none())
}

/// Lists the types that can be proposed.
pub(super) fn list() -> Answer {
    let row = |entry: &'static KindEntry| {
        let (name, title, description) = (option(entry), forms::title(entry), forms::description(entry));
        let data = json!({
            "name": name,
            "type": entry.activity_type,
            "title": title,
            "description": description,
        });
        table::row(data, &name.clone(), [name, title.to_owned(), description])
    };
    let mut kinds: Vec<&KindEntry> = proposable().collect();
    kinds.sort_by_key(|entry| option(entry));
    let mut answer = Table {
        noun: ("type", "types"),
        columns: &["TYPE", "TITLE"],
        wide: &["DESCRIPTION"],
        rows: kinds.into_iter().map(row).collect(),
        none: "No types.",
        more: None,
    }
    .answer();
    let hint = "quorate propose TYPE --schema prints the members of a type\n";
    answer.text.push_str(hint);
    answer.wide.iter_mut().for_each(|wide| wide.push_str(hint));
    answer
}

/// Prints the members of a type.
pub(super) fn schema(entry: &'static KindEntry) -> Answer {
    let members = Form::new(entry).members();
    let row = |member: forms::Member| {
        let need = if member.is_required { "required" } else { "optional" };
        let data = json!({
            "member": member.path,
            "isRequired": member.is_required,
            "takes": member.takes,
            "description": member.description,
        });
        let path = member.path.clone();
        table::row(data, &path, [member.path, need.to_owned(), member.takes, member.description])
    };
    let rows: Vec<table::Row> = members.into_iter().map(row).collect();
    let data: Vec<Value> = rows.iter().map(|row| row.data.clone()).collect();
    let text = Table {
        noun: ("member", "members"),
        columns: &["MEMBER", "", "TAKES", "DESCRIPTION"],
        wide: &[],
        rows,
        none: "This type has no members.",
        more: None,
    }
    .answer()
    .text;
    let head = format!("{}: {}\n{}\n\n", entry.activity_type, forms::title(entry), forms::description(entry));
    let whole = json!({
        "name": option(entry),
        "type": entry.activity_type,
        "title": forms::title(entry),
        "description": forms::description(entry),
        "members": data,
        "parameters": entry.parameters,
    });
    Answer::one(whole, head + &text)
}

/// Returns why a type is unknown, with the one that was probably meant.
pub(super) fn unknown(name: &str) -> String {
    let names: Vec<String> = proposable().map(option).collect();
    let typed = name.to_lowercase().replace('_', "-");
    let typed = typed.trim_start_matches("activity-type-");
    let meant = nearest(typed, names.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("did you mean {meant}? ")).unwrap_or_default();
    format!("type {} not found: {meant}`quorate propose --list` lists all", crate::text::clean(name))
}
