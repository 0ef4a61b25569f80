//! What an instruction does, for the programs that most transactions call.

use super::{Instruction, System, Token, system, token};

const COMPUTE_BUDGET: &str = "ComputeBudget111111111111111111111111111111";
const ASSOCIATED_TOKEN: &str = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const MEMO: [&str; 2] =
    ["Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"];

/// What an instruction does. Accounts are as in [`Instruction::accounts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act<'a> {
    /// One of the System program.
    System(System<'a>),
    /// One of a token program.
    Token(Token<'a>),
    /// Sets what the transaction may use.
    ComputeBudget(ComputeBudget),
    /// Makes the account in which a wallet keeps tokens of one kind.
    CreateAssociatedTokenAccount {
        /// Who pays for it.
        from: &'a str,
        /// The account.
        account: &'a str,
        /// Whose tokens it holds.
        wallet: &'a str,
        /// The token.
        mint: &'a str,
    },
    /// Writes a text into the history of the chain.
    Memo(&'a str),
    /// Something that is not read here.
    Undecoded,
}

/// What a transaction may use, and what it pays for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComputeBudget {
    /// Bytes of memory for each program.
    RequestHeapFrame(u32),
    /// Most units of computation.
    SetComputeUnitLimit(u32),
    /// What a unit costs, in millionths of a lamport.
    SetComputeUnitPrice(u64),
    /// Most bytes of accounts that are loaded.
    SetLoadedAccountsDataSizeLimit(u32),
}

impl<'a> Instruction<'a> {
    /// What it does.
    pub fn act(&self) -> Act<'a> {
        self.read().unwrap_or(Act::Undecoded)
    }

    /// What it does; nothing if it should be one of the System program or a transfer of tokens, and is not.
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

    /// The making of an account, whether or not it must be new.
    fn associated_token(&self) -> Option<Act<'a>> {
        let account = |place: usize| self.account(place);
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
