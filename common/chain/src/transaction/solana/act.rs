//! Decoded instructions of the most common programs.

use super::{Instruction, System, Token, system, token};

const COMPUTE_BUDGET: &str = "ComputeBudget111111111111111111111111111111";
const ASSOCIATED_TOKEN: &str = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const MEMO: [&str; 2] =
    ["Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"];

/// A decoded instruction. Accounts are as in [`Instruction::accounts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act<'a> {
    /// Instruction of the System program.
    System(System<'a>),
    /// Instruction of a token program.
    Token(Token<'a>),
    /// Sets the resource limits and the priority fee of the transaction.
    ComputeBudget(ComputeBudget),
    /// Creates the account that holds the tokens of a wallet for one mint.
    CreateAssociatedTokenAccount {
        /// Account that pays for the creation.
        from: &'a str,
        /// Token account that is created.
        account: &'a str,
        /// Wallet that owns the tokens.
        wallet: &'a str,
        /// Mint of the token.
        mint: &'a str,
    },
    /// Records a text on the chain.
    Memo(&'a str),
    /// An instruction that is not decoded.
    Undecoded,
}

/// Resource limit or priority fee of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeBudget {
    /// Size of the heap of each program, in bytes.
    RequestHeapFrame(u32),
    /// Maximum number of compute units.
    SetComputeUnitLimit(u32),
    /// Price of a compute unit, in millionths of a lamport.
    SetComputeUnitPrice(u64),
    /// Maximum size of the loaded account data, in bytes.
    SetLoadedAccountsDataSizeLimit(u32),
}

impl<'a> Instruction<'a> {
    /// Decodes the instruction.
    pub fn act(&self) -> Act<'a> {
        self.read().unwrap_or(Act::Undecoded)
    }

    /// Decodes the instruction. Returns `None` if it calls the System program or transfers tokens, but is
    /// invalid.
    pub(super) fn read(&self) -> Option<Act<'a>> {
        match self.program() {
            system::PROGRAM => system::read(*self).map(Act::System),
            program if token::PROGRAMS.contains(&program) => match token::read(*self) {
                None if token::is_transfer(self.data()) => None,
                token => Some(token.map_or(Act::Undecoded, Act::Token)),
            },
            COMPUTE_BUDGET => Some(compute_budget(self.data()).map_or(Act::Undecoded, Act::ComputeBudget)),
            ASSOCIATED_TOKEN => Some(self.associated_token().unwrap_or(Act::Undecoded)),
            program if MEMO.contains(&program) => {
                Some(str::from_utf8(self.data()).map_or(Act::Undecoded, Act::Memo))
            }
            _ => Some(Act::Undecoded),
        }
    }

    /// Decodes the creation of an associated token account, also in its idempotent form.
    fn associated_token(&self) -> Option<Act<'a>> {
        let account = |index: usize| self.account(index);
        let ([] | [0 | 1]) = self.data() else { return None };
        let (from, mint) = (account(0)?, account(3)?);
        Some(Act::CreateAssociatedTokenAccount { from, account: account(1)?, wallet: account(2)?, mint })
    }
}

fn compute_budget(data: &[u8]) -> Option<ComputeBudget> {
    let (number, rest) = data.split_first()?;
    let short = || rest.try_into().ok().map(u32::from_le_bytes);
    Some(match number {
        1 => ComputeBudget::RequestHeapFrame(short()?),
        2 => ComputeBudget::SetComputeUnitLimit(short()?),
        3 => ComputeBudget::SetComputeUnitPrice(rest.try_into().ok().map(u64::from_le_bytes)?),
        4 => ComputeBudget::SetLoadedAccountsDataSizeLimit(short()?),
        _ => return None,
    })
}
