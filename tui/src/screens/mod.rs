//! The screens. Each file contains a screen's state, its keys and how it is drawn. A screen sees what all
//! screens share and its own state, and returns requests as data.

mod access;
mod activities;
mod activity_list;
mod approvals;
pub(crate) mod authority;
pub(crate) mod bindings;
pub(crate) mod decide;
pub(crate) mod filter;
mod health;
pub(crate) mod inbox;
mod inbox_row;
mod journal;
mod known_keys;
mod messages;
mod organizations;
pub(crate) mod overlay;
mod policies;
pub(crate) mod propose;
mod receipt;
pub(crate) mod request;
pub(crate) mod review;
pub(crate) mod screen;
pub(crate) mod shared;
mod webhooks;

pub(crate) use activity_list::ActivityList;
use screen::Tab;

/// All screens, in the order of the tabs.
pub(crate) static SCREENS: &[&Tab] = &[
    &approvals::TAB,
    &organizations::TAB,
    &activities::TAB,
    &policies::TAB,
    &access::TAB,
    &messages::TAB,
    &health::TAB,
    &webhooks::TAB,
    &journal::TAB,
    &known_keys::TAB,
];
