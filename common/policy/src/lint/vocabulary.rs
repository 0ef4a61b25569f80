//! Finds names of kinds, types, actions and resources that no activity has, such as misspelled ones.

use std::collections::BTreeSet;

use super::{ActivityType, SHOWN_CHARS};
use crate::plan::{Node, Step};
use crate::program::Program;
use crate::request::kind_of;
use crate::value::Value;

/// Returns a sentence about each name that a condition compares with a member of `activity`, and that no type has.
pub fn unknown_names<'t>(condition: &Program, types: &'t [ActivityType]) -> BTreeSet<String> {
    let mut unknown = BTreeSet::new();
    names(condition.plan(), &mut |member, text, folds_case| {
        let value_of = |one: &'t ActivityType| -> Option<&'t str> {
            Some(match member {
                "kind" => kind_of(&one.name),
                "type" => &one.name,
                "action" => &one.action,
                "resource" => &one.resource,
                _ => return None,
            })
        };
        let is_name = |one: &str| if folds_case { one.eq_ignore_ascii_case(text) } else { one == text };
        let mut known = types.iter().filter_map(value_of).peekable();
        // Other members have no fixed set of names.
        if known.peek().is_some() && !known.any(is_name) {
            // Quotes and control characters are escaped, so that a name cannot pass for a part of the sentence.
            let shown: String = text.chars().take(SHOWN_CHARS).collect();
            unknown.insert(format!("unknown {member} {shown:?}: no activity that policies decide on has it"));
        }
    });
    unknown
}

/// Calls `visit` with each text that a member of `activity` is compared with: the member, the text, and whether case is
/// ignored.
fn names(node: &Node, visit: &mut dyn FnMut(&str, &str, bool)) {
    let sides = match &node.step {
        Step::Compare { left, right, .. } => vec![(&**left, &**right), (&**right, &**left)],
        Step::Contains(contains) => vec![(&contains.item, &contains.list)],
        _ => Vec::new(),
    };
    for (path, values) in sides {
        let folds_all = matches!(&path.step, Step::Lower(_));
        let Some(member) = member(path) else { continue };
        each_text(values, &mut |text, folds_case| visit(member, text, folds_case || folds_all));
    }
    node.parts().into_iter().for_each(|part| names(part, visit));
}

/// Returns the member of `activity` that a part reads, also within `CaseInsensitiveString`.
fn member(node: &Node) -> Option<&str> {
    match &node.step {
        Step::Lower(inner) => member(inner),
        Step::Path(path) if path.root == "activity" && path.members.len() == 1 => {
            path.members.first().map(|member| member.name.as_str())
        }
        _ => None,
    }
}

fn each_text(node: &Node, visit: &mut dyn FnMut(&str, bool)) {
    if let Step::Lower(inner) = &node.step {
        return each_text(inner, &mut |text, _| visit(text, true));
    }
    match node.constant() {
        Some(Value::Text { text, folds_case }) => visit(text, *folds_case),
        Some(Value::List(elements)) => elements.iter().for_each(|element| {
            if let Value::Text { text, folds_case } = element {
                visit(text, *folds_case);
            }
        }),
        _ => {}
    }
}
