//! Changes an MFA policy of a user.

use super::requirement::{flag_condition, flag_sessions, flag_steps, known, named, steps, words};
use crate::kinds::prelude::*;

pub(super) const KIND: Kind = Kind::new("UPDATE_MFA_POLICY", "Change MFA policy", describe);

fn describe(parameters: &Reader<'_>, context: &ReviewContext<'_>) -> Result<Description> {
    let (id, policy) = (parameters.text("userId")?, parameters.text("mfaPolicyId")?);
    let (user, user_named) = (context.user(id), context.user_named(id));
    let known = known(user, policy);
    let named = named(known, policy);
    let steps = steps(parameters)?;
    let brief = format!("of {}: {named}", context.user_name(id));
    let mut description = Description::new(brief, String::new());
    let mut sentences = vec![format!("Change the MFA policy {named} of {user_named}.")];
    let mut weakens = false;
    let now = |value: Option<String>| value.unwrap_or_else(|| "?".to_owned());
    if let Some(name) = parameters.maybe_text("mfaPolicyName")? {
        sentences.push(format!("Its name becomes {}.", quoted(name)));
        description.change("name", now(known.map(|known| clean(&known.mfa_policy_name))), clean(name));
    }
    if let Some(condition) = parameters.maybe_text("condition")? {
        sentences.push(format!("It then applies where {} is true.", quoted(condition)));
        description.change("condition", now(known.map(|known| clean(&known.condition))), clean(condition));
        flag_condition(condition, &mut description);
        weakens = true;
    }
    if !steps.is_empty() {
        sentences.push(format!("It then requires {}.", words(&steps, context)));
        let before = known.map(|known| words(&known.required_authentication_methods, context));
        description.change("steps", now(before), words(&steps, context));
        flag_steps(&steps, user, &user_named, &mut description, context);
        weakens = true;
    }
    let condition =
        parameters.maybe_text("condition")?.or_else(|| known.map(|known| known.condition.as_str()));
    let present: &[_] = known.map_or(&[], |known| &known.required_authentication_methods);
    let steps = if steps.is_empty() { present } else { &steps };
    flag_sessions(condition.unwrap_or_default(), steps, user, &user_named, &mut description);
    if parameters.has("order") {
        let order = parameters.number("order")?;
        sentences.push(format!("Its order becomes {order}: the first policy that applies counts."));
        description.change("order", now(known.map(|known| known.order.to_string())), order.to_string());
        weakens = true;
    }
    description.sentence = sentences.join(" ");
    if weakens {
        let text = format!(
            "May weaken the authentication of {user_named}: compare the change with the present policy, which only the \
             daemon states."
        );
        description.flag_high("mfa-changed", text);
    }
    description.flag_if_missing("unknown-mfa-policy", known.is_some(), &format!("The MFA policy {named}"));
    Ok(description)
}

#[cfg(test)]
mod tests {
    use quorate_common::ids::MfaPolicyId;
    use serde_json::json;

    use crate::testing::Fixture;

    #[test]
    fn describes_each_change() {
        let of = |user: usize, byte: u8| json!({"userId": Fixture::user(user), "mfaPolicyId": MfaPolicyId::from_bytes([byte; 16])});
        let with = |members: serde_json::Value| {
            let mut parameters = of(1, 0x88);
            if let (Some(parameters), Some(members)) = (parameters.as_object_mut(), members.as_object()) {
                parameters.extend(members.clone());
            }
            ("UPDATE_MFA_POLICY", parameters)
        };
        let session = json!([{"any": [{"type": "AUTHENTICATION_TYPE_SESSION"}]}]);
        let sms = json!([{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]}, {"any": [{"type": "AUTHENTICATION_TYPE_SMS_OTP"}]}]);
        crate::kinds::tests::check(
            "update_mfa_policy",
            &[
                with(
                    json!({"mfaPolicyName": "renamed", "requiredAuthenticationMethods": [], "notes": "why"}),
                ),
                with(json!({"condition": "false", "order": 3})),
                with(json!({"requiredAuthenticationMethods": session})),
                with(json!({"condition": "true", "requiredAuthenticationMethods": session})),
                with(json!({"requiredAuthenticationMethods": sms})),
                ("UPDATE_MFA_POLICY", of(1, 0x99)),
            ],
        );
    }
}
