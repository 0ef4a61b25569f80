//! Imports that kinds need.

pub(super) use quorate_common::bounded::{AtMost, Email, Label, Phone, Text};
pub(super) use quorate_common::catalog::{Action, Gate, Resource};
pub(super) use quorate_common::ids::{
    ApiKeyId, AuthenticatorId, EndpointId, InvitationId, OrganizationId, PolicyId, PrivateKeyId, ProviderId,
    SecretId, SessionProfileId, SmartContractInterfaceId, TagId, UserId, WalletAccountId, WalletId,
};
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};

pub(super) use crate::error::{Intent as Wrong, Missing, RequestError};
pub(super) use crate::execution::Execution;
pub(super) use crate::kind::{Acts, Entry, Kind, Version, entry};
pub(super) use crate::limits::BATCH;
pub(super) use crate::model::{
    Change, FeatureName, Invitation, InvitationStatus, PaymentMethod, PrivateKey, Purpose, Secret,
    SessionProfile, SmartContractInterface, TagKind, User, Wallet, WalletAccount, WebhookEndpoint,
};
pub(super) use crate::policy::Facts;
pub(super) use crate::view::{CredentialScope, View, check_limit, distinct, look_up_each, not_empty};

/// A result without members.
#[derive(Serialize, JsonSchema)]
pub(super) struct Empty {}

/// Implements the conversion of versions that wrap parameters to a kind that wraps what these are converted to.
macro_rules! convert_wrapped {
    ($($version:ident),+ => $kind:ident) => {$(
        impl From<$version> for $kind {
            fn from($version(params): $version) -> Self {
                Self(params.into())
            }
        }
    )+};
}
pub(super) use convert_wrapped;
