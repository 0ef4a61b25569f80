//! What can be asked about something that is signed, apart from who asks.
//!
//! Knows no policy language: whoever judges puts these into its own form.

/// Something that is known about what is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A text that compares letter by letter.
    Text(String),
    /// A text that compares without regard to the case of ASCII letters, such as an address of Ethereum.
    Folded(String),
    /// A number from 0 on, big-endian.
    Number([u8; 32]),
    /// Members by their names. What a thing does not have is left out.
    Record(Vec<(&'static str, Fact)>),
}
