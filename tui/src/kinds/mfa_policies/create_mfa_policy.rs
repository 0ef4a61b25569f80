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
    flag_sessions(condition, &steps, &named, &mut description);
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
}
