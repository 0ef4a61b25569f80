//! Colours. They are decoration only: each state also has a word or a mark, and without colour the selected
//! row is in reverse video with a leading `>`.

use ratatui::style::{Color, Modifier, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    colour: bool,
}

impl Theme {
    /// Creates a theme with colours, or with bold and reverse video only.
    pub(crate) const fn new(colour: bool) -> Self {
        Self { colour }
    }

    pub(crate) fn plain() -> Style {
        Style::new()
    }

    /// Style of titles and of the most important text.
    pub(crate) fn strong() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(crate) fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Style of frames and hints.
    pub(crate) fn faint(self) -> Style {
        self.tinted(Color::Gray)
    }

    /// Style of warnings.
    pub(crate) fn warning(self) -> Style {
        self.tinted(Color::LightYellow)
    }

    /// Style of errors.
    pub(crate) fn error(self) -> Style {
        self.tinted(Color::LightRed).add_modifier(Modifier::BOLD)
    }

    /// Returns the style for a line, based on the mark or risk level that it contains.
    pub(crate) fn of_mark(self, text: &str) -> Style {
        if text.contains("[x]") {
            self.error()
        } else if text.contains("[!]") || text.starts_with("HIGH") {
            self.warning()
        } else {
            Self::plain()
        }
    }

    fn tinted(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }
}
