//! Limits the length of files and functions, and requires a module comment in each file. `exceptions.txt`
//! lists exceptions and may only shrink.

use std::collections::BTreeMap;
use std::fmt::Write;

use syn::visit::{self, Visit};

use crate::tree::{self, Source, none};

const FUNCTION_LIMIT: usize = 70;
const FILE_LIMIT: usize = 500;
const KIND_LIMIT: usize = 150;
const EXCEPTIONS: &str = "tests/tidy/exceptions.txt";
const KINDS: &str = "daemon/core/src/kinds/";
const HEAD: &str = "\
# Items above their length limit, with their length in lines. The numbers are limits: they may be lowered and
# lines may be removed, nothing is added. `make bless` lowers and removes.
";

#[test]
fn every_file_has_a_module_comment() {
    let sources = tree::sources();
    let undocumented = sources.iter().filter(|source| !source.text.starts_with("//! "));
    let violations: Vec<String> = undocumented.map(|source| source.path.clone()).collect();
    none(&violations, "a file starts with `//!`: what the module is and what it never does");
}

#[test]
fn files_and_functions_are_short() {
    let oversized_items = oversized();
    let allowed = exceptions();
    let mut violations = Vec::new();
    let mut limits = BTreeMap::new();
    for (name, lines) in &oversized_items {
        match allowed.get(name) {
            None => violations.push(format!("{name} has {lines} lines")),
            Some(limit) if lines > limit => {
                violations.push(format!("{name} grew from {limit} to {lines} lines"));
            }
            Some(limit) => {
                limits.insert(name.clone(), *limit.min(lines));
            }
        }
    }
    if std::env::var_os("BLESS").is_some() {
        let mut text = HEAD.to_owned();
        for (name, lines) in &limits {
            writeln!(text, "{lines} {name}").expect("a text can be written to");
        }
        std::fs::write(tree::root().join(EXCEPTIONS), text).expect("the exceptions can be written");
    } else {
        let obsolete = allowed.keys().filter(|name| !oversized_items.contains_key(*name));
        violations.extend(
            obsolete.map(|name| format!("{name} is within the limit now: remove it from {EXCEPTIONS}")),
        );
    }
    none(&violations, "functions have at most 70 lines, files 500, kinds 150, tests not counted");
}

/// Returns everything over its limit, with its length.
fn oversized() -> BTreeMap<String, usize> {
    let mut oversized_items = BTreeMap::new();
    for source in tree::sources().iter().filter(|source| !source.is_test) {
        let lines = source.text.lines().count() - test_lines(source);
        let is_kind = source.path.strip_prefix(KINDS).is_some_and(|rest| rest.contains('/'));
        if lines > if is_kind { KIND_LIMIT } else { FILE_LIMIT } {
            oversized_items.insert(format!("file {}", source.path), lines);
        }
        let mut functions = Functions { path: &source.path, long: &mut oversized_items };
        functions.visit_file(&source.syntax);
    }
    oversized_items
}

fn exceptions() -> BTreeMap<String, usize> {
    let text = tree::read(EXCEPTIONS);
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let pairs = lines.map(|line| {
        let (number, name) = line.split_once(' ').unwrap_or_else(|| panic!("{EXCEPTIONS}: {line}"));
        (name.to_owned(), number.parse().unwrap_or_else(|_| panic!("{EXCEPTIONS}: {line}")))
    });
    pairs.collect()
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

/// Collects functions that are too long, from the signature to the closing brace.
struct Functions<'a> {
    path: &'a str,
    long: &'a mut BTreeMap<String, usize>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let lines = lines(signature.fn_token.span, block.brace_token.span.close());
        if lines > FUNCTION_LIMIT {
            self.long.insert(format!("function {}::{}", self.path, signature.ident), lines);
        }
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
