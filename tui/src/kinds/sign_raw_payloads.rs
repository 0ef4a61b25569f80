//! Signs several payloads that the asker chose, with one key.

use super::scene::count;
use super::sign_raw_payload::Coding;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct SignRawPayloads;

impl Kind for SignRawPayloads {
    fn versions(&self) -> &'static [Version] {
        &[Version {
            activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS",
            intent: "signRawPayloadsIntent",
            shape: "signWith payloads[] encoding hashFunction",
        }]
    }

    fn title(&self) -> &'static str {
        "Sign raw payloads"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let payloads = parameters.texts("payloads")?;
        let coding = Coding::of(parameters)?;
        let signer = scene.signer_named(parameters.text("signWith")?);
        let told: Vec<String> = payloads.iter().map(|payload| coding.told(payload)).collect();
        let number = count(payloads.len(), "payload");
        let sentence = format!("Sign {number} with {signer}: {}. {}", told.join("; "), coding.hash_told());
        let mut story = Story::new(format!("{number} with {signer}"), sentence);
        for (index, payload) in payloads.iter().enumerate() {
            coding.facts(payload, &format!(" {}", index.saturating_add(1)), &mut story);
        }
        coding.flags(&payloads, &mut story);
        Ok(story)
    }
}
