//! `quorate key add|registration|ls|rm|lock`.

use quorate_common::stamp::ApiKeyCurve;
use serde_json::json;

use super::arguments::KeyCommand;
use super::table::{self, Row, Table};
use super::values::CurveArgument;
use crate::config::Config;
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::keys::file::{self, KeyFile};
use crate::keys::passphrase::{self, Source};
use crate::keys::security_key::{self, NewSecurityKey};
use crate::keys::{KeyError, Listed, Selector, Sources, curve_name, lock_request};
use crate::output::{self, Answer};
use crate::session::Context;
use crate::text::clean;

pub(super) fn run(folders: &Folders, context: &Context, command: &KeyCommand) -> Result<Answer> {
    match command {
        KeyCommand::Add { name, curve, relying_party, origin } => {
            match Selector::parse(name).map_err(KeyError::from)? {
                Selector::SecurityKey(name) => {
                    let origin = origin.clone().unwrap_or_else(|| format!("https://{relying_party}"));
                    add_security_key(folders, context, &name, (relying_party, &origin))
                }
                _ => add(folders, context, name, *curve),
            }
        }
        KeyCommand::Registration { name } => registration(folders, name),
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

/// Creates a key on the attached security key.
fn add_security_key(
    folders: &Folders,
    context: &Context,
    name: &str,
    relying_party_and_origin: (&str, &str),
) -> Result<Answer> {
    let device = Config::load(folders)?.security_key;
    let new = NewSecurityKey::new(folders, device.as_deref(), name, relying_party_and_origin)?;
    let source = context.passphrase_fd.map_or(Source::Terminal, Source::Descriptor);
    let pin = passphrase::read(source, "PIN of the security key: ")?;
    output::prompt("touch the security key when it blinks");
    let public = new.create(folders, &pin)?;
    let text = format!(
        "Key fido2:{name} is created on the security key. Its public key:\n{public}\n\
         Register it for your user: give the output of `quorate key registration fido2:{name}` to a root user. Select the \
         key with --key fido2:{name} or in config.toml.\n"
    );
    let selector = format!("fido2:{name}");
    let curve = curve_name(ApiKeyCurve::P256);
    let answer = Answer::one(json!({"name": selector, "curve": curve, "publicKey": public}), text);
    Ok(Answer { names: Some(vec![selector]), ..answer })
}

/// Returns the parameters that register a key on a security key.
fn registration(folders: &Folders, selector: &str) -> Result<Answer> {
    let Selector::SecurityKey(name) = Selector::parse(selector).map_err(KeyError::from)? else {
        let text = format!("{selector} is not on a security key: use fido2:NAME");
        return Err(Failure::new(Exit::Usage, text));
    };
    let parameters = security_key::registration(folders, &name)?;
    let text = format!("{}\n", serde_json::to_string_pretty(&parameters).unwrap_or_default());
    Ok(Answer::one(parameters, text))
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
    let parsed = Selector::parse(selector).map_err(KeyError::from)?;
    let (name, path, public) = if let Selector::SecurityKey(name) = parsed {
        let public = security_key::public_key(folders, &name).map_err(|error| error.to_string());
        (selector.to_owned(), security_key::existing(folders, &name)?, public)
    } else {
        let name = of_file(selector, "remove it with the tools of its source, such as ssh-add -d")?;
        let public = KeyFile::load(folders, &name).map(|key| key.public_key().to_owned());
        let path = KeyFile::existing(folders, &name)?;
        (name, path, public.map_err(|error| error.to_string()))
    };
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
