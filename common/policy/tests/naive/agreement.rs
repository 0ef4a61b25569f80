//! Compares the crate with the naive evaluator on a million conditions and policies.

use quorate_policy::decide::{
    self, Effect, Electorate, Evaluation, PolicyOutcome, PolicyProgram, VerdictContext,
};
use quorate_policy::{EvaluationError, ExpressionKind, Program, Value};

use crate::dice::Dice;
use crate::evaluator::evaluate;
use crate::fact::{Fact, Failed};
use crate::facts::{self, Pool};
use crate::generate::Generator;
use crate::people::People;
use crate::policy::{self, Judgement, Policy};
use crate::schema::{CONDITION, Kind, TIME};
use crate::spelling::spell;
use crate::tree::Tree;
use crate::voters;

/// Number of conditions.
const CONDITIONS: u64 = 700_000;
/// Number of policies with condition, consensus and time.
const POLICIES: u64 = 300_000;
/// Minimum share of `true`, `false` and failures in all results, in percent.
const LEAST_SHARE: usize = 15;
/// Minimum share of each outcome in percent.
const LEAST_OUTCOMES: [(PolicyOutcome, usize); 6] = [
    (PolicyOutcome::Allow, 5),
    (PolicyOutcome::DenyExplicit, 5),
    (PolicyOutcome::DenyImplicit, 5),
    (PolicyOutcome::RequiresConsensus, 3),
    (PolicyOutcome::Error, 5),
    (PolicyOutcome::TimeInactive, 2),
];

type Roots = Vec<(&'static str, Kind)>;
type Facts = Vec<(&'static str, Fact)>;

#[test]
fn conditions_agree_with_naive_evaluator() {
    compare_conditions(0..CONDITIONS / 2);
}

#[test]
fn more_conditions_agree_with_naive_evaluator() {
    compare_conditions(CONDITIONS / 2..CONDITIONS);
}

fn compare_conditions(seeds: std::ops::Range<u64>) {
    let mut tally = Tally::default();
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let (tree, facts) = condition(&mut dice);
        let text = spell(&tree, &mut dice);
        let values = product(&facts);
        let program = Program::parse(ExpressionKind::Condition, &text)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let (expected, found) = (evaluate(&tree, &facts), program.evaluate(&values));
        assert!(
            plain(&found) == expected,
            "seed {seed}: expected {expected:?}, found {found:?}\n{text}\n{values:?}"
        );
        tally.add(expected);
    }
    tally.check();
}

#[test]
fn policies_agree_with_naive_evaluator() {
    let (mut tally, mut outcomes) = (Tally::default(), Vec::new());
    for seed in 0..POLICIES {
        let mut dice = Dice::new(u64::MAX / 2 + seed);
        let case = Case::new(&mut dice);
        let (expected, found) = (case.expected(), case.found());
        let results = [&found.condition, &found.consensus, &found.time].map(plain);
        assert!(
            results == [expected.condition, expected.consensus, expected.time],
            "seed {seed}: expected {expected:?}, found {found:?}\n{}",
            case.described()
        );
        tally.add(expected.consensus);
        assert!(
            expected.outcome == found.outcome,
            "seed {seed}: expected {expected:?}, found {found:?}\n{}",
            case.described()
        );
        outcomes.push(found.outcome);
        compare_verdicts(seed, &outcomes[outcomes.len().saturating_sub(dice.below(5))..], &mut dice);
    }
    tally.check();
    check_outcomes(&outcomes);
}

/// Returns a condition and its facts.
fn condition(dice: &mut Dice) -> (Tree, Facts) {
    let pool = Pool::new(dice);
    let kinds: Roots = (0..dice.pick(&[1, 1, 2, 3])).map(|_| dice.pick(&CONDITION)).collect();
    let depth = dice.pick(&[1, 2, 2, 2, 3, 3, 4]);
    let tree = Generator::new(dice, &pool, &kinds).truth(depth);
    let facts = facts::roots(&kinds, &tree, &pool, dice);
    (tree, facts)
}

fn time_gate(dice: &mut Dice) -> Tree {
    let pool = Pool::new(dice);
    let depth = dice.pick(&[1, 1, 2]);
    Generator::new(dice, &pool, &TIME).truth(depth)
}

fn product(facts: &Facts) -> Value {
    Value::record(facts.iter().map(|(name, fact)| (*name, fact.product())))
}

fn plain(result: &Result<bool, EvaluationError>) -> Result<bool, Failed> {
    result.as_ref().map(|truth| *truth).map_err(|_| Failed)
}

/// A policy, as a tree and as text, with a request.
struct Case {
    policy: Policy,
    texts: [Option<String>; 3],
    facts: Facts,
    people: People,
}

impl Case {
    fn new(dice: &mut Dice) -> Self {
        let (condition, mut facts) = if dice.chance(30) {
            let (tree, facts) = condition(dice);
            (Some(tree), facts)
        } else {
            (None, Vec::new())
        };
        let consensus = dice.chance(90).then(|| voters::consensus(dice));
        let time = dice.chance(30).then(|| time_gate(dice));
        let pool = Pool::new(dice);
        facts.extend(facts::roots(&TIME, &Tree::Name("time").member("now"), &pool, dice));
        let effect = if dice.chance(80) { Effect::Allow } else { Effect::Deny };
        let texts = [&condition, &consensus, &time].map(|tree| tree.as_ref().map(|tree| spell(tree, dice)));
        let policy = Policy { effect, condition, consensus, time };
        Self { policy, texts, facts, people: voters::people(dice) }
    }

    /// Formats the case for the analysis of a difference.
    fn described(&self) -> String {
        let (texts, facts) = (&self.texts, product(&self.facts));
        format!("{:?} {texts:#?}\n{:#?}\n{facts:?}", self.policy.effect, self.people)
    }

    fn expected(&self) -> Judgement {
        self.policy.judge(&self.facts, &self.people)
    }

    fn found(&self) -> Evaluation {
        let [condition, consensus, time] = self.texts.each_ref().map(Option::as_deref);
        let program = PolicyProgram::parse(self.policy.effect, condition, consensus, time)
            .unwrap_or_else(|error| panic!("{error}\n{}", self.described()));
        let people = &self.people;
        let electorate = Electorate::new(people.product_proposer(), people.product_approvers(), || {
            people.product_candidates()
        });
        let facts = product(&self.facts);
        let evaluation = decide::evaluation(&program, &facts, &electorate);
        assert_eq!(evaluation.outcome, decide::outcome(&program, &facts, &electorate));
        evaluation
    }
}

fn compare_verdicts(seed: u64, outcomes: &[PolicyOutcome], dice: &mut Dice) {
    let context = VerdictContext {
        root_quorum_is_met: dice.chance(10),
        root_quorum_only: dice.chance(10),
        proposer_is_root: dice.chance(20),
        is_self_service: dice.chance(10),
    };
    let expected = policy::verdict(context, outcomes);
    let found = decide::verdict(context, outcomes.iter().copied());
    assert_eq!(expected, found, "seed {seed}: {context:?}, {outcomes:?}");
}

/// The number of results of each kind.
#[derive(Debug, Default)]
struct Tally {
    true_count: usize,
    false_count: usize,
    failed: usize,
}

impl Tally {
    fn add(&mut self, result: Result<bool, Failed>) {
        match result {
            Ok(true) => self.true_count += 1,
            Ok(false) => self.false_count += 1,
            Err(Failed) => self.failed += 1,
        }
    }

    /// Asserts the minimum shares; nearly uniform results would prove little.
    fn check(&self) {
        let all = self.true_count + self.false_count + self.failed;
        for count in [self.true_count, self.false_count, self.failed] {
            assert!(count * 100 >= LEAST_SHARE * all, "{self:?}");
        }
    }
}

fn check_outcomes(outcomes: &[PolicyOutcome]) {
    let count = |wanted: PolicyOutcome| outcomes.iter().filter(|found| **found == wanted).count();
    let shares: Vec<(PolicyOutcome, usize)> =
        LEAST_OUTCOMES.iter().map(|(outcome, _)| (*outcome, count(*outcome))).collect();
    for (outcome, least) in LEAST_OUTCOMES {
        assert!(count(outcome) * 100 >= least * outcomes.len(), "{outcome}: {shares:?}");
    }
}
