//! Keys that users add to commands, in `[keys]` of `config.toml`. The built-in keys keep working, so that what the screens
//! say stays true. A key has one meaning on each screen, and a decision has keys that mean nothing else anywhere.

use super::{SCREENS, review};
use crate::config::{Config, Problem};
use crate::keymap::{Action, Command, EVERYWHERE, Key, LAST, QUIT};
use crate::text::quoted;

/// Maximum number of keys that are added to one command.
const KEYS_LIMIT: usize = 4;

/// The added keys, by the action of their command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bindings(Vec<(Action, &'static [Key])>);

/// A command that a user names, with the names of the keys.
type Entry = (String, Vec<String>);

impl Bindings {
    /// Creates the bindings of a configuration.
    ///
    /// # Errors
    ///
    /// Returns the problems with their lines.
    pub(crate) fn of(config: &Config) -> Result<Self, Vec<Problem>> {
        let problem = |(index, text): (usize, String)| {
            let line = config.keys_at.get(index).copied().unwrap_or_default();
            Problem { line, text: format!("keys: {text}") }
        };
        Self::new(&config.keys).map_err(|problems| problems.into_iter().map(problem).collect())
    }

    /// Creates the bindings of these entries. They live as long as the program.
    ///
    /// # Errors
    ///
    /// Returns the problems, each with the index of its entry: an unknown command or key, a key with two meanings, or a
    /// key that would make a decision easier to reach.
    fn new(entries: &[Entry]) -> Result<Self, Vec<(usize, String)>> {
        let mut bindings = Self::default();
        let mut problems = Vec::new();
        for (index, (name, keys)) in entries.iter().enumerate() {
            match bindings.added(name, keys) {
                // The lists of keys of commands are static.
                Ok((action, keys)) => bindings.0.push((action, Vec::leak(keys))),
                Err(problem) => problems.push((index, format!("{}: {problem}", quoted(name)))),
            }
        }
        if problems.is_empty() { Ok(bindings) } else { Err(problems) }
    }

    /// Returns a command with the added keys, which come first.
    pub(crate) fn apply(&self, command: Command) -> Command {
        match self.0.iter().find(|(action, _)| *action == command.action) {
            Some((_, keys)) => Command { added: keys, ..command },
            None => command,
        }
    }

    /// Returns the command and the keys of an entry, if the earlier entries leave them free.
    fn added(&self, name: &str, keys: &[String]) -> Result<(Action, Vec<Key>), String> {
        let sets = sets();
        let commands = || sets.iter().flatten().map(|command| self.apply(*command));
        let Some(action) = commands().map(|command| command.action).find(|action| title(*action) == name)
        else {
            let mut names: Vec<String> = commands().map(|command| title(command.action)).collect();
            names.sort();
            names.dedup();
            return Err(format!("unknown command; the commands are {}", names.join(", ")));
        };
        if keys.len() > KEYS_LIMIT || self.0.iter().any(|(known, _)| *known == action) {
            return Err(format!("a command can have up to {KEYS_LIMIT} more keys, in one list"));
        }
        let mut added = Vec::new();
        for text in keys {
            let key = Key::parse(text).ok_or_else(|| format!("unknown key {}", quoted(text)))?;
            self.check(action, key, &sets).map_err(|problem| format!("{}: {problem}", quoted(text)))?;
            added.push(key);
        }
        Ok((action, added))
    }

    fn check(&self, action: Action, key: Key, sets: &[Vec<Command>]) -> Result<(), String> {
        if matches!(key, Key::Enter | Key::Esc | Key::Ctrl('c' | 'z')) {
            return Err("this key cannot be given to another command".to_owned());
        }
        let decides = review::decides(action);
        if decides && !matches!(key, Key::Char(letter) if letter.is_ascii_graphic()) {
            return Err("a decision can only have a visible character as its key".to_owned());
        }
        for set in sets {
            let is_here = set.iter().any(|command| command.action == action);
            for command in set.iter().map(|command| self.apply(*command)) {
                let is_other = command.action != action && command.has(key);
                // What leads to a decision by one key more must not be the key of the decision.
                if is_other && (is_here || decides || review::decides(command.action)) {
                    return Err(format!("already the key of {}", title(command.action)));
                }
            }
        }
        Ok(())
    }
}

/// Returns the commands that work together: those of each screen and of each kind of review.
fn sets() -> Vec<Vec<Command>> {
    let shows = || {
        let show =
            |(index, tab): (usize, &&super::screen::Tab)| Command { action: Action::Show(index), ..tab.show };
        SCREENS.iter().enumerate().map(show).chain([LAST])
    };
    let set = |own: &[Command]| own.iter().chain(&EVERYWHERE).copied().chain(shows()).collect::<Vec<_>>();
    let screens = SCREENS.iter().map(|tab| set(tab.commands).into_iter().chain([QUIT]).collect());
    screens.chain(review::ALL.iter().map(|own| set(own))).collect()
}

/// Returns the name of a command in `config.toml`, as in `page-down` and `show-approvals`.
fn title(action: Action) -> String {
    let words = match action {
        Action::Show(index) => {
            format!("show {}", SCREENS.get(index).map_or("", |tab| tab.title)).to_lowercase()
        }
        Action::OfScreen(name) => name.to_lowercase(),
        other => {
            let mut out = String::new();
            for letter in format!("{other:?}").chars() {
                if letter.is_ascii_uppercase() && !out.is_empty() {
                    out.push(' ');
                }
                out.push(letter.to_ascii_lowercase());
            }
            out
        }
    };
    words.replace(' ', "-")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use super::*;

    fn entries(rows: &[(&str, &[&str])]) -> Vec<Entry> {
        let texts = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        rows.iter().map(|(name, keys)| ((*name).to_owned(), texts(keys))).collect()
    }

    fn refused(rows: &[(&str, &[&str])], expected: &str) {
        let problems = Bindings::new(&entries(rows)).unwrap_err();
        assert!(problems[0].1.contains(expected), "{rows:?}: {problems:?}");
        assert_eq!(problems[0].0, rows.len() - 1, "the last entry is to blame: {problems:?}");
    }

    #[test]
    fn added_keys_work_beside_the_built_in_ones() {
        let bindings = Bindings::new(&entries(&[
            ("approve", &["A"]),
            ("page-down", &["Ctrl-F", "f"]),
            ("show-health", &["H"]),
            ("refresh", &["Ctrl-R"]),
        ]));
        let bindings = bindings.unwrap();
        let approve = bindings.apply(review::COMMANDS[0]);
        assert_eq!((approve.key(), approve.all_keys()), ("A".to_owned(), "A a".to_owned()));
        assert!(approve.has(Key::Char('A')) && approve.has(Key::Char('a')));
    }

    #[test]
    fn a_key_has_one_meaning() {
        refused(&[("refresh", &["q"])], "already the key of quit");
        refused(&[("refresh", &["1"])], "already the key of show-approvals");
        refused(&[("refresh", &["Z"]), ("filter", &["Z"])], "already the key of refresh");
        refused(&[("refresh", &["Enter"])], "cannot be given");
        refused(&[("refresh", &["Ctrl-C"])], "cannot be given");
        refused(&[("refresh", &["Hyper-Q"])], "unknown key");
        refused(&[("refreshes", &["Z"])], "the commands are approve, back,");
        refused(&[("refresh", &["Z"]), ("refresh", &["S"])], "in one list");
        refused(&[("refresh", &["A", "B", "C", "D", "E"])], "up to 4");
    }

    #[test]
    fn no_decision_is_reached_by_fewer_inputs() {
        // Enter opens the review, so it must not decide as well; the other keys are pressed while reading.
        for key in ["Enter", "Space", "Tab", "Down", "PgDn", "Ctrl-A", "Backspace"] {
            let problems = Bindings::new(&entries(&[("approve", &[key])])).unwrap_err();
            assert_eq!(problems.len(), 1, "{key}");
        }
        // Keys that move within a list, on whatever screen.
        refused(&[("approve", &["j"])], "already the key of down");
        refused(&[("reject", &["a"])], "already the key of approve");
        refused(&[("open", &["a"])], "already the key of approve");
        refused(&[("open", &["O"]), ("approve", &["O"])], "already the key of open");
        refused(&[("approve", &["A"]), ("open", &["A"])], "already the key of approve");
    }
}
