//! Invitations by email: who can accept them, for how long, and what revokes them.

use quorate_common::ids::UserId;
use quorate_core::mail::Mail;
use quorate_core::model::record::Record;
use serde_json::{Value, json};

use crate::changes::{each, query_as_root};
use crate::fixture::{AuthMethod, Fixture, NOW};
use crate::passkey::Passkey;
use crate::samples;

const ACCEPT: &str = "ACTIVITY_TYPE_ACCEPT_INVITATION_V2";

fn invitations(fixture: &Fixture) -> Value {
    query_as_root(fixture, "get_organization", &json!({}))["organizationData"]["invitations"].clone()
}

/// Accepts the invitation of the fixture.
fn accept(fixture: &mut Fixture) -> Result<Value, String> {
    let parameters = samples::parameters(ACCEPT, fixture, &fixture.spare);
    let guest = fixture.invited.clone();
    fixture.submit(&guest, fixture.id, ACCEPT, &parameters, NOW).map_err(|error| error.message)
}

#[test]
fn an_invitation_ends_with_a_restore() {
    let mut fixture = Fixture::new(2);
    fixture.memory.restored = NOW + 1;
    let parameters = samples::parameters(ACCEPT, &fixture, &fixture.spare);
    let guest = fixture.invited.clone();
    let later = NOW + 10 * 60_000;
    let refused =
        fixture.submit(&guest, fixture.id, ACCEPT, &parameters, later).map_err(|error| error.message);
    let expected = "invitation has ended, because this store was restored from a backup".to_owned();
    assert_eq!(refused, Err(expected));
    fixture.memory.restored = NOW;
    let accepted = fixture.submit(&guest, fixture.id, ACCEPT, &parameters, later + 1);
    assert!(accepted.is_ok(), "{accepted:?}");
}

#[test]
fn mailed_key_creates_one_user() {
    let mut fixture = Fixture::new(2);
    let guest = fixture.invited.clone();
    let (_, mail) = fixture.memory.rows(b'y').last().expect("an email is queued");
    let mail = Mail::decode(mail).expect("the email decodes");
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("guest@house.example", "Invitation to house"));
    for part in [&fixture.id.to_string(), &fixture.invitation, "Hello guest,", "root 0 invites you"] {
        assert!(mail.text.contains(part), "{part} is missing in {}", mail.text);
    }
    // The key accepts its invitation and nothing else.
    let body = json!({"organizationId": fixture.id}).to_string().into_bytes();
    let error = fixture
        .memory
        .query("list_users", &guest.stamps(&body), &body, NOW)
        .expect_err("the caller is not a user");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("PUBLIC_KEY_NOT_FOUND"));
    let wallet = json!({"walletName": "mine", "accounts": []});
    let error = fixture.submit(&guest, fixture.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    assert_eq!(
        error.expect_err("the caller is not a user").turnkey_error_code.as_deref(),
        Some("PUBLIC_KEY_NOT_FOUND")
    );

    let created = accept(&mut fixture).expect("the invitation is accepted");
    assert_eq!(created["activity"]["votes"][0]["userId"], json!(guest.user));
    let user = query_as_root(&fixture, "get_user", &json!({"userId": guest.user}))["user"].clone();
    assert_eq!((&user["userName"], &user["userEmail"]), (&json!("guest"), &json!("guest@house.example")));
    assert_eq!(user["userTags"], json!([fixture.user_tag]));
    assert_eq!(each(&user["authenticators"], "credentialId"), [json!(Passkey::of("guest").id())]);
    assert_eq!(each(&invitations(&fixture), "status"), [json!("INVITATION_STATUS_ACCEPTED")]);
    assert_eq!(accept(&mut fixture), Err("invitation has been accepted".to_owned()));
    let deletion = json!({"invitationId": fixture.invitation});
    let root = fixture.roots[0].clone();
    let error = fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_DELETE_INVITATION", &deletion, NOW);
    assert_eq!(error.expect_err("it is too late").message, "invitation has been accepted");
}

#[test]
fn ids_that_expressions_name_cannot_be_chosen() {
    let named = Err(
        "user ID is already named by a policy, an MFA policy or a session profile of this organization; \
         choose a random one"
            .to_owned(),
    );
    let fixture = Fixture::new(2);
    let (id, root) = (fixture.invited.user.to_string(), fixture.roots[0].user);
    let policy = |expressions: Value| {
        let mut parameters = json!({"policyName": "named", "effect": "EFFECT_ALLOW", "notes": ""});
        parameters
            .as_object_mut()
            .expect("an object")
            .extend(expressions.as_object().cloned().unwrap_or_default());
        ("ACTIVITY_TYPE_CREATE_POLICY_V3", parameters)
    };
    let consensus = format!("approvers.any(user, user.id == '{id}')");
    let kinds = [
        policy(json!({"consensus": consensus})),
        policy(
            json!({"consensus": consensus.to_uppercase().replace("APPROVERS.ANY(USER, USER.ID", "approvers.any(user, user.id")}),
        ),
        policy(json!({"condition": format!("activity.params.user_id == '{id}'")})),
        (
            "ACTIVITY_TYPE_CREATE_MFA_POLICY",
            json!({"userId": root, "mfaPolicyName": "named", "condition": format!("activity.params.user_id == '{id}'"), "order": 7,
                "requiredAuthenticationMethods": [{"any": [{"type": "AUTHENTICATION_TYPE_API_KEY"}]}]}),
        ),
        (
            "ACTIVITY_TYPE_CREATE_SESSION_PROFILE",
            json!({"sessionProfileName": "named", "scope": format!("activity.params.user_id == '{id}'")}),
        ),
    ];
    for (kind, parameters) in kinds {
        let mut fixture = fixture.clone();
        fixture.execute(kind, &parameters);
        assert_eq!(accept(&mut fixture), named, "{kind} {parameters}");
        // The invitation stays open for another id.
        fixture.invited.user = UserId::random([10; 16]);
        accept(&mut fixture).expect("another id");
    }
}

#[test]
fn deleting_a_tag_or_the_invitation_changes_the_invitation() {
    let mut fixture = Fixture::new(1);
    fixture.execute("ACTIVITY_TYPE_DELETE_USER_TAGS", &json!({"userTagIds": [fixture.user_tag]}));
    assert_eq!(invitations(&fixture)[0]["receiverUserTags"], json!([]));
    fixture.execute("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": fixture.invitation}));
    assert_eq!(each(&invitations(&fixture), "status"), [json!("INVITATION_STATUS_REVOKED")]);
    assert_eq!(accept(&mut fixture), Err("invitation has been revoked".to_owned()));
}

/// Queries the status of an invitation with the key of the fixture's invitation.
fn status(fixture: &Fixture, invitation: &str, now: u64) -> Result<Value, String> {
    let body = json!({"organizationId": fixture.id, "invitationId": invitation}).to_string().into_bytes();
    let answer = fixture.memory.query("get_invitation_status", &fixture.invited.stamps(&body), &body, now);
    answer.map(|answer| answer["status"].clone()).map_err(|error| error.message)
}

#[test]
fn status_fails_like_the_acceptance_and_changes_nothing() {
    let ended = |how: &str| Err(format!("invitation has been {how}"));
    let mut fixture = Fixture::new(1);
    let (invitation, root) = (fixture.invitation.clone(), fixture.roots[0].clone());
    let created = Ok(json!("INVITATION_STATUS_CREATED"));
    assert_eq!(status(&fixture, &invitation, NOW), created);
    let week = 7 * 24 * 60 * 60 * 1000;
    assert_eq!(status(&fixture, &invitation, NOW + week - 1), created);
    assert_eq!(status(&fixture, &invitation, NOW + week), Err("invitation has expired".to_owned()));
    let other = "00000000-0000-4000-8000-000000000000";
    assert_eq!(status(&fixture, other, NOW), Err("request not authorized".to_owned()));

    // The key of the invitation is necessary, also for users.
    let body = json!({"organizationId": fixture.id, "invitationId": invitation}).to_string().into_bytes();
    for stamps in [root.stamps(&body), fixture.registrant.stamps(&body)] {
        let error = fixture.memory.query("get_invitation_status", &stamps, &body, NOW).expect_err("no key");
        assert_eq!(error.code, quorate_common::api_error::Code::Unauthenticated, "{}", error.message);
    }

    let mut revoked = fixture.clone();
    revoked.execute("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": invitation}));
    assert_eq!(status(&revoked, &invitation, NOW), ended("revoked"));
    accept(&mut fixture).expect("the query accepted nothing");
    assert_eq!(status(&fixture, &invitation, NOW), ended("accepted"));
}

#[test]
fn invitations_are_revoked_with_their_sender() {
    let mut fixture = Fixture::new(1);
    fixture.execute("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": fixture.invitation}));
    let allowed = json!({"policyName": "invites", "effect": "EFFECT_ALLOW", "notes": "",
        "consensus": format!("approvers.any(user, user.id == '{}')", fixture.spare.user)});
    fixture.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &allowed);
    let mut parameters = samples::parameters("ACTIVITY_TYPE_CREATE_INVITATIONS", &fixture, &fixture.spare);
    parameters["invitations"][0]["senderUserId"] = json!(fixture.spare.user);
    let spare = fixture.spare.clone();
    let created =
        fixture.submit(&spare, fixture.id, "ACTIVITY_TYPE_CREATE_INVITATIONS", &parameters, NOW + 1);
    let created =
        created.expect("a policy allows it")["activity"]["result"]["createInvitationsResult"].clone();
    fixture.invitation = created["invitationIds"][0].as_str().expect("an id").to_owned();
    fixture.invited.auth = AuthMethod::Mailed(fixture.mailed_key());
    fixture.execute("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [fixture.spare.user]}));
    assert_eq!(accept(&mut fixture), Err("invitation has been revoked".to_owned()));
}

#[test]
fn mail_contains_the_link_to_the_page_if_there_is_one() {
    let mut fixture = Fixture::new(1);
    fixture.memory.invitation_page = Some("https://keys.example/pages/accept".to_owned());
    let activity_type = "ACTIVITY_TYPE_CREATE_INVITATIONS";
    let parameters = samples::parameters(activity_type, &fixture, &fixture.spare);
    fixture.execute(activity_type, &parameters);
    let mails = fixture.memory.rows(b'y');
    let texts: Vec<String> =
        mails.map(|(_, mail)| Mail::decode(mail).expect("the email decodes").text.clone()).collect();
    let links: Vec<&str> =
        texts.iter().flat_map(|text| text.lines()).filter(|line| line.contains("//")).collect();
    let [link] = links.as_slice() else { panic!("only one email has a link: {texts:?}") };
    let (page, fragment) = link.split_once('#').expect("the key is in the fragment");
    assert_eq!(page, "https://keys.example/pages/accept");
    let values: Vec<(&str, &str)> = fragment.split('&').filter_map(|part| part.split_once('=')).collect();
    let lengths = [36, 36, 5, 6, 5, 66, 64];
    let names =
        ["organization", "invitation", "organizationName", "sender", "userName", "publicKey", "privateKey"];
    assert_eq!(values.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    assert_eq!(values.iter().map(|(_, value)| value.len()).collect::<Vec<_>>(), lengths, "{values:?}");
    assert!(fragment.contains(&fixture.id.to_string()), "{link}");
}

#[test]
fn answers_of_mail_servers_lose_the_key_and_no_ordinary_word() {
    let fixture = Fixture::new(1);
    let (_, mail) = fixture.memory.rows(b'y').last().expect("an email is queued");
    let mail = Mail::decode(mail).expect("the email decodes");
    let key = mail.text.lines().find_map(|line| line.strip_prefix("private key   ")).expect("a key");
    for text in
        ["accepted", "2.0.0 Invitation accepted, public key kept", &format!("queued as {}", fixture.id)]
    {
        assert_eq!(mail.answer(Some(250), text).line(), format!("250 {text}"));
    }
    for quoted in [key, &key.to_uppercase(), &key[..40], &format!("{}\n{}", &key[..32], &key[32..])] {
        let answer = mail.answer(Some(550), &format!("5.7.1 spam: {quoted}")).line();
        assert!(answer.contains("[redacted]") && !answer.contains(&key[..8]), "{answer}");
    }
    // A mail that an earlier version queued.
    let mut old = mail.clone();
    old.secret = None;
    assert!(!old.answer(Some(550), key).text.contains(&key[..8]));
}

#[test]
fn invitations_require_email() {
    let mut fixture = Fixture::new(1);
    fixture.memory.sends_mail = false;
    let activity_type = "ACTIVITY_TYPE_CREATE_INVITATIONS";
    let parameters = samples::parameters(activity_type, &fixture, &fixture.spare);
    let root = fixture.roots[0].clone();
    let error = fixture
        .submit(&root, fixture.id, activity_type, &parameters, NOW)
        .expect_err("email is not configured");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("EMAIL_SENDING_DISABLED"));
}

#[test]
fn guests_cannot_reuse_user_ids() {
    let mut fixture = Fixture::new(1);
    let guest = fixture.invited.clone();
    let accept = |fixture: &mut Fixture, user: quorate_common::ids::UserId, now: u64| {
        let mut parameters = samples::parameters(ACCEPT, fixture, &fixture.spare);
        parameters["userId"] = json!(user);
        fixture.submit(&guest, fixture.id, ACCEPT, &parameters, now).map_err(|error| error.message)
    };
    let (root, user) = (fixture.roots[0].user, fixture.user.user);
    fixture.execute("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [user]}));
    let id_in_use = Err("user ID is already in use in this organization".to_owned());
    let nil = quorate_common::ids::UserId::from_bytes([0; 16]);
    // Policies and activities still refer to the deleted user, so the id is not reused.
    for id in [root, user, nil] {
        assert_eq!(accept(&mut fixture, id, NOW), id_in_use, "{id}");
    }
    let failed =
        query_as_root(&fixture, "list_activities", &json!({"filterByType": [ACCEPT]}))["activities"].clone();
    for activity in failed.as_array().expect("a list") {
        assert_eq!(activity["votes"][0]["userId"], json!(nil), "the activity names another user as proposer");
    }
    let week = 7 * 24 * 60 * 60 * 1000;
    assert_eq!(accept(&mut fixture, guest.user, NOW + week), Err("invitation has expired".to_owned()));
    accept(&mut fixture, guest.user, NOW + week - 1).expect("the invitation is valid on the last day");
}

#[test]
fn closed_invitations_make_room_for_new_ones() {
    let mut fixture = Fixture::new(1);
    let sender = fixture.roots[0].user;
    let invite = |fixture: &mut Fixture, from: u32, count: u32| {
        let one = |number: u32| {
            json!({"receiverUserName": "guest", "receiverUserEmail": format!("guest{number}@house.example"),
                "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": sender})
        };
        let all: Vec<Value> = (from..from + count).map(one).collect();
        let root = fixture.roots[0].clone();
        let parameters = json!({"invitations": all});
        fixture.submit(&root, fixture.id, "ACTIVITY_TYPE_CREATE_INVITATIONS", &parameters, NOW)
    };
    let error = invite(&mut fixture, 0, 100).expect_err("one invitation is open already");
    assert_eq!(error.message, "organization has reached its limit of 100 invitations");
    fixture.execute("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": fixture.invitation}));
    invite(&mut fixture, 0, 99).expect("the limit is not exceeded");
    assert_eq!(invitations(&fixture).as_array().map(Vec::len), Some(100));
    invite(&mut fixture, 99, 1).expect("the revoked invitation makes room");
    let statuses = each(&invitations(&fixture), "status");
    assert_eq!((statuses.len(), statuses.contains(&json!("INVITATION_STATUS_REVOKED"))), (100, false));
}

#[test]
fn ip_allowlist_applies_to_guests() {
    let mut fixture = Fixture::new(1);
    let parameters = samples::parameters(ACCEPT, &fixture, &fixture.spare);
    fixture.execute("ACTIVITY_TYPE_SET_IP_ALLOWLIST", &json!({"rules": [{"cidr": "198.51.100.0/28"}]}));
    let guest = fixture.invited.clone();
    let mut accept = |source: &str| {
        let body = fixture.body(fixture.id, ACCEPT, &parameters, NOW);
        let source = Some(source.parse().expect("an address"));
        let credentials = quorate_core::authn::Credentials { source, ..guest.stamps(&body) };
        fixture.memory.submit("accept_invitation", &credentials, &body, NOW).map_err(|error| error.message)
    };
    assert_eq!(accept("203.0.113.1").err().as_deref(), Some("request IP address is not in the IP allowlist"));
    accept("198.51.100.7").expect("the invitation is accepted");
}
