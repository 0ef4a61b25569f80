//! The properties of users, wallets and private keys that activities can change and that expressions can read.

use std::collections::BTreeSet;

use crate::named_enum;
use crate::plan::{Node, Step};
use crate::program::Program;
use crate::value::Value;

named_enum! {
    /// A property that somebody chose. Anyone who may change it decides what an expression that reads it matches.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Property {
        /// Name of a user.
        UserName = "user.alias",
        /// Mail address of a user.
        UserEmail = "user.email",
        /// Tags of a user.
        UserTags = "user.tags",
        /// Name of a wallet.
        WalletName = "wallet.label",
        /// Name of a private key.
        PrivateKeyName = "private_key.label",
        /// Tags of a private key.
        PrivateKeyTags = "private_key.tags",
    }
}

impl Property {
    /// Returns the property that identifies the same object and that nobody can change, as expressions write it.
    pub fn identity(self) -> &'static str {
        match self {
            Self::UserName | Self::UserEmail | Self::UserTags => "user.id",
            Self::WalletName => "wallet.id",
            Self::PrivateKeyName | Self::PrivateKeyTags => "private_key.id",
        }
    }

    /// Returns the name of the member. No expression reads the property without this word.
    pub fn member(self) -> &'static str {
        self.name().rsplit('.').next().unwrap_or_default()
    }

    /// Returns the roots from which the objects are reached.
    fn roots(self) -> &'static [&'static str] {
        match self {
            Self::UserName | Self::UserEmail | Self::UserTags => &["approvers"],
            Self::WalletName => &["wallet", "wallets"],
            Self::PrivateKeyName | Self::PrivateKeyTags => &["private_key"],
        }
    }
}

impl Program {
    /// Returns whether the outcome can depend on a property of any object.
    pub fn reads(&self, property: Property) -> bool {
        !Reads::of(self, property).are_none()
    }

    /// Returns whether the outcome can depend on whether objects have one of these tags.
    ///
    /// An expression that only tests for other tags, by their ids, does not depend on these.
    pub fn reads_tags(&self, property: Property, tags: &[&str]) -> bool {
        let reads = Reads::of(self, property);
        let names = |id: &String| tags.iter().any(|tag| tag.eq_ignore_ascii_case(id));
        reads.others > 0 || (reads.tests > 0 && reads.texts.iter().any(names))
    }
}

/// How an expression reads a property.
#[derive(Default)]
struct Reads {
    /// Number of tests whether the property, which is a list, contains a literal.
    tests: usize,
    /// Number of other reads.
    others: usize,
    /// Text literals in the tests.
    texts: BTreeSet<String>,
}

impl Reads {
    fn of(program: &Program, property: Property) -> Self {
        let mut reads = Self::default();
        let is_object =
            |node: &Node| matches!(&node.step, Step::Root(root) if property.roots().contains(root));
        reads.visit(program.plan(), property, contains(program.plan(), &is_object));
        reads
    }

    fn are_none(&self) -> bool {
        self.tests == 0 && self.others == 0
    }

    /// Counts the reads in a part. A member of a variable counts if the expression uses `objects` of the kind as a
    /// whole: the plan does not state which of them a variable is.
    fn visit(&mut self, node: &Node, property: Property, objects: bool) {
        let reads = |node: &Node| match &node.step {
            Step::Path(path) => {
                let first = path.members.first();
                property.roots().contains(&path.root)
                    && first.is_some_and(|first| first.name == property.member())
            }
            Step::Field(field) => objects && field.name == property.member(),
            _ => false,
        };
        match &node.step {
            Step::Contains(test) if reads(&test.list) && test.item.constant().is_some() => {
                self.tests = self.tests.saturating_add(1);
                if let Some(Value::Text { text, .. }) = test.item.constant() {
                    self.texts.insert(text.clone().into_owned());
                }
                test.list.parts().into_iter().for_each(|part| self.visit(part, property, objects));
                return;
            }
            _ if reads(node) => self.others = self.others.saturating_add(1),
            _ => {}
        }
        node.parts().into_iter().for_each(|part| self.visit(part, property, objects));
    }
}

fn contains(node: &Node, holds: &dyn Fn(&Node) -> bool) -> bool {
    holds(node) || node.parts().into_iter().any(|part| contains(part, holds))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::ExpressionKind::{Condition, Consensus};

    fn read(kind: crate::ExpressionKind, source: &str) -> String {
        let program = Program::parse(kind, source).unwrap();
        let read = Property::ALL.iter().filter(|property| program.reads(**property));
        read.map(|property| property.name()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn reads_are_found_however_they_are_written() {
        let check = |kind, source: &str, expected: &str| assert_eq!(read(kind, source), expected, "{source}");
        check(Condition, "wallet.label == 'hot'", "wallet.label");
        check(Condition, "wallets.any(w, w.label == 'hot')", "wallet.label");
        check(Condition, "wallets[0].label == 'hot'", "wallet.label");
        check(Condition, "[wallet].any(w, 'hot' == w.label)", "wallet.label");
        check(Condition, "{x: wallet}.x.label in ['hot']", "wallet.label");
        check(Condition, "wallet.label[0..1] == 'h'", "wallet.label");
        check(Condition, "CaseInsensitiveString(private_key.label) == 'hot'", "private_key.label");
        check(Condition, "private_key.tags.count() == 1", "private_key.tags");
        check(Condition, "wallet.id == 'label' && wallet.imported", "");
        check(Condition, "activity.params.claim.label == 'wallet.label' && wallet.id == 'x'", "");
        check(Condition, "eth.tx.contract_call_args['label'] == 'x'", "");
        check(Consensus, "approvers.any(user, user.alias == 'treasurer')", "user.alias");
        check(Consensus, "approvers[0].email == 'a@b.example'", "user.email");
        check(Consensus, "approvers.filter(u, !(u.tags.contains('t'))).count() >= 1", "user.tags");
        check(Consensus, "approvers.any(alias, alias.id == 'x')", "");
        check(Consensus, "credentials.any(c, c.user_id == 'alias')", "");
    }

    #[test]
    fn tests_for_other_tags_do_not_count() {
        let check = |source: &str, expected: bool| {
            let program = Program::parse(Consensus, source).unwrap();
            assert_eq!(program.reads_tags(Property::UserTags, &["t1", "t2"]), expected, "{source}");
        };
        check("approvers.any(u, u.tags.contains('t2'))", true);
        check("approvers.any(u, 'T1' in u.tags)", true);
        check("approvers.any(u, u.tags.contains('t3'))", false);
        check("approvers.any(u, u.id == 't1')", false);
        check("approvers.any(u, u.id == 't1' && u.tags.contains('t3'))", false);
        check("approvers.any(u, u.tags.count() == 2)", true);
        check("['t3'].any(t, approvers[0].tags.contains(t))", true);
    }
}
