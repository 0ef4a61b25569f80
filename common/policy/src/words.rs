//! Expressions in words, for people who decide on policies. What has no words of its own is shown as it is written.

use crate::plan::{Each, Node, Step};
use crate::program::Program;
use crate::spell::{literal, spell};
use crate::syntax::{Comparison, Quantifier};
use crate::value::Value;

/// Digits of a fraction of an ether.
const ETHER_DIGITS: usize = 18;
/// Elements of a list that are named; of longer ones the number is told.
const NAMED_ELEMENTS: usize = 4;

/// What people call the things that ids stand for.
pub trait Names {
    /// The name behind an id; `None` where it stands for nothing known.
    fn name(&self, id: &str) -> Option<String>;
}

/// Nothing has a name.
impl Names for () {
    fn name(&self, _: &str) -> Option<String> {
        None
    }
}

/// An expression in words: a clause without a full stop, such as `2 or more of the approvers have the tag finance`.
pub fn in_words(program: &Program, names: &dyn Names) -> String {
    Teller { names, variables: Vec::new() }.clause(program.plan())
}

struct Teller<'n> {
    names: &'n dyn Names,
    /// What the variables stand for, outermost first.
    variables: Vec<String>,
}

impl Teller<'_> {
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
                if let Some(told) = self.approval(of, *quantifier, predicate) {
                    return told;
                }
                let who = self.subject(of);
                let said = self.about(variable, predicate);
                match quantifier {
                    Quantifier::All => format!("all of {who} are such that {said}"),
                    Quantifier::Any | Quantifier::Filter => format!("one of {who} is such that {said}"),
                }
            }
            Step::CronSpan(span) => format!("the time lies within {}", span.source),
            Step::Path(path) => match &*path.members {
                [one] => format!("the {} is {}", path.root.replace('_', " "), one.name),
                _ => format!("{} is true", self.spelled(node)),
            },
            _ => format!("{} is true", self.subject(node)),
        }
    }

    fn joined(&mut self, parts: &[Node], between: &str) -> String {
        let told = parts.iter().map(|part| match part.step {
            Step::And(_) | Step::Or(_) => format!("({})", self.clause(part)),
            _ => self.clause(part),
        });
        told.collect::<Vec<_>>().join(between)
    }

    fn comparison(&mut self, comparison: Comparison, left: &Node, right: &Node) -> String {
        let counted = match &left.step {
            Step::Count(of) => self.counted(of, comparison, right),
            _ => None,
        };
        if let Some(told) = counted {
            return told;
        }
        let verb = match comparison {
            Comparison::Equal => "is",
            Comparison::NotEqual => "is not",
            Comparison::Less => "is less than",
            Comparison::LessOrEqual => "is at most",
            Comparison::Greater => "is more than",
            Comparison::GreaterOrEqual => "is at least",
            Comparison::In => "is one of",
        };
        let is_wei = matches!(&left.step, Step::Path(path)
            if path.root == "eth" && path.members.last().is_some_and(|member| member.name == "value"));
        let right = match right.constant() {
            Some(Value::Int(wei)) if is_wei => ether(&wei.to_string()),
            _ => self.object(right),
        };
        format!("{} {verb} {right}", self.subject(left))
    }

    /// How many of a list there must be.
    fn counted(&mut self, of: &Node, comparison: Comparison, right: &Node) -> Option<String> {
        let Some(Value::Int(number)) = right.constant() else { return None };
        let number = match comparison {
            Comparison::Equal => format!("exactly {number}"),
            Comparison::Less => format!("fewer than {number}"),
            Comparison::LessOrEqual => format!("at most {number}"),
            Comparison::Greater => format!("more than {number}"),
            Comparison::GreaterOrEqual => format!("at least {number}"),
            Comparison::NotEqual | Comparison::In => return None,
        };
        Some(match &of.step {
            Step::Root("approvers") => format!("{number} users approve"),
            Step::Each(each) if each.quantifier == Quantifier::Filter => {
                let Each { of: whole, variable, predicate, .. } = &**each;
                if let Some(tag) = tag_of(whole, predicate) {
                    return Some(format!("{number} users tagged {} approve", self.named(tag)));
                }
                let whole = self.subject(whole);
                format!("{number} of {whole} are such that {}", self.about(variable, predicate))
            }
            _ => format!("there are {number} of {}", self.subject(of)),
        })
    }

    /// The consensus that most policies ask for: somebody by id or tag.
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
                Some(format!("one of {} approves", self.object(&contains.list)))
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

    /// What is said of each element.
    fn about(&mut self, variable: &str, predicate: &Node) -> String {
        self.variables.push(variable.to_owned());
        let said = self.clause(predicate);
        self.variables.pop();
        said
    }

    /// What something is said about.
    fn subject(&self, node: &Node) -> String {
        match &node.step {
            Step::Root("approvers") => "the approvers".to_owned(),
            Step::Root("credentials") => "the credentials of the approvals".to_owned(),
            Step::Path(path) if path.root == "activity" => match &*path.members {
                [one] if one.name == "type" || one.name == "kind" => "the activity".to_owned(),
                [one] => format!("the {}", one.name),
                _ => self.spelled(node),
            },
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

    /// What something is compared with.
    fn object(&self, node: &Node) -> String {
        match node.constant() {
            Some(Value::List(elements)) if elements.len() > NAMED_ELEMENTS => {
                format!("{} that are listed", elements.len())
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
                // Between quotes, so that no name reads as a part of the sentence.
                Some(name) => format!("\"{}\"", name.replace('"', "'")),
                None => literal(value),
            },
            other => literal(other),
        }
    }

    fn spelled(&self, node: &Node) -> String {
        let variables: Vec<&str> = self.variables.iter().map(String::as_str).collect();
        spell(node, &variables)
    }
}

/// The tag that a predicate about approvers asks for, if it asks for nothing else.
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

/// A number of wei in ether.
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
