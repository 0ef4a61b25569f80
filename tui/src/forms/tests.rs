//! Tests of forms: each type of the catalog is filled with its example parameters.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use serde_json::{Value, json};

use super::*;

/// Parameters that the daemon accepts, by type.
const EXAMPLES: &str = include_str!("../../../assets/examples.json");

pub(crate) fn examples() -> Value {
    serde_json::from_str(EXAMPLES).unwrap()
}

/// Returns each leaf with its path.
pub(crate) fn leaves(value: &Value, path: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            let separator = if path.is_empty() { "" } else { "." };
            members
                .iter()
                .for_each(|(name, inner)| leaves(inner, &format!("{path}{separator}{name}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, inner)| leaves(inner, &format!("{path}[{at}]"), found));
        }
        Value::String(text) => found.push((path.to_owned(), text.clone())),
        other => found.push((path.to_owned(), other.to_string())),
    }
}

#[test]
fn each_type_can_be_filled_with_its_example() {
    let examples = examples();
    for entry in catalog::all() {
        let example = &examples[&entry.activity_type];
        let mut form = Form::new(entry);
        let mut found = Vec::new();
        leaves(example, "", &mut found);
        for (path, text) in found {
            form.set(&path, &text).unwrap();
        }
        assert_eq!(form.problems(), [], "{}", entry.activity_type);
        assert_eq!(form.value().to_string(), example.to_string(), "{}", entry.activity_type);
    }
}

#[test]
fn each_kind_is_listed_once_in_its_newest_version() {
    let newest = newest();
    let types: Vec<&str> = newest.iter().map(|entry| entry.activity_type.as_str()).collect();
    assert!(types.contains(&"ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8"), "{types:?}");
    assert!(types.contains(&"ACTIVITY_TYPE_OAUTH2_AUTHENTICATE"), "{types:?}");
    let mut kinds: Vec<&str> = types.iter().map(|one| kind_of(one)).collect();
    kinds.sort_unstable();
    let count = kinds.len();
    kinds.dedup();
    assert_eq!(kinds.len(), count);
    let is = |name: &str, expected: &str| {
        of_name(name).map(|entry| entry.activity_type.as_str()) == Some(expected)
    };
    assert!(is("create-user-tag", "ACTIVITY_TYPE_CREATE_USER_TAG"));
    assert!(is("sign_transaction", "ACTIVITY_TYPE_SIGN_TRANSACTION_V2"));
    assert!(is("ACTIVITY_TYPE_SIGN_TRANSACTION", "ACTIVITY_TYPE_SIGN_TRANSACTION"));
    assert!(of_name("fly").is_none());
}

#[test]
fn required_members_come_first_and_items_are_added_and_removed() {
    let mut form = Form::new(of_name("create-wallet-accounts").unwrap());
    let labels = |form: &Form| form.rows().into_iter().map(|row| row.label).collect::<Vec<_>>();
    assert_eq!(labels(&form), ["walletId", "accounts", "persist"]);
    assert!(!form.is_touched());
    assert!(form.add(&[1]));
    let rows =
        ["walletId", "accounts", "1.", "curve", "pathFormat", "path", "addressFormat", "name", "persist"];
    assert_eq!(labels(&form), rows);
    assert!(form.is_touched());
    assert_eq!(form.remove(&[1, 0, 3]), Some(vec![1]));
    assert_eq!(labels(&form), ["walletId", "accounts", "persist"]);
    assert_eq!(form.remove(&[0]), None);
    assert!((0..100).all(|_| form.add(&[1])) && !form.add(&[1]), "the schema bounds the list");
}

#[test]
fn problems_name_the_member_and_not_its_value() {
    let mut form = Form::new(of_name("create-wallet-accounts").unwrap());
    let set = [
        ("walletId", "hot"),
        ("accounts[0].path", "44/60"),
        ("accounts[0].curve", "CURVE_X"),
        ("persist", "maybe"),
    ];
    for (path, text) in set {
        form.set(path, text).unwrap();
    }
    let mut problems = form.problems();
    problems.sort();
    let expected = [
        ("/accounts/0/addressFormat", "required"),
        ("/accounts/0/curve", "must be one of the listed values"),
        ("/accounts/0/path", "must be a derivation path such as m/44'/60'/0'/0/0"),
        ("/accounts/0/pathFormat", "required"),
        ("/persist", "must be true or false"),
        ("/walletId", "must be an id (UUID)"),
    ];
    let expected: Vec<(String, String)> =
        expected.iter().map(|(path, words)| ((*path).to_owned(), (*words).to_owned())).collect();
    assert_eq!(problems, expected);
    assert!(form.set("accounts[5].path", "m").is_err() && form.set("nothing", "x").is_err());
    assert!(form.set("accounts[0]", "x").is_err());
}

#[test]
fn names_become_ids_where_ids_are_taken() {
    let organization = crate::testing::Fixture::new(2, 1).with_all_records();
    let book = &crate::book::Book::EMPTY;
    let known = Known { organization: &organization, accounts: &[], has_more_accounts: false, book };
    let resolve = |name: &str, value: Value| resolved(&value, "", &of_name(name).unwrap().parameters, &known);
    let (user, tag) = (organization.users[1].user_id, organization.tags[0].tag_id);
    let value = json!({"userId": "jo", "userTagIds": ["finance", tag], "userName": "mira"});
    let expected = json!({"userId": user, "userTagIds": [tag, tag], "userName": "mira"});
    assert_eq!(resolve("update-user", value), Ok(expected));
    let mut twice = organization.clone();
    twice.users[0].user_name = "jo".to_owned();
    let known = Known { organization: &twice, ..known };
    let found = resolved(&json!({"userId": "jo"}), "", &of_name("update-user").unwrap().parameters, &known);
    assert!(found.unwrap_err().contains("jo is the name of 2 records"));
    // A user who is named like an id does not take the place of the user with the id.
    let other = "99999999-9999-9999-9999-999999999999";
    let mut same = organization.clone();
    same.users[0].user_name = other.to_owned();
    let known = Known { organization: &same, ..known };
    let parameters = json!({"userId": other});
    let schema = &of_name("update-user").unwrap().parameters;
    assert_eq!(resolved(&parameters, "", schema, &known), Ok(parameters.clone()));
    // While some accounts are unknown, no name is certain.
    let key = organization.private_keys[0].private_key_name.clone();
    let schema = &of_name("sign-raw-payload").unwrap().parameters;
    let named = json!({"signWith": key});
    assert!(resolved(&named, "", schema, &known).is_ok_and(|found| found != named));
    let known = Known { has_more_accounts: true, ..known };
    assert!(resolved(&named, "", schema, &known).unwrap_err().contains("use an address or an id"));
}
