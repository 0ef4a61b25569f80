//! Decoded arguments of a call, as policy values and as text for people.

use quorate_policy::Value;

/// Maximum number of arguments, and parts of arguments, that are shown to people.
pub const MAX_LINES: usize = 256;

/// A decoded argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    /// A value without parts.
    Leaf {
        /// Type, as the interface writes it.
        kind: String,
        /// Value for policies.
        value: Value,
        /// Text for people.
        text: String,
    },
    /// Values of one type.
    List {
        /// Type of the list.
        kind: String,
        elements: Vec<Argument>,
    },
    /// Parts that policies access by position only, with names for people.
    Tuple(Vec<(String, Argument)>),
    /// Parts that policies access by the names of the interface.
    Struct(Vec<(String, Argument)>),
}

impl Argument {
    /// Returns the value for policies.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Leaf { value, .. } => value.clone(),
            Self::List { elements, .. } => elements.iter().map(Self::value).collect(),
            Self::Tuple(parts) => parts.iter().map(|(_, part)| part.value()).collect(),
            Self::Struct(parts) => values(parts),
        }
    }
}

/// Returns named arguments as a value for policies.
pub(super) fn values(arguments: &[(String, Argument)]) -> Value {
    Value::map(arguments.iter().map(|(name, argument)| (name.as_str(), argument.value())))
}

/// One argument, or one part of an argument, for people. Texts and names are unsanitized; the caller must
/// sanitize them before display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Path of the value, such as `order.path[1]`.
    pub path: String,
    /// Type, as the interface writes it.
    pub kind: String,
    /// Value: numbers in decimal digits, bytes in hexadecimal digits.
    pub text: String,
}

/// Arguments of a call for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Arguments in the order of the call, at most [`MAX_LINES`].
    pub lines: Vec<Line>,
    /// Number of further arguments that are not in `lines`.
    pub left_out: usize,
}

impl Lines {
    /// Creates the lines of these named arguments.
    pub(super) fn of(arguments: &[(String, Argument)]) -> Self {
        let mut lines = Self::default();
        for (name, argument) in arguments {
            lines.add(name, argument);
        }
        lines
    }

    fn add(&mut self, path: &str, argument: &Argument) {
        match argument {
            Argument::Leaf { kind, text, .. } => self.push(path, kind, text),
            Argument::List { kind, elements } if elements.is_empty() => self.push(path, kind, "(empty)"),
            Argument::List { elements, .. } => {
                for (index, element) in elements.iter().enumerate() {
                    self.add(&format!("{path}[{index}]"), element);
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
