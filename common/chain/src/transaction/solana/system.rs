//! Instructions of the System program, which creates accounts and transfers lamports.

use solana_system_interface::instruction::SystemInstruction as Read;
use wincode::config::deserialize;

use super::{Instruction, Reading};

/// Address of the program.
pub(super) const PROGRAM: &str = "11111111111111111111111111111111";

/// An instruction of the System program. Accounts are as in [`Instruction::accounts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum System<'a> {
    /// Creates an account with lamports of another account, and assigns it to a program.
    CreateAccount {
        /// Account that pays.
        from: &'a str,
        /// Account that is created.
        account: &'a str,
        /// Transferred lamports.
        lamports: u64,
        /// Owning program in base58.
        owner: String,
    },
    /// Creates an account that may already hold lamports, and assigns it with them to a program.
    CreateAccountAllowPrefund {
        /// Account that is created.
        account: &'a str,
        /// Transferred lamports.
        lamports: u64,
        /// Owning program in base58.
        owner: String,
    },
    /// Assigns an account to a program.
    Assign {
        /// Account that is assigned.
        account: &'a str,
        /// New owning program in base58.
        owner: String,
    },
    /// Transfers lamports.
    Transfer {
        /// Sending account.
        from: &'a str,
        /// Receiving account.
        to: &'a str,
        /// Transferred lamports.
        lamports: u64,
    },
    /// Transfers lamports from an account whose address is derived from another key and a seed.
    TransferWithSeed {
        /// Sending account.
        from: &'a str,
        /// Receiving account.
        to: &'a str,
        /// Transferred lamports.
        lamports: u64,
    },
    /// Allocates space for data in an account.
    Allocate {
        /// Account that receives the space.
        account: &'a str,
        /// Number of bytes.
        space: u64,
    },
    /// Consumes a durable nonce and replaces it with the next one.
    AdvanceNonceAccount {
        /// Nonce account.
        account: &'a str,
    },
    /// Transfers lamports from a nonce account.
    WithdrawNonceAccount {
        /// Nonce account.
        account: &'a str,
        /// Receiving account.
        to: &'a str,
        /// Transferred lamports.
        lamports: u64,
    },
    /// Initializes a nonce account.
    InitializeNonceAccount {
        /// Nonce account.
        account: &'a str,
        /// Key that may use the nonces, in base58.
        authority: String,
    },
    /// Changes the authority of a nonce account.
    AuthorizeNonceAccount {
        /// Nonce account.
        account: &'a str,
        /// Key that may use the nonces from then on, in base58.
        authority: String,
    },
    /// Upgrades a legacy nonce account.
    UpgradeNonceAccount {
        /// Nonce account.
        account: &'a str,
    },
}

/// Decodes an instruction. Returns `None` if it is invalid or has too few accounts. Trailing bytes are
/// ignored, as the program ignores them.
pub(super) fn read(instruction: Instruction<'_>) -> Option<System<'_>> {
    let account = |index: usize| instruction.account(index);
    Some(match deserialize::<Read, _>(instruction.data(), Reading::new()).ok()? {
        Read::CreateAccount { lamports, owner, .. } | Read::CreateAccountWithSeed { lamports, owner, .. } => {
            let (from, account) = (account(0)?, account(1)?);
            System::CreateAccount { from, account, lamports, owner: owner.to_string() }
        }
        Read::CreateAccountAllowPrefund { lamports, owner, .. } => {
            System::CreateAccountAllowPrefund { account: account(0)?, lamports, owner: owner.to_string() }
        }
        Read::Assign { owner }
        | Read::AssignWithSeed { owner, .. }
        | Read::AllocateWithSeed { owner, .. } => {
            System::Assign { account: account(0)?, owner: owner.to_string() }
        }
        Read::Transfer { lamports } => System::Transfer { from: account(0)?, to: account(1)?, lamports },
        Read::TransferWithSeed { lamports, .. } => {
            System::TransferWithSeed { from: account(0)?, to: account(2)?, lamports }
        }
        Read::Allocate { space } => System::Allocate { account: account(0)?, space },
        Read::AdvanceNonceAccount => System::AdvanceNonceAccount { account: account(0)? },
        Read::WithdrawNonceAccount(lamports) => {
            System::WithdrawNonceAccount { account: account(0)?, to: account(1)?, lamports }
        }
        Read::InitializeNonceAccount(authority) => {
            System::InitializeNonceAccount { account: account(0)?, authority: authority.to_string() }
        }
        Read::AuthorizeNonceAccount(authority) => {
            System::AuthorizeNonceAccount { account: account(0)?, authority: authority.to_string() }
        }
        Read::UpgradeNonceAccount => System::UpgradeNonceAccount { account: account(0)? },
    })
}
