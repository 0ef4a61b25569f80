//! Permissions of an account, with the checks of the network.

use quorate_policy::named_enum;

use super::field::{account, number};
use super::{TronError, proto};

/// Maximum number of active permissions of an account.
const MAX_ACTIVES: usize = 8;
/// Maximum number of keys of a permission.
const MAX_KEYS: usize = 5;
/// Length in bytes of the bit set of contract types that an active permission allows.
const OPERATIONS_BYTES: usize = 32;

/// Permission to sign for an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Type of the permission.
    pub kind: PermissionKind,
    /// Id by which transactions refer to the permission. The network assigns it by position and ignores the
    /// value in the transaction.
    pub id: u64,
    /// Name, as chosen by the account owner.
    pub name: String,
    /// Minimum sum of the weights of the signing keys.
    pub threshold: u64,
    /// Id of the parent permission. The network only accepts 0, the owner permission.
    pub parent_id: u64,
    /// Allowed contract types: bit n of byte m, from the lowest bit, is the type 8m + n. Empty for
    /// permissions that are not active ones.
    pub operations: Vec<u8>,
    /// Accounts whose keys may sign, with their weights.
    pub keys: Vec<([u8; 20], u64)>,
}

named_enum! {
    /// Type of a permission, with its name in the protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PermissionKind {
        /// Allows everything, including changes of permissions.
        Owner = "Owner",
        /// Allows block production.
        Witness = "Witness",
        /// Allows some contract types.
        Active = "Active",
    }
}

impl PermissionKind {
    fn number(self) -> i32 {
        match self {
            Self::Owner => 0,
            Self::Witness => 1,
            Self::Active => 2,
        }
    }

    /// Returns the field of the contract that holds permissions of this type.
    fn member(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Witness => "witness",
            Self::Active => "actives",
        }
    }
}

impl Permission {
    pub(super) fn owner(message: proto::Permission) -> Result<Self, TronError> {
        Self::read(PermissionKind::Owner, 0, message)
    }

    pub(super) fn witness(message: proto::Permission) -> Result<Self, TronError> {
        Self::read(PermissionKind::Witness, 1, message)
    }

    pub(super) fn actives(messages: Vec<proto::Permission>) -> Result<Vec<Self>, TronError> {
        if messages.len() > MAX_ACTIVES {
            return Err(TronError::Actives(messages.len()));
        }
        let numbered = (2_u64..).zip(messages);
        numbered.map(|(id, message)| Self::read(PermissionKind::Active, id, message)).collect()
    }

    fn read(kind: PermissionKind, id: u64, message: proto::Permission) -> Result<Self, TronError> {
        let operations = if kind == PermissionKind::Active { OPERATIONS_BYTES } else { 0 };
        let is_valid = message.r#type == kind.number()
            && message.operations.len() == operations
            && message.keys.len() <= MAX_KEYS;
        if !is_valid {
            return Err(TronError::Permission(kind.member()));
        }
        number(message.id.into(), "id")?;
        let key = |key: &proto::Key| Ok((account(&key.address, "address")?, number(key.weight, "weight")?));
        Ok(Self {
            kind,
            id,
            threshold: number(message.threshold, "threshold")?,
            parent_id: number(message.parent_id.into(), "parent_id")?,
            keys: message.keys.iter().map(key).collect::<Result<_, TronError>>()?,
            name: message.permission_name,
            operations: message.operations,
        })
    }
}
