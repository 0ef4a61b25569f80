//! The words that daemon and console both speak: ids, activities and votes as on the wire, stamps,
//! passkeys, bundles, fingerprints, faults, the catalogue of kinds as data, and the console protocol.
//!
//! Pure: nothing here reads a clock, a file, the network or a random source.

pub mod activity;
pub mod bounded;
pub mod bundle;
pub mod catalog;
pub mod console;
pub mod fault;
pub mod fingerprint;
pub mod ids;
pub mod json;
pub mod stamp;
pub mod webauthn;
pub mod wire;
