//! Codes and OAuth identities as steps of MFA policies: attested stamps, and what they never do.

use quorate_common::api_error::{ApiError, Code};
use quorate_common::fingerprint::Fingerprint;
use quorate_common::stamp::{Scheme, Stamp, verify, verify_attested};
use serde_json::{Value, json};

use super::{APPROVE, COMPLETED, NEEDED, Proposed, Scene, WAITS, short, status};
use crate::fixture::{AuthMethod, NOW, Person, public_key};
use crate::id_tokens::{ISSUER, Token};
use crate::sign_in::attested::{BY_IDENTITY, BY_TOKEN, stamps};
use crate::sign_in::{Claims, SentCode, TOKEN_KEY};

const DAY: u64 = 24 * 60 * 60 * 1000;
/// Email address and phone number of the owner.
pub(super) const EMAIL: &str = "root0@house.example";
pub(super) const PHONE: &str = "+14155550100";
/// Email address of the other root user.
pub(super) const ADMIN_EMAIL: &str = "root1@house.example";
/// Subject of the owner at the issuer.
pub(super) const SUBJECT: &str = "owner";

/// A token that attests a key.
#[derive(Clone)]
pub(super) struct Attested {
    pub(super) scheme: &'static str,
    pub(super) token: String,
    pub(super) key: u32,
}

impl Attested {
    /// Returns a verification token of a contact.
    pub(super) fn code(scene: &Scene, id: u8, contact: &'static str) -> Self {
        let claims = Claims { id, contact, organization: scene.fixture.id, ..Claims::default() };
        Self::claims(scene, claims)
    }

    pub(super) fn claims(scene: &Scene, claims: Claims) -> Self {
        Self { scheme: BY_TOKEN, token: claims.sign(&scene.fixture.memory), key: TOKEN_KEY }
    }

    /// Returns an ID token.
    pub(super) fn identity(token: &Token) -> Self {
        Self { scheme: BY_IDENTITY, token: token.sign(), key: TOKEN_KEY }
    }
}

impl Scene {
    /// Lets the owner prove an email address and a phone number, and sign in with an OAuth identity. The other root user
    /// proves an email address.
    pub(super) fn with_contacts(mut self) -> Self {
        let (owner, admin) = (self.owner.clone(), self.admin.clone());
        let phone = json!({"userId": owner.user, "userPhoneNumber": PHONE});
        let update = self.submit(&admin, "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER", &phone, NOW);
        self.complete(&update.expect("a phone number"));
        // Logins with a token cannot wait for approvals.
        let allow = json!({"policyName": "logins", "effect": "EFFECT_ALLOW", "notes": "",
            "condition": "activity.kind == 'OTP_LOGIN'", "consensus": "true"});
        self.fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &allow);
        for (id, contact) in [(90, EMAIL), (91, PHONE), (92, ADMIN_EMAIL)] {
            let claims =
                Claims { id, contact, key: None, organization: self.fixture.id, ..Claims::default() };
            let token = claims.sign(&self.fixture.memory);
            let login = json!({"verificationToken": token, "publicKey": public_key(u32::from(id))});
            self.submit(&owner, "ACTIVITY_TYPE_OTP_LOGIN", &login, NOW).expect("a login");
        }
        let provider = json!([{"providerName": "t", "oidcToken": Token::new(SUBJECT, "").sign()}]);
        let new = json!({"userId": owner.user, "oauthProviders": provider});
        self.submit(&owner, "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS", &new, NOW).expect("an identity");
        self
    }

    /// Lets both root users approve an activity, if it waits.
    fn complete(&mut self, activity: &Value) {
        if activity["status"] == status(WAITS) {
            let target = json!({"fingerprint": activity["fingerprint"]});
            for person in [self.owner.clone(), self.admin.clone()] {
                self.submit(&person, APPROVE, &target, NOW).expect("it is approved");
            }
        }
    }

    /// Deletes an MFA policy as the root users.
    fn delete(&mut self, of: &Person, id: &str) {
        let parameters = json!({"userId": of.user, "mfaPolicyId": id});
        let admin = self.admin.clone();
        let deletion = self.submit(&admin, "ACTIVITY_TYPE_DELETE_MFA_POLICY", &parameters, NOW);
        self.complete(&deletion.expect("a deletion"));
    }

    /// Approves with an attested stamp, and returns the status of the target.
    pub(super) fn attest(
        &mut self,
        by: &Attested,
        proposed: &Proposed,
        now: u64,
    ) -> Result<String, ApiError> {
        let target = json!({"fingerprint": Fingerprint::of(&proposed.body)});
        let body = self.fixture.body(self.fixture.id, APPROVE, &target, now);
        let stamps = stamps(by.scheme, &by.token, by.key, &body);
        let answer = self.fixture.memory.submit("approve_activity", &stamps, &body, now)?;
        Ok(short(&answer["activity"]))
    }

    /// Asserts that an attested stamp is refused and changes nothing.
    pub(super) fn refuses(&mut self, by: &Attested, proposed: &Proposed, now: u64, why: &str) {
        let rows = self.fixture.memory.all_rows();
        let error = self.attest(by, proposed, now).expect_err(why);
        assert_eq!((error.code, error.message.as_str()), (Code::PermissionDenied, NO_STEP), "{why}");
        assert!(self.fixture.memory.all_rows() == rows, "{why}");
    }
}

pub(super) const NO_STEP: &str = "an attested stamp only proves the next step of an MFA policy, after an approval with a credential or a session of the same user";

#[test]
fn codes_and_identities_prove_steps() {
    let identity = Token::new(SUBJECT, &public_key(TOKEN_KEY));
    for (method, contact) in [("EMAIL_OTP", Some(EMAIL)), ("SMS_OTP", Some(PHONE)), ("OAUTH", None)] {
        let mut scene = Scene::new(1).with_contacts();
        let owner = scene.owner.clone();
        scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", method]);
        let by = match contact {
            Some(contact) => Attested::code(&scene, 1, contact),
            None => Attested::identity(&identity),
        };
        let proposed = scene.propose(&owner, "guarded");
        assert_eq!(proposed.status, NEEDED);
        assert_eq!(scene.attest(&by, &proposed, NOW), Ok(COMPLETED.to_owned()), "{method}");
        assert!(scene.has_wallet("guarded"));
        let activity = scene.activity(&proposed);
        let votes = activity["votes"].as_array().expect("votes");
        let [first, second] = votes.as_slice() else { panic!("{votes:?}") };
        assert_eq!((first.get("attestation"), &second["userId"]), (None, &json!(owner.user)));
        let provider = scene.fixture.memory.stored(scene.fixture.id);
        let provider =
            provider.user(owner.user).and_then(|user| user.oauth_providers.last()).map(|one| one.id);
        let proven = match contact {
            Some(contact) => json!({"contact": contact}),
            None => json!({"identity": {"providerId": provider, "issuer": ISSUER, "audience": "audience",
                "subject": SUBJECT}}),
        };
        let mut expected = proven;
        expected["type"] = json!(format!("AUTHENTICATION_TYPE_{method}"));
        assert_eq!(second["attestation"], expected);
        // The signature by the attested key verifies without the service, and is no stamp of a registered key.
        let text = |name: &str| second[name].as_str().expect("a text").to_owned();
        let scheme = Scheme::attested_from_name(&text("scheme")).expect("an attested scheme");
        let stamp = Stamp { public_key: text("publicKey"), scheme, signature: text("signature") };
        assert!(verify_attested(&stamp, text("message").as_bytes()));
        assert!(!verify(&stamp, text("message").as_bytes()));
        assert!(!scene.fixture.memory.contains_text(&by.token), "the token is stored nowhere");
    }
}

#[test]
fn a_verification_token_proves_one_step_once() {
    let mut scene = Scene::new(1).with_contacts();
    let owner = scene.owner.clone();
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "EMAIL_OTP"]);
    let code = Attested::code(&scene, 1, EMAIL);
    let [one, other] = ["one", "other"].map(|name| scene.propose(&owner, name));
    let target = json!({"fingerprint": Fingerprint::of(&one.body)});
    let body = scene.fixture.body(scene.fixture.id, APPROVE, &target, NOW);
    let stamp = stamps(code.scheme, &code.token, code.key, &body);
    for _ in 0..2 {
        // The same bytes, sent again, return the activity.
        let answer = scene.fixture.memory.submit("approve_activity", &stamp, &body, NOW).expect("accepted");
        assert_eq!(short(&answer["activity"]), COMPLETED);
        assert_eq!(scene.votes(&one), 2);
    }
    // Neither another activity nor a login accepts the token.
    let used = "verification token has already been used";
    let error = scene.attest(&code, &other, NOW).expect_err("used");
    assert_eq!((error.code, error.message.as_str()), (Code::AlreadyExists, used));
    let login =
        scene.fixture.body(scene.fixture.id, LOGIN, &json!({"publicKey": public_key(TOKEN_KEY)}), NOW);
    let stamp = stamps(code.scheme, &code.token, code.key, &login);
    let error = scene.fixture.memory.submit("stamp_login", &stamp, &login, NOW).expect_err("used");
    assert_eq!(error.message, used);
    // Nor does a step accept a token that opened a session.
    let next = Attested::code(&scene, 2, EMAIL);
    let login =
        scene.fixture.body(scene.fixture.id, LOGIN, &json!({"publicKey": public_key(TOKEN_KEY)}), NOW);
    let stamp = stamps(next.scheme, &next.token, next.key, &login);
    scene.fixture.memory.submit("stamp_login", &stamp, &login, NOW).expect("a session");
    assert_eq!(scene.attest(&next, &other, NOW).expect_err("used").message, used);
    assert!(!scene.has_wallet("other"));
}

const LOGIN: &str = "ACTIVITY_TYPE_STAMP_LOGIN";

#[test]
fn an_attested_login_proves_the_step_of_its_token() {
    let identity = Token::new(SUBJECT, &public_key(TOKEN_KEY));
    for (steps, by_code, by_identity) in [
        (vec!["EMAIL_OTP"], true, false),
        (vec!["OAUTH"], false, true),
        (vec!["SMS_OTP"], false, false),
        (vec!["EMAIL_OTP", "PASSKEY"], false, false),
    ] {
        let mut scene = Scene::new(1).with_contacts();
        let owner = scene.owner.clone();
        scene.require(&owner, 0, "true", &steps);
        for (by, is_met) in
            [(Attested::code(&scene, 1, EMAIL), by_code), (Attested::identity(&identity), by_identity)]
        {
            let key = json!({"publicKey": public_key(TOKEN_KEY)});
            let body = scene.fixture.body(scene.fixture.id, LOGIN, &key, NOW);
            let stamp = stamps(by.scheme, &by.token, by.key, &body);
            let answer = scene.fixture.memory.submit("stamp_login", &stamp, &body, NOW);
            let code = answer.as_ref().err().map(|error| error.code);
            assert_eq!(code, (!is_met).then_some(Code::PermissionDenied), "{steps:?}: {answer:?}");
        }
    }
}

#[test]
fn an_attested_stamp_is_never_an_approval() {
    let mut scene = Scene::new(2).with_contacts();
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    let steps = ["API_KEY", "EMAIL_OTP"];
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &steps);
    let proposed = scene.propose(&owner, "guarded");
    let codes = [1, 2, 3].map(|id| Attested::code(&scene, id, EMAIL));
    assert_eq!(scene.attest(&codes[0], &proposed, NOW), Ok(WAITS.to_owned()));
    scene.refuses(&codes[1], &proposed, NOW, "the step is proven already");
    assert_eq!((scene.votes(&proposed), scene.has_wallet("guarded")), (2, false));
    assert_eq!(scene.counted(&proposed), [owner.user], "the proposer counts once");
    // The other root user, of whom nothing is required, approves with a credential.
    let code = Attested::code(&scene, 4, ADMIN_EMAIL);
    scene.refuses(&code, &proposed, NOW, "no policy requires it");
    scene.require(&admin, 0, "activity.resource == 'WALLET'", &["EMAIL_OTP"]);
    scene.refuses(&code, &proposed, NOW, "an approver first approves with a credential");
    assert_eq!(scene.approve(&admin, &proposed, NOW), WAITS);
    assert_eq!(scene.attest(&code, &proposed, NOW), Ok(COMPLETED.to_owned()));
    assert!(scene.has_wallet("guarded"));
    scene.refuses(&codes[2], &proposed, NOW, "the activity has ended");
}

#[test]
fn consensus_of_policies_needs_approvals_with_credentials() {
    let mut scene = Scene::new(2).with_contacts();
    let user = scene.fixture.user.clone();
    let allow = json!({"policyName": "two", "effect": "EFFECT_ALLOW", "notes": "",
        "condition": "activity.kind == 'CREATE_WALLET'", "consensus": "approvers.count() >= 2"});
    scene.fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &allow);
    let identity = Attested::identity(&Token::new("user", &public_key(TOKEN_KEY)));
    scene.require(&user, 0, "activity.resource == 'WALLET'", &["API_KEY", "OAUTH"]);
    let proposed = scene.propose(&user, "two");
    assert_eq!(proposed.status, NEEDED);
    assert_eq!(scene.attest(&identity, &proposed, NOW), Ok(WAITS.to_owned()));
    scene.refuses(&identity, &proposed, NOW, "one user does not count twice");
    assert!(!scene.has_wallet("two"));
    let spare = scene.fixture.spare.clone();
    assert_eq!(scene.approve(&spare, &proposed, NOW), COMPLETED);
}

#[test]
fn a_token_proves_nothing_before_its_policy_exists_and_after_it_is_deleted() {
    let mut scene = Scene::new(2).with_contacts();
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    let code = Attested::code(&scene, 1, EMAIL);
    let proposed = scene.propose(&owner, "guarded");
    assert_eq!(proposed.status, WAITS);
    scene.refuses(&code, &proposed, NOW, "no policy requires it yet");
    let id = scene.require(&owner, 0, "activity.resource == 'WALLET'", &["EMAIL_OTP"]);
    assert_eq!(scene.approve(&admin, &proposed, NOW), NEEDED);
    scene.delete(&owner, &id);
    assert_eq!(scene.progress(&proposed, &owner), []);
    // Without the policy nothing is missing, and the next approval with a credential runs the activity.
    scene.refuses(&code, &proposed, NOW, "no policy requires it anymore");
    assert!(!scene.has_wallet("guarded"));
    assert_eq!(scene.approve(&owner, &proposed, NOW), COMPLETED);
}

#[test]
fn a_proven_step_ends_with_its_policy_and_does_not_count_without_it() {
    let mut scene = Scene::new(2).with_contacts();
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    let id = scene.require(&owner, 0, "activity.resource == 'WALLET'", &["EMAIL_OTP", "PASSKEY"]);
    let proposed = scene.propose(&owner, "guarded");
    let code = Attested::code(&scene, 1, EMAIL);
    assert_eq!(scene.attest(&code, &proposed, NOW), Ok(NEEDED.to_owned()));
    assert_eq!(scene.progress(&proposed, &owner), [(1, 2)]);
    scene.delete(&owner, &id);
    // The attested vote is not a second approval, and the owner has approved already.
    assert_eq!(scene.approve(&owner, &proposed, NOW), NEEDED);
    assert!(!scene.has_wallet("guarded"));
    assert_eq!(scene.approve(&admin, &proposed, NOW), COMPLETED);
}

#[test]
fn a_proof_expires_and_needs_a_live_approval() {
    let mut scene = Scene::new(1).with_contacts();
    let owner = scene.owner.clone();
    scene.require(&owner, 0, "activity.resource == 'WALLET'", &["EMAIL_OTP", "PASSKEY"]);
    let proposed = scene.propose(&owner, "late");
    let late = |id| {
        let exp = quorate_common::token::TokenEnd::Millis((NOW + 3 * DAY).to_string());
        Claims { id, contact: EMAIL, organization: scene.fixture.id, exp, ..Claims::default() }
    };
    let codes = [1, 2].map(late);
    let codes = codes.map(|claims| Attested::claims(&scene, claims));
    assert_eq!(scene.attest(&codes[0], &proposed, NOW), Ok(NEEDED.to_owned()));
    assert_eq!(scene.progress(&proposed, &owner), [(1, 2)]);
    scene.refuses(&codes[1], &proposed, NOW + DAY, "the approval of the proposer expired");
    assert_eq!(scene.approve(&owner, &proposed, NOW + DAY), NEEDED);
    assert_eq!(scene.attest(&codes[1], &proposed, NOW + DAY), Ok(NEEDED.to_owned()));
    let passkey = scene.passkey.clone();
    assert_eq!(scene.approve(&passkey, &proposed, NOW + DAY), COMPLETED);
}

#[test]
fn a_recovery_key_admits_no_code() {
    let mut scene = Scene::new(1).with_contacts();
    let (owner, admin) = (scene.owner.clone(), scene.admin.clone());
    scene.require(&owner, 0, "true", &["EMAIL_OTP"]);
    let recovery = crate::sign_in::recovery_key(&mut scene.fixture, &admin, EMAIL);
    let recovering = Person { auth: AuthMethod::Mailed(recovery), ..owner.clone() };
    let new = json!({"userId": owner.user, "authenticator": crate::samples::authenticator("stolen")});
    let proposed = scene.propose_any(&recovering, "ACTIVITY_TYPE_RECOVER_USER", &new);
    assert_eq!(proposed.status, NEEDED);
    let code = Attested::code(&scene, 1, EMAIL);
    scene.refuses(&code, &proposed, NOW, "both arrive in the same mailbox");
    // A credential of the user makes the difference.
    assert_eq!(scene.approve(&owner, &proposed, NOW), NEEDED);
    assert_eq!(scene.attest(&code, &proposed, NOW), Ok(COMPLETED.to_owned()));
}

impl Scene {
    /// Requests a code to the address of the owner in the name of the other root user, and returns its token.
    fn received(&mut self, length: u32, is_alphanumeric: bool, number: u32) -> Attested {
        let admin = self.admin.clone();
        let request = json!({"otpType": "OTP_TYPE_EMAIL", "contact": EMAIL, "appName": "House",
            "otpLength": length, "alphanumeric": is_alphanumeric});
        let now = NOW + u64::from(number) * 600_000;
        let sent = self.submit(&admin, "ACTIVITY_TYPE_INIT_OTP_V3", &request, now).expect("a code is sent");
        let code = SentCode::of(&self.fixture.memory, &sent);
        let back = json!({"otpId": code.id, "encryptedOtpBundle": code.encrypted(TOKEN_KEY)});
        let token =
            self.submit(&admin, "ACTIVITY_TYPE_VERIFY_OTP_V2", &back, now).expect("the code is right");
        let token = &token["result"]["verifyOtpResult"]["verificationToken"];
        Attested { scheme: BY_TOKEN, token: token.as_str().expect("a token").to_owned(), key: TOKEN_KEY }
    }
}

#[test]
fn a_code_that_could_be_guessed_proves_no_step() {
    let weak =
        "a one-time code proves a step of an MFA policy only if it has 9 characters or contains letters";
    for (length, is_alphanumeric, is_strong) in
        [(6, false, false), (8, false, false), (9, false, true), (6, true, true), (9, true, true)]
    {
        let mut scene = Scene::new(1).with_contacts();
        let owner = scene.owner.clone();
        let by = scene.received(length, is_alphanumeric, 0);
        scene.require(&owner, 0, "activity.resource == 'WALLET'", &["API_KEY", "EMAIL_OTP"]);
        let proposed = scene.propose(&owner, "guarded");
        let rows = scene.fixture.memory.all_rows();
        let answer = scene.attest(&by, &proposed, NOW);
        let what = format!("{length} characters, letters: {is_alphanumeric}");
        if is_strong {
            assert_eq!(answer, Ok(COMPLETED.to_owned()), "{what}");
        } else {
            let error = answer.expect_err(&what);
            assert_eq!((error.code, error.message.as_str()), (Code::PermissionDenied, weak), "{what}");
            assert!(scene.fixture.memory.all_rows() == rows, "{what}");
        }
        assert_eq!(scene.has_wallet("guarded"), is_strong, "{what}");
    }
}

#[test]
fn a_code_that_could_be_guessed_logs_in_unless_a_policy_requires_a_code() {
    let weak =
        "a one-time code proves a step of an MFA policy only if it has 9 characters or contains letters";
    let log_in = |scene: &mut Scene, by: &Attested, key: u32| {
        let login = json!({"publicKey": public_key(key)});
        let body = scene.fixture.body(scene.fixture.id, "ACTIVITY_TYPE_STAMP_LOGIN", &login, NOW);
        let stamps = stamps(by.scheme, &by.token, by.key, &body);
        scene.fixture.memory.submit("stamp_login", &stamps, &body, NOW)
    };
    let mut scene = Scene::new(1).with_contacts();
    let owner = scene.owner.clone();
    let [short, long] = [(6, 0), (9, 1)].map(|(length, number)| scene.received(length, false, number));
    let mut free = Scene::new(1).with_contacts();
    let code = free.received(6, false, 0);
    log_in(&mut free, &code, 60).expect("nothing requires more");
    scene.require(&owner, 0, "activity.action == 'CREATE'", &["EMAIL_OTP"]);
    let error = log_in(&mut scene, &short, 61).expect_err("the step is not proven");
    assert_eq!((error.code, error.message.as_str()), (Code::PermissionDenied, weak));
    log_in(&mut scene, &long, 62).expect("the step is proven");
}
