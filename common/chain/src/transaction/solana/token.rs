//! Instructions of the Token program and of Token-2022, which share their lower instruction numbers.
//!
//! Trailing bytes of an instruction are ignored, as the programs ignore them.

use super::Instruction;

/// Addresses of the programs.
pub(super) const PROGRAMS: [&str; 2] =
    ["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"];

/// Instruction number of the transfer fee extension (Token-2022), and the number of the transfer within it.
const TRANSFER_WITH_FEE: (u8, u8) = (26, 1);

/// An instruction of a token program. Accounts are as in [`Instruction::accounts`], amounts in the smallest
/// unit of the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Transfers tokens.
    Transfer(TokenTransfer<'a>),
    /// Allows a delegate to transfer tokens.
    Approve {
        /// Token account.
        account: &'a str,
        /// Key that may transfer tokens.
        delegate: &'a str,
        /// Maximum amount.
        amount: u64,
        /// Mint and its decimals, if the instruction states them.
        mint: Option<(&'a str, u8)>,
    },
    /// Revokes the delegate of a token account.
    Revoke {
        /// Token account.
        account: &'a str,
    },
    /// Changes an authority of a token account or a mint.
    SetAuthority {
        /// Token account or mint.
        account: &'a str,
        /// Type of the authority (`AuthorityType`).
        kind: u8,
        /// New authority in base58, or `None` if the authority is removed.
        authority: Option<String>,
    },
    /// Mints tokens.
    MintTo {
        /// Mint of the token.
        mint: &'a str,
        /// Receiving token account.
        to: &'a str,
        /// Minted amount.
        amount: u64,
        /// Decimals of the mint, if the instruction states them.
        decimals: Option<u8>,
    },
    /// Burns tokens.
    Burn {
        /// Token account.
        account: &'a str,
        /// Mint of the token.
        mint: &'a str,
        /// Burned amount.
        amount: u64,
        /// Decimals of the mint, if the instruction states them.
        decimals: Option<u8>,
    },
    /// Closes a token account and transfers its lamports.
    CloseAccount {
        /// Token account.
        account: &'a str,
        /// Account that receives the lamports.
        to: &'a str,
    },
    /// Freezes a token account, so that its tokens cannot be transferred.
    FreezeAccount {
        /// Token account.
        account: &'a str,
    },
    /// Unfreezes a token account.
    ThawAccount {
        /// Token account.
        account: &'a str,
    },
    /// Updates the token balance of an account to its lamports (wrapped SOL).
    SyncNative {
        /// Token account.
        account: &'a str,
    },
}

/// A token transfer. Accounts are as in [`Instruction::accounts`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenTransfer<'a> {
    /// Sending token account.
    pub from: &'a str,
    /// Receiving token account.
    pub to: &'a str,
    /// Owner of `from`, or a delegate.
    pub owner: &'a str,
    /// Remaining accounts: the signers if `owner` is a multisig account.
    pub signers: Vec<&'a str>,
    /// Amount in the smallest unit of the token.
    pub amount: u64,
    /// Mint and its decimals, if the instruction states them.
    pub mint: Option<(&'a str, u8)>,
    /// Fee that is withheld from the amount, if the instruction states it.
    pub fee: Option<u64>,
}

/// Returns whether the data is that of a transfer.
pub(super) fn is_transfer(data: &[u8]) -> bool {
    matches!(data, [3 | 12, ..]) || data.starts_with(&[TRANSFER_WITH_FEE.0, TRANSFER_WITH_FEE.1])
}

/// Decodes an instruction. Returns `None` if it is not one of [`Token`] or is incomplete.
pub(super) fn read(instruction: Instruction<'_>) -> Option<Token<'_>> {
    let account = |index: usize| instruction.account(index);
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
            let (amount, decimals) = amount_and_decimals(*number == 14, rest)?;
            Token::MintTo { mint: account(0)?, to: account(1)?, amount, decimals }
        }
        8 | 15 => {
            let (amount, decimals) = amount_and_decimals(*number == 15, rest)?;
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

/// Decodes an amount, and the decimals if the instruction is a checked one.
fn amount_and_decimals(is_checked: bool, data: &[u8]) -> Option<(u64, Option<u8>)> {
    let (amount, rest) = amount(data)?;
    if is_checked { Some((amount, Some(*rest.first()?))) } else { Some((amount, None)) }
}
