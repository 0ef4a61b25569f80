//! Compares time expressions with `CronSpan` around the clock changes of many time zones.

use quorate_policy::{ExpressionKind, Program};

use crate::dice::Dice;
use crate::evaluator::evaluate;
use crate::fact::{Fact, Failed};
use crate::spelling::spell;
use crate::tree::{Operator, Tree};

/// Number of time expressions.
const GATES: u64 = 50_000;
/// Minimum share of `true` and of `false` in all results, in percent.
const LEAST_SHARE: usize = 15;
/// Time zones, each with a day in UTC near a clock change or another special date.
const DAYS: [(&str, &str); 16] = [
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2025-11-02"),
    ("Europe/Berlin", "2025-03-30"),
    ("Europe/Berlin", "2025-10-26"),
    ("Europe/London", "2024-10-27"),
    ("Australia/Lord_Howe", "2025-10-05"),
    ("Australia/Lord_Howe", "2025-04-06"),
    ("America/Sao_Paulo", "2018-11-04"),
    ("America/Sao_Paulo", "2018-02-18"),
    ("Pacific/Apia", "2011-12-30"),
    ("Asia/Kathmandu", "2024-02-29"),
    ("Asia/Kolkata", "2025-01-01"),
    ("Africa/Casablanca", "2025-02-23"),
    ("America/St_Johns", "2025-03-09"),
    ("UTC", "2026-01-31"),
    ("Pacific/Auckland", "2025-09-27"),
];
const DURATIONS: [&str; 14] =
    ["1m", "15m", "30m", "60m", "90m", "1h", "1h30m", "2h", "8h", "12h", "1d", "1d12h", "2d0h1m", "7d"];
/// Minimum and maximum of each field of a cron expression.
const FIELDS: [(usize, usize); 5] = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
const DAY: i64 = 86_400;

#[test]
fn time_expressions_agree_with_naive_evaluator() {
    let mut true_count = 0;
    for seed in 0..GATES {
        let mut dice = Dice::new(u64::MAX / 4 + seed);
        let (zone, day) = dice.pick(&DAYS);
        let now = instant(day, &mut dice);
        let tree = gate(2, zone, &mut dice);
        let text = spell(&tree, &mut dice);
        let facts = vec![("time", Fact::record(vec![("now", now)]))];
        let program = Program::parse(ExpressionKind::Time, &text)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let values = Fact::record(facts.clone()).product();
        let (expected, found) = (evaluate(&tree, &facts), program.evaluate(&values));
        let found = found.map_err(|_| Failed);
        assert!(found == expected, "seed {seed}: expected {expected:?}, found {found:?}\n{text}\n{facts:?}");
        true_count += usize::from(expected == Ok(true));
    }
    let all = usize::try_from(GATES).unwrap();
    let least = LEAST_SHARE * all / 100;
    assert!((least..all - least).contains(&true_count), "{true_count} of {all} are true");
}

/// Returns an instant within two days of the start of a day: on the minute, near it, or elsewhere.
fn instant(day: &str, dice: &mut Dice) -> Fact {
    let start = chrono::DateTime::parse_from_rfc3339(&format!("{day}T00:00:00Z")).unwrap().timestamp();
    let minute = i64::try_from(dice.below(4 * 24 * 4)).unwrap() * 15 - 2 * 24 * 60;
    let second = dice.pick(&[0, 0, 59, 60, 1, -1, 1234]);
    Fact::Instant(start + minute * 60 + second, dice.pick(&[0, 0, 999_999_999]))
}

/// Returns a random combination of windows and timestamp comparisons.
fn gate(depth: usize, zone: &'static str, dice: &mut Dice) -> Tree {
    match dice.below(if depth == 0 { 6 } else { 12 }) {
        0..=5 => Tree::CronSpan(cron(dice), dice.pick(&DURATIONS).to_owned(), zone),
        6 => Tree::Name("time").member("now").compared(Operator::AtLeast, Tree::Instant(19 * 365 * DAY, 0)),
        7..=8 => Tree::Not(Box::new(gate(depth - 1, zone, dice))),
        9..=10 => Tree::And(vec![gate(depth - 1, zone, dice), gate(depth - 1, zone, dice)]),
        _ => Tree::Or(vec![gate(depth - 1, zone, dice), gate(depth - 1, zone, dice)]),
    }
}

/// Returns a cron expression. Hours and minutes are mostly those at which clocks change.
fn cron(dice: &mut Dice) -> String {
    let minute = if dice.chance(70) { dice.pick(&["0", "30", "15,45"]).to_owned() } else { field(0, dice) };
    let hour = if dice.chance(50) {
        dice.pick(&["0", "1", "2", "3", "0-3", "*"]).to_owned()
    } else {
        field(1, dice)
    };
    let rest = [2, 3, 4].map(|index| if dice.chance(60) { "*".to_owned() } else { field(index, dice) });
    format!("{minute} {hour} {}", rest.join(" "))
}

/// Returns a cron field with numbers and ranges.
fn field(index: usize, dice: &mut Dice) -> String {
    if dice.chance(20) {
        return "*".to_owned();
    }
    let (least, most) = FIELDS[index];
    let items: Vec<String> = (0..dice.pick(&[1, 1, 2, 3]))
        .map(|_| {
            let first = least + dice.below(most - least + 1);
            let end = first + dice.below(most - first + 1);
            if dice.chance(60) { format!("{first}-{end}") } else { first.to_string() }
        })
        .collect();
    items.join(",")
}
