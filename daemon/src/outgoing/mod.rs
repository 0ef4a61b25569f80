//! Outgoing HTTP requests: which addresses may be reached, and bounded requests to them. Besides the HTTP listener,
//! only this module uses hyper, and only as a client.

pub mod dial;
pub mod local;
mod lookup;
pub mod receiver;
pub(crate) mod shares;

pub use dial::{Dialler, Outcome};
pub use receiver::{OutgoingUrl, ReceiverPolicy};
