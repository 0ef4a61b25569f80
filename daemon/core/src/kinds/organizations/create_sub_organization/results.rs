//! The results of the individual versions.

use crate::kinds::prelude::*;
use crate::params::keys::{PrivateKeyResult, WalletResult};

/// The version-independent result.
pub(in crate::kinds) struct Created {
    pub(super) id: OrganizationId,
    pub(super) root_user_ids: Vec<UserId>,
    pub(super) private_keys: Vec<PrivateKeyResult>,
    pub(super) wallet: Option<WalletResult>,
}

/// Result of versions 1 and 2: the ids.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct Ids {
    sub_organization_id: OrganizationId,
    root_user_ids: AtMost<UserId, BATCH>,
}

impl From<Created> for Ids {
    fn from(created: Created) -> Self {
        Self { sub_organization_id: created.id, root_user_ids: AtMost::cut(created.root_user_ids) }
    }
}

/// Result of version 3: the ids and the private keys.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct KeysOutcome {
    sub_organization_id: OrganizationId,
    private_keys: AtMost<PrivateKeyResult, BATCH>,
    root_user_ids: AtMost<UserId, BATCH>,
}

impl From<Created> for KeysOutcome {
    fn from(created: Created) -> Self {
        Self {
            sub_organization_id: created.id,
            private_keys: AtMost::cut(created.private_keys),
            root_user_ids: AtMost::cut(created.root_user_ids),
        }
    }
}

/// Result of version 4 and later: the ids and the wallet, if one was requested.
#[serde_with::skip_serializing_none]
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::kinds) struct WalletOutcome {
    sub_organization_id: OrganizationId,
    wallet: Option<WalletResult>,
    root_user_ids: AtMost<UserId, BATCH>,
}

impl From<Created> for WalletOutcome {
    fn from(created: Created) -> Self {
        Self {
            sub_organization_id: created.id,
            wallet: created.wallet,
            root_user_ids: AtMost::cut(created.root_user_ids),
        }
    }
}
