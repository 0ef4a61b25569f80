//! What kinds that change users, tags, policies, credentials and names leave behind, as queries show it.

use quorate_common::ids::OrganizationId;
use quorate_core::sweep;
use serde_json::{Value, json};

use crate::house::{House, NOW, Person, account};
use crate::passkey::Passkey;
use crate::samples;

/// What a query answers to a root user.
pub(crate) fn asked(house: &House, query: &str, members: &Value) -> Value {
    asked_of(house, house.id, &house.roots[0], query, members)
}

pub(crate) fn asked_of(
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

#[test]
fn activities_of_one_millisecond_are_listed_in_the_order_of_their_submission() {
    let mut house = House::found(1);
    let root = house.roots[0].clone();
    let mut submitted = Vec::new();
    for number in 0..40 {
        let tag = json!({ "userTagName": format!("tag {number}"), "userIds": [] });
        let made = house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW).expect("a tag");
        submitted.insert(0, made["activity"]["id"].clone());
    }
    let page = json!({ "paginationOptions": { "limit": "100" } });
    let listed = asked(&house, "list_activities", &page);
    let listed: Vec<_> =
        listed["activities"].as_array().expect("activities").iter().map(|one| one["id"].clone()).collect();
    assert_eq!(listed.get(..submitted.len()), Some(submitted.as_slice()));
}

fn user(house: &House, person: &Person) -> Value {
    asked(house, "get_user", &json!({"userId": person.user}))["user"].clone()
}

fn policy(house: &House) -> Value {
    asked(house, "get_policy", &json!({"policyId": house.policy}))["policy"].clone()
}

/// The member of each element.
pub(crate) fn each(list: &Value, member: &str) -> Vec<Value> {
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
    let allow = json!({"policyId": id, "policyCondition": "true", "policyConsensus": consensus});
    let wallet = |name: &str| json!({"walletName": name, "accounts": []});
    let caller = house.user.clone();
    let denied = |house: &mut House, name: &str| {
        house.submit(&caller, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet(name), NOW).is_err()
    };
    assert!(denied(&mut house, "one"));
    house.agreed("ACTIVITY_TYPE_UPDATE_POLICY", &allow);
    assert_eq!(policy(&house)["condition"], "true");
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
    let passkey = |name: &str| vec![json!(Passkey::of(name).id())];
    assert_eq!((passkeys(&house), subjects(&house)), (passkey("spare"), vec![json!("spare")]));
    for activity_type in [
        "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2",
        "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
        "ACTIVITY_TYPE_DELETE_AUTHENTICATORS",
        "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
    ] {
        let parameters = samples::parameters(activity_type, &house, &spare);
        house.agreed(activity_type, &parameters);
    }
    assert_eq!((passkeys(&house), subjects(&house)), (passkey("fresh"), vec![json!("fresh")]));
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

/// What signing under a name answers.
fn signed(house: &mut House, activity_type: &str, parameters: &Value) -> Result<Value, String> {
    let caller = house.roots[0].clone();
    let answer = house.submit(&caller, house.id, activity_type, parameters, NOW);
    answer.map_err(|fault| fault.message)
}

fn raw(with: &str, value: &Value) -> Value {
    json!({with: value, "payload": "ab".repeat(32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_NO_OP"})
}

#[test]
fn a_disabled_key_is_listed_and_signs_nothing() {
    let mut house = House::found(1);
    let id = json!(house.private_key);
    let shown =
        |house: &House| asked(house, "get_private_key", &json!({"privateKeyId": id}))["privateKey"].clone();
    let address = shown(&house)["addresses"][0]["address"].clone();
    let (v1, v2) = ("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2");
    signed(&mut house, v2, &raw("signWith", &address)).expect("it signs");
    house.agreed("ACTIVITY_TYPE_DISABLE_PRIVATE_KEY", &json!({"privateKeyId": id}));
    for (activity_type, with, value) in
        [(v1, "privateKeyId", &id), (v2, "signWith", &id), (v2, "signWith", &address)]
    {
        let answer = signed(&mut house, activity_type, &raw(with, value));
        assert_eq!(answer.err().as_deref(), Some("private key is disabled"), "{with}");
    }
    assert_eq!(shown(&house)["privateKeyId"], id);
    let gone = json!({"privateKeyIds": [id], "deleteWithoutExport": true});
    let secrets = |house: &House| house.memory.rows(b's').count();
    let before = secrets(&house);
    house.agreed("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", &gone);
    assert_eq!(secrets(&house), before - 1, "the secret is gone with it");
    for (activity_type, with, value) in [(v1, "privateKeyId", &id), (v2, "signWith", &address)] {
        let answer = signed(&mut house, activity_type, &raw(with, value));
        let no_signer = "Could not find any resource to sign with. Addresses are case sensitive.";
        assert_eq!(answer.err().as_deref(), Some(no_signer));
    }
    assert_eq!(asked(&house, "list_private_keys", &json!({}))["privateKeys"], json!([]));
}

#[test]
fn accounts_are_named_and_go_without_a_trace() {
    let mut house = House::found(1);
    let (wallet, address) = house.wallet.clone();
    let accounts = |house: &House| {
        asked(house, "list_wallet_accounts", &json!({"walletId": wallet}))["accounts"].clone()
    };
    let name = json!({"walletAccountId": house.account, "name": "payouts"});
    house.agreed("ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME", &name);
    assert_eq!(each(&accounts(&house), "name"), [json!("payouts")]);
    let left = |house: &House| [b'n', b'j', b'q'].map(|letter| house.memory.rows(letter).count());
    let sign = raw("signWith", &json!(address));
    signed(&mut house, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign).expect("it still signs");
    let gone = json!({"walletAccountIds": [house.account], "deleteWithoutExport": true});
    house.agreed("ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", &gone);
    assert_eq!((accounts(&house), left(&house)), (json!([]), [0, 0, 0]));
    assert!(signed(&mut house, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign).is_err());
    // The path is free again, and gives the same address.
    let again = json!({"walletId": wallet, "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]});
    let made = house.agreed("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &again);
    assert_eq!(made["result"]["createWalletAccountsResult"]["addresses"], json!([address]));
    assert_eq!(left(&house), [1, 1, 1]);
}

#[test]
fn selectors_become_expressions() {
    let mut house = House::found(1);
    let user = house.user.user;
    let made = house.agreed(
        "ACTIVITY_TYPE_CREATE_POLICY_V2",
        &json!({"policyName": "p", "effect": "EFFECT_ALLOW", "selectors": [
            {"subject": "activity.kind", "operator": "OPERATOR_IN", "targets": ["CREATE_WALLET", "UPDATE_WALLET"]},
            {"subject": "user.id", "operator": "OPERATOR_EQUAL", "targets": [user]}]}),
    );
    let id = made["result"]["createPolicyResult"]["policyId"].clone();
    let stored = asked(&house, "get_policy", &json!({"policyId": id}))["policy"].clone();
    assert_eq!(stored["condition"], "activity.kind in ['CREATE_WALLET', 'UPDATE_WALLET']");
    assert_eq!(stored["consensus"], format!("approvers.any(user, user.id == '{user}')"));
    let caller = house.user.clone();
    let wallet = json!({"walletName": "by policy", "accounts": []});
    let answer = house.submit(&caller, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    assert_eq!(answer.expect("it is allowed")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn origins_are_a_feature() {
    let mut house = House::found(1);
    let value = |house: &House| {
        let configs = asked(house, "get_organization_configs", &json!({}))["configs"]["features"].clone();
        let features = configs.as_array().expect("a list").clone();
        features.into_iter().find(|one| one["name"] == "FEATURE_NAME_WEBAUTHN_ORIGINS")
    };
    let parameters = samples::parameters("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &house, &house.spare);
    house.agreed("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &parameters);
    let set = value(&house).expect("it is on");
    assert_eq!(set["value"], r#"["https://house.example","http://localhost:3000"]"#);
    house.agreed("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &json!({"allowedOrigins": []}));
    assert_eq!(value(&house), None);
}

#[test]
fn an_organization_is_shown_whole() {
    let house = House::found(1);
    let data = asked(&house, "get_organization", &json!({}))["organizationData"].clone();
    assert_eq!((&data["organizationId"], &data["name"]), (&json!(house.id), &json!("house")));
    let counts = ["users", "policies", "privateKeys", "invitations", "tags", "wallets"]
        .map(|list| data[list].as_array().map(Vec::len));
    assert_eq!(counts, [5, 1, 1, 1, 2, 1].map(Some));
    assert_eq!(data["rootQuorum"]["threshold"], 1);
    // SHA-256 of `[]`.
    let digest = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";
    assert_eq!(data["smartContractInterfaceReferences"][0]["digest"], digest);
}

#[test]
fn a_deleted_wallet_signs_nothing_and_is_swept_away() {
    let mut house = House::found(1);
    let (wallet, address) = house.wallet.clone();
    let more: Vec<Value> = (1..100)
        .map(|index| {
            account(&format!("m/44'/60'/0'/0/{index}"), "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")
        })
        .collect();
    house.agreed("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &json!({"walletId": wallet, "accounts": more}));
    let other = house.agreed(
        "ACTIVITY_TYPE_CREATE_WALLET",
        &json!({"walletName": "other", "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]}),
    );
    let other = other["result"]["createWalletResult"]["walletId"].clone();
    let rows = |house: &House| [b'n', b'j', b'q', b'z'].map(|letter| house.memory.rows(letter).count());
    let secrets = house.memory.rows(b's').count();
    assert_eq!(rows(&house), [101, 101, 101, 0]);
    house
        .agreed("ACTIVITY_TYPE_DELETE_WALLETS", &json!({"walletIds": [wallet], "deleteWithoutExport": true}));
    assert_eq!((rows(&house), house.memory.rows(b's').count()), ([101, 101, 101, 1], secrets - 1));
    // From now on its accounts are nobody's, whether or not they are still stored.
    let sign = raw("signWith", &json!(address));
    let listed = |house: &House, members: &Value| {
        each(&asked(house, "list_wallet_accounts", members)["accounts"], "walletId")
    };
    let (left, page) = ([other], json!({"paginationOptions": {"limit": "1"}}));
    for step in 0..4 {
        assert!(signed(&mut house, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign).is_err(), "{step}");
        assert_eq!(listed(&house, &json!({})), left, "{step}");
        assert_eq!(listed(&house, &page), left, "no page is short because of them: {step}");
        let rename = json!({"walletAccountId": house.account, "name": "gone"});
        assert!(signed(&mut house, "ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME", &rename).is_err(), "{step}");
        if let Some(commit) = sweep::step(&house.memory).expect("the store is sound") {
            house.memory.commit(commit);
        }
    }
    assert_eq!(rows(&house), [1, 1, 1, 0]);
    assert!(sweep::step(&house.memory).expect("the store is sound").is_none());
}

/// A policy of the house about its user without other rights.
fn policy_of(house: &mut House, name: &str, effect: &str, condition: &str) {
    let consensus = format!("approvers.any(user, user.id == '{}')", house.user.user);
    let policy = json!({"policyName": name, "effect": effect, "condition": condition, "consensus": consensus, "notes": ""});
    house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
}

#[test]
fn a_batch_is_never_weaker_than_its_members() {
    let mut house = House::found(2);
    let (wallet, user) = (house.wallet.0.clone(), house.user.clone());
    policy_of(&mut house, "all", "EFFECT_ALLOW", "activity.resource == 'WALLET'");
    policy_of(&mut house, "accounts", "EFFECT_DENY", &format!("wallet.id == '{wallet}'"));
    policy_of(&mut house, "wallets", "EFFECT_DENY", &format!("wallets.any(w, w.id == '{wallet}')"));
    // One whose id comes before that of the protected wallet, so that no order hides the other.
    let other = (0..50).find_map(|number| {
        let one = json!({"walletName": format!("other {number}"), "accounts": [
            account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]});
        let made = house.submit(&user, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &one, NOW);
        let made = made.expect("it is allowed")["activity"]["result"]["createWalletResult"].clone();
        let id = made["walletId"].as_str().expect("an id").to_owned();
        (id < wallet).then_some(id)
    });
    let other = other.expect("ids are random");
    let accounts = asked(&house, "list_wallet_accounts", &json!({"walletId": other}))["accounts"].clone();
    let theirs = accounts[0]["walletAccountId"].clone();
    let mine = json!(house.account);
    let mut denied = |activity_type: &str, list: &str, ids: Value| {
        let parameters = json!({list: ids, "deleteWithoutExport": true});
        house.submit(&user, house.id, activity_type, &parameters, NOW).is_err()
    };
    let accounts = "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS";
    for ids in [json!([mine]), json!([mine, theirs]), json!([theirs, mine])] {
        assert!(denied(accounts, "walletAccountIds", ids.clone()), "{ids}");
    }
    assert!(!denied(accounts, "walletAccountIds", json!([theirs])));
    let wallets = "ACTIVITY_TYPE_DELETE_WALLETS";
    for ids in [json!([wallet]), json!([wallet, other]), json!([other, wallet])] {
        assert!(denied(wallets, "walletIds", ids.clone()), "{ids}");
    }
    assert!(!denied(wallets, "walletIds", json!([other])));
}

#[test]
fn a_policy_about_signing_with_a_key_does_not_reach_its_end() {
    let mut house = House::found(2);
    let (key, user) = (house.private_key.clone(), house.user.clone());
    policy_of(&mut house, "sign", "EFFECT_ALLOW", &format!("private_key.id == '{key}'"));
    let mut taken = |activity_type: &str, parameters: Value| {
        house.submit(&user, house.id, activity_type, &parameters, NOW).is_ok()
    };
    assert!(taken("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", raw("privateKeyId", &json!(key))));
    assert!(!taken("ACTIVITY_TYPE_DISABLE_PRIVATE_KEY", json!({"privateKeyId": key})));
    let gone = json!({"privateKeyIds": [key], "deleteWithoutExport": true});
    assert!(!taken("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", gone));
}
