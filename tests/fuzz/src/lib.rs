//! What must come back, whatever bytes it is given: one module and one row of [`TARGETS`] for each reader of foreign bytes.
//!
//! A target turns bytes into arguments, calls the product and asserts what holds for every input. It reads no clock, no file
//! and no randomness, so that the same bytes always do the same. Who makes the bytes is not its concern: the smoke run of
//! `cargo test` mutates the committed cases, `make fuzz` follows coverage.

mod address_text;
mod bundle;
mod contract;
mod contract_abi;
mod contract_idl;
mod digits;
mod flaw;
mod mnemonic;
mod policy_evaluate;
mod policy_parse;
mod policy_selectors;
mod request;
mod transaction_bitcoin;
mod transaction_ethereum;
mod transaction_solana;
mod transaction_tron;
mod typed_data;

/// A function that returns for any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, which is also that of its folder in `assets/corpora/`.
    pub name: &'static str,
    /// The function. It panics when something does not hold, and that is a finding.
    pub run: fn(&[u8]),
}

/// All targets, in alphabetical order.
pub const TARGETS: &[Target] = &[
    Target { name: "address_text", run: address_text::run },
    Target { name: "bundle", run: bundle::run },
    Target { name: "contract_abi", run: contract_abi::run },
    Target { name: "contract_idl", run: contract_idl::run },
    Target { name: "mnemonic", run: mnemonic::run },
    Target { name: "policy_evaluate", run: policy_evaluate::run },
    Target { name: "policy_parse", run: policy_parse::run },
    Target { name: "policy_selectors", run: policy_selectors::run },
    Target { name: "transaction_bitcoin", run: transaction_bitcoin::run },
    Target { name: "transaction_ethereum", run: transaction_ethereum::run },
    Target { name: "transaction_solana", run: transaction_solana::run },
    Target { name: "transaction_tron", run: transaction_tron::run },
    Target { name: "typed_data", run: typed_data::run },
];

/// The target of that name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
