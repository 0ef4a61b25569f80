//! Values of facts, and the interface through which expressions read them.
//!
//! Values own their data, so a fact can be kept as long as its record. Expressions read values by reference
//! without copying them, and an implementation of [`Facts`] can skip roots that no expression reads.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::number::Integer;
use crate::timestamp::Timestamp;

/// The value of a fact: a scalar, or a list, struct or map of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An `int` or a `uint`; both compare mathematically.
    Int(Integer),
    /// A string. With `folds_case`, every comparison with it ignores ASCII case.
    Text {
        /// The characters as stored.
        text: Cow<'static, str>,
        /// Whether comparisons ignore ASCII case.
        folds_case: bool,
    },
    /// An ordered list of values.
    List(Vec<Value>),
    /// Named members. Unavailable members are absent, and reading one is an error.
    Struct(Vec<(Cow<'static, str>, Value)>),
    /// Values by keys that come from the data and not from the language.
    Map(BTreeMap<String, Value>),
    /// A point in time.
    Timestamp(Timestamp),
    /// A value outside the domain of its type. Reading it is an error.
    Unreadable,
}

impl Value {
    /// Creates a string that compares exactly.
    pub fn text(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self::Text { text, folds_case: false }
    }

    /// Creates a string that compares without regard to ASCII case, such as an EVM address.
    pub fn folded(text: impl Into<Cow<'static, str>>) -> Self {
        let text = text.into();
        Self::Text { text, folds_case: true }
    }

    /// Creates a signed 128-bit integer. A number outside that domain becomes [`Value::Unreadable`].
    pub fn int(number: impl Into<Integer>) -> Self {
        let number = number.into();
        if number.is_int() { Self::Int(number) } else { Self::Unreadable }
    }

    /// Creates an unsigned 256-bit integer. A negative number becomes [`Value::Unreadable`].
    pub fn uint(number: impl Into<Integer>) -> Self {
        let number = number.into();
        if number.is_uint() { Self::Int(number) } else { Self::Unreadable }
    }

    /// Creates a list.
    pub fn list(elements: impl IntoIterator<Item = Self>) -> Self {
        Self::List(elements.into_iter().collect())
    }

    /// Creates a list of strings that compare exactly.
    pub fn texts<T: Into<Cow<'static, str>>>(elements: impl IntoIterator<Item = T>) -> Self {
        elements.into_iter().map(Self::text).collect()
    }

    /// Creates a struct from members of type [`Value`] or `Option<Value>`; `None` omits the member.
    pub fn record<N, V>(members: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<Cow<'static, str>>,
        V: Into<Option<Self>>,
    {
        let present = members.into_iter().filter_map(|(name, value)| Some((name.into(), value.into()?)));
        Self::Struct(present.collect())
    }

    /// Creates a map.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// Returns the approximate heap size of the value in bytes.
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
            // Only literals are measured, and a literal is never a map.
            _ => 0,
        }
    }

    /// Returns a member of a struct or an entry of a map by its name.
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

/// The facts that an expression may read.
///
/// The roots are `activity`, `wallet`, `wallets`, `wallet_account`, `private_key`, `secret`, `eth`, `solana`,
/// `tron`, `bitcoin`, `tempo` for conditions and `time` for time expressions. `approvers` and `credentials`
/// come from an [`Electorate`](crate::decide::Electorate). An expression that reads an absent root fails, as
/// the language requires.
///
/// An implementation should build each root on first use and cache it, for example in a
/// [`LazyCell`](std::cell::LazyCell).
pub trait Facts {
    /// Returns a root by its name, or `None` if it is not available for the activity.
    fn root(&self, name: &str) -> Option<&Value>;
}

/// The members of a struct are the roots.
impl Facts for Value {
    fn root(&self, name: &str) -> Option<&Value> {
        self.member(name)
    }
}

/// Returns the approximate size of an allocation of `bytes` bytes, including the overhead of the allocator.
pub(crate) fn boxed(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        bytes => bytes.saturating_add(8).next_multiple_of(16).max(32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_outside_its_domain_is_unreadable() {
        assert_eq!(Value::int(i128::MAX.unsigned_abs()), Value::Int(Integer::from(i128::MAX)));
        assert_eq!(Value::int(u128::MAX), Value::Unreadable);
        assert_eq!(Value::uint(u128::MAX), Value::Int(Integer::from(u128::MAX)));
        assert_eq!(Value::uint(-1_i64), Value::Unreadable);
    }

    #[test]
    fn record_omits_absent_members() {
        let record = Value::record([("here", Some(Value::from(true))), ("gone", None)]);
        assert_eq!(record, Value::record([("here", Value::from(true))]));
        assert_eq!(record.root("here"), Some(&Value::Bool(true)));
        assert_eq!(record.root("gone"), None);
    }
}
