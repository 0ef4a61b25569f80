//! Makes untrusted text safe to display and fits text to columns. Control, bidirectional and invisible
//! characters never pass, and truncated text is always marked.

mod fit;
mod numbers;
mod sanitize;
mod timestamps;

pub(crate) use fit::{cut, grouped, indented, pad, width, wrap};
pub(crate) use numbers::{bytes, counted, entries, micros, rate};
pub(crate) use sanitize::{
    clean, drawn_in_ascii, has_hidden, imitates_latin, imitations, is_hidden, is_mixed, quoted,
    show_ascii_only,
};
pub(crate) use timestamps::{ago, clock, date, date_time, duration, parsed_date, rfc3339};
