//! Runs trials one after another and names the one that does not come back, whether it panics or hangs.

use std::panic::catch_unwind;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use quorate_fuzz::Target;

/// How long a single trial may take before it counts as hanging. No measurement: the slowest takes a hundredth of this on a
/// slow machine, and what is bounded by steps does not come near.
const DEADLINE: Duration = Duration::from_secs(30);

/// Bytes for a target, and where they come from.
#[derive(Clone)]
pub(crate) struct Trial {
    pub(crate) target: Target,
    pub(crate) origin: String,
    pub(crate) bytes: Vec<u8>,
}

impl Trial {
    /// Enough to do it again.
    fn described(&self) -> String {
        format!("{} with {}:\n\"{}\"", self.target.name, self.origin, self.bytes.escape_ascii())
    }
}

/// What the thread that runs trials says.
enum News {
    Begins(Trial),
    Panicked,
    Done,
}

/// Runs all trials.
///
/// # Panics
/// If one of them does, or takes longer than [`DEADLINE`].
pub(crate) fn run(trials: impl Iterator<Item = Trial> + Send + 'static) {
    let (told, heard) = channel();
    // Never joined where it hangs: the failing test ends the process.
    thread::spawn(move || run_all(trials, &told));
    let mut current: Option<Trial> = None;
    loop {
        let name = |current: &Option<Trial>| current.as_ref().map(Trial::described).unwrap_or_default();
        match heard.recv_timeout(DEADLINE) {
            Ok(News::Begins(trial)) => current = Some(trial),
            Ok(News::Done) => return,
            Ok(News::Panicked) | Err(RecvTimeoutError::Disconnected) => panic!("panics: {}", name(&current)),
            Err(RecvTimeoutError::Timeout) => panic!("hangs: {}", name(&current)),
        }
    }
}

fn run_all(trials: impl Iterator<Item = Trial>, told: &Sender<News>) {
    for trial in trials {
        let Trial { target, bytes, .. } = trial.clone();
        told.send(News::Begins(trial)).expect("the test listens");
        if catch_unwind(move || (target.run)(&bytes)).is_err() {
            told.send(News::Panicked).expect("the test listens");
            return;
        }
    }
    told.send(News::Done).expect("the test listens");
}
