//! What leaves the daemon by itself: webhooks and mail. The only room, beside the HTTP door, that names hyper, and
//! only as a client.

pub mod arrivals;
mod attempt;
pub mod dial;
pub mod limits;
pub mod mail;
mod pause;
pub mod receiver;
pub mod schedule;
pub mod shares;
mod waiting;
pub mod worker;

pub use arrivals::Arrivals;
pub use limits::OutboxLimits;
pub use mail::{MailServer, MailSettings, Postman, Sender};
pub use receiver::{ReceiverPolicy as WebhookPolicy, WebhookUrl};
pub use worker::Outbox;
