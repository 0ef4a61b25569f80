//! The description of an activity: sentences, comparisons with the current state, facts and flags.

use super::review_context::ReviewContext;
use super::transfer::Transfer;
use crate::text::quoted;

/// The severity of a flag, and the risk of a whole activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Informative.
    Low,
    /// Needs a second look.
    Med,
    /// Can do lasting harm.
    High,
}

impl Level {
    /// Returns the name that is shown on screen and in JSON.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Med => "MED",
            Self::High => "HIGH",
        }
    }
}

/// A warning to the approver, with a stable name that scripts can accept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flag {
    /// Stable name, accepted with `--allow-flag`.
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    /// The consequence in one sentence, then the evidence; already cleaned.
    pub(crate) text: String,
    /// Whether it compares with the records that the organization has now.
    pub(crate) of_now: bool,
}

/// A leaf of the signed parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Path of the member.
    pub(crate) name: String,
    /// Cleaned value.
    pub(crate) value: String,
}

/// One line of the comparison between the current state and the state after execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Name of what changes.
    pub(crate) label: String,
    /// Current value, as the daemon states it.
    pub(crate) now: String,
    /// Value after execution, from the signed bytes.
    pub(crate) after: String,
    pub(crate) note: String,
}

/// The challenge of a dangerous approval: the approver types the dangerous value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Danger {
    /// Names the text to type, as the object of "Type". Does not repeat a value that is on screen anyway.
    pub(crate) prompt: String,
    /// The text that must be typed.
    pub(crate) answer: String,
}

/// The effect of an activity, as an approver reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Description {
    /// Summary of a few words, for lists.
    pub(crate) brief: String,
    /// The effect in one or more sentences.
    pub(crate) sentence: String,
    pub(crate) changes: Vec<Change>,
    /// Facts that this console computes, for example a digest.
    pub(crate) facts: Vec<Field>,
    pub(crate) flags: Vec<Flag>,
    /// The value to type before an approval, if a flag demands one.
    pub(crate) danger: Option<Danger>,
    /// The error with which the daemon would refuse it now, if so.
    pub(crate) execution_error: Option<String>,
    /// What a transaction moves.
    pub(crate) transfer: Option<Box<Transfer>>,
}

impl Description {
    /// Creates a description without comparisons, facts or flags.
    pub(crate) fn new(brief: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self {
            brief: brief.into(),
            sentence: sentence.into(),
            changes: Vec::new(),
            facts: Vec::new(),
            flags: Vec::new(),
            danger: None,
            execution_error: None,
            transfer: None,
        }
    }

    /// Records the error with which the daemon would refuse the execution now.
    pub(crate) fn refuse(&mut self, error: impl Into<String>) {
        self.execution_error = Some(error.into());
    }

    /// Adds a flag of this level.
    fn flag(&mut self, level: Level, name: &'static str, text: impl Into<String>) {
        self.flags.push(Flag { name, level, text: text.into(), of_now: false });
    }

    /// Adds a flag of the highest level.
    pub(crate) fn flag_high(&mut self, name: &'static str, text: impl Into<String>) {
        self.flag(Level::High, name, text);
    }

    /// Adds a flag of the medium level.
    pub(crate) fn flag_medium(&mut self, name: &'static str, text: impl Into<String>) {
        self.flag(Level::Med, name, text);
    }

    /// Adds a flag of the lowest level.
    pub(crate) fn flag_low(&mut self, name: &'static str, text: impl Into<String>) {
        self.flag(Level::Low, name, text);
    }

    /// Adds a flag of the highest level, and the challenge to type this word.
    pub(crate) fn flag_with_word(&mut self, name: &'static str, text: impl Into<String>, word: &str) {
        self.flag_high(name, text);
        self.danger(&format!("the word {word}"), word);
    }

    /// Flags an object that the activity names but the organization does not have.
    pub(crate) fn flag_missing(&mut self, name: &'static str, named: &str) {
        let text = format!("{named} does not exist in this organization now.");
        self.flags.push(Flag { name, level: Level::Med, text, of_now: true });
    }

    /// As [`Self::flag_missing`], unless the object exists.
    pub(crate) fn flag_if_missing(&mut self, name: &'static str, exists: bool, named: &str) {
        if !exists {
            self.flag_missing(name, named);
        }
    }

    /// Flags a name that another object already has. `noun` includes its article.
    pub(crate) fn flag_same_name(&mut self, noun: &str, name: &str) {
        let text = format!("Easy to confuse: {noun} named {} already exists.", quoted(name));
        self.flag_medium("same-name", text);
    }

    /// Flags the name of a new user that another user already has.
    pub(crate) fn flag_same_user(&mut self, name: &str, context: &ReviewContext<'_>) {
        if let Some(known) = context.organization.users.iter().find(|known| known.user_name == name) {
            let text =
                format!("Easy to confuse: a user named {} already exists ({}).", quoted(name), known.user_id);
            self.flag_medium("same-name", text);
        }
    }

    /// Adds a line to the comparison.
    pub(crate) fn change(&mut self, label: &str, now: impl Into<String>, after: impl Into<String>) {
        self.change_with_note(label, now, after, "");
    }

    /// Adds a line to the comparison for a number of objects that are created.
    pub(crate) fn change_added(&mut self, label: &str, now: usize, added: usize) {
        self.change(label, now.to_string(), now.saturating_add(added).to_string());
    }

    /// Adds a line to the comparison for a number of objects that are deleted.
    pub(crate) fn change_removed(&mut self, label: &str, now: usize, removed: usize) {
        self.change(label, now.to_string(), now.saturating_sub(removed).to_string());
    }

    /// Adds a line with a note to the comparison.
    pub(crate) fn change_with_note(
        &mut self,
        label: &str,
        now: impl Into<String>,
        after: impl Into<String>,
        note: &str,
    ) {
        self.changes.push(Change {
            label: label.to_owned(),
            now: now.into(),
            after: after.into(),
            note: note.to_owned(),
        });
    }

    /// Adds a fact that this console computes.
    pub(crate) fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push(Field { name: name.to_owned(), value: value.into() });
    }

    /// Adds the facts and flags of another description, each behind this label. Keeps an existing challenge.
    pub(crate) fn take(&mut self, label: &str, other: Self) {
        let facts = other.facts.into_iter();
        self.facts.extend(facts.map(|fact| Field { name: format!("{label}{}", fact.name), ..fact }));
        self.flags.extend(
            other.flags.into_iter().map(|flag| Flag { text: format!("{label}{}", flag.text), ..flag }),
        );
        self.danger = self.danger.take().or(other.danger);
        self.execution_error = self.execution_error.take().or(other.execution_error);
    }

    /// Sets the challenge unless there is one already. Ignores an answer that is empty, longer than 64 bytes
    /// or not printable ASCII, because it cannot be typed on every keyboard.
    pub(crate) fn danger(&mut self, prompt: &str, answer: &str) {
        let typeable = !answer.is_empty()
            && answer.len() <= 64
            && answer.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if self.danger.is_none() && typeable {
            self.danger = Some(Danger { prompt: prompt.to_owned(), answer: answer.trim().to_owned() });
        }
    }
}
