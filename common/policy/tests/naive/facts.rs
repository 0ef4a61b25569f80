//! Random facts. Each field is randomly present or absent, with a value from the small pool that the
//! expression also uses.

use std::rc::Rc;

use crate::dice::Dice;
use crate::fact::{Domain, Fact};
use crate::number::Number;
use crate::schema::{KEYS, Kind};
use crate::tree::Tree;

const TEXTS: [&str; 16] =
    ["", "a", "A", "ab", "AB", "aB", "0xAbC", "0XabC", "0xabc", "prod", "é", "É", "aÄz", "aäz", "K", "😀k"];
const USUAL: [&str; 5] = ["0", "1", "2", "3", "7"];
const UNUSUAL: [&str; 13] = [
    "-1",
    "-2",
    "18446744073709551615",
    "18446744073709551616",
    "1000000000000000000",
    "340282366920938463463374607431768211455",
    "340282366920938463463374607431768211456",
    "170141183460469231731687303715884105727",
    "170141183460469231731687303715884105728",
    "-170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728",
    "115792089237316195423570985008687907853269984665640564039457584007913129639934",
    "115792089237316195423570985008687907853269984665640564039457584007913129639935",
];
/// The first second of March 2026, its neighbors, and a second before 1970.
const SECONDS: [i64; 4] = [1_772_323_199, 1_772_323_200, 1_772_323_201, -1];
const NANOSECONDS: [u32; 4] = [0, 0, 1, 500_000_000];

/// The literals of one case, few enough that facts and expressions often match.
pub(crate) struct Pool {
    texts: Vec<&'static str>,
    numbers: Vec<&'static str>,
}

impl Pool {
    pub(crate) fn new(dice: &mut Dice) -> Self {
        let start = dice.below(TEXTS.len());
        let texts = (0..4).map(|step| TEXTS[(start + step) % TEXTS.len()]).collect();
        let numbers = (0..4).map(|_| if dice.chance(70) { dice.pick(&USUAL) } else { dice.pick(&UNUSUAL) });
        Self { texts, numbers: numbers.collect() }
    }

    /// Creates a pool of the given texts and small numbers.
    pub(crate) fn of(texts: Vec<&'static str>) -> Self {
        Self { texts, numbers: vec!["0", "1", "2", "3"] }
    }

    pub(crate) fn text(&self, dice: &mut Dice) -> &'static str {
        dice.pick(&self.texts)
    }

    pub(crate) fn number(&self, dice: &mut Dice) -> &'static str {
        dice.pick(&self.numbers)
    }
}

/// Returns one of a few instants, so that instants of one case often match.
pub(crate) fn instant(dice: &mut Dice) -> (i64, u32) {
    (dice.pick(&SECONDS), dice.pick(&NANOSECONDS))
}

/// Returns random roots of these types. Members that the expression does not name are mostly absent, because
/// they cost time and do not change the result.
pub(crate) fn roots(
    kinds: &[(&'static str, Kind)],
    tree: &Tree,
    pool: &Pool,
    dice: &mut Dice,
) -> Vec<(&'static str, Fact)> {
    let mut named = Vec::new();
    collect_names(tree, &mut named);
    let mut source = Source { pool, dice, named, depth: 0 };
    source.members(kinds)
}

/// Collects all names and texts of an expression.
fn collect_names<'a>(tree: &'a Tree, names: &mut Vec<&'a str>) {
    match tree {
        Tree::Name(name) | Tree::Member(_, name) => names.push(name),
        Tree::Text(text) => names.push(text),
        Tree::BareCount(_) => names.push("count"),
        _ => {}
    }
    for part in tree.parts() {
        collect_names(part, names);
    }
}

struct Source<'a> {
    pool: &'a Pool,
    dice: &'a mut Dice,
    named: Vec<&'a str>,
    /// Number of dynamic values around the current one.
    depth: usize,
}

impl Source<'_> {
    fn members(&mut self, kinds: &[(&'static str, Kind)]) -> Vec<(&'static str, Fact)> {
        let mut members = Vec::new();
        for (name, kind) in kinds {
            if self.is_present(name, 98) {
                members.push((*name, self.fact(*kind)));
            }
        }
        members
    }

    fn is_present(&mut self, name: &str, percent: usize) -> bool {
        let percent = if self.named.contains(&name) { percent } else { 8 };
        self.dice.chance(percent)
    }

    fn fact(&mut self, kind: Kind) -> Fact {
        if !matches!(kind, Kind::Record(_)) && self.dice.below(300) == 0 {
            return Fact::Broken;
        }
        match kind {
            Kind::Truth => Fact::Truth(self.dice.chance(50)),
            Kind::Int | Kind::Quantity => self.number(Domain::Int),
            Kind::Uint => self.number(Domain::Uint),
            Kind::Text => Fact::text(self.pool.text(self.dice)),
            Kind::Folded => self.folded(),
            Kind::Instant => {
                let (seconds, nanoseconds) = instant(self.dice);
                Fact::Instant(seconds, nanoseconds)
            }
            Kind::List(element) => {
                let count = self.dice.pick(&[0, 1, 1, 2, 2, 3, 4]);
                Fact::list((0..count).map(|_| self.fact(*element)).collect())
            }
            Kind::Record(members) => Fact::record(self.members(members)),
            Kind::Map(value) => {
                let keys: Vec<&str> = self.pool.texts.clone();
                let entries = keys.into_iter().filter(|_| self.dice.chance(90)).collect::<Vec<_>>();
                Fact::Map(Rc::new(entries.into_iter().map(|key| (key, self.fact(*value))).collect()))
            }
            Kind::Arguments => Fact::Map(Rc::new(self.bag())),
            Kind::Bag if self.dice.chance(50) => Fact::Map(Rc::new(self.bag())),
            Kind::Bag => Fact::record(self.bag()),
            Kind::Tuple => {
                Fact::list([Kind::Folded, Kind::Truth, Kind::Uint].map(|kind| self.fact(kind)).into())
            }
        }
    }

    /// Returns the members of a dynamic value. Most have the type that [`KEYS`] assigns to their key.
    fn bag(&mut self) -> Vec<(&'static str, Fact)> {
        self.depth += 1;
        let mut members = Vec::new();
        for (key, kind) in KEYS {
            let nests = matches!(kind, Kind::Bag | Kind::List(Kind::Bag));
            if self.is_present(key, 95) && !(nests && self.depth > 2) {
                let kind = if self.dice.chance(3) { self.dice.pick(&KEYS[..9]).1 } else { kind };
                members.push((key, self.fact(kind)));
            }
        }
        self.depth -= 1;
        members
    }

    /// Returns a number that is usually in its domain.
    fn number(&mut self, domain: Domain) -> Fact {
        let drawn = Number::parse(self.pool.number(self.dice));
        let fits = if matches!(domain, Domain::Uint) { drawn.is_uint() } else { drawn.is_int() };
        let number = if fits || self.dice.chance(5) { drawn } else { Number::parse(self.dice.pick(&USUAL)) };
        Fact::Number(number, domain)
    }

    fn folded(&mut self) -> Fact {
        let text = self.pool.text(self.dice);
        let mixed_case: String = text
            .chars()
            .map(|character| match self.dice.below(4) {
                0 => character.to_ascii_uppercase(),
                1 => character.to_ascii_lowercase(),
                _ => character,
            })
            .collect();
        Fact::folded(&mixed_case)
    }
}
