//! Findings about the files and the socket of this console, and about its user and key.

use std::path::{Path, PathBuf};

use quorate_common::console::OrganizationDetail;
use quorate_common::ids::OrganizationId;

use super::Finding;
use crate::book::Book;
use crate::config::{self, Config};
use crate::files::{self, FileError, Folders, SocketFile};
use crate::journal;
use crate::keys::file::{KeyFile, KeyFileError};
use crate::keys::{Selector, Sources};
use crate::known_keys::{KnownKeys, KnownQuorum};
use crate::session::{Context, Identity, Origin, Settings, check_credentials};
use crate::text::clean;

/// Permission bits of users outside of the group.
const OTHERS: u32 = 0o007;

/// Returns the findings about the files and the socket of this console. Reads files only.
pub(crate) fn of_console(context: &Context, folders: &Folders) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        [&folders.config, &folders.state].into_iter().filter_map(|path| folder(path)).collect();
    let (config, problems) = config(folders);
    findings.extend(problems);
    findings.extend(key(context, &config, folders));
    findings.extend(own_file("known-keys", "known keys", KnownKeys::load(&folders.known_keys()).err()));
    findings.extend(own_file("book", "address book", Book::load(&folders.book()).err()));
    findings.extend(journal(folders));
    if context.credentials.is_none() {
        findings.extend(socket_path(context, folders).and_then(|path| socket(&path)));
    }
    findings
}

/// Returns the path of the socket that the user selected, or the default. There is none if the configuration is not valid
/// and may name another one, or if a URL is selected.
pub(crate) fn socket_path(context: &Context, folders: &Folders) -> Option<PathBuf> {
    let read = config::read(folders).ok();
    let is_valid = read.as_ref().is_some_and(|read| read.problems.is_empty());
    let Settings { socket, url, .. } = Settings::of(context, &read.unwrap_or_default().config).ok()?;
    if url.is_some() {
        return None;
    }
    (is_valid || socket.origin != Origin::Default).then_some(socket.value)
}

/// Returns the findings about user and key in an organization, and about its keys.
pub(crate) fn of_organization(
    identity: &Identity,
    organization: &OrganizationDetail,
    known_keys: &KnownKeys,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(mismatch) = identity.mismatch(organization) {
        findings.push(Finding::problem(
            "identity",
            mismatch.message(),
            "Correct `user` and `key` in config.toml, or ask a root user to add the key.",
        ));
    }
    let id = organization.head.organization_id;
    let is_other = known_keys.quorum(id).is_some_and(|pin| pin.value != KnownQuorum::stated(organization));
    if is_other {
        findings.push(Finding::problem(
            "quorum-changed",
            "the root quorum differs from the one that this console knows",
            "Run `quorate known-keys accept`, which follows the proof of the change.",
        ));
    }
    let count = known_keys.unconfirmed(organization).len();
    if count > 0 {
        findings.push(Finding::note(
            "keys-unconfirmed",
            format!("keys that appeared after the first contact and are not confirmed: {count}"),
            "Compare them with their owners in person, then run `quorate known-keys accept`.",
        ));
    }
    findings
}

/// Returns the finding about an organization that does not exist.
pub(crate) fn organization_missing(id: OrganizationId) -> Finding {
    Finding::problem(
        "organization-missing",
        format!("organization {id} does not exist on this daemon"),
        "Run `quorate org ls`, and correct `organization` in config.toml.",
    )
}

/// Returns the finding about a daemon that this console does not use.
pub(crate) fn refused(reason: &str) -> Finding {
    Finding::problem(
        "daemon-refused",
        clean(reason),
        "Install matching versions, or select the daemon that this console is set up for.",
    )
}

fn folder(path: &Path) -> Option<Finding> {
    let mode = files::mode(path)?;
    (mode & files::WRITABLE != 0).then(|| {
        Finding::problem(
            "folder-writable",
            format!("{}: other users can change its files (mode {mode:03o})", shown(path)),
            format!("Run `chmod 700 {}`.", shown(path)),
        )
    })
}

/// Returns the configuration as far as it is valid, and the findings about it.
fn config(folders: &Folders) -> (Config, Vec<Finding>) {
    let path = config::path(folders);
    match config::read(folders) {
        Err(error) => {
            let what = clean(&error.to_string());
            let finding = match &error {
                FileError::Writable { .. } | FileError::Owner { .. } => {
                    let (own, path) = ("Check that the file contains what you wrote", shown(&path));
                    let advice = format!("{own}, make it your own, and run `chmod go-w {path}`.");
                    Finding::problem("config-writable", what, advice)
                }
                _ => {
                    let advice = format!("Make {} readable for this user, as UTF-8 text.", shown(&path));
                    Finding::problem("config-unreadable", what, advice)
                }
            };
            (Config::default(), vec![finding])
        }
        Ok(read) => {
            let finding = |problem: &config::Problem| {
                Finding::problem(
                    "config-invalid",
                    format!("{}:{}: {}", shown(&path), problem.line, problem.text),
                    format!("Correct line {}, then run `quorate config check`.", problem.line),
                )
            };
            let findings = read.problems.iter().map(finding).collect();
            (read.config, findings)
        }
    }
}

/// Returns the finding about the signing key.
fn key(context: &Context, config: &Config, folders: &Folders) -> Option<Finding> {
    if let Some(path) = &context.credentials {
        let failure = check_credentials(path).err()?;
        return Some(Finding::problem(
            "credentials",
            failure.message(),
            "Name the file that `quorated dev` wrote, readable by its owner only.",
        ));
    }
    let key = match Settings::of(context, config) {
        Ok(settings) => settings.key,
        Err(failure) => {
            let advice = "Correct the name of the context, see `quorate context ls`.";
            return Some(Finding::problem("context-missing", failure.message(), advice));
        }
    };
    let Some(name) = key.map(|key| key.value) else {
        return Some(Finding::note(
            "no-key",
            "no key is selected, so this console is read only",
            "Create a key with `quorate key add NAME`, and set `key` in config.toml to approve.",
        ));
    };
    let name = match Selector::parse(&name) {
        Ok(Selector::File(name)) => name,
        Ok(Selector::Agent(_) | Selector::Token { .. } | Selector::SecurityKey(_)) | Err(_) => {
            let error = Sources::configured(folders, config).open(&name).err()?;
            return Some(Finding::problem(
                "key-source",
                clean(&error.to_string()),
                "Start the SSH agent, attach the token, restore the record of the security key, or correct `key` in config.toml.",
            ));
        }
    };
    let error = KeyFile::load(folders, &name).err()?;
    let what = clean(&error.to_string());
    Some(match error {
        KeyFileError::Missing(_) => {
            Finding::problem("key-missing", what, "Correct `key` in config.toml, or create the key.")
        }
        KeyFileError::File(FileError::Permissions { path, .. }) => Finding::problem(
            "key-permissions",
            what,
            format!("Run `chmod 600 {}`, and replace the key if others may have copied it.", shown(&path)),
        ),
        _ => Finding::problem(
            "key-invalid",
            what,
            "Restore the key file from your copy, or create another key.",
        ),
    })
}

/// Returns the finding about one of the console's own files.
fn own_file(code: &'static str, name: &str, error: Option<FileError>) -> Option<Finding> {
    let error = error?;
    let advice = match &error {
        FileError::Permissions { path, .. } => {
            format!("Check that nobody changed the {name}, then run `chmod 600 {}`.", shown(path))
        }
        _ => format!("Restore the {name} from a backup; without it, this console does not start."),
    };
    Some(Finding::problem(code, clean(&error.to_string()), advice))
}

fn journal(folders: &Folders) -> Option<Finding> {
    let path = folders.journal();
    match journal::verify(&path) {
        Ok(Ok(_)) => None,
        Ok(Err(line)) => Some(Finding::problem(
            "journal-broken",
            format!("{}:{line}: an entry was changed or removed", shown(&path)),
            "Keep the file as evidence, move it away, and find out who can write it.",
        )),
        Err(error) => own_file("journal", "journal", Some(error)),
    }
}

fn socket(path: &Path) -> Option<Finding> {
    let name = shown(path);
    match files::socket(path) {
        Ok(SocketFile::Missing) => Some(Finding::problem(
            "socket-missing",
            format!("{name}: there is no socket"),
            "Start the daemon with `quorated serve`, or set `socket` in config.toml to its socket.",
        )),
        Ok(SocketFile::Other) => Some(Finding::problem(
            "socket-other",
            format!("{name}: not a socket"),
            "Set `socket` in config.toml to the socket of the daemon.",
        )),
        Ok(SocketFile::Socket(mode)) => (mode & OTHERS != 0).then(|| {
            Finding::warning(
                "socket-permissions",
                format!("{name}: all users may connect (mode {mode:03o})"),
                "Restart the daemon, which creates the socket for its user and its configured group only.",
            )
        }),
        Err(error) => Some(Finding::problem(
            "socket-forbidden",
            clean(&error.to_string()),
            "Add this user to the group in `[socket]` of the daemon's configuration, and log in again.",
        )),
    }
}

fn shown(path: &Path) -> String {
    clean(&path.display().to_string())
}
