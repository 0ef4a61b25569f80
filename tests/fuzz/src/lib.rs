//! Fuzz targets: one module and one entry in [`TARGETS`] for each parser of untrusted bytes.
//!
//! A target converts bytes to arguments, calls the product and asserts properties that hold for every input.
//! It reads no clock, no file and no randomness, so the same bytes always have the same effect. The smoke
//! test of `cargo test` mutates the committed cases; `make fuzz` is guided by coverage.

mod address_text;
mod bundle;
mod contract;
mod contract_abi;
mod contract_idl;
mod digits;
mod expression_error;
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

/// A function that must return for any bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name of the target and of its folder in `assets/corpora/`.
    pub name: &'static str,
    /// Runs the target. A panic is a finding.
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

/// Returns a target by its name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
