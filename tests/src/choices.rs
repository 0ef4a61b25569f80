//! Pseudo-random choices that depend on the seed only, so that a failing run can be repeated.

/// `SplitMix64` (Steele, Lea, Flood 2014).
pub struct Choices(u64);

impl Choices {
    /// Creates the generator for a seed.
    pub fn of_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `bound`, which must not be zero.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).expect("below a usize")
    }

    /// Returns true once in `times` calls on average.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Picks one of the items, or returns `None` if the list is empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_choices() {
        let choices = |seed| {
            let mut choices = Choices::of_seed(seed);
            (0..100).map(|_| choices.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(choices(7), choices(7));
        assert_ne!(choices(7), choices(8));
    }

    #[test]
    fn pick_from_an_empty_slice_is_none() {
        let mut choices = Choices::of_seed(1);
        assert_eq!(choices.pick::<u8>(&[]), None);
        assert_eq!(choices.pick(&["one"]), Some(&"one"));
    }
}
