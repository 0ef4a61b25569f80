//! Adds the interface of a smart contract.

use sha2::{Digest as _, Sha256};

use super::{Kind, Level, Reader, Scene, Story, Undecodable, Version};
use crate::text::{clean, grouped, has_hidden, quoted};

/// Longest text of an interface that is shown as it stands, in bytes.
const SHOWN_BYTES: usize = 1000;
/// The member that holds the text.
const TEXT: &str = "smartContractInterface";

pub(super) struct CreateSmartContractInterface;

impl Kind for CreateSmartContractInterface {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE",
            intent: "createSmartContractInterfaceIntent",
            shape: "smartContractAddress smartContractInterface type label notes",
        }]
    }

    fn title(&self) -> &'static str {
        "Create contract interface"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let address = parameters.text("smartContractAddress")?;
        let text = parameters.text(TEXT)?;
        let label = parameters.text("label")?;
        let kind = parameters.text("type")?;
        let mut story = Story::new(
            format!("{} of {}", quoted(label), clean(address)),
            format!(
                "Add the interface {} of the {} contract {}: {} bytes of text, by which calls of the contract are read.",
                quoted(label),
                network(kind),
                clean(address),
                text.len()
            ),
        );
        story.fact("size of the interface", format!("{} bytes", text.len()));
        story.fact(
            "SHA-256 of the interface, computed here",
            grouped(&const_hex::encode(Sha256::digest(text))),
        );
        let interfaces = &scene.organization.smart_contract_interfaces;
        let before = interfaces.len();
        story.change("interfaces", before.to_string(), before.saturating_add(1).to_string(), "");
        story.flag(
            Level::Med,
            "interface-of-asker",
            "a wrong interface tells calls in wrong words: compare the SHA-256 with one from the contract's makers",
        );
        if interfaces
            .iter()
            .any(|one| one.interface_type == kind && one.smart_contract_address.eq_ignore_ascii_case(address))
        {
            story.flag(Level::Med, "same-address", "there is an interface of this contract already");
        }
        // Line breaks and tabs lay out such a text; it is not drawn with them.
        let hidden = text.split(['\n', '\r', '\t']).any(has_hidden);
        if hidden && text.len() > SHOWN_BYTES {
            story.flag(Level::Med, "hidden-characters", "the interface holds characters that do not show");
        }
        Ok(story)
    }

    fn abridged(&self, member: &str, text: &str) -> Option<String> {
        (member == TEXT && text.len() > SHOWN_BYTES)
            .then(|| format!("{} bytes, told by their SHA-256; the raw bytes hold them", text.len()))
    }
}

/// What kind of contract, in words.
fn network(kind: &str) -> String {
    match kind {
        "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM" => "Ethereum".to_owned(),
        "SMART_CONTRACT_INTERFACE_TYPE_SOLANA" => "Solana".to_owned(),
        other => clean(other),
    }
}
