//! The only module that prints. Results go to standard output, errors to standard error.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::Value;

use crate::failure::{Exit, Result};
use crate::published::published;
use crate::text::{clean, is_hidden};

/// Form of the output. The option describes the values, as help on each of them would spread every help text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Wide,
    Json,
    Name,
}

/// Returns an object with further members.
pub(crate) fn extended<const N: usize>(mut object: Value, members: [(&str, Value); N]) -> Value {
    if let Value::Object(all) = &mut object {
        all.extend(members.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}

/// Result of a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) exit: Exit,
    /// Data for scripts: lists are one object per line.
    pub(crate) data: Vec<Value>,
    /// Text for people.
    pub(crate) text: String,
    /// Text for people with more columns, if it differs.
    pub(crate) wide: Option<String>,
    /// Ids or names of what the text shows, if it has any.
    pub(crate) names: Option<Vec<String>>,
    /// Whether the data is the content of a file, which is printed as it is.
    pub(crate) is_file: bool,
}

impl Answer {
    /// Creates an empty result.
    pub(crate) const fn nothing() -> Self {
        Self {
            exit: Exit::Done,
            data: Vec::new(),
            text: String::new(),
            wide: None,
            names: None,
            is_file: false,
        }
    }

    /// Creates the result of a command about one thing.
    pub(crate) fn one(data: Value, text: String) -> Self {
        Self { data: vec![data], text, ..Self::nothing() }
    }

    /// Creates the content of a file, which other commands read.
    pub(crate) fn file(data: Value, text: String) -> Self {
        Self { is_file: true, ..Self::one(data, text) }
    }

    /// Creates a list from the data and the text of each item; `none` is the text of an empty one.
    pub(crate) fn rows(rows: impl IntoIterator<Item = (Value, String)>, none: &str) -> Self {
        let (data, texts): (Vec<Value>, Vec<String>) = rows.into_iter().unzip();
        let text = if texts.is_empty() { format!("{none}\n") } else { texts.concat() };
        Self::list(data, text)
    }

    /// Creates a list.
    pub(crate) fn list(data: Vec<Value>, text: String) -> Self {
        Self { data, text, ..Self::nothing() }
    }

    /// Adds a line that sums up a list, unless it is empty. The ids or names are in this member of the data.
    pub(crate) fn summed_up(mut self, (one, many): (&str, &str), name: &str) -> Self {
        if !self.data.is_empty() {
            let _ = writeln!(self.text, "{}", summary(self.data.len(), one, many));
        }
        let names = self.data.iter().filter_map(|data| Some(data.pointer(name)?.as_str()?.to_owned()));
        self.names = Some(names.collect());
        self
    }

    pub(crate) const fn exits(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// Returns the data as it is printed.
    pub(crate) fn published(&self) -> Vec<Value> {
        if self.is_file { self.data.clone() } else { self.data.iter().cloned().map(published).collect() }
    }
}

/// Returns the number of items in words.
pub(crate) fn summary(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

static FORMAT: AtomicU8 = AtomicU8::new(Format::Text as u8);

/// Selects the form of all further output.
pub(crate) fn choose(format: Format) {
    FORMAT.store(format as u8, Ordering::Relaxed);
}

fn is(format: Format) -> bool {
    FORMAT.load(Ordering::Relaxed) == format as u8
}

/// Prints the result of a command and returns its exit code.
pub(crate) fn finish(result: Result<Answer>) -> Exit {
    match result {
        Ok(answer) => {
            if is(Format::Json) {
                answer.published().iter().for_each(line);
            } else if let Some(names) = answer.names.as_ref().filter(|_| is(Format::Name)) {
                for name in names {
                    plain(&format!("{}\n", clean(name)));
                }
            } else {
                let wide = answer.wide.as_ref().filter(|_| is(Format::Wide));
                plain(wide.unwrap_or(&answer.text));
            }
            answer.exit
        }
        Err(failure) => {
            if is(Format::Json) {
                line(&published(failure.json()));
            }
            let _ = writeln!(std::io::stderr(), "quorate: {}", failure.message());
            failure.exit
        }
    }
}

/// Returns whether lists are printed as data, one object per line.
pub(crate) fn lists_data() -> bool {
    is(Format::Json)
}

/// Prints intermediate output while a command is still running.
pub(crate) fn now(data: &Value, text: &str) {
    if is(Format::Json) { line(&published(data.clone())) } else { plain(text) }
}

/// Prints a warning for scripts, which do not see the summary of a list.
pub(crate) fn warn_scripts(text: &str) {
    if is(Format::Json) || is(Format::Name) {
        warn(text);
    }
}

/// Prints what a person must do now.
pub(crate) fn prompt(text: &str) {
    let _ = writeln!(std::io::stderr(), "quorate: {}", clean(text));
}

/// Prints a warning that does not end the command.
pub(crate) fn warn(text: &str) {
    let _ = writeln!(std::io::stderr(), "quorate: warning: {}", clean(text));
}

fn line(data: &Value) {
    plain(&format!("{}\n", escaped(&data.to_string())));
}

/// Returns JSON as the indented text of a file that has no effect on a terminal.
pub(crate) fn file_text(data: &Value) -> String {
    let mut out = String::new();
    for line in format!("{data:#}").lines() {
        out.push_str(&escaped(line));
        out.push('\n');
    }
    out
}

/// Escapes JSON so that it has no effect on a terminal: characters that the sanitizer replaces become `\u`
/// escapes. Such characters occur only in strings, so the value is unchanged.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        if is_hidden(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(letter);
        }
    }
    out
}

fn plain(text: &str) {
    let mut out = std::io::stdout().lock();
    // A closed output pipe is not an error of this program.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_output_escapes_control_characters() {
        let data = json!({ "na\u{9b}me": "\u{9b}31m\u{1b}[0m \u{202e}\u{7f}\u{85}\u{e0041} \u{fc} \\ \n" });
        let text = escaped(&data.to_string());
        let expected = r#"{"na\u009bme":"\u009b31m\u001b[0m \u202e\u007f\u0085\udb40\udc41 \u00fc \\ \n"}"#;
        assert_eq!(text, expected.replace("\\u00fc", "\u{fc}"));
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(data));
    }
}
