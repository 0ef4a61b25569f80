//! Any policy over any request and any voters. A part that is no legal expression is left out; reading is another target.

use quorate_policy::decide::{self, Effect, Evaluation, PolicyOutcome, PolicyProgram, Standing};
use quorate_policy::{
    EvaluationError, EvaluationReason, ExpressionKind, Facts, Program, contributes, explain,
};

use crate::flaw;
use crate::request::{Case, Votes};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Case { expressions: [condition, consensus, time], effect, facts, votes } = Case::read(&text);
    let policy = PolicyProgram {
        effect,
        condition: program(ExpressionKind::Condition, condition),
        consensus: program(ExpressionKind::Consensus, consensus),
        time: program(ExpressionKind::Time, time),
    };
    let evaluation = decide::evaluation(&policy, &facts, &votes.electorate());
    let again = decide::evaluation(&policy, &facts, &votes.electorate());
    assert_eq!(evaluation, again, "asking twice comes to the same");
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
    let read = Program::parse(kind, source).inspect_err(|found| flaw::check(source, found));
    read.ok()
}

/// A failure lies within its expression and is never one of the evaluator itself.
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

/// Nothing is permitted or denied unless all three expressions came out true.
fn check_outcome(policy: &PolicyProgram, evaluation: &Evaluation) {
    let Evaluation { condition, consensus, time, outcome } = evaluation;
    let applies = [condition, consensus, time].into_iter().all(|result| *result == Ok(true));
    let failed = [condition, consensus, time].into_iter().any(Result::is_err);
    assert_eq!(*outcome == PolicyOutcome::Error, failed, "a failure, and only that, is an error");
    assert_eq!(*outcome == PolicyOutcome::Allow, applies && policy.effect == Effect::Allow);
    assert_eq!(*outcome == PolicyOutcome::DenyExplicit, applies && policy.effect == Effect::Deny);
    let verdict = decide::verdict(Standing::default(), [*outcome]);
    assert_eq!(verdict == PolicyOutcome::Allow, *outcome == PolicyOutcome::Allow, "only a policy permits");
}

/// A request waits only for votes that are missing, and with someone whose vote means something.
fn check_votes(policy: &PolicyProgram, evaluation: &Evaluation, votes: &Votes) {
    let electorate = votes.electorate();
    let Some(consensus) = &policy.consensus else {
        assert_ne!(evaluation.outcome, PolicyOutcome::RequiresConsensus, "there is nothing to wait for");
        return;
    };
    for user_id in votes.user_ids() {
        let counts = contributes(consensus, &electorate, user_id);
        assert_eq!(counts, contributes(consensus, &votes.electorate(), user_id), "the same for each asking");
        assert!(votes.knows(user_id) || !counts, "someone who cannot vote contributes nothing");
    }
    if evaluation.outcome == PolicyOutcome::RequiresConsensus {
        assert_eq!(policy.effect, Effect::Allow, "a denial never waits");
        assert_eq!((&evaluation.condition, &evaluation.consensus), (&Ok(true), &Ok(false)));
        let requester = electorate.requester();
        assert!(requester.is_root || contributes(consensus, &electorate, &requester.user_id));
    }
}

/// The explanation says what the evaluation says, in a few lines.
fn check_explanation(policy: &PolicyProgram, evaluation: &Evaluation, facts: &dyn Facts, votes: &Votes) {
    const LONGEST: usize = 8_000;
    let explanation = explain(policy, facts, &votes.electorate());
    assert_eq!(explanation.outcome, evaluation.outcome);
    let results = [&evaluation.condition, &evaluation.consensus, &evaluation.time];
    for (part, result) in explanation.parts.iter().zip(results) {
        assert_eq!(part.holds, result.as_ref().ok().copied());
        assert_eq!(part.reason.is_none(), *result == Ok(true), "whatever does not hold has a reason");
        assert!(part.reason.as_ref().is_none_or(|reason| reason.len() < LONGEST));
    }
}

/// The strict reading differs only by denying where a denial failed.
fn check_strict(policy: &PolicyProgram, evaluation: &Evaluation, facts: &dyn Facts, votes: &Votes) {
    let strict = decide::strict_outcome(policy, facts, &votes.electorate());
    let may_deny = policy.effect == Effect::Deny && evaluation.outcome == PolicyOutcome::Error;
    let denies = may_deny && strict == PolicyOutcome::DenyExplicit;
    assert!(strict == evaluation.outcome || denies, "{strict} instead of {}", evaluation.outcome);
}

/// The opposite of an expression comes out opposite, and fails where the expression fails.
fn check_negation(program: &Program, facts: &dyn Facts) {
    const BEFORE: &str = "!(";
    let opposite = format!("{BEFORE}{}\n)", program.source());
    // One level or byte too much is no finding.
    let Ok(opposite) = Program::parse(program.kind(), &opposite) else { return };
    match (program.evaluate(facts), opposite.evaluate(facts)) {
        // The negation itself takes a step, which may be the one that is missing.
        (_, Err(EvaluationError { reason: EvaluationReason::Steps, .. })) => {}
        (Ok(truth), found) => assert_eq!(found, Ok(!truth)),
        (Err(EvaluationError { offset, reason }), found) => {
            assert_eq!(found, Err(EvaluationError { offset: offset + BEFORE.len(), reason }));
        }
    }
}
