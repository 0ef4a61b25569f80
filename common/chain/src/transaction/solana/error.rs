//! Errors of Solana transactions.

/// Maximum length of a transaction in bytes: the payload of an IPv6 packet of minimum MTU
/// (`PACKET_DATA_SIZE`).
pub(super) const MAX_BYTES: usize = 1_232;
/// Maximum number of accounts: instructions refer to an account by one byte.
pub(super) const MAX_ACCOUNTS: usize = 256;

/// Error returned for bytes that are not a transaction that the key can sign. Indexes are counted from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolanaError {
    /// The bytes do not fit into one packet.
    #[error("longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The message has an unsupported version. Holds the version.
    #[error("unknown message version {0}")]
    Version(u8),
    /// The bytes end before the message does.
    #[error("unexpected end of data")]
    UnexpectedEnd,
    /// The bytes cannot be decoded. Holds the error of the library.
    #[error("{0}")]
    Malformed(String),
    /// Bytes follow the message.
    #[error("bytes follow the message")]
    Trailing,
    /// The library would encode the transaction differently.
    #[error("not in canonical form")]
    NotCanonical,
    /// The number of signature slots is not the number of required signers.
    #[error("number of signature slots ({slots}) differs from the number of required signers ({signers})")]
    SignatureCount {
        /// Number of signature slots.
        slots: usize,
        /// Number of signers that the message requires.
        signers: usize,
    },
    /// The header counts more accounts than there are.
    #[error("header counts more accounts than the message has")]
    Header,
    /// No signer is writable, so that none can pay the fee.
    #[error("no fee payer: no signer is writable")]
    FeePayer,
    /// A static account is duplicated. Holds the index of the duplicate.
    #[error("account_keys[{0}]: duplicate account")]
    DuplicateKey(usize),
    /// A lookup table is duplicated. Holds the index of the duplicate.
    #[error("address_table_lookups[{0}]: duplicate lookup table")]
    DuplicateTable(usize),
    /// A lookup table has no indexes. Holds the index of the table.
    #[error("address_table_lookups[{0}]: no account is looked up")]
    EmptyTable(usize),
    /// There are more accounts than instructions can refer to.
    #[error("more than {MAX_ACCOUNTS} accounts")]
    Accounts,
    /// An instruction refers to a missing account. Holds the index of the instruction.
    #[error("instructions[{0}]: refers to an account that does not exist")]
    Account(usize),
    /// An instruction calls a program that is not a static account. Holds the index of the instruction.
    #[error("instructions[{0}]: the program is not among the static accounts")]
    Program(usize),
    /// An instruction calls the fee payer as a program. Holds the index of the instruction.
    #[error("instructions[{0}]: calls the fee payer as a program")]
    CallsFeePayer(usize),
    /// An instruction of the System program or a token transfer cannot be decoded. Holds the index of the
    /// instruction.
    #[error("instructions[{0}]: cannot be decoded as an instruction of its program, or has too few accounts")]
    Instruction(usize),
    /// The transaction does not require a signature of the key.
    #[error("the key is not a required signer")]
    Signer,
}
