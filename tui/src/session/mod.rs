//! The context of the console: daemon, organization, user and key. Resolved once from arguments, credentials
//! and configuration; used by the command line and the screens.

mod context;
mod identity;
mod reading;

pub(crate) use context::{Context, GLOBAL_OPTIONS, Session, check_credentials};
pub(crate) use identity::Identity;
pub(crate) use reading::pin_keys;
