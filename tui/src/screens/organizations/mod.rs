//! The organizations screen: users with their credentials, keys, wallets and rules. Read only.

mod contents;
mod item;
mod records;
mod sections;
mod settings;
mod state;
mod tree;

pub(super) use state::TAB;
