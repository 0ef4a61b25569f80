//! Mnemonic sentences of BIP-39 and the seeds derived from them.
//!
//! Sentences are generated and parsed in English only. They can be written in every language of BIP-39 except
//! Portuguese, which the API does not define. The sentence, its entropy and the seed are wiped when dropped
//! and have no `Debug` implementation.

use std::borrow::Cow;

use bip39::Language;
use schemars::json_schema;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use zeroize::Zeroizing;

use crate::inline_schema::inline_schema;
use crate::wire_name::wire_name;

/// Maximum length of a sentence, in bytes: 24 words of at most 8 letters, with ample white space.
pub const MAX_PHRASE_BYTES: usize = 1024;

/// Maximum length of the entropy in BIP-39, in bytes.
const MAX_ENTROPY_BYTES: usize = 32;

/// Number of words of a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MnemonicLength {
    /// 12 words, 128 bits of entropy.
    #[default]
    Words12 = 12,
    /// 15 words, 160 bits of entropy.
    Words15 = 15,
    /// 18 words, 192 bits of entropy.
    Words18 = 18,
    /// 21 words, 224 bits of entropy.
    Words21 = 21,
    /// 24 words, 256 bits of entropy.
    Words24 = 24,
}

impl MnemonicLength {
    /// All lengths, shortest first.
    pub const ALL: &'static [Self] =
        &[Self::Words12, Self::Words15, Self::Words18, Self::Words21, Self::Words24];

    /// Returns the number of words.
    pub fn words(self) -> u8 {
        self as u8
    }

    /// Returns the length with this number of words.
    pub fn from_words(words: i32) -> Option<Self> {
        Self::ALL.iter().copied().find(|length| i32::from(length.words()) == words)
    }

    /// Returns the length of the entropy in bytes: three words encode 32 bits.
    pub fn entropy_bytes(self) -> usize {
        usize::from(self.words()) / 3 * 4
    }
}

impl Serialize for MnemonicLength {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(i32::from(self.words()))
    }
}

impl<'de> Deserialize<'de> for MnemonicLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = i32::deserialize(deserializer)?;
        Self::from_words(words).ok_or_else(|| D::Error::custom("invalid mnemonic length"))
    }
}

inline_schema!(MnemonicLength, {
    let words: Vec<u8> = Self::ALL.iter().map(|length| length.words()).collect();
    json_schema!({ "type": "integer", "enum": words, "default": Self::default().words() })
});

wire_name! {
    /// Language of a BIP-39 word list.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum MnemonicLanguage: "invalid mnemonic language" {
        /// English.
        #[default]
        English = "MNEMONIC_LANGUAGE_ENGLISH",
        /// Chinese, simplified.
        SimplifiedChinese = "MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE",
        /// Chinese, traditional.
        TraditionalChinese = "MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE",
        /// Czech.
        Czech = "MNEMONIC_LANGUAGE_CZECH",
        /// French.
        French = "MNEMONIC_LANGUAGE_FRENCH",
        /// Italian.
        Italian = "MNEMONIC_LANGUAGE_ITALIAN",
        /// Japanese.
        Japanese = "MNEMONIC_LANGUAGE_JAPANESE",
        /// Korean.
        Korean = "MNEMONIC_LANGUAGE_KOREAN",
        /// Spanish.
        Spanish = "MNEMONIC_LANGUAGE_SPANISH",
    }
}

impl From<MnemonicLanguage> for Language {
    fn from(language: MnemonicLanguage) -> Self {
        match language {
            MnemonicLanguage::English => Self::English,
            MnemonicLanguage::SimplifiedChinese => Self::SimplifiedChinese,
            MnemonicLanguage::TraditionalChinese => Self::TraditionalChinese,
            MnemonicLanguage::Czech => Self::Czech,
            MnemonicLanguage::French => Self::French,
            MnemonicLanguage::Italian => Self::Italian,
            MnemonicLanguage::Japanese => Self::Japanese,
            MnemonicLanguage::Korean => Self::Korean,
            MnemonicLanguage::Spanish => Self::Spanish,
        }
    }
}

/// A mnemonic sentence with a valid checksum.
#[derive(Clone)]
pub struct Mnemonic(bip39::Mnemonic);

impl Mnemonic {
    /// Generates a sentence from the random bytes that `fill` writes.
    ///
    /// # Errors
    /// Errors of the library. No [`MnemonicLength`] causes one.
    pub fn generate(
        length: MnemonicLength,
        fill: &mut dyn FnMut(&mut [u8]),
    ) -> Result<Self, InvalidMnemonic> {
        let mut entropy = Zeroizing::new([0; MAX_ENTROPY_BYTES]);
        let used = entropy.get_mut(..length.entropy_bytes()).ok_or(InvalidMnemonic)?;
        fill(used);
        Self::from_entropy(used)
    }

    /// Creates the sentence that encodes this entropy: 16, 20, 24, 28 or 32 bytes.
    ///
    /// # Errors
    /// [`InvalidMnemonic`] for another number of bytes.
    pub fn from_entropy(entropy: &[u8]) -> Result<Self, InvalidMnemonic> {
        bip39::Mnemonic::from_entropy_in(Language::English, entropy).map(Self).map_err(|_| InvalidMnemonic)
    }

    /// Parses an English sentence in any letter case and with any white space between the words.
    ///
    /// # Errors
    /// [`InvalidMnemonic`] for an unknown word, a number of words that [`MnemonicLength`] does not have, a
    /// wrong checksum, or more than [`MAX_PHRASE_BYTES`].
    pub fn parse(phrase: &str) -> Result<Self, InvalidMnemonic> {
        if phrase.len() > MAX_PHRASE_BYTES {
            return Err(InvalidMnemonic);
        }
        let mut normal = Cow::Borrowed(phrase);
        bip39::Mnemonic::normalize_utf8_cow(&mut normal);
        let mut normal = Zeroizing::new(normal.into_owned());
        normal.make_ascii_lowercase();
        bip39::Mnemonic::parse_in_normalized(Language::English, &normal)
            .map(Self)
            .map_err(|_| InvalidMnemonic)
    }

    /// Returns the entropy that the sentence encodes, without the checksum.
    pub fn entropy(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.to_entropy())
    }

    /// Returns the English words in lower case, separated by one space.
    pub fn phrase(&self) -> Zeroizing<String> {
        self.phrase_in(MnemonicLanguage::English)
    }

    /// Returns the sentence in another language: the words with the same indexes in its word list, which
    /// encode the same entropy.
    ///
    /// The separator is a space, in Japanese an ideographic space (U+3000; BIP-39, word lists). Letters are
    /// decomposed (NFKD) as in the lists. The seed that BIP-39 derives from this sentence differs from that
    /// of the English sentence.
    pub fn phrase_in(&self, language: MnemonicLanguage) -> Zeroizing<String> {
        let words = Language::from(language).word_list();
        let space = if language == MnemonicLanguage::Japanese { '\u{3000}' } else { ' ' };
        // The capacity suffices for the longest sentence. Reallocation would leave unwiped copies.
        let mut phrase = Zeroizing::new(String::with_capacity(MAX_PHRASE_BYTES));
        for word in self.0.word_indices().filter_map(|index| words.get(index)) {
            if !phrase.is_empty() {
                phrase.push(space);
            }
            phrase.push_str(word);
        }
        phrase
    }

    /// Derives the seed from the sentence and a passphrase (BIP-39, "From mnemonic to seed"), with 2048
    /// rounds of HMAC-SHA-512.
    pub fn seed(&self, passphrase: &str) -> Seed {
        Seed(Zeroizing::new(self.0.to_seed(passphrase)))
    }
}

/// The 64 bytes from which every key of a wallet is derived.
#[derive(Clone)]
pub struct Seed(Zeroizing<[u8; 64]>);

impl Seed {
    /// Creates a seed from its bytes.
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        Self(Zeroizing::new(*bytes))
    }

    /// Returns the bytes of the seed.
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

/// Error returned for a text or entropy that is not a mnemonic sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid mnemonic")]
pub struct InvalidMnemonic;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    use super::{InvalidMnemonic, MAX_PHRASE_BYTES, Mnemonic, MnemonicLanguage, MnemonicLength};
    use crate::vectors::rows;

    const ABOUT: &str = "abandon abandon abandon abandon abandon abandon abandon abandon abandon \
                         abandon abandon about";

    #[derive(Deserialize)]
    struct Row {
        entropy: String,
        phrase: String,
        seed: String,
    }

    fn parsed(phrase: &str) -> Mnemonic {
        Mnemonic::parse(phrase).unwrap_or_else(|_| panic!("{phrase}"))
    }

    #[test]
    fn bip39_vectors() {
        let file = include_str!("../../../assets/vectors/derive/bip39.json");
        for row in rows::<Row>(file) {
            let entropy = const_hex::decode(&row.entropy).unwrap();
            let written = Mnemonic::from_entropy(&entropy).unwrap_or_else(|_| panic!("rejected"));
            assert_eq!(*written.phrase(), row.phrase);
            let read = parsed(&row.phrase);
            assert_eq!(*read.entropy(), entropy);
            assert_eq!(const_hex::encode(read.seed("TREZOR").as_bytes()), row.seed);
        }
    }

    #[derive(Deserialize)]
    struct LanguageRow {
        language: MnemonicLanguage,
        entropy: String,
        phrase: String,
    }

    #[test]
    fn sentences_match_the_vectors_of_every_language() {
        let rows = rows::<LanguageRow>(include_str!("../../../assets/vectors/derive/bip39_languages.json"));
        for row in &rows {
            let entropy = const_hex::decode(&row.entropy).unwrap();
            let written = Mnemonic::from_entropy(&entropy).unwrap_or_else(|_| panic!("rejected"));
            assert_eq!(*written.phrase_in(row.language), row.phrase, "{}", row.language);
        }
        for language in MnemonicLanguage::ALL {
            assert_eq!(rows.iter().filter(|row| row.language == *language).count(), 9, "{language}");
        }
    }

    #[test]
    fn generated_sentences_encode_the_drawn_bytes() {
        for length in MnemonicLength::ALL {
            let mut drawn = 0;
            let mut fill = |bytes: &mut [u8]| {
                drawn += bytes.len();
                bytes.fill(0x7f);
            };
            let mnemonic = Mnemonic::generate(*length, &mut fill).unwrap_or_else(|_| panic!());
            assert_eq!(drawn, length.entropy_bytes());
            assert_eq!(*mnemonic.entropy(), vec![0x7f; drawn]);
            let words = mnemonic.phrase().split(' ').count();
            assert_eq!(words, usize::from(length.words()));
        }
    }

    #[test]
    fn spacing_and_case_are_normalized() {
        let spaced = ABOUT.replace(' ', "\t  \n");
        let wide: String = ABOUT.replace("about", "\u{ff41}\u{ff42}out");
        for phrase in [&format!("  {ABOUT}\n"), &spaced, &ABOUT.to_uppercase(), &wide] {
            assert_eq!(*parsed(phrase).phrase(), ABOUT);
        }
    }

    #[test]
    fn rejects_invalid_sentences() {
        let long = " ".repeat(MAX_PHRASE_BYTES) + ABOUT;
        let eleven = ABOUT.replacen("abandon ", "", 1);
        for phrase in [
            "",
            " ",
            // Eleven words, thirteen words, a wrong checksum, an unknown word.
            &eleven,
            &format!("abandon {ABOUT}"),
            &ABOUT.replace("about", "abandon"),
            &ABOUT.replace("about", "quorum"),
            // The words of 128 zero bits in Spanish.
            &("\u{e1}baco ".repeat(11) + "abierto"),
            &long,
        ] {
            assert_eq!(Mnemonic::parse(phrase).err(), Some(InvalidMnemonic), "{phrase}");
        }
        for bytes in [0, 1, 12, 15, 17, 33, 36, 64] {
            assert!(Mnemonic::from_entropy(&vec![0; bytes]).is_err(), "{bytes}");
        }
    }

    #[test]
    fn accepts_five_lengths() {
        assert_eq!(MnemonicLength::default().words(), 12);
        for words in [12, 15, 18, 21, 24] {
            let length: MnemonicLength = serde_json::from_value(json!(words)).unwrap();
            assert_eq!(serde_json::to_value(length).unwrap(), json!(words));
        }
        for words in [json!(0), json!(13), json!(-12), json!(1_i64 << 31), json!("12")] {
            assert!(serde_json::from_value::<MnemonicLength>(words).is_err());
        }
        let error = serde_json::from_value::<MnemonicLength>(json!(13)).unwrap_err();
        assert_eq!(error.to_string(), "invalid mnemonic length");
    }

    proptest! {
        #[test]
        fn entropy_round_trips(bytes in any::<[u8; 32]>(), length in 0..5_usize) {
            let entropy = &bytes[..MnemonicLength::ALL[length].entropy_bytes()];
            let written = Mnemonic::from_entropy(entropy).unwrap_or_else(|_| panic!());
            let phrase = written.phrase();
            let read = parsed(&phrase).entropy();
            prop_assert_eq!(read.as_slice(), entropy);
        }

        #[test]
        fn arbitrary_text_never_panics(text in any::<String>()) {
            let _ = Mnemonic::parse(&text);
        }
    }
}
