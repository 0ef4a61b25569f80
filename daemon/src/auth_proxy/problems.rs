//! Finds out why the proxy, or a method of it, cannot work in its organization: at start for the log, and whenever
//! `quorate doctor` or the screen Health reads the figures. It changes nothing.

use quorate_common::ids::OrganizationId;
use quorate_common::wire::Oauth2Provider;
use quorate_core::error::{Corrupt, Intent, RequestError};
use quorate_core::kinds;
use quorate_core::model::{Organization, User};
use quorate_core::pipeline::{Rehearsal, rehearse};
use quorate_core::world::World;
use serde_json::{Value, json};

use super::settings::{Method, Settings};
use crate::clock;

/// Id that no object has.
const NOBODY: OrganizationId = OrganizationId::from_bytes([0; 16]);

/// Returns why the proxy answers nothing, or which methods and routes cannot work.
///
/// # Errors
/// If the organization cannot be read.
pub fn problems(world: &dyn World, settings: &Settings) -> Result<Vec<String>, Corrupt> {
    let nothing = |reason: &str| Ok(vec![format!("the authentication proxy answers nothing: {reason}")]);
    let Some(organization) = world.organization(settings.organization)? else {
        return nothing("the organization of [auth_proxy] does not exist");
    };
    let user = organization.head.auth_proxy.and_then(|id| organization.user(id));
    let Some(user) = user else {
        return nothing("ENABLE_AUTH_PROXY is not in effect in the organization of [auth_proxy]");
    };
    let mut problems = Vec::new();
    let mut denied = Vec::new();
    for example in examples(settings) {
        let rehearsal = example.rehearse(world, &organization, user)?;
        if let Some(RequestError::Intent(Intent::FeatureOff(feature))) = &rehearsal.error {
            problems.push(method_problem(
                example.method,
                &format!("{feature} is not enabled in the organization of [auth_proxy]"),
            ));
        }
        if !rehearsal.is_permitted && !denied.contains(&example.kind()) {
            denied.push(example.kind());
        }
    }
    if !denied.is_empty() {
        let kinds = denied.join(", ");
        problems.push(format!(
            "no policy allows the user of the authentication proxy ({}) alone to submit {kinds}",
            user.id
        ));
    }
    problems.extend(without_credential(settings, &organization));
    Ok(problems)
}

fn method_problem(method: Option<Method>, reason: &str) -> String {
    let name = method.map_or("signup", Method::name);
    format!("the method {name} in [auth_proxy] does not work: {reason}")
}

/// Returns the methods that exchange codes for which the organization has no credential.
fn without_credential<'a>(
    settings: &'a Settings,
    organization: &'a Organization,
) -> impl Iterator<Item = String> + 'a {
    let provider = |method| match method {
        Method::X => Some((Oauth2Provider::X, "OAUTH2_PROVIDER_X")),
        Method::Discord => Some((Oauth2Provider::Discord, "OAUTH2_PROVIDER_DISCORD")),
        _ => None,
    };
    let providers = settings.methods.iter().filter_map(move |method| Some((*method, provider(*method)?)));
    providers.filter_map(|(method, (provider, name))| {
        let has_credential =
            organization.records.oauth2_credentials.iter().any(|one| one.provider == provider);
        let reason = format!("the organization has no OAuth 2.0 credential for {name}");
        (!has_credential).then(|| method_problem(Some(method), &reason))
    })
}

/// A request that the proxy submits.
struct Example {
    /// Method that needs it; `None` if all of them do.
    method: Option<Method>,
    /// Name of the type, without its prefix.
    name: &'static str,
    parameters: Value,
}

impl Example {
    /// Returns the kind as policies name it.
    fn kind(&self) -> &'static str {
        let base = self.name.rsplit_once("_V").filter(|(_, version)| version.parse::<u8>().is_ok());
        base.map_or(self.name, |(base, _)| base)
    }

    fn rehearse(
        &self,
        world: &dyn World,
        organization: &Organization,
        user: &User,
    ) -> Result<Rehearsal, Corrupt> {
        let invalid = || Corrupt::Invariant("an example of the authentication proxy is invalid");
        let entry = kinds::find(&format!("ACTIVITY_TYPE_{}", self.name)).ok_or_else(invalid)?;
        let rehearsal = rehearse(world, organization, user, entry, &self.parameters, clock::now());
        rehearsal.map_err(|error| match error {
            RequestError::Corrupt(corrupt) => corrupt,
            _ => invalid(),
        })
    }
}

/// Returns the requests that current clients cause with the configured methods.
fn examples(settings: &Settings) -> Vec<Example> {
    let example = |method, name, parameters| Example { method, name, parameters };
    let mut examples = Vec::new();
    for (method, otp_type, contact) in [
        (Method::Email, "OTP_TYPE_EMAIL", "somebody@example.org"),
        (Method::Sms, "OTP_TYPE_SMS", "+15550100000"),
    ] {
        if settings.methods.contains(&method) {
            let init = json!({"otpType": otp_type, "contact": contact, "appName": "example",
                "otpLength": settings.code_length, "alphanumeric": settings.code_letters});
            let verify = json!({"otpId": NOBODY, "encryptedOtpBundle": "{}"});
            examples.push(example(Some(method), "INIT_OTP_V3", init));
            examples.push(example(Some(method), "VERIFY_OTP_V2", verify));
        }
    }
    let exchanges = [Method::X, Method::Discord].into_iter().find(|one| settings.methods.contains(one));
    if let Some(method) = exchanges {
        let exchange = json!({"oauth2CredentialId": NOBODY, "authCode": "code", "nonce": "0".repeat(64),
            "redirectUri": "https://app.example.org", "codeVerifier": "a".repeat(43)});
        examples.push(example(Some(method), "OAUTH2_AUTHENTICATE", exchange));
    }
    let user = json!({"userName": "somebody", "apiKeys": [], "authenticators": [], "oauthProviders": []});
    let sign_up = json!({"subOrganizationName": "somebody", "rootUsers": [user], "rootQuorumThreshold": 1});
    examples.push(example(None, "CREATE_SUB_ORGANIZATION_V8", sign_up));
    examples
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn examples_match_the_schemas_of_their_types() {
        let mut settings = Settings::of(NOBODY);
        settings.methods = vec![Method::Email, Method::Sms, Method::X, Method::Discord];
        let examples = examples(&settings);
        let kinds: Vec<_> = examples.iter().map(Example::kind).collect();
        let codes = ["INIT_OTP", "VERIFY_OTP", "INIT_OTP", "VERIFY_OTP"];
        assert_eq!(kinds, [&codes[..], &["OAUTH2_AUTHENTICATE", "CREATE_SUB_ORGANIZATION"]].concat());
        for example in examples {
            let entry = kinds::find(&format!("ACTIVITY_TYPE_{}", example.name)).unwrap();
            let parameters = serde_json::value::to_raw_value(&example.parameters).unwrap();
            assert!(entry.parse(Some(&parameters)).is_ok(), "{}", example.name);
        }
    }
}
