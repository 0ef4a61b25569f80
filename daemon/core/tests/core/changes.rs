//! What kinds that change users, tags, policies, credentials and names leave behind, as queries show it.

use quorate_common::ids::OrganizationId;
use serde_json::{Value, json};

use crate::house::{House, NOW, Person};
use crate::samples;

/// What a query answers to a root user.
fn asked(house: &House, query: &str, members: &Value) -> Value {
    asked_of(house, house.id, &house.roots[0], query, members)
}

fn asked_of(
    house: &House,
    organization: OrganizationId,
    caller: &Person,
    query: &str,
    members: &Value,
) -> Value {
    let mut body = members.clone();
    body["organizationId"] = json!(organization);
    let body = body.to_string().into_bytes();
    let answer = house.memory.query(query, &caller.stamps(&body), &body, NOW);
    answer.unwrap_or_else(|fault| panic!("{query} {members}: {fault:?}"))
}

fn user(house: &House, person: &Person) -> Value {
    asked(house, "get_user", &json!({"userId": person.user}))["user"].clone()
}

fn policy(house: &House) -> Value {
    asked(house, "get_policy", &json!({"policyId": house.policy}))["policy"].clone()
}

/// The member of each element.
fn each(list: &Value, member: &str) -> Vec<Value> {
    list.as_array().expect("a list").iter().map(|one| one[member].clone()).collect()
}

#[test]
fn tags_come_on_and_off_users() {
    let mut house = House::found(1);
    let (tag, first, second) = (house.user_tag.clone(), house.spare.clone(), house.user.clone());
    assert_eq!(user(&house, &first)["userTags"], json!([tag]));
    house.agreed(
        "ACTIVITY_TYPE_UPDATE_USER_TAG",
        &json!({"userTagId": tag, "newUserTagName": "other", "addUserIds": [second.user, house.roots[0].user],
            "removeUserIds": [first.user]}),
    );
    assert_eq!(user(&house, &first)["userTags"], json!([]));
    assert_eq!(user(&house, &second)["userTags"], json!([tag]));
    assert_eq!(each(&asked(&house, "list_user_tags", &json!({}))["userTags"], "tagName"), [json!("other")]);
    // Whoever has it keeps one, and who has it not loses nothing.
    house.agreed(
        "ACTIVITY_TYPE_UPDATE_USER_TAG",
        &json!({"userTagId": tag, "addUserIds": [second.user], "removeUserIds": [first.user]}),
    );
    assert_eq!(user(&house, &second)["userTags"], json!([tag]));
    let more = house
        .agreed("ACTIVITY_TYPE_CREATE_USER_TAG", &json!({"userTagName": "more", "userIds": [second.user]}));
    let more = more["result"]["createUserTagResult"]["userTagId"].clone();
    let made = house.agreed("ACTIVITY_TYPE_DELETE_USER_TAGS", &json!({"userTagIds": [tag, more]}));
    let result = &made["result"]["deleteUserTagsResult"];
    let mut bearers = each(&json!([{"id": second.user}, {"id": house.roots[0].user}]), "id");
    bearers.sort_by_key(Value::to_string);
    assert_eq!((&result["userTagIds"], &result["userIds"]), (&json!([tag, more]), &json!(bearers)));
    assert_eq!(user(&house, &second)["userTags"], json!([]));
    assert_eq!(asked(&house, "list_user_tags", &json!({}))["userTags"], json!([]));
}

#[test]
fn tags_come_on_and_off_private_keys() {
    let mut house = House::found(1);
    let (tag, key) = (house.private_key_tag.clone(), json!({"privateKeyId": house.private_key}));
    let tags = |house: &House| asked(house, "get_private_key", &key)["privateKey"]["privateKeyTags"].clone();
    assert_eq!(tags(&house), json!([tag]));
    let take_off = json!({"privateKeyTagId": tag, "removePrivateKeyIds": [house.private_key]});
    house.agreed("ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG", &take_off);
    assert_eq!(tags(&house), json!([]));
    let put_on = json!({"privateKeyTagId": tag, "addPrivateKeyIds": [house.private_key]});
    house.agreed("ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG", &put_on);
    let made = house.agreed("ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS", &json!({"privateKeyTagIds": [tag]}));
    assert_eq!(made["result"]["deletePrivateKeyTagsResult"]["privateKeyIds"], json!([house.private_key]));
    assert_eq!(tags(&house), json!([]));
    assert_eq!(asked(&house, "list_private_key_tags", &json!({}))["privateKeyTags"], json!([]));
    // The key still signs under what it signed under.
    let caller = house.roots[0].clone();
    let sign = samples::parameters("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", &house, &house.spare);
    house.submit(&caller, house.id, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", &sign, NOW).expect("it signs");
}

#[test]
fn users_change_only_where_told() {
    let mut house = House::found(1);
    let spare = house.spare.clone();
    let id = spare.user;
    house.agreed("ACTIVITY_TYPE_UPDATE_USER", &json!({"userId": id, "userEmail": "a@house.example"}));
    let now = user(&house, &spare);
    // An empty list of tags cannot be told from none, so it changes nothing.
    assert_eq!((&now["userName"], &now["userEmail"]), (&json!("spare"), &json!("a@house.example")));
    house.agreed(
        "ACTIVITY_TYPE_UPDATE_USER",
        &json!({"userId": id, "userName": "b", "userPhoneNumber": "+4930123456", "userTagIds": []}),
    );
    let now = user(&house, &spare);
    assert_eq!((&now["userName"], &now["userTags"]), (&json!("b"), &json!([house.user_tag])));
    assert_eq!(
        (&now["userEmail"], &now["userPhoneNumber"]),
        (&json!("a@house.example"), &json!("+4930123456"))
    );
    assert_eq!(now["apiKeys"].as_array().map(Vec::len), Some(2));
    house.agreed("ACTIVITY_TYPE_UPDATE_USER_NAME", &json!({"userId": id, "userName": "c"}));
    house.agreed("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &json!({"userId": id, "userEmail": ""}));
    house.agreed("ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", &json!({"userId": id, "userPhoneNumber": ""}));
    let now = user(&house, &spare);
    assert_eq!(now["userName"], "c");
    assert!(now.get("userEmail").is_none_or(Value::is_null), "{now}");
    assert!(now.get("userPhoneNumber").is_none_or(Value::is_null), "{now}");
    let caller = house.roots[0].clone();
    let token = json!({"userId": id, "userEmail": "c@house.example", "verificationToken": "t"});
    let fault = house.submit(&caller, house.id, "ACTIVITY_TYPE_UPDATE_USER_EMAIL", &token, NOW);
    assert_eq!(fault.expect_err("nobody issues tokens").code.number(), 12);
}

#[test]
fn policies_change_only_where_told_and_go() {
    let mut house = House::found(2);
    let id = house.policy.clone();
    let old = policy(&house);
    house.agreed("ACTIVITY_TYPE_UPDATE_POLICY_V2", &json!({"policyId": id, "policyNotes": "noted"}));
    let now = policy(&house);
    assert_eq!(now["notes"], "noted");
    for member in ["policyName", "effect", "condition", "consensus", "createdAt"] {
        assert_eq!(now[member], old[member], "{member}");
    }
    // A policy works from its change on, and no longer after it is gone.
    let consensus = format!("approvers.any(user, user.id == '{}')", house.user.user);
    let allow = json!({"policyId": id, "policyCondition": "", "policyConsensus": consensus});
    let wallet = |name: &str| json!({"walletName": name, "accounts": []});
    let caller = house.user.clone();
    let denied = |house: &mut House, name: &str| {
        house.submit(&caller, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet(name), NOW).is_err()
    };
    assert!(denied(&mut house, "one"));
    house.agreed("ACTIVITY_TYPE_UPDATE_POLICY", &allow);
    assert_eq!(policy(&house)["condition"], "");
    assert!(!denied(&mut house, "two"));
    house.agreed("ACTIVITY_TYPE_DELETE_POLICY", &json!({"policyId": id}));
    assert!(denied(&mut house, "three"));
    let made = house.agreed(
        "ACTIVITY_TYPE_CREATE_POLICIES",
        &json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "condition": "false", "notes": ""},
            {"policyName": "b", "effect": "EFFECT_DENY", "condition": "false", "notes": "b"}]}),
    );
    let ids = made["result"]["createPoliciesResult"]["policyIds"].clone();
    let listed = |house: &House| asked(house, "list_policies", &json!({}))["policies"].clone();
    assert_eq!(each(&listed(&house), "policyName").len(), 2);
    house.agreed("ACTIVITY_TYPE_DELETE_POLICIES", &json!({"policyIds": ids}));
    assert_eq!(listed(&house), json!([]));
}

#[test]
fn credentials_come_and_go() {
    let mut house = House::found(1);
    let spare = house.spare.clone();
    let id = json!({"userId": spare.user});
    let passkeys =
        |house: &House| each(&asked(house, "get_authenticators", &id)["authenticators"], "credentialId");
    let subjects =
        |house: &House| each(&asked(house, "get_oauth_providers", &id)["oauthProviders"], "subject");
    assert_eq!((passkeys(&house), subjects(&house)), (vec![json!("spare")], vec![json!("spare")]));
    for activity_type in [
        "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2",
        "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
        "ACTIVITY_TYPE_DELETE_AUTHENTICATORS",
        "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
    ] {
        let parameters = samples::parameters(activity_type, &house, &spare);
        house.agreed(activity_type, &parameters);
    }
    assert_eq!((passkeys(&house), subjects(&house)), (vec![json!("fresh")], vec![json!("fresh")]));
    let gone = json!({"authenticatorId": spare.authenticator, "organizationId": house.id}).to_string();
    let stamps = house.roots[0].stamps(gone.as_bytes());
    let answer = house.memory.query("get_authenticator", &stamps, gone.as_bytes(), NOW);
    assert_eq!(answer.expect_err("it is gone").message, "no authenticator found with the given ID");
}

#[test]
fn a_renamed_child_is_found_by_its_new_name_only() {
    let mut house = House::found(1);
    let child = house.child.clone();
    let name = json!({"organizationName": "renamed"});
    let answer = house.submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", &name, NOW);
    let result = answer.expect("its root user renames it")["activity"]["result"].clone();
    assert_eq!(
        result["updateOrganizationNameResult"],
        json!({"organizationId": child.home, "organizationName": "renamed"})
    );
    let found = |house: &House, name: &str| {
        asked(house, "list_suborgs", &json!({"filterType": "NAME", "filterValue": name}))["organizationIds"]
            .clone()
    };
    assert_eq!((found(&house, "child"), found(&house, "renamed")), (json!([]), json!([child.home])));
    let whoami = asked_of(&house, child.home, &child, "whoami", &json!({}));
    assert_eq!(whoami["organizationName"], "renamed");
}
