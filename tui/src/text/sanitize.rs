//! The sanitizer for untrusted text. Characters that move the cursor, reorder text or are invisible become
//! `<U+202E>`. No character is removed silently.

use std::fmt::Write as _;

use unicode_security::MixedScript;
use unicode_width::UnicodeWidthChar;

/// Number of combining marks per base character that are shown; further marks are only counted.
const MARK_LIMIT: usize = 4;

/// Replaces each character that hides, moves or reorders text with its code point.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks: usize = 0;
    for letter in text.chars() {
        if is_hidden(letter) {
            flush_marks(&mut out, &mut marks);
            let _ = write!(out, "<U+{:04X}>", u32::from(letter));
        } else if letter.width() == Some(0) {
            marks = marks.saturating_add(1);
            if marks <= MARK_LIMIT && !out.is_empty() {
                out.push(letter);
            } else if out.is_empty() {
                let _ = write!(out, "<U+{:04X}>", u32::from(letter));
                marks = 0;
            }
        } else {
            flush_marks(&mut out, &mut marks);
            out.push(letter);
        }
    }
    flush_marks(&mut out, &mut marks);
    out
}

/// Returns the cleaned text in quotes, as names appear in sentences.
pub(crate) fn quoted(text: &str) -> String {
    // Escapes quotation marks, which could otherwise appear to end the text.
    format!("\"{}\"", clean(text).replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns whether [`clean`] would replace or count any character of the text.
pub(crate) fn has_hidden(text: &str) -> bool {
    clean(text) != text
}

/// Returns whether a word of the text mixes scripts that no single language mixes (UTS 39 §5.1).
pub(crate) fn is_mixed(text: &str) -> bool {
    text.split_whitespace().any(|word| !word.is_single_script())
}

fn flush_marks(out: &mut String, marks: &mut usize) {
    if *marks > MARK_LIMIT {
        let _ = write!(out, "<+{} marks>", *marks - MARK_LIMIT);
    }
    *marks = 0;
}

/// Returns whether a character is invisible or affects how other text is drawn.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'
                ..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
        || matches!(letter, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_hidden_characters() {
        let check = |text: &str, expected: &str| assert_eq!(clean(text), expected, "{text:?}");
        check("plain name-1 (ü)", "plain name-1 (ü)");
        check("a\u{202e}b", "a<U+202E>b");
        check("\u{1b}[31mred\u{7}", "<U+001B>[31mred<U+0007>");
        check("a\u{200b}b\u{ad}c\u{9b}d", "a<U+200B>b<U+00AD>c<U+009B>d");
        check("line\nbreak\ttab", "line<U+000A>break<U+0009>tab");
        check("e\u{301}", "e\u{301}");
        check(&format!("e{}x", "\u{301}".repeat(1000)), &format!("e{}<+996 marks>x", "\u{301}".repeat(4)));
        check("\u{301}x", "<U+0301>x");
        check("\u{2066}i\u{2069}", "<U+2066>i<U+2069>");
        check("\u{e0041}", "<U+E0041>");
    }

    #[test]
    fn detects_mixed_scripts() {
        assert!(is_mixed("\u{430}dmin"));
        assert!(!is_mixed("admin"));
        assert!(!is_mixed("admin \u{65e5}\u{672c}\u{8a9e}"));
        assert!(!is_mixed("\u{430}\u{434}\u{43c}\u{438}\u{43d}"));
        assert!(has_hidden("a\u{200d}b"));
        assert!(!has_hidden("ab"));
    }
}
