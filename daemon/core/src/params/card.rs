//! Billing records: external ids, and numbers of payment cards, whose digits are masked before anything of them
//! is stored.

use quorate_common::bounded::Text;
use quorate_common::inline_schema;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use zeroize::Zeroize;

/// Id of a product or a payment method, which an external billing service assigned.
pub type ExternalId = Text<256>;

/// Replaces a digit that is not stored.
const MASK: char = '*';

/// A text of `MIN` to `MAX` digits, some or all of which may be masked.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct Digits<const MIN: usize, const MAX: usize>(String);

impl<const MIN: usize, const MAX: usize> Digits<MIN, MAX> {
    /// Masks all digits.
    pub fn mask(&mut self) {
        self.mask_all_but(0);
    }

    fn mask_all_but(&mut self, visible: usize) {
        let hidden = self.0.len().saturating_sub(visible);
        let masked: String = (0..)
            .zip(self.0.chars())
            .map(|(index, digit)| if index < hidden { MASK } else { digit })
            .collect();
        self.0.zeroize();
        self.0 = masked;
    }
}

impl<'de, const MIN: usize, const MAX: usize> Deserialize<'de> for Digits<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::<MAX>::deserialize(deserializer)?;
        let text = text.as_str();
        // Stored texts are parsed again with their masked digits.
        let digits = text.trim_start_matches(MASK);
        if text.len() >= MIN && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(de::Error::custom(format!("expected {MIN} to {MAX} digits")))
        }
    }
}

inline_schema!(Digits<const MIN: usize, const MAX: usize>, {"type": "string", "minLength": MIN, "maxLength": MAX});

/// Number of a payment card (ISO/IEC 7812-1), with 12 to 16 digits.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CardNumber(Digits<12, 16>);

impl CardNumber {
    /// Masks all but the last four digits.
    pub fn mask(&mut self) {
        self.0.mask_all_but(4);
    }

    /// Returns the last four digits.
    pub fn last_four(&self) -> &str {
        let number = &self.0.0;
        number.get(number.len().saturating_sub(4)..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn masking_keeps_the_last_four_digits_of_a_number() {
        let mut number: CardNumber = from_value(json!("4242424242421234")).unwrap();
        number.mask();
        assert_eq!(to_value(&number).unwrap(), json!("************1234"));
        assert_eq!(number.last_four(), "1234");
        let mut masked_again: CardNumber = from_value(to_value(&number).unwrap()).unwrap();
        masked_again.mask();
        assert_eq!(to_value(&masked_again).unwrap(), json!("************1234"));
        let mut code: Digits<3, 4> = from_value(json!("123")).unwrap();
        code.mask();
        assert_eq!(to_value(&code).unwrap(), json!("***"));
    }

    #[test]
    fn numbers_contain_only_digits() {
        for invalid in [
            json!("4242 4242 4242 4242"),
            json!(""),
            json!("42424242424242421"),
            json!(4242),
            json!("4*42424242424242"),
        ] {
            assert!(from_value::<CardNumber>(invalid.clone()).is_err(), "{invalid}");
        }
    }
}
