//! `quorate config check` and `quorate config show`.

use std::path::PathBuf;

use serde_json::json;

use super::arguments::ConfigCommand;
use crate::config::{self, Config, Read};
use crate::failure::{Exit, Failure, Result};
use crate::files::{self, Folders};
use crate::keys::Selector;
use crate::keys::file::KeyFile;
use crate::keys::security_key;
use crate::output::Answer;
use crate::screens::bindings::Bindings;
use crate::session::{Context, Origin, Session, Setting, Settings};
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
    let paths = contexts_with_keys(&read.config);
    let keys: Vec<(String, Option<String>)> =
        paths.into_iter().map(|(path, key)| (path, key_problem(folders, &key))).collect();
    let theme = read.config.theme.as_deref().and_then(|name| theme::load(Some(name), false, folders).err());
    let theme = ("theme".to_owned(), theme.map(|error| error.to_string()));
    for (name, problem) in keys.into_iter().chain([theme]) {
        if let (Some(text), Some(line)) = (problem, read.line(&name)) {
            let text = format!("{}: {}", clean(&name), clean(&text));
            read.problems.push(config::Problem { line, text });
        }
    }
    read.problems.extend(Bindings::of(&read.config).err().unwrap_or_default());
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
        Ok(Selector::SecurityKey(name)) => {
            security_key::public_key(folders, &name).err().map(|error| error.to_string())
        }
        Ok(Selector::Agent(_) | Selector::Token { .. }) => None,
        Err(error) => Some(error.to_string()),
    }
}

/// Returns the keys that the file names, by their path in it.
fn contexts_with_keys(config: &Config) -> Vec<(String, String)> {
    let own = std::iter::once(("key".to_owned(), &config.selection));
    let contexts = config.contexts.iter().map(|(name, of)| (format!("contexts.{name}.key"), of));
    own.chain(contexts).filter_map(|(path, of)| Some((path, of.key.clone()?))).collect()
}

/// Shows the settings that apply. `origin` adds where each of them comes from.
fn show(folders: &Folders, context: &Context, origin: bool) -> Result<Answer> {
    let read = config::read(folders).map_err(Failure::from)?;
    let rows = settings(context, folders, &read)?.into_iter().map(|(name, value, from)| {
        let data = json!({"name": name, "value": value, "origin": from});
        let origin = origin && value.is_some();
        let value = value.map_or_else(|| "not set".to_owned(), |value| clean(&value));
        let from = if origin { format!("  ({from})") } else { String::new() };
        (data, format!("{}{value}{from}\n", pad(name, NAME_COLUMNS)))
    });
    Ok(Answer::rows(rows, ""))
}

/// Returns the name of each setting, its value and where it comes from.
fn settings(
    context: &Context,
    folders: &Folders,
    read: &Read,
) -> Result<Vec<(&'static str, Option<String>, String)>> {
    let session = Session::new(context, folders)?;
    let file = || clean(&config::path(folders).display().to_string());
    let of_file = |name: &str| {
        read.line(name).map_or_else(|| "not set".to_owned(), |line| format!("{}:{line}", file()))
    };
    let other = [
        ("pkcs11_module", read.config.pkcs11_module.as_ref().map(|path| path.display().to_string())),
        ("security_key", read.config.security_key.as_ref().map(|path| path.display().to_string())),
        ("theme", read.config.theme.clone()),
        ("notify", read.config.notify.as_ref().map(|ways| ways.join(", "))),
        ("mouse", read.config.mouse.map(|mouse| mouse.to_string())),
        ("keys", keys(&read.config)),
    ];
    let other = other.into_iter().map(|(name, value)| (name, value, of_file(name)));
    if let Some(path) = &context.credentials {
        let from = format!("credentials file {}", clean(&path.display().to_string()));
        let identity = &session.identity;
        let organization = identity.viewer.organization.map(|id| id.to_string());
        let own = [
            (
                if session.client.is_remote() { "url" } else { "socket" },
                Some(session.client.address()),
                context.socket.is_some() || context.url.is_some(),
            ),
            (
                "organization",
                organization.or(identity.organization_name.clone()),
                context.organization.is_some(),
            ),
            ("user", identity.viewer.user.map(|id| id.to_string()), context.user.is_some()),
            ("key", identity.key_name.clone(), false),
        ];
        let own = own.into_iter().map(|(name, value, is_given)| {
            let from = if is_given { format!("option --{name}") } else { from.clone() };
            let from = if value.is_some() { from } else { "not set".to_owned() };
            (name, value, from)
        });
        return Ok(own.chain(other).collect());
    }
    let Settings { context, socket, url, pin, ca_file, organization, user, key, .. } =
        Settings::of(context, &read.config)?;
    let shown =
        |path: Setting<PathBuf>| Setting { value: path.value.display().to_string(), origin: path.origin };
    let own = [
        ("context", context),
        ("socket", Some(shown(socket))),
        ("url", url),
        ("pin", pin),
        ("ca_file", ca_file.map(shown)),
        ("organization", organization),
        ("user", user),
        ("key", key),
    ];
    let own = own.into_iter().map(|(name, setting)| match setting {
        None => (name, None, "not set".to_owned()),
        Some(Setting { value, origin }) => {
            let from = match origin {
                Origin::Argument => format!("option --{}", name.replace('_', "-")),
                Origin::Variable => format!("variable QUORATE_{}", name.to_ascii_uppercase()),
                Origin::Context(of) => of_file(&format!("contexts.{of}.{name}")),
                Origin::File => of_file(name),
                Origin::Default => "default".to_owned(),
            };
            (name, Some(value), from)
        }
    });
    Ok(own.chain(other).collect())
}

/// Returns the keys that the user adds to commands.
fn keys(config: &Config) -> Option<String> {
    let entries = config.keys.iter().map(|(name, keys)| format!("{name} = {}", keys.join(" ")));
    let entries: Vec<String> = entries.collect();
    (!entries.is_empty()).then(|| entries.join(", "))
}
