//! Known keys, names and root quorums (trust on first use), stored in the user's own state folder. The daemon
//! cannot change them. It can only add keys, which stay unconfirmed until the user accepts them. Values that
//! the daemon states differently are shown as different.

mod file;
mod pins;

pub(crate) use file::{KnownKey, KnownKeys, SIZE_LIMIT};
pub(crate) use pins::{KnownQuorum, Pin};
