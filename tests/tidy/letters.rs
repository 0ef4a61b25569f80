//! Letters of the keys in the store: only the layout knows those of records, and ARCHITECTURE.md describes each.
//! The table of records has the letter and the description of each class of the snapshot.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};

use crate::tree::{self, Source, none};

const LAYOUT: &str = "daemon/core/src/model/layout";

/// The module with the table of records.
const TABLE: &str = "daemon/core/src/model/mod";

/// Modules of the daemon with a letter of their own.
const OWN: [(&str, u8); 6] = [
    ("daemon/src/barrier", b'~'),
    ("daemon/src/barrier", b'm'),
    ("daemon/src/epoch", b'm'),
    ("daemon/src/executor/backups", b'm'),
    ("daemon/src/guard", b'm'),
    ("daemon/src/identity", b'm'),
];

#[test]
fn only_the_layout_contains_key_letters() {
    let mut violations = Vec::new();
    for source in
        tree::sources().iter().filter(|source| !source.is_test && source.path.starts_with("daemon/"))
    {
        let module = source.path.trim_end_matches(".rs");
        let is_in = |folder: &str| {
            module.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let allowed = |letter: u8| {
            is_in(LAYOUT) || is_in(TABLE) || OWN.iter().any(|(folder, own)| is_in(folder) && *own == letter)
        };
        let mut found = Letters::default();
        found.visit_file(&source.syntax);
        let letters = found.0.into_iter().filter(|letter| !allowed(*letter));
        violations.extend(letters.map(|letter| format!("{}: `{}`", source.path, char::from(letter))));
    }
    none(
        &violations,
        "a byte literal could be the letter of a key, which only the layout of the store knows",
    );
}

/// The lowercase letters and tildes among the byte literals, and at the start of byte strings of up to two
/// bytes.
#[derive(Default)]
struct Letters(BTreeSet<u8>);

impl Letters {
    fn consider(&mut self, letter: u8) {
        if letter.is_ascii_lowercase() || letter == b'~' {
            self.0.insert(letter);
        }
    }
}

impl<'ast> Visit<'ast> for Letters {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !tree::is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_lit_byte(&mut self, literal: &'ast syn::LitByte) {
        self.consider(literal.value());
    }

    fn visit_lit_byte_str(&mut self, literal: &'ast syn::LitByteStr) {
        if let [letter] | [letter, _] = literal.value().as_slice() {
            self.consider(*letter);
        }
    }

    // The arguments of macros are not parsed.
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let text = item.tokens.to_string();
        text.match_indices("b'")
            .filter_map(|(at, _)| text.as_bytes().get(at + 2))
            .for_each(|letter| self.consider(*letter));
    }
}

#[test]
fn each_key_letter_is_described() {
    let sources = tree::sources();
    let layout = |file: &str| format!("{LAYOUT}{file}.rs");
    let letters = discriminants(&sources, &layout(""), "Letter");
    let classes = constants(&sources, &layout(""), "Class");
    let outbox = discriminants(&sources, &layout("/outbox"), "Class");
    let rows = described(&tree::read("ARCHITECTURE.md"));
    let own = OWN.iter().map(|(_, letter)| char::from(*letter));
    let known: BTreeSet<char> = letters.into_iter().chain(own).collect();
    assert_eq!(
        rows.keys().copied().collect::<BTreeSet<_>>(),
        known,
        "the letters of keys in ARCHITECTURE.md"
    );
    assert_eq!(rows[&'p'], outbox, "the classes of keys of the outbox");
    assert!(rows[&'s'].is_subset(&classes), "secrets have the classes of their owners");
}

/// Returns the discriminants of an enum, which are byte literals.
fn discriminants(sources: &[Source], path: &str, name: &str) -> BTreeSet<char> {
    let source = sources.iter().find(|source| source.path == path).expect("the layout exists");
    let found = source.syntax.items.iter().find_map(|item| match item {
        syn::Item::Enum(found) if found.ident == name => Some(found),
        _ => None,
    });
    let mut letters = Letters::default();
    letters.visit_item_enum(found.expect("the enum exists"));
    letters.0.into_iter().map(char::from).collect()
}

/// Returns the constants of a type, which are byte literals.
fn constants(sources: &[Source], path: &str, name: &str) -> BTreeSet<char> {
    let source = sources.iter().find(|source| source.path == path).expect("the layout has this path");
    let mut letters = Letters::default();
    for item in &source.syntax.items {
        if let syn::Item::Impl(found) = item
            && matches!(&*found.self_ty, syn::Type::Path(of) if of.path.is_ident(name))
        {
            letters.visit_item_impl(found);
        }
    }
    letters.0.into_iter().map(char::from).collect()
}

/// Returns the letters that a row of the table or a line of the list describes, with their classes.
fn described(page: &str) -> BTreeMap<char, BTreeSet<char>> {
    let mut rows: BTreeMap<char, BTreeSet<char>> = BTreeMap::new();
    for line in page.lines().filter(|line| line.starts_with("| `") || line.starts_with("- `")) {
        let mut spans = line.split('`').skip(1).step_by(2).filter_map(single);
        let Some(letter) = line.split('`').nth(1).and_then(single) else { continue };
        spans.next();
        let classes = rows.entry(letter).or_default();
        if line.contains(", class `") || line.contains("| class `") {
            classes.extend(spans);
        }
    }
    rows
}

/// Returns the only character of a text.
fn single(text: &str) -> Option<char> {
    let mut letters = text.chars();
    letters.next().filter(|_| letters.next().is_none())
}
