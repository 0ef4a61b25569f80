//! Outgoing traffic: webhooks and mail. Besides the HTTP listener, only this module uses hyper, and only as a
//! client.

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

pub use limits::OutboxLimits;
pub use mail::{MailServer, MailSettings, Mailer, Sender};
pub use receiver::{ReceiverPolicy as WebhookPolicy, WebhookUrl};
pub use worker::Outbox;
