//! Signs one payload that the proposer chose.

use super::payload::{self, Coding};
use super::transaction::Key;
use super::{Description, Kind, Reader, Scene, Undecodable, Version};

pub(super) struct SignRawPayload;

impl Kind for SignRawPayload {
    fn versions(&self) -> &'static [Version] {
        &[
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD",
                intent: "signRawPayloadIntent",
                schema: "privateKeyId payload encoding hashFunction",
            },
            Version {
                activity_type: "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2",
                intent: "signRawPayloadIntentV2",
                schema: "signWith payload encoding hashFunction",
            },
        ]
    }

    fn title(&self) -> &'static str {
        "Sign raw payload"
    }

    fn describe(&self, parameters: &Reader<'_>, scene: &Scene<'_>) -> Result<Description, Undecodable> {
        let with = match parameters.maybe_text("signWith")? {
            Some(with) => with,
            None => parameters.text("privateKeyId")?,
        };
        let coding = Coding::of(parameters)?;
        let payload = coding.parse(parameters.text("payload")?, None);
        let signer = scene.signer_named(with);
        let sentence = format!("Sign {} with {signer}. {}", payload.describe(), coding.hash_sentence());
        let mut description = Description::new(format!("{} with {signer}", payload.brief()), sentence);
        payload.add_details(&signer, &Key::of(with, scene), scene, &mut description);
        payload::flags(&coding, &[payload], &mut description);
        Ok(description)
    }
}
