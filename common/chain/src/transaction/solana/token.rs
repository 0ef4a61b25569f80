//! Instructions of the Token program and of Token-2022, which share their first numbers.
//!
//! Bytes behind the end of an instruction do not matter, as they do not to the programs.

use super::Instruction;

/// The keys of the programs.
pub(super) const PROGRAMS: [&str; 2] =
    ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"];

/// Number of the instructions about fees of transfers (Token-2022), and that of the transfer among them.
const TRANSFER_WITH_FEE: (u8, u8) = (26, 1);

/// An instruction of a token program. Accounts are as in [`Instruction::accounts`], amounts in the smallest parts of the
/// token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Moves tokens.
    Transfer(TokenTransfer<'a>),
    /// Lets another move tokens.
    Approve {
        /// The account of the tokens.
        account: &'a str,
        /// Who may move them.
        delegate: &'a str,
        /// At most so many.
        amount: u64,
        /// The token and its decimals, where they are named.
        mint: Option<(&'a str, u8)>,
    },
    /// Takes that back.
    Revoke {
        /// The account of the tokens.
        account: &'a str,
    },
    /// Hands over the control of an account or of a token.
    SetAuthority {
        /// The account, or the token.
        account: &'a str,
        /// What may be done with it (`AuthorityType`).
        kind: u8,
        /// Who may from then on, in base58; nobody if it is given up.
        authority: Option<String>,
    },
    /// Makes tokens.
    MintTo {
        /// The token.
        mint: &'a str,
        /// The account that gets them.
        to: &'a str,
        /// How many.
        amount: u64,
        /// Its decimals, where they are named.
        decimals: Option<u8>,
    },
    /// Destroys tokens.
    Burn {
        /// The account of the tokens.
        account: &'a str,
        /// The token.
        mint: &'a str,
        /// How many.
        amount: u64,
        /// Its decimals, where they are named.
        decimals: Option<u8>,
    },
    /// Removes an account of tokens, and moves the lamports that it holds.
    CloseAccount {
        /// The account.
        account: &'a str,
        /// To whom.
        to: &'a str,
    },
    /// Keeps tokens from being moved.
    FreezeAccount {
        /// The account of the tokens.
        account: &'a str,
    },
    /// Lets them be moved again.
    ThawAccount {
        /// The account of the tokens.
        account: &'a str,
    },
    /// Counts the lamports of an account as its tokens.
    SyncNative {
        /// The account.
        account: &'a str,
    },
}

/// A transfer of tokens. Accounts are as in [`Instruction::accounts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenTransfer<'a> {
    /// The account of tokens that they come from.
    pub from: &'a str,
    /// The account of tokens that gets them.
    pub to: &'a str,
    /// Who may move them: who owns `from`, or a delegate.
    pub owner: &'a str,
    /// What follows these accounts: who signs for `owner`, if that is several.
    pub signers: Vec<&'a str>,
    /// How many, in the smallest parts of the token.
    pub amount: u64,
    /// The token and its decimals, where they are named.
    pub mint: Option<(&'a str, u8)>,
    /// What is kept back of the amount, where that is named.
    pub fee: Option<u64>,
}

/// Whether the data are those of a transfer.
pub(super) fn is_transfer(data: &[u8]) -> bool {
    matches!(data, [3 | 12, ..]) || data.starts_with(&[TRANSFER_WITH_FEE.0, TRANSFER_WITH_FEE.1])
}

/// The instruction, if it is one of those above and complete.
pub(super) fn read(instruction: Instruction<'_>) -> Option<Token<'_>> {
    let account = |place: usize| instruction.account(place);
    let (number, rest) = instruction.data().split_first()?;
    Some(match number {
        3 | 12 | 26 => Token::Transfer(transfer(instruction)?),
        4 => {
            let (account, delegate) = (account(0)?, account(1)?);
            Token::Approve { account, delegate, amount: amount(rest)?.0, mint: None }
        }
        13 => {
            let (amount, rest) = amount(rest)?;
            let mint = Some((account(1)?, *rest.first()?));
            Token::Approve { account: account(0)?, delegate: account(2)?, amount, mint }
        }
        5 => Token::Revoke { account: account(0)? },
        6 => {
            let (kind, rest) = rest.split_first()?;
            let authority = match rest.split_first()? {
                (0, _) => None,
                (1, key) => Some(bs58::encode(key.first_chunk::<32>()?).into_string()),
                _ => return None,
            };
            Token::SetAuthority { account: account(0)?, kind: *kind, authority }
        }
        7 | 14 => {
            let (amount, decimals) = counted(*number == 14, rest)?;
            Token::MintTo { mint: account(0)?, to: account(1)?, amount, decimals }
        }
        8 | 15 => {
            let (amount, decimals) = counted(*number == 15, rest)?;
            Token::Burn { account: account(0)?, mint: account(1)?, amount, decimals }
        }
        9 => Token::CloseAccount { account: account(0)?, to: account(1)? },
        10 => Token::FreezeAccount { account: account(0)? },
        11 => Token::ThawAccount { account: account(0)? },
        17 => Token::SyncNative { account: account(0)? },
        _ => return None,
    })
}

fn transfer(instruction: Instruction<'_>) -> Option<TokenTransfer<'_>> {
    let mut accounts = instruction.accounts();
    let (number, rest) = instruction.data().split_first()?;
    let from = accounts.next()?;
    let (amount, mint, fee) = match number {
        3 => (amount(rest)?.0, None, None),
        12 => {
            let (amount, rest) = amount(rest)?;
            (amount, Some((accounts.next()?, *rest.first()?)), None)
        }
        _ => {
            let (amount, rest) = amount(rest.strip_prefix(&[TRANSFER_WITH_FEE.1])?)?;
            let (decimals, rest) = rest.split_first()?;
            (amount, Some((accounts.next()?, *decimals)), Some(self::amount(rest)?.0))
        }
    };
    let (to, owner) = (accounts.next()?, accounts.next()?);
    Some(TokenTransfer { from, to, owner, signers: accounts.collect(), amount, mint, fee })
}

fn amount(data: &[u8]) -> Option<(u64, &[u8])> {
    let (bytes, rest) = data.split_first_chunk()?;
    Some((u64::from_le_bytes(*bytes), rest))
}

/// An amount, and the decimals if they must follow.
fn counted(is_checked: bool, data: &[u8]) -> Option<(u64, Option<u8>)> {
    let (amount, rest) = amount(data)?;
    if is_checked { Some((amount, Some(*rest.first()?))) } else { Some((amount, None)) }
}
