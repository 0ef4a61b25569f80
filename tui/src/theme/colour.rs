//! Colours as the terminal can show them, and the contrast between two of them.

use ratatui::style::Color;

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rgb(pub(crate) u8, pub(crate) u8, pub(crate) u8);

/// Steps of a component in the colour cube of terminals with 256 colours (xterm).
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
/// Number of the first colour of that cube, after the 16 that users configure.
const CUBE: u8 = 16;
/// Number of the first of the 24 grays, after the cube.
const GRAYS: u8 = 232;

/// How many colours a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// None: bold, underlined and reverse video only.
    None,
    /// The 16 that its user has configured.
    Sixteen,
    /// 256.
    Indexed,
    /// All of them.
    True,
}

impl Depth {
    /// Determines what a terminal shows from its environment variables. Nothing is coloured if `NO_COLOR` is set
    /// (no-color.org) or the terminal supports none.
    pub(crate) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name| variable(name).filter(|value| !value.is_empty());
        let is_set =
            |name, values: &[&str]| value(name).is_some_and(|value| values.contains(&value.as_str()));
        match value("TERM") {
            _ if value("NO_COLOR").is_some() => Self::None,
            None => Self::None,
            Some(term) if term == "dumb" || term.starts_with("vt") => Self::None,
            Some(_) if is_set("COLORTERM", &["truecolor", "24bit"]) => Self::True,
            Some(term) if term.contains("direct") => Self::True,
            Some(term) if term.contains("256color") => Self::Indexed,
            Some(_) => Self::Sixteen,
        }
    }

    /// Returns a colour, or the nearest one that the terminal shows.
    pub(super) fn colour(self, rgb: Rgb) -> Option<Color> {
        match self {
            Self::None => None,
            Self::Sixteen => Some(rgb.sixteen()),
            Self::Indexed => Some(Color::Indexed(rgb.indexed())),
            Self::True => Some(Color::Rgb(rgb.0, rgb.1, rgb.2)),
        }
    }
}

/// Returns whether the locale of the environment is one of UTF-8 (POSIX.1-2024, 8.2). Otherwise the terminal may show
/// ASCII only.
pub(crate) fn is_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

impl Rgb {
    /// Parses `#rrggbb`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 3];
        const_hex::decode_to_slice(text.strip_prefix('#')?, &mut bytes).ok()?;
        let [red, green, blue] = bytes;
        Some(Self(red, green, blue))
    }

    /// Returns the contrast ratio to another colour, 1 to 21 (Web Content Accessibility Guidelines 2.2, "contrast
    /// ratio").
    pub(crate) fn contrast(self, other: Self) -> f64 {
        let (this, other) = (self.luminance(), other.luminance());
        (this.max(other) + 0.05) / (this.min(other) + 0.05)
    }

    /// Returns black or white, whichever is easier to read on this colour.
    pub(super) fn ink(self) -> Self {
        let (black, white) = (Self(0, 0, 0), Self(255, 255, 255));
        if self.contrast(black) > self.contrast(white) { black } else { white }
    }

    /// Returns the relative luminance, 0 to 1 (the same guidelines, "relative luminance").
    fn luminance(self) -> f64 {
        let [red, green, blue] = self.linear();
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    /// Returns the components in linear light, 0 to 1.
    pub(super) fn linear(self) -> [f64; 3] {
        [self.0, self.1, self.2].map(|component| {
            let value = f64::from(component) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// Returns the number of the nearest of the 240 colours that all terminals with 256 colours share.
    fn indexed(self) -> u8 {
        let [red, green, blue] = [self.0, self.1, self.2].map(|component| {
            let distance = |step: &(u8, u8)| step.1.abs_diff(component);
            (0..).zip(STEPS).min_by_key(distance).unwrap_or_default()
        });
        let in_cube = CUBE + 36 * red.0 + 6 * green.0 + blue.0;
        let average = (u16::from(self.0) + u16::from(self.1) + u16::from(self.2)) / 3;
        let shade = u8::try_from(average.saturating_sub(3) / 10).unwrap_or(u8::MAX).min(23);
        let gray = 8 + 10 * shade;
        let distance = |other: [u8; 3]| -> u32 {
            let differences =
                [self.0.abs_diff(other[0]), self.1.abs_diff(other[1]), self.2.abs_diff(other[2])];
            differences.map(|difference| u32::from(difference).pow(2)).iter().sum()
        };
        let is_gray = distance([gray; 3]) < distance([red.1, green.1, blue.1]);
        if is_gray { GRAYS + shade } else { in_cube }
    }

    /// Returns the colour of 16 with the same hue. Their shades are those of the user's terminal.
    fn sixteen(self) -> Color {
        let is_strong = |component: u8| component >= self.0.max(self.1).max(self.2) / 10 * 7;
        match (is_strong(self.0), is_strong(self.1), is_strong(self.2)) {
            (true, true, false) => Color::Yellow,
            (true, false, true) => Color::Magenta,
            (true, false, false) => Color::Red,
            (false, true, true) => Color::Cyan,
            (false, true, false) => Color::Green,
            (false, false, true) => Color::Blue,
            (true, true, true) | (false, false, false) => Color::Reset,
        }
    }
}
