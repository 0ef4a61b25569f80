//! Signs several payloads that the asker chose, with one key.

use super::payload::{self, Coding, Given};
use super::scene::count;
use super::transaction::Key;
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
        let coding = Coding::of(parameters)?;
        let payloads = parameters.texts("payloads")?.into_iter().zip(1..);
        let payloads: Vec<Given<'_>> =
            payloads.map(|(payload, number)| coding.given(payload, Some(number))).collect();
        let with = parameters.text("signWith")?;
        let (signer, key) = (scene.signer_named(with), Key::of(with, scene));
        let told: Vec<String> = payloads.iter().map(Given::told).collect();
        let number = count(payloads.len(), "payload");
        let sentence = format!("Sign {number} with {signer}: {}. {}", told.join("; "), coding.hash_told());
        let mut story = Story::new(format!("{number} with {signer}"), sentence);
        for payload in &payloads {
            payload.tell(&signer, &key, scene, &mut story);
        }
        payload::flags(&coding, &payloads, &mut story);
        Ok(story)
    }
}
