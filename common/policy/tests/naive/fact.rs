//! Facts and values of the second evaluator, how they compare, and the same facts in the form that the package reads.

use std::rc::Rc;

use quorate_policy::{Integer, Timestamp, Value};

use crate::number::Number;

/// An evaluation that is neither true nor false. Why is not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failed;

/// The domain that a field declares for its integers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Domain {
    Int,
    Uint,
    /// A literal or a count, whose domain has been checked.
    Any,
}

/// Members of a struct or entries of a map.
pub(crate) type Members = Rc<Vec<(&'static str, Fact)>>;

/// What a field holds or an expression yields.
#[derive(Clone, Debug)]
pub(crate) enum Fact {
    Truth(bool),
    Number(Number, Domain),
    /// Characters, and whether comparisons ignore their ASCII case.
    Text(Rc<[char]>, bool),
    /// Seconds since 1970 and nanoseconds.
    Instant(i64, u32),
    List(Rc<Vec<Fact>>),
    Record(Members),
    Map(Members),
    /// Outside the domain of its type.
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

    /// What an expression gets that asks for this: a value outside its domain cannot be used at all.
    pub(crate) fn read(&self) -> Result<Self, Failed> {
        match self {
            Self::Broken => Err(Failed),
            Self::Number(number, Domain::Int) if !number.is_int() => Err(Failed),
            Self::Number(number, Domain::Uint) if !number.is_uint() => Err(Failed),
            readable => Ok(readable.clone()),
        }
    }

    /// The member or entry of that name.
    pub(crate) fn member(&self, name: &str) -> Result<Self, Failed> {
        let (Self::Record(members) | Self::Map(members)) = self else { return Err(Failed) };
        members.iter().find(|(own, _)| *own == name).ok_or(Failed)?.1.read()
    }

    /// Whether two values are the same. Lists of one length compare all their elements, so that one that cannot be read
    /// fails the comparison wherever it stands; lists of different lengths differ without being looked at.
    pub(crate) fn same(&self, other: &Self) -> Result<bool, Failed> {
        match (&self.read()?, &other.read()?) {
            (Self::Truth(left), Self::Truth(right)) => Ok(left == right),
            (Self::Number(left, _), Self::Number(right, _)) => Ok(left == right),
            (Self::Instant(left, less), Self::Instant(right, more)) => Ok(left == right && less == more),
            (Self::Text(left, folds), Self::Text(right, also)) => Ok(same_text(left, right, *folds || *also)),
            (Self::List(left), Self::List(right)) if left.len() != right.len() => Ok(false),
            (Self::List(left), Self::List(right)) => {
                let pairs: Result<Vec<bool>, Failed> =
                    left.iter().zip(right.iter()).map(|(left, right)| left.same(right)).collect();
                Ok(pairs?.into_iter().all(|same| same))
            }
            _ => Err(Failed),
        }
    }

    /// The same fact as the package reads it.
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
