//! The user's `config.toml`: default daemon, organization, user and key.

use std::path::PathBuf;
use std::str::FromStr;

use quorate_common::ids::{OrganizationId, UserId};
use toml::de::{DeTable, DeValue};

use crate::files::{self, FileError, Folders};
use crate::text::quoted;

const SIZE_LIMIT: u64 = 64 * 1024;
/// Maximum number of problems that are reported.
const PROBLEMS: usize = 64;

/// The keys of the file.
pub(crate) const KEYS: [&str; 6] = ["socket", "organization", "user", "key", "pkcs11_module", "theme"];

/// Parsed configuration file. Unknown keys are an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) socket: Option<PathBuf>,
    /// Organization that this console is pinned to.
    pub(crate) organization: Option<OrganizationId>,
    /// User who votes.
    pub(crate) user: Option<UserId>,
    /// Key to sign with: `file:NAME` or a name alone, `agent:KEY` or `pkcs11:TOKEN/LABEL`.
    pub(crate) key: Option<String>,
    /// Absolute path of the PKCS #11 module of tokens.
    pub(crate) pkcs11_module: Option<PathBuf>,
    /// Name of the theme of the console.
    pub(crate) theme: Option<String>,
}

/// Why the configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not TOML, or has unknown keys or invalid values. The reason names lines and keys.
    #[error("{}: {reason}", path.display())]
    Content { path: PathBuf, reason: String },
}

/// A problem at a place of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Line, counted from one.
    pub(crate) line: usize,
    /// What is wrong, cleaned.
    pub(crate) text: String,
}

/// The content of the file: what is valid of it, where that is, and what is not valid.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) config: Config,
    /// Lines of the keys that are set, counted from one.
    pub(crate) lines: Vec<(&'static str, usize)>,
    pub(crate) problems: Vec<Problem>,
}

/// Returns the path of the file.
pub(crate) fn path(folders: &Folders) -> PathBuf {
    folders.config.join("config.toml")
}

/// Reads the file. Returns the default configuration if the file does not exist.
pub(crate) fn read(folders: &Folders) -> Result<Read, FileError> {
    let path = path(folders);
    let Some(bytes) = files::read(&path, SIZE_LIMIT)? else { return Ok(Read::default()) };
    Ok(Read::of(&String::from_utf8(bytes).map_err(|_| FileError::Content(path))?))
}

impl Config {
    /// Loads the file. Returns the default configuration if the file does not exist.
    pub(crate) fn load(folders: &Folders) -> Result<Self, ConfigError> {
        let read = read(folders)?;
        if read.problems.is_empty() {
            return Ok(read.config);
        }
        let lines = read.problems.iter().map(|problem| format!("line {}: {}", problem.line, problem.text));
        Err(ConfigError::Content { path: path(folders), reason: lines.collect::<Vec<_>>().join("\n") })
    }
}

impl Read {
    /// Reads the text of a file.
    fn of(text: &str) -> Self {
        let (table, errors) = DeTable::parse_recoverable(text);
        let mut read = Self::default();
        for error in errors.iter().take(PROBLEMS) {
            let at = error.span().map_or(0, |span| span.start);
            read.problem(line(text, at), quoted_message(error.message()));
        }
        if !errors.is_empty() {
            // What the parser recovered is not what the user wrote.
            return read;
        }
        for (key, value) in table.get_ref() {
            let at = line(text, key.span().start);
            match KEYS.into_iter().find(|known| *known == key.get_ref()) {
                None => {
                    let known = KEYS.join(", ");
                    read.problem(at, format!("unknown key {}; the keys are {known}", quoted(key.get_ref())));
                }
                Some(name) => read.set(name, value.get_ref(), at),
            }
        }
        read.problems.sort_by_key(|problem| problem.line);
        read
    }

    fn problem(&mut self, line: usize, text: String) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { line, text });
        }
    }

    /// Sets the key `name`, if its value is valid.
    fn set(&mut self, name: &'static str, value: &DeValue<'_>, line: usize) {
        let DeValue::String(text) = value else {
            return self.problem(line, format!("{name}: expected a string, found {}", value.type_str()));
        };
        let config = &mut self.config;
        let result = match name {
            "organization" => id(text).map(|id| config.organization = Some(id)),
            "user" => id(text).map(|id| config.user = Some(id)),
            _ => {
                match name {
                    "socket" => config.socket = Some(PathBuf::from(text.as_ref())),
                    "pkcs11_module" => config.pkcs11_module = Some(PathBuf::from(text.as_ref())),
                    "theme" => config.theme = Some(text.to_string()),
                    _ => config.key = Some(text.to_string()),
                }
                Ok(())
            }
        };
        match result {
            Ok(()) => self.lines.push((name, line)),
            Err(reason) => self.problem(line, format!("{name}: {reason}, found {}", quoted(text))),
        }
    }
}

fn id<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

fn quoted_message(message: &str) -> String {
    crate::text::clean(message.lines().next().unwrap_or_default())
}

/// Returns the line of an offset in bytes, counted from one.
fn line(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().iter().take(offset);
    before.filter(|byte| **byte == b'\n').count().saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<(usize, String)> {
        Read::of(text).problems.into_iter().map(|problem| (problem.line, problem.text)).collect()
    }

    #[test]
    fn reads_all_keys_with_their_lines() {
        let id = "00000000-0000-4000-8000-000000000001";
        let good = format!("# mine\nsocket = \"/run/q.sock\"\norganization = \"{id}\"\n\nkey = \"laptop\"\n");
        let read = Read::of(&good);
        assert_eq!(read.problems, []);
        assert_eq!((read.config.key.as_deref(), read.config.user), (Some("laptop"), None));
        let mut lines = read.lines;
        lines.sort_unstable();
        assert_eq!(lines, [("key", 5), ("organization", 3), ("socket", 2)]);
    }

    #[test]
    fn reports_every_problem_with_its_line() {
        let text = "kye = \"b\"\nkey = 1\norganization = \"x\"\nuser = [\"a\"]\nsocket = \"/s\"\n";
        let problems = problems(text);
        let lines: Vec<usize> = problems.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4]);
        let expected = ["unknown key", "expected a string, found integer", "UUID", "found array"];
        for ((_, text), expected) in problems.iter().zip(expected) {
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn reports_what_is_not_toml() {
        let at = |text: &str| problems(text).first().map(|(line, _)| *line);
        assert_eq!(at("key = \"a\"\nuser = \n"), Some(2));
        assert_eq!(at("key = \"a\"\nkey = \"b\"\n"), Some(2));
        assert_eq!(at("\n\n[[["), Some(3));
        assert_eq!(at(""), None);
    }
}
