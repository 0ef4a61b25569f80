//! The only module that connects to the daemon, at its socket or at a URL. It sends requests and returns typed answers; it
//! makes no decisions.

mod client;
mod connection;
mod custody;
mod error;
mod escape;
mod events;
mod history;
mod lists;
mod messages;
mod paging;
mod poll;
mod recent;
mod remote;
mod submit;
mod tls;
mod transfers;
mod versions;
mod webhooks;
mod worker;

pub(crate) use client::Client;
pub(crate) use error::{LinkError, Result};
pub(crate) use events::Events;
pub(crate) use history::History;
pub(crate) use messages::{Answer, INBOX_LIMIT, InboxEnd, InboxRead, Order, Subject};
pub(crate) use recent::{look_up, recent};
pub(crate) use remote::{Reader, RemoteUrl};
pub(crate) use submit::{CastError, Confirmation, cast};
pub(crate) use tls::{Pin, Trust};
pub(crate) use transfers::{EarlierTransfers, earlier_transfers};
pub(crate) use webhooks::ReceiverId;
pub(crate) use worker::{is_same_host, start};
