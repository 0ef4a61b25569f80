//! The built-in palettes. Every text has a contrast of 4.5:1 or more to its background, and the palettes for colour
//! blindness keep good and bad apart as people with it see them; the tests check both.

use super::colour::Rgb;

/// The colours of a theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Palette {
    pub(crate) background: Rgb,
    pub(crate) text: Rgb,
    /// Frames and hints.
    pub(crate) faint: Rgb,
    /// What is verified, and what succeeded.
    pub(crate) good: Rgb,
    /// What only the daemon states.
    pub(crate) stated: Rgb,
    pub(crate) warning: Rgb,
    /// What is HIGH.
    pub(crate) high: Rgb,
    pub(crate) error: Rgb,
    /// Background of the header in production.
    pub(crate) production: Rgb,
    /// Background of the header of a throwaway daemon.
    pub(crate) throwaway: Rgb,
}

pub(super) const DARK: Palette = Palette {
    background: Rgb(28, 28, 28),
    text: Rgb(208, 208, 208),
    faint: Rgb(138, 138, 138),
    good: Rgb(135, 215, 135),
    stated: Rgb(135, 175, 215),
    warning: Rgb(255, 215, 95),
    high: Rgb(255, 135, 95),
    error: Rgb(255, 95, 95),
    production: Rgb(175, 0, 0),
    throwaway: Rgb(95, 175, 95),
};

const LIGHT: Palette = Palette {
    background: Rgb(255, 255, 255),
    text: Rgb(38, 38, 38),
    faint: Rgb(108, 108, 108),
    good: Rgb(0, 95, 0),
    stated: Rgb(0, 95, 175),
    warning: Rgb(135, 95, 0),
    high: Rgb(175, 95, 0),
    error: Rgb(175, 0, 0),
    production: Rgb(175, 0, 0),
    throwaway: Rgb(0, 95, 0),
};

const HIGH_CONTRAST: Palette = Palette {
    background: Rgb(0, 0, 0),
    text: Rgb(255, 255, 255),
    faint: Rgb(188, 188, 188),
    good: Rgb(95, 255, 95),
    stated: Rgb(135, 215, 255),
    warning: Rgb(255, 255, 0),
    high: Rgb(255, 175, 0),
    error: Rgb(255, 135, 135),
    production: Rgb(135, 0, 0),
    throwaway: Rgb(95, 255, 95),
};

/// For the two kinds of red-green blindness, protanopia and deuteranopia.
const DEUTERANOPIA: Palette = Palette {
    good: Rgb(95, 175, 255),
    stated: Rgb(175, 215, 255),
    warning: Rgb(255, 215, 95),
    high: Rgb(255, 135, 0),
    error: Rgb(255, 175, 0),
    production: Rgb(135, 95, 0),
    throwaway: Rgb(95, 175, 255),
    ..DARK
};

/// For blue-yellow blindness.
const TRITANOPIA: Palette = Palette {
    good: Rgb(95, 215, 215),
    stated: Rgb(175, 215, 215),
    warning: Rgb(255, 215, 255),
    high: Rgb(255, 135, 175),
    error: Rgb(255, 95, 95),
    throwaway: Rgb(95, 215, 215),
    ..DARK
};

/// The built-in palettes, each with its name in the configuration.
pub(crate) const BUILT_IN: [(&str, &Palette); 5] = [
    ("dark", &DARK),
    ("light", &LIGHT),
    ("high-contrast", &HIGH_CONTRAST),
    ("deuteranopia", &DEUTERANOPIA),
    ("tritanopia", &TRITANOPIA),
];

impl Palette {
    /// Returns each text with its background and the name of the text in a theme file.
    pub(super) const fn pairs(&self) -> [(&'static str, Rgb, Rgb); 7] {
        [
            ("text", self.text, self.background),
            ("faint", self.faint, self.background),
            ("good", self.good, self.background),
            ("stated", self.stated, self.background),
            ("warning", self.warning, self.background),
            ("high", self.high, self.background),
            ("error", self.error, self.background),
        ]
    }
}
