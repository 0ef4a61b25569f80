//! Values during an evaluation: borrowed from the facts or the program where possible, and always cheap to
//! clone.

use std::rc::Rc;

use crate::error::EvaluationReason;
use crate::expression_error::echo;
use crate::number::Integer;
use crate::timestamp::Timestamp;
use crate::value::Value;

/// The value of a part of an expression.
#[derive(Clone)]
pub(crate) enum Operand<'a> {
    Bool(bool),
    Integer(Integer),
    Text(Text<'a>),
    Timestamp(Timestamp),
    List(Elements<'a>),
    Members(Members<'a>),
}

/// A string, and whether comparisons ignore its ASCII case.
#[derive(Clone)]
pub(crate) struct Text<'a> {
    characters: Characters<'a>,
    pub(crate) folds_case: bool,
}

#[derive(Clone)]
enum Characters<'a> {
    Borrowed(&'a str),
    Computed(Rc<str>),
}

/// Elements of a list.
#[derive(Clone)]
pub(crate) enum Elements<'a> {
    Borrowed(&'a [Value]),
    Computed(Rc<[Operand<'a>]>),
}

/// Members of a struct or entries of a map.
#[derive(Clone)]
pub(crate) enum Members<'a> {
    /// A [`Value::Struct`] or [`Value::Map`].
    Borrowed(&'a Value),
    /// A struct literal with computed members.
    Computed(Rc<[(&'a str, Operand<'a>)]>),
}

impl<'a> Operand<'a> {
    pub(crate) fn of(value: &'a Value) -> Result<Self, EvaluationReason> {
        Ok(match value {
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Int(number) => Self::Integer(*number),
            Value::Text { text, folds_case } => Self::Text(Text::borrowed(text, *folds_case)),
            Value::List(elements) => Self::List(Elements::Borrowed(elements)),
            Value::Struct(_) | Value::Map(_) => Self::Members(Members::Borrowed(value)),
            Value::Timestamp(instant) => Self::Timestamp(*instant),
            Value::Unreadable => return Err(EvaluationReason::Unreadable),
        })
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::Integer(_) => "int",
            Self::Text(_) => "string",
            Self::Timestamp(_) => "timestamp",
            Self::List(_) => "list",
            Self::Members(_) => "struct or map",
        }
    }
}

impl<'a> Text<'a> {
    fn borrowed(text: &'a str, folds_case: bool) -> Self {
        Self { characters: Characters::Borrowed(text), folds_case }
    }

    pub(crate) fn as_str(&self) -> &str {
        match &self.characters {
            Characters::Borrowed(text) => text,
            Characters::Computed(text) => text,
        }
    }

    /// Returns the bytes `from..to`, or `None` if they are out of range or not on character boundaries.
    pub(crate) fn part(&self, from: usize, to: usize) -> Option<Self> {
        let characters = match &self.characters {
            Characters::Borrowed(text) => Characters::Borrowed(text.get(from..to)?),
            Characters::Computed(text) => Characters::Computed(text.get(from..to)?.into()),
        };
        Some(Self { characters, folds_case: self.folds_case })
    }

    pub(crate) fn lowered(&self) -> Self {
        let lower = self.as_str().to_ascii_lowercase();
        Self { characters: Characters::Computed(lower.into()), folds_case: self.folds_case }
    }

    pub(crate) fn equals(&self, other: &Self) -> bool {
        if self.folds_case || other.folds_case {
            self.as_str().eq_ignore_ascii_case(other.as_str())
        } else {
            self.as_str() == other.as_str()
        }
    }
}

impl<'a> Elements<'a> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Borrowed(elements) => elements.len(),
            Self::Computed(elements) => elements.len(),
        }
    }

    pub(crate) fn at(&self, index: usize) -> Result<Operand<'a>, EvaluationReason> {
        match self {
            Self::Borrowed(elements) => elements.get(index).map(Operand::of),
            Self::Computed(elements) => elements.get(index).cloned().map(Ok),
        }
        .unwrap_or(Err(EvaluationReason::OutOfRange))
    }

    pub(crate) fn part(&self, from: usize, to: usize) -> Option<Self> {
        Some(match self {
            Self::Borrowed(elements) => Self::Borrowed(elements.get(from..to)?),
            Self::Computed(elements) => Self::Computed(elements.get(from..to)?.into()),
        })
    }
}

impl<'a> Members<'a> {
    /// Returns how many members a lookup may visit.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Borrowed(Value::Struct(members)) => members.len(),
            Self::Borrowed(_) => 1,
            Self::Computed(members) => members.len(),
        }
    }

    pub(crate) fn named(&self, name: &str) -> Result<Operand<'a>, EvaluationReason> {
        let member = match self {
            Self::Borrowed(value) => value.member(name).map(Operand::of),
            Self::Computed(members) => {
                let member = members.iter().find(|(known, _)| *known == name);
                member.map(|(_, operand)| Ok(operand.clone()))
            }
        };
        member.unwrap_or_else(|| Err(EvaluationReason::MissingField(echo(name))))
    }
}
