//! The palette that the configuration names: a built-in one, or one of the user's own files.

use std::path::PathBuf;

use serde::Deserialize;

use super::colour::Rgb;
use super::palette::{BUILT_IN, Palette};
use crate::files::{self, FileError, Folders};

const SIZE_LIMIT: u64 = 16 * 1024;
/// Least contrast of a text to its background (Web Content Accessibility Guidelines 2.2, criterion 1.4.3).
const LEAST_CONTRAST: f64 = 4.5;

/// Why a theme cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ThemeError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no theme with this name.
    #[error("theme {name:?} in config.toml: unknown name; the names are {}, or that of a file {}", names(), path.display())]
    Unknown { name: String, path: PathBuf },
    /// The file is not TOML, or a colour is missing, invalid or hard to read.
    #[error("{}: {reason}", path.display())]
    Content { path: PathBuf, reason: String },
}

fn names() -> String {
    BUILT_IN.map(|(name, _)| name).join(", ")
}

/// The colours of a theme file, each as `#rrggbb`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Colours {
    background: String,
    text: String,
    faint: String,
    good: String,
    stated: String,
    warning: String,
    high: String,
    error: String,
    production: String,
    throwaway: String,
}

impl Colours {
    fn palette(&self) -> Result<Palette, String> {
        let colour = |name: &str, text: &str| {
            Rgb::parse(text)
                .ok_or_else(|| format!("{name} = {text:?}: expected a colour such as \"#d0d0d0\""))
        };
        Ok(Palette {
            background: colour("background", &self.background)?,
            text: colour("text", &self.text)?,
            faint: colour("faint", &self.faint)?,
            good: colour("good", &self.good)?,
            stated: colour("stated", &self.stated)?,
            warning: colour("warning", &self.warning)?,
            high: colour("high", &self.high)?,
            error: colour("error", &self.error)?,
            production: colour("production", &self.production)?,
            throwaway: colour("throwaway", &self.throwaway)?,
        })
    }
}

/// Returns the palette with a name. Without one it is `light` if the terminal states a light background, and `dark`
/// otherwise. The palette of a file lives as long as the process, which reads one.
///
/// # Errors
/// If there is no theme with this name, or its file is invalid or has texts that are hard to read.
pub(crate) fn load(
    name: Option<&str>,
    has_light_background: bool,
    folders: &Folders,
) -> Result<&'static Palette, ThemeError> {
    let name = name.unwrap_or(if has_light_background { "light" } else { "dark" });
    if let Some((_, palette)) = BUILT_IN.into_iter().find(|(known, _)| *known == name) {
        return Ok(palette);
    }
    let is_file_name = name.chars().all(|one| one.is_ascii_alphanumeric() || "-_".contains(one));
    let path = folders.config.join("themes").join(format!("{name}.toml"));
    let bytes = if is_file_name { files::read_trusted(&path, SIZE_LIMIT)? } else { None };
    let Some(bytes) = bytes else { return Err(ThemeError::Unknown { name: name.to_owned(), path }) };
    match parse(&bytes) {
        Ok(palette) => Ok(Box::leak(Box::new(palette))),
        Err(reason) => Err(ThemeError::Content { path, reason }),
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<Palette, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8".to_owned())?;
    let colours: Colours = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let palette = colours.palette()?;
    for (name, text, background) in palette.pairs() {
        let contrast = text.contrast(background);
        if contrast < LEAST_CONTRAST {
            return Err(format!(
                "{name}: its contrast to the background is {contrast:.1}:1, at least {LEAST_CONTRAST}:1 is required"
            ));
        }
    }
    Ok(palette)
}

/// Returns whether a terminal states a light background in `COLORFGBG` (rxvt, Konsole): `15;0` is white on black.
pub(crate) fn is_light(variable: Option<&str>) -> bool {
    let background = variable.and_then(|value| value.rsplit(';').next());
    background.and_then(|number| number.parse::<u8>().ok()).is_some_and(|number| number == 7 || number > 8)
}
