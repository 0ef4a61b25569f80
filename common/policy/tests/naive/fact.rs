//! Facts and values of the naive evaluator, their comparison, and their conversion to values of the crate.

use std::rc::Rc;

use quorate_policy::{Integer, Timestamp, Value};

use crate::number::Number;

/// A failed evaluation. The reason is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

/// The declared domain of an integer field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Domain {
    Int,
    Uint,
    /// A literal or a count, whose domain is already checked.
    Any,
}

/// Members of a struct or entries of a map.
pub(crate) type Members = Rc<Vec<(&'static str, Fact)>>;

/// The value of a field or an expression.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    Truth(bool),
    Number(Number, Domain),
    /// Characters, and whether comparisons ignore their ASCII case.
    Text(Rc<[char]>, bool),
    /// Seconds since 1970-01-01T00:00:00Z and nanoseconds.
    Instant(i64, u32),
    List(Rc<Vec<Fact>>),
    Record(Members),
    Map(Members),
    /// A value outside the domain of its type.
    Broken,
}

impl Fact {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.chars().collect(), false)
    }

    pub(crate) fn folded(text: &str) -> Self {
        Self::Text(text.chars().collect(), true)
    }

    pub(crate) fn list(elements: Vec<Self>) -> Self {
        Self::List(Rc::new(elements))
    }

    pub(crate) fn record(members: Vec<(&'static str, Self)>) -> Self {
        Self::Record(Rc::new(members))
    }

    /// Returns the value for an expression that reads it. A value outside its domain is an error.
    pub(crate) fn read(&self) -> Result<Self, Failed> {
        match self {
            Self::Broken => Err(Failed),
            Self::Number(number, Domain::Int) if !number.is_int() => Err(Failed),
            Self::Number(number, Domain::Uint) if !number.is_uint() => Err(Failed),
            readable => Ok(readable.clone()),
        }
    }

    /// Returns a member or entry by its name.
    pub(crate) fn member(&self, name: &str) -> Result<Self, Failed> {
        let (Self::Record(members) | Self::Map(members)) = self else { return Err(Failed) };
        members.iter().find(|(own, _)| *own == name).ok_or(Failed)?.1.read()
    }

    /// Returns whether two values are equal.
    ///
    /// Lists of equal length compare all their elements, so an unreadable element always fails the
    /// comparison. Lists of different lengths differ, and their elements are not read.
    pub(crate) fn same(&self, other: &Self) -> Result<bool, Failed> {
        match (&self.read()?, &other.read()?) {
            (Self::Truth(left), Self::Truth(right)) => Ok(left == right),
            (Self::Number(left, _), Self::Number(right, _)) => Ok(left == right),
            (Self::Instant(left, left_nanos), Self::Instant(right, right_nanos)) => {
                Ok(left == right && left_nanos == right_nanos)
            }
            (Self::Text(left, left_folds), Self::Text(right, right_folds)) => {
                Ok(same_text(left, right, *left_folds || *right_folds))
            }
            (Self::List(left), Self::List(right)) if left.len() != right.len() => Ok(false),
            (Self::List(left), Self::List(right)) => {
                let pairs: Result<Vec<bool>, Failed> =
                    left.iter().zip(right.iter()).map(|(left, right)| left.same(right)).collect();
                Ok(pairs?.into_iter().all(|same| same))
            }
            _ => Err(Failed),
        }
    }

    /// Converts the fact to a value of the crate.
    pub(crate) fn product(&self) -> Value {
        let members = |members: &Members| -> Vec<(&'static str, Value)> {
            members.iter().map(|(name, member)| (*name, member.product())).collect()
        };
        match self {
            Self::Truth(truth) => Value::from(*truth),
            Self::Number(number, domain) => {
                let integer = Integer::from_decimal(&number.text()).unwrap();
                if matches!(domain, Domain::Uint) { Value::uint(integer) } else { Value::int(integer) }
            }
            Self::Text(characters, folds) => {
                let text: String = characters.iter().collect();
                if *folds { Value::folded(text) } else { Value::text(text) }
            }
            Self::Instant(seconds, nanoseconds) => {
                Value::from(Timestamp::new(*seconds, *nanoseconds).unwrap())
            }
            Self::List(elements) => elements.iter().map(Self::product).collect(),
            Self::Record(inner) => Value::record(members(inner)),
            Self::Map(inner) => Value::map(members(inner)),
            Self::Broken => Value::Unreadable,
        }
    }
}

fn same_text(left: &[char], right: &[char], folds: bool) -> bool {
    let fold = |character: &char| if folds { character.to_ascii_lowercase() } else { *character };
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| fold(left) == fold(right))
}
