//! Every decision of the service: who asks, whether they may, what an activity does and what it leaves behind.
//!
//! Pure and synchronous. Time, randomness and records come in as arguments; changes, notices and answers go out
//! as data. Nothing here knows of HTTP, sockets, threads or the store's make.

pub mod advice;
pub mod answer;
pub mod authn;
pub mod budget;
pub mod bundles;
pub mod catalog;
pub mod consensus;
pub mod consistency;
pub mod cx;
pub mod founding;
pub mod interfaces;
pub mod kind;
pub mod kinds;
pub mod limits;
pub mod listing;
pub mod mail;
pub mod make;
pub mod model;
pub mod notice;
pub mod operator;
pub mod origins;
pub mod outbox;
pub mod params;
pub mod pipeline;
pub mod policy;
pub mod queries;
pub mod records;
pub mod refusal;
pub mod seal;
pub mod secret;
pub mod signing;
pub mod sweep;
pub mod view;
pub mod world;
