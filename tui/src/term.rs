//! The only module that touches the terminal. The terminal is always restored to its previous state.

use std::io::{Stdout, stdout};

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, Event, EventStream, KeyCode, KeyEvent, KeyEventKind,
    KeyModifiers,
};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use futures_util::StreamExt;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use zeroize::Zeroizing;

use crate::keymap::Key;

/// Input from the terminal.
pub(crate) enum Input {
    Key(Key),
    /// Text that may be a passphrase.
    Paste(Zeroizing<String>),
    /// The terminal has a new size in columns and rows.
    Resize(u16, u16),
}

/// The terminal while the console uses it. It is restored on drop.
pub(crate) struct Screen {
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
    events: EventStream,
}

/// Installs the panic hook that restores the terminal, once per process.
static PANICS: std::sync::Once = std::sync::Once::new();

impl Screen {
    /// Takes over the terminal. A panic restores the terminal before its message is printed.
    pub(crate) fn open() -> std::io::Result<Self> {
        PANICS.call_once(|| {
            let previous_hook = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                restore();
                previous_hook(info);
            }));
        });
        enable_raw_mode()?;
        // Clears the screen here: ratatui would first query the cursor position and wait for the reply.
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Clear(ClearType::All))?;
        let mut terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        terminal.hide_cursor()?;
        Ok(Self { terminal, events: EventStream::new() })
    }

    /// Sends a text to the terminal's clipboard (xterm, OSC 52). Terminals without support ignore it.
    pub(crate) fn copy(&mut self, text: &str) -> std::io::Result<()> {
        execute!(self.terminal.backend_mut(), CopyToClipboard::to_clipboard_from(text))
    }

    /// Returns the next input, or nothing if the terminal is closed.
    pub(crate) async fn next(&mut self) -> Option<Input> {
        loop {
            let input = match self.events.next().await?.ok()? {
                Event::Key(event) => key(event).map(Input::Key),
                Event::Paste(text) => Some(Input::Paste(Zeroizing::new(text))),
                Event::Resize(columns, rows) => Some(Input::Resize(columns, rows)),
                Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
            };
            if input.is_some() {
                return input;
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, crossterm::cursor::Show);
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
