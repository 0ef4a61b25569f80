//! The catalogue: its golden file, and the laws that every row keeps.

use quorate_common::catalog::Gate;
use quorate_core::catalog::catalog;

use crate::golden;

/// What a type's name begins with: an act.
const VERBS: [&str; 14] = [
    "ACCEPT", "ACTIVATE", "APPROVE", "CREATE", "DELETE", "DISABLE", "EXPORT", "IMPORT", "INIT", "REJECT",
    "REMOVE", "SET", "SIGN", "UPDATE",
];

/// Types that policies are asked about, although no resource stands for them.
const WITHOUT_RESOURCE: [&str; 2] = ["REMOVE_IP_ALLOWLIST", "SET_IP_ALLOWLIST"];

/// Result members whose version is not the type's: as the published clients read them.
const RESULTS: [(&str, &str); 15] = [
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
    ("SET_PAYMENT_METHOD_V2", "setPaymentMethodResult"),
    ("SIGN_RAW_PAYLOAD_V2", "signRawPayloadResult"),
    ("SIGN_TRANSACTION_V2", "signTransactionResult"),
    ("APPROVE_ACTIVITY", ""),
    ("REJECT_ACTIVITY", ""),
];

#[test]
fn the_golden_is_fresh() {
    let mut text = serde_json::to_string_pretty(&catalog()).expect("the catalogue serializes");
    text.push('\n');
    golden::check("catalog.json", &text);
}

#[test]
fn rows_are_sorted_and_stand_once() {
    let catalog = catalog();
    let types: Vec<_> = catalog.kinds.iter().map(|kind| &kind.activity_type).collect();
    assert!(types.is_sorted_by(|one, next| one < next), "types are sorted and differ: {types:?}");
    assert!(catalog.queries.is_sorted_by(|one, next| one < next), "queries are sorted and differ");
}

#[test]
fn every_row_keeps_the_law() {
    for kind in catalog().kinds {
        let name = kind.activity_type.strip_prefix("ACTIVITY_TYPE_").expect("a type has the prefix");
        let (base, version) = split(name);
        let verb = base.split('_').next().expect("a first word");
        assert!(VERBS.contains(&verb) && base.contains('_'), "{name} is not a verb and a noun");
        assert_eq!(kind.path, format!("/public/v1/submit/{}", base.to_lowercase()), "{name}");
        assert_eq!(kind.intent, format!("{}Intent{version}", camel(base)), "{name}");
        assert_eq!(kind.result.clone().unwrap_or_default(), result(name, base, version), "{name}");
        let sentence = &kind.description;
        assert!(sentence.ends_with('.') && sentence.len() > 10, "{name} says nothing: {sentence:?}");
        assert_eq!(kind.parameters["type"], "object", "{name} takes an object");
        let governed = matches!(kind.gate, Gate::Policy | Gate::OwnCredential | Gate::RootUser)
            && !WITHOUT_RESOURCE.contains(&name);
        assert_eq!(kind.acts.is_some(), governed, "{name}: policies match on it exactly if they are asked");
        assert_eq!(kind.result.is_none(), kind.gate == Gate::Vote, "{name}: only votes have no result");
    }
}

#[test]
fn every_query_keeps_the_law() {
    for path in catalog().queries {
        let name = path.strip_prefix("/public/v1/query/").expect("a query has the path");
        let legal = name == "whoami" || name.starts_with("get_") || name.starts_with("list_");
        assert!(legal, "{name} does not begin with get_ or list_");
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{name}"
        );
    }
}

/// Name and version, `V2` or nothing.
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

/// `CREATE_WALLET` as `createWallet`.
pub(crate) fn camel(name: &str) -> String {
    let words = name.split('_').enumerate().map(|(place, word)| {
        let lower = word.to_lowercase();
        if place == 0 { lower } else { lower[..1].to_uppercase() + &lower[1..] }
    });
    words.collect()
}

/// The result member: the type's own version, but for the listed ones.
fn result(name: &str, base: &str, version: &str) -> String {
    let listed = RESULTS.iter().find(|(known, _)| *known == name);
    listed.map_or_else(|| format!("{}Result{version}", camel(base)), |(_, result)| (*result).to_owned())
}
