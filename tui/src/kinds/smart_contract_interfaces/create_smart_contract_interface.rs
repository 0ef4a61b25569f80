//! Adds the interface of a smart contract.

use sha2::{Digest as _, Sha256};

use crate::kinds::prelude::*;
use crate::text::{grouped, has_hidden};

/// Longest interface text that is shown unabridged, in bytes.
const SHOWN_BYTES: usize = 1000;
/// The member that holds the text.
const TEXT: &str = "smartContractInterface";

pub(super) const KIND: Kind = Kind {
    abridged: &[(TEXT, abridged)],
    is_abridged_for_length: true,
    ..Kind::new("CREATE_SMART_CONTRACT_INTERFACE", "Create contract interface", describe)
};

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let address = parameters.text("smartContractAddress")?;
    let text = parameters.text(TEXT)?;
    let label = parameters.text("label")?;
    let kind = parameters.text("type")?;
    let mut description = Description::new(
        format!("{} of {}", quoted(label), clean(address)),
        format!(
            "Add the interface {} of the {} contract {}: {} bytes of text, used to decode calls of the \
             contract.",
            quoted(label),
            network(kind),
            clean(address),
            text.len()
        ),
    );
    description.fact("size of the interface", format!("{} bytes", text.len()));
    description
        .fact("SHA-256 of the interface, computed here", grouped(&const_hex::encode(Sha256::digest(text))));
    let interfaces = &context.organization.smart_contract_interfaces;
    description.change_added("interfaces", interfaces.len(), 1);
    description.flag_medium(
        "interface-of-proposer",
        "A wrong interface describes later calls wrongly. Compare the SHA-256 with that of the \
         contract's authors.",
    );
    if interfaces
        .iter()
        .any(|one| one.interface_type == kind && one.smart_contract_address.eq_ignore_ascii_case(address))
    {
        description.flag_medium(
            "same-address",
            "Calls may be decoded differently than today: this contract already has an interface.",
        );
    }
    // Line breaks and tabs are normal in such a text and are not drawn.
    let hidden = text.split(['\n', '\r', '\t']).any(has_hidden);
    if hidden && text.len() > SHOWN_BYTES {
        description.flag_medium(
            "hidden-characters",
            "The interface may differ from what you see: it contains invisible characters.",
        );
    }
    Ok(description)
}

fn abridged(text: &str) -> Option<String> {
    (text.len() > SHOWN_BYTES)
        .then(|| format!("{} bytes, identified by their SHA-256; see the raw bytes", text.len()))
}

/// Returns the network of a contract type for people.
fn network(kind: &str) -> String {
    match kind {
        "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM" => "Ethereum".to_owned(),
        "SMART_CONTRACT_INTERFACE_TYPE_SOLANA" => "Solana".to_owned(),
        other => clean(other),
    }
}
