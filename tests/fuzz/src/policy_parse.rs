//! Any text as an expression of each kind. Evaluates nothing but what needs no facts.

use quorate_policy::{EvaluationReason, ExpressionKind, Flaw, FlawReason, Program, Value, in_words};

use crate::flaw;

const KINDS: [ExpressionKind; 3] =
    [ExpressionKind::Condition, ExpressionKind::Consensus, ExpressionKind::Time];

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for kind in KINDS {
        let read = Program::parse(kind, &text);
        assert_eq!(read, Program::parse(kind, &text), "reading twice comes to the same");
        match read {
            Err(found) => flaw::check(&text, &found),
            Ok(program) => check_program(&program, &text, kind),
        }
    }
}

fn check_program(program: &Program, text: &str, kind: ExpressionKind) {
    assert_eq!((program.kind(), program.source()), (kind, text), "a program keeps what it was made of");
    check_told(program, kind);
    let nothing = Value::List(Vec::new());
    let found = program.evaluate(&nothing);
    if let Err(error) = &found {
        assert!(error.offset < text.len() && text.is_char_boundary(error.offset), "{error}");
    }
    // Brackets change neither what is legal nor what it comes to, unless they are one level or byte too much.
    let bracketed = Program::parse(kind, &format!("({text}\n)"));
    let is_too_much = |flaw: &Flaw| matches!(flaw.reason, FlawReason::Nesting(_) | FlawReason::Length(_));
    assert!(bracketed.as_ref().err().is_none_or(is_too_much), "legal, but not in brackets: {bracketed:?}");
    if let Ok(bracketed) = bracketed {
        let again = bracketed.evaluate(&nothing).map_err(|error| error.reason);
        assert_eq!(again, found.map_err(|error| error.reason), "brackets change nothing");
    }
}

/// Whatever is legal can be told in words, and spelled again: what is spelled, if it is whole, comes to the same.
fn check_told(program: &Program, kind: ExpressionKind) {
    assert!(!in_words(program, &()).is_empty());
    let Ok(spelled) = Program::parse(kind, &program.parts().join(" && ")) else { return };
    let nothing = Value::List(Vec::new());
    let come = [program, &spelled].map(|one| one.evaluate(&nothing).map_err(|error| error.reason));
    if come.iter().all(|one| *one != Err(EvaluationReason::Steps)) {
        assert_eq!(come.first(), come.last(), "{:?}", spelled.source());
    }
}
