//! The only module that connects to the daemon's socket. It sends requests and returns typed answers; it
//! makes no decisions.

mod client;
mod events;
mod recent;
mod submit;
mod worker;

pub(crate) use client::{Client, LinkError};
pub(crate) use recent::{look_up, policy_changes, recent};
pub(crate) use submit::submit;
pub(crate) use worker::{Answer, InboxPage, Order, start};
