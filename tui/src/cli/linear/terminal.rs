//! The terminal of linear mode: lines in and out. It never receives an escape sequence, a box or a braille character, and
//! is restored on drop.

use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::read;
use rustix::stdio::stdin;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr, tcsetattr,
};

use crate::failure::{Exit, Failure, Result};
use crate::text::clean;

/// Maximum length of a line, in characters.
const LINE_LIMIT: usize = 1024;
/// Tenths of a second after which a read without a key returns.
const READ_TENTHS: u8 = 1;

/// The terminal, with its modes from before.
pub(super) struct Terminal(Arc<Termios>);

impl Drop for Terminal {
    fn drop(&mut self) {
        // A thread may still wait for a key, and must not keep this.
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.0);
    }
}

impl Terminal {
    pub(super) fn open() -> Result<Self> {
        let modes = tcgetattr(stdin()).map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
        Ok(Self(Arc::new(modes)))
    }

    /// Discards keys until none was pressed for this long.
    pub(super) async fn discard(&self, pause: Duration) -> Result<()> {
        let modes = Arc::clone(&self.0);
        blocking(move || {
            silently(&modes, || {
                let mut since = Instant::now();
                while since.elapsed() < pause {
                    if is_pressed() {
                        since = Instant::now();
                    }
                }
            });
        })
        .await
    }

    /// Waits for this long. Returns whether a key was pressed before, which ends the wait.
    pub(super) async fn is_interrupted(&self, pause: Duration) -> Result<bool> {
        let modes = Arc::clone(&self.0);
        blocking(move || {
            let since = Instant::now();
            let mut pressed = false;
            silently(&modes, || {
                while !pressed && since.elapsed() < pause {
                    pressed = is_pressed();
                }
            });
            pressed
        })
        .await
    }
}

/// Prints lines. The text is cleaned before it is given.
pub(super) fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let text = spoken(text);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
    let _ = out.flush();
}

/// Reads a line after a prompt. Returns nothing at the end of the input.
pub(super) async fn line(prompt: &str) -> Result<Option<String>> {
    let mut out = std::io::stdout();
    let _ = out.write_all(spoken(prompt).as_bytes()).and_then(|()| out.flush());
    blocking(|| {
        let mut text = String::new();
        match std::io::stdin().lock().read_line(&mut text) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(text.trim().chars().take(LINE_LIMIT).collect()),
        }
    })
    .await
}

/// Calls a function while keys arrive one by one and are not printed. Keys from before are discarded.
fn silently(before: &Termios, call: impl FnOnce()) {
    let mut modes = before.clone();
    modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    modes.special_codes[SpecialCodeIndex::VMIN] = 0;
    modes.special_codes[SpecialCodeIndex::VTIME] = READ_TENTHS;
    let _ = tcsetattr(stdin(), OptionalActions::Flush, &modes);
    call();
    let _ = tcflush(stdin(), QueueSelector::IFlush);
    let _ = tcsetattr(stdin(), OptionalActions::Flush, before);
}

/// Returns whether a key was pressed within the next tenth of a second.
fn is_pressed() -> bool {
    let mut byte = [0; 1];
    read(stdin(), &mut byte).map_or_else(
        |_| {
            // A terminal that is gone must not make this loop busy.
            std::thread::sleep(Duration::from_millis(u64::from(READ_TENTHS) * 100));
            false
        },
        |count| count > 0,
    )
}

async fn blocking<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(call).await;
    done.map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

/// Replaces what has an effect on a terminal, and pictures: boxes, blocks and braille characters.
fn spoken(text: &str) -> String {
    let is_picture = |letter: char| matches!(letter, '\u{2190}'..='\u{21ff}' | '\u{2500}'..='\u{25ff}' | '\u{2800}'..='\u{28ff}');
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => out.push(letter),
            letter if is_picture(letter) => {
                let _ = write!(out, "<U+{:04X}>", u32::from(letter));
            }
            letter => out.push_str(&clean(letter.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_escape_byte_and_no_picture_is_printed() {
        let text = "name \u{1b}[2J \u{2500}\u{2502} \u{28ff} \u{9b}x\u{202e} \u{fc}\nnext";
        assert_eq!(spoken(text), "name <U+001B>[2J <U+2500><U+2502> <U+28FF> <U+009B>x<U+202E> \u{fc}\nnext");
    }
}
