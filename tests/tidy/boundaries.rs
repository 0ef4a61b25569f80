//! Boundaries between the modules of a package, which the compiler does not enforce.

use crate::mentions::mentions;
use crate::tree::{self, Source, none};

/// Modules, and the modules and crates that their files never name.
struct Boundary {
    modules: &'static [&'static str],
    never: &'static [&'static str],
}

const BOUNDARIES: &[Boundary] = &[
    Boundary {
        modules: &["daemon/core/src/kinds"],
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
    Boundary {
        // A module that decides gets the proof that a request may be executed. Only the pipeline does.
        modules: &[
            "daemon/core/src/kinds",
            "daemon/core/src/make",
            "daemon/core/src/params",
            "daemon/core/src/queries",
            "daemon/core/src/operator",
            "daemon/core/src/advice",
            "daemon/core/src/creation",
            "daemon/core/src/execution",
            "daemon/core/src/view",
            "daemon/src",
        ],
        never: &[
            "crate::policy::decide",
            "crate::policy::decide_within",
            "crate::policy::DecisionInput",
            "crate::policy::Granted",
            "quorate_core::policy::decide",
            "quorate_core::policy::decide_within",
            "quorate_core::policy::DecisionInput",
            "quorate_core::policy::Granted",
        ],
    },
    Boundary {
        modules: &DECIDERS,
        never: &["crate::kinds", "crate::pipeline", "crate::queries", "crate::operator"],
    },
    Boundary {
        modules: &["daemon/core/src/model", "daemon/core/src/seal", "daemon/core/src/secret"],
        never: &["crate::kinds", "crate::pipeline", "crate::policy", "crate::consensus", "crate::authn"],
    },
    Boundary {
        modules: &["daemon/core/src/queries"],
        never: &["crate::kinds::prelude", "crate::execution", "crate::make"],
    },
    Boundary {
        modules: &[
            "daemon/src/http",
            "daemon/src/socket",
            "daemon/src/auth_proxy",
            "daemon/src/console",
            "daemon/src/routes",
            "daemon/src/listener",
        ],
        never: &["crate::store", "crate::barrier", "crate::vault"],
    },
    Boundary {
        modules: &["daemon/src/store"],
        never: &[
            "crate::barrier",
            "crate::vault",
            "crate::executor",
            "quorate_core::model",
            "quorate_core::pipeline",
        ],
    },
    Boundary {
        modules: &["tui/src/proof", "tui/src/kinds", "tui/src/policies", "tui/src/text"],
        never: &["crate::link", "crate::screens", "crate::app", "crate::session"],
    },
];

/// Modules that decide, which must not know the activity types.
const DECIDERS: [&str; 2] = ["daemon/core/src/policy", "daemon/core/src/consensus"];

/// Crates, and the only modules that may name them outside of tests.
const ONLY: &[(&str, &[&str])] = &[
    ("sled", &["daemon/src/store/embedded"]),
    ("redb", &["daemon/src/store/redb"]),
    ("tokio_postgres", &["daemon/src/store/postgres"]),
    ("tokio_postgres_rustls", &["daemon/src/store/postgres"]),
    ("seccompiler", &["daemon/src/store/durable"]),
    ("lettre", &["daemon/src/outbox/mail"]),
    ("minijinja", &["daemon/core/src/messages"]),
    ("interprocess", &["daemon/src/socket", "tui/src/link"]),
    ("crossterm", &["tui/src/term"]),
    ("ssh_key", &["tui/src/keys/agent"]),
    ("ssh_encoding", &["tui/src/keys/agent"]),
    ("cryptoki", &["daemon/src/vault/token", "tui/src/keys/token"]),
    ("passkey_transports", &["tui/src/keys/security_key"]),
    ("hidreport", &["tui/src/keys/security_key"]),
    ("hyper", &["daemon/src/http", "daemon/src/outgoing", "tui/src/link"]),
    ("hyper_util", &["daemon/src/http", "daemon/src/outgoing", "tui/src/link"]),
    ("jsonwebtoken", &["daemon/core/src/id_token"]),
];

/// Returns whether a file belongs to one of the modules.
fn is_in(path: &str, modules: &[&str]) -> bool {
    let stem = path.trim_end_matches(".rs");
    modules
        .iter()
        .any(|prefix| stem.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

#[test]
fn modules_respect_boundaries() {
    let mut violations = Vec::new();
    for source in tree::sources() {
        let mentions = mentions(&source);
        for boundary in BOUNDARIES.iter().filter(|boundary| is_in(&source.path, boundary.modules)) {
            let crossing = mentions
                .iter()
                .filter(|name| boundary.never.iter().any(|forbidden| is_within(name, forbidden)));
            violations.extend(crossing.map(|name| format!("{} names {name}", source.path)));
        }
    }
    none(&violations, "a module names something across a boundary");
}

#[test]
fn heavy_crates_are_named_in_one_module() {
    let mut violations = Vec::new();
    for source in tree::sources().iter().filter(|source| !source.is_test) {
        let mentions = mentions(source);
        for (name, modules) in ONLY {
            if mentions.iter().any(|mention| is_within(mention, name)) && !is_in(&source.path, modules) {
                violations.push(format!("{} names {name}", source.path));
            }
        }
    }
    none(&violations, "a crate is named outside of its module");
}

#[test]
fn kinds_do_not_name_each_other() {
    const FOLDER: &str = "daemon/core/src/kinds/";
    let mut violations = Vec::new();
    for source in tree::sources() {
        let Some(rest) = source.path.strip_prefix(FOLDER) else { continue };
        let (noun, kind) = rest.split_once('/').unwrap_or((rest.trim_end_matches(".rs"), "mod"));
        if ["mod", "prelude"].contains(&noun) {
            continue;
        }
        let own = kind.split('/').next().unwrap_or(kind).trim_end_matches(".rs");
        for name in mentions(&source) {
            let Some(rest) = name.strip_prefix("crate::kinds::") else { continue };
            let is_own =
                is_within(rest, &format!("{noun}::{own}")) || (own == "mod" && is_within(rest, noun));
            if !is_own && !is_within(rest, "prelude") {
                violations.push(format!("{} names {name}", source.path));
            }
        }
    }
    none(&violations, "a kind names another kind");
}

#[test]
fn policy_and_consensus_name_no_activity_type() {
    let sources = tree::sources();
    let deciders: Vec<&Source> = sources.iter().filter(|source| is_in(&source.path, &DECIDERS)).collect();
    assert!(deciders.len() >= DECIDERS.len(), "the modules that decide have moved");
    let naming = deciders.iter().filter(|source| source.text.contains("ACTIVITY_TYPE_"));
    none(&naming.map(|source| source.path.clone()).collect::<Vec<_>>(), "policy and consensus name no kind");
}

/// Returns whether a path equals `prefix` or is below it.
fn is_within(path: &str, prefix: &str) -> bool {
    path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}
