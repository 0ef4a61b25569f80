//! Imports that every kind needs.

pub(super) use super::Kind;
pub(super) use super::description::Description;
pub(super) use super::reader::{Reader, Result};
pub(super) use super::review_context::{ReviewContext, count, listed, stated};
pub(super) use crate::text::{clean, quoted};
