//! What facts are made of, and how an expression asks for them.
//!
//! Values own their data, so a fact can be kept as long as its record. They are read by reference: nothing is copied while an
//! expression runs, and a root nobody asks for is never built.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::number::Integer;
use crate::plan::boxed;
use crate::timestamp::Timestamp;

/// One fact: a scalar, or a list, struct or map of facts.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An `int` or a `uint`; both compare mathematically.
    Int(Integer),
    /// A string. With `folds_case`, comparisons ignore ASCII case, whatever the other side is.
    Text {
        /// The characters as they are stored.
        text: Cow<'static, str>,
        /// Whether comparisons ignore ASCII case.
        folds_case: bool,
    },
    /// Facts in order.
    List(Vec<Value>),
    /// Named members. A member that is not available is absent, and reading it is an error.
    Struct(Vec<(Cow<'static, str>, Value)>),
    /// Facts by a key that the data decides, not the language.
    Map(BTreeMap<String, Value>),
    /// An instant.
    Timestamp(Timestamp),
    /// Something is there, but outside the domain of its type. Reading it is an error.
    Unreadable,
}

impl Value {
    /// A string that compares exactly.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self::Text { text, folds_case: false }
    }

    /// A string that compares without regard to ASCII case, such as an EVM address.
    pub fn folded(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self::Text { text, folds_case: true }
    }

    /// A signed 128-bit integer; a number beyond that domain becomes [`Value::Unreadable`].
    pub fn int(number: impl Into<Integer>) -> Self {
        let number = number.into();
        if number.is_int() { Self::Int(number) } else { Self::Unreadable }
    }

    /// An unsigned 256-bit integer; a negative number becomes [`Value::Unreadable`].
    pub fn uint(number: impl Into<Integer>) -> Self {
        let number = number.into();
        if number.is_uint() { Self::Int(number) } else { Self::Unreadable }
    }

    /// A list of facts.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(elements.into_iter().collect())
    }

    /// A list of strings that compare exactly.
    pub fn texts<T: Into<Cow<'static, str>>>(elements: impl IntoIterator<Item = T>) -> Self {
        elements.into_iter().map(Self::text).collect()
    }

    /// A struct. Members may be given as [`Value`] or as `Option<Value>`; `None` leaves the member out.
    pub fn record<N, V>(members: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<Cow<'static, str>>,
        V: Into<Option<Self>>,
    {
        let present = members.into_iter().filter_map(|(name, value)| Some((name.into(), value.into()?)));
        Self::Struct(present.collect())
    }

    /// A map from keys of the data to facts.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Roughly how many bytes the value takes in memory beside itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Text { text: Cow::Owned(text), .. } => boxed(text.len()),
            Self::List(elements) => {
                let inner = elements.iter().map(Self::heap_bytes);
                inner.fold(boxed(size_of_val(elements.as_slice())), usize::saturating_add)
            }
            Self::Struct(members) => {
                let inner =
                    members.iter().map(|(name, value)| boxed(name.len()).saturating_add(value.heap_bytes()));
                inner.fold(boxed(size_of_val(members.as_slice())), usize::saturating_add)
            }
            // No literal is a map.
            _ => 0,
        }
    }

    /// The member or entry of that name, if this is a struct or a map and has it.
    pub fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Struct(members) => members.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            Self::Map(entries) => entries.get(name),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Timestamp> for Value {
    fn from(instant: Timestamp) -> Self {
        Self::Timestamp(instant)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(elements: I) -> Self {
        Self::List(elements.into_iter().collect())
    }
}

/// What an expression may ask.
///
/// The names are `activity`, `wallet`, `wallets`, `wallet_account`, `private_key`, `secret`, `eth`, `solana`, `tron`,
/// `bitcoin`, `tempo` for conditions and `time` for time expressions. `approvers` and `credentials` come from an
/// [`Electorate`](crate::decide::Electorate). An absent root makes the expression that reads it fail, as the language wants.
///
/// An implementation should build each root when it is first asked for and keep it, for example in a
/// [`LazyCell`](std::cell::LazyCell).
pub trait Facts {
    /// The root of that name, if it is available for the activity at hand.
    fn root(&self, name: &str) -> Option<&Value>;
}

/// A struct serves its members as roots.
impl Facts for Value {
    fn root(&self, name: &str) -> Option<&Value> {
        self.member(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_outside_its_domain_is_unreadable() {
        assert_eq!(Value::int(i128::MAX.unsigned_abs()), Value::Int(Integer::from(i128::MAX)));
        assert_eq!(Value::int(u128::MAX), Value::Unreadable);
        assert_eq!(Value::uint(u128::MAX), Value::Int(Integer::from(u128::MAX)));
        assert_eq!(Value::uint(-1_i64), Value::Unreadable);
    }

    #[test]
    fn an_absent_member_is_left_out() {
        let record = Value::record([("here", Some(Value::from(true))), ("gone", None)]);
        assert_eq!(record, Value::record([("here", Value::from(true))]));
        assert_eq!(record.root("here"), Some(&Value::Bool(true)));
        assert_eq!(record.root("gone"), None);
    }
}
