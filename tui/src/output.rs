//! The only room that prints: data to standard output, words for people to standard error when data is
//! asked for.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::cli::Answer;
use crate::failure::{Exit, Failure};

static JSON: AtomicBool = AtomicBool::new(false);

/// Chooses the form of everything that is printed from now on.
pub(crate) fn choose(json: bool) {
    JSON.store(json, Ordering::Relaxed);
}

/// Prints the end of a command and returns its exit code.
pub(crate) fn finish(result: Result<Answer, Failure>) -> Exit {
    match result {
        Ok(answer) => {
            if JSON.load(Ordering::Relaxed) {
                answer.data.iter().for_each(line);
            } else {
                plain(&answer.text);
            }
            answer.exit
        }
        Err(failure) => {
            if JSON.load(Ordering::Relaxed) {
                line(&failure.json());
            }
            let _ = writeln!(std::io::stderr(), "quorate: {}", failure.message);
            failure.exit
        }
    }
}

/// Prints something while a command goes on.
pub(crate) fn now(data: &Value, text: &str) {
    if JSON.load(Ordering::Relaxed) { line(data) } else { plain(text) }
}

fn line(data: &Value) {
    plain(&format!("{data}\n"));
}

fn plain(text: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that went away is no failure of ours.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
