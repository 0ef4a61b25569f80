//! The context of the console: daemon, organization, user and key. Resolved once from arguments, credentials
//! and configuration; used by the command line and the screens.

mod context;
mod identity;
mod names;
mod options;
mod reader;
mod reading;
mod settings;

pub(crate) use context::{Session, check_credentials};
pub(crate) use identity::Identity;
pub(crate) use names::{one_named, organization as organization_named};
pub(crate) use options::{Context, Environment, GLOBAL_OPTIONS};
pub(crate) use reading::{Inbox, pin_keys};
pub(crate) use settings::{Origin, Setting, Settings, unknown as unknown_context};
