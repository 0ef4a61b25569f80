//! Effects of kinds that change users, tags, policies, credentials and names, as queries show them.

use quorate_common::ids::OrganizationId;
use quorate_core::cleanup;
use serde_json::{Value, json};

use crate::fixture::{Fixture, NOW, Person, account};
use crate::passkey::Passkey;
use crate::samples;

/// Runs a query as the first root user.
pub(crate) fn query_as_root(fixture: &Fixture, query: &str, members: &Value) -> Value {
    query_as(fixture, fixture.id, &fixture.roots[0], query, members)
}

pub(crate) fn query_as(
    fixture: &Fixture,
    organization: OrganizationId,
    caller: &Person,
    query: &str,
    members: &Value,
) -> Value {
    let mut body = members.clone();
    body["organizationId"] = json!(organization);
    let body = body.to_string().into_bytes();
    let answer = fixture.memory.query(query, &caller.stamps(&body), &body, NOW);
    answer.unwrap_or_else(|error| panic!("{query} {members}: {error:?}"))
}

#[test]
fn activities_of_one_millisecond_are_listed_in_submission_order() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let mut submitted = Vec::new();
    for number in 0..40 {
        let tag = json!({ "userTagName": format!("tag {number}"), "userIds": [] });
        let created =
            fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_USER_TAG", &tag, NOW).expect("a tag");
        submitted.insert(0, created["activity"]["id"].clone());
    }
    let page = json!({ "paginationOptions": { "limit": "100" } });
    let listed = query_as_root(&fixture, "list_activities", &page);
    let listed: Vec<_> =
        listed["activities"].as_array().expect("activities").iter().map(|one| one["id"].clone()).collect();
    assert_eq!(listed.get(..submitted.len()), Some(submitted.as_slice()));
}

fn user(fixture: &Fixture, person: &Person) -> Value {
    query_as_root(fixture, "get_user", &json!({"userId": person.user}))["user"].clone()
}

fn policy(fixture: &Fixture) -> Value {
    query_as_root(fixture, "get_policy", &json!({"policyId": fixture.policy}))["policy"].clone()
}

/// Returns this member of each element.
pub(crate) fn each(list: &Value, member: &str) -> Vec<Value> {
    list.as_array().expect("a list").iter().map(|one| one[member].clone()).collect()
}

#[test]
fn tags_are_assigned_to_and_removed_from_users() {
    let mut fixture = Fixture::new(1);
    let (tag, first, second) = (fixture.user_tag.clone(), fixture.spare.clone(), fixture.user.clone());
    assert_eq!(user(&fixture, &first)["userTags"], json!([tag]));
    fixture.execute(
        "ACTIVITY_TYPE_UPDATE_USER_TAG",
        &json!({"userTagId": tag, "newUserTagName": "other", "addUserIds": [second.user, fixture.roots[0].user],
            "removeUserIds": [first.user]}),
    );
    assert_eq!(user(&fixture, &first)["userTags"], json!([]));
    assert_eq!(user(&fixture, &second)["userTags"], json!([tag]));
    assert_eq!(
        each(&query_as_root(&fixture, "list_user_tags", &json!({}))["userTags"], "tagName"),
        [json!("other")]
    );
    // Adding a tag twice, or removing a tag that is not there, changes nothing.
    fixture.execute(
        "ACTIVITY_TYPE_UPDATE_USER_TAG",
        &json!({"userTagId": tag, "addUserIds": [second.user], "removeUserIds": [first.user]}),
    );
    assert_eq!(user(&fixture, &second)["userTags"], json!([tag]));
    let more = fixture
        .execute("ACTIVITY_TYPE_CREATE_USER_TAG", &json!({"userTagName": "more", "userIds": [second.user]}));
    let more = more["result"]["createUserTagResult"]["userTagId"].clone();
    let deleted = fixture.execute("ACTIVITY_TYPE_DELETE_USER_TAGS", &json!({"userTagIds": [tag, more]}));
    let result = &deleted["result"]["deleteUserTagsResult"];
    let mut members = each(&json!([{"id": second.user}, {"id": fixture.roots[0].user}]), "id");
    members.sort_by_key(Value::to_string);
    assert_eq!((&result["userTagIds"], &result["userIds"]), (&json!([tag, more]), &json!(members)));
    assert_eq!(user(&fixture, &second)["userTags"], json!([]));
    assert_eq!(query_as_root(&fixture, "list_user_tags", &json!({}))["userTags"], json!([]));
}

#[test]
fn tags_are_assigned_to_and_removed_from_private_keys() {
    let mut fixture = Fixture::new(1);
    let (tag, key) = (fixture.private_key_tag.clone(), json!({"privateKeyId": fixture.private_key}));
    let tags = |fixture: &Fixture| {
        query_as_root(fixture, "get_private_key", &key)["privateKey"]["privateKeyTags"].clone()
    };
    assert_eq!(tags(&fixture), json!([tag]));
    let removal = json!({"privateKeyTagId": tag, "removePrivateKeyIds": [fixture.private_key]});
    fixture.execute("ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG", &removal);
    assert_eq!(tags(&fixture), json!([]));
    let addition = json!({"privateKeyTagId": tag, "addPrivateKeyIds": [fixture.private_key]});
    fixture.execute("ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG", &addition);
    let deleted =
        fixture.execute("ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS", &json!({"privateKeyTagIds": [tag]}));
    assert_eq!(
        deleted["result"]["deletePrivateKeyTagsResult"]["privateKeyIds"],
        json!([fixture.private_key])
    );
    assert_eq!(tags(&fixture), json!([]));
    assert_eq!(query_as_root(&fixture, "list_private_key_tags", &json!({}))["privateKeyTags"], json!([]));
    // The key can still sign under the same name.
    let caller = fixture.roots[0].clone();
    let sign = samples::parameters("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", &fixture, &fixture.spare);
    fixture
        .submit(&caller, fixture.id, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", &sign, NOW)
        .expect("signing succeeds");
}

#[test]
fn updates_of_users_change_only_the_given_members() {
    let mut fixture = Fixture::new(1);
    let spare = fixture.spare.clone();
    let id = spare.user;
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER", &json!({"userId": id, "userEmail": "a@house.example"}));
    let now = user(&fixture, &spare);
    // An empty list of tags cannot be distinguished from an absent one, so it changes nothing.
    assert_eq!((&now["userName"], &now["userEmail"]), (&json!("spare"), &json!("a@house.example")));
    fixture.execute(
        "ACTIVITY_TYPE_UPDATE_USER",
        &json!({"userId": id, "userName": "b", "userPhoneNumber": "+4930123456", "userTagIds": []}),
    );
    let now = user(&fixture, &spare);
    assert_eq!((&now["userName"], &now["userTags"]), (&json!("b"), &json!([fixture.user_tag])));
    assert_eq!(
        (&now["userEmail"], &now["userPhoneNumber"]),
        (&json!("a@house.example"), &json!("+4930123456"))
    );
    assert_eq!(now["apiKeys"].as_array().map(Vec::len), Some(2));
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_NAME", &json!({"userId": id, "userName": "c"}));
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_EMAIL", &json!({"userId": id, "userEmail": ""}));
    fixture.execute("ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", &json!({"userId": id, "userPhoneNumber": ""}));
    let now = user(&fixture, &spare);
    assert_eq!(now["userName"], "c");
    assert!(now.get("userEmail").is_none_or(Value::is_null), "{now}");
    assert!(now.get("userPhoneNumber").is_none_or(Value::is_null), "{now}");
}

#[test]
fn updates_of_policies_change_only_the_given_members() {
    let mut fixture = Fixture::new(2);
    let id = fixture.policy.clone();
    let old = policy(&fixture);
    fixture.execute("ACTIVITY_TYPE_UPDATE_POLICY_V2", &json!({"policyId": id, "policyNotes": "noted"}));
    let now = policy(&fixture);
    assert_eq!(now["notes"], "noted");
    for member in ["policyName", "effect", "condition", "consensus", "createdAt"] {
        assert_eq!(now[member], old[member], "{member}");
    }
    // A policy takes effect with its change, and has none after its deletion.
    let consensus = format!("approvers.any(user, user.id == '{}')", fixture.user.user);
    let allow = json!({"policyId": id, "policyCondition": "true", "policyConsensus": consensus});
    let wallet = |name: &str| json!({"walletName": name, "accounts": []});
    let caller = fixture.user.clone();
    let denied = |fixture: &mut Fixture, name: &str| {
        fixture.submit(&caller, fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet(name), NOW).is_err()
    };
    assert!(denied(&mut fixture, "one"));
    fixture.execute("ACTIVITY_TYPE_UPDATE_POLICY", &allow);
    assert_eq!(policy(&fixture)["condition"], "true");
    assert!(!denied(&mut fixture, "two"));
    fixture.execute("ACTIVITY_TYPE_DELETE_POLICY", &json!({"policyId": id}));
    assert!(denied(&mut fixture, "three"));
    let created = fixture.execute(
        "ACTIVITY_TYPE_CREATE_POLICIES",
        &json!({"policies": [{"policyName": "a", "effect": "EFFECT_DENY", "condition": "false", "notes": ""},
            {"policyName": "b", "effect": "EFFECT_DENY", "condition": "false", "notes": "b"}]}),
    );
    let ids = created["result"]["createPoliciesResult"]["policyIds"].clone();
    let listed = |fixture: &Fixture| query_as_root(fixture, "list_policies", &json!({}))["policies"].clone();
    assert_eq!(each(&listed(&fixture), "policyName").len(), 2);
    fixture.execute("ACTIVITY_TYPE_DELETE_POLICIES", &json!({"policyIds": ids}));
    assert_eq!(listed(&fixture), json!([]));
}

#[test]
fn credentials_are_created_and_deleted() {
    let mut fixture = Fixture::new(1);
    let spare = fixture.spare.clone();
    let id = json!({"userId": spare.user});
    let passkeys = |fixture: &Fixture| {
        each(&query_as_root(fixture, "get_authenticators", &id)["authenticators"], "credentialId")
    };
    let subjects = |fixture: &Fixture| {
        each(&query_as_root(fixture, "get_oauth_providers", &id)["oauthProviders"], "subject")
    };
    let passkey = |name: &str| vec![json!(Passkey::of(name).id())];
    assert_eq!((passkeys(&fixture), subjects(&fixture)), (passkey("spare"), vec![json!("spare")]));
    for activity_type in [
        "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2",
        "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
        "ACTIVITY_TYPE_DELETE_AUTHENTICATORS",
        "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
    ] {
        let parameters = samples::parameters(activity_type, &fixture, &spare);
        fixture.execute(activity_type, &parameters);
    }
    assert_eq!((passkeys(&fixture), subjects(&fixture)), (passkey("fresh"), vec![json!("fresh")]));
    let query = json!({"authenticatorId": spare.authenticator, "organizationId": fixture.id}).to_string();
    let stamps = fixture.roots[0].stamps(query.as_bytes());
    let answer = fixture.memory.query("get_authenticator", &stamps, query.as_bytes(), NOW);
    assert_eq!(
        answer.expect_err("the record is deleted").message,
        "no authenticator found with the given ID"
    );
}

#[test]
fn renamed_sub_organizations_are_found_by_their_new_name_only() {
    let mut fixture = Fixture::new(1);
    let child = fixture.child.clone();
    let name = json!({"organizationName": "renamed"});
    let answer = fixture.submit(&child, child.home, "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME", &name, NOW);
    let result = answer.expect("the root user may rename it")["activity"]["result"].clone();
    assert_eq!(
        result["updateOrganizationNameResult"],
        json!({"organizationId": child.home, "organizationName": "renamed"})
    );
    let found = |fixture: &Fixture, name: &str| {
        query_as_root(fixture, "list_suborgs", &json!({"filterType": "NAME", "filterValue": name}))["organizationIds"]
            .clone()
    };
    assert_eq!((found(&fixture, "child"), found(&fixture, "renamed")), (json!([]), json!([child.home])));
    let whoami = query_as(&fixture, child.home, &child, "whoami", &json!({}));
    assert_eq!(whoami["organizationName"], "renamed");
}

/// Submits a signing request and returns its answer or error message.
fn sign_request(fixture: &mut Fixture, activity_type: &str, parameters: &Value) -> Result<Value, String> {
    let caller = fixture.roots[0].clone();
    let answer = fixture.submit(&caller, fixture.id, activity_type, parameters, NOW);
    answer.map_err(|error| error.message)
}

fn raw(with: &str, value: &Value) -> Value {
    json!({with: value, "payload": "ab".repeat(32), "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_NO_OP"})
}

#[test]
fn disabled_keys_are_listed_but_cannot_sign() {
    let mut fixture = Fixture::new(1);
    let id = json!(fixture.private_key);
    let shown = |fixture: &Fixture| {
        query_as_root(fixture, "get_private_key", &json!({"privateKeyId": id}))["privateKey"].clone()
    };
    let address = shown(&fixture)["addresses"][0]["address"].clone();
    let (v1, v2) = ("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2");
    sign_request(&mut fixture, v2, &raw("signWith", &address)).expect("signing succeeds");
    fixture.execute("ACTIVITY_TYPE_DISABLE_PRIVATE_KEY", &json!({"privateKeyId": id}));
    for (activity_type, with, value) in
        [(v1, "privateKeyId", &id), (v2, "signWith", &id), (v2, "signWith", &address)]
    {
        let answer = sign_request(&mut fixture, activity_type, &raw(with, value));
        assert_eq!(answer.err().as_deref(), Some("private key is disabled"), "{with}");
    }
    assert_eq!(shown(&fixture)["privateKeyId"], id);
    let deletion = json!({"privateKeyIds": [id], "deleteWithoutExport": true});
    let secrets = |fixture: &Fixture| fixture.memory.rows(b's').count();
    let before = secrets(&fixture);
    fixture.execute("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", &deletion);
    assert_eq!(secrets(&fixture), before - 1, "the secret is gone with it");
    for (activity_type, with, value) in [(v1, "privateKeyId", &id), (v2, "signWith", &address)] {
        let answer = sign_request(&mut fixture, activity_type, &raw(with, value));
        let no_signer = "Could not find any resource to sign with. Addresses are case sensitive.";
        assert_eq!(answer.err().as_deref(), Some(no_signer));
    }
    assert_eq!(query_as_root(&fixture, "list_private_keys", &json!({}))["privateKeys"], json!([]));
}

#[test]
fn accounts_are_renamed_and_deleted_completely() {
    let mut fixture = Fixture::new(1);
    let (wallet, address) = fixture.wallet.clone();
    let accounts = |fixture: &Fixture| {
        query_as_root(fixture, "list_wallet_accounts", &json!({"walletId": wallet}))["accounts"].clone()
    };
    let name = json!({"walletAccountId": fixture.account, "name": "payouts"});
    fixture.execute("ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME", &name);
    assert_eq!(each(&accounts(&fixture), "name"), [json!("payouts")]);
    let index_rows = |fixture: &Fixture| [b'n', b'j', b'q'].map(|letter| fixture.memory.rows(letter).count());
    let sign = raw("signWith", &json!(address));
    sign_request(&mut fixture, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign).expect("signing still succeeds");
    let deletion = json!({"walletAccountIds": [fixture.account], "deleteWithoutExport": true});
    fixture.execute("ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", &deletion);
    assert_eq!((accounts(&fixture), index_rows(&fixture)), (json!([]), [0, 0, 0]));
    assert!(sign_request(&mut fixture, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign).is_err());
    // The path is free again and derives the same address.
    let again = json!({"walletId": wallet, "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &again);
    assert_eq!(created["result"]["createWalletAccountsResult"]["addresses"], json!([address]));
    assert_eq!(index_rows(&fixture), [1, 1, 1]);
}

#[test]
fn selectors_are_translated_to_expressions() {
    let mut fixture = Fixture::new(1);
    let user = fixture.user.user;
    let created = fixture.execute(
        "ACTIVITY_TYPE_CREATE_POLICY_V2",
        &json!({"policyName": "p", "effect": "EFFECT_ALLOW", "selectors": [
            {"subject": "activity.kind", "operator": "OPERATOR_IN", "targets": ["CREATE_WALLET", "UPDATE_WALLET"]},
            {"subject": "user.id", "operator": "OPERATOR_EQUAL", "targets": [user]}]}),
    );
    let id = created["result"]["createPolicyResult"]["policyId"].clone();
    let stored = query_as_root(&fixture, "get_policy", &json!({"policyId": id}))["policy"].clone();
    assert_eq!(stored["condition"], "activity.kind in ['CREATE_WALLET', 'UPDATE_WALLET']");
    assert_eq!(stored["consensus"], format!("approvers.any(user, user.id == '{user}')"));
    let caller = fixture.user.clone();
    let wallet = json!({"walletName": "by policy", "accounts": []});
    let answer = fixture.submit(&caller, fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    assert_eq!(answer.expect("a policy allows it")["activity"]["status"], "ACTIVITY_STATUS_COMPLETED");
}

#[test]
fn allowed_origins_are_stored_as_a_feature() {
    let mut fixture = Fixture::new(1);
    let value = |fixture: &Fixture| {
        let configs =
            query_as_root(fixture, "get_organization_configs", &json!({}))["configs"]["features"].clone();
        let features = configs.as_array().expect("a list").clone();
        features.into_iter().find(|one| one["name"] == "FEATURE_NAME_WEBAUTHN_ORIGINS")
    };
    let parameters = samples::parameters("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &fixture, &fixture.spare);
    fixture.execute("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &parameters);
    let set = value(&fixture).expect("the feature is enabled");
    assert_eq!(set["value"], r#"["https://house.example","http://localhost:3000"]"#);
    fixture.execute("ACTIVITY_TYPE_UPDATE_ALLOWED_ORIGINS", &json!({"allowedOrigins": []}));
    assert_eq!(value(&fixture), None);
}

#[test]
fn get_organization_returns_all_collections() {
    let fixture = Fixture::new(1);
    let data = query_as_root(&fixture, "get_organization", &json!({}))["organizationData"].clone();
    assert_eq!((&data["organizationId"], &data["name"]), (&json!(fixture.id), &json!("house")));
    let counts = ["users", "policies", "privateKeys", "invitations", "tags", "wallets"]
        .map(|list| data[list].as_array().map(Vec::len));
    assert_eq!(counts, [6, 1, 1, 1, 2, 1].map(Some));
    assert_eq!(data["rootQuorum"]["threshold"], 1);
    // SHA-256 of `[]`.
    let digest = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945";
    assert_eq!(data["smartContractInterfaceReferences"][0]["digest"], digest);
}

#[test]
fn deleted_wallets_cannot_sign_and_are_cleaned_up() {
    let mut fixture = Fixture::new(1);
    let (wallet, address) = fixture.wallet.clone();
    let more: Vec<Value> = (1..100)
        .map(|index| {
            account(&format!("m/44'/60'/0'/0/{index}"), "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")
        })
        .collect();
    fixture.execute("ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS", &json!({"walletId": wallet, "accounts": more}));
    let other = fixture.execute(
        "ACTIVITY_TYPE_CREATE_WALLET",
        &json!({"walletName": "other", "accounts": [
        account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]}),
    );
    let other = other["result"]["createWalletResult"]["walletId"].clone();
    let rows = |fixture: &Fixture| [b'n', b'j', b'q', b'z'].map(|letter| fixture.memory.rows(letter).count());
    let secrets = fixture.memory.rows(b's').count();
    assert_eq!(rows(&fixture), [101, 101, 101, 0]);
    fixture.execute(
        "ACTIVITY_TYPE_DELETE_WALLETS",
        &json!({"walletIds": [wallet], "deleteWithoutExport": true}),
    );
    assert_eq!((rows(&fixture), fixture.memory.rows(b's').count()), ([101, 101, 101, 1], secrets - 1));
    // From now on its accounts are inaccessible, whether or not they are still stored.
    let sign = raw("signWith", &json!(address));
    let listed = |fixture: &Fixture, members: &Value| {
        each(&query_as_root(fixture, "list_wallet_accounts", members)["accounts"], "walletId")
    };
    let (remaining, page) = ([other], json!({"paginationOptions": {"limit": "1"}}));
    for step in 0..4 {
        assert!(sign_request(&mut fixture, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", &sign).is_err(), "{step}");
        assert_eq!(listed(&fixture, &json!({})), remaining, "{step}");
        assert_eq!(listed(&fixture, &page), remaining, "no page is short because of them: {step}");
        let rename = json!({"walletAccountId": fixture.account, "name": "gone"});
        assert!(
            sign_request(&mut fixture, "ACTIVITY_TYPE_UPDATE_WALLET_ACCOUNT_NAME", &rename).is_err(),
            "{step}"
        );
        if let Some(commit) = cleanup::step(&fixture.memory, NOW).expect("the store is sound") {
            fixture.memory.commit(commit);
        }
    }
    assert_eq!(rows(&fixture), [1, 1, 1, 0]);
    assert!(cleanup::step(&fixture.memory, NOW).expect("the store is sound").is_none());
}

/// Creates a policy whose consensus is the approval of the user without other rights.
fn policy_of(fixture: &mut Fixture, name: &str, effect: &str, condition: &str) {
    let consensus = format!("approvers.any(user, user.id == '{}')", fixture.user.user);
    let policy = json!({"policyName": name, "effect": effect, "condition": condition, "consensus": consensus, "notes": ""});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
}

#[test]
fn batches_are_decided_as_strictly_as_their_members() {
    let mut fixture = Fixture::new(2);
    let (wallet, user) = (fixture.wallet.0.clone(), fixture.user.clone());
    policy_of(&mut fixture, "all", "EFFECT_ALLOW", "activity.resource == 'WALLET'");
    policy_of(&mut fixture, "accounts", "EFFECT_DENY", &format!("wallet.id == '{wallet}'"));
    policy_of(&mut fixture, "wallets", "EFFECT_DENY", &format!("wallets.any(w, w.id == '{wallet}')"));
    // A wallet whose id sorts before that of the protected one, so that both orders are tested.
    let other = (0..50).find_map(|number| {
        let one = json!({"walletName": format!("other {number}"), "accounts": [
            account("m/44'/60'/0'/0/0", "CURVE_SECP256K1", "ADDRESS_FORMAT_ETHEREUM")]});
        let created = fixture.submit(&user, fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &one, NOW);
        let created =
            created.expect("a policy allows it")["activity"]["result"]["createWalletResult"].clone();
        let id = created["walletId"].as_str().expect("an id").to_owned();
        (id < wallet).then_some(id)
    });
    let other = other.expect("ids are random");
    let accounts =
        query_as_root(&fixture, "list_wallet_accounts", &json!({"walletId": other}))["accounts"].clone();
    let other_account = accounts[0]["walletAccountId"].clone();
    let protected_account = json!(fixture.account);
    let mut denied = |activity_type: &str, list: &str, ids: Value| {
        let parameters = json!({list: ids, "deleteWithoutExport": true});
        fixture.submit(&user, fixture.id, activity_type, &parameters, NOW).is_err()
    };
    let accounts = "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS";
    for ids in [
        json!([protected_account]),
        json!([protected_account, other_account]),
        json!([other_account, protected_account]),
    ] {
        assert!(denied(accounts, "walletAccountIds", ids.clone()), "{ids}");
    }
    assert!(!denied(accounts, "walletAccountIds", json!([other_account])));
    let wallets = "ACTIVITY_TYPE_DELETE_WALLETS";
    for ids in [json!([wallet]), json!([wallet, other]), json!([other, wallet])] {
        assert!(denied(wallets, "walletIds", ids.clone()), "{ids}");
    }
    assert!(!denied(wallets, "walletIds", json!([other])));
}

#[test]
fn policies_about_signing_do_not_allow_deletion() {
    let mut fixture = Fixture::new(2);
    let (key, user) = (fixture.private_key.clone(), fixture.user.clone());
    policy_of(&mut fixture, "sign", "EFFECT_ALLOW", &format!("private_key.id == '{key}'"));
    let mut is_accepted = |activity_type: &str, parameters: Value| {
        fixture.submit(&user, fixture.id, activity_type, &parameters, NOW).is_ok()
    };
    assert!(is_accepted("ACTIVITY_TYPE_SIGN_RAW_PAYLOAD", raw("privateKeyId", &json!(key))));
    assert!(!is_accepted("ACTIVITY_TYPE_DISABLE_PRIVATE_KEY", json!({"privateKeyId": key})));
    let deletion = json!({"privateKeyIds": [key], "deleteWithoutExport": true});
    assert!(!is_accepted("ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", deletion));
}
