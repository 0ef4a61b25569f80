//! Public keys, credential ids and identities of other people that somebody registers in their own sub-organization:
//! they neither lead those people there, nor keep them from their own sub-organization.

use quorate_common::api_error::ApiError;
use quorate_common::ids::OrganizationId;
use quorate_common::stamp::{ApiKeyCurve, Stamper};
use quorate_core::auth_proxy;
use quorate_core::authn::{Credentials, Header};
use quorate_core::established::{self, Named};
use quorate_core::last_use;
use quorate_core::model::last_use::{Credential, CredentialUse};
use quorate_core::model::layout::{self, Lookup};
use quorate_core::world::World as _;
use serde_json::{Value, json};

use crate::fixture::{AuthMethod, Fixture, NOW, Person, header, public_key, stamper};
use crate::passkey::Passkey;

const LOGIN: &str = "ACTIVITY_TYPE_STAMP_LOGIN";

/// Creates the sub-organization of somebody who takes over others.
fn squatter(fixture: &mut Fixture) -> Person {
    let users = json!([{"userName": "eve", "apiKeys": [{"apiKeyName": "key", "publicKey": public_key(90),
        "curveType": "API_KEY_CURVE_P256"}], "authenticators": [], "oauthProviders": []}]);
    let child = json!({"subOrganizationName": "eve", "rootUsers": users, "rootQuorumThreshold": 1});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child);
    let created = &created["result"]["createSubOrganizationResultV7"];
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    Person {
        home: id(&created["subOrganizationId"]).parse().expect("an id"),
        user: id(&created["rootUserIds"][0]).parse().expect("an id"),
        number: 90,
        auth: AuthMethod::Stamp,
        ..fixture.child.clone()
    }
}

/// Registers a public key of somebody for a user, later than the user's organization was created.
fn register(fixture: &mut Fixture, user: &Person, curve: &str, public_key: &str) {
    let keys = json!({"userId": user.user,
        "apiKeys": [{"apiKeyName": "of another", "publicKey": public_key, "curveType": curve}]});
    fixture.submit(user, user.home, "ACTIVITY_TYPE_CREATE_API_KEYS_V2", &keys, NOW + 1).expect("registered");
}

/// Logs in at the parent, and returns the organization of the session.
fn log_in(
    fixture: &mut Fixture,
    number: u32,
    stamps: impl Fn(&[u8]) -> Credentials,
) -> Result<Value, ApiError> {
    let body = fixture.body(fixture.id, LOGIN, &json!({"publicKey": public_key(number)}), NOW + 2);
    let answer = fixture.memory.submit("stamp_login", &stamps(&body), &body, NOW + 2)?;
    Ok(answer["activity"]["organizationId"].clone())
}

fn by_key(stamper: &Stamper) -> impl Fn(&[u8]) -> Credentials {
    |body| {
        let stamp = stamper.stamp(body).expect("a stamp");
        Credentials { stamp: Header::Once(header(&stamp)), ..Credentials::default() }
    }
}

/// Records that a user's key with this text was used.
fn use_key(fixture: &mut Fixture, user: &Person, curve: ApiKeyCurve, public_key: &str) {
    let stored = fixture.memory.stored(user.home);
    let key = stored.user(user.user).expect("the user").api_keys.iter();
    let key =
        key.into_iter().find(|key| key.curve == curve && key.public_key == public_key).expect("the key").id;
    let (organization, credential) = (user.home, Credential::ApiKey(key));
    let last = CredentialUse { organization, user: user.user, credential, at: NOW + 2, counter: None };
    let recording = last_use::commit(&fixture.memory, &[last]).expect("the store is readable");
    fixture.memory.commit(recording.commit);
}

#[test]
fn a_registered_key_does_not_lock_its_holder_out() {
    let mut fixture = Fixture::new(1);
    let (ann, eve) = (fixture.child.clone(), squatter(&mut fixture));
    let key = stamper(ann.number);
    register(&mut fixture, &eve, "API_KEY_CURVE_P256", key.public_key());
    assert_eq!(log_in(&mut fixture, 95, by_key(&key)).expect("a session"), json!(ann.home));
    let ids = [eve.home, ann.home];
    assert_eq!(auth_proxy::with_key(&fixture.memory, &ids, key.public_key()).expect("readable"), [ann.home]);
    // A second key of the same person is found, as long as nobody else has it.
    let second = stamper(96);
    register(&mut fixture, &ann, "API_KEY_CURVE_P256", second.public_key());
    assert_eq!(log_in(&mut fixture, 97, by_key(&second)).expect("a session"), json!(ann.home));
}

#[test]
fn a_wallet_that_has_not_signed_up_is_not_captured() {
    let mut fixture = Fixture::new(1);
    let eve = squatter(&mut fixture);
    let bob = Stamper::new(ApiKeyCurve::Secp256k1, &[8; 32]).expect("a key");
    register(&mut fixture, &eve, "API_KEY_CURVE_SECP256K1", bob.public_key());
    let error = log_in(&mut fixture, 95, by_key(&bob)).expect_err("bob has no organization");
    assert!(error.message.starts_with("could not find public key in organization"), "{}", error.message);
    let ids = [eve.home];
    let wallets = |fixture: &Fixture| {
        auth_proxy::with_wallet_key(&fixture.memory, &ids, bob.public_key()).expect("readable")
    };
    assert_eq!(wallets(&fixture), []);
    // A key that stamped something is in the hands of its user.
    use_key(&mut fixture, &eve, ApiKeyCurve::Secp256k1, bob.public_key());
    assert_eq!(wallets(&fixture), [eve.home]);
    assert_eq!(log_in(&mut fixture, 95, by_key(&bob)).expect("a session"), json!(eve.home));
}

#[test]
fn a_registered_passkey_does_not_hide_the_one_of_its_holder() {
    let mut fixture = Fixture::new(1);
    let eve = squatter(&mut fixture);
    let dan = Passkey::of("dan");
    let users = json!([{"userName": "dan", "apiKeys": [], "authenticators": [dan.registration()], "oauthProviders": []}]);
    let child = json!({"subOrganizationName": "dan", "rootUsers": users, "rootQuorumThreshold": 1});
    let created = fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child);
    let home = created["result"]["createSubOrganizationResultV7"]["subOrganizationId"].clone();
    // The same attestation, and another key with the same credential id.
    let copied = json!({"userId": eve.user, "authenticators": [dan.registration()]});
    fixture
        .submit(&eve, eve.home, "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &copied, NOW + 1)
        .expect("registered");
    let by_passkey =
        |body: &[u8]| Credentials { webauthn: Header::Once(dan.header(body)), ..Credentials::default() };
    assert_eq!(log_in(&mut fixture, 95, by_passkey).expect("a session"), home);
    let ids: [OrganizationId; 2] = [eve.home, home.as_str().expect("an id").parse().expect("an id")];
    let registration = dan.registration();
    let id = registration["attestation"]["credentialId"].as_str().expect("an id");
    let found = established::that_count(&fixture.memory, &ids, Named::Passkey(id)).expect("readable");
    assert_eq!(found, [ids[1]]);
    // It proves nothing, and neither would a sign-up with it.
    assert!(auth_proxy::is_registered(&fixture.memory, &[eve.home], Named::Passkey(id)).expect("readable"));
}

#[test]
fn an_organization_created_with_another_key_of_the_same_credential_id_takes_no_precedence() {
    let mut fixture = Fixture::new(1);
    let ann = fixture.child.clone();
    let own = Passkey::of("ann");
    let added = json!({"userId": ann.user, "authenticators": [own.registration()]});
    let kind = "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2";
    fixture.submit(&ann, ann.home, kind, &added, NOW + 1).expect("registered");
    let other = Passkey { known_as: own.known_as, ..Passkey::of("eve") };
    assert_eq!(own.id(), other.id());
    let users = json!([{"userName": "eve", "apiKeys": [], "authenticators": [other.registration()], "oauthProviders": []}]);
    let child = json!({"subOrganizationName": "eve", "rootUsers": users, "rootQuorumThreshold": 1});
    fixture.execute("ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7", &child);
    let by_passkey =
        |body: &[u8]| Credentials { webauthn: Header::Once(own.header(body)), ..Credentials::default() };
    assert_eq!(log_in(&mut fixture, 95, by_passkey).expect("a session"), json!(ann.home));
}

/// Number of sub-organizations that register the credentials of other people: more than a login or a lookup compares.
const SQUATTERS: usize = 130;

#[test]
fn many_registrations_neither_hide_a_credential_nor_lock_its_holder_out() {
    let mut fixture = Fixture::new(1);
    let ann = fixture.child.clone();
    let key = stamper(ann.number);
    let wallet = Stamper::new(ApiKeyCurve::Secp256k1, &[8; 32]).expect("a key");
    let spare = Person { number: 98, ..ann.clone() };
    register(&mut fixture, &ann, "API_KEY_CURVE_P256", &public_key(spare.number));
    // The wallet is added later, and used.
    register(&mut fixture, &ann, "API_KEY_CURVE_SECP256K1", wallet.public_key());
    use_key(&mut fixture, &ann, ApiKeyCurve::Secp256k1, wallet.public_key());
    for _ in 0..SQUATTERS {
        let eve = squatter(&mut fixture);
        register(&mut fixture, &eve, "API_KEY_CURVE_P256", key.public_key());
        register(&mut fixture, &eve, "API_KEY_CURVE_SECP256K1", wallet.public_key());
    }
    for (session, stamper) in [(95, &key), (96, &wallet)] {
        assert_eq!(log_in(&mut fixture, session, by_key(stamper)).expect("a session"), json!(ann.home));
        let text = [stamper.public_key().to_owned()];
        let established = |fixture: &Fixture| {
            let value = (Lookup::PublicKey, &text[..]);
            auth_proxy::established_in(&fixture.memory, fixture.id, value, 10).expect("readable")
        };
        assert_eq!(established(&fixture), [ann.home]);
        // The entry is removed with the key.
        let stored = fixture.memory.stored(ann.home);
        let keys = &stored.user(ann.user).expect("the user").api_keys;
        let id = keys.iter().find(|one| one.public_key == stamper.public_key()).expect("the key").id;
        let removed = json!({"userId": ann.user, "apiKeyIds": [id]});
        let kind = "ACTIVITY_TYPE_DELETE_API_KEYS";
        fixture.submit(&spare, ann.home, kind, &removed, NOW + 3).expect("deleted");
        assert_eq!(established(&fixture), []);
    }
}

#[test]
fn lists_begin_with_the_sub_organizations_in_which_a_key_is_established() {
    let mut fixture = Fixture::new(1);
    let (eve, root, key) = (squatter(&mut fixture), fixture.roots[0].clone(), public_key(96));
    register(&mut fixture, &eve, "API_KEY_CURVE_P256", &key);
    // The holder of the key has younger sub-organizations.
    let mut create = |name: &str, now: u64| -> OrganizationId {
        let users = json!([{"userName": name, "apiKeys": [{"apiKeyName": "key", "publicKey": key,
            "curveType": "API_KEY_CURVE_P256"}], "authenticators": [], "oauthProviders": []}]);
        let child = json!({"subOrganizationName": name, "rootUsers": users, "rootQuorumThreshold": 1});
        let kind = "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7";
        let made = fixture.submit(&root, root.home, kind, &child, now).expect("a sub-organization");
        let result = &made["activity"]["result"]["createSubOrganizationResultV7"];
        result["subOrganizationId"].as_str().expect("an id").parse().expect("an id")
    };
    let (first, second) = (create("first", NOW + 10), create("second", NOW + 20));
    let listed = |fixture: &Fixture, options: Value| {
        let filter = json!({"organizationId": root.home, "filterType": "PUBLIC_KEY", "filterValue": key,
            "paginationOptions": options});
        let body = filter.to_string().into_bytes();
        let answer = fixture.memory.query("list_suborgs", &root.stamps(&body), &body, NOW).expect("a page");
        answer["organizationIds"].clone()
    };
    let check = |fixture: &Fixture| {
        for (options, expected) in [
            (json!({}), json!([first, second, eve.home])),
            (json!({"limit": "1"}), json!([first])),
            (json!({"limit": "1", "after": first}), json!([second])),
            (json!({"limit": "2", "after": first}), json!([second, eve.home])),
            (json!({"after": second}), json!([eve.home])),
            (json!({"after": eve.home}), json!([])),
            (json!({"before": eve.home}), json!([first, second])),
            (json!({"limit": "1", "before": eve.home}), json!([second])),
            (json!({"before": second}), json!([first])),
            (json!({"before": first}), json!([])),
        ] {
            assert_eq!(listed(fixture, options.clone()), expected, "{options}");
        }
    };
    check(&fixture);
    // More entries than are ordered: they neither hide the holder, nor change the order of the page.
    for number in 0..120 {
        let index = fixture.memory.index();
        let entry = layout::lookup_entry(index, root.home, Lookup::PublicKey, &key, eve.home, &[number; 16]);
        fixture.memory.set_row(&entry, Some(Vec::new()));
    }
    check(&fixture);
}
