//! Evaluates any policy over any request and any voters. An expression that does not parse counts as absent;
//! parsing has its own target.

use quorate_policy::decide::{self, Effect, Evaluation, PolicyOutcome, PolicyProgram, VerdictContext};
use quorate_policy::{
    EvaluationError, EvaluationReason, ExpressionKind, Facts, Program, contributes, explain,
};

use crate::expression_error;
use crate::request::{Case, Votes};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Case { expressions: [condition, consensus, time], effect, facts, votes } = Case::parse(&text);
    let policy = PolicyProgram {
        effect,
        condition: program(ExpressionKind::Condition, condition),
        consensus: program(ExpressionKind::Consensus, consensus),
        time: program(ExpressionKind::Time, time),
    };
    let evaluation = decide::evaluation(&policy, &facts, &votes.electorate());
    let repeated = decide::evaluation(&policy, &facts, &votes.electorate());
    assert_eq!(evaluation, repeated, "evaluation is deterministic");
    check_errors(&policy, &evaluation);
    check_outcome(&policy, &evaluation);
    check_votes(&policy, &evaluation, &votes);
    check_explanation(&policy, &evaluation, &facts, &votes);
    check_strict(&policy, &evaluation, &facts, &votes);
    for program in [&policy.condition, &policy.time].into_iter().flatten() {
        check_negation(program, &facts);
    }
}

fn program(kind: ExpressionKind, source: &str) -> Option<Program> {
    let parsed = Program::parse(kind, source).inspect_err(|error| expression_error::check(source, error));
    parsed.ok()
}

/// Asserts that the position of a failure is within its expression and that the evaluator has no internal
/// error.
fn check_errors(policy: &PolicyProgram, evaluation: &Evaluation) {
    for (program, result) in [
        (&policy.condition, &evaluation.condition),
        (&policy.consensus, &evaluation.consensus),
        (&policy.time, &evaluation.time),
    ] {
        match (program, result) {
            (None, result) => assert_eq!(*result, Ok(true), "an absent expression is true"),
            (Some(program), Err(error)) => {
                let EvaluationError { offset, reason } = error;
                let source = program.source();
                assert!(*offset < source.len() && source.is_char_boundary(*offset), "{error}");
                assert_ne!(*reason, EvaluationReason::Internal);
            }
            (Some(_), Ok(_)) => {}
        }
    }
}

/// Asserts that a policy permits or denies only if all three expressions are true.
fn check_outcome(policy: &PolicyProgram, evaluation: &Evaluation) {
    let Evaluation { condition, consensus, time, outcome } = evaluation;
    let applies = [condition, consensus, time].into_iter().all(|result| *result == Ok(true));
    let failed = [condition, consensus, time].into_iter().any(Result::is_err);
    assert_eq!(
        *outcome == PolicyOutcome::Error,
        failed,
        "the outcome is an error if and only if an expression fails"
    );
    assert_eq!(*outcome == PolicyOutcome::Allow, applies && policy.effect == Effect::Allow);
    assert_eq!(*outcome == PolicyOutcome::DenyExplicit, applies && policy.effect == Effect::Deny);
    let verdict = decide::verdict(VerdictContext::default(), [*outcome]);
    assert_eq!(
        verdict == PolicyOutcome::Allow,
        *outcome == PolicyOutcome::Allow,
        "only an allowing policy permits"
    );
}

/// Asserts that a request waits only for missing votes, and only if the proposer may wait for them.
fn check_votes(policy: &PolicyProgram, evaluation: &Evaluation, votes: &Votes) {
    let electorate = votes.electorate();
    let Some(consensus) = &policy.consensus else {
        assert_ne!(
            evaluation.outcome,
            PolicyOutcome::RequiresConsensus,
            "without a consensus there is nothing to wait for"
        );
        return;
    };
    for user_id in votes.user_ids() {
        let counts = contributes(consensus, &electorate, user_id);
        assert_eq!(
            counts,
            contributes(consensus, &votes.electorate(), user_id),
            "contributions are deterministic"
        );
        assert!(votes.knows(user_id) || !counts, "a user who cannot vote does not contribute");
    }
    if evaluation.outcome == PolicyOutcome::RequiresConsensus {
        assert_eq!(policy.effect, Effect::Allow, "a deny policy never waits");
        assert_eq!((&evaluation.condition, &evaluation.consensus), (&Ok(true), &Ok(false)));
        let proposer = electorate.proposer();
        assert!(proposer.is_root || contributes(consensus, &electorate, &proposer.user_id));
    }
}

/// Asserts that the explanation agrees with the evaluation and that its reasons are short.
fn check_explanation(policy: &PolicyProgram, evaluation: &Evaluation, facts: &dyn Facts, votes: &Votes) {
    const LONGEST: usize = 8_000;
    let explanation = explain(policy, facts, &votes.electorate());
    assert_eq!(explanation.outcome, evaluation.outcome);
    let results = [&evaluation.condition, &evaluation.consensus, &evaluation.time];
    for (part, result) in explanation.parts.iter().zip(results) {
        assert_eq!(part.holds, result.as_ref().ok().copied());
        assert_eq!(
            part.reason.is_none(),
            *result == Ok(true),
            "every expression that is not true has a reason"
        );
        assert!(part.reason.as_ref().is_none_or(|reason| reason.len() < LONGEST));
    }
}

/// Asserts that the strict outcome differs only if a deny policy fails: then it may deny.
fn check_strict(policy: &PolicyProgram, evaluation: &Evaluation, facts: &dyn Facts, votes: &Votes) {
    let strict = decide::strict_outcome(policy, facts, &votes.electorate());
    let may_deny = policy.effect == Effect::Deny && evaluation.outcome == PolicyOutcome::Error;
    let denies = may_deny && strict == PolicyOutcome::DenyExplicit;
    assert!(strict == evaluation.outcome || denies, "{strict} instead of {}", evaluation.outcome);
}

/// Asserts that the negation of an expression has the opposite result and fails if the expression fails.
fn check_negation(program: &Program, facts: &dyn Facts) {
    const BEFORE: &str = "!(";
    let negation = format!("{BEFORE}{}\n)", program.source());
    // The negation may exceed the nesting or length limit.
    let Ok(negation) = Program::parse(program.kind(), &negation) else { return };
    match (program.evaluate(facts), negation.evaluate(facts)) {
        // The negation takes one more step, which may exceed the limit.
        (_, Err(EvaluationError { reason: EvaluationReason::Steps, .. })) => {}
        (Ok(truth), negated) => assert_eq!(negated, Ok(!truth)),
        (Err(EvaluationError { offset, reason }), negated) => {
            assert_eq!(negated, Err(EvaluationError { offset: offset + BEFORE.len(), reason }));
        }
    }
}
