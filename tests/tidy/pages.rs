//! The kinds that can be approved on the pages are kinds whose review in the console raises no flag of the highest level.

use crate::tree::{self, none};

/// The part of the script that lists the kinds.
const SCRIPT: &str = "assets/pages/proof.js";
const REVIEWS: &str = "tui/src/kinds/";
/// What raises a flag of the highest level.
const HIGH: [&str; 3] = ["flag_high", "flag_with_word", "Level::High"];
/// The definition of flags, which every kind uses.
const DEFINITIONS: [&str; 2] = ["tui/src/kinds/description.rs", "tui/src/kinds/mod.rs"];

#[test]
fn pages_approve_no_kind_with_high_flags() {
    let script = tree::read(SCRIPT);
    let list = script.split_once("const LOW = new Set([").and_then(|(_, rest)| rest.split_once("]);"));
    let (list, _) = list.expect("the script lists kinds");
    let kinds: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(kinds.len() > 5, "the list is read: {kinds:?}");
    let sources = tree::sources();
    let is_high = |text: &str| HIGH.iter().any(|word| text.contains(word));
    let raising = sources.iter().filter(|source| {
        source.path.starts_with(REVIEWS)
            && !DEFINITIONS.contains(&source.path.as_str())
            && is_high(&source.text)
    });
    let modules: Vec<String> = raising
        .filter_map(|source| Some(format!("{}::", source.path.rsplit('/').next()?.strip_suffix(".rs")?)))
        .collect();
    let mut violations = Vec::new();
    for kind in kinds {
        let file = format!("/{}.rs", kind.to_lowercase());
        let review =
            sources.iter().find(|source| source.path.starts_with(REVIEWS) && source.path.ends_with(&file));
        match review {
            None => violations.push(format!("{kind} has no review")),
            Some(review) => {
                let uses = modules.iter().filter(|module| review.text.contains(module.as_str()));
                violations.extend(uses.map(|module| format!("{kind} uses {module}")));
                if is_high(&review.text) {
                    violations.push(format!("{kind} raises a flag"));
                }
            }
        }
    }
    none(&violations, "a kind on the pages has no HIGH flag in the console");
}
