//! Text of others made safe to draw, and text fitted to columns. Never lets a control, bidirectional or
//! invisible character through, and never cuts without a mark.

mod layer;
mod moment;
mod sanitize;

pub(crate) use layer::{cut, grouped, pad, width, wrap};
pub(crate) use moment::{ago, clock, date, date_time, duration};
pub(crate) use sanitize::{clean, has_hidden, is_hidden, is_mixed, quoted};
