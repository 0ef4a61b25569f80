//! The sanitizer for untrusted text. Characters that move the cursor, reorder text or are invisible become
//! `<U+202E>`. No character is removed silently.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use unicode_security::{MixedScript, skeleton};
use unicode_width::UnicodeWidthChar;

/// Number of combining marks per base character that are shown; further marks are only counted.
const MARK_LIMIT: usize = 4;

/// Whether [`clean`] replaces everything outside of ASCII, because the terminal may not show it.
static ASCII_ONLY: AtomicBool = AtomicBool::new(false);

/// Makes [`clean`] replace everything outside of ASCII from now on.
pub(crate) fn show_ascii_only() {
    ASCII_ONLY.store(true, Ordering::Relaxed);
}

/// Replaces lines and other signs of this program with ASCII of the same width.
pub(crate) fn drawn_in_ascii(text: &str) -> String {
    let sign = |letter: char| match letter {
        '\u{2500}' => '-',
        '\u{2502}' => '|',
        '\u{250c}' | '\u{2510}' | '\u{2514}' | '\u{2518}' => '+',
        letter if letter.is_ascii() => letter,
        _ => '#',
    };
    text.chars().map(sign).collect()
}

/// Replaces each character that hides, moves or reorders text with its code point.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut marks: usize = 0;
    let ascii_only = ASCII_ONLY.load(Ordering::Relaxed);
    for letter in text.chars() {
        if is_hidden(letter) || ascii_only && !letter.is_ascii() {
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

/// Returns whether a word of the text has letters of another script and looks Latin as a whole (UTS 39 §4).
pub(crate) fn imitates_latin(text: &str) -> bool {
    let looks_latin = |word: &&str| skeleton(word).all(|letter| letter.is_ascii());
    text.split_whitespace().filter(looks_latin).any(|word| word.chars().any(is_not_latin))
}

/// Returns which of these names may imitate another: those that mix scripts, look Latin and are not, or look like another
/// name in the list.
pub(crate) fn imitations<'a, I: Ord + Copy>(names: impl IntoIterator<Item = (I, &'a str)>) -> BTreeSet<I> {
    let mut by_look: BTreeMap<String, Vec<(I, &str)>> = BTreeMap::new();
    for (id, name) in names {
        by_look.entry(skeleton(&name.to_lowercase()).collect()).or_default().push((id, name));
    }
    let mut found = BTreeSet::new();
    for alike in by_look.values() {
        let differs = alike.iter().any(|(_, name)| alike.first().is_some_and(|(_, first)| name != first));
        let is_one = |name: &str| differs || is_mixed(name) || imitates_latin(name);
        found.extend(alike.iter().filter(|(_, name)| is_one(name)).map(|(id, _)| *id));
    }
    found
}

/// Returns whether a letter is neither ASCII nor Latin. Letters of no script, such as mathematical ones, count as not Latin.
fn is_not_latin(letter: char) -> bool {
    let fits = |other: char| String::from_iter([other, letter]).is_single_script();
    letter.is_alphabetic() && !letter.is_ascii() && (!fits('a') || fits('\u{431}'))
}

fn flush_marks(out: &mut String, marks: &mut usize) {
    if *marks > MARK_LIMIT {
        let _ = write!(out, "<+{} marks>", *marks - MARK_LIMIT);
    }
    *marks = 0;
}

/// Returns whether a character is invisible or affects how other text is drawn. The pages use the same list, which is
/// `assets/vectors/hidden.txt`.
pub(crate) fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

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
        check("a\u{2800}\u{1d159}\u{1680}", "a<U+2800><U+1D159><U+1680>");
        check("1\u{600}2\u{6dd}3\u{70f}\u{110bd}\u{13430}", "1<U+0600>2<U+06DD>3<U+070F><U+110BD><U+13430>");
    }

    #[test]
    fn hidden_characters_are_those_of_the_list() {
        let list = include_str!("../../../assets/vectors/hidden.txt");
        let number = |text: &str| u32::from_str_radix(text, 16).unwrap();
        let ranges: Vec<(u32, u32)> = list
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_once('-').unwrap_or((line, line)))
            .map(|(first, last)| (number(first), number(last)))
            .collect();
        assert!(ranges.len() > 20, "{ranges:?}");
        for letter in '\0'..=char::MAX {
            let code = u32::from(letter);
            let is_listed = ranges.iter().any(|(first, last)| (*first..=*last).contains(&code));
            assert_eq!(is_hidden(letter), is_listed, "U+{code:04X}");
        }
    }

    #[test]
    fn detects_words_that_imitate_latin() {
        let check = |text: &str, expected: bool| assert_eq!(imitates_latin(text), expected, "{text}");
        check("\u{430}\u{440}\u{440}\u{4cf}\u{435}", true);
        check("pay \u{441}\u{43e}\u{440}-1", true);
        check("\u{39f}\u{3a1}\u{395}\u{39d}", true);
        check("\u{13aa}\u{13aa}", true);
        check("\u{1d586}bc", true);
        check("\u{430}\u{434}\u{43c}\u{438}\u{43d}", false);
        check("\u{65e5}\u{672c}\u{8a9e}", false);
        check("apple", false);
        check("C\u{e6}sar \u{fc}ber", false);
    }

    #[test]
    fn detects_names_that_look_like_others() {
        let names =
            ["admin", "\u{430}dmin", "mira", "rnira", "jo", "Jo", "ana", "ana", "\u{430}\u{43d}\u{44f}"];
        let found = imitations(names.into_iter().enumerate());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
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
