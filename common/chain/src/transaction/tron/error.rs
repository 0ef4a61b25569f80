//! Errors of Tron transactions.

/// Error returned for bytes that are not an unsigned transaction that the key can sign.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TronError {
    /// The bytes cannot be decoded. Holds the error of the library.
    #[error("{0}")]
    Malformed(String),
    /// The encoding is not canonical: it has unknown fields, fields out of order or repeated, numbers longer
    /// than necessary, or explicit default values.
    #[error("unknown fields, or not in canonical form")]
    NotCanonical,
    /// There is not exactly one contract, which the network requires. Holds the number of contracts.
    #[error("expected one contract, but the transaction has {0}")]
    Contracts(usize),
    /// The type of the contract is not supported. Holds its number.
    #[error("unsupported contract type {0}")]
    Type(i32),
    /// The parameter of the contract is missing or has another type than the contract.
    #[error("contract parameter is missing or does not match the contract type")]
    Parameter,
    /// The named field is not an address: 21 bytes, of which the first is `41`.
    #[error("{0} is not an address")]
    Address(&'static str),
    /// The named field is negative.
    #[error("{0} is negative")]
    Negative(&'static str),
    /// The resource is neither bandwidth nor energy. Holds its number.
    #[error("unknown resource {0}")]
    Resource(i32),
    /// A permission has another type than its field, too many keys, or operations that its type does not
    /// allow. Holds the name of the field.
    #[error("{0} is not a valid permission")]
    Permission(&'static str),
    /// There are more active permissions than an account can have. Holds their number.
    #[error("too many active permissions: {0}")]
    Actives(usize),
    /// The account does not belong to the key, and the transaction names no active permission, under which
    /// other keys can sign.
    #[error("owner_address is not the address of the key")]
    Owner,
}
