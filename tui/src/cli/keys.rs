//! `quorate key add|ls` and `quorate journal verify`.

use quorate_common::stamp::ApiKeyCurve;
use serde_json::json;

use super::arguments::{JournalCommand, KeyCommand};
use super::values::CurveArgument;
use crate::failure::{Exit, Failure, Result};
use crate::files::Folders;
use crate::keys::curve_name;
use crate::keys::file::{self, KeyFile};
use crate::keys::passphrase::{self, Source};
use crate::output::Answer;
use crate::session::Context;

pub(super) fn run(folders: &Folders, context: &Context, command: &KeyCommand) -> Result<Answer> {
    match command {
        KeyCommand::Add { name, curve } => add(folders, context, name, *curve),
        KeyCommand::Ls => list(folders),
    }
}

fn add(folders: &Folders, context: &Context, name: &str, curve: CurveArgument) -> Result<Answer> {
    let curve = match curve {
        CurveArgument::P256 => ApiKeyCurve::P256,
        CurveArgument::Secp256k1 => ApiKeyCurve::Secp256k1,
        CurveArgument::Ed25519 => ApiKeyCurve::Ed25519,
    };
    let source = context.passphrase_fd.map_or(Source::Terminal, Source::Descriptor);
    let phrase = passphrase::read(
        source,
        &format!("New passphrase (at least {} characters): ", file::PASSPHRASE_MINIMUM),
    )?;
    if passphrase::is_typed(source) && *passphrase::read(source, "Repeat the passphrase: ")? != *phrase {
        return Err(Failure::new(Exit::Usage, "the passphrases differ; no key was created"));
    }
    let key = KeyFile::create(folders, name, curve, &phrase)?;
    let text = format!("{}\n", key.public_key());
    Ok(Answer::one(line(name, &key), text))
}

fn list(folders: &Folders) -> Result<Answer> {
    let row = |name: String| match KeyFile::load(folders, &name) {
        Ok(key) => {
            let text = format!("{name}  {}  {}\n", curve_name(key.curve()), key.public_key());
            (line(&name, &key), text)
        }
        Err(error) => {
            let data = json!({"name": name, "error": error.to_string()});
            (data, format!("{name}  unusable: {error}\n"))
        }
    };
    let rows = file::names(folders)?.into_iter().map(row);
    Ok(Answer::rows(rows, "No keys. Create one with `quorate key add NAME`."))
}

fn line(name: &str, key: &KeyFile) -> serde_json::Value {
    json!({"name": name, "curve": curve_name(key.curve()), "publicKey": key.public_key()})
}

pub(super) fn journal(folders: &Folders, command: JournalCommand) -> Result<Answer> {
    let JournalCommand::Verify = command;
    match crate::journal::verify(&folders.journal())? {
        Ok(count) => Ok(Answer::one(
            json!({"entries": count, "intact": true}),
            format!("Entries: {count}. The hash chain is intact.\n"),
        )),
        Err(line) => Err(Failure::new(Exit::Verification, format!("the hash chain breaks at line {line}"))),
    }
}
