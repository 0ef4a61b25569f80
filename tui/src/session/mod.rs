//! The context of the console: daemon, organization, user and key. Resolved once from arguments, credentials
//! and configuration; used by the command line and the screens.

mod context;
mod identity;
mod names;
mod reading;
mod settings;

pub(crate) use context::{Context, GLOBAL_OPTIONS, Session, check_credentials};
pub(crate) use identity::Identity;
pub(crate) use names::{one_named, organization as organization_named};
pub(crate) use reading::pin_keys;
pub(crate) use settings::{Environment, Origin, Setting, Settings, unknown as unknown_context};
