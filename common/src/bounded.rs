//! Values with limits, checked once when they are parsed. The error texts are those of the wire.

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::inline_schema;

pub use list::AtMost;
pub use number::{Between, Decimal, ExpirationSeconds, Lifetime};

/// Maximum length of a label, in Unicode scalar values.
pub const LABEL_LIMIT: usize = 255;
/// Maximum length of an email address, in bytes (RFC 5321 §4.5.3.1.3).
pub const EMAIL_LIMIT: usize = 254;

mod list;
mod number;

macro_rules! text_value {
    ($(#[$doc:meta])* $name:ident, $schema:tt) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name(String);

        impl $name {
            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::parse(String::deserialize(deserializer)?).map_err(de::Error::custom)
            }
        }

        inline_schema!($name, $schema);
    };
}

text_value!(
    /// A name chosen by a user: 1 to 255 characters, not only white space, without control characters.
    Label,
    {"type": "string", "minLength": 1, "maxLength": 255}
);

impl Label {
    /// Checks the length and the characters of the text.
    ///
    /// # Errors
    /// The rule that the text breaks, as a message for the caller.
    pub fn parse(text: String) -> Result<Self, &'static str> {
        if text.trim().is_empty() {
            return Err("must not be empty");
        }
        if text.chars().count() > LABEL_LIMIT {
            return Err("must have at most 255 characters");
        }
        if text.chars().any(char::is_control) {
            return Err("must not contain control characters");
        }
        Ok(Self(text))
    }
}

text_value!(
    /// An email address (RFC 5321 §4.1.2, without quoted local parts and address literals).
    Email,
    {"type": "string", "format": "email", "maxLength": 254}
);

impl Email {
    /// Error message for an invalid address. Clients compare this text.
    pub const EXPECTED: &str = "invalid email address";

    /// Parses an address that is new to the service. Programs that handle mail may take a local part that begins with `-` or `|`
    /// for an option or a command, and no domain of mail ends in a number (RFC 3696 §2).
    ///
    /// # Errors
    /// [`Email::EXPECTED`] if the text is not an email address, or is not accepted as a new one.
    pub fn parse_new(text: String) -> Result<Self, &'static str> {
        let email = Self::parse(text)?;
        if email.may_be_new() { Ok(email) } else { Err(Self::EXPECTED) }
    }

    /// Returns whether [`Self::parse_new`] accepts the address.
    pub fn may_be_new(&self) -> bool {
        let last = self.0.rsplit('.').next().unwrap_or_default();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_hex = last.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
        !self.0.starts_with(['-', '|']) && !is_number(last) && !is_hex
    }

    /// Checks the syntax. The domain is not looked up.
    ///
    /// # Errors
    /// [`Email::EXPECTED`] if the text is not an email address.
    pub fn parse(text: String) -> Result<Self, &'static str> {
        let error = Self::EXPECTED;
        let (local, domain) = text.rsplit_once('@').ok_or(error)?;
        let atom = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c))
        };
        let label = |part: &str| {
            !part.is_empty()
                && part.len() <= 63
                && part.chars().all(|c| c.is_alphanumeric() || c == '-')
                && !part.starts_with('-')
                && !part.ends_with('-')
        };
        let whole = text.len() <= EMAIL_LIMIT && local.len() <= 64;
        if whole && local.split('.').all(atom) && domain.contains('.') && domain.split('.').all(label) {
            Ok(Self(text))
        } else {
            Err(error)
        }
    }
}

text_value!(
    /// A phone number: `+` and 2 to 15 digits, of which the first is not zero (ITU-T E.164).
    Phone,
    {"type": "string", "pattern": "^\\+[1-9][0-9]{1,14}$", "maxLength": 16}
);

impl Phone {
    /// Checks the format.
    ///
    /// # Errors
    /// A message for the caller if the text is not a phone number in E.164 form.
    pub fn parse(text: String) -> Result<Self, &'static str> {
        let digits = text.strip_prefix('+').unwrap_or_default();
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        if plain && (2..=15).contains(&digits.len()) && !digits.starts_with('0') {
            Ok(Self(text))
        } else {
            Err("expected a phone number in E.164 form")
        }
    }
}

/// Text of at most `N` bytes. Line breaks and tabs are the only control characters allowed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Text<const N: usize>(String);

impl<const N: usize> Text<N> {
    /// Checks the length and the characters of the text.
    ///
    /// # Errors
    /// The rule that the text breaks, as a message for the caller.
    pub fn parse(text: String) -> Result<Self, String> {
        if text.len() > N {
            return Err(format!("must have at most {N} bytes"));
        }
        if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
            return Err("must not contain control characters".to_owned());
        }
        Ok(Self(text))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts into the owned text.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<'de, const N: usize> Deserialize<'de> for Text<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

inline_schema!(Text<const N: usize>, {"type": "string", "maxLength": N});

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    fn is_accepted<T: de::DeserializeOwned>(value: serde_json::Value) -> bool {
        from_value::<T>(value).is_ok()
    }

    #[test]
    fn label_limits() {
        for good in ["a", " a ", "Read Write Session - 2026-11-21T09:24:00Z", &"ü".repeat(255)] {
            assert!(is_accepted::<Label>(json!(good)), "{good}");
        }
        for bad in ["", "  ", "a\nb", "a\u{0}", "\u{85}", &"ü".repeat(256)] {
            assert!(!is_accepted::<Label>(json!(bad)), "{bad}");
        }
    }

    #[test]
    fn email_addresses_and_phone_numbers() {
        for (text, may_be_new) in [
            ("a@b.co", true),
            ("a-b|c@b.co", true),
            ("a@1.2.3.co", true),
            ("a@b.xn--p1ai", true),
            ("-a@b.co", false),
            ("|a@b.co", false),
            ("a@127.0.0.1", false),
            ("a@127.1", false),
            ("a@b.0x7f", false),
        ] {
            assert!(Email::parse(text.to_owned()).is_ok(), "{text}");
            assert_eq!(Email::parse_new(text.to_owned()).is_ok(), may_be_new, "{text}");
        }
        for good in ["a@b.co", "first.last+tag@sub.example.com", "ü@exämple.de"] {
            assert!(is_accepted::<Email>(json!(good)), "{good}");
        }
        for bad in [
            "",
            "a",
            "@b.co",
            "a@",
            "a@b",
            "a b@c.de",
            "a@b..c",
            "a@-b.c",
            "a\r\n@b.co",
            "a@b.co\n",
            ".a@b.co",
        ] {
            assert!(!is_accepted::<Email>(json!(bad)), "{bad}");
        }
        assert!(is_accepted::<Phone>(json!("+4915112345678")));
        for bad in ["", "+", "+1", "+0123", "4915112345678", "+1234567890123456", "+12a"] {
            assert!(!is_accepted::<Phone>(json!(bad)), "{bad}");
        }
    }

    #[test]
    fn decimal_strings() {
        assert_eq!(
            from_value::<Decimal>(json!("9007199254740993")).ok(),
            Some(Decimal(9_007_199_254_740_993))
        );
        assert_eq!(
            from_value::<Decimal>(json!(9_007_199_254_740_993_u64)).ok(),
            Some(Decimal(9_007_199_254_740_993))
        );
        for bad in [
            json!(""),
            json!(" 1"),
            json!("+1"),
            json!("01"),
            json!("-1"),
            json!(1.0),
            json!(-1),
            json!("18446744073709551616"),
            json!(null),
        ] {
            assert!(!is_accepted::<Decimal>(bad.clone()), "{bad}");
        }
        assert!(!is_accepted::<ExpirationSeconds>(json!("0")));
        assert!(is_accepted::<ExpirationSeconds>(json!("900")));
        for (lifetime, good) in [("0", false), ("1", true), ("600", true), ("601", false)] {
            assert_eq!(is_accepted::<Lifetime<600>>(json!(lifetime)), good, "{lifetime}");
        }
        for (number, good) in [(-6, false), (5, false), (6, true), (9, true), (10, false)] {
            assert_eq!(is_accepted::<Between<6, 9>>(json!(number)), good, "{number}");
        }
    }

    #[test]
    fn lists_have_a_maximum_length() {
        assert!(is_accepted::<AtMost<u8, 2>>(json!([1, 2])));
        assert!(!is_accepted::<AtMost<u8, 2>>(json!([1, 2, 3])));
    }
}
