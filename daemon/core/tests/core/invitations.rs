//! How people are let in by mail: whom an invitation lets in, for how long, and what takes it back.

use quorate_core::mail::Mail;
use quorate_core::model::record::Record;
use serde_json::{Value, json};

use crate::changes::{asked, each};
use crate::house::{House, NOW, Shown};
use crate::passkey::Passkey;
use crate::samples;

const ACCEPT: &str = "ACTIVITY_TYPE_ACCEPT_INVITATION_V2";

fn invitations(house: &House) -> Value {
    asked(house, "get_organization", &json!({}))["organizationData"]["invitations"].clone()
}

/// Accepts the invitation of the house.
fn accept(house: &mut House) -> Result<Value, String> {
    let parameters = samples::parameters(ACCEPT, house, &house.spare);
    let guest = house.invited.clone();
    house.submit(&guest, house.id, ACCEPT, &parameters, NOW).map_err(|fault| fault.message)
}

#[test]
fn the_mailed_key_makes_a_user_once() {
    let mut house = House::found(2);
    let guest = house.invited.clone();
    let (_, mail) = house.memory.rows(b'y').last().expect("a mail waits");
    let mail = Mail::decode(mail).expect("a mail decodes");
    assert_eq!((mail.to.as_str(), mail.subject.as_str()), ("guest@house.example", "Invitation to house"));
    for part in [&house.id.to_string(), &house.invitation, "Hello guest,", "root 0 invites you"] {
        assert!(mail.text.contains(part), "{part} is not in {}", mail.text);
    }
    // The key opens its invitation and nothing else.
    let body = json!({"organizationId": house.id}).to_string().into_bytes();
    let fault = house.memory.query("list_users", &guest.stamps(&body), &body, NOW).expect_err("no user");
    assert_eq!(fault.turnkey_error_code.as_deref(), Some("PUBLIC_KEY_NOT_FOUND"));
    let wallet = json!({"walletName": "mine", "accounts": []});
    let fault = house.submit(&guest, house.id, "ACTIVITY_TYPE_CREATE_WALLET", &wallet, NOW);
    assert_eq!(fault.expect_err("no user").turnkey_error_code.as_deref(), Some("PUBLIC_KEY_NOT_FOUND"));

    let made = accept(&mut house).expect("it opens");
    assert_eq!(made["activity"]["votes"][0]["userId"], json!(guest.user));
    let user = asked(&house, "get_user", &json!({"userId": guest.user}))["user"].clone();
    assert_eq!((&user["userName"], &user["userEmail"]), (&json!("guest"), &json!("guest@house.example")));
    assert_eq!(user["userTags"], json!([house.user_tag]));
    assert_eq!(each(&user["authenticators"], "credentialId"), [json!(Passkey::of("guest").id())]);
    assert_eq!(each(&invitations(&house), "status"), [json!("INVITATION_STATUS_ACCEPTED")]);
    assert_eq!(accept(&mut house), Err("invitation has been accepted".to_owned()));
    let gone = json!({"invitationId": house.invitation});
    let root = house.roots[0].clone();
    let fault = house.submit(&root, house.id, "ACTIVITY_TYPE_DELETE_INVITATION", &gone, NOW);
    assert_eq!(fault.expect_err("too late").message, "invitation has been accepted");
}

#[test]
fn what_an_invitation_rests_on_takes_it_along() {
    let mut house = House::found(1);
    house.agreed("ACTIVITY_TYPE_DELETE_USER_TAGS", &json!({"userTagIds": [house.user_tag]}));
    assert_eq!(invitations(&house)[0]["receiverUserTags"], json!([]));
    house.agreed("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": house.invitation}));
    assert_eq!(each(&invitations(&house), "status"), [json!("INVITATION_STATUS_REVOKED")]);
    assert_eq!(accept(&mut house), Err("invitation has been revoked".to_owned()));
}

#[test]
fn an_invitation_goes_with_whoever_sent_it() {
    let mut house = House::found(1);
    house.agreed("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": house.invitation}));
    let allowed = json!({"policyName": "invites", "effect": "EFFECT_ALLOW", "notes": "",
        "consensus": format!("approvers.any(user, user.id == '{}')", house.spare.user)});
    house.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &allowed);
    let mut parameters = samples::parameters("ACTIVITY_TYPE_CREATE_INVITATIONS", &house, &house.spare);
    parameters["invitations"][0]["senderUserId"] = json!(house.spare.user);
    let spare = house.spare.clone();
    let made = house.submit(&spare, house.id, "ACTIVITY_TYPE_CREATE_INVITATIONS", &parameters, NOW + 1);
    let made = made.expect("a policy allows it")["activity"]["result"]["createInvitationsResult"].clone();
    house.invitation = made["invitationIds"][0].as_str().expect("an id").to_owned();
    house.invited.shows = Shown::Mailed(house.mailed_key());
    house.agreed("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [house.spare.user]}));
    assert_eq!(accept(&mut house), Err("invitation has been revoked".to_owned()));
}

#[test]
fn nobody_is_invited_where_no_mail_goes_out() {
    let mut house = House::found(1);
    house.memory.sends_mail = false;
    let activity_type = "ACTIVITY_TYPE_CREATE_INVITATIONS";
    let parameters = samples::parameters(activity_type, &house, &house.spare);
    let root = house.roots[0].clone();
    let fault =
        house.submit(&root, house.id, activity_type, &parameters, NOW).expect_err("it cannot be sent");
    assert_eq!(fault.turnkey_error_code.as_deref(), Some("EMAIL_SENDING_DISABLED"));
}

#[test]
fn a_guest_takes_up_nobody_s_name() {
    let mut house = House::found(1);
    let guest = house.invited.clone();
    let accept = |house: &mut House, user: quorate_common::ids::UserId, now: u64| {
        let mut parameters = samples::parameters(ACCEPT, house, &house.spare);
        parameters["userId"] = json!(user);
        house.submit(&guest, house.id, ACCEPT, &parameters, now).map_err(|fault| fault.message)
    };
    let (root, user) = (house.roots[0].user, house.user.user);
    house.agreed("ACTIVITY_TYPE_DELETE_USERS", &json!({"userIds": [user]}));
    let taken = Err("user ID is already taken in this organization".to_owned());
    let nobody = quorate_common::ids::UserId::from_bytes([0; 16]);
    // Policies and histories name the user who is gone, so the id is not to be had again.
    for id in [root, user, nobody] {
        assert_eq!(accept(&mut house, id, NOW), taken, "{id}");
    }
    let failed = asked(&house, "list_activities", &json!({"filterByType": [ACCEPT]}))["activities"].clone();
    for activity in failed.as_array().expect("a list") {
        assert_eq!(activity["votes"][0]["userId"], json!(nobody), "somebody else is said to have asked");
    }
    let week = 7 * 24 * 60 * 60 * 1000;
    assert_eq!(accept(&mut house, guest.user, NOW + week), Err("invitation has expired".to_owned()));
    accept(&mut house, guest.user, NOW + week - 1).expect("it opens on the last day");
}

#[test]
fn invitations_that_wait_no_more_make_room() {
    let mut house = House::found(1);
    let sender = house.roots[0].user;
    let invite = |house: &mut House, from: u32, count: u32| {
        let one = |number: u32| {
            json!({"receiverUserName": "guest", "receiverUserEmail": format!("guest{number}@house.example"),
                "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": sender})
        };
        let all: Vec<Value> = (from..from + count).map(one).collect();
        let root = house.roots[0].clone();
        let parameters = json!({"invitations": all});
        house.submit(&root, house.id, "ACTIVITY_TYPE_CREATE_INVITATIONS", &parameters, NOW)
    };
    let fault = invite(&mut house, 0, 100).expect_err("one waits already");
    assert_eq!(fault.message, "organization has reached its limit of 100 invitations");
    house.agreed("ACTIVITY_TYPE_DELETE_INVITATION", &json!({"invitationId": house.invitation}));
    invite(&mut house, 0, 99).expect("they all find room");
    assert_eq!(invitations(&house).as_array().map(Vec::len), Some(100));
    invite(&mut house, 99, 1).expect("the one that was taken back makes room");
    let statuses = each(&invitations(&house), "status");
    assert_eq!((statuses.len(), statuses.contains(&json!("INVITATION_STATUS_REVOKED"))), (100, false));
}

#[test]
fn a_guest_is_asked_for_their_address_too() {
    let mut house = House::found(1);
    let parameters = samples::parameters(ACCEPT, &house, &house.spare);
    house.agreed("ACTIVITY_TYPE_SET_IP_ALLOWLIST", &json!({"rules": [{"cidr": "198.51.100.0/28"}]}));
    let guest = house.invited.clone();
    let mut accept = |source: &str| {
        let body = house.body(house.id, ACCEPT, &parameters, NOW);
        let source = Some(source.parse().expect("an address"));
        let credentials = quorate_core::authn::Credentials { source, ..guest.stamps(&body) };
        house.memory.submit("accept_invitation", &credentials, &body, NOW).map_err(|fault| fault.message)
    };
    assert_eq!(accept("203.0.113.1").err().as_deref(), Some("request IP address is not in the IP allowlist"));
    accept("198.51.100.7").expect("it opens");
}
