//! Parses any text as a target public key and as an encrypted bundle. An accepted bundle survives a round
//! trip and opens with at most one key.

use quorate_common::bundle::{Sealed, TargetKey, TargetPublicKey};

/// The byte that fills the key material of the target key of the bundles in the corpus.
const MATERIAL: u8 = 7;

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(key) = TargetPublicKey::parse(&text) {
        assert_eq!(
            TargetPublicKey::parse(&key.hex()).as_ref(),
            Ok(&key),
            "the uncompressed encoding of a point is unique"
        );
    }
    if let Ok(sealed) = Sealed::parse(&text) {
        assert_eq!(round_trip(&sealed).as_ref(), Ok(&sealed), "a bundle survives a round trip");
        let opens = |material| TargetKey::generate(&mut |bytes| bytes.fill(material)).open(&sealed).is_ok();
        assert!(!opens(MATERIAL) || !opens(MATERIAL + 1), "a bundle opens with one key only");
    }
}

fn round_trip(sealed: &Sealed) -> Result<Sealed, String> {
    let json = sealed.to_json().map_err(|error| error.to_string())?;
    Sealed::parse(&json).map_err(|error| error.to_string())
}
