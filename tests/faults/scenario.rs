//! A run of a scenario: number of rounds, random choices, and the closing line.

use std::fmt::Display;
use std::time::{Duration, Instant};

use quorate_tests::choices::Choices;

use crate::engine::Engine;

/// A run of a scenario. On a panic, the command that repeats it is printed.
pub(crate) struct Scenario {
    name: &'static str,
    rounds: usize,
    seed: u64,
    engine: Engine,
    begun: Instant,
    step: String,
}

impl Scenario {
    /// Starts a scenario with these numbers of rounds in the short and in the long form.
    pub(crate) fn begin(name: &'static str, short: usize, long: usize) -> Self {
        let rounds = if is_long() { long } else { short };
        Self {
            name,
            rounds: variable("ROUNDS").unwrap_or(rounds),
            seed: variable("SEED").unwrap_or(1),
            engine: variable("ENGINE").unwrap_or_default(),
            begun: Instant::now(),
            step: String::new(),
        }
    }

    /// Returns the number of rounds to run.
    pub(crate) const fn rounds(&self) -> usize {
        self.rounds
    }

    /// Returns the store engine to run on.
    pub(crate) const fn engine(&self) -> Engine {
        self.engine
    }

    /// Returns choices that depend on the seed and on this number only, so that a round can be repeated
    /// alone.
    pub(crate) fn choices(&self, number: usize) -> Choices {
        let number = u64::try_from(number).expect("a small number");
        Choices::of_seed(self.seed.wrapping_mul(1_000_003).wrapping_add(number))
    }

    /// Records the current step, which is printed on a failure.
    pub(crate) fn step(&mut self, step: impl Display) {
        self.step = step.to_string();
    }

    /// Prints the closing line.
    pub(crate) fn close(self, figures: impl Display) {
        let seconds = self.begun.elapsed().as_secs_f32();
        eprintln!("{} on {}: {figures}; {seconds:.1} s", self.name, self.engine.name());
    }
}

impl Drop for Scenario {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self { name, rounds, seed, engine, step, .. } = self;
            eprintln!(
                "{name} failed at: {step}\nTo repeat: make faults ONLY={} ENGINE={} SEED={seed} ROUNDS={rounds}",
                name.split(' ').next().unwrap_or(name),
                engine.name()
            );
        }
    }
}

/// Returns whether scenarios run in their long form.
pub(crate) fn is_long() -> bool {
    variable::<String>("FAULTS").is_some_and(|form| form == "full")
}

/// Returns the value of an environment variable.
pub(crate) fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok().filter(|text| !text.is_empty())?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} cannot be {text}")))
}

/// Maximum of some durations, for a closing line.
#[derive(Default)]
pub(crate) struct Longest(Duration);

impl Longest {
    /// Adds a duration.
    pub(crate) fn add(&mut self, duration: Duration) {
        self.0 = self.0.max(duration);
    }

    /// Returns the maximum in milliseconds.
    pub(crate) const fn millis(&self) -> u128 {
        self.0.as_millis()
    }
}
