//! Finds texts that are compared with ids and that can never be one.

use std::collections::BTreeSet;

use super::SHOWN_CHARS;
use crate::plan::{Node, Step};
use crate::program::Program;
use crate::value::Value;
use crate::words::Names;

/// Roots whose members are ids and lists of ids.
const OBJECTS: [&str; 4] = ["activity", "private_key", "wallet", "wallet_account"];
/// Roots that are lists of objects with ids.
const LISTS: [&str; 3] = ["approvers", "credentials", "wallets"];
/// Members that are ids.
const IDS: [&str; 5] = ["id", "user_id", "wallet_id", "endpoint_id", "session_profile_id"];
/// Members that are lists of ids.
const ID_LISTS: [&str; 3] = ["tags", "user_ids", "api_key_ids"];

/// Returns whether a text has the format of an id: 36 characters in five groups of hexadecimal digits.
pub(super) fn is_id(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns a sentence about each text that an expression compares with an id, and that can never be one. What `names`
/// resolves is an id.
pub(super) fn impossible(program: &Program, names: &dyn Names) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut search = Search {
        scopes: Vec::new(),
        visit: &mut |text| {
            if !is_id(text) && names.name(text).is_none() {
                let shown: String = text.chars().take(SHOWN_CHARS).collect();
                found.insert(format!(
                    "impossible id {shown:?}: ids have 36 characters, such as 01234567-89ab-cdef-0123-456789abcdef"
                ));
            }
        },
    };
    search.visit(program.plan());
    found
}

struct Search<'v> {
    /// Whether the variable of each surrounding lambda is an object with an id, from the outermost one.
    scopes: Vec<bool>,
    visit: &'v mut dyn FnMut(&str),
}

impl Search<'_> {
    fn visit(&mut self, node: &Node) {
        match &node.step {
            Step::Compare { left, right, .. } => {
                for (member, value) in [(left, right), (right, left)] {
                    if self.is_member(member, &IDS) {
                        self.texts(value);
                    }
                }
            }
            Step::Contains(contains) if self.is_member(&contains.item, &IDS) => self.texts(&contains.list),
            Step::Contains(contains) if self.is_member(&contains.list, &ID_LISTS) => {
                self.texts(&contains.item);
            }
            Step::Each(each) => {
                self.visit(&each.of);
                self.scopes.push(is_list(&each.of));
                self.visit(&each.predicate);
                self.scopes.pop();
                return;
            }
            _ => {}
        }
        node.parts().into_iter().for_each(|part| self.visit(part));
    }

    /// Returns whether a part reads one of these members of an object, also within `CaseInsensitiveString`.
    fn is_member(&self, node: &Node, members: &[&str]) -> bool {
        match &node.step {
            Step::Lower(inner) => self.is_member(inner, members),
            Step::Path(path) => {
                let last = path.members.last();
                let is_parameter =
                    path.root != "activity" || path.members.first().is_some_and(|one| one.name == "params");
                // Members below these are not ids of the service.
                let is_near = path.members.len() == if path.root == "activity" { 2 } else { 1 };
                let is_named = last.is_some_and(|last| members.contains(&last.name.as_str()));
                OBJECTS.contains(&path.root) && is_parameter && is_near && is_named
            }
            Step::Field(field) => self.is_object(&field.of) && members.contains(&field.name.as_str()),
            _ => false,
        }
    }

    fn is_object(&self, node: &Node) -> bool {
        match &node.step {
            Step::Variable(lambda) => self.scopes.get(*lambda).copied().unwrap_or_default(),
            Step::Index { of, .. } => is_list(of),
            _ => false,
        }
    }

    fn texts(&mut self, node: &Node) {
        if let Step::Lower(inner) = &node.step {
            return self.texts(inner);
        }
        match node.constant() {
            Some(Value::Text { text, .. }) => (self.visit)(text),
            Some(Value::List(elements)) => {
                for element in elements {
                    if let Value::Text { text, .. } = element {
                        (self.visit)(text);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Returns whether a part is a list of objects with ids, also if only some of them.
fn is_list(node: &Node) -> bool {
    match &node.step {
        Step::Root(root) => LISTS.contains(root),
        Step::Each(each) => is_list(&each.of),
        Step::Slice(slice) => is_list(&slice.of),
        _ => false,
    }
}
