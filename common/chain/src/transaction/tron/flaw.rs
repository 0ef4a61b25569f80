//! Why bytes are no transaction of Tron that can be signed.

/// Why bytes are no unsigned transaction, or none that the key at hand signs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// They cannot be read. Holds where the reading ended.
    #[error("{0}")]
    Malformed(String),
    /// They can be read, and would be written in another way: members that are not read here, members in another order or
    /// more than once, numbers that are longer than they need be, or what stands for nothing written out.
    #[error("it has members that are not known, or is not written the one way there is")]
    NotCanonical,
    /// It has none or several contracts. The network takes one.
    #[error("it has {0} contracts instead of one")]
    Contracts(usize),
    /// Its contract is of a type, here by its number, that is not read here.
    #[error("contracts of the type {0} are not supported")]
    Type(i32),
    /// What the contract holds says that it is of another type, or there is nothing.
    #[error("the parameter of its contract is not of the type of the contract")]
    Parameter,
    /// The named member is no address: 21 bytes, of which the first is `41`.
    #[error("{0} is not an address")]
    Address(&'static str),
    /// The named member is below zero.
    #[error("{0} is negative")]
    Negative(&'static str),
    /// The number of its resource is neither that of bandwidth nor that of energy.
    #[error("resource {0} is not known")]
    Resource(i32),
    /// A permission, here by its name in the contract, is of another type, has too many keys, or has allowed operations that
    /// do not fit its type.
    #[error("{0} is not such a permission")]
    Permission(&'static str),
    /// It has more active permissions than an account can have.
    #[error("it has {0} active permissions")]
    Actives(usize),
    /// The account is not that of the key, and no active permission is named under which others sign.
    #[error("owner_address is not the address of the key")]
    Owner,
}
