//! A sorted index over the literals of a list, for binary search: allowlists are long and are searched at
//! every request.

use std::cmp::Ordering;

use crate::number::Integer;
use crate::operand::Operand;
use crate::value::{Value, boxed};

/// Positions in a list of literals. They fit 16 bits because a list has at most [`crate::LIST_LIMIT`]
/// elements.
type Positions = Box<[u16]>;

/// Positions of the elements of a list of literals in sorted order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LiteralIndex {
    /// Index over strings.
    Texts {
        /// Sorted by bytes.
        exact: Positions,
        /// Sorted by bytes with ASCII letters in lower case.
        folded: Positions,
    },
    /// Index over integers.
    Integers(Positions),
}

impl LiteralIndex {
    /// Creates the index of a list that is not empty and holds strings only or integers only.
    pub(crate) fn of(list: &Value) -> Option<Self> {
        let Value::List(elements) = list else { return None };
        match elements.first()? {
            Value::Text { .. } => {
                let texts = elements.iter().map(text).collect::<Option<Vec<_>>>()?;
                Some(Self::Texts {
                    exact: ordered(&texts, Ord::cmp)?,
                    folded: ordered(&texts, |one, other| cmp_folded(one, other))?,
                })
            }
            Value::Int(_) => {
                let integers = elements.iter().map(integer).collect::<Option<Vec<_>>>()?;
                Some(Self::Integers(ordered(&integers, Integer::cmp)?))
            }
            _ => None,
        }
    }

    /// Returns whether an item is in the indexed list, or `None` if the item has another type than the
    /// elements.
    pub(crate) fn contains(&self, list: &[Value], item: &Operand<'_>) -> Option<bool> {
        match (self, item) {
            (Self::Texts { exact, folded }, Operand::Text(item)) => Some(if item.folds_case {
                is_found(folded, list, text, |one| cmp_folded(one, item.as_str()))
            } else {
                is_found(exact, list, text, |one| (*one).cmp(item.as_str()))
            }),
            (Self::Integers(order), Operand::Integer(item)) => {
                Some(is_found(order, list, integer, |one| one.cmp(item)))
            }
            _ => None,
        }
    }

    /// Returns the approximate heap size of the index in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Texts { exact, folded } => {
                boxed(size_of_val(&**exact)).saturating_add(boxed(size_of_val(&**folded)))
            }
            Self::Integers(order) => boxed(size_of_val(&**order)),
        }
    }
}

/// Returns the positions of elements in sorted order, or `None` if there are more than 65535 elements.
fn ordered<T>(elements: &[T], compare: impl Fn(&T, &T) -> Ordering) -> Option<Positions> {
    let count = u16::try_from(elements.len()).ok()?;
    let mut order: Positions = (0..count).collect();
    let element = |position: &u16| elements.get(usize::from(*position));
    order.sort_by(|one, other| match (element(one), element(other)) {
        (Some(one), Some(other)) => compare(one, other),
        (one, other) => one.is_some().cmp(&other.is_some()),
    });
    Some(order)
}

fn is_found<'l, T>(
    order: &[u16],
    list: &'l [Value],
    read: impl Fn(&'l Value) -> Option<T>,
    compare: impl Fn(&T) -> Ordering,
) -> bool {
    let at = |position: &u16| list.get(usize::from(*position)).and_then(&read);
    order.binary_search_by(|position| at(position).as_ref().map_or(Ordering::Less, &compare)).is_ok()
}

/// Compares two texts without regard to ASCII case.
fn cmp_folded(one: &str, other: &str) -> Ordering {
    let [one, other] = [one, other].map(|text| text.bytes().map(|byte| byte.to_ascii_lowercase()));
    one.cmp(other)
}

fn text(element: &Value) -> Option<&str> {
    match element {
        Value::Text { text, folds_case: false } => Some(text),
        _ => None,
    }
}

fn integer(element: &Value) -> Option<Integer> {
    match element {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}
