//! The contracts that are read, checked member by member.

use prost::Message;

use super::permission::Permission;
use super::{Flaw, proto};
use crate::address::TRON;

/// An account, without the first byte that all of Tron have.
pub(super) type Account = [u8; 20];

/// What a transaction does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contract {
    /// Pays.
    Transfer {
        /// Whom.
        to: [u8; 20],
        /// How much, in sun.
        amount: u64,
    },
    /// Calls a smart contract.
    Trigger {
        /// Which.
        contract: [u8; 20],
        /// How much it pays, in sun.
        call_value: u64,
        /// What it calls with.
        data: Vec<u8>,
        /// How much of a token it pays, in the smallest parts of the token (TRC-10).
        call_token_value: u64,
        /// Which token that is; 0 if none.
        token_id: u64,
    },
    /// Lets another use what a stake gives.
    Delegate {
        /// What is given.
        resource: Resource,
        /// How much of the stake, in sun.
        balance: u64,
        /// Who uses it.
        receiver: [u8; 20],
        /// Whether it cannot be taken back for a while.
        lock: bool,
        /// How long it cannot be taken back, in blocks; 0 for the usual time.
        lock_period: u64,
    },
    /// Takes back what another uses.
    Undelegate {
        /// What is taken back.
        resource: Resource,
        /// How much of the stake, in sun.
        balance: u64,
        /// Who used it.
        receiver: [u8; 20],
    },
    /// Stakes.
    Freeze {
        /// What the stake gives.
        resource: Resource,
        /// How much, in sun.
        balance: u64,
    },
    /// Ends a stake.
    Unfreeze {
        /// What the stake gave.
        resource: Resource,
        /// How much, in sun.
        balance: u64,
    },
    /// Replaces all permissions of the account.
    Permissions {
        /// Under which everything can be done, permissions included.
        owner: Option<Permission>,
        /// Under which blocks are made.
        witness: Option<Permission>,
        /// Under each of which some types of contracts can be signed.
        actives: Vec<Permission>,
    },
}

/// What a stake gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Pays for the bytes of transactions.
    Bandwidth,
    /// Pays for calls of smart contracts.
    Energy,
}

impl Resource {
    fn read(number: i32) -> Result<Self, Flaw> {
        match number {
            0 => Ok(Self::Bandwidth),
            1 => Ok(Self::Energy),
            other => Err(Flaw::Resource(other)),
        }
    }

    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "BANDWIDTH",
            Self::Energy => "ENERGY",
        }
    }
}

/// Reads the parameter of a contract: whose account it is about, and what it does.
type Reader = fn(&[u8]) -> Result<(Account, Contract), Flaw>;

/// The number of each type, its name, and what reads it.
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
    pub(super) fn read(contract: &proto::Contract) -> Result<(Account, Self), Flaw> {
        let known = TYPES.iter().find(|(number, _, _)| *number == contract.r#type);
        let (_, name, read) = known.ok_or(Flaw::Type(contract.r#type))?;
        let parameter = contract.parameter.as_ref().ok_or(Flaw::Parameter)?;
        if parameter.type_url.strip_prefix("type.googleapis.com/protocol.") != Some(*name) {
            return Err(Flaw::Parameter);
        }
        read(&parameter.value)
    }

    /// The name of its type in the protocol.
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

fn transfer(bytes: &[u8]) -> Result<(Account, Contract), Flaw> {
    let message: proto::TransferContract = exactly(bytes)?;
    let contract = Contract::Transfer {
        to: account(&message.to_address, "to_address")?,
        amount: number(message.amount, "amount")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn trigger(bytes: &[u8]) -> Result<(Account, Contract), Flaw> {
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

fn permissions(bytes: &[u8]) -> Result<(Account, Contract), Flaw> {
    let message: proto::AccountPermissionUpdateContract = exactly(bytes)?;
    let account = owner(&message.owner_address)?;
    let contract = Contract::Permissions {
        owner: message.owner.map(Permission::owner).transpose()?,
        witness: message.witness.map(Permission::witness).transpose()?,
        actives: Permission::actives(message.actives)?,
    };
    Ok((account, contract))
}

fn freeze(bytes: &[u8]) -> Result<(Account, Contract), Flaw> {
    let message: proto::FreezeBalanceV2Contract = exactly(bytes)?;
    let contract = Contract::Freeze {
        resource: Resource::read(message.resource)?,
        balance: number(message.frozen_balance, "frozen_balance")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn unfreeze(bytes: &[u8]) -> Result<(Account, Contract), Flaw> {
    let message: proto::UnfreezeBalanceV2Contract = exactly(bytes)?;
    let contract = Contract::Unfreeze {
        resource: Resource::read(message.resource)?,
        balance: number(message.unfreeze_balance, "unfreeze_balance")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

fn delegate(bytes: &[u8]) -> Result<(Account, Contract), Flaw> {
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

fn undelegate(bytes: &[u8]) -> Result<(Account, Contract), Flaw> {
    let message: proto::UnDelegateResourceContract = exactly(bytes)?;
    let contract = Contract::Undelegate {
        resource: Resource::read(message.resource)?,
        balance: number(message.balance, "balance")?,
        receiver: account(&message.receiver_address, "receiver_address")?,
    };
    Ok((owner(&message.owner_address)?, contract))
}

/// Reads a message that is written in the one way that this writes it.
pub(super) fn exactly<M: Message + Default>(bytes: &[u8]) -> Result<M, Flaw> {
    let message = M::decode(bytes).map_err(|flaw| Flaw::Malformed(flaw.to_string()))?;
    if message.encode_to_vec() == bytes { Ok(message) } else { Err(Flaw::NotCanonical) }
}

fn owner(address: &[u8]) -> Result<Account, Flaw> {
    account(address, "owner_address")
}

pub(super) fn account(address: &[u8], name: &'static str) -> Result<Account, Flaw> {
    let account = address.strip_prefix(&[TRON]).and_then(|account| account.try_into().ok());
    account.ok_or(Flaw::Address(name))
}

pub(super) fn number(number: i64, name: &'static str) -> Result<u64, Flaw> {
    u64::try_from(number).map_err(|_| Flaw::Negative(name))
}
