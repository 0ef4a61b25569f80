//! Arguments of a call once they are read: as policies ask for them, and as people read them.

use quorate_policy::Value;

/// How many arguments and parts of arguments are told to people.
pub const MAX_LINES: usize = 256;

/// What stands in one place of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    /// Something without parts.
    Leaf {
        /// Its type, as the interface writes it.
        kind: String,
        /// As policies read it.
        value: Value,
        /// As people read it.
        text: String,
    },
    /// Several of one type.
    List {
        /// The type of the list.
        kind: String,
        /// In order.
        elements: Vec<Argument>,
    },
    /// Parts that policies name by position only, with what people call them.
    Tuple(Vec<(String, Argument)>),
    /// Parts that policies name as the interface does.
    Struct(Vec<(String, Argument)>),
}

impl Argument {
    /// As policies read it.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Leaf { value, .. } => value.clone(),
            Self::List { elements, .. } => elements.iter().map(Self::value).collect(),
            Self::Tuple(parts) => parts.iter().map(|(_, part)| part.value()).collect(),
            Self::Struct(parts) => values(parts),
        }
    }
}

/// Named arguments as policies read them.
pub(super) fn values(arguments: &[(String, Argument)]) -> Value {
    Value::map(arguments.iter().map(|(name, argument)| (name.as_str(), argument.value())))
}

/// One argument, or one part of one, for people. Texts and names are as they came: whoever draws them cleans them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it stands: `order.path[1]`.
    pub path: String,
    /// Its type, as the interface writes it.
    pub kind: String,
    /// The value: numbers in decimal digits, bytes in hexadecimal ones.
    pub text: String,
}

/// Arguments for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// In the order of the call, at most [`MAX_LINES`].
    pub lines: Vec<Line>,
    /// How many more there are.
    pub left_out: usize,
}

impl Lines {
    /// Of these named arguments.
    pub(super) fn of(arguments: &[(String, Argument)]) -> Self {
        let mut told = Self::default();
        for (name, argument) in arguments {
            told.add(name, argument);
        }
        told
    }

    fn add(&mut self, path: &str, argument: &Argument) {
        match argument {
            Argument::Leaf { kind, text, .. } => self.push(path, kind, text),
            Argument::List { kind, elements } if elements.is_empty() => self.push(path, kind, "(empty)"),
            Argument::List { elements, .. } => {
                for (place, element) in elements.iter().enumerate() {
                    self.add(&format!("{path}[{place}]"), element);
                }
            }
            Argument::Tuple(parts) | Argument::Struct(parts) if parts.is_empty() => {
                self.push(path, "struct", "(empty)");
            }
            Argument::Tuple(parts) | Argument::Struct(parts) => {
                for (name, part) in parts {
                    self.add(&format!("{path}.{name}"), part);
                }
            }
        }
    }

    fn push(&mut self, path: &str, kind: &str, text: &str) {
        if self.lines.len() >= MAX_LINES {
            self.left_out = self.left_out.saturating_add(1);
            return;
        }
        self.lines.push(Line { path: path.to_owned(), kind: kind.to_owned(), text: text.to_owned() });
    }
}
