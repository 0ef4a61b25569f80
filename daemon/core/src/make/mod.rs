//! Making things that several kinds make: users with credentials, wallets with accounts, private keys.

pub mod private_key;
pub mod user;
pub mod wallet;
