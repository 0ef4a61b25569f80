//! Parses any text as a mnemonic sentence. An accepted mnemonic has one phrase per language, and only the
//! English phrase is accepted.

use quorate_chain::mnemonic::{Mnemonic, MnemonicLanguage};

pub(crate) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(mnemonic) = Mnemonic::parse(&text) else { return };
    let entropy = mnemonic.entropy();
    assert!(matches!(entropy.len(), 16 | 20 | 24 | 28 | 32), "the entropy has a length of BIP-39");
    let is_same = |other: &Mnemonic| *other.entropy() == *entropy;
    let phrase = mnemonic.phrase();
    assert!(Mnemonic::parse(&phrase).is_ok_and(|parsed| is_same(&parsed)), "{}", *phrase);
    assert!(
        Mnemonic::from_entropy(&entropy)
            .is_ok_and(|restored| is_same(&restored) && restored.phrase() == phrase)
    );
    for language in MnemonicLanguage::ALL.iter().copied().filter(|one| *one != MnemonicLanguage::English) {
        let translated = mnemonic.phrase_in(language);
        let words = translated.split(char::is_whitespace).count();
        assert_eq!(words, phrase.split(' ').count(), "{}", *translated);
        assert!(Mnemonic::parse(&translated).map_or(true, |parsed| !is_same(&parsed)), "{}", *translated);
    }
}
