//! What leaves the daemon by itself: webhooks and mail. The only room, beside the HTTP door, that names hyper, and
//! only as a client.

pub mod dial;
pub mod mail;
pub mod receiver;
pub mod schedule;
pub mod worker;

pub use mail::{MailServer, MailSettings, Postman, Sender};
pub use receiver::{ReceiverPolicy as WebhookPolicy, WebhookUrl};
pub use worker::Outbox;
