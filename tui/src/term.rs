//! The only module that touches the terminal. The terminal is always restored to its previous state.

use std::io::{Stdout, Write, stdout};

use crossterm::Command as _;
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, EventStream,
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use futures_util::StreamExt;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use zeroize::Zeroizing;

use crate::app::Mouse;
use crate::keymap::Key;
use crate::text::clean;

/// Maximum number of characters that GNU screen passes on at once; its buffer has 768 bytes.
const SCREEN_PART: usize = 700;

/// Input from the terminal.
pub(crate) enum Input {
    Key(Key),
    /// Text that may be a passphrase.
    Paste(Zeroizing<String>),
    Mouse(Mouse),
    /// The terminal has a new size in columns and rows.
    Resize(u16, u16),
}

/// The terminal while the console uses it. It is restored on drop.
pub(crate) struct Screen {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
    events: EventStream,
    /// Whether the title of the window was replaced.
    has_title: bool,
}

/// A way to notify a user who may look elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notification {
    Bell,
    /// A notification of the desktop (iTerm2, OSC 9).
    Osc9,
    /// A notification of the desktop (urxvt, OSC 777).
    Osc777,
    /// The title of the window (xterm, OSC 2).
    Title,
}

impl Notification {
    /// Parses the name in `config.toml`.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "bell" => Self::Bell,
            "osc9" => Self::Osc9,
            "osc777" => Self::Osc777,
            "title" => Self::Title,
            _ => return None,
        })
    }

    /// Returns the bytes for the terminal. The text cannot end the sequence or add a parameter.
    fn sequence(self, text: &str) -> String {
        let text: String = clean(text).chars().take(NOTIFICATION_LIMIT).collect();
        let text = text.replace(';', ",");
        match self {
            Self::Bell => "\u{7}".to_owned(),
            Self::Osc9 => format!("\u{1b}]9;quorate: {text}\u{1b}\\"),
            Self::Osc777 => format!("\u{1b}]777;notify;quorate;{text}\u{1b}\\"),
            Self::Title => format!("\u{1b}]2;quorate: {text}\u{1b}\\"),
        }
    }
}

/// Saves and restores the title of the window (xterm, window operations 22 and 23).
const SAVE_TITLE: &str = "\u{1b}[22;2t";
const RESTORE_TITLE: &str = "\u{1b}[23;2t";
/// Maximum length of a notification, in characters.
const NOTIFICATION_LIMIT: usize = 160;

impl Screen {
    /// Takes over the terminal.
    pub(crate) fn open(has_mouse: bool) -> std::io::Result<Self> {
        enable_raw_mode()?;
        // Clears the screen here: ratatui would first query the cursor position and wait for the reply.
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Clear(ClearType::All))?;
        if has_mouse {
            execute!(stdout(), EnableMouseCapture)?;
        }
        let mut terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        terminal.hide_cursor()?;
        Ok(Self { terminal, events: EventStream::new(), has_title: false })
    }

    /// Sends a text to the terminal's clipboard (xterm, OSC 52). Terminals without support ignore it.
    pub(crate) fn copy(&mut self, text: &str) -> std::io::Result<()> {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let mut sequence = String::new();
        // Writing to a string cannot fail.
        let _ = CopyToClipboard::to_clipboard_from(text).write_ansi(&mut sequence);
        let sequence = through_multiplexers(&sequence, is_set("TMUX"), is_set("STY"));
        let backend = self.terminal.backend_mut();
        backend.write_all(sequence.as_bytes())?;
        backend.flush()
    }

    /// Notifies the user, in each of these ways.
    pub(crate) fn notify(&mut self, ways: &[Notification], text: &str) -> std::io::Result<()> {
        let mut sequences: String = ways.iter().map(|way| way.sequence(text)).collect();
        if ways.contains(&Notification::Title) && !self.has_title {
            // Saves the title of before (xterm, window operation 22).
            sequences.insert_str(0, SAVE_TITLE);
            self.has_title = true;
        }
        let backend = self.terminal.backend_mut();
        backend.write_all(sequences.as_bytes())?;
        Write::flush(backend)
    }

    /// Returns the next input, or nothing if the terminal is closed.
    pub(crate) async fn next(&mut self) -> Option<Input> {
        loop {
            let input = match self.events.next().await?.ok()? {
                Event::Key(event) => key(event).map(Input::Key),
                Event::Paste(text) => Some(Input::Paste(Zeroizing::new(text))),
                Event::Resize(columns, rows) => Some(Input::Resize(columns, rows)),
                Event::Mouse(event) => mouse(event).map(Input::Mouse),
                Event::FocusGained | Event::FocusLost => None,
            };
            if input.is_some() {
                return input;
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if self.has_title {
            let _ = stdout().write_all(RESTORE_TITLE.as_bytes());
        }
        restore();
    }
}

/// Returns a control sequence for the terminal itself, behind tmux or GNU screen. Multiplexers either handle the plain
/// sequence or pass on the wrapped one, as they are configured; the terminal sets its clipboard to the same text.
fn through_multiplexers(sequence: &str, is_in_tmux: bool, is_in_screen: bool) -> String {
    let mut all = sequence.to_owned();
    if is_in_tmux {
        let escaped = sequence.replace('\u{1b}', "\u{1b}\u{1b}");
        all.extend(["\u{1b}Ptmux;", &escaped, "\u{1b}\\"]);
    }
    if is_in_screen {
        // A device control string of screen is limited in length, so the sequence is passed on in parts.
        let letters: Vec<char> = sequence.chars().collect();
        for part in letters.chunks(SCREEN_PART) {
            all.push_str("\u{1b}P");
            all.extend(part);
            all.push_str("\u{1b}\\");
        }
    }
    all
}

fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(
        stdout(),
        DisableMouseCapture,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        crossterm::cursor::Show
    );
}

/// Converts a mouse event. Returns nothing for movements and other buttons.
fn mouse(event: MouseEvent) -> Option<Mouse> {
    match event.kind {
        MouseEventKind::ScrollUp => Some(Mouse::WheelUp),
        MouseEventKind::ScrollDown => Some(Mouse::WheelDown),
        MouseEventKind::Down(MouseButton::Left) => Some(Mouse::Click(event.column, event.row)),
        _ => None,
    }
}

/// Converts a key event. Returns nothing for repeat and release events.
fn key(event: KeyEvent) -> Option<Key> {
    if event.kind != KeyEventKind::Press {
        return None;
    }
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    Some(match event.code {
        KeyCode::Char(letter) if control => Key::Ctrl(letter.to_ascii_lowercase()),
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Esc,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::F(1) => Key::Help,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_notification_ends_no_sequence() {
        let hostile = "a\u{7}b\u{1b}\\\u{9c};c\u{202e}";
        let check = |way: &str, expected: Option<&str>| {
            let sequence = Notification::parse(way).map(|way| way.sequence(hostile));
            assert_eq!(sequence.as_deref(), expected, "{way}");
        };
        let text = "a<U+0007>b<U+001B>\\<U+009C>,c<U+202E>";
        check("bell", Some("\u{7}"));
        check("osc9", Some(&format!("\u{1b}]9;quorate: {text}\u{1b}\\")));
        check("osc777", Some(&format!("\u{1b}]777;notify;quorate;{text}\u{1b}\\")));
        check("title", Some(&format!("\u{1b}]2;quorate: {text}\u{1b}\\")));
        check("horn", None);
        let long = Notification::Osc9.sequence(&"x".repeat(10_000));
        assert!(long.len() < 200);
    }

    #[test]
    fn copies_pass_multiplexers() {
        let plain = "\u{1b}]52;c;YQ==\u{1b}\\";
        assert_eq!(through_multiplexers(plain, false, false), plain);
        let in_tmux = through_multiplexers(plain, true, false);
        assert_eq!(in_tmux, format!("{plain}\u{1b}Ptmux;\u{1b}\u{1b}]52;c;YQ==\u{1b}\u{1b}\\\u{1b}\\"));
        let long = format!("\u{1b}]52;c;{}\u{7}", "Y".repeat(3000));
        let in_screen = through_multiplexers(&long, false, true);
        let parts: Vec<&str> =
            in_screen.strip_prefix(&long).unwrap_or_default().split("\u{1b}P").skip(1).collect();
        assert!(parts.iter().all(|part| part.len() <= 768 && part.ends_with("\u{1b}\\")), "{parts:?}");
        let joined: String = parts.iter().map(|part| part.trim_end_matches("\u{1b}\\")).collect();
        assert_eq!(joined, long);
    }
}
