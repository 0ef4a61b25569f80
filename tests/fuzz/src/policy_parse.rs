//! Parses any text as an expression of each kind, and evaluates it without facts.

use quorate_policy::{
    ErrorReason, EvaluationReason, ExpressionError, ExpressionKind, Program, Value, in_words,
};

use crate::expression_error;

const KINDS: [ExpressionKind; 3] =
    [ExpressionKind::Condition, ExpressionKind::Consensus, ExpressionKind::Time];

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for kind in KINDS {
        let parsed = Program::parse(kind, &text);
        assert_eq!(parsed, Program::parse(kind, &text), "parsing is deterministic");
        match parsed {
            Err(error) => expression_error::check(&text, &error),
            Ok(program) => check_program(&program, &text, kind),
        }
    }
}

fn check_program(program: &Program, text: &str, kind: ExpressionKind) {
    assert_eq!((program.kind(), program.source()), (kind, text), "a program keeps its kind and source");
    check_words_and_parts(program, kind);
    let nothing = Value::List(Vec::new());
    let result = program.evaluate(&nothing);
    if let Err(error) = &result {
        assert!(error.offset < text.len() && text.is_char_boundary(error.offset), "{error}");
    }
    // Parentheses change neither validity nor result, unless they exceed the nesting or length limit.
    let bracketed = Program::parse(kind, &format!("({text}\n)"));
    let exceeds_limit =
        |error: &ExpressionError| matches!(error.reason, ErrorReason::Nesting(_) | ErrorReason::Length(_));
    assert!(bracketed.as_ref().err().is_none_or(exceeds_limit), "invalid in parentheses: {bracketed:?}");
    if let Ok(bracketed) = bracketed {
        let bracketed = bracketed.evaluate(&nothing).map_err(|error| error.reason);
        assert_eq!(bracketed, result.map_err(|error| error.reason), "parentheses do not change the result");
    }
}

/// Asserts that a program can be described in words, and that its parts as text, if complete, have the same
/// result.
fn check_words_and_parts(program: &Program, kind: ExpressionKind) {
    assert!(!in_words(program, &()).is_empty());
    let Ok(spelled) = Program::parse(kind, &program.parts().join(" && ")) else { return };
    let nothing = Value::List(Vec::new());
    let results = [program, &spelled].map(|one| one.evaluate(&nothing).map_err(|error| error.reason));
    if results.iter().all(|result| *result != Err(EvaluationReason::Steps)) {
        assert_eq!(results.first(), results.last(), "{:?}", spelled.source());
    }
}
