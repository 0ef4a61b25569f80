//! Any text as a key that something is encrypted to, and as something encrypted. What is read is written and read again, and
//! opens with one key at most.

use quorate_common::bundle::{Sealed, TargetKey, TargetPublicKey};

/// What the keys are made of that bundles of the corpus are encrypted to.
const MATERIAL: u8 = 7;

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(key) = TargetPublicKey::parse(&text) {
        assert_eq!(TargetPublicKey::parse(&key.hex()).as_ref(), Ok(&key), "a point has one long form");
    }
    if let Ok(sealed) = Sealed::parse(&text) {
        assert_eq!(again(&sealed).as_ref(), Ok(&sealed), "what is read is written and read again");
        let opens = |material| TargetKey::generate(&mut |bytes| bytes.fill(material)).open(&sealed).is_ok();
        assert!(!opens(MATERIAL) || !opens(MATERIAL + 1), "a bundle opens for one key only");
    }
}

fn again(sealed: &Sealed) -> Result<Sealed, String> {
    let json = sealed.to_json().map_err(|error| error.to_string())?;
    Sealed::parse(&json).map_err(|flaw| flaw.to_string())
}
