//! What an activity does, in words and comparisons.

/// How much care something needs. Also the risk of a whole activity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Worth knowing.
    Low,
    /// Look twice.
    Med,
    /// Can do lasting harm.
    High,
}

impl Level {
    /// The word on screen and in JSON.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Low => "LOW",
            Self::Med => "MED",
            Self::High => "HIGH",
        }
    }
}

/// A reason to look twice, with a stable name that scripts can allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flag {
    /// Stable name.
    pub(crate) name: &'static str,
    /// How much care.
    pub(crate) level: Level,
    /// In words, already cleaned.
    pub(crate) text: String,
}

/// A leaf of the signed parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// Path.
    pub(crate) name: String,
    /// Value, cleaned.
    pub(crate) value: String,
}

/// One line of the comparison with the current state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// What changes.
    pub(crate) label: String,
    /// As it is, by the daemon's word.
    pub(crate) now: String,
    /// As the bytes make it.
    pub(crate) after: String,
    /// A remark.
    pub(crate) note: String,
}

/// What has to be typed before a dangerous approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Danger {
    /// What to type, in words that do not spell the answer where it is on screen anyway.
    pub(crate) prompt: String,
    /// The answer.
    pub(crate) answer: String,
}

/// What an activity does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Story {
    /// A few words for lists.
    pub(crate) brief: String,
    /// One or more sentences.
    pub(crate) sentence: String,
    /// Comparison with the current state.
    pub(crate) changes: Vec<Change>,
    /// Facts computed here, for example a digest.
    pub(crate) facts: Vec<Field>,
    /// Reasons to look twice.
    pub(crate) flags: Vec<Flag>,
    /// The dangerous value.
    pub(crate) danger: Option<Danger>,
}

impl Story {
    /// A story without comparison or flags yet.
    pub(crate) fn new(brief: impl Into<String>, sentence: impl Into<String>) -> Self {
        Self {
            brief: brief.into(),
            sentence: sentence.into(),
            changes: Vec::new(),
            facts: Vec::new(),
            flags: Vec::new(),
            danger: None,
        }
    }

    /// Adds a reason to look twice.
    pub(crate) fn flag(&mut self, level: Level, name: &'static str, text: impl Into<String>) {
        self.flags.push(Flag { name, level, text: text.into() });
    }

    /// Adds a line of comparison.
    pub(crate) fn change(
        &mut self,
        label: &str,
        now: impl Into<String>,
        after: impl Into<String>,
        note: impl Into<String>,
    ) {
        self.changes.push(Change {
            label: label.to_owned(),
            now: now.into(),
            after: after.into(),
            note: note.into(),
        });
    }

    /// Adds a fact computed here.
    pub(crate) fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.facts.push(Field { name: name.to_owned(), value: value.into() });
    }

    /// Takes over what another tells, each fact under this label.
    pub(crate) fn take(&mut self, label: &str, other: Self) {
        let facts = other.facts.into_iter();
        self.facts.extend(facts.map(|fact| Field { name: format!("{label}{}", fact.name), ..fact }));
        self.flags.extend(
            other.flags.into_iter().map(|flag| Flag { text: format!("{label}{}", flag.text), ..flag }),
        );
        self.danger = self.danger.take().or(other.danger);
    }

    /// Names the dangerous value; the first one wins. One that cannot be typed on any keyboard is not taken.
    pub(crate) fn danger(&mut self, prompt: &str, answer: &str) {
        let typeable = !answer.is_empty()
            && answer.len() <= 64
            && answer.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if self.danger.is_none() && typeable {
            self.danger = Some(Danger { prompt: prompt.to_owned(), answer: answer.trim().to_owned() });
        }
    }
}
