//! The description of one instruction.

use quorate_chain::transaction::solana::LOOKED_UP;

/// Why an instruction is dangerous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Warning {
    /// It assigns an account to a program.
    Assigns,
    /// It gives others control of an account, a token or a nonce.
    Authority,
    /// It lets others move tokens.
    Approval,
    /// It closes a token account.
    Closes,
    /// Its effect is unknown.
    Undecoded,
    /// Only an interface describes its effect.
    Stated,
}

impl Warning {
    /// All variants, worst first.
    pub(super) const ALL: &'static [Self] =
        &[Self::Assigns, Self::Authority, Self::Approval, Self::Closes, Self::Undecoded, Self::Stated];

    /// Returns the name of the flag, its text, and the word to type.
    pub(super) fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Assigns => (
                "assigns-account",
                "Gives an account to a program, which can then take what it holds",
                "ASSIGN",
            ),
            Self::Authority => (
                "hands-over-authority",
                "Gives others control of an account, a token or a nonce",
                "AUTHORITY",
            ),
            Self::Approval => ("token-approval", "Lets others move tokens from then on", "APPROVAL"),
            Self::Closes => ("closes-account", "Closes a token account and sends its SOL away", "CLOSE"),
            Self::Undecoded => (
                "unknown-call",
                "May do anything, because it calls a program that is not decoded here",
                "UNDECODED",
            ),
            Self::Stated => (
                "unknown-call",
                "May do something else, because only an interface that the daemon states [s] describes the \
                 call",
                "STATED",
            ),
        }
    }
}

/// The description of an instruction.
pub(super) struct InstructionDescription<'a> {
    /// Summary of a few words, for lists.
    pub(super) brief: String,
    /// Effect as a clause that starts with a verb.
    pub(super) what: String,
    /// Further facts: name and value.
    pub(super) details: Vec<(&'static str, String)>,
    /// Account that receives something.
    pub(super) to: Option<&'a str>,
    /// Called program, in base58.
    pub(super) program: &'a str,
    /// Why it is dangerous, if it is.
    pub(super) warning: Option<Warning>,
    /// Amount of SOL that it moves, in lamports.
    pub(super) lamports: u64,
}

impl<'a> InstructionDescription<'a> {
    /// Creates a description without details. Its program is set afterwards.
    pub(super) fn new(brief: impl Into<String>, what: String) -> Self {
        let (details, brief) = (Vec::new(), brief.into());
        Self { brief, what, details, to: None, program: "", warning: None, lamports: 0 }
    }

    /// Sets the account that receives something.
    pub(super) fn to(self, account: &'a str) -> Self {
        Self { to: Some(account), ..self }
    }

    /// Sets why it is dangerous.
    pub(super) fn warning(self, warning: Warning) -> Self {
        Self { warning: Some(warning), ..self }
    }
}

/// Returns an account as text. An account from a lookup table has no key in the bytes.
pub(super) fn named(account: &str) -> String {
    if account == LOOKED_UP { "an account from a lookup table".to_owned() } else { account.to_owned() }
}
