//! Checks whether the facts of a request contain the namespaces that an expression reads.

use crate::check::namespaces;
use crate::plan::{Node, Step};
use crate::program::Program;
use crate::value::Facts;

/// Returns whether the facts contain every namespace that the program reads.
///
/// A namespace is a root, or for a chain the kind of transaction or message below it, such as `eth.tx`.
/// Members of a namespace may still be missing.
pub(crate) fn namespaces_are_present(program: &Program, facts: &dyn Facts) -> bool {
    is_present(program.plan(), facts)
}

fn is_present(node: &Node, facts: &dyn Facts) -> bool {
    match &node.step {
        Step::Root(root) => facts.root(root).is_some(),
        Step::Path(path) => {
            let of_chain = path.members.first().filter(|_| namespaces::is_divided(path.root));
            let root = facts.root(path.root);
            match of_chain {
                Some(kind) => root.and_then(|chain| chain.member(&kind.name)).is_some(),
                None => root.is_some(),
            }
        }
        _ => node.parts().into_iter().all(|part| is_present(part, facts)),
    }
}
