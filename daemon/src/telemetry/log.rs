//! Log lines on standard error.

use std::fmt;

use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::{self, FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, Layer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

/// Crates whose log level the operator sets. All others stay at warnings, because their debug lines contain
/// headers.
const OWN_CRATES: [&str; 5] =
    ["quorated", "quorate_core", "quorate_common", "quorate_chain", "quorate_policy"];

/// Format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
}

/// Starts logging to standard error, once per process. In dev mode, each line is marked with DEV.
///
/// # Errors
/// Returns an error if logging was started before.
pub fn start(format: LogFormat, level: LevelFilter, dev: bool) -> Result<(), TryInitError> {
    let targets = Targets::new()
        .with_default(level.min(LevelFilter::WARN))
        .with_targets(OWN_CRATES.map(|name| (name, level)));
    let registry = tracing_subscriber::registry().with(targets);
    match format {
        LogFormat::Text => registry.with(text_layer(dev)).try_init(),
        LogFormat::Json => registry.with(json_layer(dev)).try_init(),
    }
}

fn text_layer<S>(dev: bool) -> Layer<S, format::DefaultFields, Lines<format::Format>, fn() -> std::io::Stderr>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let inner = tracing_subscriber::fmt::format().with_ansi(false).with_target(false);
    tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .event_format(Lines { inner, format: LogFormat::Text, dev })
        .with_writer(std::io::stderr as fn() -> std::io::Stderr)
}

type JsonFormat = format::Format<format::Json>;

fn json_layer<S>(dev: bool) -> Layer<S, format::JsonFields, Lines<JsonFormat>, fn() -> std::io::Stderr>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let inner = tracing_subscriber::fmt::format().json().flatten_event(true).with_span_list(false);
    tracing_subscriber::fmt::layer()
        .fmt_fields(format::JsonFields::new())
        .event_format(Lines { inner, format: LogFormat::Json, dev })
        .with_writer(std::io::stderr as fn() -> std::io::Stderr)
}

/// Keeps each event on one line, whatever its fields contain, and marks it in dev mode.
struct Lines<F> {
    inner: F,
    format: LogFormat,
    dev: bool,
}

impl<S, N, F> FormatEvent<S, N> for Lines<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = String::with_capacity(256);
        self.inner.format_event(context, Writer::new(&mut line), event)?;
        write_line(self.format, self.dev, line.trim_end_matches('\n'), &mut writer)
    }
}

fn write_line(format: LogFormat, dev: bool, line: &str, writer: &mut impl fmt::Write) -> fmt::Result {
    if format == LogFormat::Json {
        return match line.strip_prefix('{').filter(|_| dev) {
            Some(members) => writeln!(writer, "{{\"mode\":\"DEV\",{members}"),
            None => writeln!(writer, "{line}"),
        };
    }
    if dev {
        writer.write_str("DEV ")?;
    }
    for character in line.chars() {
        if character.is_control() {
            write!(writer, "{}", character.escape_default())?;
        } else {
            writer.write_char(character)?;
        }
    }
    writer.write_char('\n')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn line(format: LogFormat, dev: bool, text: &str) -> String {
        let mut out = String::new();
        write_line(format, dev, text, &mut out).unwrap();
        out
    }

    #[test]
    fn an_event_stays_on_one_line() {
        assert_eq!(line(LogFormat::Text, false, "name=a\nb\u{1b}[31m"), "name=a\\nb\\u{1b}[31m\n");
        assert_eq!(line(LogFormat::Text, true, "started"), "DEV started\n");
        assert_eq!(line(LogFormat::Json, true, r#"{"a":1}"#), "{\"mode\":\"DEV\",\"a\":1}\n");
        assert_eq!(line(LogFormat::Json, false, r#"{"a":"\n"}"#), "{\"a\":\"\\n\"}\n");
    }
}
