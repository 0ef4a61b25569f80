//! Imports that queries need.

pub(super) use quorate_common::catalog::Cost;
pub(super) use quorate_common::ids::{
    ActivityId, ApiKeyId, AuthenticatorId, OrganizationId, PolicyId, PrivateKeyId, SecretId,
    SessionProfileId, SmartContractInterfaceId, UserId, WalletAccountId, WalletId,
};
pub(super) use quorate_common::wire;
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};

pub(super) use super::pagination::Pagination;
pub(super) use super::query::{Entry, Query, QueryContext, entry, oldest_first};
pub(super) use crate::error::{Intent, Missing, RequestError};
pub(super) use crate::model::{
    ApiKey, Authenticator, Invitation, OauthProvider, Policy, PrivateKey, Secret, SmartContractInterface,
    Tag, TagKind, User, Wallet, WalletAccount, WebhookEndpoint,
};
