//! The supported contract types, checked field by field.

use prost::Message;
use quorate_policy::named_enum;

use super::field::{Account, account, number};
use super::permission::Permission;
use super::{TronError, proto};

/// Contract of a transaction, which defines its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contract {
    /// Transfers TRX.
    Transfer {
        /// Recipient.
        to: [u8; 20],
        /// Amount in sun.
        amount: u64,
    },
    /// Calls a smart contract.
    Trigger {
        /// Called contract.
        contract: [u8; 20],
        /// Transferred TRX, in sun.
        call_value: u64,
        /// Call data.
        data: Vec<u8>,
        /// Transferred amount of a TRC-10 token, in its smallest unit.
        call_token_value: u64,
        /// Id of the TRC-10 token; 0 if none.
        token_id: u64,
    },
    /// Delegates the resource of a stake to another account.
    Delegate {
        /// Delegated resource.
        resource: Resource,
        /// Delegated part of the stake, in sun.
        balance: u64,
        /// Account that receives the resource.
        receiver: [u8; 20],
        /// Whether the delegation cannot be revoked for a period.
        lock: bool,
        /// Length of that period in blocks; 0 for the default.
        lock_period: u64,
    },
    /// Revokes a delegation.
    Undelegate {
        /// Delegated resource.
        resource: Resource,
        /// Revoked part of the stake, in sun.
        balance: u64,
        /// Account that received the resource.
        receiver: [u8; 20],
    },
    /// Stakes TRX.
    Freeze {
        /// Resource that the stake provides.
        resource: Resource,
        /// Staked amount in sun.
        balance: u64,
    },
    /// Unstakes TRX.
    Unfreeze {
        /// Resource that the stake provided.
        resource: Resource,
        /// Unstaked amount in sun.
        balance: u64,
    },
    /// Replaces all permissions of the account.
    Permissions {
        /// Owner permission, which allows everything, including changes of permissions.
        owner: Option<Permission>,
        /// Witness permission, which allows block production.
        witness: Option<Permission>,
        /// Active permissions, each of which allows some contract types.
        actives: Vec<Permission>,
    },
}

named_enum! {
    /// Resource that a stake provides, with its name in the protocol.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Resource {
        /// Pays for the bytes of transactions.
        Bandwidth = "BANDWIDTH",
        /// Pays for calls of smart contracts.
        Energy = "ENERGY",
    }
}

impl Resource {
    fn read(number: i32) -> Result<Self, TronError> {
        match number {
            0 => Ok(Self::Bandwidth),
            1 => Ok(Self::Energy),
            other => Err(TronError::Resource(other)),
        }
    }
}

/// Decodes the parameter of a contract into the owner account and the contract.
type Reader = fn(&[u8]) -> Result<(Account, Contract), TronError>;

/// Number, name and decoder of each contract type.
const TYPES: [(i32, &str, Reader); 7] = [
    (1, "TransferContract", transfer),
    (31, "TriggerSmartContract", trigger),
    (46, "AccountPermissionUpdateContract", permissions),
    (54, "FreezeBalanceV2Contract", freeze),
    (55, "UnfreezeBalanceV2Contract", unfreeze),
    (57, "DelegateResourceContract", delegate),
    (58, "UnDelegateResourceContract", undelegate),
];

impl Contract {
    pub(super) fn read(contract: &proto::Contract) -> Result<(Account, Self), TronError> {
        let known = TYPES.iter().find(|(number, _, _)| *number == contract.r#type);
        let (_, name, read) = known.ok_or(TronError::Type(contract.r#type))?;
        let parameter = contract.parameter.as_ref().ok_or(TronError::Parameter)?;
        if parameter.type_url.strip_prefix("type.googleapis.com/protocol.") != Some(*name) {
            return Err(TronError::Parameter);
        }
        read(&parameter.value)
    }

    /// Returns the name of the contract type in the protocol.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Transfer { .. } => "TransferContract",
            Self::Trigger { .. } => "TriggerSmartContract",
            Self::Permissions { .. } => "AccountPermissionUpdateContract",
            Self::Freeze { .. } => "FreezeBalanceV2Contract",
            Self::Unfreeze { .. } => "UnfreezeBalanceV2Contract",
            Self::Delegate { .. } => "DelegateResourceContract",
            Self::Undelegate { .. } => "UnDelegateResourceContract",
        }
    }
}

fn transfer(bytes: &[u8]) -> Result<(Account, Contract), TronError> {
    let message: proto::TransferContract = exactly(bytes)?;
    let contract = Contract::Transfer {
        to: account(&message.to_address, "to_address")?,
        amount: number(message.amount, "amount")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn trigger(bytes: &[u8]) -> Result<(Account, Contract), TronError> {
    let message: proto::TriggerSmartContract = exactly(bytes)?;
    let contract = Contract::Trigger {
        contract: account(&message.contract_address, "contract_address")?,
        call_value: number(message.call_value, "call_value")?,
        data: message.data,
        call_token_value: number(message.call_token_value, "call_token_value")?,
        token_id: number(message.token_id, "token_id")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn permissions(bytes: &[u8]) -> Result<(Account, Contract), TronError> {
    let message: proto::AccountPermissionUpdateContract = exactly(bytes)?;
    let account = owner(&message.owner_address)?;
    let contract = Contract::Permissions {
        owner: message.owner.map(Permission::owner).transpose()?,
        witness: message.witness.map(Permission::witness).transpose()?,
        actives: Permission::actives(message.actives)?,
    };
    Ok((account, contract))
}

fn freeze(bytes: &[u8]) -> Result<(Account, Contract), TronError> {
    let message: proto::FreezeBalanceV2Contract = exactly(bytes)?;
    let contract = Contract::Freeze {
        resource: Resource::read(message.resource)?,
        balance: number(message.frozen_balance, "frozen_balance")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn unfreeze(bytes: &[u8]) -> Result<(Account, Contract), TronError> {
    let message: proto::UnfreezeBalanceV2Contract = exactly(bytes)?;
    let contract = Contract::Unfreeze {
        resource: Resource::read(message.resource)?,
        balance: number(message.unfreeze_balance, "unfreeze_balance")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn delegate(bytes: &[u8]) -> Result<(Account, Contract), TronError> {
    let message: proto::DelegateResourceContract = exactly(bytes)?;
    let contract = Contract::Delegate {
        resource: Resource::read(message.resource)?,
        balance: number(message.balance, "balance")?,
        receiver: account(&message.receiver_address, "receiver_address")?,
        lock: message.lock,
        lock_period: number(message.lock_period, "lock_period")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn undelegate(bytes: &[u8]) -> Result<(Account, Contract), TronError> {
    let message: proto::UnDelegateResourceContract = exactly(bytes)?;
    let contract = Contract::Undelegate {
        resource: Resource::read(message.resource)?,
        balance: number(message.balance, "balance")?,
        receiver: account(&message.receiver_address, "receiver_address")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

/// Decodes a message that must be in canonical form: encoding it again must return the same bytes.
pub(super) fn exactly<M: Message + Default>(bytes: &[u8]) -> Result<M, TronError> {
    let message = M::decode(bytes).map_err(|error| TronError::Malformed(error.to_string()))?;
    if message.encode_to_vec() == bytes { Ok(message) } else { Err(TronError::NotCanonical) }
}

fn owner(address: &[u8]) -> Result<Account, TronError> {
    account(address, "owner_address")
}
