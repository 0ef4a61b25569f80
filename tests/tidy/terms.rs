//! One term per idea: terms that are not used anywhere in the tree, each with its replacement.

use crate::tree::{self, none};

/// A term that is not used.
struct Term {
    /// The term in lower case. A bar, which is removed, keeps this file from containing it.
    old: &'static str,
    /// What to write instead.
    new: &'static str,
    /// Whether the term is also rejected as a part of longer words.
    in_words: bool,
}

/// Returns a term that is rejected as a whole word.
const fn word(old: &'static str, new: &'static str) -> Term {
    Term { old, new, in_words: false }
}

/// Returns a term that is rejected anywhere, also as a part of identifiers.
const fn part(old: &'static str, new: &'static str) -> Term {
    Term { old, new, in_words: true }
}

const TERMS: &[Term] = &[
    part("fl|aw", "error"),
    word("as|ker", "proposer, or caller"),
    word("as|kers", "proposers, or callers"),
    part("look-a|like", "similar address"),
    part("look_a|like", "similar address"),
    part("left|over", "tombstone"),
    part("sh|elf", "collection"),
    part("sh|elves", "collections"),
    word("de|parted", "deleted user"),
    part("by and| by", "in the background"),
    word("ro|sters", "known keys"),
    part("the ro|ster", "the known keys"),
    word("who|ever", "the user, the caller, anyone who"),
    part("taken| out", "exported"),
    part("brought| in", "imported"),
    part("handed| over", "delivered"),
    word("an|ew", "again"),
    part("people| needed", "approval threshold"),
    word("st|ory", "scenario"),
    word("st|ories", "scenarios"),
    word("fore|ign", "third-party, external, untrusted"),
    word("stran|ger", "unknown recipient, anonymous client"),
    word("stran|gers", "unknown recipients, anonymous clients"),
    part("neigh|bour", "similar, adjacent, other"),
    part("swee|per", "cleanup"),
    part("opened| keys", "key cache"),
    part("an organization without| a parent", "top-level organization"),
    part("organizations without| a parent", "top-level organizations"),
    part("tried on the| vectors", "tested against the vectors"),
];

/// Files whose words are data: inputs of parsers, published vectors, licence texts, lock files.
fn is_data(path: &str) -> bool {
    path.starts_with("assets/corpora/")
        || path.starts_with("assets/vectors/")
        || tree::extension(path) == Some("lock")
        || path.ends_with("package-lock.json")
        || path == "LICENSE"
}

/// Returns whether a line contains a term.
fn contains(line: &str, term: &Term) -> bool {
    let old = term.old.replace('|', "");
    line.match_indices(&old).any(|(start, found)| {
        let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphabetic);
        let before = line.get(..start).and_then(|text| text.chars().next_back());
        let after = line.get(start + found.len()..).and_then(|text| text.chars().next());
        term.in_words || (!is_letter(before) && !is_letter(after))
    })
}

#[test]
fn old_terms_are_not_used() {
    let mut violations = Vec::new();
    for path in tree::files().iter().filter(|path| tree::is_text(path) && !is_data(path)) {
        for (number, line) in tree::read(path).lines().enumerate() {
            let lower = line.to_lowercase();
            for term in TERMS.iter().filter(|term| contains(&lower, term)) {
                let old = term.old.replace('|', "");
                violations.push(format!("{path}:{}: \"{old}\": write \"{}\"", number + 1, term.new));
            }
        }
    }
    none(&violations, "a term of the list is used");
}

#[test]
fn the_check_finds_terms() {
    let finds = |line: &str, term: &Term| contains(&line.replace('|', ""), term);
    let term = word("st|ory", "scenario");
    assert!(finds("the st|ory of a key", &term) && finds("one_st|ory_here", &term));
    assert!(!finds("the history of a key", &term));
    assert!(finds("type keyfl|aw", &part("fl|aw", "error")));
}
