//! The kinds that can be approved on the pages are kinds whose review in the console raises no flag of the highest level.

use crate::tree::{self, Source, none};

/// The part of the script that lists the kinds.
const SCRIPT: &str = "assets/pages/proof.js";
const REVIEWS: &str = "tui/src/kinds/";
/// What raises a flag of the highest level.
const HIGH: [&str; 3] = ["flag_high", "flag_with_word", "Level::High"];
/// The definition of flags, which every kind uses.
const DEFINITIONS: [&str; 2] = ["tui/src/kinds/description.rs", "tui/src/kinds/mod.rs"];
/// Raises a flag only if policies read a name or a tag. The pages look for the words themselves.
const NAMES: &str = "tui/src/kinds/shared/read_by_policies.rs";

#[test]
fn pages_approve_no_kind_with_high_flags() {
    let script = tree::read(SCRIPT);
    let quoted = |head: &str, is_kind: fn(&str) -> bool| -> Vec<String> {
        let list = script.split_once(head).and_then(|(_, rest)| rest.split_once("]);"));
        let (list, _) = list.expect("the script lists kinds");
        let words = list.split('"').skip(1).step_by(2).filter(|word| is_kind(word));
        words.map(str::to_owned).collect()
    };
    let is_kind = |word: &str| word.starts_with(|first: char| first.is_ascii_uppercase());
    let low = quoted("const LOW = new Set([", is_kind);
    let naming = quoted("const NAMING = new Map([", is_kind);
    assert!(low.len() > 2 && naming.len() > 2, "the lists are read: {low:?} {naming:?}");
    let sources = tree::sources();
    let reviews: Vec<&Source> = sources.iter().filter(|source| source.path.starts_with(REVIEWS)).collect();
    let mut violations = unsafe_kinds(&low, &reviews, &[]);
    violations.extend(unsafe_kinds(&naming, &reviews, &[NAMES]));
    none(&violations, "a kind on the pages has no HIGH flag in the console");
}

/// Returns the kinds whose review raises a flag of the highest level, itself or through other modules.
fn unsafe_kinds(kinds: &[String], reviews: &[&Source], allowed: &[&str]) -> Vec<String> {
    let is_high = |text: &str| HIGH.iter().any(|word| text.contains(word));
    let module =
        |source: &Source| source.path.rsplit('/').next()?.strip_suffix(".rs").map(|name| format!("{name}::"));
    let mut raising: Vec<&Source> = reviews.iter().copied().filter(|source| is_high(&source.text)).collect();
    let excluded = |source: &Source| {
        DEFINITIONS.contains(&source.path.as_str())
            || allowed.contains(&source.path.as_str())
            || source.path.ends_with("/mod.rs")
    };
    raising.retain(|source| !excluded(source));
    // Modules that use a raising module raise flags, too.
    loop {
        let names: Vec<String> = raising.iter().filter_map(|source| module(source)).collect();
        let uses = |source: &&Source| names.iter().any(|name| source.text.contains(name.as_str()));
        let known: Vec<&str> = raising.iter().map(|source| source.path.as_str()).collect();
        let is_new = |source: &&Source| !excluded(source) && !known.contains(&source.path.as_str());
        let more: Vec<&Source> = reviews.iter().copied().filter(is_new).filter(uses).collect();
        if more.is_empty() {
            break;
        }
        raising.extend(more);
    }
    let violation = |kind: &String| {
        let file = format!("/{}.rs", kind.to_lowercase());
        match reviews.iter().find(|source| source.path.ends_with(&file)) {
            None => Some(format!("{kind} has no review")),
            Some(review) => raising
                .iter()
                .any(|source| source.path == review.path)
                .then(|| format!("{kind} raises a flag")),
        }
    };
    kinds.iter().filter_map(violation).collect()
}
