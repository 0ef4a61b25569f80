//! The committed cases and dictionaries. `assets/corpora/<target>/` has one file per case, named after what
//! it covers. `assets/corpora/<family>.dict` has the words of a language in the dictionary format of
//! libFuzzer.

use std::fs;
use std::path::PathBuf;

use quorate_fuzz::{TARGETS, Target, target};

/// Minimum number of cases of a target, so that reading the wrong folder fails.
const LEAST_CASES: usize = 40;
/// Maximum size of the cases of a target in bytes, because people review them.
const LIMIT_BYTES: usize = 150 * 1024;

/// A committed case.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

/// The committed cases and words of a target.
pub(crate) struct Corpus {
    pub(crate) cases: Vec<Case>,
    pub(crate) words: Vec<Vec<u8>>,
}

impl Corpus {
    pub(crate) fn of(target: Target) -> Self {
        let mut cases = Vec::new();
        for entry in fs::read_dir(folder().join(target.name)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            cases.push(Case { name, bytes: fs::read(entry.path()).unwrap() });
        }
        cases.sort_by(|left, right| left.name.cmp(&right.name));
        let family = target.name.split('_').next().unwrap();
        let words = fs::read_to_string(folder().join(family).with_extension("dict")).unwrap();
        let words = words.lines().filter(|line| line.starts_with('"'));
        let words = words.map(|line| line.trim_matches('"').as_bytes().to_vec()).collect();
        Self { cases, words }
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../assets/corpora")
}

#[test]
fn each_target_has_a_corpus_folder() {
    let entries = fs::read_dir(folder()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut folders: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    folders.sort();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(folders, names, "each target has a folder of cases, and each folder has a target");
    assert!(names.iter().all(|name| target(name).is_some_and(|target| target.name == *name)));
}

#[test]
fn corpora_have_enough_small_named_cases() {
    for target in TARGETS {
        let corpus = Corpus::of(*target);
        let bytes: usize = corpus.cases.iter().map(|case| case.bytes.len()).sum();
        assert!(bytes <= LIMIT_BYTES, "the cases of {} have {bytes} bytes", target.name);
        assert!(corpus.cases.len() >= LEAST_CASES, "{} has {} cases", target.name, corpus.cases.len());
        assert!(!corpus.words.is_empty(), "{} has no words", target.name);
        for case in corpus.cases {
            let stem = case.name.strip_suffix(".txt").unwrap_or_default();
            let is_plain =
                |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
            assert!(!stem.is_empty() && stem.chars().all(is_plain), "{}/{}", target.name, case.name);
        }
    }
}
