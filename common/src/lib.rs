//! Types that the daemon and the console share: ids, activities and votes as on the wire, stamps, passkeys,
//! bundles, fingerprints, API errors, the catalog of activity kinds, and the console protocol.
//!
//! The crate is pure: it reads no clock, file, network or random source.

pub mod activity;
pub mod activity_log;
pub mod api_error;
pub mod assignment;
pub mod bounded;
pub mod bundle;
pub mod catalog;
pub mod client_signature;
pub mod console;
pub mod envelope;
pub mod fingerprint;
pub mod ids;
mod inline_schema;
pub mod json;
pub mod share;
pub mod stamp;
mod stamp_header;
pub mod token;
pub mod webauthn;
pub mod wire;
mod wire_enum;
