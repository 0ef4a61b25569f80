//! Instructions of the System program, which owns the lamports of everyone.

use solana_system_interface::instruction::SystemInstruction as Read;
use wincode::config::deserialize;

use super::{Instruction, Reading};

/// The key of the program.
pub(super) const PROGRAM: &str = "11111111111111111111111111111111";

/// An instruction of the System program. Accounts are as in [`Instruction::accounts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum System<'a> {
    /// Makes an account with lamports of another, and gives it to a program.
    CreateAccount {
        /// Who pays.
        from: &'a str,
        /// The account.
        account: &'a str,
        /// How much is paid.
        lamports: u64,
        /// The program, in base58.
        owner: String,
    },
    /// The same with an account that may hold lamports already: it is given away with them.
    CreateAccountAllowPrefund {
        /// The account.
        account: &'a str,
        /// How much is paid.
        lamports: u64,
        /// The program, in base58.
        owner: String,
    },
    /// Gives an account to a program.
    Assign {
        /// The account.
        account: &'a str,
        /// The program, in base58.
        owner: String,
    },
    /// Moves lamports.
    Transfer {
        /// From whom.
        from: &'a str,
        /// To whom.
        to: &'a str,
        /// How many.
        lamports: u64,
    },
    /// Moves lamports out of an account whose key is made from another's.
    TransferWithSeed {
        /// From whom.
        from: &'a str,
        /// To whom.
        to: &'a str,
        /// How many.
        lamports: u64,
    },
    /// Gives an account room for data.
    Allocate {
        /// The account.
        account: &'a str,
        /// How many bytes.
        space: u64,
    },
    /// Uses up a nonce and puts the next one in its place.
    AdvanceNonceAccount {
        /// The account that holds the nonce.
        account: &'a str,
    },
    /// Moves lamports out of an account that holds a nonce.
    WithdrawNonceAccount {
        /// The account that holds the nonce.
        account: &'a str,
        /// To whom.
        to: &'a str,
        /// How many.
        lamports: u64,
    },
    /// Makes an account hold nonces.
    InitializeNonceAccount {
        /// The account.
        account: &'a str,
        /// Who may use them, in base58.
        authority: String,
    },
    /// Lets another use the nonces of an account.
    AuthorizeNonceAccount {
        /// The account.
        account: &'a str,
        /// Who may use them, in base58.
        authority: String,
    },
    /// Brings an account that holds a nonce up to date.
    UpgradeNonceAccount {
        /// The account.
        account: &'a str,
    },
}

/// The instruction; nothing if it is none of the program, or is given too few accounts. Bytes behind its end do not matter,
/// as they do not to the program.
pub(super) fn read(instruction: Instruction<'_>) -> Option<System<'_>> {
    let account = |place: usize| instruction.account(place);
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
