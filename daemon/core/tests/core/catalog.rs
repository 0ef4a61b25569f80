//! The catalog: its golden file, and the conventions that every row follows.

use quorate_common::catalog::Gate;
use quorate_core::catalog::catalog;

use crate::golden;

/// Verbs with which the name of a type begins.
const VERBS: [&str; 18] = [
    "ACCEPT", "ACTIVATE", "APPROVE", "CREATE", "DELETE", "DISABLE", "ENABLE", "EXPORT", "IMPORT", "INIT",
    "RECOVER", "REJECT", "REMOVE", "SET", "SIGN", "STAMP", "UPDATE", "VERIFY",
];

/// Types whose name has no verb, as the published clients expect them.
const WITHOUT_VERB: [&str; 6] =
    ["EMAIL_AUTH", "OAUTH", "OAUTH2_AUTHENTICATE", "OAUTH_LOGIN", "OTP_AUTH", "OTP_LOGIN"];

/// Types that are subject to policies although no resource represents them.
const WITHOUT_RESOURCE: [&str; 2] = ["REMOVE_IP_ALLOWLIST", "SET_IP_ALLOWLIST"];

/// Result members whose version differs from that of the type, as the published clients expect them.
const RESULTS: [(&str, &str); 23] = [
    ("ACCEPT_INVITATION_V2", "acceptInvitationResult"),
    ("CREATE_API_KEYS_V2", "createApiKeysResult"),
    ("CREATE_AUTHENTICATORS_V2", "createAuthenticatorsResult"),
    ("CREATE_ORGANIZATION_V2", "createOrganizationResult"),
    ("CREATE_POLICY_V2", "createPolicyResult"),
    ("CREATE_POLICY_V3", "createPolicyResult"),
    ("CREATE_SUB_ORGANIZATION_V2", "createSubOrganizationResult"),
    ("CREATE_USERS_V2", "createUsersResult"),
    ("CREATE_USERS_V3", "createUsersResult"),
    ("CREATE_USERS_V4", "createUsersResult"),
    ("EMAIL_AUTH_V2", "emailAuthResult"),
    ("EMAIL_AUTH_V3", "emailAuthResult"),
    ("INIT_OTP_AUTH_V3", "initOtpAuthResultV2"),
    ("INIT_OTP_V2", "initOtpResult"),
    ("INIT_OTP_V3", "initOtpResultV2"),
    ("INIT_USER_EMAIL_RECOVERY_V2", "initUserEmailRecoveryResult"),
    ("OTP_LOGIN_V2", "otpLoginResult"),
    ("SET_PAYMENT_METHOD_V2", "setPaymentMethodResult"),
    ("SIGN_RAW_PAYLOAD_V2", "signRawPayloadResult"),
    ("SIGN_TRANSACTION_V2", "signTransactionResult"),
    ("VERIFY_OTP_V2", "verifyOtpResult"),
    ("APPROVE_ACTIVITY", ""),
    ("REJECT_ACTIVITY", ""),
];

#[test]
fn golden_file_is_up_to_date() {
    let mut text = serde_json::to_string_pretty(&catalog()).expect("the catalog serializes");
    text.push('\n');
    golden::check("catalog.json", &text);
}

#[test]
fn rows_are_sorted_and_unique() {
    let catalog = catalog();
    let types: Vec<_> = catalog.kinds.iter().map(|kind| &kind.activity_type).collect();
    assert!(types.is_sorted_by(|one, next| one < next), "types are sorted and unique: {types:?}");
    assert!(catalog.queries.is_sorted_by(|one, next| one < next), "queries are sorted and unique");
}

#[test]
fn activity_rows_follow_the_conventions() {
    for kind in catalog().kinds {
        let name = kind.activity_type.strip_prefix("ACTIVITY_TYPE_").expect("a type has the prefix");
        let (base, version) = split(name);
        let verb = base.split('_').next().expect("a first word");
        let is_named = VERBS.contains(&verb) && base.contains('_') || WITHOUT_VERB.contains(&base);
        assert!(is_named, "{name} does not consist of a verb and a noun");
        assert_eq!(kind.path, format!("/public/v1/submit/{}", base.to_lowercase()), "{name}");
        assert_eq!(kind.intent, format!("{}Intent{version}", camel(base)), "{name}");
        assert_eq!(kind.result.clone().unwrap_or_default(), result(name, base, version), "{name}");
        let description = &kind.description;
        assert!(
            description.ends_with('.') && description.len() > 10,
            "{name} has no description: {description:?}"
        );
        assert_eq!(kind.parameters["type"], "object", "{name} takes an object");
        let governed = matches!(kind.gate, Gate::Policy | Gate::OwnCredential | Gate::RootUser)
            && !WITHOUT_RESOURCE.contains(&name);
        assert_eq!(
            kind.acts.is_some(),
            governed,
            "{name}: policies match on it exactly if they are consulted"
        );
        assert_eq!(kind.result.is_none(), kind.gate == Gate::Vote, "{name}: only votes have no result");
    }
}

#[test]
fn queries_follow_the_naming_conventions() {
    for path in catalog().queries {
        let name = path.strip_prefix("/public/v1/query/").expect("a query has the path");
        let is_valid = name == "whoami" || name.starts_with("get_") || name.starts_with("list_");
        assert!(is_valid, "{name} does not begin with get_ or list_");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{name}"
        );
    }
}

/// Splits a name into base and version (`V2` or nothing).
pub(crate) fn split(name: &str) -> (&str, &str) {
    match name.rsplit_once('_') {
        Some((base, version))
            if version.len() > 1
                && version.starts_with('V')
                && version[1..].bytes().all(|b| b.is_ascii_digit()) =>
        {
            (base, version)
        }
        _ => (name, ""),
    }
}

/// Converts `CREATE_WALLET` to `createWallet`.
pub(crate) fn camel(name: &str) -> String {
    let words = name.split('_').enumerate().map(|(index, word)| {
        let lower = word.to_lowercase();
        if index == 0 { lower } else { lower[..1].to_uppercase() + &lower[1..] }
    });
    words.collect()
}

/// Returns the result member: it has the version of the type, except for the listed ones.
fn result(name: &str, base: &str, version: &str) -> String {
    let listed = RESULTS.iter().find(|(known, _)| *known == name);
    listed.map_or_else(|| format!("{}Result{version}", camel(base)), |(_, result)| (*result).to_owned())
}
