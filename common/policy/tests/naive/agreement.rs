//! A million policies and facts, judged by the package and by the second evaluator.

use quorate_policy::decide::{self, Effect, Electorate, Evaluation, PolicyOutcome, PolicyProgram, Standing};
use quorate_policy::{EvaluationError, ExpressionKind, Program, Value};

use crate::dice::Dice;
use crate::evaluator::evaluate;
use crate::fact::{Fact, Failed};
use crate::facts::{self, Pool};
use crate::generate::Maker;
use crate::people::People;
use crate::policy::{self, Judgement, Policy};
use crate::schema::{CONDITION, Kind, TIME};
use crate::spelling::spell;
use crate::tree::Tree;
use crate::voters;

/// A condition each.
const CONDITIONS: u64 = 700_000;
/// A policy each, with condition, consensus and time.
const POLICIES: u64 = 300_000;
/// Each of true, false and failed is at least so much of all results, in percent.
const LEAST_SHARE: usize = 15;
/// Outcomes, with their least shares in percent.
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
fn conditions_agree() {
    agree_on_conditions(0..CONDITIONS / 2);
}

#[test]
fn more_conditions_agree() {
    agree_on_conditions(CONDITIONS / 2..CONDITIONS);
}

fn agree_on_conditions(seeds: std::ops::Range<u64>) {
    let mut tally = Tally::default();
    for seed in seeds {
        let mut dice = Dice::new(seed);
        let (tree, facts) = condition(&mut dice);
        let text = spell(&tree, &mut dice);
        let facts_read = product(&facts);
        let program = Program::parse(ExpressionKind::Condition, &text)
            .unwrap_or_else(|flaw| panic!("seed {seed}: {flaw}\n{text}"));
        let (expected, found) = (evaluate(&tree, &facts), program.evaluate(&facts_read));
        assert!(
            plain(&found) == expected,
            "seed {seed}: expected {expected:?}, found {found:?}\n{text}\n{facts_read:?}"
        );
        tally.add(expected);
    }
    tally.check();
}

#[test]
fn policies_agree() {
    let (mut tally, mut outcomes) = (Tally::default(), Vec::new());
    for seed in 0..POLICIES {
        let mut dice = Dice::new(u64::MAX / 2 + seed);
        let case = Case::new(&mut dice);
        let (expected, found) = (case.expected(), case.found());
        let results = [&found.condition, &found.consensus, &found.time].map(plain);
        assert!(
            results == [expected.condition, expected.consensus, expected.time],
            "seed {seed}: expected {expected:?}, found {found:?}\n{}",
            case.shown()
        );
        tally.add(expected.consensus);
        assert!(
            expected.outcome == found.outcome,
            "seed {seed}: expected {expected:?}, found {found:?}\n{}",
            case.shown()
        );
        outcomes.push(found.outcome);
        agree_on_a_verdict(seed, &outcomes[outcomes.len().saturating_sub(dice.below(5))..], &mut dice);
    }
    tally.check();
    check_outcomes(&outcomes);
}

/// A condition with the facts that it is about.
fn condition(dice: &mut Dice) -> (Tree, Facts) {
    let pool = Pool::new(dice);
    let kinds: Roots = (0..dice.pick(&[1, 1, 2, 3])).map(|_| dice.pick(&CONDITION)).collect();
    let depth = dice.pick(&[1, 2, 2, 2, 3, 3, 4]);
    let tree = Maker::new(dice, &pool, &kinds).truth(depth);
    let facts = facts::roots(&kinds, &tree, &pool, dice);
    (tree, facts)
}

fn time_gate(dice: &mut Dice) -> Tree {
    let pool = Pool::new(dice);
    let depth = dice.pick(&[1, 1, 2]);
    Maker::new(dice, &pool, &TIME).truth(depth)
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

    /// The case for whoever looks into a difference.
    fn shown(&self) -> String {
        let (texts, facts) = (&self.texts, product(&self.facts));
        format!("{:?} {texts:#?}\n{:#?}\n{facts:?}", self.policy.effect, self.people)
    }

    fn expected(&self) -> Judgement {
        self.policy.judge(&self.facts, &self.people)
    }

    fn found(&self) -> Evaluation {
        let [condition, consensus, time] = self.texts.each_ref().map(Option::as_deref);
        let program = PolicyProgram::parse(self.policy.effect, condition, consensus, time)
            .unwrap_or_else(|flaw| panic!("{flaw}\n{}", self.shown()));
        let people = &self.people;
        let electorate = Electorate::new(people.asking(), people.approvers(), || people.standing_by());
        let facts = product(&self.facts);
        let evaluation = decide::evaluation(&program, &facts, &electorate);
        assert_eq!(evaluation.outcome, decide::outcome(&program, &facts, &electorate));
        evaluation
    }
}

fn agree_on_a_verdict(seed: u64, outcomes: &[PolicyOutcome], dice: &mut Dice) {
    let standing = Standing {
        root_quorum_is_met: dice.chance(10),
        root_quorum_only: dice.chance(10),
        requester_is_root: dice.chance(20),
        is_self_service: dice.chance(10),
    };
    let expected = policy::verdict(standing, outcomes);
    let found = decide::verdict(standing, outcomes.iter().copied());
    assert_eq!(expected, found, "seed {seed}: {standing:?}, {outcomes:?}");
}

/// How often each result came out.
#[derive(Debug, Default)]
struct Tally {
    true_ones: usize,
    false_ones: usize,
    failed: usize,
}

impl Tally {
    fn add(&mut self, result: Result<bool, Failed>) {
        match result {
            Ok(true) => self.true_ones += 1,
            Ok(false) => self.false_ones += 1,
            Err(Failed) => self.failed += 1,
        }
    }

    /// Results that are nearly all the same would prove little.
    fn check(&self) {
        let all = self.true_ones + self.false_ones + self.failed;
        for count in [self.true_ones, self.false_ones, self.failed] {
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
