//! Who may do what: every activity type and query, tried by every kind of caller, as a table.

use std::fmt::Write;

use quorate_common::api_error::{ApiError, Code};
use quorate_common::ids::OrganizationId;
use quorate_core::{kinds, queries};
use serde_json::{Value, json};

use crate::fixture::{AuthMethod, Fixture, NOW, Person, public_key};
use crate::golden;
use crate::samples;

const HEAD: &str = "\
# Who may do what. Each type is tried with valid parameters by each kind of caller, through the public API.
#
#   permit              executed at once
#   waits               waits for votes
#   denied              403; recorded as a rejected activity
#   forbidden           403; the caller has no part in this decision
#   other organization  400; the key belongs to another organization than the one acted upon
#   unknown key         401; the organization does not know the key
#   unknown passkey     401; the organization does not know the passkey
#   wrong passkey       401; a new organization must be stamped with the passkey that it registers
#   expired             401; the key has expired
#   no stamp            401; a stamp is required
#   invalid             400; the request is invalid in this organization, for every caller
#   not found           404; the named record belongs to another organization
#
# root 1 of 2   a member of a root quorum of two with a threshold of 1
# root 2 of 2   a member of a root quorum of two with a threshold of 2
# user          a user without any policy, acting on another user
# own           the same user, acting on their own credentials
# allowed       a user to whom a policy allows everything
# child root    a root user of a sub-organization, acting in it
# parent        a root user of the parent, acting in a sub-organization
# sibling       a root user of another sub-organization
# expired       a user whose key has expired
# invited       the holder of the mailed key of an invitation
# registrant    the holder of a passkey that is not registered anywhere
# passkey       the user to whom a policy allows everything, with a passkey
# session       a caller with a read-only session
";

/// A kind of caller.
struct Persona {
    name: &'static str,
    fixture: Fixture,
    caller: Person,
    subject: Person,
    organization: OrganizationId,
    now: u64,
}

fn personas() -> Vec<Persona> {
    let (mut strict, mut easy) = (Fixture::new(2), Fixture::new(1));
    // The samples customize mail; who may do that is tested elsewhere.
    for fixture in [&mut strict, &mut easy] {
        fixture.memory.allows_child_branding = true;
    }
    let mut policed = strict.clone();
    let consensus = format!("approvers.any(user, user.id == '{}')", policed.user.user);
    let policy = json!({"policyName": "all", "effect": "EFFECT_ALLOW", "consensus": consensus, "notes": ""});
    policed.execute("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    let persona = |name, fixture: &Fixture, caller: &Person, subject: &Person| Persona {
        name,
        fixture: fixture.clone(),
        caller: caller.clone(),
        subject: subject.clone(),
        organization: fixture.id,
        now: NOW,
    };
    let (user, spare) = (&strict.user, &strict.spare);
    let passkey = Person { auth: AuthMethod::Passkey("user"), ..policed.user.clone() };
    let session = Person { auth: AuthMethod::Session, ..user.clone() };
    vec![
        persona("root 1 of 2", &easy, &easy.roots[0], &easy.spare),
        persona("root 2 of 2", &strict, &strict.roots[0], spare),
        persona("user", &strict, user, spare),
        persona("own", &strict, user, user),
        persona("allowed", &policed, &policed.user, &policed.spare),
        Persona { organization: strict.child.home, ..persona("child root", &strict, &strict.child, spare) },
        Persona { organization: strict.child.home, ..persona("parent", &strict, &strict.roots[0], spare) },
        Persona { organization: strict.child.home, ..persona("sibling", &strict, &strict.sibling, spare) },
        Persona { now: NOW + 60_000, ..persona("expired", &strict, &strict.expiring, spare) },
        persona("invited", &strict, &strict.invited, spare),
        persona("registrant", &strict, &strict.registrant, spare),
        persona("passkey", &policed, &passkey, &policed.spare),
        persona("session", &strict, &session, spare),
    ]
}

#[test]
fn golden_file_is_up_to_date() {
    let personas = personas();
    let mut text = HEAD.to_owned();
    let row = |text: &mut String, name: &str, cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:<20}")).collect();
        writeln!(text, "{}", format!("{name:<32}{}", cells.concat()).trim_end())
            .expect("writing to a string succeeds");
    };
    let names: Vec<String> = personas.iter().map(|persona| persona.name.to_owned()).collect();
    text.push('\n');
    row(&mut text, "# activity", &names);
    for entry in kinds::all() {
        let cells: Vec<String> =
            personas.iter().map(|persona| submit_outcome(entry.activity_type, persona)).collect();
        row(&mut text, entry.activity_type.trim_start_matches("ACTIVITY_TYPE_"), &cells);
    }
    text.push('\n');
    row(&mut text, "# query", &names);
    for query in queries::all().into_iter().map(|entry| entry.name) {
        let cells: Vec<String> = personas.iter().map(|persona| query_outcome(query, persona)).collect();
        row(&mut text, query, &cells);
    }
    golden::check("authority.txt", &text);
}

fn submit_outcome(activity_type: &str, persona: &Persona) -> String {
    let mut fixture = persona.fixture.clone();
    let mut parameters = samples::parameters(activity_type, &fixture, &persona.subject);
    // An invitation must name its caller as the sender.
    if let Some(sender) = parameters.pointer_mut("/invitations/0/senderUserId") {
        *sender = json!(persona.caller.user);
    }
    let answer =
        fixture.submit(&persona.caller, persona.organization, activity_type, &parameters, persona.now);
    match answer {
        Ok(answer) => match answer["activity"]["status"].as_str() {
            Some("ACTIVITY_STATUS_COMPLETED") => "permit".to_owned(),
            // The activity may still wait for other votes: the vote itself was accepted.
            Some("ACTIVITY_STATUS_CONSENSUS_NEEDED") if activity_type.ends_with("_ACTIVITY") => {
                "permit".to_owned()
            }
            Some("ACTIVITY_STATUS_CONSENSUS_NEEDED") => "waits".to_owned(),
            other => format!("{other:?}"),
        },
        Err(error) => describe(&error),
    }
}

fn query_outcome(query: &str, persona: &Persona) -> String {
    let fixture = &persona.fixture;
    let activity = fixture.memory.query(
        "list_activities",
        &stamped(fixture, &json!({"organizationId": fixture.id})).0,
        &stamped(fixture, &json!({"organizationId": fixture.id})).1,
        NOW,
    );
    let activity = activity.expect("a root user may list")["activities"][0]["id"].clone();
    let mut body = json!({
        "organizationId": persona.organization,
        "activityId": activity,
        "userId": persona.subject.user,
        "apiKeyId": persona.subject.keys[0],
        "walletId": fixture.wallet.0,
        "email": "root0@house.example",
        "invitationId": fixture.invitation,
        "address": fixture.wallet.1,
        "privateKeyId": fixture.private_key,
        "policyId": fixture.policy,
        "authenticatorId": persona.subject.authenticator,
        "publicKey": public_key(13),
        "sessionProfileId": fixture.session_profile,
        "mfaPolicyId": fixture.mfa_policy,
        "smartContractInterfaceId": fixture.interface,
        "filterType": if query == "list_verified_suborgs" { "EMAIL" } else { "" },
        "filterValue": "nobody@house.example",
        "path": "",
    });
    if query == "get_console_view" {
        body["validUntilMs"] = json!(persona.now + 60_000);
    }
    if query == "get_api_keys"
        && let Some(members) = body.as_object_mut()
    {
        members.remove("userId");
    }
    let body = body.to_string().into_bytes();
    let answer = fixture.memory.query(query, &persona.caller.stamps(&body), &body, persona.now);
    match answer {
        Ok(_) => "permit".to_owned(),
        // The parent may query; the requested record belongs to the parent and does not exist in the child.
        Err(error) if error.code == Code::NotFound && ["parent", "child root"].contains(&persona.name) => {
            "permit".to_owned()
        }
        Err(error) => describe(&error),
    }
}

/// Stamps a query as the first root user.
fn stamped(fixture: &Fixture, body: &Value) -> (quorate_core::authn::Credentials, Vec<u8>) {
    let body = body.to_string().into_bytes();
    (fixture.roots[0].stamps(&body), body)
}

fn describe(error: &ApiError) -> String {
    let reason = error.turnkey_error_code.as_deref();
    let detail = error.details.first().and_then(|detail| detail["@type"].as_str()).unwrap_or_default();
    match (error.code, reason) {
        (Code::PermissionDenied, _) if detail.ends_with("PolicyEnginePermissionError") => "denied".to_owned(),
        (Code::PermissionDenied, _) => "forbidden".to_owned(),
        (_, Some("ORGANIZATION_MISMATCH")) => "other organization".to_owned(),
        (_, Some("PUBLIC_KEY_NOT_FOUND")) => "unknown key".to_owned(),
        (_, Some("CREDENTIAL_NOT_FOUND")) => "unknown passkey".to_owned(),
        (_, Some("SIGNATURE_INVALID")) => "wrong passkey".to_owned(),
        (_, Some("API_KEY_EXPIRED")) => "expired".to_owned(),
        (_, Some("SIGNATURE_MISSING")) => "no stamp".to_owned(),
        (Code::InvalidArgument, _) => "invalid".to_owned(),
        (Code::NotFound | Code::ResourceExhausted, _) => "not found".to_owned(),
        (code, _) => format!("{code:?}: {}", error.message),
    }
}
