//! Formats a plan, or a part of one, as source text of the language.

use std::fmt::Write;

use crate::plan::{Each, Node, Step};
use crate::value::Value;

/// Maximum number of list elements that are written out; a longer list is shown by its length.
const SPELLED_ELEMENTS: usize = 8;

/// Precedence of a part, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Compare,
    Not,
    Postfix,
}

/// Formats a part of an expression. `variables` are the names of the lambda variables in scope, outermost
/// first.
pub(crate) fn spell(node: &Node, variables: &[&str]) -> String {
    let mut text = String::new();
    part(&mut text, node, &mut variables.to_vec(), Binding::Or);
    text
}

/// Formats a value as a literal, or as a word in angle brackets if it has no literal.
pub(crate) fn literal(value: &Value) -> String {
    match value {
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Text { text, .. } => format!("'{text}'"),
        Value::List(elements) if elements.len() > SPELLED_ELEMENTS => {
            format!("<{} elements>", elements.len())
        }
        Value::List(elements) => format!("[{}]", elements.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Struct(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, member)| format!("{name}: {}", literal(member))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Map(_) => "<map>".to_owned(),
        Value::Timestamp(instant) => format!("Timestamp('{instant}')"),
        Value::Unreadable => "<unreadable>".to_owned(),
    }
}

fn part<'n>(text: &mut String, node: &'n Node, variables: &mut Vec<&'n str>, around: Binding) {
    let own = binding(node);
    if own < around {
        text.push('(');
    }
    body(text, node, variables);
    if own < around {
        text.push(')');
    }
}

fn binding(node: &Node) -> Binding {
    match node.step {
        Step::Or(_) => Binding::Or,
        Step::And(_) => Binding::And,
        Step::Compare { .. } => Binding::Compare,
        Step::Not(_) => Binding::Not,
        _ => Binding::Postfix,
    }
}

fn body<'n>(text: &mut String, node: &'n Node, variables: &mut Vec<&'n str>) {
    match &node.step {
        Step::Constant(value) => text.push_str(&literal(value)),
        Step::Root(root) => text.push_str(root),
        Step::Path(path) => {
            text.push_str(path.root);
            for member in &path.members {
                text.push('.');
                text.push_str(&member.name);
            }
        }
        Step::Variable(index) => text.push_str(variables.get(*index).copied().unwrap_or("_")),
        Step::Not(inner) => {
            text.push('!');
            part(text, inner, variables, Binding::Not);
        }
        Step::And(parts) => joined(text, parts, " && ", variables, Binding::Compare),
        Step::Or(parts) => joined(text, parts, " || ", variables, Binding::And),
        Step::Compare { comparison, left, right } => {
            part(text, left, variables, Binding::Not);
            let _ = write!(text, " {} ", comparison.name());
            part(text, right, variables, Binding::Not);
        }
        Step::Contains(contains) => {
            part(text, &contains.list, variables, Binding::Postfix);
            call(text, "contains", &contains.item, variables);
        }
        Step::Field(field) => {
            part(text, &field.of, variables, Binding::Postfix);
            text.push('.');
            text.push_str(&field.name);
        }
        Step::CountOrField(of) | Step::Count(of) => {
            part(text, of, variables, Binding::Postfix);
            text.push_str(".count()");
        }
        Step::Each(each) => {
            let Each { of, quantifier, variable, predicate } = &**each;
            part(text, of, variables, Binding::Postfix);
            let _ = write!(text, ".{}({variable}, ", quantifier.name());
            variables.push(variable);
            part(text, predicate, variables, Binding::Or);
            variables.pop();
            text.push(')');
        }
        Step::Index { of, key } => {
            part(text, of, variables, Binding::Postfix);
            bracketed(text, &[key], variables);
        }
        Step::Slice(slice) => {
            part(text, &slice.of, variables, Binding::Postfix);
            bracketed(text, &[&slice.from, &slice.to], variables);
        }
        Step::Lower(inner) => {
            text.push_str("CaseInsensitiveString(");
            part(text, inner, variables, Binding::Or);
            text.push(')');
        }
        Step::CronSpan(span) => text.push_str(&span.source),
        Step::List(elements) => {
            text.push('[');
            joined(text, elements, ", ", variables, Binding::Or);
            text.push(']');
        }
        Step::Struct(members) => record(text, members, variables),
    }
}

fn record<'n>(text: &mut String, members: &'n [(String, Node)], variables: &mut Vec<&'n str>) {
    text.push('{');
    for (index, (name, member)) in members.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        let _ = write!(text, "{comma}{name}: ");
        part(text, member, variables, Binding::Or);
    }
    text.push('}');
}

fn joined<'n>(
    text: &mut String,
    parts: &'n [Node],
    between: &str,
    variables: &mut Vec<&'n str>,
    around: Binding,
) {
    for (index, one) in parts.iter().enumerate() {
        if index > 0 {
            text.push_str(between);
        }
        part(text, one, variables, around);
    }
}

fn call<'n>(text: &mut String, name: &str, argument: &'n Node, variables: &mut Vec<&'n str>) {
    let _ = write!(text, ".{name}(");
    part(text, argument, variables, Binding::Or);
    text.push(')');
}

fn bracketed<'n>(text: &mut String, bounds: &[&'n Node], variables: &mut Vec<&'n str>) {
    text.push('[');
    for (index, bound) in bounds.iter().enumerate() {
        if index > 0 {
            text.push_str("..");
        }
        part(text, bound, variables, Binding::Or);
    }
    text.push(']');
}
