//! The last bytes of a sealed value: what it holds, and which key sealed it.
//!
//! | last byte | value | key |
//! |---|---|---|
//! | 1, 2 | a whole record, or the manifest of a split one | the one derived from the store key |
//! | 3, 4 | the same, after the term (4 bytes, big-endian) | the one of the term |
//! | 5 | the keys of the terms | the one that wraps them |

/// Term of the key that is derived from the store key.
pub(crate) const DERIVED: u32 = 0;
/// Maximum length of a trailer, in bytes.
pub(crate) const LONGEST: usize = TERM + 1;
/// Length of a term, in bytes.
const TERM: usize = size_of::<u32>();
/// Last byte of a value that holds a whole record, under the derived key.
const WHOLE: u8 = 1;
/// Last byte of the manifest of a split record, under the derived key.
const SPLIT: u8 = 2;
/// Last byte of a value that holds a whole record, under the key of a term.
const WHOLE_OF_TERM: u8 = 3;
/// Last byte of the manifest of a split record, under the key of a term.
const SPLIT_OF_TERM: u8 = 4;
/// Last byte of the value that holds the keys of the terms.
const WRAPPED: u8 = 5;

/// What a sealed value holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A whole record.
    Whole,
    /// The manifest of a record that is split into parts.
    Split,
    /// The keys of the terms.
    Wrapped,
}

/// The trailer of a sealed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trailer {
    /// What the value holds.
    pub form: Form,
    /// Term of the key that sealed it. Has no meaning for [`Form::Wrapped`].
    pub term: u32,
}

impl Trailer {
    /// Splits a value into what is sealed and its trailer. Returns `None` if it has no known trailer.
    pub(crate) fn split(value: &[u8]) -> Option<(&[u8], Self)> {
        let (last, sealed) = value.split_last()?;
        let derived = |form| Some((sealed, Self { form, term: DERIVED }));
        let of_term = |form| {
            let (sealed, term) = sealed.split_last_chunk::<TERM>()?;
            Some((sealed, Self { form, term: u32::from_be_bytes(*term) }))
        };
        match *last {
            WHOLE => derived(Form::Whole),
            SPLIT => derived(Form::Split),
            WHOLE_OF_TERM => of_term(Form::Whole),
            SPLIT_OF_TERM => of_term(Form::Split),
            WRAPPED => derived(Form::Wrapped),
            _ => None,
        }
    }

    /// Returns the trailer of a value.
    pub(crate) fn of(value: &[u8]) -> Option<Self> {
        Self::split(value).map(|(_, trailer)| trailer)
    }

    /// Returns the length of the trailer of a value, in bytes: that of its last byte if it is not known.
    pub(crate) fn length(value: &[u8]) -> usize {
        Self::split(value).map_or(1, |(sealed, _)| value.len().saturating_sub(sealed.len()))
    }

    /// Appends the trailer to what was sealed.
    pub(crate) fn append(self, sealed: &mut Vec<u8>) {
        let mark = match (self.form, self.term) {
            (Form::Wrapped, _) => WRAPPED,
            (Form::Whole, DERIVED) => WHOLE,
            (Form::Split, DERIVED) => SPLIT,
            (Form::Whole, term) => {
                sealed.extend_from_slice(&term.to_be_bytes());
                WHOLE_OF_TERM
            }
            (Form::Split, term) => {
                sealed.extend_from_slice(&term.to_be_bytes());
                SPLIT_OF_TERM
            }
        };
        sealed.push(mark);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn trailers_are_read_as_they_were_written() {
        for form in [Form::Whole, Form::Split, Form::Wrapped] {
            for term in [DERIVED, 1, 5, u32::MAX] {
                let mut value = b"sealed".to_vec();
                let term = if form == Form::Wrapped { DERIVED } else { term };
                let trailer = Trailer { form, term };
                trailer.append(&mut value);
                assert_eq!(Trailer::split(&value).unwrap(), (b"sealed".as_slice(), trailer));
                assert_eq!(Trailer::length(&value), value.len() - 6);
                assert!(Trailer::length(&value) <= LONGEST);
            }
        }
        // Values of version 0.1.
        assert_eq!(Trailer::split(b"a\x01").unwrap().1, Trailer { form: Form::Whole, term: DERIVED });
        assert_eq!(Trailer::split(b"a\x02").unwrap().1, Trailer { form: Form::Split, term: DERIVED });
        assert_eq!(Trailer::split(b"a\0\0\0\x07\x03").unwrap().1, Trailer { form: Form::Whole, term: 7 });
    }

    #[test]
    fn unknown_and_truncated_trailers_are_rejected() {
        for value in [b"".as_slice(), b"a\x00", b"a\x06", b"\0\0\x01\x03", b"\x04"] {
            assert_eq!(Trailer::split(value), None, "{value:?}");
            assert_eq!(Trailer::length(value), 1);
        }
    }
}
