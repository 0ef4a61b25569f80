//! Limits the length of files and functions, and requires a module comment in each file.

use syn::visit::{self, Visit};

use crate::tree::{self, Source, none};

/// Maximum number of lines of a file, and of the file of a kind.
const FILE_LIMIT: usize = 500;
const KIND_LIMIT: usize = 150;
/// Maximum number of lines of 95 of 100 files and functions. Clippy limits each function.
const MOST_FILES: usize = 350;
const MOST_FUNCTIONS: usize = 35;
const KINDS: &str = "daemon/core/src/kinds/";

#[test]
fn every_file_has_a_module_comment() {
    let sources = tree::sources();
    let undocumented = sources.iter().filter(|source| !source.text.starts_with("//! "));
    let violations: Vec<String> = undocumented.map(|source| source.path.clone()).collect();
    none(&violations, "a file starts with `//!`: what the module is and what it never does");
}

#[test]
fn files_are_short() {
    let mut lengths = Vec::new();
    let mut violations = Vec::new();
    for source in tree::sources().iter().filter(|source| !source.is_test) {
        let lines = source.text.lines().count() - test_lines(source);
        let is_kind = source.path.strip_prefix(KINDS).is_some_and(|rest| rest.contains('/'));
        if lines > if is_kind { KIND_LIMIT } else { FILE_LIMIT } {
            violations.push(format!("{} has {lines} lines", source.path));
        }
        lengths.push((lines, source.path.clone()));
    }
    none(&violations, "files have at most 500 lines, kinds 150, tests not counted");
    none(&too_many_above(MOST_FILES, lengths), "95 of 100 files have at most 350 lines, tests not counted");
}

#[test]
fn functions_are_short() {
    let mut lengths = Vec::new();
    for source in tree::sources().iter().filter(|source| !source.is_test) {
        Functions { path: &source.path, lengths: &mut lengths }.visit_file(&source.syntax);
    }
    none(
        &too_many_above(MOST_FUNCTIONS, lengths),
        "95 of 100 functions have at most 35 lines, tests not counted",
    );
}

/// Returns the items above a limit, longest first, if they are more than 5 of 100.
fn too_many_above(limit: usize, mut lengths: Vec<(usize, String)>) -> Vec<String> {
    let allowed = lengths.len() / 20;
    lengths.retain(|(lines, _)| *lines > limit);
    lengths.sort_by(|one, other| other.cmp(one));
    if lengths.len() <= allowed {
        return Vec::new();
    }
    lengths.iter().map(|(lines, name)| format!("{name} has {lines} lines")).collect()
}

/// Returns the number of lines in modules that are compiled for tests only.
fn test_lines(source: &Source) -> usize {
    let modules = source.syntax.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if tree::is_for_tests(&module.attrs) => Some(module),
        _ => None,
    });
    let counts = modules.filter_map(|module| {
        let first =
            module.attrs.first().map_or(module.mod_token.span, |attribute| attribute.pound_token.span);
        let (brace, _) = module.content.as_ref()?;
        Some(lines(first, brace.span.close()))
    });
    counts.sum()
}

fn lines(first: proc_macro2::Span, last: proc_macro2::Span) -> usize {
    last.end().line - first.start().line + 1
}

/// Collects the lengths of functions, from the signature to the closing brace.
struct Functions<'a> {
    path: &'a str,
    lengths: &'a mut Vec<(usize, String)>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = lines(signature.fn_token.span, block.brace_token.span.close());
        self.lengths.push((lines, format!("{}::{}", self.path, signature.ident)));
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !tree::is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.measure(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}
