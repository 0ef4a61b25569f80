//! Who may sign for an account, as the network checks it.

use super::contract::{account, number};
use super::{Flaw, proto};

/// Most active permissions of an account.
const MAX_ACTIVES: usize = 8;
/// Most keys of a permission.
const MAX_KEYS: usize = 5;
/// How many bytes name the types of contracts that can be signed under an active permission, a bit for each.
const OPERATIONS_BYTES: usize = 32;

/// Who may sign for an account, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Its type.
    pub kind: PermissionKind,
    /// The number by which transactions name it. The network gives it by its place, whatever the transaction says.
    pub id: u64,
    /// Its name, by its maker.
    pub name: String,
    /// How much the weights of those who sign come to at least.
    pub threshold: u64,
    /// The permission that it belongs to. The network takes none but that of the owner, 0.
    pub parent_id: u64,
    /// Which types of contracts can be signed: bit n of byte m stands for the number 8m + n, from the lowest bit. Empty where
    /// the type of the permission says it all.
    pub operations: Vec<u8>,
    /// The accounts whose keys count, with their weights.
    pub keys: Vec<([u8; 20], u64)>,
}

/// What a permission is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionKind {
    /// Everything, permissions included.
    Owner,
    /// The making of blocks.
    Witness,
    /// Some types of contracts.
    Active,
}

impl PermissionKind {
    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "Owner",
            Self::Witness => "Witness",
            Self::Active => "Active",
        }
    }

    fn number(self) -> i32 {
        match self {
            Self::Owner => 0,
            Self::Witness => 1,
            Self::Active => 2,
        }
    }

    /// The member of the contract that holds such permissions.
    fn member(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Witness => "witness",
            Self::Active => "actives",
        }
    }
}

impl Permission {
    pub(super) fn owner(message: proto::Permission) -> Result<Self, Flaw> {
        Self::read(PermissionKind::Owner, 0, message)
    }

    pub(super) fn witness(message: proto::Permission) -> Result<Self, Flaw> {
        Self::read(PermissionKind::Witness, 1, message)
    }

    pub(super) fn actives(messages: Vec<proto::Permission>) -> Result<Vec<Self>, Flaw> {
        if messages.len() > MAX_ACTIVES {
            return Err(Flaw::Actives(messages.len()));
        }
        let numbered = (2_u64..).zip(messages);
        numbered.map(|(id, message)| Self::read(PermissionKind::Active, id, message)).collect()
    }

    fn read(kind: PermissionKind, id: u64, message: proto::Permission) -> Result<Self, Flaw> {
        let operations = if kind == PermissionKind::Active { OPERATIONS_BYTES } else { 0 };
        let fits = message.r#type == kind.number()
            && message.operations.len() == operations
            && message.keys.len() <= MAX_KEYS;
        if !fits {
            return Err(Flaw::Permission(kind.member()));
        }
        number(message.id.into(), "id")?;
        let key = |key: &proto::Key| Ok((account(&key.address, "address")?, number(key.weight, "weight")?));
        Ok(Self {
            kind,
            id,
            threshold: number(message.threshold, "threshold")?,
            parent_id: number(message.parent_id.into(), "parent_id")?,
            keys: message.keys.iter().map(key).collect::<Result<_, Flaw>>()?,
            name: message.permission_name,
            operations: message.operations,
        })
    }
}
