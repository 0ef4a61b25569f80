//! The policies screen: policies as text and in words, findings about them, and the simulation of requests.

mod drafting;
mod drawing;
mod screen;
mod simulation;
mod state;

pub(super) use screen::TAB;
