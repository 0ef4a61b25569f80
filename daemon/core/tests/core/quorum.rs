//! The root quorum can be met at any time to come: `threshold` of its members have a credential that does not expire.

use quorate_common::bounded::Label;
use quorate_common::fault::{Code, Fault};
use quorate_core::founding;
use quorate_core::limits::Limits;
use quorate_core::model::layout::IndexKey;
use serde_json::{Value, json};

use crate::house::{House, NOW, Person, new_user, public_key};
use crate::samples;

const REFUSED: &str = "quorum threshold cannot always be met";

fn is_refused(answer: Result<Value, Fault>) {
    let fault = answer.expect_err("nobody could act as root some day");
    assert_eq!(fault.code, Code::InvalidArgument);
    assert!(fault.message.starts_with(REFUSED), "{}", fault.message);
}

fn by_root(house: &mut House, activity_type: &str, parameters: &Value) -> Result<Value, Fault> {
    let root = house.roots[0].clone();
    house.submit(&root, house.id, activity_type, parameters, NOW)
}

#[test]
fn members_whose_keys_expire_are_not_enough() {
    let mut house = House::found(1);
    let (root, expiring) = (house.roots[0].user, house.expiring.user);
    let quorum = |threshold: u32| json!({"threshold": threshold, "userIds": [root, expiring]});
    is_refused(by_root(&mut house, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum(2)));
    let alone = json!({"threshold": 1, "userIds": [expiring]});
    is_refused(by_root(&mut house, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &alone));
    by_root(&mut house, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &quorum(1)).expect("one key lasts");
}

#[test]
fn the_last_key_that_does_not_expire_stays() {
    let mut house = House::found(2);
    let root = house.roots[0].clone();
    let key = json!({"apiKeyName": "short", "publicKey": public_key(30), "expirationSeconds": "60"});
    let keys = json!({"userId": root.user, "apiKeys": [key]});
    house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW).expect("their own");
    let gone = json!({"userId": root.user, "apiKeyIds": root.keys});
    is_refused(house.submit(&root, house.id, "ACTIVITY_TYPE_DELETE_API_KEYS", &gone, NOW));
    // A passkey lasts as long.
    let passkey = json!({"userId": root.user, "authenticators": [samples::authenticator("root")]});
    let made = house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &passkey, NOW);
    let made = made.expect("their own")["activity"]["result"]["createAuthenticatorsResult"].clone();
    house.submit(&root, house.id, "ACTIVITY_TYPE_DELETE_API_KEYS", &gone, NOW).expect("the passkey is left");
    let short = Person { number: 30, ..root.clone() };
    let gone = json!({"userId": root.user, "authenticatorIds": made["authenticatorIds"]});
    is_refused(house.submit(&short, house.id, "ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &gone, NOW));
    // The others of a root quorum that does not need them are free to live by keys that expire.
    let members = house.roots.each_ref().map(|root| root.user);
    house.roots[0] = short.clone();
    house.agreed("ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &json!({"threshold": 1, "userIds": members}));
    house.submit(&short, house.id, "ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &gone, NOW).expect("one is left");
}

#[test]
fn a_proposal_that_waited_is_judged_by_the_keys_of_its_end() {
    let mut house = House::found(2);
    let roots = house.roots.clone();
    let members = json!({"threshold": 1, "userIds": [house.spare.user]});
    let body = house.body(house.id, "ACTIVITY_TYPE_UPDATE_ROOT_QUORUM", &members, NOW);
    house.send(&roots[0], "update_root_quorum", &body, NOW).expect("it waits");
    let spare = house.spare.clone();
    let key = json!({"apiKeyName": "short", "publicKey": public_key(30), "expirationSeconds": "60"});
    let keys = json!({"userId": spare.user, "apiKeys": [key]});
    house.submit(&spare, house.id, "ACTIVITY_TYPE_CREATE_API_KEYS", &keys, NOW).expect("their own");
    for (activity_type, gone) in [
        ("ACTIVITY_TYPE_DELETE_AUTHENTICATORS", json!({"authenticatorIds": [spare.authenticator]})),
        ("ACTIVITY_TYPE_DELETE_API_KEYS", json!({"apiKeyIds": spare.keys})),
    ] {
        let mut gone = gone;
        gone["userId"] = json!(spare.user);
        house.submit(&spare, house.id, activity_type, &gone, NOW).expect("they are no root user");
    }
    let answer = house.send(&roots[1], "update_root_quorum", &body, NOW).expect("the vote counts");
    assert_eq!(answer["activity"]["status"], "ACTIVITY_STATUS_FAILED");
    let failure = answer["activity"]["failure"]["message"].as_str().expect("it says why");
    assert!(failure.starts_with(REFUSED), "{failure}");
}

#[test]
fn no_organization_begins_with_root_users_whose_keys_expire() {
    let mut house = House::found(1);
    let activity_type = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
    let root = |name: &str, number: u32, members: Value| {
        let mut key =
            json!({"apiKeyName": "key", "publicKey": public_key(number), "expirationSeconds": "60"});
        key["curveType"] = json!("API_KEY_CURVE_P256");
        let mut user =
            json!({"userName": name, "apiKeys": [key], "authenticators": [], "oauthProviders": []});
        for (member, value) in members.as_object().expect("an object") {
            user[member] = value.clone();
        }
        user
    };
    let child = |users: Value, threshold: u32| json!({"subOrganizationName": "short", "rootUsers": users, "rootQuorumThreshold": threshold});
    let short = || root("short", 50, json!({}));
    let passkey = || root("passkey", 51, json!({"authenticators": [samples::authenticator("child")]}));
    let mail = |number| root("mail", number, json!({"userEmail": "root@child.example"}));
    is_refused(by_root(&mut house, activity_type, &child(json!([short()]), 1)));
    is_refused(by_root(&mut house, activity_type, &child(json!([short(), passkey()]), 2)));
    by_root(&mut house, activity_type, &child(json!([short(), passkey()]), 1)).expect("the passkey lasts");
    // Whoever may sign in by mail gets in without a key.
    by_root(&mut house, activity_type, &child(json!([mail(52)]), 1)).expect("they may sign in");
    let mut without = child(json!([mail(53)]), 1);
    without["disableEmailAuth"] = json!(true);
    without["disableOtpEmailAuth"] = json!(true);
    is_refused(by_root(&mut house, activity_type, &without));

    let mut user = new_user("short", 60);
    user.api_keys.iter_mut().for_each(|key| key.expiration_seconds = Some(60));
    let founded = house.memory.with_moment(NOW, |_, moment| {
        let name = Label::parse("short".to_owned()).expect("a label");
        founding::organization(name, vec![user], 1, &Limits::default(), &IndexKey::new([7; 32]), moment)
    });
    let fault = founded.err().expect("nobody could act as root some day").fault();
    assert!(fault.message.starts_with(REFUSED), "{}", fault.message);
}
