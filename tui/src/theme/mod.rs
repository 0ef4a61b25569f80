//! Colours. They are decoration only: each state also has a word or a mark, and without colour the selected
//! row is in reverse video with a leading `>`.

mod colour;
mod file;
mod palette;

use ratatui::style::{Modifier, Style};

pub(crate) use colour::{Depth, Rgb, is_unicode};
pub(crate) use file::{ThemeError, is_light, load};
#[cfg(test)]
pub(crate) use palette::BUILT_IN;
pub(crate) use palette::Palette;

/// Style in a theme.
type StyleOf = fn(Theme) -> Style;

/// Marks of facts, each drawn in its own colour within a line.
const MARKS: [(&str, StyleOf); 4] =
    [("[v]", Theme::good), ("[s]", Theme::stated), ("[!]", Theme::warning), ("[x]", Theme::error)];

/// The styles of the console: a palette, as the terminal can show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Theme {
    palette: &'static Palette,
    depth: Depth,
    /// Whether only ASCII is drawn.
    pub(crate) is_ascii: bool,
}

impl Theme {
    /// Creates the theme of a palette for a terminal.
    pub(crate) const fn new(palette: &'static Palette, depth: Depth) -> Self {
        Self { palette, depth, is_ascii: false }
    }

    /// Returns the theme for a terminal that may show ASCII only.
    pub(crate) const fn with_ascii(self, is_ascii: bool) -> Self {
        Self { is_ascii, ..self }
    }

    /// Creates a theme with bold and reverse video only.
    pub(crate) const fn uncoloured() -> Self {
        Self::new(&palette::DARK, Depth::None)
    }

    /// Style of everything that has no other one. It removes what was drawn before.
    pub(crate) fn base(self) -> Style {
        let style = Style::new().remove_modifier(Modifier::all());
        self.on(self.palette.text, self.palette.background, style)
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

    /// Style of the header: production differs from a throwaway daemon at a glance.
    pub(crate) fn header(self, is_production: bool) -> Style {
        let background = if is_production { self.palette.production } else { self.palette.throwaway };
        match self.depth {
            Depth::None | Depth::Sixteen => Self::selected(),
            Depth::Indexed | Depth::True => self.on(background.ink(), background, Self::strong()),
        }
    }

    /// Style of frames and hints.
    pub(crate) fn faint(self) -> Style {
        match self.depth {
            // The grays of 16 colours are unreadable on some backgrounds.
            Depth::None | Depth::Sixteen => Style::new(),
            Depth::Indexed | Depth::True => self.tinted(self.palette.faint),
        }
    }

    /// Style of what is verified, and of what succeeded.
    pub(crate) fn good(self) -> Style {
        self.tinted(self.palette.good)
    }

    /// Style of what only the daemon states.
    fn stated(self) -> Style {
        self.tinted(self.palette.stated)
    }

    /// Style of warnings.
    pub(crate) fn warning(self) -> Style {
        self.tinted(self.palette.warning)
    }

    /// Style of what is HIGH.
    pub(crate) fn high(self) -> Style {
        self.tinted(self.palette.high).add_modifier(Modifier::BOLD)
    }

    /// Style of errors.
    pub(crate) fn error(self) -> Style {
        self.tinted(self.palette.error).add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    /// Returns the style for a line, based on the mark or risk level that it contains.
    pub(crate) fn of_mark(self, text: &str) -> Style {
        if text.contains("[x]") {
            self.error()
        } else if text.starts_with("HIGH") || text.contains("[!] HIGH") {
            self.high()
        } else if text.contains("[!]") || text.starts_with("MED") {
            self.warning()
        } else {
            Self::plain()
        }
    }

    /// Returns the places of the marks in a line, in bytes, with their styles.
    pub(crate) fn marks(self, text: &str) -> impl Iterator<Item = (usize, usize, Style)> {
        let found = move |(mark, style): (&'static str, StyleOf)| {
            text.match_indices(mark).map(move |(at, _)| (at, mark.len(), style(self)))
        };
        MARKS.into_iter().flat_map(found)
    }

    fn tinted(self, rgb: Rgb) -> Style {
        self.depth.colour(rgb).map_or_else(Style::new, |colour| Style::new().fg(colour))
    }

    fn on(self, text: Rgb, background: Rgb, style: Style) -> Style {
        match self.depth {
            // The terminal's own colours.
            Depth::None | Depth::Sixteen => style,
            Depth::Indexed | Depth::True => {
                let [text, background] = [text, background].map(|rgb| self.depth.colour(rgb));
                Style { fg: text, bg: background, ..style }
            }
        }
    }
}

#[cfg(test)]
mod tests;
