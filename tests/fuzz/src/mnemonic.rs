//! Any text as a mnemonic sentence. What is read is spelled in one way in each language, and none but the English one is read.

use quorate_chain::mnemonic::{Mnemonic, MnemonicLanguage};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(mnemonic) = Mnemonic::parse(&text) else { return };
    let entropy = mnemonic.entropy();
    assert!(matches!(entropy.len(), 16 | 20 | 24 | 28 | 32), "lengths of BIP-39");
    let is_it = |other: &Mnemonic| *other.entropy() == *entropy;
    let phrase = mnemonic.phrase();
    assert!(Mnemonic::parse(&phrase).is_ok_and(|read| is_it(&read)), "{}", *phrase);
    assert!(Mnemonic::from_entropy(&entropy).is_ok_and(|made| is_it(&made) && made.phrase() == phrase));
    for language in MnemonicLanguage::ALL.iter().copied().filter(|one| *one != MnemonicLanguage::English) {
        let foreign = mnemonic.phrase_in(language);
        assert_eq!(foreign.split(char::is_whitespace).count(), phrase.split(' ').count(), "{}", *foreign);
        assert!(Mnemonic::parse(&foreign).map_or(true, |read| !is_it(&read)), "{}", *foreign);
    }
}
