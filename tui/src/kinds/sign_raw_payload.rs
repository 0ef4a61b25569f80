//! Signs one payload that the asker chose.

use super::payload::{self, Coding};
use super::transaction::Key;
use super::{Kind, Reader, Scene, Story, Undecodable, Version};

pub(super) struct SignRawPayload;

impl Kind for SignRawPayload {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD",
                intent: "signRawPayloadIntent",
                shape: "privateKeyId payload encoding hashFunction",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
                intent: "signRawPayloadIntentV2",
                shape: "signWith payload encoding hashFunction",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Sign raw payload"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Story, Undecodable> {
        let with = match parameters.maybe_text("signWith")? {
            Some(with) => with,
            None => parameters.text("privateKeyId")?,
        };
        let coding = Coding::of(parameters)?;
        let payload = coding.given(parameters.text("payload")?, None);
        let signer = scene.signer_named(with);
        let sentence = format!("Sign {} with {signer}. {}", payload.told(), coding.hash_told());
        let mut story = Story::new(format!("{} with {signer}", payload.brief()), sentence);
        payload.tell(&signer, &Key::of(with, scene), scene, &mut story);
        payload::flags(&coding, &[payload], &mut story);
        Ok(story)
    }
}
