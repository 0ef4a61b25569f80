//! The only room that dials the daemon's socket. Requests in, typed answers out; nothing here decides.

mod client;
mod events;
mod recent;
mod submit;
mod worker;

pub(crate) use client::{Client, LinkFlaw};
pub(crate) use recent::{look_up, policy_changes, recent};
pub(crate) use submit::submit;
pub(crate) use worker::{Answer, InboxPage, Order, start};
