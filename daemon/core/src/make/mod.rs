//! Making things that several kinds make: users with credentials, wallets with accounts, private keys, tags,
//! policies.

pub mod policy;
pub mod private_key;
pub mod tag;
pub mod user;
pub mod wallet;
