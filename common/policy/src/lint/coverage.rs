//! Determines whether a condition applies to the requests of an activity type, without any request.

use super::scenario::{self, ActivityType};
use super::truth;
use crate::plan::conjuncts;
use crate::program::Program;

/// The requests of an activity type to which a condition applies, if what cannot be evaluated counts as true, as it does
/// for MFA policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// None of them.
    None,
    /// It depends on facts of the request.
    Some,
    /// All of them.
    All,
}

/// Returns the requests of a type to which a condition applies.
pub fn coverage(condition: &Program, activity: &ActivityType) -> Coverage {
    let parts = conjuncts(condition.plan());
    let possible: Vec<_> =
        scenario::of_type(activity).iter().map(|scenario| truth::all(&parts, scenario)).collect();
    if possible.iter().all(|one| !one.falsity) {
        Coverage::All
    } else if possible.iter().all(|one| !one.truth && !one.failure) {
        Coverage::None
    } else {
        Coverage::Some
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::ExpressionKind;

    #[test]
    fn conditions_are_evaluated_as_far_as_the_type_determines_them() {
        let login = ActivityType {
            name: "ACTIVITY_TYPE_STAMP_LOGIN".to_owned(),
            action: "CREATE".to_owned(),
            resource: "AUTH".to_owned(),
        };
        for (condition, expected) in [
            ("true", Coverage::All),
            ("(true)", Coverage::All),
            ("true || false", Coverage::All),
            ("1 == 1", Coverage::All),
            ("!(1 == 2)", Coverage::All),
            ("activity.kind != 'SIGN_TRANSACTION'", Coverage::All),
            ("activity.kind in ['STAMP_LOGIN', 'DELETE_MFA_POLICY']", Coverage::All),
            ("activity.resource == 'AUTH' && activity.action == 'CREATE'", Coverage::All),
            // A login has no wallet and no transaction.
            ("wallet.label == 'x' || true", Coverage::All),
            ("eth.tx.value > 5", Coverage::All),
            ("activity.params.session_profile_id != 'x'", Coverage::Some),
            ("activity.kind != 'STAMP_LOGIN'", Coverage::None),
            ("activity.action == 'SIGN'", Coverage::None),
            ("false", Coverage::None),
            ("true && 1 == 2", Coverage::None),
        ] {
            let program = Program::parse(ExpressionKind::Condition, condition).unwrap();
            assert_eq!(coverage(&program, &login), expected, "{condition}");
        }
    }
}
