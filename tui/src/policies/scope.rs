//! The reach of a rule, independent of how it is written.

use quorate_policy::Value;
use quorate_policy::decide::{
    Approver, Credential, DenyErrors, Effect, Electorate, PolicyOutcome, PolicyProgram, Proposer, outcome,
};
use quorate_policy::lint::{Finding, lint};
use quorate_policy::simulate::{NamedPolicy, OrganizationRules};

use super::types::types;

/// Returns whether the condition is true for every activity that policies decide on.
pub(crate) fn matches_any_activity(program: &PolicyProgram) -> bool {
    has_finding(program, "always-true")
}

/// Returns whether the policy allows kinds that give access in the name of any user.
pub(crate) fn gives_access_as_others(program: &PolicyProgram) -> bool {
    has_finding(program, "access-as-others")
}

/// Returns the findings about texts that can never match: names of a kind, type, action or resource that no activity
/// has, and texts that are compared with ids and can never be one.
pub(crate) fn doubtful(program: &PolicyProgram) -> Vec<Finding> {
    let is_meant = |finding: &Finding| ["unknown-name", "impossible-id"].contains(&finding.code);
    findings(program).into_iter().filter(is_meant).collect()
}

/// Returns whether `policy lint` reports a finding with this code for the policy alone.
fn has_finding(program: &PolicyProgram, code: &str) -> bool {
    findings(program).iter().any(|finding| finding.code == code)
}

/// Returns the lint findings of a policy alone.
fn findings(program: &PolicyProgram) -> Vec<Finding> {
    let policy = NamedPolicy { id: String::new(), name: String::new(), program: program.clone() };
    let rules = OrganizationRules {
        users: Vec::new(),
        roots: Vec::new(),
        threshold: 1,
        policies: vec![policy],
        deny_errors: DenyErrors::Skip,
    };
    lint(&rules, &types(), &())
}

/// Returns whether an unknown user meets the consensus alone.
pub(crate) fn is_met_by_anybody(program: &PolicyProgram) -> bool {
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
    is_met(program, &[&somebody])
}

/// Maximum number of groups of users that [`fewest`] tries.
const GROUPS: usize = 5000;

/// Returns the size of the smallest group of these users that meets the consensus. Returns `None` if no group
/// of up to three users does, or if there are too many groups to try.
pub(crate) fn fewest(program: &PolicyProgram, users: &[Approver]) -> Option<usize> {
    let pairs = || {
        let later = |index: usize| users.iter().enumerate().skip(index.saturating_add(1));
        let first = users.iter().enumerate();
        first.flat_map(move |(index, one)| later(index).map(move |(last, other)| (last, one, other)))
    };
    let one = users.iter().map(|one| vec![one]);
    let two = pairs().map(|(_, one, other)| vec![one, other]);
    let three = pairs().flat_map(|(last, one, other)| {
        users.iter().skip(last.saturating_add(1)).map(move |third| vec![one, other, third])
    });
    let mut groups = one.chain(two).chain(three).take(GROUPS);
    groups.find(|group| is_met(program, group)).map(|group| group.len())
}

/// Returns whether these approvals meet the consensus.
fn is_met(program: &PolicyProgram, approvers: &[&Approver]) -> bool {
    let only = PolicyProgram { effect: Effect::Allow, condition: None, time: None, ..program.clone() };
    let user_id = approvers.first().map(|first| first.user_id.clone()).unwrap_or_default();
    let approvers = approvers.iter().copied().cloned().collect();
    let electorate = Electorate::new(Proposer { user_id, is_root: false }, approvers, Vec::new);
    outcome(&only, &Value::record::<&str, Value>([]), &electorate) == PolicyOutcome::Allow
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn parsed(condition: Option<&str>, consensus: Option<&str>) -> PolicyProgram {
        PolicyProgram::parse(Effect::Allow, condition, consensus, None).unwrap()
    }

    #[test]
    fn names_that_no_activity_has_are_found() {
        for (condition, expected) in [
            ("activity.kind == 'OTP_LOGINX'", vec!["unknown kind \"OTP_LOGINX\""]),
            ("activity.kind in ['OTP_LOGIN', 'otp_login']", vec!["unknown kind \"otp_login\""]),
            (
                "activity.resource != 'OTPX' || activity.action == 'SIGNX'",
                vec!["unknown action \"SIGNX\"", "unknown resource \"OTPX\""],
            ),
            ("'ACTIVITY_TYPE_SIGN' == activity.type", vec!["unknown type \"ACTIVITY_TYPE_SIGN\""]),
            ("activity.kind == 'SIGN_RAW_PAYLOAD_V2'", vec!["unknown kind \"SIGN_RAW_PAYLOAD_V2\""]),
            (
                "activity.type == 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2' && activity.kind == 'SIGN_RAW_PAYLOAD'",
                vec![],
            ),
            ("activity.resource == 'WALLET' && activity.action in ['CREATE', 'EXPORT']", vec![]),
            ("wallet.label == 'OTPX'", vec![]),
            ("wallet.id == ''", vec!["impossible id \"\""]),
            ("wallet.id == '00000000-0000-4000-8000-000000000001'", vec![]),
        ] {
            let found = doubtful(&parsed(Some(condition), None));
            let found: Vec<&str> =
                found.iter().filter_map(|one| one.text.split_once(':')).map(|(what, _)| what).collect();
            assert_eq!(found, expected, "{condition}");
        }
    }

    #[test]
    fn detects_unlimited_rules_however_they_are_written() {
        for always in ["true", "1 == 1", "(true)", "!false"] {
            assert!(matches_any_activity(&parsed(Some(always), None)), "{always}");
        }
        assert!(matches_any_activity(&parsed(None, None)));
        for (condition, expected) in [
            ("activity.resource == 'AUTH'", true),
            ("activity.resource == 'OTP' || activity.resource == 'AUTH'", true),
            ("activity.resource == 'CREDENTIAL' && activity.action == 'CREATE'", true),
            ("activity.kind == 'CREATE_API_KEYS'", true),
            ("activity.kind in ['INIT_OTP', 'VERIFY_OTP', 'OTP_LOGIN', 'CREATE_SUB_ORGANIZATION']", false),
            ("activity.kind == 'CREATE_API_KEYS' && activity.params.user_id == 'a'", false),
            ("activity.resource == 'CREDENTIAL' && activity.action == 'DELETE'", false),
        ] {
            assert_eq!(gives_access_as_others(&parsed(Some(condition), None)), expected, "{condition}");
        }
        for at_times in ["activity.action == 'SIGN'", "wallet.id == 'a'"] {
            assert!(!matches_any_activity(&parsed(Some(at_times), None)), "{at_times}");
        }
        for anybody in ["true", "1 == 1", "approvers.count() >= 0", "approvers.count() == 1", "!false"] {
            assert!(is_met_by_anybody(&parsed(None, Some(anybody))), "{anybody}");
        }
        assert!(is_met_by_anybody(&parsed(None, None)));
        for (consensus, expected) in [
            ("true", Some(1)),
            ("approvers.count() >= 2", Some(2)),
            ("approvers.count() == 3", Some(3)),
            ("approvers.any(user, user.id == 'c') && approvers.count() >= 2", Some(2)),
            ("approvers.any(user, user.id == 'd')", None),
        ] {
            let users = ["a", "b", "c"].map(|id| Approver {
                user_id: id.to_owned(),
                tags: Vec::new(),
                email: String::new(),
                alias: String::new(),
                credentials: Vec::new(),
            });
            assert_eq!(fewest(&parsed(None, Some(consensus)), &users), expected, "{consensus}");
        }
        for somebody in ["approvers.count() >= 2", "approvers.any(user, user.id == 'a')"] {
            assert!(!is_met_by_anybody(&parsed(None, Some(somebody))), "{somebody}");
        }
    }
}
