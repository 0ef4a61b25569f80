//! Forms for the parameters of an activity, built from the schemas of the catalog: which kinds can be proposed, the
//! fields of a form, what is wrong with the values, and the ids of names. Nothing in this module draws.

mod field;
mod form;
mod names;
mod node;
mod words;

use quorate_common::catalog::{Gate, KindEntry};
use quorate_policy::request::kind_of;

use crate::{catalog, kinds};

pub(crate) use field::Field;
pub(crate) use form::{Form, Member, Place, Row};
pub(crate) use names::{Candidate, Known, resolved};
pub(crate) use node::{Content, Node};
pub(crate) use words::{is_secret, limits, made_by};

/// Returns the newest version of each kind, sorted by the title of the kind.
pub(crate) fn newest() -> Vec<&'static KindEntry> {
    let mut entries: Vec<&'static KindEntry> = Vec::new();
    for entry in catalog::all() {
        let is_newer = |known: &&KindEntry| version(&known.activity_type) < version(&entry.activity_type);
        let of_kind =
            |known: &&mut &KindEntry| kind_of(&known.activity_type) == kind_of(&entry.activity_type);
        match entries.iter_mut().find(of_kind) {
            Some(known) if is_newer(known) => *known = entry,
            Some(_) => {}
            None => entries.push(entry),
        }
    }
    entries.sort_by_key(|entry| title(entry));
    entries
}

/// Returns the title of a kind for people.
pub(crate) fn title(entry: &KindEntry) -> &'static str {
    kinds::of_type(&entry.activity_type).map_or("", |(kind, _)| kind.title)
}

/// Returns the description of a type in one line.
pub(crate) fn description(entry: &KindEntry) -> String {
    entry.description.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Finds a type by its whole name, or the newest version of a kind by its name without prefix, in any case and
/// with `-` or `_`.
pub(crate) fn of_name(name: &str) -> Option<&'static KindEntry> {
    let name = name.to_uppercase().replace('-', "_");
    let exact = catalog::all().find(|entry| {
        entry.activity_type == name
            || name.contains("_V") && entry.activity_type == format!("ACTIVITY_TYPE_{name}")
    });
    exact.or_else(|| newest().into_iter().find(|entry| kind_of(&entry.activity_type) == name))
}

/// Returns why activities of a type cannot be proposed here, and what does it instead.
pub(crate) fn unavailable(entry: &KindEntry) -> Option<&'static str> {
    match entry.gate {
        Gate::Vote => Some(
            "a vote is cast in the review of an activity, or with `quorate approve` and `quorate reject`",
        ),
        Gate::Invitation => {
            Some("the invited person accepts it with a passkey of their own, in a client library of the API")
        }
        Gate::Registrant => Some(
            "a new top-level organization is created with `quorated init`, or with a passkey in a client library",
        ),
        Gate::Policy | Gate::RootQuorum | Gate::OwnCredential | Gate::RootUser | Gate::Caller => None,
    }
}

/// Returns the version in the name of a type; the first has none.
fn version(activity_type: &str) -> u32 {
    let digits = activity_type.rsplit_once("_V").map(|(_, digits)| digits);
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
pub(crate) mod tests;
