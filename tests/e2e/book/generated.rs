//! The pages of the reference that list the commands with their options, and the table of kinds that policies match.
//! `BLESS=1` rewrites them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::process::Command;

use quorate_common::catalog::Catalog;
use quorate_tests::book;
use quorate_tests::paths;
use serde_json::Value;

#[test]
fn the_pages_of_commands_are_current() {
    for program in ["quorate", "quorated"] {
        let shared = options(&help(program, &[]));
        let mut text = String::new();
        describe(program, &mut Vec::new(), &shared, &mut text);
        book::check_generated(&format!("docs/src/reference/{program}.md"), &text);
    }
}

#[test]
fn the_page_of_json_output_is_current() {
    let output = Command::new(paths::program("quorate")).arg("schema").output().expect("it can be started");
    let schema: Value = serde_json::from_slice(&output.stdout).expect("a schema");
    let definitions = schema["$defs"].as_object().expect("definitions");
    let mut text = String::new();
    // Records of the wire begin with a capital letter.
    for (noun, definition) in definitions.iter().filter(|(noun, _)| noun.starts_with(char::is_lowercase)) {
        let commands: Vec<String> =
            definition["title"].as_str().expect("commands").split(", ").map(code).collect();
        write!(text, "\n## {noun}\n\nPrinted by {}.\n", commands.join(", "))
            .expect("a text can be written to");
        let alternatives = definition["anyOf"].as_array();
        let one = std::slice::from_ref(definition);
        for (index, part) in alternatives.map_or(one, Vec::as_slice).iter().enumerate() {
            text.push_str(if index > 0 { "\nOr:\n" } else { "" });
            text.push_str("\n| member | type |\n|---|---|\n");
            let mut members = BTreeMap::new();
            collect_members(&schema, part, &mut members);
            for (name, kind) in members {
                writeln!(text, "| `{name}` | {kind} |").expect("a text can be written to");
            }
        }
    }
    text.push('\n');
    book::check_generated("docs/src/reference/json.md", &text);
}

/// Returns a command as code; other words stay as they are.
fn code(words: &str) -> String {
    let is_code = words.starts_with("quorate ") || words.starts_with('-');
    if is_code { format!("`{words}`") } else { words.to_owned() }
}

/// Returns the definition that a schema refers to, otherwise the schema.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
    name.map_or(schema, |name| resolved(root, &root["$defs"][name]))
}

/// Adds the members of an object with their types.
fn collect_members(root: &Value, schema: &Value, members: &mut BTreeMap<String, String>) {
    let schema = resolved(root, schema);
    for part in schema["allOf"].as_array().into_iter().flatten() {
        collect_members(root, part, members);
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let always = if required.contains(&name.as_str()) { "" } else { "; may be absent" };
        members.insert(name.clone(), format!("{}{always}", type_of(root, member)));
    }
}

fn type_of(root: &Value, schema: &Value) -> String {
    let schema = resolved(root, schema);
    if schema["format"] == "date-time" {
        return "time".to_owned();
    }
    if let Some(options) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let mut types: Vec<String> = options.iter().map(|one| type_of(root, one)).collect();
        types.dedup();
        return types.join(" or ");
    }
    let of = |name: &str| match name {
        "string" => "text".to_owned(),
        "array" => format!("list of {}", type_of(root, &schema["items"])),
        other => other.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => of(name),
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).map(of).collect::<Vec<_>>().join(" or ")
        }
        _ if schema.get("const").is_some() || schema.get("enum").is_some() => "text".to_owned(),
        _ => "any".to_owned(),
    }
}

#[test]
fn the_table_of_kinds_is_current() {
    let catalog =
        fs::read_to_string(book::root().join("assets/catalog.json")).expect("the catalog can be read");
    let catalog: Catalog = serde_json::from_str(&catalog).expect("a catalog");
    let mut table: BTreeMap<&str, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for entry in &catalog.kinds {
        let Some((action, resource)) = entry.acts else { continue };
        let kinds = table.entry(resource.name()).or_default().entry(action.name()).or_default();
        kinds.insert(kind(&entry.activity_type));
    }
    let mut text = String::from("\n| resource | action | kinds |\n|---|---|---|\n");
    for (resource, actions) in &table {
        for (action, kinds) in actions {
            let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
            writeln!(text, "| `{resource}` | `{action}` | {} |", kinds.join(", "))
                .expect("a text can be written to");
        }
    }
    text.push('\n');
    book::check_generated("docs/src/guides/policies.md", &text);
}

/// Returns the kind of an activity type: its name without prefix and version.
fn kind(activity_type: &str) -> &str {
    let name = activity_type.trim_start_matches("ACTIVITY_TYPE_");
    let is_version = |end: &str| end.strip_prefix('V').is_some_and(|digits| digits.parse::<u32>().is_ok());
    name.rsplit_once('_').filter(|(_, end)| is_version(end)).map_or(name, |(kind, _)| kind)
}

/// Appends the help of a command and of its subcommands.
fn describe(program: &str, command: &mut Vec<String>, shared: &[String], text: &mut String) {
    let help = help(program, command);
    let shown = if command.is_empty() { help.clone() } else { without(&help, shared) };
    let name = [&[program.to_owned()], command.as_slice()].concat().join(" ");
    writeln!(text, "\n## {name}\n\n```text,help\n{}\n```", shown.trim_end())
        .expect("a text can be written to");
    for subcommand in subcommands(&help) {
        command.push(subcommand);
        describe(program, command, shared, text);
        command.pop();
    }
}

fn help(program: &str, command: &[String]) -> String {
    let mut process = Command::new(paths::program(program));
    let output =
        process.args(command).arg("--help").env("COLUMNS", "100").output().expect("it can be started");
    let text = String::from_utf8(output.stdout).expect("help is text");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Returns the names of the subcommands in a help text, without `help`.
fn subcommands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = lines.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = rows.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

/// Returns the option that a line of a help text begins to describe, with its value.
fn option(line: &str) -> Option<&str> {
    let text = line.trim_start();
    (text.starts_with('-') && text.len() < line.len()).then(|| text.split("  ").next().unwrap_or(text))
}

fn options(help: &str) -> Vec<String> {
    help.lines().filter_map(option).map(str::to_owned).collect()
}

/// Removes options that every command accepts from a help text.
fn without(help: &str, shared: &[String]) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut is_shared = false;
    let own = help.split("\nGlobal options:").next().unwrap_or_default();
    for line in own.lines() {
        match option(line) {
            Some(option) => is_shared = shared.iter().any(|one| one == option),
            None if !line.is_empty() && !line.starts_with(' ') => is_shared = false,
            None => {}
        }
        if !is_shared {
            kept.push(line);
        }
    }
    let text = kept.join("\n");
    text.trim_end().strip_suffix("Options:").map_or(text.clone(), str::to_owned)
}
