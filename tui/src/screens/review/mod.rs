//! The review of one activity: a frozen copy in sections, rendered from the signed bytes. It records what was
//! drawn, and an activity can be approved only after all its flags were on screen.

mod acting;
mod drawing;
mod panel;
mod sections;
mod state;

pub(crate) use acting::{ALL, COMMANDS, decides};
pub(crate) use state::State;
