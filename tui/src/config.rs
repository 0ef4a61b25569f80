//! The user's `config.toml`: default daemon, organization, user and key.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use toml::de::{DeTable, DeValue};

use crate::files::{self, FileError, Folders};
use crate::text::quoted;

const SIZE_LIMIT: u64 = 64 * 1024;
/// Maximum number of problems that are reported.
const PROBLEMS: usize = 64;

/// The keys of the file. Those of [`SELECTION`] may also be in a section `[contexts.NAME]`.
pub(crate) const KEYS: [&str; 15] = [
    "context",
    "contexts",
    "socket",
    "url",
    "pin",
    "ca_file",
    "organization",
    "user",
    "key",
    "pkcs11_module",
    "security_key",
    "theme",
    "notify",
    "mouse",
    "keys",
];
/// Ways to notify.
pub(crate) const NOTIFICATIONS: [&str; 4] = ["bell", "osc9", "osc777", "title"];
/// Maximum number of entries in a list or table.
const ENTRIES: usize = 64;

/// The keys that select a daemon, an organization, a user and a key.
const SELECTION: [&str; 7] = ["socket", "url", "pin", "ca_file", "organization", "user", "key"];

/// What selects a daemon, an organization, a user and a key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) socket: Option<PathBuf>,
    /// URL of a daemon elsewhere.
    pub(crate) url: Option<String>,
    /// Pin of its TLS key: `sha256/BASE64`.
    pub(crate) pin: Option<String>,
    /// PEM file of the certificate authorities that may vouch for it.
    pub(crate) ca_file: Option<PathBuf>,
    /// Organization that this console is pinned to, by id; or its name, which pins nothing.
    pub(crate) organization: Option<String>,
    /// User who votes, by id or name.
    pub(crate) user: Option<String>,
    /// Key to sign with: `file:NAME` or a name alone, `agent:KEY`, `pkcs11:TOKEN/LABEL` or `fido2:NAME`.
    pub(crate) key: Option<String>,
}

/// Parsed configuration file. Unknown keys are an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) selection: Selection,
    /// Name of the context that applies unless another one is selected.
    pub(crate) context: Option<String>,
    /// Contexts by name.
    pub(crate) contexts: BTreeMap<String, Selection>,
    /// Absolute path of the PKCS #11 module of tokens.
    pub(crate) pkcs11_module: Option<PathBuf>,
    /// Path of the security key, unless the attached ones are searched: a HID device or a Unix socket.
    pub(crate) security_key: Option<PathBuf>,
    /// Name of the theme of the console.
    pub(crate) theme: Option<String>,
    /// How the console notifies of new activities with risk HIGH: some of [`NOTIFICATIONS`].
    pub(crate) notify: Option<Vec<String>>,
    /// Whether the console uses the mouse.
    pub(crate) mouse: Option<bool>,
    /// Keys that the user adds to commands, by the name of the command.
    pub(crate) keys: Vec<(String, Vec<String>)>,
    /// Lines of these keys, counted from one.
    pub(crate) keys_at: Vec<usize>,
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
    /// Lines of the keys that are set, counted from one; those of a context by their path, such as
    /// `contexts.NAME.key`.
    pub(crate) lines: Vec<(String, usize)>,
    /// Where the name of the context is in the file, in bytes.
    context_span: Option<Range<usize>>,
    pub(crate) problems: Vec<Problem>,
}

/// Returns the path of the file.
pub(crate) fn path(folders: &Folders) -> PathBuf {
    folders.config.join("config.toml")
}

/// Reads the file. Returns the default configuration if the file does not exist.
pub(crate) fn read(folders: &Folders) -> Result<Read, FileError> {
    Ok(read_text(folders)?.map_or_else(Read::default, |text| Read::of(&text)))
}

fn read_text(folders: &Folders) -> Result<Option<String>, FileError> {
    let path = path(folders);
    let Some(bytes) = files::read_trusted(&path, SIZE_LIMIT)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| FileError::Content(path))
}

/// Makes the context with this name the one of the file. Nothing else in the file changes.
pub(crate) fn use_context(folders: &Folders, name: &str) -> Result<(), FileError> {
    let text = read_text(folders)?.unwrap_or_default();
    files::write_private(&path(folders), Read::of(&text).with_context(&text, name).as_bytes())
}

impl Config {
    /// Reads the text of a valid file.
    #[cfg(test)]
    pub(crate) fn of(text: &str) -> Self {
        Read::of(text).config
    }

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
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("contexts", DeValue::Table(contexts)) => read.contexts(text, contexts),
                ("contexts", other) => {
                    read.problem(at, format!("contexts: expected a table, found {}", other.type_str()));
                }
                ("keys", value) => read.set_keys(text, value, at),
                ("mouse", value) => read.set_mouse(value, at),
                ("notify", value) => read.set_notify(value, at),
                (name, value_read) if KEYS.contains(&name) => {
                    if name == "context" {
                        read.context_span = Some(value.span());
                    }
                    if let Some(value) = read.text(name, value_read, at) {
                        read.set(name, value);
                    }
                }
                (name, _) => {
                    let known = KEYS.join(", ");
                    read.problem(at, format!("unknown key {}; the keys are {known}", quoted(name)));
                }
            }
        }
        if let Some(name) = read.config.context.clone()
            && !read.config.contexts.contains_key(&name)
        {
            let at = read.line("context").unwrap_or_default();
            read.problem(
                at,
                format!("context: there is no section [contexts.{}]", crate::text::clean(&name)),
            );
        }
        read.problems.sort_by_key(|problem| problem.line);
        read
    }

    /// Returns the line of a key that is set.
    pub(crate) fn line(&self, path: &str) -> Option<usize> {
        self.lines.iter().find(|(known, _)| known == path).map(|(_, line)| *line)
    }

    /// Returns the text of the file with this name of the context.
    fn with_context(&self, text: &str, name: &str) -> String {
        let value = toml::Value::String(name.to_owned()).to_string();
        let replaced = self
            .context_span
            .as_ref()
            .and_then(|span| Some([text.get(..span.start)?, &value, text.get(span.end..)?].concat()));
        replaced.unwrap_or_else(|| format!("context = {value}\n{text}"))
    }

    fn contexts(&mut self, text: &str, contexts: &DeTable<'_>) {
        for (name, value) in contexts {
            let at = line(text, name.span().start);
            let path = format!("contexts.{}", crate::text::clean(name.get_ref()));
            let DeValue::Table(keys) = value.get_ref() else {
                let found = value.get_ref().type_str();
                self.problem(at, format!("{path}: expected a table, found {found}"));
                continue;
            };
            let mut selection = Selection::default();
            for (key, value) in keys {
                let at = line(text, key.span().start);
                if !SELECTION.contains(&key.get_ref().as_ref()) {
                    let known = SELECTION.join(", ");
                    let key = quoted(key.get_ref());
                    self.problem(at, format!("{path}: unknown key {key}; the keys are {known}"));
                } else if let Some(value) =
                    self.text(&format!("contexts.{}.{}", name.get_ref(), key.get_ref()), value.get_ref(), at)
                {
                    selection.set(key.get_ref(), value);
                }
            }
            self.config.contexts.insert(name.get_ref().to_string(), selection);
        }
    }

    fn problem(&mut self, line: usize, text: String) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(Problem { line, text });
        }
    }

    /// Returns the text of the key with this path, and records its line; a value that is not a text is a problem.
    fn text(&mut self, path: &str, value: &DeValue<'_>, line: usize) -> Option<String> {
        let shown = crate::text::clean(path);
        let DeValue::String(text) = value else {
            self.problem(line, format!("{shown}: expected a string, found {}", value.type_str()));
            return None;
        };
        if text.is_empty() {
            self.problem(line, format!("{shown}: empty"));
            return None;
        }
        self.lines.push((path.to_owned(), line));
        Some(text.to_string())
    }

    /// Sets the ways to notify.
    fn set_notify(&mut self, value: &DeValue<'_>, line: usize) {
        let is_known = |way: &String| NOTIFICATIONS.contains(&way.as_str());
        match texts(value).filter(|ways| ways.iter().all(is_known)) {
            Some(ways) => {
                self.config.notify = Some(ways);
                self.lines.push(("notify".to_owned(), line));
            }
            None => {
                self.problem(
                    line,
                    format!("notify: expected a list of some of {}", NOTIFICATIONS.join(", ")),
                );
            }
        }
    }

    /// Sets whether the console uses the mouse.
    fn set_mouse(&mut self, value: &DeValue<'_>, line: usize) {
        match value {
            DeValue::Boolean(mouse) => {
                self.config.mouse = Some(*mouse);
                self.lines.push(("mouse".to_owned(), line));
            }
            other => self.problem(line, format!("mouse: expected a boolean, found {}", other.type_str())),
        }
    }

    /// Sets the keys that are added to commands, each with one key or a list of keys.
    fn set_keys(&mut self, text: &str, value: &DeValue<'_>, at: usize) {
        let DeValue::Table(table) = value else {
            return self.problem(at, format!("keys: expected a table, found {}", value.type_str()));
        };
        for (command, value) in table.iter().take(ENTRIES) {
            let at = line(text, command.span().start);
            match texts(value.get_ref()) {
                Some(keys) => {
                    self.config.keys.push((command.get_ref().to_string(), keys));
                    self.config.keys_at.push(at);
                }
                None => self.problem(
                    at,
                    format!("keys: {}: expected a key or a list of keys", quoted(command.get_ref())),
                ),
            }
        }
        self.lines.push(("keys".to_owned(), at));
    }

    fn set(&mut self, name: &str, value: String) {
        match name {
            "context" => self.config.context = Some(value),
            "pkcs11_module" => self.config.pkcs11_module = Some(PathBuf::from(value)),
            "security_key" => self.config.security_key = Some(PathBuf::from(value)),
            "theme" => self.config.theme = Some(value),
            _ => self.config.selection.set(name, value),
        }
    }
}

impl Selection {
    fn set(&mut self, name: &str, value: String) {
        match name {
            "socket" => self.socket = Some(PathBuf::from(value)),
            "url" => self.url = Some(value),
            "pin" => self.pin = Some(value),
            "ca_file" => self.ca_file = Some(PathBuf::from(value)),
            "organization" => self.organization = Some(value),
            "user" => self.user = Some(value),
            _ => self.key = Some(value),
        }
    }
}

/// Returns a text or a list of texts.
fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    let text = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    match value {
        DeValue::Array(values) if values.len() <= ENTRIES => {
            values.iter().map(|value| text(value.get_ref())).collect()
        }
        value => text(value).map(|text| vec![text]),
    }
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
    fn reads_keys_and_notifications() {
        let read =
            Read::of("notify = \"bell\"\nmouse = false\n[keys]\nrefresh = \"R\"\nopen = [\"e\", \"O\"]\n");
        assert_eq!(read.problems, []);
        assert_eq!((read.config.notify, read.config.mouse), (Some(vec!["bell".to_owned()]), Some(false)));
        let mut keys = read.config.keys;
        keys.sort();
        let expected = [("open", vec!["e", "O"]), ("refresh", vec!["R"])];
        let texts = |keys: Vec<&str>| keys.into_iter().map(str::to_owned).collect();
        assert_eq!(keys, expected.map(|(name, keys)| (name.to_owned(), texts(keys))));
        let rest = "notify = [\"bell\", \"horn\"]\nmouse = \"no\"\n[keys]\nrefresh = [\"R\"]\n# mine\nfilter = \"q\"\nopen = 1\n";
        let lines: Vec<usize> = problems(rest).iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 7], "{:?}", problems(rest));
    }

    #[test]
    fn reads_all_keys_with_their_lines() {
        let good = "# mine\nsocket = \"/run/q.sock\"\norganization = \"acme\"\n\nkey = \"laptop\"\n\n\
                    [contexts.\"a b\"]\nuser = \"mira\"\n";
        let read = Read::of(good);
        assert_eq!(read.problems, []);
        assert_eq!(
            (read.config.selection.key.as_deref(), &read.config.selection.user),
            (Some("laptop"), &None)
        );
        let context = Selection { user: Some("mira".to_owned()), ..Selection::default() };
        assert_eq!(read.config.contexts, BTreeMap::from([("a b".to_owned(), context)]));
        let lines = ["socket", "organization", "key", "contexts.a b.user"].map(|path| read.line(path));
        assert_eq!(lines, [2, 3, 5, 8].map(Some));
    }

    #[test]
    fn reports_every_problem_with_its_line() {
        let text = "kye = \"b\"\nkey = 1\norganization = \"\"\nuser = [\"a\"]\nsocket = \"/s\"\ncontext = \"c\"\n\
                    [contexts]\na = 1\n[contexts.b]\ntheme = \"dark\"\n";
        let problems = problems(text);
        let lines: Vec<usize> = problems.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 6, 8, 10]);
        let expected = [
            "unknown key",
            "expected a string, found integer",
            "empty",
            "found array",
            "there is no section [contexts.c]",
            "contexts.a: expected a table, found integer",
            "contexts.b: unknown key \"theme\"",
        ];
        for ((_, text), expected) in problems.iter().zip(expected) {
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn another_context_changes_nothing_else_in_the_file() {
        let before = "# mine\ncontext = \"a\" # now\n\n[contexts.a]\n[contexts.'b \"c\"']\n";
        let after = Read::of(before).with_context(before, "b \"c\"");
        assert_eq!(after, before.replace("\"a\" #", "'b \"c\"' #"));
        assert_eq!(Config::of(&after).context.as_deref(), Some("b \"c\""));
        let without = "# mine\n[contexts.a]\n";
        assert_eq!(Read::of(without).with_context(without, "a"), format!("context = \"a\"\n{without}"));
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
