//! Runs trials one after another and reports the one that panics or hangs.

use std::panic::catch_unwind;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use quorate_fuzz::Target;

/// Time after which a trial counts as hanging.
///
/// This is not a measurement: the slowest trial takes a hundredth of it on a slow machine, and step limits
/// bound the evaluations.
const DEADLINE: Duration = Duration::from_secs(30);

/// Input of a target, and its origin.
#[derive(Clone)]
pub(crate) struct Trial {
    pub(crate) target: Target,
    pub(crate) origin: String,
    pub(crate) bytes: Vec<u8>,
}

impl Trial {
    /// Describes the trial in enough detail to repeat it.
    fn described(&self) -> String {
        format!("{} with {}:\n\"{}\"", self.target.name, self.origin, self.bytes.escape_ascii())
    }
}

/// An event of the thread that runs trials.
enum Event {
    Started(Trial),
    Panicked,
    Done,
}

/// Runs all trials.
///
/// # Panics
/// Panics if a trial panics or takes longer than [`DEADLINE`].
pub(crate) fn run(trials: impl Iterator<Item = Trial> + Send + 'static) {
    let (sender, events) = channel();
    // The thread is never joined if it hangs: the failing test ends the process.
    thread::spawn(move || run_all(trials, &sender));
    let mut current: Option<Trial> = None;
    loop {
        let name = |current: &Option<Trial>| current.as_ref().map(Trial::described).unwrap_or_default();
        match events.recv_timeout(DEADLINE) {
            Ok(Event::Started(trial)) => current = Some(trial),
            Ok(Event::Done) => return,
            Ok(Event::Panicked) | Err(RecvTimeoutError::Disconnected) => panic!("panics: {}", name(&current)),
            Err(RecvTimeoutError::Timeout) => panic!("hangs: {}", name(&current)),
        }
    }
}

fn run_all(trials: impl Iterator<Item = Trial>, sender: &Sender<Event>) {
    for trial in trials {
        let Trial { target, bytes, .. } = trial.clone();
        sender.send(Event::Started(trial)).expect("the test listens");
        if catch_unwind(move || (target.run)(&bytes)).is_err() {
            sender.send(Event::Panicked).expect("the test listens");
            return;
        }
    }
    sender.send(Event::Done).expect("the test listens");
}
