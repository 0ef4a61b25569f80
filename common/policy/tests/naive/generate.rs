//! Random well-typed expressions over given roots and the variables in scope.

use crate::dice::Dice;
use crate::facts::{self, Pool};
use crate::schema::{KEYS, Kind, fits};
use crate::tree::{Operator, Quantifier, Tree};

/// Any list of structs.
const RECORDS: Kind = Kind::List(&Kind::Record(&[]));
/// Type of the struct literals in expressions.
const SAMPLE: Kind = Kind::Record(&[("n", Kind::Int), ("t", Kind::Text), ("b", Kind::Truth)]);
/// Elements of lists that are compared, searched and quantified over.
const SCALARS: [Kind; 4] = [Kind::Int, Kind::Int, Kind::Text, Kind::Truth];
/// Names of variables by nesting depth of lambdas.
const VARIABLES: [[&str; 3]; 4] =
    [["x", "_x1", "user"], ["y", "Y_", "n"], ["z", "counts", "in_"], ["w", "tx", "id"]];
const OPERATORS: [Operator; 6] =
    [Operator::Equal, Operator::Unequal, Operator::Less, Operator::AtMost, Operator::More, Operator::AtLeast];

/// A generator of the expressions of one case.
pub(crate) struct Generator<'a> {
    pub(crate) dice: &'a mut Dice,
    pub(crate) pool: &'a Pool,
    pub(crate) roots: &'a [(&'static str, Kind)],
    scope: Vec<(&'static str, Kind)>,
}

impl<'a> Generator<'a> {
    pub(crate) fn new(dice: &'a mut Dice, pool: &'a Pool, roots: &'a [(&'static str, Kind)]) -> Self {
        Self { dice, pool, roots, scope: Vec::new() }
    }

    /// Returns a boolean expression, whose evaluation may fail.
    pub(crate) fn truth(&mut self, depth: usize) -> Tree {
        if depth == 0 {
            return self.simple_truth();
        }
        let has_time = self.roots.iter().any(|(name, _)| *name == "time");
        match self.dice.below(24) {
            0..=3 => self.chain(depth),
            4..=5 => Tree::Not(Box::new(self.truth(depth - 1))),
            6..=8 if has_time => self.order(Kind::Instant, depth - 1),
            6..=9 => self.order(Kind::Int, depth - 1),
            10..=11 => self.equality(Kind::Text, depth - 1),
            12 => self.equality(Kind::Truth, depth - 1),
            13..=14 => self.membership(depth - 1),
            15..=19 => self.quantified(depth - 1),
            20 => self.lists_compared(depth - 1),
            21 => self.quantity(),
            _ => self.simple_truth(),
        }
    }

    /// Returns a field, a literal or a simple comparison.
    fn simple_truth(&mut self) -> Tree {
        match self.dice.below(10) {
            0 => Tree::Truth(self.dice.chance(50)),
            1..=3 => self.order(Kind::Int, 0),
            4..=6 => self.equality(Kind::Text, 0),
            _ => match self.walk(Kind::Truth) {
                Some((tree, _)) => tree,
                None => self.equality(Kind::Text, 0),
            },
        }
    }

    fn chain(&mut self, depth: usize) -> Tree {
        let count = self.dice.pick(&[2, 2, 2, 3]);
        let parts = (0..count).map(|_| self.truth(depth - 1)).collect();
        if self.dice.chance(50) { Tree::And(parts) } else { Tree::Or(parts) }
    }

    fn order(&mut self, kind: Kind, depth: usize) -> Tree {
        let (left, right) = (self.scalar(kind, depth), self.scalar(kind, depth));
        left.compared(self.dice.pick(&OPERATORS), right)
    }

    fn equality(&mut self, kind: Kind, depth: usize) -> Tree {
        let left = if kind == Kind::Truth { self.truth(depth) } else { self.scalar(kind, depth) };
        let right = self.scalar(kind, depth);
        left.compared(self.dice.pick(&OPERATORS[..2]), right)
    }

    /// Returns an `in` or `contains` expression.
    fn membership(&mut self, depth: usize) -> Tree {
        let kind = if self.dice.chance(10) { Kind::List(&Kind::Int) } else { self.dice.pick(&SCALARS) };
        let kind = if self.roots[0].0 == "time" && self.dice.chance(50) { Kind::Instant } else { kind };
        let item = Box::new(self.scalar(kind, depth));
        let list = Box::new(self.list(kind, depth));
        if self.dice.chance(50) { Tree::In(item, list) } else { Tree::Contains(list, item) }
    }

    fn lists_compared(&mut self, depth: usize) -> Tree {
        let kind = self.dice.pick(&[Kind::Int, Kind::Text, Kind::Truth, Kind::List(&Kind::Int)]);
        let left = self.list(kind, depth);
        let right = if self.dice.chance(20) { left.clone() } else { self.list(kind, depth) };
        left.compared(self.dice.pick(&OPERATORS[..2]), right)
    }

    /// Returns an `all` or `any` expression, or a comparison of the count of a filter.
    fn quantified(&mut self, depth: usize) -> Tree {
        let (list, element) = self.any_list(depth);
        let quantifier =
            self.dice.pick(&[Quantifier::All, Quantifier::Any, Quantifier::Any, Quantifier::Filter]);
        let tree = self.lambda(quantifier, list, element, depth);
        if quantifier != Quantifier::Filter {
            return tree;
        }
        let number = self.number(0);
        self.count(tree).compared(self.dice.pick(&OPERATORS), number)
    }

    /// Returns a list of any type, and its element type.
    fn any_list(&mut self, depth: usize) -> (Tree, Kind) {
        match self.dice.below(10) {
            0..=5 => self.records(depth),
            6 => (self.list(Kind::List(&Kind::Int), depth), Kind::List(&Kind::Int)),
            _ => {
                let kind = self.dice.pick(&SCALARS);
                (self.list(kind, depth), kind)
            }
        }
    }

    fn lambda(&mut self, quantifier: Quantifier, list: Tree, element: Kind, depth: usize) -> Tree {
        let Some(names) = VARIABLES.get(self.scope.len()) else {
            return list.lambda(quantifier, "v", Tree::Truth(true));
        };
        let name = self.dice.pick(names);
        self.scope.push((name, element));
        let predicate = self.truth(depth.min(2));
        self.scope.pop();
        list.lambda(quantifier, name, predicate)
    }

    fn count(&mut self, list: Tree) -> Tree {
        if self.dice.chance(30) { Tree::BareCount(Box::new(list)) } else { Tree::Count(Box::new(list)) }
    }

    /// Returns a comparison of a chain id or nonce with decimal text.
    fn quantity(&mut self) -> Tree {
        if !self.roots.iter().any(|(name, _)| *name == "eth") {
            return self.simple_truth();
        }
        let field = self.dice.pick(&["chain_id", "nonce"]);
        let field = Box::new(Tree::Name("eth").member("eip_7702_authorization").member(field));
        let texts: Vec<String> = (0..self.dice.below(3)).map(|_| self.decimal()).collect();
        if self.dice.chance(50) && !texts.is_empty() {
            return Tree::QuantityIn(field, texts);
        }
        Tree::Quantity(field, self.decimal(), self.dice.chance(50))
    }

    /// Returns decimal digits without a sign.
    fn decimal(&mut self) -> String {
        let digits = self.pool.number(self.dice).trim_start_matches('-');
        format!("{}{digits}", self.dice.pick(&["", "", "", "0", "00"]))
    }

    /// Returns an expression of a scalar or list type.
    fn scalar(&mut self, kind: Kind, depth: usize) -> Tree {
        match kind {
            Kind::Int => self.number(depth),
            Kind::Text => self.text(depth),
            Kind::Instant => self.instant(),
            Kind::List(element) => self.list(*element, depth),
            _ if depth > 0 && self.dice.chance(30) => self.truth(depth - 1),
            _ => match self.walk(Kind::Truth) {
                Some((tree, _)) if self.dice.chance(80) => tree,
                _ => Tree::Truth(self.dice.chance(50)),
            },
        }
    }

    fn instant(&mut self) -> Tree {
        match self.walk(Kind::Instant) {
            Some((tree, _)) if self.dice.chance(60) => tree,
            _ => {
                let (seconds, nanoseconds) = facts::instant(self.dice);
                Tree::Instant(seconds, nanoseconds)
            }
        }
    }

    fn number(&mut self, depth: usize) -> Tree {
        match self.dice.below(if depth == 0 { 12 } else { 18 }) {
            0..=7 => match self.walk(Kind::Int) {
                Some((tree, _)) => tree,
                None => self.literal(),
            },
            8..=11 => self.literal(),
            12..=14 => {
                let (list, _) = self.any_list(depth - 1);
                self.count(list)
            }
            15..=16 => self.list(Kind::Int, depth - 1).at(self.position()),
            _ => Tree::Record(vec![("a", self.text(0)), ("count", self.number(depth - 1))]).member("count"),
        }
    }

    fn literal(&mut self) -> Tree {
        Tree::Number(self.pool.number(self.dice).to_owned())
    }

    fn text(&mut self, depth: usize) -> Tree {
        match self.dice.below(if depth == 0 { 12 } else { 19 }) {
            0..=7 => match self.walk(Kind::Text) {
                Some((tree, _)) => tree,
                None => Tree::Text(self.pool.text(self.dice).to_owned()),
            },
            8..=11 => Tree::Text(self.pool.text(self.dice).to_owned()),
            12 => self.text(depth - 1).at(self.position()),
            13..=14 => {
                let text = self.text(depth - 1);
                self.slice(text)
            }
            15..=16 => Tree::Lowered(Box::new(self.text(depth - 1))),
            17 => self.list(Kind::Text, depth - 1).at(self.position()),
            _ => Tree::Record(vec![("x", self.text(depth - 1)), ("b", Tree::Truth(true))]).member("x"),
        }
    }

    fn slice(&mut self, list: Tree) -> Tree {
        let from = self.dice.pick(&[0, 0, 0, 0, 1, 1, 2]);
        let to = from + self.dice.pick(&[0, 1, 1, 1, 2, 3]);
        let to = if self.dice.chance(3) { 0 } else { to };
        let end = if self.dice.chance(5) { self.number(0) } else { Tree::Number(to.to_string()) };
        Tree::Slice(Box::new(list), Box::new(Tree::Number(from.to_string())), Box::new(end))
    }

    /// Returns a position that most lists have.
    fn position(&mut self) -> Tree {
        match self.dice.below(20) {
            0..=12 => Tree::Number("0".to_owned()),
            13..=16 => Tree::Number("1".to_owned()),
            17 => Tree::Number("-1".to_owned()),
            _ => self.number(0),
        }
    }

    /// Returns a list with elements of one type.
    fn list(&mut self, kind: Kind, depth: usize) -> Tree {
        let path = match kind {
            Kind::Int => self.walk(Kind::List(&Kind::Int)),
            Kind::Text => self.walk(Kind::List(&Kind::Text)),
            Kind::Truth => self.walk(Kind::List(&Kind::Truth)),
            Kind::List(_) => self.walk(Kind::List(&Kind::List(&Kind::Int))),
            _ => None,
        };
        match (self.dice.below(if depth == 0 { 8 } else { 11 }), path) {
            (0..=4, Some((tree, _))) => tree,
            (8, _) => {
                let list = self.list(kind, depth - 1);
                self.slice(list)
            }
            (9, _) => {
                let list = self.list(kind, depth - 1);
                self.lambda(Quantifier::Filter, list, kind, depth - 1)
            }
            (10, _) => {
                let lists = (0..2).map(|_| self.list(kind, depth - 1)).collect();
                Tree::List(lists).at(self.position())
            }
            _ => {
                let count = self.dice.below(5);
                Tree::List((0..count).map(|_| self.scalar(kind, depth.saturating_sub(1))).collect())
            }
        }
    }

    /// Returns a list of structs, and its element type.
    fn records(&mut self, depth: usize) -> (Tree, Kind) {
        let choice = self.dice.below(if depth == 0 { 8 } else { 11 });
        if choice < 8 {
            return match self.walk(RECORDS) {
                Some((tree, Kind::List(element))) if choice < 7 => (tree, *element),
                _ => (Tree::List((0..self.dice.below(4)).map(|_| self.sample()).collect()), SAMPLE),
            };
        }
        let (list, element) = self.records(depth - 1);
        if choice == 8 {
            return (self.slice(list), element);
        }
        (self.lambda(Quantifier::Filter, list, element, depth - 1), element)
    }

    fn sample(&mut self) -> Tree {
        let text = Tree::Text(self.pool.text(self.dice).to_owned());
        let truth = Tree::Truth(self.dice.chance(50));
        Tree::Record(vec![("n", self.literal()), ("t", text), ("b", truth)])
    }

    /// Returns a path from a root or a variable to a value of the wanted type.
    fn walk(&mut self, wanted: Kind) -> Option<(Tree, Kind)> {
        for _ in 0..8 {
            let (name, mut kind) = self.start();
            let mut tree = Tree::Name(name);
            for _ in 0..7 {
                if fits(kind, wanted) {
                    return Some((tree, kind));
                }
                let Some(next) = self.step(tree, kind, wanted) else { break };
                (tree, kind) = next;
            }
        }
        None
    }

    fn start(&mut self) -> (&'static str, Kind) {
        if !self.scope.is_empty() && self.dice.chance(75) {
            let newest = self.scope.len() - 1;
            let index = if self.dice.chance(70) { newest } else { self.dice.below(self.scope.len()) };
            return self.scope[index];
        }
        self.dice.pick(self.roots)
    }

    fn step(&mut self, tree: Tree, kind: Kind, wanted: Kind) -> Option<(Tree, Kind)> {
        match kind {
            Kind::Record(members) => {
                let (name, kind) = self.dice.pick(members);
                Some((tree.member(name), kind))
            }
            Kind::List(element) if self.dice.chance(50) => Some((tree.at(self.position()), *element)),
            Kind::Map(value) => {
                let key = if self.dice.chance(95) {
                    Tree::Text(self.pool.text(self.dice).to_owned())
                } else {
                    self.text(0)
                };
                Some((tree.at(key), *value))
            }
            Kind::Arguments => Some(self.entry(tree, wanted, false)),
            Kind::Bag => Some(self.entry(tree, wanted, true)),
            Kind::Tuple => {
                let index = self.dice.below(3);
                let kind = [Kind::Folded, Kind::Truth, Kind::Uint][index];
                Some((tree.at(Tree::Number(index.to_string())), kind))
            }
            _ => None,
        }
    }

    /// Returns an entry of a map of dynamic values, occasionally of an unwanted type.
    fn entry(&mut self, tree: Tree, wanted: Kind, by_name: bool) -> (Tree, Kind) {
        let mut drawn = self.dice.pick(&KEYS);
        for _ in 0..4 {
            let leads_on = matches!(drawn.1, Kind::Bag | Kind::Tuple | Kind::List(_)) && self.dice.chance(30);
            if fits(drawn.1, wanted) || leads_on {
                break;
            }
            drawn = self.dice.pick(&KEYS);
        }
        let (key, kind) = drawn;
        let kind = if wanted != RECORDS && self.dice.chance(2) { wanted } else { kind };
        if by_name && key != "count" && self.dice.chance(50) {
            return (tree.member(key), kind);
        }
        (tree.at(Tree::Text(key.to_owned())), kind)
    }
}
