//! Creates mutated copies of cases. A seed always creates the same copy: it uses no clock and no system
//! randomness.

use crate::corpus::Corpus;

/// Maximum length of a copy in bytes, slightly more than the longest text that a target accepts.
const LONGEST: usize = 66_000;
/// Maximum length of all copies except one in [`LONG_ONE_IN`], because long copies are slow.
const USUALLY_LONGEST: usize = 3_000;
const LONG_ONE_IN: usize = 100;
/// Maximum number of changes to one copy.
const CHANGES: usize = 5;
/// Numbers at the limits of the types that the parsers use.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "63",
    "64",
    "1000",
    "65536",
    "18446744073709551615",
    "18446744073709551616",
    "170141183460469231731687303715884105727",
    "-170141183460469231731687303715884105728",
    "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    "115792089237316195423570985008687907853269984665640564039457584007913129639936",
];

/// A source of deterministic random choices: splitmix64.
pub(crate) struct Mutator {
    state: u64,
}

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below a limit, which must not be zero.
    fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap();
        usize::try_from(self.next() % limit).unwrap()
    }

    fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// Returns two positions of a text, the lower one first.
    fn span(&mut self, bytes: &[u8]) -> (usize, usize) {
        let (one, other) = (self.below(bytes.len() + 1), self.below(bytes.len() + 1));
        (one.min(other), one.max(other))
    }

    /// Returns a copy of a random case with a few changes.
    pub(crate) fn mutated(&mut self, corpus: &Corpus) -> Vec<u8> {
        let is_long = self.below(LONG_ONE_IN) == 0;
        let limit = if is_long { LONGEST } else { USUALLY_LONGEST };
        let mut bytes = self.case(corpus, limit).to_vec();
        for _ in 0..=self.below(CHANGES) {
            self.change(&mut bytes, corpus, limit);
            bytes.truncate(limit);
        }
        bytes
    }

    fn case<'c>(&mut self, corpus: &'c Corpus, limit: usize) -> &'c [u8] {
        let fitting: Vec<_> = corpus.cases.iter().filter(|case| case.bytes.len() <= limit).collect();
        &self.one_of(&fitting).bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, corpus: &Corpus, limit: usize) {
        let (from, to) = self.span(bytes);
        match self.below(10) {
            0 => self.flip(bytes),
            1 => drop(bytes.drain(from..to)),
            2 => bytes.truncate(to),
            3 => self.repeat(bytes, from, to, limit),
            4 => {
                let other = self.case(corpus, limit);
                let (other_from, other_to) = self.span(other);
                bytes.splice(from..to, other[other_from..other_to].iter().copied());
            }
            5 => self.renumber(bytes, from),
            6 => {
                let moved: Vec<u8> = bytes.drain(from..to).collect();
                let target = self.below(bytes.len() + 1);
                bytes.splice(target..target, moved);
            }
            7 => {
                let word = self.one_of(&corpus.words);
                let end = from.saturating_add(word.len()).min(bytes.len());
                bytes.splice(from..end, word.iter().copied());
            }
            _ => {
                let word = self.one_of(&corpus.words).clone();
                bytes.splice(from..from, word);
            }
        }
    }

    fn flip(&mut self, bytes: &mut [u8]) {
        if !bytes.is_empty() {
            let index = self.below(bytes.len());
            bytes[index] ^= 1 << self.below(8);
        }
    }

    fn repeat(&mut self, bytes: &mut Vec<u8>, from: usize, to: usize, limit: usize) {
        let part = bytes[from..to].to_vec();
        let most = limit.saturating_sub(bytes.len()) / part.len().max(1);
        let times = self.below(most.min(2_000) + 1);
        bytes.splice(from..from, part.repeat(times));
    }

    /// Replaces the next number.
    fn renumber(&mut self, bytes: &mut Vec<u8>, from: usize) {
        let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|offset| from + offset)
        else {
            return;
        };
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = self.one_of(&NUMBERS);
        bytes.splice(start..start + length, number.bytes());
    }
}

#[test]
fn seed_determines_the_copy() {
    let corpus = Corpus::of(quorate_fuzz::TARGETS[0]);
    let copies: Vec<Vec<u8>> = (0..50).map(|seed| Mutator::new(seed).mutated(&corpus)).collect();
    let repeated: Vec<Vec<u8>> = (0..50).map(|seed| Mutator::new(seed).mutated(&corpus)).collect();
    assert_eq!(copies, repeated);
    let mut distinct = copies.clone();
    distinct.sort();
    distinct.dedup();
    assert!(distinct.len() > 40, "different seeds create different copies");
}
