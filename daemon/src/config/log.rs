//! Section `[log]`: format and level of log lines.

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
        format: section.parsed_with("format", format).unwrap_or(default.format),
        level: section.parsed_with("level", level).unwrap_or(default.level),
    }
}

fn format(text: &str) -> Result<LogFormat, &'static str> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(r#"must be "text" or "json""#),
    }
}

fn level(text: &str) -> Result<LevelFilter, &'static str> {
    match text {
        "off" => Ok(LevelFilter::OFF),
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        _ => Err("must be one of off, error, warn, info, debug"),
    }
}
