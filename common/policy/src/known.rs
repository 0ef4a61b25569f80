//! Literals of a list in an order in which one is found without looking at all: allowlists are long, and asked at
//! every request.

use std::cmp::Ordering;

use crate::number::Integer;
use crate::operand::{Operand, Text};
use crate::value::Value;

/// The elements of a list of literals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// Strings.
    Texts {
        /// In order.
        exact: Vec<String>,
        /// The same without upper-case letters of ASCII, in order.
        folded: Vec<String>,
    },
    /// Integers in order.
    Integers(Vec<Integer>),
}

impl Known {
    /// Of a list that holds strings only, or integers only, and at least one of them.
    pub(crate) fn of(list: &Value) -> Option<Self> {
        let Value::List(elements) = list else { return None };
        match elements.first()? {
            Value::Text { .. } => {
                let mut exact = elements.iter().map(text).collect::<Option<Vec<_>>>()?;
                let mut folded: Vec<_> = exact.iter().map(|text| text.to_ascii_lowercase()).collect();
                exact.sort_unstable();
                folded.sort_unstable();
                Some(Self::Texts { exact, folded })
            }
            Value::Int(_) => {
                let mut integers = elements.iter().map(integer).collect::<Option<Vec<_>>>()?;
                integers.sort_unstable();
                Some(Self::Integers(integers))
            }
            _ => None,
        }
    }

    /// Whether the item is among them; nothing if it is of another type.
    pub(crate) fn has(&self, item: &Operand<'_>) -> Option<bool> {
        match (self, item) {
            (Self::Texts { exact, folded }, Operand::Text(text)) => {
                Some(if text.folds_case { has_folded(folded, text) } else { has_exact(exact, text) })
            }
            (Self::Integers(integers), Operand::Integer(item)) => Some(integers.binary_search(item).is_ok()),
            _ => None,
        }
    }
}

fn has_exact(texts: &[String], wanted: &Text<'_>) -> bool {
    texts.binary_search_by(|text| text.as_str().cmp(wanted.as_str())).is_ok()
}

fn has_folded(texts: &[String], wanted: &Text<'_>) -> bool {
    texts.binary_search_by(|text| cmp_folded(text.as_bytes(), wanted.as_str().as_bytes())).is_ok()
}

/// Compares a text without upper-case letters with another one as if that had none either.
fn cmp_folded(lower: &[u8], other: &[u8]) -> Ordering {
    lower.iter().copied().cmp(other.iter().map(u8::to_ascii_lowercase))
}

fn text(element: &Value) -> Option<String> {
    match element {
        Value::Text { text, folds_case: false } => Some(text.clone().into_owned()),
        _ => None,
    }
}

fn integer(element: &Value) -> Option<Integer> {
    match element {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}
