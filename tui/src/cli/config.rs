//! `quorate config check` and `quorate config show`.

use serde_json::json;

use super::arguments::ConfigCommand;
use crate::config::{self, KEYS, Read};
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, Folders};
use crate::keys::Selector;
use crate::keys::file::KeyFile;
use crate::output::Answer;
use crate::session::{Context, Session};
use crate::text::{clean, pad};
use crate::theme;

/// Width of the names of settings, in columns.
const NAME_COLUMNS: usize = 14;

pub(super) fn run(folders: &Folders, context: &Context, command: ConfigCommand) -> Result<Answer> {
    match command {
        ConfigCommand::Check => check(folders),
        ConfigCommand::Show { origin } => show(folders, context, origin),
    }
}

/// Checks the file, and the files that it names.
fn check(folders: &Folders) -> Result<Answer> {
    let path = clean(&config::path(folders).display().to_string());
    let mut read = config::read(folders)?;
    let key = read.config.key.as_deref().and_then(|key| key_problem(folders, key));
    let theme = read.config.theme.as_deref().and_then(|name| theme::load(Some(name), false, folders).err());
    for (name, problem) in [("key", key), ("theme", theme.map(|error| error.to_string()))] {
        let line = read.lines.iter().find(|(known, _)| *known == name).map(|(_, line)| *line);
        if let (Some(text), Some(line)) = (problem, line) {
            read.problems.push(config::Problem { line, text: format!("{name}: {}", clean(&text)) });
        }
    }
    read.problems.sort_by_key(|problem| problem.line);
    if read.problems.is_empty() {
        let text = if files::mode(&config::path(folders)).is_some() {
            format!("{path}: valid\n")
        } else {
            format!("{path}: not there; the defaults apply\n")
        };
        return Ok(Answer::list(Vec::new(), text));
    }
    let row = |problem: &config::Problem| {
        let data = json!({"file": path, "line": problem.line, "problem": problem.text});
        (data, format!("{path}:{}: {}\n", problem.line, problem.text))
    };
    Ok(Answer::rows(read.problems.iter().map(row), "").exits(Exit::Usage))
}

/// Returns why no key can have this name, or why its file cannot be used. Agents and tokens are not contacted.
fn key_problem(folders: &Folders, key: &str) -> Option<String> {
    match Selector::parse(key) {
        Ok(Selector::File(name)) => KeyFile::load(folders, &name).err().map(|error| error.to_string()),
        Ok(Selector::Agent(_) | Selector::Token { .. }) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Shows the settings that apply. `origin` adds where each of them comes from.
fn show(folders: &Folders, context: &Context, origin: bool) -> Result<Answer> {
    let read = config::read(folders).map_err(Failure::from)?;
    let session = Session::new(context, folders)?;
    let viewer = &session.identity.viewer;
    let user = viewer.user.map(|id| id.to_string()).or_else(|| session.identity.user_name.clone());
    let values = [
        Some(session.client.socket().display().to_string()),
        viewer.organization.map(|id| id.to_string()),
        user,
        session.identity.key_name.clone(),
        read.config.pkcs11_module.as_ref().map(|path| path.display().to_string()),
        read.config.theme.clone(),
    ];
    let rows = KEYS.into_iter().zip(values).map(|(name, value)| {
        let from = source(name, value.is_some(), context, folders, &read);
        let data = json!({"name": name, "value": value, "origin": from});
        let origin = origin && value.is_some();
        let value = value.map_or_else(|| "not set".to_owned(), |value| clean(&value));
        let from = if origin { format!("  ({from})") } else { String::new() };
        (data, format!("{}{value}{from}\n", pad(name, NAME_COLUMNS)))
    });
    Ok(Answer::rows(rows, ""))
}

/// Returns where the value of a setting comes from.
fn source(name: &str, is_set: bool, context: &Context, folders: &Folders, read: &Read) -> String {
    let is_given = match name {
        "socket" => context.socket.is_some(),
        "organization" => context.organization.is_some(),
        "user" => context.user.is_some(),
        "key" => context.key.is_some(),
        _ => false,
    };
    let line = read.lines.iter().find(|(key, _)| *key == name).map(|(_, line)| *line);
    match (is_given, &context.credentials, line) {
        (true, _, _) => format!("option --{name}"),
        (false, Some(path), _) if is_set => {
            format!("credentials file {}", clean(&path.display().to_string()))
        }
        (false, None, Some(line)) => {
            format!("{}:{line}", clean(&config::path(folders).display().to_string()))
        }
        _ if name == "socket" => "default".to_owned(),
        _ => "not set".to_owned(),
    }
}
