//! Translates selectors, the older syntax of policies, into expressions.

use serde::{Deserialize, Serialize};

use crate::EXPRESSION_LIMIT_BYTES;
use crate::check;
use crate::expression_error::{ErrorReason, ExpressionError, echo};
use crate::expression_kind::ExpressionKind;
use crate::number::Integer;
use crate::parse;
use crate::types::Type;

/// Maximum number of selectors of a policy, and of targets of one selector.
pub const SELECTOR_LIMIT: usize = crate::LIST_LIMIT;

/// One comparison of a policy in the older syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// Path that is compared: `user.…` and `credential.…` for the consensus, any other path for the
    /// condition.
    pub subject: String,
    /// Comparison operator.
    pub operator: Operator,
    /// Values to compare with, as text. The first version of selectors has exactly one.
    pub targets: Vec<String>,
}

/// The comparison operator of a selector.
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

/// The expressions that a list of selectors is equivalent to, as unparsed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// Condition from all selectors on the request.
    pub condition: Option<String>,
    /// Consensus from all selectors on users and credentials.
    pub consensus: Option<String>,
}

/// Translates selectors, all of which must hold, into expressions.
///
/// # Errors
/// Returns an error if a subject is not a path or a selector has no target. A target that does not have the
/// type of its subject, or contains a quote, is an error too, and so is an exceeded limit.
pub fn translate(selectors: &[Selector]) -> Result<Translation, ExpressionError> {
    if selectors.len() > SELECTOR_LIMIT {
        return Err(ExpressionError::new("", 0, ErrorReason::ListLength(SELECTOR_LIMIT)));
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

fn too_long() -> ExpressionError {
    ExpressionError::new("", 0, ErrorReason::Length(EXPRESSION_LIMIT_BYTES))
}

/// Translates one selector. `sample` is an expression with the type of the subject.
fn comparison(selector: &Selector, sample: &str, kind: ExpressionKind) -> Result<String, ExpressionError> {
    let subject = selector.subject.as_str();
    if !subject.split('.').all(is_identifier) {
        return Err(ExpressionError::new(subject, 0, ErrorReason::FieldMissing(echo(subject))));
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

/// Returns the targets as literals of the type of the subject, or of its elements if it is a list.
fn targets(selector: &Selector, type_: &Type) -> Result<Vec<String>, ExpressionError> {
    let count = selector.targets.len();
    if count == 0 || count > SELECTOR_LIMIT {
        return Err(ExpressionError::new(&selector.subject, 0, ErrorReason::TargetCount));
    }
    let element = match type_ {
        Type::List(element) => element.as_ref(),
        scalar => scalar,
    };
    let literals = selector.targets.iter().map(|target| literal(target, element));
    literals.collect::<Option<_>>().ok_or_else(|| {
        let expected = element.to_string();
        ExpressionError::new(&selector.subject, 0, ErrorReason::Target(expected))
    })
}

/// Returns a target as a literal, or `None` if it does not have the type. A quote would end the literal
/// early.
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
