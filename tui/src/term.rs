//! The only room that touches the terminal itself. Whatever happens, it is given back as it was found.

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

use crate::keymap::Key;

/// What the terminal tells.
pub(crate) enum Input {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Paste(String),
    /// Another size.
    Resize(u16, u16),
}

/// The terminal in the console's hands; given back when dropped.
pub(crate) struct Screen {
    /// Draws.
    pub(crate) terminal: Terminal<CrosstermBackend<Stdout>>,
    events: EventStream,
}

/// Makes a panic give the terminal back before it is told, once for the whole process.
static PANICS: std::sync::Once = std::sync::Once::new();

impl Screen {
    /// Takes the terminal. A panic gives it back before it is told.
    pub(crate) fn take() -> std::io::Result<Self> {
        PANICS.call_once(|| {
            let told = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                give_back();
                told(info);
            }));
        });
        enable_raw_mode()?;
        // Cleared here, since the library would first ask the terminal where the cursor is and wait for it.
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Clear(ClearType::All))?;
        let mut terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        terminal.hide_cursor()?;
        Ok(Self { terminal, events: EventStream::new() })
    }

    /// Hands a text to the terminal's clipboard (xterm, OSC 52). Terminals that do not know it show nothing of it.
    pub(crate) fn copy(&mut self, text: &str) -> std::io::Result<()> {
        execute!(self.terminal.backend_mut(), CopyToClipboard::to_clipboard_from(text))
    }

    /// What came next; nothing when the terminal is gone.
    pub(crate) async fn next(&mut self) -> Option<Input> {
        loop {
            let input = match self.events.next().await?.ok()? {
                Event::Key(event) => key(event).map(Input::Key),
                Event::Paste(text) => Some(Input::Paste(text)),
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
        give_back();
    }
}

fn give_back() {
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, crossterm::cursor::Show);
}

/// The key, unless it is held down or let go.
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
