//! When credentials were last used: what counts as a use, and how it is recorded.

use quorate_common::ids::{ApiKeyId, AuthenticatorId, UserId};
use quorate_core::authn::{Credentials, Header};
use quorate_core::last_use;
use quorate_core::model::last_use::{
    Credential, CredentialUse, LAST_USE_PRECISION_MILLIS as HOUR, UsedCounter,
};
use quorate_core::operator;
use serde_json::{Value, json};

use crate::fixture::{AuthMethod, Fixture, NOW, Person, public_key};
use crate::id_tokens::Token;
use crate::passkey::Passkey;

const LOGIN: &str = "ACTIVITY_TYPE_STAMP_LOGIN";
const SIGN: &str = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2";

/// Submits an activity, commits it, and returns the uses that it reports: that of the caller, and others.
fn uses(
    fixture: &mut Fixture,
    person: &Person,
    activity_type: &str,
    parameters: &Value,
) -> (Option<CredentialUse>, Vec<CredentialUse>) {
    let body = fixture.body(person.home, activity_type, parameters, NOW);
    submitted(fixture, person, activity_type, &body, NOW)
}

fn submitted(
    fixture: &mut Fixture,
    person: &Person,
    activity_type: &str,
    body: &[u8],
    now: u64,
) -> (Option<CredentialUse>, Vec<CredentialUse>) {
    let name = activity_type.trim_start_matches("ACTIVITY_TYPE_").to_lowercase();
    let operation = name.split("_v2").next().expect("a name").to_owned();
    let attempt = fixture.memory.attempt(&operation, &person.stamps(body), body, now);
    let others = attempt.commit.as_ref().map(|commit| commit.used.clone()).unwrap_or_default();
    if let Some(commit) = attempt.commit {
        fixture.memory.commit(commit);
    }
    (attempt.used, others)
}

fn whoami(fixture: &Fixture, person: &Person) -> Option<CredentialUse> {
    let body = json!({"organizationId": person.home}).to_string().into_bytes();
    fixture.memory.attempt_query("whoami", &person.stamps(&body), &body, NOW).used
}

fn used(fixture: &Fixture, user: UserId, credential: Credential, at: u64) -> CredentialUse {
    CredentialUse { organization: fixture.id, user, credential, at, counter: None }
}

/// Records uses, and returns whether there was something to record.
fn record(fixture: &mut Fixture, uses: &[CredentialUse]) -> bool {
    let recording = last_use::commit(&fixture.memory, uses).expect("the store is readable");
    let writes = !recording.commit.writes.is_empty();
    fixture.memory.commit(recording.commit);
    writes
}

/// Returns the recorded times, by the ids of the credentials.
fn recorded(fixture: &Fixture) -> Vec<(String, u64)> {
    let detail = operator::organization(&fixture.memory, fixture.id).expect("the organization");
    detail.last_uses.into_iter().map(|one| (one.credential_id, one.at_millis)).collect()
}

fn sample() -> Value {
    json!({"signWith": "nothing", "payload": "ab", "encoding": "PAYLOAD_ENCODING_HEXADECIMAL",
        "hashFunction": "HASH_FUNCTION_NO_OP"})
}

#[test]
fn each_kind_of_credential_is_named() {
    let mut fixture = Fixture::new(1);
    let (root, user) = (fixture.roots[0].clone(), fixture.user.clone());
    let by_key = Some(used(&fixture, root.user, Credential::ApiKey(root.keys[0]), NOW));
    assert_eq!(whoami(&fixture, &root), by_key);
    let passkey = Person { auth: AuthMethod::Passkey("user"), ..user.clone() };
    let authenticator = user.authenticator.expect("the user has a passkey");
    let by_passkey = Some(used(&fixture, user.user, Credential::Passkey(authenticator), NOW));
    assert_eq!(whoami(&fixture, &passkey), by_passkey);

    // A session is a credential of its own.
    let login = uses(&mut fixture, &root, LOGIN, &json!({"publicKey": public_key(30)}));
    assert_eq!(login, (by_key, Vec::new()));
    let stored = fixture.memory.stored(fixture.id);
    let key = stored.user(root.user).and_then(|user| user.api_keys.last()).expect("the session").id;
    let session = Person { number: 30, ..root.clone() };
    assert_eq!(whoami(&fixture, &session), Some(used(&fixture, root.user, Credential::ApiKey(key), NOW)));

    // The identity is used by its user, the API key by the application.
    let token = Token::new("user", &public_key(40)).sign();
    let parameters = json!({"oidcToken": token, "publicKey": public_key(40)});
    let (caller, others) = uses(&mut fixture, &root, "ACTIVITY_TYPE_OAUTH_LOGIN", &parameters);
    let provider = user.provider.expect("the user has an identity");
    assert_eq!(caller, by_key);
    assert_eq!(others, [used(&fixture, user.user, Credential::Identity(provider), NOW)]);
}

#[test]
fn a_read_only_session_is_listed_and_used() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let answer = fixture
        .submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION", &json!({}), NOW)
        .expect("a session");
    let token = answer["activity"]["result"]["createReadOnlySessionResult"]["session"].as_str();
    let session = Header::Once(token.expect("a token").to_owned());
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let stamps = Credentials { session, ..Credentials::default() };
    let query = |at| fixture.memory.attempt_query("whoami", &stamps, &body, at);
    let reported = query(NOW + 7).used.expect("a use");
    assert!(query(NOW + 60 * 60 * 1000).used.is_none(), "an ended session is not used");
    record(&mut fixture, &[reported]);
    let detail = operator::organization(&fixture.memory, fixture.id).expect("the organization");
    let [listed] = detail.read_only_sessions.as_slice() else { panic!("one session") };
    assert_eq!((listed.user_id, listed.expires_at_millis), (root.user, NOW + 60 * 60 * 1000));
    assert_eq!(recorded(&fixture), [(listed.session_id.clone(), NOW + 7)]);
    assert!(!token.expect("a token").contains(&listed.session_id), "the id is not part of the token");
}

#[test]
fn requests_that_prove_no_current_use_are_none() {
    let mut fixture = Fixture::new(1);
    let user = fixture.user.clone();
    // A denied request is a use: somebody has the key.
    let body = fixture.body(fixture.id, SIGN, &sample(), NOW);
    let (caller, _) = submitted(&mut fixture, &user, SIGN, &body, NOW);
    assert_eq!(caller, Some(used(&fixture, user.user, Credential::ApiKey(user.keys[0]), NOW)));
    // The bodies of activities and their stamps are known to others, who can send them again.
    let again = |fixture: &mut Fixture, now| submitted(fixture, &user, SIGN, &body, now).0;
    assert_eq!(again(&mut fixture, NOW + 1000), None);
    assert_eq!(again(&mut fixture, NOW + 2 * HOUR), None);
    let old = fixture.body(fixture.id, SIGN, &sample(), NOW - 2 * HOUR);
    assert_eq!(submitted(&mut fixture, &user, SIGN, &old, NOW).0, None);
    // The key of somebody else.
    let unknown = Person { number: 99, ..user.clone() };
    assert_eq!(whoami(&fixture, &unknown), None);
    let expired = Person { ..fixture.expiring.clone() };
    let query = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let attempt = fixture.memory.attempt_query("whoami", &expired.stamps(&query), &query, NOW + 61_000);
    assert_eq!(attempt.used, None);
}

#[test]
fn times_are_precise_to_an_hour_and_never_go_back() {
    let mut fixture = Fixture::new(1);
    let root = fixture.roots[0].clone();
    let credential = Credential::ApiKey(root.keys[0]);
    let id = root.keys[0].to_string();
    for (at, writes, expected) in [
        (NOW, true, NOW),
        (NOW + 1, false, NOW),
        (NOW + HOUR - 1, false, NOW),
        (NOW + HOUR, true, NOW + HOUR),
        (NOW, false, NOW + HOUR),
    ] {
        let one = used(&fixture, root.user, credential, at);
        assert_eq!(record(&mut fixture, &[one]), writes, "{at}");
        assert_eq!(recorded(&fixture), [(id.clone(), expected)], "{at}");
    }
    let version = fixture.memory.stored(fixture.id).head.version;
    let one = used(&fixture, root.user, credential, NOW + 9 * HOUR);
    record(&mut fixture, &[one]);
    assert_eq!(fixture.memory.stored(fixture.id).head.version, version, "a use clashes with no request");
}

#[test]
fn records_end_with_their_credentials_and_users() {
    let mut fixture = Fixture::new(1);
    let (root, spare) = (fixture.roots[0].clone(), fixture.spare.clone());
    let key = |index: usize| used(&fixture, spare.user, Credential::ApiKey(spare.keys[index]), NOW);
    let (first, second) = (key(0), key(1));
    let unknown = used(&fixture, spare.user, Credential::ApiKey(ApiKeyId::from_bytes([9; 16])), NOW);
    let nobody = used(&fixture, UserId::from_bytes([9; 16]), Credential::ApiKey(spare.keys[0]), NOW);
    assert!(record(&mut fixture, &[first, second, unknown, nobody]));
    assert_eq!(recorded(&fixture).len(), 2);

    let removed = json!({"userId": spare.user, "apiKeyIds": [spare.keys[1]]});
    fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_DELETE_API_KEYS", &removed, NOW).expect("deleted");
    assert!(!record(&mut fixture, &[second]), "a deleted key is not recorded again");
    let later = CredentialUse { at: NOW + HOUR, ..first };
    assert!(record(&mut fixture, &[later]));
    assert_eq!(recorded(&fixture), [(spare.keys[0].to_string(), NOW + HOUR)]);

    // A use that is recorded while its user is deleted clashes, and leaves nothing behind.
    let even_later = CredentialUse { at: NOW + 2 * HOUR, ..first };
    let racing = last_use::commit(&fixture.memory, &[even_later]).expect("the store is readable");
    let deletion = json!({"userIds": [spare.user]});
    fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_DELETE_USERS", &deletion, NOW).expect("deleted");
    assert_eq!(recorded(&fixture), []);
    assert!(!fixture.memory.try_commit(racing.commit));
    assert!(!record(&mut fixture, &[even_later]));
    assert_eq!(recorded(&fixture), []);
}

/// A user with a passkey that counts, and was registered with the counter 3.
struct Counting {
    fixture: Fixture,
    passkey: AuthenticatorId,
}

impl Counting {
    fn new() -> Self {
        let mut fixture = Fixture::new(1);
        let user = fixture.user.user;
        let passkey = Passkey { counter: 3, ..Passkey::of("counts") };
        let parameters = json!({"userId": user, "authenticators": [passkey.registration()]});
        fixture.execute("ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2", &parameters);
        let stored = fixture.memory.stored(fixture.id);
        let passkey = stored.user(user).and_then(|user| user.authenticators.last()).expect("the passkey").id;
        Self { fixture, passkey }
    }

    /// Stamps a body with the passkey at a counter.
    fn stamps(body: &[u8], counter: u32) -> Credentials {
        let passkey = Passkey { counter, ..Passkey::of("counts") };
        Credentials { webauthn: Header::Once(passkey.header(body)), ..Credentials::default() }
    }

    /// Proposes an activity, which is denied, and returns its use.
    fn propose(&mut self, counter: u32) -> CredentialUse {
        let body = self.fixture.body(self.fixture.id, SIGN, &sample(), NOW);
        self.send(&body, counter).expect("a use")
    }

    fn send(&mut self, body: &[u8], counter: u32) -> Option<CredentialUse> {
        let stamps = Self::stamps(body, counter);
        let attempt = self.fixture.memory.attempt("sign_raw_payload", &stamps, body, NOW);
        attempt.commit.into_iter().for_each(|commit| self.fixture.memory.commit(commit));
        attempt.used
    }

    fn query(&self, counter: u32) -> CredentialUse {
        let body = json!({"organizationId": self.fixture.id}).to_string().into_bytes();
        let stamps = Self::stamps(&body, counter);
        self.fixture.memory.attempt_query("whoami", &stamps, &body, NOW).used.expect("a use")
    }

    /// Records uses, and returns the counters that went back, each with the one before.
    fn record(&mut self, uses: &[CredentialUse]) -> Vec<(u32, u32)> {
        let recording = last_use::commit(&self.fixture.memory, uses).expect("the store is readable");
        self.fixture.memory.commit(recording.commit);
        let back = recording.went_back.into_iter();
        back.map(|one| {
            assert_eq!((one.user, one.passkey), (self.fixture.user.user, self.passkey));
            (one.back.counter, one.back.after)
        })
        .collect()
    }

    /// Proposes an activity, and records its use.
    fn use_at(&mut self, counter: u32) -> Vec<(u32, u32)> {
        let used = self.propose(counter);
        self.record(&[used])
    }

    /// Returns what operators read: the time, the counter and the one before.
    fn shown(&self) -> Option<(u64, u32, u32)> {
        let detail = operator::organization(&self.fixture.memory, self.fixture.id).expect("the organization");
        let id = self.passkey.to_string();
        let back = detail.last_uses.into_iter().find(|one| one.credential_id == id)?.counter_went_back?;
        Some((back.at_millis, back.counter, back.after))
    }
}

// Web Authentication §7.2, step 22.
#[test]
fn a_counter_that_is_not_higher_is_flagged_and_accepted() {
    let mut counting = Counting::new();
    let nine = counting.propose(9);
    assert_eq!(counting.record(&[nine]), []);
    assert_eq!(counting.shown(), None);
    // Nothing but the counter is recorded within the hour.
    let seven = counting.propose(7);
    let who = counting.query(8);
    assert_eq!(who.credential, Credential::Passkey(counting.passkey), "it still authenticates");
    assert_eq!(counting.record(&[seven]), [(7, 9)]);
    assert_eq!(counting.shown(), Some((NOW, 7, 9)));
    // A counter that started again is flagged once, and the flag stays.
    assert_eq!(counting.use_at(8), []);
    assert_eq!(counting.shown(), Some((NOW, 7, 9)));
    let ten = CredentialUse { at: NOW + HOUR, ..counting.propose(10) };
    assert_eq!(counting.record(&[ten]), []);
    let later = CredentialUse { at: NOW + HOUR + 1, ..counting.propose(10) };
    assert_eq!(counting.record(&[later]), [(10, 10)]);
    assert_eq!(counting.shown(), Some((NOW + HOUR + 1, 10, 10)));
    // The flag ends with the passkey.
    let removed = json!({"userId": counting.fixture.user.user, "authenticatorIds": [counting.passkey]});
    counting.fixture.execute("ACTIVITY_TYPE_DELETE_AUTHENTICATORS", &removed);
    assert_eq!(counting.record(&[later]), []);
    let key = counting.fixture.user.keys[0];
    let used = used(&counting.fixture, counting.fixture.user.user, Credential::ApiKey(key), NOW);
    assert_eq!(counting.record(&[used]), []);
    assert_eq!(counting.shown(), None);
}

#[test]
fn the_first_use_is_compared_with_the_registration() {
    for (counter, expected) in [(4, vec![]), (3, vec![(3, 3)]), (2, vec![(2, 3)])] {
        assert_eq!(Counting::new().use_at(counter), expected, "{counter}");
    }
}

#[test]
fn passkeys_that_do_not_count_are_never_flagged() {
    let mut counting = Counting::new();
    for counter in [0, 9, 0, 10, 0] {
        assert_eq!(counting.use_at(counter), [], "{counter}");
    }
    // Registered with zero, as a synced passkey.
    let mut fixture = Fixture::new(1);
    let synced = Person { auth: AuthMethod::Passkey("user"), ..fixture.user.clone() };
    let (first, _) = uses(&mut fixture, &synced, SIGN, &sample());
    assert_eq!(first.expect("a use").counter, None);
    let second = CredentialUse { at: NOW + 2 * HOUR, ..first.expect("a use") };
    let recording = last_use::commit(&fixture.memory, &[first.expect("a use"), second]).expect("readable");
    assert_eq!(recording.went_back, []);
}

#[test]
fn an_assertion_that_is_sent_again_is_never_flagged() {
    let mut counting = Counting::new();
    let (old, nine) = (counting.query(8), counting.propose(9));
    assert_eq!(counting.record(&[old, nine]), []);
    // Everybody who has seen a query can send it again.
    assert_eq!(counting.record(&[old, counting.query(9)]), []);
    assert_eq!(counting.use_at(10), []);
    // The body is not recorded, so the client may send it again with the same assertion.
    let invalid = counting.fixture.body(counting.fixture.id, SIGN, &json!({}), NOW);
    for _ in 0..2 {
        let used = counting.send(&invalid, 11).expect("a use");
        assert_eq!(used.counter, None);
        assert_eq!(counting.record(&[used]), []);
    }
    let body = counting.fixture.body(counting.fixture.id, SIGN, &sample(), NOW);
    let used = counting.send(&body, 12).expect("a use");
    assert_eq!(counting.record(&[used]), []);
    assert_eq!(counting.send(&body, 12), None);
    // A query advances the counter.
    let ahead = CredentialUse { at: NOW + HOUR, ..counting.query(20) };
    assert_eq!(counting.record(&[ahead]), []);
    assert_eq!(counting.use_at(19), [(19, 20)]);
}

#[test]
fn counters_that_were_not_recorded_flag_nothing() {
    let mut counting = Counting::new();
    assert_eq!(counting.use_at(9), []);
    // The daemon ends before these are recorded.
    for counter in [10, 11] {
        counting.propose(counter);
    }
    assert_eq!(counting.use_at(12), []);
    // What it remembers counts as well, and what is stored if it remembers less.
    for (counter, after, expected) in [(13, 15, (13, 15)), (12, 2, (12, 13))] {
        let used = counting.propose(counter);
        let remembered = used.counter.map(|one| UsedCounter { after, ..one });
        assert_eq!(counting.record(&[CredentialUse { counter: remembered, ..used }]), [expected]);
    }
}
