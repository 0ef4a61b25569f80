//! `quorate key add|ls` and `quorate journal verify`.

use std::fmt::Write as _;

use quorate_common::stamp::ApiKeyCurve;
use serde_json::json;

use super::Answer;
use super::arguments::{CurveArgument, JournalCommand, KeyCommand};
use crate::failure::{Exit, Failure};
use crate::keys::curve_name;
use crate::keys::file::{self, KeyFile};
use crate::keys::passphrase::{self, Source};
use crate::place::Folders;
use crate::session::Context;

pub(super) fn run(folders: &Folders, context: &Context, command: &KeyCommand) -> Result<Answer, Failure> {
    match command {
        KeyCommand::Add { name, curve } => add(folders, context, name, *curve),
        KeyCommand::Ls => list(folders),
    }
}

fn add(folders: &Folders, context: &Context, name: &str, curve: CurveArgument) -> Result<Answer, Failure> {
    let curve = match curve {
        CurveArgument::P256 => ApiKeyCurve::P256,
        CurveArgument::Secp256k1 => ApiKeyCurve::Secp256k1,
        CurveArgument::Ed25519 => ApiKeyCurve::Ed25519,
    };
    let source = context.passphrase_fd.map_or(Source::Ask, Source::Descriptor);
    let phrase = passphrase::read(
        source,
        &format!("New passphrase, {} characters or more: ", file::PASSPHRASE_MINIMUM),
    )?;
    if passphrase::is_typed(source) && *passphrase::read(source, "Once more: ")? != *phrase {
        return Err(Failure::new(Exit::Usage, "the two passphrases differ; no key was made"));
    }
    let key = KeyFile::create(folders, name, curve, &phrase)?;
    let text = format!("{}\n", key.public_key());
    Ok(Answer::one(line(name, &key), text))
}

fn list(folders: &Folders) -> Result<Answer, Failure> {
    let mut data = Vec::new();
    let mut text = String::new();
    for name in file::names(folders)? {
        match KeyFile::load(folders, &name) {
            Ok(key) => {
                let _ = writeln!(text, "{name}  {}  {}", curve_name(key.curve()), key.public_key());
                data.push(line(&name, &key));
            }
            Err(flaw) => {
                let _ = writeln!(text, "{name}  unusable: {flaw}");
                data.push(json!({"name": name, "error": flaw.to_string()}));
            }
        }
    }
    Ok(Answer::list(
        data,
        if text.is_empty() { "No keys. quorate key add NAME makes one.\n".to_owned() } else { text },
    ))
}

fn line(name: &str, key: &KeyFile) -> serde_json::Value {
    json!({"name": name, "curve": curve_name(key.curve()), "publicKey": key.public_key()})
}

pub(super) fn journal(folders: &Folders, command: JournalCommand) -> Result<Answer, Failure> {
    let JournalCommand::Verify = command;
    match crate::journal::verify(&folders.journal())? {
        Ok(count) => Ok(Answer::one(
            json!({"entries": count, "intact": true}),
            format!("{count} entries, chain intact\n"),
        )),
        Err(line) => Err(Failure::new(Exit::Verification, format!("the chain breaks at line {line}"))),
    }
}
