//! Reads a TOML document section by section and collects all problems, instead of stopping at the first. This
//! module knows no section or key by name.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use ipnet::IpNet;
use quorate_core::model::ip_allowlist::parse_network;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Problem;

/// A parsed document and the problems found so far.
pub(super) struct Document<'a> {
    text: &'a str,
    directory: &'a Path,
    sections: DeTable<'a>,
    problems: Vec<Problem>,
    /// Section and key of everything that was read.
    read_keys: Vec<String>,
    /// Lines of the sections and keys of the document that were read.
    lines: BTreeMap<String, usize>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(text: &'a str, directory: &'a Path) -> Self {
        let (sections, errors) = DeTable::parse_recoverable(text);
        let problems = errors
            .into_iter()
            .map(|error| Problem {
                line: line_of(text, error.span().unwrap_or_default().start),
                key: String::new(),
                message: error.message().to_owned(),
            })
            .collect();
        Self {
            text,
            directory,
            sections: sections.into_inner(),
            problems,
            read_keys: Vec::new(),
            lines: BTreeMap::new(),
        }
    }

    /// Reads a section with a function; returns `None` if the document has no such section.
    pub(super) fn section<T>(
        &mut self,
        name: &'static str,
        read: fn(&mut Section<'_, 'a>) -> T,
    ) -> Option<T> {
        let (found, line) = match self.sections.remove(name) {
            None => return None,
            Some(found) => {
                let line = line_of(self.text, found.span().start);
                self.lines.insert(name.to_owned(), line);
                (found.into_inner(), line)
            }
        };
        let DeValue::Table(keys) = found else {
            self.problem(line, name.to_owned(), "must be a section".to_owned());
            return None;
        };
        let mut section = Section { document: self, name, line, keys };
        let value = read(&mut section);
        section.finish();
        Some(value)
    }

    /// Reads a section as [`Document::section`] does, and reports a problem if it is missing.
    pub(super) fn required_section<T>(
        &mut self,
        name: &'static str,
        read: fn(&mut Section<'_, 'a>) -> T,
    ) -> Option<T> {
        let value = self.section(name, read);
        let is_reported = self.problems.iter().any(|problem| problem.key == name || problem.key.is_empty());
        if value.is_none() && !is_reported {
            let last = self.text.lines().count().max(1);
            self.problem(last, name.to_owned(), "required section is missing".to_owned());
        }
        value
    }

    /// Returns all problems in the order of their lines, including the sections that were not read.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        for (name, value) in std::mem::take(&mut self.sections) {
            let line = line_of(self.text, name.span().start.min(value.span().start));
            self.problem(line, name.into_inner().into_owned(), "unknown section".to_owned());
        }
        self.problems.sort_by_key(|problem| problem.line);
        self.problems
    }

    /// Returns whether no problem was found so far.
    pub(super) fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns whether the document has a key, in a section that was read.
    pub(super) fn has(&self, section: &str, key: &str) -> bool {
        self.lines.contains_key(&format!("{section}.{key}"))
    }

    /// Reports a problem of a key in relation to other sections, which were read.
    pub(super) fn report(&mut self, section: &str, key: &str, message: &str) {
        let name = format!("{section}.{key}");
        let line = self.lines.get(&name).or_else(|| self.lines.get(section)).copied().unwrap_or(1);
        self.problem(line, name, message.to_owned());
    }

    #[cfg(test)]
    pub(super) fn read_keys(&self) -> &[String] {
        &self.read_keys
    }

    fn problem(&mut self, line: usize, key: String, message: String) {
        self.problems.push(Problem { line, key, message });
    }
}

/// Returns the line, from 1, of an offset in the text.
fn line_of(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    1 + before.matches('\n').count()
}

/// One section. Keys that are read count as known; the others are reported at the end.
pub(super) struct Section<'d, 'a> {
    document: &'d mut Document<'a>,
    name: &'static str,
    line: usize,
    keys: DeTable<'a>,
}

/// A value and its line.
struct Located<'a> {
    line: usize,
    value: DeValue<'a>,
}

impl<'a> Section<'_, 'a> {
    /// Reads a string and parses it; a parse error becomes a problem.
    pub(super) fn parsed<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<T> {
        self.parsed_with(key, T::from_str)
    }

    /// Reads a string and parses it with a function; its error becomes a problem.
    pub(super) fn parsed_with<T, E: Display>(
        &mut self,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Option<T> {
        let found = self.take(key)?;
        let line = found.line;
        let text = self.text_of(key, found)?;
        match parse(&text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.invalid(line, key, error.to_string());
                None
            }
        }
    }

    /// Reads a string.
    pub(super) fn text(&mut self, key: &str) -> Option<String> {
        let found = self.take(key)?;
        self.text_of(key, found)
    }

    /// Reads a path; a relative path is resolved from the directory of the document.
    pub(super) fn path(&mut self, key: &str) -> Option<PathBuf> {
        let found = self.take(key)?;
        let line = found.line;
        let text = self.text_of(key, found)?;
        if text.is_empty() || text.contains('\0') {
            self.invalid(line, key, "must be a path".to_owned());
            return None;
        }
        Some(self.document.directory.join(text))
    }

    /// Reads a path and reports a problem if it is missing.
    pub(super) fn required_path(&mut self, key: &str) -> Option<PathBuf> {
        self.required(key, Self::path)
    }

    /// Reads a boolean.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let found = self.take(key)?;
        if let DeValue::Boolean(value) = found.value {
            return Some(value);
        }
        self.invalid(found.line, key, "must be true or false".to_owned());
        None
    }

    /// Reads an integer within bounds.
    pub(super) fn number(&mut self, key: &str, bounds: RangeInclusive<u32>) -> Option<u32> {
        let found = self.take(key)?;
        if let DeValue::Integer(integer) = &found.value
            && let Ok(value) = u32::from_str_radix(integer.as_str(), integer.radix())
            && bounds.contains(&value)
        {
            return Some(value);
        }
        let message = format!("must be an integer from {} to {}", bounds.start(), bounds.end());
        self.invalid(found.line, key, message);
        None
    }

    /// Reads a list of integers within bounds.
    pub(super) fn numbers(&mut self, key: &str, bounds: RangeInclusive<u16>) -> Option<Vec<u16>> {
        let found = self.take(key)?;
        let number = |value: &DeValue<'_>| match value {
            DeValue::Integer(integer) => {
                let value = u16::from_str_radix(integer.as_str(), integer.radix()).ok()?;
                bounds.contains(&value).then_some(value)
            }
            _ => None,
        };
        let numbers = match &found.value {
            DeValue::Array(items) => items.iter().map(|item| number(item.get_ref())).collect(),
            _ => None,
        };
        if numbers.is_none() {
            let message = format!("must be a list of integers from {} to {}", bounds.start(), bounds.end());
            self.invalid(found.line, key, message);
        }
        numbers
    }

    /// Reads a list of strings and parses each of them.
    pub(super) fn parsed_list<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<Vec<T>> {
        self.list_with(key, T::from_str)
    }

    /// Reads a list of networks.
    pub(super) fn networks(&mut self, key: &str) -> Option<Vec<IpNet>> {
        self.list_with(key, network)
    }

    /// Reads a list of strings and parses each of them with a function; its errors become problems.
    fn list_with<T, E: Display>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Option<Vec<T>> {
        let found = self.take(key)?;
        let DeValue::Array(items) = found.value else {
            self.invalid(found.line, key, "must be a list of strings".to_owned());
            return None;
        };
        let mut values = Vec::new();
        for item in items {
            let line = line_of(self.document.text, item.span().start);
            let item = Located { line, value: item.into_inner() };
            match parse(&self.text_of(key, item)?) {
                Ok(value) => values.push(value),
                Err(error) => self.invalid(line, key, error.to_string()),
            }
        }
        Some(values)
    }

    /// Reads a key and reports a problem if it is missing.
    pub(super) fn required<T>(&mut self, key: &str, read: fn(&mut Self, &str) -> Option<T>) -> Option<T> {
        let is_there = self.has(key);
        let value = read(self, key);
        if !is_there {
            self.invalid(self.line, key, "required key is missing".to_owned());
        }
        value
    }

    /// Returns whether the key exists and was not read yet.
    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// Reports a problem of the section as a whole.
    pub(super) fn report(&mut self, message: &str) {
        self.document.problem(self.line, self.name.to_owned(), message.to_owned());
    }

    fn take(&mut self, key: &str) -> Option<Located<'a>> {
        self.document.read_keys.push(format!("{}.{key}", self.name));
        let value = self.keys.remove(key)?;
        let line = line_of(self.document.text, value.span().start);
        self.document.lines.insert(format!("{}.{key}", self.name), line);
        Some(Located { line, value: value.into_inner() })
    }

    fn text_of(&mut self, key: &str, found: Located<'_>) -> Option<String> {
        if let DeValue::String(text) = found.value {
            return Some(text.into_owned());
        }
        self.invalid(found.line, key, "must be a string".to_owned());
        None
    }

    fn invalid(&mut self, line: usize, key: &str, message: String) {
        self.document.problem(line, format!("{}.{key}", self.name), message);
    }

    fn finish(mut self) {
        let left: Vec<Spanned<_>> = std::mem::take(&mut self.keys).into_iter().map(|(key, _)| key).collect();
        for key in left {
            let line = line_of(self.document.text, key.span().start);
            self.invalid(line, key.get_ref(), "unknown key".to_owned());
        }
    }
}

fn network(text: &str) -> Result<IpNet, &'static str> {
    let network = parse_network(text).ok_or(r#"must be a network, such as "10.0.0.0/8""#)?;
    // 10.1.2.3/8 is more likely a mistake than intended.
    let is_exact = network.trunc() == network;
    if is_exact { Ok(network) } else { Err("has bits set beyond its prefix length") }
}
