//! The naive evaluator. It evaluates every part, so a failure in any part fails the whole expression.

use std::cmp::Ordering;

use crate::cron;
use crate::fact::{Domain, Fact, Failed};
use crate::number::Number;
use crate::tree::{Operator, Quantifier, Tree};

/// The names that an expression can read: the available roots and the lambda variables in scope.
#[derive(Clone)]
pub(crate) struct Scope<'a> {
    pub(crate) roots: &'a [(&'static str, Fact)],
    pub(crate) variables: Vec<(&'static str, Fact)>,
}

/// Evaluates an expression over the given roots.
pub(crate) fn evaluate(tree: &Tree, roots: &[(&'static str, Fact)]) -> Result<bool, Failed> {
    Scope { roots, variables: Vec::new() }.truth(tree)
}

impl Scope<'_> {
    /// Evaluates an expression that must be boolean.
    pub(crate) fn truth(&mut self, tree: &Tree) -> Result<bool, Failed> {
        match self.value(tree)? {
            Fact::Truth(truth) => Ok(truth),
            _ => Err(Failed),
        }
    }

    /// Evaluates an expression that must be a list and returns its elements.
    pub(crate) fn list(&mut self, tree: &Tree) -> Result<Vec<Fact>, Failed> {
        match self.value(tree)? {
            Fact::List(elements) => Ok(elements.to_vec()),
            _ => Err(Failed),
        }
    }

    fn value(&mut self, tree: &Tree) -> Result<Fact, Failed> {
        match tree {
            Tree::Truth(truth) => Ok(Fact::Truth(*truth)),
            Tree::Number(digits) => Ok(Fact::Number(Number::parse(digits), Domain::Any)),
            Tree::Text(text) => Ok(Fact::text(text)),
            Tree::Instant(seconds, nanoseconds) => Ok(Fact::Instant(*seconds, *nanoseconds)),
            Tree::List(elements) => Ok(Fact::list(self.values(elements.iter())?)),
            Tree::Record(members) => {
                let values = self.values(members.iter().map(|(_, member)| member))?;
                Ok(Fact::record(members.iter().map(|(name, _)| *name).zip(values).collect()))
            }
            Tree::Name(name) => self.name(name),
            Tree::Member(inner, name) => self.value(inner)?.member(name),
            Tree::Index(inner, position) => self.index(inner, position),
            Tree::Slice(inner, from, to) => self.slice(inner, from, to),
            Tree::Lambda(Quantifier::Filter, list, variable, predicate) => {
                let verdicts = self.predicate(list, variable, predicate)?;
                let kept = verdicts.into_iter().filter(|(_, holds)| *holds).map(|(element, _)| element);
                Ok(Fact::list(kept.collect()))
            }
            Tree::Count(list) => Ok(Fact::Number(Number::count(self.list(list)?.len()), Domain::Any)),
            Tree::BareCount(inner) => match self.value(inner)? {
                Fact::List(elements) => Ok(Fact::Number(Number::count(elements.len()), Domain::Any)),
                other => other.member("count"),
            },
            Tree::Lowered(inner) => match self.value(inner)? {
                Fact::Text(characters, folds) => {
                    Ok(Fact::Text(characters.iter().map(char::to_ascii_lowercase).collect(), folds))
                }
                _ => Err(Failed),
            },
            _ => self.operation(tree).map(Fact::Truth),
        }
    }

    fn values<'t>(&mut self, trees: impl Iterator<Item = &'t Tree>) -> Result<Vec<Fact>, Failed> {
        trees.map(|tree| self.value(tree)).collect()
    }

    fn operation(&mut self, tree: &Tree) -> Result<bool, Failed> {
        match tree {
            Tree::Lambda(quantifier, list, variable, predicate) => {
                let verdicts = self.predicate(list, variable, predicate)?;
                let mut verdicts = verdicts.into_iter().map(|(_, holds)| holds);
                Ok(if *quantifier == Quantifier::All {
                    verdicts.all(|holds| holds)
                } else {
                    verdicts.any(|holds| holds)
                })
            }
            Tree::Contains(list, item) | Tree::In(item, list) => {
                let (item, list) = (self.value(item)?, self.list(list)?);
                let same: Result<Vec<bool>, Failed> =
                    list.iter().map(|element| element.same(&item)).collect();
                Ok(same?.contains(&true))
            }
            Tree::Compare(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                compare(*operator, &left, &right)
            }
            Tree::Quantity(field, text, unequal) => {
                Ok((self.number(field)? == Number::parse(text)) != *unequal)
            }
            Tree::QuantityIn(field, texts) => {
                let number = self.number(field)?;
                Ok(texts.iter().any(|text| Number::parse(text) == number))
            }
            Tree::Not(inner) => Ok(!self.truth(inner)?),
            Tree::And(parts) => Ok(self.truths(parts)?.into_iter().all(|truth| truth)),
            Tree::Or(parts) => Ok(self.truths(parts)?.into_iter().any(|truth| truth)),
            Tree::CronSpan(cron, duration, zone) => match self.name("time")?.member("now")? {
                Fact::Instant(seconds, _) => Ok(cron::is_active(cron, duration, zone, seconds)),
                _ => Err(Failed),
            },
            other => panic!("not an operation: {other:?}"),
        }
    }

    fn truths(&mut self, parts: &[Tree]) -> Result<Vec<bool>, Failed> {
        parts.iter().map(|part| self.truth(part)).collect()
    }

    fn name(&self, name: &str) -> Result<Fact, Failed> {
        let variable = self.variables.iter().find(|(own, _)| *own == name);
        let value = variable.or_else(|| self.roots.iter().find(|(own, _)| *own == name));
        value.ok_or(Failed)?.1.read()
    }

    fn number(&mut self, tree: &Tree) -> Result<Number, Failed> {
        match self.value(tree)? {
            Fact::Number(number, _) => Ok(number),
            _ => Err(Failed),
        }
    }

    fn position(&mut self, tree: &Tree) -> Result<usize, Failed> {
        self.number(tree)?.position().ok_or(Failed)
    }

    fn index(&mut self, inner: &Tree, position: &Tree) -> Result<Fact, Failed> {
        match self.value(inner)? {
            Fact::List(elements) => elements.get(self.position(position)?).ok_or(Failed)?.read(),
            Fact::Text(characters, folds) => {
                let character = characters.get(self.position(position)?).ok_or(Failed)?;
                Ok(Fact::Text([*character].into(), folds))
            }
            inner @ (Fact::Record(_) | Fact::Map(_)) => match self.value(position)? {
                Fact::Text(key, _) => inner.member(&key.iter().collect::<String>()),
                _ => Err(Failed),
            },
            _ => Err(Failed),
        }
    }

    fn slice(&mut self, inner: &Tree, from: &Tree, to: &Tree) -> Result<Fact, Failed> {
        let inner = self.value(inner)?;
        let (from, to) = (self.position(from)?, self.position(to)?);
        match inner {
            Fact::List(elements) => Ok(Fact::list(elements.get(from..to).ok_or(Failed)?.to_vec())),
            Fact::Text(characters, folds) => {
                Ok(Fact::Text(characters.get(from..to).ok_or(Failed)?.into(), folds))
            }
            _ => Err(Failed),
        }
    }

    /// Returns each element of a list, and whether the predicate is true for it.
    fn predicate(
        &mut self,
        list: &Tree,
        variable: &'static str,
        predicate: &Tree,
    ) -> Result<Vec<(Fact, bool)>, Failed> {
        let mut verdicts = Vec::new();
        for element in self.list(list)? {
            self.variables.push((variable, element.read()?));
            let holds = self.truth(predicate);
            self.variables.pop();
            verdicts.push((element, holds?));
        }
        Ok(verdicts)
    }
}

fn compare(operator: Operator, left: &Fact, right: &Fact) -> Result<bool, Failed> {
    let order = match (operator, left, right) {
        (Operator::Equal, ..) => return left.same(right),
        (Operator::Unequal, ..) => return left.same(right).map(|same| !same),
        (_, Fact::Number(left, _), Fact::Number(right, _)) => left.order(right),
        (_, Fact::Instant(left, left_nanos), Fact::Instant(right, right_nanos)) => {
            left.cmp(right).then(left_nanos.cmp(right_nanos))
        }
        _ => return Err(Failed),
    };
    Ok(match operator {
        Operator::Less => order == Ordering::Less,
        Operator::AtMost => order != Ordering::Greater,
        Operator::More => order == Ordering::Greater,
        _ => order != Ordering::Less,
    })
}
