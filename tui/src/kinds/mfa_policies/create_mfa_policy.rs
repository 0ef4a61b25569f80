//! Adds an MFA policy to a user.

use super::requirement::{flag_condition, flag_sessions, flag_steps, steps, words};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("CREATE_MFA_POLICY", "Create MFA policy", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let id = parameters.text("userId")?;
    let (user, named) = (context.user(id), context.user_named(id));
    let name = parameters.text("mfaPolicyName")?;
    let condition = parameters.text("condition")?;
    let (steps, order) = (steps(parameters)?, parameters.number("order")?);
    let mut description = Description::new(
        format!("{} for {}", quoted(name), context.user_name(id)),
        format!(
            "Add the MFA policy {} to {named}: where {} is true, what the user proposes or approves needs {}. Its order \
             is {order}: the first policy that applies counts.",
            quoted(name),
            quoted(condition),
            words(&steps, context)
        ),
    );
    description.change("condition", "-", clean(condition));
    let policies = user.map(|user| user.mfa_policies.as_slice()).unwrap_or_default();
    description.change_added("MFA policies of the user", policies.len(), 1);
    let later = policies.iter().filter(|policy| u64::from(policy.order) > order).count();
    if later > 0 {
        let text = format!(
            "May weaken the authentication of {named}: it takes precedence over {} of the user [s].",
            if later == 1 { "1 MFA policy".to_owned() } else { format!("{later} MFA policies") }
        );
        description.flag_high("takes-precedence", text);
    }
    flag_steps(&steps, user, &named, &mut description, context);
    flag_condition(condition, &mut description);
    flag_sessions(condition, &steps, user, &named, &mut description);
    description.flag_if_missing("unknown-user", user.is_some(), &named);
    Ok(description)
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::AuthenticatorId;
    use serde_json::json;

    use crate::testing::Fixture;

    #[test]
    fn describes_steps_and_dangers() {
        let create = |user: usize, condition: &str, order: u32, steps: serde_json::Value| {
            (
                "CREATE_MFA_POLICY",
                json!({"userId": Fixture::user(user), "mfaPolicyName": "second factor",
                "condition": condition, "requiredAuthenticationMethods": steps, "order": order, "notes": "why"}),
            )
        };
        let method = |of: &str| json!({"type": format!("AUTHENTICATION_TYPE_{of}")});
        let named = |of: &str, id: String| json!({"type": format!("AUTHENTICATION_TYPE_{of}"), "id": id});
        let passkey = AuthenticatorId::from_bytes([0x89; 16]).to_string();
        let key = "30303030-3030-3030-3030-303030303001".to_owned();
        let default = "00000000-0000-0000-0000-000000000000".to_owned();
        let profile = "84848484-8484-8484-8484-848484848484".to_owned();
        crate::kinds::tests::check(
            "create_mfa_policy",
            &[
                create(
                    0,
                    "true",
                    0,
                    json!([{"any": [method("API_KEY")]}, {"any": [method("EMAIL_OTP"), method("SMS_OTP")]}]),
                ),
                create(1, "activity.action == 'SIGN'", 1, json!([{"any": [named("PASSKEY", passkey)]}])),
                create(0, "true", 0, json!([{"any": [method("API_KEY")]}, {"any": [method("SESSION")]}])),
                create(
                    1,
                    "true",
                    9,
                    json!([{"any": [named("API_KEY", key)]},
                    {"any": [named("SESSION", default), named("SESSION", profile), method("OAUTH")]}]),
                ),
                create(
                    9,
                    "nonsense(",
                    0,
                    json!([{"any": [method("PASSKEY")]}, {"any": [method("SESSION")]}]),
                ),
            ],
        );
    }

    /// Returns whether the review of a policy of the user flags that no session could be opened, and that it may be evaded.
    fn flags(user: usize, condition: &str, steps: &serde_json::Value) -> [bool; 2] {
        let parameters = json!({"userId": Fixture::user(user), "mfaPolicyName": "second factor",
            "condition": condition, "requiredAuthenticationMethods": steps, "order": 0});
        let description = crate::kinds::tests::description("CREATE_MFA_POLICY", &parameters);
        ["no-session", "limited-condition"].map(|name| description.flags.iter().any(|flag| flag.name == name))
    }

    #[test]
    fn conditions_are_evaluated_for_logins() {
        let steps = json!([{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]},
            {"any": [{"type": "AUTHENTICATION_TYPE_SESSION"}]}]);
        for (condition, expected) in [
            ("true", [true, false]),
            ("(true)", [true, false]),
            ("true || false", [true, false]),
            ("1 == 1", [true, false]),
            ("activity.kind != 'SIGN_TRANSACTION'", [true, true]),
            ("activity.kind in ['STAMP_LOGIN', 'DELETE_MFA_POLICY']", [true, true]),
            ("activity.kind == 'STAMP_LOGIN'", [true, true]),
            // A login has no wallet, and what cannot be evaluated counts as true.
            ("wallet.label == 'x' || true", [true, false]),
            ("activity.params.session_profile_id != 'x'", [true, true]),
            ("nonsense(", [true, true]),
            ("activity.kind != 'STAMP_LOGIN'", [false, true]),
            ("activity.action == 'SIGN'", [false, true]),
        ] {
            assert_eq!(flags(0, condition, &steps), expected, "{condition}");
        }
    }

    #[test]
    fn steps_count_what_the_user_can_prove() {
        let method = |of: &str| json!({"type": format!("AUTHENTICATION_TYPE_{of}")});
        let (key, session, mail, phone) =
            (method("API_KEY"), method("SESSION"), method("EMAIL_OTP"), method("SMS_OTP"));
        let missing = json!({"type": "AUTHENTICATION_TYPE_PASSKEY",
            "id": "77777777-7777-7777-7777-777777777777"});
        for (user, steps, expected) in [
            (0, json!([{"any": [key]}, {"any": [session]}]), true),
            (0, json!([{"any": [key]}, {"any": [session, phone]}]), true),
            (0, json!([{"any": [key]}, {"any": [session, missing]}]), true),
            (0, json!([{"any": [key]}, {"any": [session, mail]}]), true),
            (0, json!([{"any": [session, key]}]), false),
            // The only API key proves the first step already.
            (0, json!([{"any": [key]}, {"any": [session, key]}]), true),
            (0, json!([{"any": [key]}]), false),
            // Nothing is known about the credentials of this user.
            (9, json!([{"any": [key]}, {"any": [session, phone]}]), false),
            (9, json!([{"any": [key]}, {"any": [session]}]), true),
        ] {
            assert_eq!(flags(user, "true", &steps)[0], expected, "{user} {steps}");
        }
    }
}
