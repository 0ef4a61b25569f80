//! Organizations that anybody registered over the API: what their messages contain, and how many they have sent.

use serde_json::json;

use super::*;
use crate::samples;

const MANY: &str = "Max number of OTPs have been initiated please wait and try again: an organization that was registered over the API gets 16 codes, mails with a key and invitations within 3 minutes, until the operator trusts it";
const MANY_OF_ALL: &str = "Max number of OTPs have been initiated please wait and try again: all organizations that were registered over the API get 64 codes, mails with a key and invitations within 3 minutes, except those that the operator trusts";

/// Registers an organization that permits all messages, and returns its root user.
fn register(fixture: &mut Fixture) -> Person {
    let create = "ACTIVITY_TYPE_CREATE_ORGANIZATION_V2";
    let parameters = samples::parameters(create, fixture, &fixture.spare.clone());
    let body = fixture.body(fixture.id, create, &parameters, NOW);
    let registrant = fixture.registrant.clone();
    let made = fixture.send(&registrant, "create_organization", &body, NOW).expect("an organization");
    let id = made["activity"]["organizationId"].as_str().expect("an id").parse().expect("an id");
    let root = Person { home: id, ..registrant };
    enable(fixture, &root, id);
    root
}

/// Enables all sign-in flows.
fn enable(fixture: &mut Fixture, root: &Person, id: OrganizationId) {
    for name in ["EMAIL_AUTH", "EMAIL_RECOVERY", "SMS_AUTH", "OTP_EMAIL_AUTH"] {
        let feature = json!({"name": format!("FEATURE_NAME_{name}"), "value": ""});
        submit(fixture, root, id, "SET_ORGANIZATION_FEATURE", &feature, NOW).expect("a feature");
    }
}

/// Creates a sub-organization, and returns its root user, who has the email address [`EMAIL`].
fn child_of(fixture: &mut Fixture, root: &Person) -> Person {
    let parameters = json!({"subOrganizationName": "child", "rootQuorumThreshold": 1,
        "rootUsers": [{"userName": "root", "userEmail": EMAIL, "apiKeys": [{"apiKeyName": "key",
            "publicKey": public_key(240), "curveType": "API_KEY_CURVE_P256"}],
            "authenticators": [], "oauthProviders": []}]});
    let made = submit(fixture, root, root.home, "CREATE_SUB_ORGANIZATION_V7", &parameters, NOW);
    let result = made.expect("a sub-organization")["result"]["createSubOrganizationResultV7"].clone();
    let id = |value: &Value| value.as_str().expect("an id").to_owned();
    let home = id(&result["subOrganizationId"]).parse().expect("an id");
    let user = id(&result["rootUserIds"][0]).parse().expect("an id");
    let child = Person { home, user, ..with_key(&fixture.roots[0].clone(), 240) };
    enable(fixture, &child, home);
    child
}

fn code(contact: &str) -> Value {
    let otp_type = if contact.starts_with('+') { "OTP_TYPE_SMS" } else { "OTP_TYPE_EMAIL" };
    json!({"otpType": otp_type, "contact": contact, "appName": "House"})
}

fn mailed() -> Value {
    json!({"email": EMAIL, "targetPublicKey": target().public().hex(), "emailCustomization": {"appName": "House"}})
}

/// Requests the code with this number, by mail or by SMS.
fn request(fixture: &mut Fixture, person: &Person, number: u32, now: u64) -> Result<Value, ApiError> {
    let contact = if number.is_multiple_of(2) {
        format!("p{number}@house.example")
    } else {
        format!("+120255501{number:02}")
    };
    submit(fixture, person, person.home, "INIT_OTP", &code(&contact), now)
}

#[test]
fn registered_organizations_are_marked_and_so_are_their_sub_organizations() {
    let mut fixture = Fixture::new(1);
    let root = register(&mut fixture);
    let child = child_of(&mut fixture, &root);
    let is_marked = |id: OrganizationId| fixture.memory.stored(id).head.registered;
    assert!(is_marked(root.home) && is_marked(child.home));
    assert!(!is_marked(fixture.id) && !is_marked(fixture.child.home), "the operator created it");
}

#[test]
fn messages_of_a_registered_organization_are_not_customized() {
    let mut fixture = Fixture::new(1);
    let root = register(&mut fixture);
    let child = child_of(&mut fixture, &root);
    let members = [
        ("/sendFromEmailAddress", "team@allowed.example"),
        ("/sendFromEmailSenderName", "Example Bank"),
        ("/replyToEmailAddress", "evil@evil.example"),
        ("/emailCustomization/logoUrl", "https://evil.example/logo.png"),
        ("/emailCustomization/magicLinkTemplate", "https://evil.example/?c=%s"),
    ];
    let reason_for = |path: &str| {
        let why =
            "an organization that was registered over the API must not set it, until the operator trusts it";
        format!("invalid request body: `{path}`: {why}")
    };
    // The registrant requests codes in the own organization, and keys also in the sub-organization.
    for (name, to, parameters) in
        [("INIT_OTP_V2", root.home, code("a@house.example")), ("EMAIL_AUTH_V3", child.home, mailed())]
    {
        submit(&mut fixture.clone(), &root, to, name, &parameters, NOW).expect("unbranded");
        for (member, value) in members {
            let mut parameters = parameters.clone();
            if parameters.get("emailCustomization").is_none() {
                parameters["emailCustomization"] = json!({});
            }
            let (parent, own) = member.rsplit_once('/').expect("a path");
            parameters.pointer_mut(parent).expect("a member")[own] = json!(value);
            let sent = |fixture: &mut Fixture| submit(fixture, &root, to, name, &parameters, NOW);
            let path = member.trim_start_matches('/').replace('/', ".");
            // A setting for the sub-organizations of those whom the operator knows does not lift this.
            let mut allowing = fixture.clone();
            allowing.memory.allows_child_branding = true;
            for fixture in [&mut fixture.clone(), &mut allowing] {
                refused(sent(fixture), &reason_for(&path));
            }
            let mut trusting = fixture.clone();
            trusting.memory.trusted = vec![root.home];
            sent(&mut trusting).unwrap_or_else(|error| panic!("{name}, {member}: {error:?}"));
        }
    }
    let template = json!({"otpType": "OTP_TYPE_SMS", "contact": "+12025550123",
        "smsCustomization": {"template": "https://evil.example {{.OtpCode}}"}});
    let sent = submit(&mut fixture, &root, root.home, "INIT_OTP", &template, NOW);
    refused(sent, &reason_for("smsCustomization.template"));
}

#[test]
fn a_registered_organization_has_few_messages_sent_until_it_is_trusted() {
    let mut fixture = Fixture::new(1);
    let root = register(&mut fixture);
    for number in 0..16 {
        request(&mut fixture, &root, number, NOW).expect("a code is sent");
    }
    let many = request(&mut fixture, &root, 16, NOW + 179_999).expect_err("the seventeenth");
    assert_eq!(many.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
    assert_eq!(many.message, MANY);
    let invitation = json!({"invitations": [{"receiverUserName": "new", "receiverUserEmail": "n@house.example",
        "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB", "senderUserId": root.user}]});
    refused(submit(&mut fixture, &root, root.home, "CREATE_INVITATIONS", &invitation, NOW), MANY);
    let mut trusting = fixture.clone();
    trusting.memory.trusted = vec![root.home];
    for number in 16..40 {
        request(&mut trusting, &root, number, NOW).expect("the operator trusts it");
    }
    request(&mut fixture, &root, 17, NOW + 180_000).expect("the window has ended");
}

#[test]
fn all_registered_organizations_together_have_few_messages_sent() {
    let mut fixture = Fixture::new(1);
    let roots: Vec<Person> = (0..5).map(|_| register(&mut fixture)).collect();
    let child = child_of(&mut fixture, &roots[4]);
    for root in &roots[..4] {
        for number in 0..16 {
            let contact = format!("p{number}@{}.example", root.home);
            submit(&mut fixture, root, root.home, "INIT_OTP", &code(&contact), NOW).expect("a code is sent");
        }
    }
    // The first message of each counts apart, so another one can still send something.
    for number in 0..5 {
        request(&mut fixture, &roots[4], number, NOW).expect("a code is sent");
    }
    let before = fixture.memory.rows(b'y').count();
    refused(request(&mut fixture, &roots[4], 5, NOW + 179_999), MANY_OF_ALL);
    refused(request(&mut fixture, &child, 5, NOW + 179_999), MANY_OF_ALL);
    let of_parent = submit(&mut fixture, &roots[4], child.home, "EMAIL_AUTH", &mailed(), NOW);
    refused(of_parent, MANY_OF_ALL);
    assert_eq!(fixture.memory.rows(b'y').count(), before, "nothing is sent");
    // Those whom the operator knows are not counted.
    let root = fixture.roots[0].clone();
    request(&mut fixture, &root, 0, NOW).expect("a code is sent");
    fixture.memory.trusted = vec![roots[4].home];
    request(&mut fixture, &roots[4], 5, NOW).expect("the operator trusts it");
    let child_code = request(&mut fixture, &child, 5, NOW);
    child_code.expect("it counts as any sub-organization");
}

#[test]
fn sub_organizations_of_a_registered_organization_count_with_it() {
    let mut fixture = Fixture::new(1);
    let root = register(&mut fixture);
    let child = child_of(&mut fixture, &root);
    for number in 0..15 {
        request(&mut fixture, &root, number, NOW).expect("a code is sent");
    }
    request(&mut fixture, &child, 15, NOW).expect("the sixteenth");
    refused(request(&mut fixture, &child, 16, NOW), MANY);
    refused(request(&mut fixture, &root, 17, NOW), MANY);
}

#[test]
fn people_who_signed_up_have_few_sms_sent_and_only_to_allowed_numbers() {
    const HOUR: u64 = 3_600_000;
    let text = "Max number of OTPs have been initiated please wait and try again: the users of all sub-organizations of a parent, and all organizations that were registered over the API, get 3 codes by SMS within an hour (`sub_organization_sms`)";
    let mut fixture = Fixture::new(1);
    fixture.memory.limits.sub_organization_sms = 3;
    let root = register(&mut fixture);
    let prefix = "codes by SMS are not sent to phone numbers with this prefix (`prefixes` in [sms])";
    refused(submit(&mut fixture, &root, root.home, "INIT_OTP", &code("+88213123456"), NOW), prefix);
    for number in [1, 3, 5] {
        request(&mut fixture, &root, number, NOW).expect("an SMS is sent");
    }
    for at in [NOW, NOW + HOUR - 1] {
        refused(request(&mut fixture, &root, 7, at), text);
    }
    request(&mut fixture, &root, 8, NOW + HOUR - 1).expect("mails are not counted with them");
    request(&mut fixture, &root, 9, NOW + HOUR).expect("the hour has ended");
}

#[test]
fn names_that_people_chose_contain_neither_links_nor_numbers() {
    let mut fixture = Fixture::new(1);
    let root = register(&mut fixture);
    let app = "Bank: call 900-555, or go to https://evil.example/u \u{202e}now";
    let parameters = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "v@house.example", "appName": app});
    submit(&mut fixture, &root, root.home, "INIT_OTP_V2", &parameters, NOW).expect("a code is sent");
    let parameters = json!({"otpType": "OTP_TYPE_SMS", "contact": "+12025550100", "appName": app});
    submit(&mut fixture, &root, root.home, "INIT_OTP_V2", &parameters, NOW).expect("a code is sent");
    let invitation = json!({"invitations": [{"receiverUserName": "Visit https://evil.example/,",
        "receiverUserEmail": "n@house.example", "receiverUserTags": [], "accessType": "ACCESS_TYPE_WEB",
        "senderUserId": root.user}]});
    submit(&mut fixture, &root, root.home, "CREATE_INVITATIONS", &invitation, NOW).expect("an invitation");
    let texts = |fixture: &Fixture| -> Vec<String> {
        let mails = fixture.memory.rows(layout::MAILS[0]).filter_map(|(_, row)| Mail::decode(row).ok());
        let sms = fixture.memory.rows(outbox::SMS[0]).filter_map(|(_, row)| Sms::decode(row).ok());
        let mails = mails.map(|mail| format!("{}\n{}", mail.subject, mail.text));
        mails.chain(sms.map(|sms| sms.text.clone())).collect()
    };
    let sent = texts(&fixture);
    let has = |text: &str| sent.iter().any(|one| one.contains(text));
    assert!(has("Your code for Bank call - or go to htt\n"), "{sent:?}");
    assert!(has("Your code for Bank call - or go to htt is "), "{sent:?}");
    assert!(has("Hello Visit httpsevilexample,\n"), "{sent:?}");
    assert!(!has("evil.example") && !has("900-555"), "{sent:?}");
    // Those whom the operator trusts choose their words.
    fixture.memory.trusted = vec![root.home];
    let parameters = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "w@house.example", "appName": "App 2.0"});
    submit(&mut fixture, &root, root.home, "INIT_OTP_V2", &parameters, NOW).expect("a code is sent");
    assert!(texts(&fixture).iter().any(|text| text.starts_with("Your code for App 2.0\n")));
}

#[test]
fn a_receiver_gets_few_messages_of_all_registered_organizations() {
    let mut fixture = Fixture::new(1);
    let roots: Vec<Person> = (0..4).map(|_| register(&mut fixture)).collect();
    for root in &roots[..3] {
        request(&mut fixture, root, 0, NOW).expect("a code is sent");
    }
    let error = request(&mut fixture, &roots[3], 0, NOW).expect_err("the fourth to the same address");
    assert_eq!(error.turnkey_error_code.as_deref(), Some("MAX_OTP_INITIATED"));
}
