//! Describes expressions in words, for people who decide on policies.
//!
//! A part that has no wording of its own is shown in the syntax of the language.

use crate::number::Integer;
use crate::plan::{Each, Node, Step};
use crate::program::Program;
use crate::spell::{literal, spell};
use crate::syntax::{Comparison, Quantifier};
use crate::value::Value;

/// Decimal places of an amount in ether: 1 ETH is 10^18 wei.
const ETHER_DIGITS: usize = 18;
/// Maximum number of list elements that are named; a longer list is shown by its length.
const NAMED_ELEMENTS: usize = 8;

/// Resolves ids to the names that people know.
pub trait Names {
    /// Returns the name of the object with this id, or `None` if the id is unknown.
    fn name(&self, id: &str) -> Option<String>;
}

/// Resolves no id.
impl Names for () {
    fn name(&self, _: &str) -> Option<String> {
        None
    }
}

/// Describes an expression as a clause without a full stop, such as `at least 2 users approve`.
pub fn in_words(program: &Program, names: &dyn Names) -> String {
    Describer { names, variables: Vec::new() }.clause(program.plan())
}

struct Describer<'n> {
    names: &'n dyn Names,
    /// Names of the lambda variables in scope, outermost first.
    variables: Vec<String>,
}

impl Describer<'_> {
    fn clause(&mut self, node: &Node) -> String {
        match &node.step {
            Step::Constant(value) if **value == Value::Bool(true) => "always".to_owned(),
            Step::Constant(value) if **value == Value::Bool(false) => "never".to_owned(),
            Step::And(parts) => self.joined(parts, " and "),
            Step::Or(parts) => self.joined(parts, " or "),
            Step::Not(inner) => format!("not ({})", self.clause(inner)),
            Step::Compare { comparison, left, right } => self.comparison(*comparison, left, right),
            Step::Contains(contains) => self.contained(&contains.list, &contains.item),
            Step::Each(each) => {
                let Each { of, quantifier, variable, predicate } = &**each;
                if let Some(approval) = self.approval(of, *quantifier, predicate) {
                    return approval;
                }
                let list = self.subject(of);
                let predicate = self.element_clause(variable, predicate);
                match quantifier {
                    Quantifier::All => format!("each of {list} matches ({predicate})"),
                    Quantifier::Any | Quantifier::Filter => {
                        format!("at least one of {list} matches ({predicate})")
                    }
                }
            }
            Step::CronSpan(span) => {
                format!("the time is within {} (cron schedule, duration, time zone)", span.source)
            }
            Step::Path(path) => match &*path.members {
                [one] => format!("the {} is {}", path.root.replace('_', " "), one.name),
                _ => format!("{} is true", self.spelled(node)),
            },
            _ => format!("{} is true", self.subject(node)),
        }
    }

    fn joined(&mut self, parts: &[Node], between: &str) -> String {
        let clauses = parts.iter().map(|part| match part.step {
            Step::And(_) | Step::Or(_) => format!("({})", self.clause(part)),
            _ => self.clause(part),
        });
        clauses.collect::<Vec<_>>().join(between)
    }

    fn comparison(&mut self, comparison: Comparison, left: &Node, right: &Node) -> String {
        let counted = match &left.step {
            Step::Count(of) => self.counted(of, comparison, right),
            _ => None,
        };
        if let Some(counted) = counted {
            return counted;
        }
        let relation = relation(comparison, is_time(left));
        let is_wei = matches!(&left.step, Step::Path(path)
            if path.root == "eth" && path.members.last().is_some_and(|member| member.name == "value"));
        let right = match right.constant() {
            Some(Value::Int(wei)) if is_wei => ether(&wei.to_string()),
            _ => self.object(right),
        };
        format!("{} is {relation}{right}", self.subject(left))
    }

    /// Describes how many elements a list must have. Returns `None` if no wording fits.
    fn counted(&mut self, of: &Node, comparison: Comparison, right: &Node) -> Option<String> {
        let Some(Value::Int(number)) = right.constant() else { return None };
        let is_one = *number == Integer::from(1_u64);
        let (users, approve) = if is_one { ("user", "approves") } else { ("users", "approve") };
        let number = match comparison {
            Comparison::Equal => format!("exactly {number}"),
            Comparison::Less => format!("fewer than {number}"),
            Comparison::LessOrEqual => format!("at most {number}"),
            Comparison::Greater => format!("more than {number}"),
            Comparison::GreaterOrEqual => format!("at least {number}"),
            Comparison::NotEqual | Comparison::In => return None,
        };
        Some(match &of.step {
            Step::Root("approvers") => format!("{number} {users} {approve}"),
            Step::Each(each) if each.quantifier == Quantifier::Filter => {
                let Each { of: list, variable, predicate, .. } = &**each;
                if let Some(tag) = tag_of(list, predicate) {
                    return Some(format!("{number} {users} tagged {} {approve}", self.named(tag)));
                }
                let list = self.subject(list);
                let matches = if is_one { "matches" } else { "match" };
                format!("{number} of {list} {matches} ({})", self.element_clause(variable, predicate))
            }
            _ => {
                let (are, entries) = if is_one { ("is", "entry") } else { ("are", "entries") };
                format!("there {are} {number} {entries} in {}", self.subject(of))
            }
        })
    }

    /// Describes the most common consensus: an approval by a user who is chosen by id or by tag.
    fn approval(&self, of: &Node, quantifier: Quantifier, predicate: &Node) -> Option<String> {
        if quantifier != Quantifier::Any || !matches!(of.step, Step::Root("approvers")) {
            return None;
        }
        if let Some(tag) = tag_of(of, predicate) {
            return Some(format!("a user tagged {} approves", self.named(tag)));
        }
        match &predicate.step {
            Step::Compare { comparison: Comparison::Equal, left, right } if is_id(left) => {
                Some(format!("{} approves", self.object(right)))
            }
            Step::Contains(contains) if is_id(&contains.item) => {
                Some(format!("one of the users ({}) approves", self.object(&contains.list)))
            }
            _ => None,
        }
    }

    fn contained(&mut self, list: &Node, item: &Node) -> String {
        match list.constant() {
            Some(_) => format!("{} is one of {}", self.subject(item), self.object(list)),
            None => format!("{} include {}", self.subject(list), self.object(item)),
        }
    }

    /// Describes the predicate of a lambda with its variable in scope.
    fn element_clause(&mut self, variable: &str, predicate: &Node) -> String {
        self.variables.push(variable.to_owned());
        let clause = self.clause(predicate);
        self.variables.pop();
        clause
    }

    /// Describes the left side of a clause.
    fn subject(&self, node: &Node) -> String {
        match &node.step {
            Step::Root("approvers") => "the approvers".to_owned(),
            Step::Root("credentials") => "the credentials used to approve".to_owned(),
            Step::Path(path) if path.root == "activity" => match &*path.members {
                [one] if one.name == "type" || one.name == "kind" => "the activity".to_owned(),
                [one] => format!("the {}", one.name),
                _ => self.spelled(node),
            },
            Step::Path(path) if path.root == "time" => "the time".to_owned(),
            Step::Path(path) => match &*path.members {
                [one] if one.name == "id" => format!("the {}", path.root.replace('_', " ")),
                [one] => format!("the {} of the {}", one.name.replace('_', " "), path.root.replace('_', " ")),
                _ => self.spelled(node),
            },
            Step::Field(field) if matches!(field.of.step, Step::Variable(_)) => match field.name.as_str() {
                "id" => "it".to_owned(),
                name => format!("its {}", name.replace('_', " ")),
            },
            Step::Variable(_) => "it".to_owned(),
            Step::Constant(_) => self.object(node),
            _ => self.spelled(node),
        }
    }

    /// Describes the right side of a clause.
    fn object(&self, node: &Node) -> String {
        match node.constant() {
            Some(Value::List(elements)) if elements.len() > NAMED_ELEMENTS => {
                format!("{} values listed in the policy", elements.len())
            }
            Some(Value::List(elements)) => {
                elements.iter().map(|one| self.named(one)).collect::<Vec<_>>().join(", ")
            }
            Some(value) => self.named(value),
            None => self.subject(node),
        }
    }

    fn named(&self, value: &Value) -> String {
        match value {
            Value::Text { text, .. } => match self.names.name(text) {
                // The quotes keep a name from reading as a part of the sentence.
                Some(name) => format!("\"{}\"", name.replace('"', "'")),
                None => literal(value),
            },
            Value::Timestamp(instant) => instant.to_string(),
            other => literal(other),
        }
    }

    fn spelled(&self, node: &Node) -> String {
        let variables: Vec<&str> = self.variables.iter().map(String::as_str).collect();
        spell(node, &variables)
    }
}

/// Returns the words for a comparison that follow "is" or "must be", with a trailing space.
pub(crate) fn relation(comparison: Comparison, is_time: bool) -> &'static str {
    match (comparison, is_time) {
        (Comparison::Equal, _) => "",
        (Comparison::NotEqual, _) => "not ",
        (Comparison::Less, false) => "less than ",
        (Comparison::Less, true) => "before ",
        (Comparison::LessOrEqual, false) => "at most ",
        (Comparison::LessOrEqual, true) => "at or before ",
        (Comparison::Greater, false) => "more than ",
        (Comparison::Greater, true) => "after ",
        (Comparison::GreaterOrEqual, false) => "at least ",
        (Comparison::GreaterOrEqual, true) => "at or after ",
        (Comparison::In, _) => "one of ",
    }
}

/// Returns whether a part is the time of the request or a timestamp literal.
pub(crate) fn is_time(node: &Node) -> bool {
    match &node.step {
        Step::Path(path) => path.root == "time",
        Step::Constant(value) => matches!(**value, Value::Timestamp(_)),
        _ => false,
    }
}

/// Returns the tag that a predicate on approvers requires, if it requires nothing else.
fn tag_of<'n>(of: &Node, predicate: &'n Node) -> Option<&'n Value> {
    match (&of.step, &predicate.step) {
        (Step::Root("approvers"), Step::Contains(contains)) => match &contains.list.step {
            Step::Field(field) if field.name == "tags" && matches!(field.of.step, Step::Variable(_)) => {
                contains.item.constant()
            }
            _ => None,
        },
        _ => None,
    }
}

fn is_id(node: &Node) -> bool {
    matches!(&node.step, Step::Field(field)
        if field.name == "id" && matches!(field.of.step, Step::Variable(_)))
}

/// Formats an amount in wei as ether.
fn ether(wei: &str) -> String {
    let (sign, digits) = match wei.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", wei),
    };
    let padded = format!("{digits:0>width$}", width = ETHER_DIGITS.saturating_add(1));
    let (whole, fraction) = padded.split_at(padded.len().saturating_sub(ETHER_DIGITS));
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{fraction} ETH")
}
