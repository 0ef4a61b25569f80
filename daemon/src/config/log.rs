//! Section `[log]`: format and level of log lines.

use std::str::FromStr;

use tracing::level_filters::LevelFilter;

use super::section::Section;
use crate::telemetry::LogFormat;

/// Log settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Log {
    /// Format of a log line.
    pub format: LogFormat,
    /// Minimum severity of a log line.
    pub level: LevelFilter,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Text, level: LevelFilter::INFO }
    }
}

pub(super) fn read(section: &mut Section<'_, '_>) -> Log {
    let default = Log::default();
    Log {
        format: section.parsed::<Format>("format").map_or(default.format, |format| format.0),
        level: section.parsed::<Level>("level").map_or(default.level, |level| level.0),
    }
}

struct Format(LogFormat);

impl FromStr for Format {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self(LogFormat::Text)),
            "json" => Ok(Self(LogFormat::Json)),
            _ => Err(r#"must be "text" or "json""#),
        }
    }
}

struct Level(LevelFilter);

impl FromStr for Level {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Self(LevelFilter::OFF)),
            "error" => Ok(Self(LevelFilter::ERROR)),
            "warn" => Ok(Self(LevelFilter::WARN)),
            "info" => Ok(Self(LevelFilter::INFO)),
            "debug" => Ok(Self(LevelFilter::DEBUG)),
            _ => Err("must be one of off, error, warn, info, debug"),
        }
    }
}
