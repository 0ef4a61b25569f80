//! The paths that a source file names.

use syn::visit::{self, Visit};

use crate::tree::{self, Source};

/// Returns all paths that a file names, with `self` and `super` resolved to `crate::…`.
pub(crate) fn mentions(source: &Source) -> Vec<String> {
    let mut mentions = Mentions::new(module_of(&source.path), true);
    mentions.visit_file(&source.syntax);
    let mut paths: Vec<String> = mentions.paths.iter().map(|names| names.join("::")).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the module path of a file, starting with `crate`.
pub(crate) fn module_of(path: &str) -> Vec<String> {
    let inside = path.rsplit_once("src/").map_or("", |(_, inside)| inside);
    let module = tree::module_folder(&format!("/{inside}"));
    let names = module.split('/').filter(|name| !name.is_empty()).map(str::to_owned);
    std::iter::once("crate".to_owned()).chain(names).collect()
}

/// Collects the paths that a file names.
pub(crate) struct Mentions {
    module: Vec<String>,
    with_tests: bool,
    /// All paths, imported ones included.
    pub(crate) paths: Vec<Vec<String>>,
    /// Imported names and their paths.
    pub(crate) imports: Vec<(String, Vec<String>)>,
}

impl Mentions {
    pub(crate) fn new(module: Vec<String>, with_tests: bool) -> Self {
        Self { module, with_tests, paths: Vec::new(), imports: Vec::new() }
    }

    fn is_skipped(&self, attributes: &[syn::Attribute]) -> bool {
        !self.with_tests && tree::is_for_tests(attributes)
    }

    fn record(&mut self, names: &[String]) {
        let mut base = Vec::new();
        let mut rest = names;
        if let Some(first) = names.first()
            && (first == "self" || first == "super")
        {
            base.clone_from(&self.module);
            while let Some((first, more)) = rest.split_first() {
                match first.as_str() {
                    "self" => {}
                    "super" => drop(base.pop()),
                    _ => break,
                }
                rest = more;
            }
        }
        base.extend_from_slice(rest);
        self.paths.push(base);
    }

    fn record_use(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| {
            let mut names = before.to_vec();
            names.push(name.to_string());
            names
        };
        let (names, imported) = match tree {
            syn::UseTree::Path(path) => return self.record_use(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => {
                return group.items.iter().for_each(|item| self.record_use(item, before));
            }
            syn::UseTree::Name(name) if name.ident == "self" => (before.to_vec(), before.last().cloned()),
            syn::UseTree::Name(name) => (with(&name.ident), Some(name.ident.to_string())),
            syn::UseTree::Rename(rename) => (with(&rename.ident), Some(rename.rename.to_string())),
            syn::UseTree::Glob(_) => (before.to_vec(), None),
        };
        self.record(&names);
        self.imports.extend(imported.zip(self.paths.last().cloned()));
    }

    /// Records the words with colons in a text that is not parsed.
    fn record_words(&mut self, text: &str) {
        let text = text.replace(" :: ", "::");
        let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
        for word in words.filter(|word| word.contains("::")) {
            let names: Vec<String> =
                word.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
            self.record(&names);
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if self.is_skipped(&module.attrs) {
            return;
        }
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !self.is_skipped(&item.attrs) {
            self.record_use(&item.tree, &[]);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !self.is_skipped(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !self.is_skipped(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !self.is_skipped(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.record(&names);
        }
        visit::visit_path(self, path);
    }

    // The arguments of macros and attributes are not parsed, so paths in them are recognized by their colons.
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        visit::visit_macro(self, item);
        self.record_words(&item.tokens.to_string());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.record_words(&list.tokens.to_string());
        }
    }

    // `pub(in path)` restricts visibility and uses nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}
