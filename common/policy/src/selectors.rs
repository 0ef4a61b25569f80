//! The older form of a policy: selectors, translated once into expressions. Stores and evaluates nothing.

use serde::{Deserialize, Serialize};

use crate::EXPRESSION_LIMIT_BYTES;
use crate::check;
use crate::flaw::{Flaw, FlawReason, echo};
use crate::number::Integer;
use crate::parse;
use crate::program::ExpressionKind;
use crate::types::Type;

/// Most selectors, and most targets of one selector.
pub const SELECTOR_LIMIT: usize = crate::LIST_LIMIT;

/// One comparison of a policy in the older form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// A path: `user.…` and `credential.…` for the consensus, anything else for the condition.
    pub subject: String,
    /// How to compare.
    pub operator: Operator,
    /// What to compare with, as text. The oldest form has exactly one.
    pub targets: Vec<String>,
}

/// How a selector compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the meaning")]
pub enum Operator {
    #[serde(rename = "OPERATOR_EQUAL")]
    Equal,
    #[serde(rename = "OPERATOR_NOT_EQUAL")]
    NotEqual,
    #[serde(rename = "OPERATOR_MORE_THAN")]
    MoreThan,
    #[serde(rename = "OPERATOR_MORE_THAN_OR_EQUAL")]
    MoreThanOrEqual,
    #[serde(rename = "OPERATOR_LESS_THAN")]
    LessThan,
    #[serde(rename = "OPERATOR_LESS_THAN_OR_EQUAL")]
    LessThanOrEqual,
    #[serde(rename = "OPERATOR_CONTAINS")]
    Contains,
    #[serde(rename = "OPERATOR_IN")]
    In,
    #[serde(rename = "OPERATOR_NOT_IN")]
    NotIn,
    #[serde(rename = "OPERATOR_CONTAINS_ONE")]
    ContainsOne,
    #[serde(rename = "OPERATOR_CONTAINS_ALL")]
    ContainsAll,
}

/// The expressions that say the same as a list of selectors. They have yet to be parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// From all selectors about the request.
    pub condition: Option<String>,
    /// From all selectors about users and credentials.
    pub consensus: Option<String>,
}

/// Translates selectors, which must all hold, into expressions.
///
/// # Errors
/// A subject that is no path, a target that is not of the subject's type or could not stand between quotes, or no target.
pub fn translate(selectors: &[Selector]) -> Result<Translation, Flaw> {
    if selectors.len() > SELECTOR_LIMIT {
        return Err(Flaw::new("", 0, FlawReason::ListLength(SELECTOR_LIMIT)));
    }
    let mut request = Vec::new();
    let mut users = Vec::new();
    let mut credentials = Vec::new();
    let length = |texts: &[&Vec<String>]| texts.iter().copied().flatten().map(String::len).sum::<usize>();
    for selector in selectors {
        if length(&[&request, &users, &credentials]) > EXPRESSION_LIMIT_BYTES {
            return Err(too_long());
        }
        let subject = selector.subject.as_str();
        if let Some(path) = subject.strip_prefix("user.") {
            users.push(comparison(selector, &format!("approvers[0].{path}"), ExpressionKind::Consensus)?);
        } else if let Some(path) = subject.strip_prefix("credential.") {
            credentials.push(comparison(
                selector,
                &format!("credentials[0].{path}"),
                ExpressionKind::Consensus,
            )?);
        } else {
            request.push(comparison(selector, subject, ExpressionKind::Condition)?);
        }
    }
    let users = joined(&users, " && ").map(|all| format!("approvers.any(user, {all})"));
    let credentials = joined(&credentials, " && ").map(|all| format!("credentials.any(credential, {all})"));
    let voters: Vec<String> = users.into_iter().chain(credentials).collect();
    Ok(Translation { condition: joined(&request, " && "), consensus: joined(&voters, " && ") })
}

fn too_long() -> Flaw {
    Flaw::new("", 0, FlawReason::Length(EXPRESSION_LIMIT_BYTES))
}

/// `sample` is an expression of the subject's type.
fn comparison(selector: &Selector, sample: &str, kind: ExpressionKind) -> Result<String, Flaw> {
    let subject = selector.subject.as_str();
    if !subject.split('.').all(is_identifier) {
        return Err(Flaw::new(subject, 0, FlawReason::FieldMissing(echo(subject))));
    }
    let type_ = check::infer(kind, sample, &parse::parse(sample)?)?;
    let targets = targets(selector, &type_)?;
    let literals: usize = targets.iter().map(String::len).fold(0, usize::saturating_add);
    let repeated = targets.len().saturating_mul(subject.len());
    if literals.saturating_add(repeated) > EXPRESSION_LIMIT_BYTES {
        return Err(too_long());
    }
    let list = targets.join(", ");
    let each = |operator: &str, between: &str| {
        let all: Vec<String> =
            targets.iter().map(|target| format!("{subject} {operator} {target}")).collect();
        grouped(&all, between)
    };
    Ok(match selector.operator {
        Operator::Equal => each("==", " || "),
        Operator::NotEqual => each("!=", " && "),
        Operator::MoreThan => each(">", " && "),
        Operator::MoreThanOrEqual => each(">=", " && "),
        Operator::LessThan => each("<", " && "),
        Operator::LessThanOrEqual => each("<=", " && "),
        Operator::Contains => {
            let all: Vec<String> =
                targets.iter().map(|target| format!("{subject}.contains({target})")).collect();
            grouped(&all, " && ")
        }
        Operator::In => format!("{subject} in [{list}]"),
        Operator::NotIn => format!("!({subject} in [{list}])"),
        Operator::ContainsOne => format!("[{list}].any(x, {subject}.contains(x))"),
        Operator::ContainsAll => format!("[{list}].all(x, {subject}.contains(x))"),
    })
}

/// The targets as literals of the type that the subject, or an element of it, has.
fn targets(selector: &Selector, type_: &Type) -> Result<Vec<String>, Flaw> {
    let count = selector.targets.len();
    if count == 0 || count > SELECTOR_LIMIT {
        return Err(Flaw::new(&selector.subject, 0, FlawReason::TargetCount));
    }
    let element = match type_ {
        Type::List(element) => element.as_ref(),
        scalar => scalar,
    };
    let literals = selector.targets.iter().map(|target| literal(target, element));
    literals.collect::<Option<_>>().ok_or_else(|| {
        let expected = element.to_string();
        Flaw::new(&selector.subject, 0, FlawReason::Target(expected))
    })
}

/// A target as a literal of that type; `None` if it is not one. A quote in a text would end the literal early.
fn literal(target: &str, type_: &Type) -> Option<String> {
    match type_ {
        Type::Integer | Type::Quantity => Integer::from_decimal(target).map(|number| number.to_string()),
        Type::Bool => matches!(target, "true" | "false").then(|| target.to_owned()),
        Type::Text | Type::Dynamic => (!target.contains('\'')).then(|| format!("'{target}'")),
        _ => None,
    }
}

fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    let starts = characters.next().is_some_and(|first| first == '_' || first.is_ascii_alphabetic());
    let literal = matches!(text, "true" | "false" | "in");
    starts && !literal && characters.all(|character| character == '_' || character.is_ascii_alphanumeric())
}

fn grouped(parts: &[String], between: &str) -> String {
    match parts {
        [one] => one.clone(),
        several => format!("({})", several.join(between)),
    }
}

fn joined(parts: &[String], between: &str) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join(between))
}
