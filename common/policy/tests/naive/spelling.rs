//! Formats trees as text with random variations: whitespace, redundant parentheses, leading zeros, both
//! variants of `count`.

use chrono::DateTime;

use crate::dice::Dice;
use crate::tree::{Operator, Quantifier, Tree};

/// Precedence of a part, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    And,
    Comparison,
    Negation,
    Access,
}

const SPACES: [&str; 12] = ["", "", "", "", " ", " ", " ", " ", "  ", "\n", "\t", "\r\n"];

/// Formats a tree as text.
pub(crate) fn spell(tree: &Tree, dice: &mut Dice) -> String {
    let mut speller = Speller { dice, text: String::new() };
    speller.part(tree, Binding::Or);
    speller.text
}

struct Speller<'a> {
    dice: &'a mut Dice,
    text: String,
}

impl Speller<'_> {
    fn part(&mut self, tree: &Tree, around: Binding) {
        let binding = binding(tree);
        let wrapped = binding < around || self.dice.chance(4);
        if wrapped {
            self.token("(");
        }
        match binding {
            Binding::Access => self.access(tree),
            _ => self.operation(tree, binding),
        }
        if wrapped {
            self.token(")");
        }
    }

    /// Writes a token with random whitespace around it.
    fn token(&mut self, token: &str) {
        let (before, after) = (self.dice.pick(&SPACES), self.dice.pick(&SPACES));
        self.text.push_str(before);
        self.text.push_str(token);
        self.text.push_str(after);
    }

    fn operation(&mut self, tree: &Tree, binding: Binding) {
        match tree {
            Tree::Or(parts) => self.chain(parts, "||", Binding::And),
            Tree::And(parts) => self.chain(parts, "&&", Binding::Comparison),
            Tree::Not(inner) => {
                self.token("!");
                self.part(inner, binding);
            }
            Tree::Compare(operator, left, right) => {
                self.part(left, Binding::Negation);
                self.token(sign(*operator));
                self.part(right, Binding::Negation);
            }
            Tree::In(left, right) => {
                self.part(left, Binding::Negation);
                self.token(" in ");
                self.part(right, Binding::Negation);
            }
            Tree::Quantity(field, text, unequal) => self.quantity(field, text, *unequal),
            Tree::QuantityIn(field, texts) => {
                self.part(field, Binding::Negation);
                self.token(" in ");
                let texts: Vec<Tree> = texts.iter().cloned().map(Tree::Text).collect();
                self.part(&Tree::List(texts), Binding::Negation);
            }
            other => panic!("not an operation: {other:?}"),
        }
    }

    fn quantity(&mut self, field: &Tree, text: &str, unequal: bool) {
        let text = Tree::Text(text.to_owned());
        let (left, right) = if self.dice.chance(50) { (field, &text) } else { (&text, field) };
        self.part(left, Binding::Negation);
        self.token(if unequal { "!=" } else { "==" });
        self.part(right, Binding::Negation);
    }

    fn chain(&mut self, parts: &[Tree], sign: &str, around: Binding) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.token(sign);
            }
            self.part(part, around);
        }
    }

    fn access(&mut self, tree: &Tree) {
        match tree {
            Tree::Truth(truth) => self.text.push_str(&truth.to_string()),
            Tree::Number(digits) => self.number(digits),
            Tree::Text(text) => self.quoted(text),
            Tree::Instant(seconds, nanoseconds) => self.instant(*seconds, *nanoseconds),
            Tree::List(elements) => self.enclosed("[", elements, "]"),
            Tree::Record(members) => self.record(members),
            Tree::Name(name) => self.text.push_str(name),
            Tree::Lowered(inner) => {
                self.text.push_str("CaseInsensitiveString");
                self.enclosed("(", std::slice::from_ref(inner), ")");
            }
            Tree::CronSpan(cron, duration, zone) => {
                self.text.push_str("CronSpan");
                let texts = [cron.as_str(), duration, zone].map(|text| Tree::Text(text.to_owned()));
                self.literals(&texts);
            }
            other => self.step(other),
        }
    }

    /// Writes an access: a member, a position or a method call.
    fn step(&mut self, tree: &Tree) {
        self.part(tree.parts()[0], Binding::Access);
        match tree {
            Tree::Member(_, name) => self.dot(name),
            Tree::BareCount(_) => self.dot("count"),
            Tree::Count(_) => {
                self.dot("count");
                self.enclosed("(", &[], ")");
            }
            Tree::Contains(_, item) => {
                self.dot("contains");
                self.enclosed("(", std::slice::from_ref(item), ")");
            }
            Tree::Lambda(quantifier, _, variable, predicate) => {
                self.dot(function(*quantifier));
                self.token("(");
                self.text.push_str(variable);
                self.token(",");
                self.part(predicate, Binding::Or);
                self.token(")");
            }
            Tree::Index(_, position) => self.enclosed("[", std::slice::from_ref(position), "]"),
            Tree::Slice(_, from, to) => {
                self.token("[");
                self.part(from, Binding::Or);
                self.token("..");
                self.part(to, Binding::Or);
                self.token("]");
            }
            other => panic!("not an access: {other:?}"),
        }
    }

    fn dot(&mut self, name: &str) {
        self.token(".");
        self.text.push_str(name);
    }

    fn enclosed(&mut self, open: &str, parts: &[Tree], close: &str) {
        self.token(open);
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.token(",");
            }
            self.part(part, Binding::Or);
        }
        self.token(close);
    }

    /// Writes arguments that must be literals and therefore cannot be in parentheses.
    fn literals(&mut self, texts: &[Tree]) {
        self.token("(");
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                self.token(",");
            }
            self.access(text);
        }
        self.token(")");
    }

    fn record(&mut self, members: &[(&'static str, Tree)]) {
        self.token("{");
        for (index, (name, member)) in members.iter().enumerate() {
            if index > 0 {
                self.token(",");
            }
            self.text.push_str(name);
            self.token(":");
            self.part(member, Binding::Or);
        }
        self.token("}");
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('\'');
        self.text.push_str(text);
        self.text.push('\'');
    }

    /// Writes a number, sometimes with leading zeros, or zero with a minus sign.
    fn number(&mut self, digits: &str) {
        let (sign, digits) = digits.split_at(usize::from(digits.starts_with('-')));
        let sign = if digits == "0" && self.dice.chance(5) { "-" } else { sign };
        let zeros = if self.dice.chance(5) { "00" } else { "" };
        self.text.extend([sign, zeros, digits]);
    }

    fn instant(&mut self, seconds: i64, nanoseconds: u32) {
        let instant = DateTime::from_timestamp(seconds, 0).unwrap();
        let fraction = format!(".{nanoseconds:09}");
        let shown = match fraction.trim_end_matches('0') {
            "." => "",
            short if self.dice.chance(50) => short,
            _ => &fraction,
        };
        let zone = self.dice.pick(&["Z", "z", "+00:00", "-00:00"]);
        let text = format!("{:?}{shown}{zone}", instant.naive_utc());
        self.text.push_str("Timestamp");
        self.literals(&[Tree::Text(text)]);
    }
}

fn binding(tree: &Tree) -> Binding {
    match tree {
        Tree::Or(_) => Binding::Or,
        Tree::And(_) => Binding::And,
        Tree::Compare(..) | Tree::In(..) | Tree::Quantity(..) | Tree::QuantityIn(..) => Binding::Comparison,
        Tree::Not(_) => Binding::Negation,
        _ => Binding::Access,
    }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "==",
        Operator::Unequal => "!=",
        Operator::Less => "<",
        Operator::AtMost => "<=",
        Operator::More => ">",
        Operator::AtLeast => ">=",
    }
}

fn function(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::All => "all",
        Quantifier::Any => "any",
        Quantifier::Filter => "filter",
    }
}
