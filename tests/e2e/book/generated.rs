//! The pages of the reference that list the commands with their options, and the table of kinds that policies match.
//! `BLESS=1` rewrites them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::process::Command;

use quorate_common::catalog::Catalog;
use quorate_tests::book;
use quorate_tests::paths;

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
