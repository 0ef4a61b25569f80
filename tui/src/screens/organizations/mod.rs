//! The organizations screen: users with their credentials, keys, wallets and rules. Read only.

mod revealing;
mod state;
mod tabs;
mod tree;

pub(super) use state::TAB;
