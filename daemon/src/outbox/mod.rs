//! Delivery of what was committed: webhooks, mail and SMS.

mod attempt;
mod attempts;
mod channel;
mod control;
pub mod limits;
pub mod mail;
mod pause;
mod queue;
pub mod schedule;
pub mod shares;
pub mod sms;
mod waiting;
pub mod worker;

pub use control::OutboxControl;
pub use limits::OutboxLimits;
pub use mail::{MailServer, MailSettings, Mailer, Sender, SenderDomain};
pub use sms::{SmsSettings, Texter};
pub use worker::Outbox;
