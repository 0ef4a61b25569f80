//! Whether a user can prove the steps of an MFA policy, as far as the daemon states credentials and contacts.

use quorate_common::assignment;
use quorate_common::wire::{AuthenticationMethod, AuthenticationType, RequiredAuthenticationMethod, User};

use crate::credentials::is_session_key;

/// Something that a user can prove without a session: a method, and the id of the credential if it has one. Each proves at
/// most one step.
type Proof = (AuthenticationType, Option<[u8; 16]>);

/// Returns whether the user has a credential for a step. Anybody can open a session.
pub(super) fn can_prove(step: &RequiredAuthenticationMethod, user: &User) -> bool {
    let proofs = proofs(user);
    step.any.iter().any(|method| {
        method.method_type == AuthenticationType::Session || proofs.iter().any(|proof| proves(proof, method))
    })
}

/// Returns whether the steps cannot be proven without a session. Of an unknown user, every credential is presumed to exist.
pub(super) fn need_session(steps: &[RequiredAuthenticationMethod], user: Option<&User>) -> bool {
    let is_session = |method: &AuthenticationMethod| method.method_type == AuthenticationType::Session;
    let Some(user) = user else {
        return steps.iter().any(|step| step.any.iter().all(is_session));
    };
    let proofs = proofs(user);
    let has_session = |step: &&RequiredAuthenticationMethod| step.any.iter().any(is_session);
    if !steps.iter().any(|step| has_session(&step)) {
        return false;
    }
    let choices: Vec<Vec<usize>> = steps
        .iter()
        .map(|step| {
            let fits = |proof: &Proof| step.any.iter().any(|method| proves(proof, method));
            proofs.iter().enumerate().filter_map(|(at, proof)| fits(proof).then_some(at)).collect()
        })
        .collect();
    !assignment::is_possible(&choices, proofs.len())
}

fn proves(proof: &Proof, method: &AuthenticationMethod) -> bool {
    let (method_type, id) = proof;
    method.method_type == *method_type && method.id.is_none_or(|wanted| *id == Some(*wanted.as_bytes()))
}

/// Returns what a user can prove without a session. The daemon does not state whether a contact is verified.
fn proofs(user: &User) -> Vec<Proof> {
    let keys = user.api_keys.iter().filter(|key| !is_session_key(key));
    let keys = keys.map(|key| (AuthenticationType::ApiKey, Some(*key.api_key_id.as_bytes())));
    let passkeys = user.authenticators.iter();
    let passkeys = passkeys.map(|one| (AuthenticationType::Passkey, Some(*one.authenticator_id.as_bytes())));
    let providers = user.oauth_providers.iter();
    let providers = providers.map(|one| (AuthenticationType::Oauth, Some(*one.provider_id.as_bytes())));
    let mail = user.user_email.as_ref().map(|_| (AuthenticationType::EmailOtp, None));
    let phone = user.user_phone_number.as_ref().map(|_| (AuthenticationType::SmsOtp, None));
    keys.chain(passkeys).chain(providers).chain(mail).chain(phone).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use serde_json::json;

    use super::*;
    use crate::testing::Fixture;

    #[test]
    fn a_contact_replaces_a_session() {
        let organization = Fixture::new(1, 1).with_all_records();
        let mut user = organization.users.first().unwrap().clone();
        let steps: Vec<RequiredAuthenticationMethod> = serde_json::from_value(json!([
            {"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]},
            {"any": [{"type": "AUTHENTICATION_TYPE_SESSION"}, {"type": "AUTHENTICATION_TYPE_EMAIL_OTP"}]}
        ]))
        .unwrap();
        assert!(need_session(&steps, Some(&user)));
        user.user_email = Some("mira@example.org".to_owned());
        assert!(!need_session(&steps, Some(&user)));
        user.api_keys.clear();
        assert!(need_session(&steps, Some(&user)));
    }
}
