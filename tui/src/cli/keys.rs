//! `quorate key add|ls|rm|lock`.

use quorate_common::stamp::ApiKeyCurve;
use serde_json::json;

use super::arguments::KeyCommand;
use super::table::{self, Row, Table};
use super::values::CurveArgument;
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::keys::file::{self, KeyFile};
use crate::keys::passphrase::{self, Source};
use crate::keys::{KeyError, Listed, Selector, Sources, curve_name, lock_request};
use crate::output::Answer;
use crate::session::Context;
use crate::text::clean;

pub(super) fn run(folders: &Folders, context: &Context, command: &KeyCommand) -> Result<Answer> {
    match command {
        KeyCommand::Add { name, curve } => add(folders, context, name, *curve),
        KeyCommand::Ls => list(folders),
        KeyCommand::Rm { name, yes } => remove(folders, name, yes.as_deref()),
        KeyCommand::Lock => lock(folders),
    }
}

fn add(folders: &Folders, context: &Context, name: &str, curve: CurveArgument) -> Result<Answer> {
    let curve = match curve {
        CurveArgument::P256 => ApiKeyCurve::P256,
        CurveArgument::Secp256k1 => ApiKeyCurve::Secp256k1,
        CurveArgument::Ed25519 => ApiKeyCurve::Ed25519,
    };
    let name = of_file(name, "keys of this source are created with its own tools")?;
    KeyFile::check_new(folders, &name)?;
    let source = context.passphrase_fd.map_or(Source::Terminal, Source::Descriptor);
    let phrase = passphrase::read(
        source,
        &format!("New passphrase (at least {} characters): ", file::PASSPHRASE_MINIMUM),
    )?;
    if passphrase::is_typed(source) && *passphrase::read(source, "Repeat the passphrase: ")? != *phrase {
        return Err(Failure::new(Exit::Usage, "the passphrases differ; no key was created"));
    }
    let key = KeyFile::create(folders, &name, curve, &phrase)?;
    let (curve, public) = (curve_name(key.curve()), key.public_key());
    let text = format!(
        "Key {name} ({curve}) is created, encrypted with the passphrase. Its public key:\n{public}\n\
         Give the public key to the root user who adds it to your user. Select the key with --key {name} or in config.toml.\n"
    );
    let answer = Answer::one(json!({"name": name, "curve": curve, "publicKey": public}), text);
    Ok(Answer { names: Some(vec![name.clone()]), ..answer })
}

/// Returns the name of a key file. `reason` is why a key of another source is an error.
fn of_file(selector: &str, reason: &str) -> Result<String> {
    match Selector::parse(selector).map_err(KeyError::from)? {
        Selector::File(name) => Ok(name),
        _ => Err(Failure::new(Exit::Usage, format!("{selector} is not a key file: {reason}"))),
    }
}

fn list(folders: &Folders) -> Result<Answer> {
    let keys = Sources::new(folders)?.list()?;
    Ok(Table {
        noun: ("key", "keys"),
        columns: &["NAME", "CURVE", "PUBLIC KEY"],
        wide: &[],
        rows: keys.iter().map(row).collect(),
        none: "No keys. Create one with `quorate key add NAME`, or add one to your SSH agent.",
        more: None,
    }
    .answer())
}

fn row(key: &Listed) -> Row {
    let Listed { selector, comment, key } = key;
    let mut data = match key {
        Ok((curve, public)) => {
            json!({"name": selector, "curve": curve_name(*curve), "publicKey": public})
        }
        Err(error) => json!({"name": selector, "error": error}),
    };
    if let (Some(comment), Some(members)) = (comment, data.as_object_mut()) {
        members.insert("comment".to_owned(), json!(comment));
    }
    let (curve, public) = match key {
        Ok((curve, public)) => (curve_name(*curve).to_owned(), public.clone()),
        Err(error) => ("-".to_owned(), format!("unusable: {error}")),
    };
    let mut row = table::row(data, selector, [selector.clone(), curve, public]);
    row.notes.extend(comment.as_ref().map(|comment| clean(comment)));
    row
}

/// Deletes a key file once its name was typed, or given as an argument.
fn remove(folders: &Folders, selector: &str, yes: Option<&str>) -> Result<Answer> {
    let name = of_file(selector, "remove it with the tools of its source, such as ssh-add -d")?;
    let path = KeyFile::existing(folders, &name)?;
    let public = KeyFile::load(folders, &name).map(|key| key.public_key().to_owned());
    let public = public.unwrap_or_else(|error| format!("unusable: {error}"));
    let typed = match yes {
        Some(given) => given.to_owned(),
        None => passphrase::word(&format!(
            "Deletes key {name} ({public}). Nothing can restore it, and requests can no longer be signed with it.\n\
             Type the name of the key to delete it: "
        ))?,
    };
    if typed != name {
        return Err(Failure::new(Exit::Usage, "the name differs; the key was not deleted"));
    }
    crate::files::remove(&path)?;
    Ok(Answer::one(json!({"name": name, "deleted": true}), format!("Key {name} is deleted.\n")))
}

/// Locks the keys of all open consoles of this user.
fn lock(folders: &Folders) -> Result<Answer> {
    lock_request::send(folders)?;
    let text = "Open consoles wipe their unlocked keys within a second.\n";
    Ok(Answer::one(json!({"locked": true}), text.to_owned()))
}
