//! Outgoing traffic: webhooks, mail and SMS. Besides the HTTP listener, only this module uses hyper, and only as a
//! client.

mod attempt;
pub mod dial;
pub mod limits;
pub mod mail;
mod pause;
mod queue;
pub mod receiver;
pub mod schedule;
pub mod shares;
pub mod sms;
mod waiting;
pub mod worker;

pub use limits::OutboxLimits;
pub use mail::{MailServer, MailSettings, Mailer, Sender, SenderDomain};
pub use receiver::{ReceiverPolicy as WebhookPolicy, WebhookUrl};
pub use sms::{SmsSettings, Texter};
pub use worker::Outbox;
