//! The decisions of the service: who the caller is, what they may do, and what an activity changes.
//!
//! This crate is pure and synchronous. It takes time, randomness and records as arguments, and returns
//! changes, outbox events and answers as data. It does not depend on HTTP, sockets, threads or the store
//! engine.

pub mod activity_log;
pub mod advice;
pub mod answer;
pub mod auth_proxy;
pub mod authentication;
pub mod authn;
pub mod budget;
pub mod bundles;
pub mod catalog;
pub mod cleanup;
pub mod consensus;
pub mod consistency;
pub mod console_routes;
pub mod creation;
pub mod denials;
pub mod error;
pub mod established;
pub mod evaluation;
pub mod execution;
pub mod id_token;
pub mod interfaces;
pub mod kind;
pub mod kinds;
pub mod last_use;
pub mod limits;
pub mod listing;
pub mod mail;
pub mod make;
pub mod message_end;
pub mod message_events;
pub mod messages;
pub mod model;
pub mod oauth2;
pub mod operator;
pub mod origins;
pub mod outbox;
pub mod page;
pub mod params;
pub mod pipeline;
pub mod policy;
pub mod queries;
pub mod records;
pub mod seal;
pub mod secret;
pub mod signer;
pub mod signing;
pub mod sms;
pub mod view;
pub mod waiting_index;
pub mod webhooks;
pub mod world;
