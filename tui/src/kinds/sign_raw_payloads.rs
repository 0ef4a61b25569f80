//! Signs several payloads that the proposer chose, with one key.

use super::payload::{self, Coding, ParsedPayload};
use super::scene::count;
use super::transaction::Key;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct SignRawPayloads;

impl Kind for SignRawPayloads {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS",
            intent: "signRawPayloadsIntent",
            schema: "signWith payloads[] encoding hashFunction",
        }]
    }

    fn title(&self) -> &'static str {
        "Sign raw payloads"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let coding = Coding::of(parameters)?;
        let payloads = parameters.texts("payloads")?.into_iter().zip(1..);
        let payloads: Vec<ParsedPayload<'_>> =
            payloads.map(|(payload, number)| coding.parse(payload, Some(number))).collect();
        let with = parameters.text("signWith")?;
        let (signer, key) = (scene.signer_named(with), Key::of(with, scene));
        let described: Vec<String> = payloads.iter().map(ParsedPayload::describe).collect();
        let number = count(payloads.len(), "payload");
        let sentence =
            format!("Sign {number} with {signer}: {}. {}", described.join("; "), coding.hash_sentence());
        let mut description = Description::new(format!("{number} with {signer}"), sentence);
        for payload in &payloads {
            payload.add_details(&signer, &key, scene, &mut description);
        }
        payload::flags(&coding, &payloads, &mut description);
        Ok(description)
    }
}
