//! Literals of a list in an order in which one is found without looking at all: allowlists are long, and asked at
//! every request.

use std::cmp::Ordering;

use crate::number::Integer;
use crate::operand::Operand;
use crate::plan::boxed;
use crate::value::Value;

/// Positions in a list of literals. A list is shorter than what fits, see [`crate::LIST_LIMIT`].
type Positions = Box<[u16]>;

/// An order of the elements of a list of literals.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Known {
    /// Strings.
    Texts {
        /// In order.
        exact: Positions,
        /// In the order that they have without upper-case letters of ASCII.
        folded: Positions,
    },
    /// Integers in order.
    Integers(Positions),
}

impl Known {
    /// Of a list that holds strings only, or integers only, and at least one of them.
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

    /// Whether the item is among the elements of the list whose order this is; nothing if it is of another type.
    pub(crate) fn has(&self, list: &[Value], item: &Operand<'_>) -> Option<bool> {
        match (self, item) {
            (Self::Texts { exact, folded }, Operand::Text(item)) => Some(if item.folds_case {
                found(folded, list, text, |one| cmp_folded(one, item.as_str()))
            } else {
                found(exact, list, text, |one| (*one).cmp(item.as_str()))
            }),
            (Self::Integers(order), Operand::Integer(item)) => {
                Some(found(order, list, integer, |one| one.cmp(item)))
            }
            _ => None,
        }
    }

    /// How many bytes the order takes in memory.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Texts { exact, folded } => {
                boxed(size_of_val(&**exact)).saturating_add(boxed(size_of_val(&**folded)))
            }
            Self::Integers(order) => boxed(size_of_val(&**order)),
        }
    }
}

/// The positions of elements in their order; nothing if there are more than can be numbered.
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

fn found<'l, T>(
    order: &[u16],
    list: &'l [Value],
    read: impl Fn(&'l Value) -> Option<T>,
    compare: impl Fn(&T) -> Ordering,
) -> bool {
    let at = |position: &u16| list.get(usize::from(*position)).and_then(&read);
    order.binary_search_by(|position| at(position).as_ref().map_or(Ordering::Less, &compare)).is_ok()
}

/// Compares two texts as if neither had upper-case letters of ASCII.
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
