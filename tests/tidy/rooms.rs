//! Who may name whom inside a package: the walls that the compiler does not see.

use syn::visit::{self, Visit};

use crate::tree::{self, Source, none};

/// Rooms and the modules and crates that their files never name.
struct Wall {
    rooms: &'static [&'static str],
    never: &'static [&'static str],
}

const WALLS: &[Wall] = &[
    Wall {
        rooms: &["daemon/core/src/kinds"],
        never: &[
            "crate::pipeline",
            "crate::authn",
            "crate::consensus",
            "crate::queries",
            "crate::operator",
            "crate::records",
            "crate::world",
        ],
    },
    Wall {
        rooms: &DECIDERS,
        never: &["crate::kinds", "crate::pipeline", "crate::queries", "crate::operator"],
    },
    Wall {
        rooms: &["daemon/core/src/model", "daemon/core/src/seal", "daemon/core/src/secret"],
        never: &["crate::kinds", "crate::pipeline", "crate::policy", "crate::consensus", "crate::authn"],
    },
    Wall {
        rooms: &["daemon/core/src/queries"],
        never: &["crate::kinds::prelude", "crate::cx", "crate::make"],
    },
    Wall {
        rooms: &[
            "daemon/src/http",
            "daemon/src/socket",
            "daemon/src/console",
            "daemon/src/routes",
            "daemon/src/door",
        ],
        never: &["crate::store", "crate::barrier", "crate::vault"],
    },
    Wall {
        rooms: &["daemon/src/store"],
        never: &[
            "crate::barrier",
            "crate::vault",
            "crate::turn",
            "quorate_core::model",
            "quorate_core::pipeline",
        ],
    },
    Wall {
        rooms: &["tui/src/proof", "tui/src/kinds", "tui/src/policies", "tui/src/text"],
        never: &["crate::link", "crate::screens", "crate::app", "crate::session"],
    },
];

/// Who decides, and must not know what is decided about.
const DECIDERS: [&str; 2] = ["daemon/core/src/policy", "daemon/core/src/consensus"];

/// Crates and the rooms that alone may name them, tests apart.
const ONLY: &[(&str, &[&str])] = &[
    ("sled", &["daemon/src/store/embedded"]),
    ("seccompiler", &["daemon/src/store/durable"]),
    ("lettre", &["daemon/src/outbox/mail"]),
    ("interprocess", &["daemon/src/socket", "tui/src/link"]),
    ("crossterm", &["tui/src/term"]),
    ("hyper", &["daemon/src/http", "daemon/src/outbox", "tui/src/link"]),
    ("hyper_util", &["daemon/src/http", "daemon/src/outbox", "tui/src/link"]),
];

/// Whether a file is the module of a room or stands in its folder.
fn stands_in(path: &str, rooms: &[&str]) -> bool {
    let stem = path.trim_end_matches(".rs");
    rooms
        .iter()
        .any(|room| stem.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

#[test]
fn walls_hold() {
    let mut flaws = Vec::new();
    for source in tree::sources() {
        let mentions = mentions(&source);
        for wall in WALLS.iter().filter(|wall| stands_in(&source.path, wall.rooms)) {
            let crossing = mentions.iter().filter(|name| wall.never.iter().any(|wall| is_within(name, wall)));
            flaws.extend(crossing.map(|name| format!("{} names {name}", source.path)));
        }
    }
    none(&flaws, "a room names what it must not know");
}

#[test]
fn heavy_crates_have_one_door() {
    let mut flaws = Vec::new();
    for source in tree::sources().iter().filter(|source| !source.is_test) {
        let mentions = mentions(source);
        for (name, rooms) in ONLY {
            if mentions.iter().any(|mention| is_within(mention, name)) && !stands_in(&source.path, rooms) {
                flaws.push(format!("{} names {name}", source.path));
            }
        }
    }
    none(&flaws, "a crate is named outside of its room");
}

#[test]
fn kinds_do_not_know_each_other() {
    const FOLDER: &str = "daemon/core/src/kinds/";
    let mut flaws = Vec::new();
    for source in tree::sources() {
        let Some((noun, kind)) = source.path.strip_prefix(FOLDER).and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        let own = kind.split('/').next().unwrap_or(kind).trim_end_matches(".rs");
        for name in mentions(&source) {
            let Some(rest) = name.strip_prefix("crate::kinds::") else { continue };
            let is_own =
                is_within(rest, &format!("{noun}::{own}")) || (own == "mod" && is_within(rest, noun));
            if !is_own && !is_within(rest, "prelude") {
                flaws.push(format!("{} names {name}", source.path));
            }
        }
    }
    none(&flaws, "a kind names another kind");
}

#[test]
fn the_deciders_know_no_type() {
    let sources = tree::sources();
    let deciders: Vec<&Source> = sources.iter().filter(|source| stands_in(&source.path, &DECIDERS)).collect();
    assert!(deciders.len() >= DECIDERS.len(), "the deciders are not where they were");
    let naming = deciders.iter().filter(|source| source.text.contains("ACTIVITY_TYPE_"));
    none(&naming.map(|source| source.path.clone()).collect::<Vec<_>>(), "policy and consensus name no kind");
}

/// Whether a path is `room` or below it.
fn is_within(path: &str, room: &str) -> bool {
    path.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Everything that a file names by a path, with `self` and `super` resolved to `crate::…`.
fn mentions(source: &Source) -> Vec<String> {
    let mut mentions = Mentions { module: module_of(&source.path), found: Vec::new() };
    mentions.visit_file(&source.syntax);
    mentions.found.sort();
    mentions.found.dedup();
    mentions.found
}

/// The module of a file, from `crate` on.
fn module_of(path: &str) -> Vec<String> {
    let inside = path.rsplit_once("src/").map_or("", |(_, inside)| inside);
    let module = tree::module_folder(&format!("/{inside}"));
    let names = module.split('/').filter(|name| !name.is_empty()).map(str::to_owned);
    std::iter::once("crate".to_owned()).chain(names).collect()
}

struct Mentions {
    module: Vec<String>,
    found: Vec<String>,
}

impl Mentions {
    fn note(&mut self, names: &[String]) {
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
        self.found.push(base.join("::"));
    }

    fn note_use(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |name: &syn::Ident| {
            let mut names = before.to_vec();
            names.push(name.to_string());
            names
        };
        match tree {
            syn::UseTree::Path(path) => self.note_use(&path.tree, &with(&path.ident)),
            syn::UseTree::Name(name) if name.ident == "self" => self.note(before),
            syn::UseTree::Name(name) => self.note(&with(&name.ident)),
            syn::UseTree::Rename(rename) => self.note(&with(&rename.ident)),
            syn::UseTree::Glob(_) => self.note(before),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.note_use(item, before)),
        }
    }
}

impl<'ast> Visit<'ast> for Mentions {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.module.push(module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_use(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if names.len() > 1 {
            self.note(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        visit::visit_macro(self, item);
        // Arguments of a macro are no syntax yet; what can be read as a path there is found by its colons.
        let text = item.tokens.to_string().replace(" :: ", "::");
        let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
        for word in words.filter(|word| word.contains("::")) {
            let names: Vec<String> =
                word.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
            self.note(&names);
        }
    }

    // `pub(in path)` says who may see, not who is used.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}
