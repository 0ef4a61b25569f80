//! The reach of a rule, independent of how it is written.

use quorate_policy::Value;
use quorate_policy::decide::{
    Approver, Credential, DenyErrors, Effect, Electorate, PolicyOutcome, PolicyProgram, Proposer, outcome,
};
use quorate_policy::lint::lint;
use quorate_policy::simulate::{NamedPolicy, OrganizationRules};

use super::types::types;

/// Returns whether the condition is true for every activity that policies decide on.
pub(crate) fn takes_anything(program: &PolicyProgram) -> bool {
    let policy = NamedPolicy { id: String::new(), name: String::new(), program: program.clone() };
    let rules = OrganizationRules {
        users: Vec::new(),
        roots: Vec::new(),
        threshold: 1,
        policies: vec![policy],
        deny_errors: DenyErrors::Skip,
    };
    lint(&rules, &types(), &()).iter().any(|finding| finding.code == "always-true")
}

/// Returns whether an unknown user meets the consensus alone.
pub(crate) fn takes_anybody(program: &PolicyProgram) -> bool {
    let user_id = "00000000-0000-0000-0000-000000000000".to_owned();
    let credential = Credential {
        id: user_id.clone(),
        user_id: user_id.clone(),
        credential_type: "CREDENTIAL_TYPE_API_KEY_P256".to_owned(),
        credential_id: None,
        public_key: String::new(),
    };
    let somebody = Approver {
        user_id: user_id.clone(),
        tags: Vec::new(),
        email: String::new(),
        alias: String::new(),
        credentials: vec![credential],
    };
    let only = PolicyProgram { effect: Effect::Allow, condition: None, time: None, ..program.clone() };
    let electorate = Electorate::new(Proposer { user_id, is_root: false }, vec![somebody], Vec::new);
    outcome(&only, &Value::record::<&str, Value>([]), &electorate) == PolicyOutcome::Allow
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn detects_unlimited_rules_however_they_are_written() {
        let parsed =
            |condition, consensus| PolicyProgram::parse(Effect::Allow, condition, consensus, None).unwrap();
        for always in ["true", "1 == 1", "(true)", "!false"] {
            assert!(takes_anything(&parsed(Some(always), None)), "{always}");
        }
        assert!(takes_anything(&parsed(None, None)));
        for at_times in ["activity.action == 'SIGN'", "wallet.id == 'a'"] {
            assert!(!takes_anything(&parsed(Some(at_times), None)), "{at_times}");
        }
        for anybody in ["true", "1 == 1", "approvers.count() >= 0", "approvers.count() == 1", "!false"] {
            assert!(takes_anybody(&parsed(None, Some(anybody))), "{anybody}");
        }
        assert!(takes_anybody(&parsed(None, None)));
        for somebody in ["approvers.count() >= 2", "approvers.any(user, user.id == 'a')"] {
            assert!(!takes_anybody(&parsed(None, Some(somebody))), "{somebody}");
        }
    }
}
