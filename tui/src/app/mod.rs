//! The state of the console and how messages change it. This module is pure: it returns effects for
//! everything outside, and the time arrives with the messages.

mod answers;
mod keys;
mod model;
mod mouse;
mod organization;
mod outage;
mod update;
mod view;
mod whoami;

pub(crate) use model::Model;
pub(crate) use mouse::Mouse;
pub(crate) use update::{Msg, drawn, update};
pub(crate) use view::view;

#[cfg(test)]
mod tests;
