//! Samples and expected errors of MFA policies.

use quorate_common::api_error::Code;
use serde_json::{Value, json};

use super::{Row, Sender};
use crate::fixture::{Fixture, Person};

/// Returns valid parameters of a type of this module. The user of the policy is the last argument.
pub(super) fn sample(name: &str, fixture: &Fixture, subject: &Person) -> Option<Value> {
    let steps = json!([{"any": [{"type": "AUTHENTICATION_TYPE_PASSKEY", "id": subject.authenticator}]}]);
    Some(match name {
        "CREATE_MFA_POLICY" => {
            json!({"userId": subject.user, "mfaPolicyName": "fresh", "condition": "activity.action == 'SIGN'",
            "requiredAuthenticationMethods": steps, "order": 3, "notes": "notes"})
        }
        "UPDATE_MFA_POLICY" => json!({"userId": subject.user, "mfaPolicyId": fixture.mfa_policy,
            "mfaPolicyName": "fresh", "condition": "activity.action == 'SIGN'",
            "requiredAuthenticationMethods": steps, "order": 3, "notes": "notes"}),
        "DELETE_MFA_POLICY" => json!({"userId": subject.user, "mfaPolicyId": fixture.mfa_policy}),
        _ => return None,
    })
}

/// Returns the table rows of this module.
pub(super) fn rows(fixture: &Fixture) -> Vec<Row> {
    use Code::{InvalidArgument, NotFound};
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    let row = |name, changes, code, message: &str| -> Row {
        (name, Sender::Root, changes, code, None, message.to_owned())
    };
    let missing_user = format!("unable to find user {unknown_id} in organization {}", fixture.id);
    let method = |of: &str| json!({"type": format!("AUTHENTICATION_TYPE_{of}")});
    let named = |of: &str, id: &str| json!({"type": format!("AUTHENTICATION_TYPE_{of}"), "id": id});
    let steps = |steps: &[Value]| {
        let steps: Vec<Value> = steps.iter().map(|step| json!({"any": [step]})).collect();
        json!({"requiredAuthenticationMethods": steps})
    };
    let mut rows = Vec::new();
    for name in ["CREATE_MFA_POLICY", "UPDATE_MFA_POLICY"] {
        let condition = "invalid mfa policy condition: ";
        rows.push(row(name, json!({"userId": unknown_id}), NotFound, &missing_user));
        rows.push(row(name, json!({"condition": ""}), InvalidArgument, condition));
        rows.push(row(name, json!({"condition": "approvers.count() > 1"}), InvalidArgument, condition));
        rows.push(row(name, json!({"condition": "activity.nope"}), InvalidArgument, condition));
        let empty = "invalid request body: `any` must not be empty";
        rows.push(row(name, json!({"requiredAuthenticationMethods": [{"any": []}]}), InvalidArgument, empty));
        let none = "the user has no credential for `requiredAuthenticationMethods[0]`";
        for bad in [
            method("EMAIL_OTP"),
            method("SMS_OTP"),
            named("PASSKEY", &fixture.spare.keys[0].to_string()),
            named("API_KEY", &fixture.user.keys[0].to_string()),
            named("OAUTH", unknown_id),
            named("SESSION", unknown_id),
        ] {
            rows.push(row(name, steps(&[bad]), InvalidArgument, none));
        }
        let id = "invalid request body: the `id` of a one-time code must be absent";
        rows.push(row(name, steps(&[named("EMAIL_OTP", unknown_id)]), InvalidArgument, id));
        let few = "the user has too few credentials: each step of an mfa policy needs a different one";
        rows.push(row(name, steps(&[method("PASSKEY"), method("PASSKEY")]), InvalidArgument, few));
    }
    let order = "mfa policy order must be unique";
    rows.push(row("CREATE_MFA_POLICY", json!({"order": 7}), InvalidArgument, order));
    let empty = "invalid request body: `requiredAuthenticationMethods` must not be empty";
    rows.push(row("CREATE_MFA_POLICY", json!({"requiredAuthenticationMethods": []}), InvalidArgument, empty));
    let missing = format!("no MFA policy found with ID {unknown_id}");
    for name in ["UPDATE_MFA_POLICY", "DELETE_MFA_POLICY"] {
        rows.push(row(name, json!({"mfaPolicyId": unknown_id}), NotFound, &missing));
    }
    rows.push(row("DELETE_MFA_POLICY", json!({"userId": unknown_id}), NotFound, &missing_user));
    rows
}
