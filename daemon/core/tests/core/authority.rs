//! Who may do what: each type tried by each kind of caller, as one readable table.

use std::fmt::Write;

use quorate_common::fault::{Code, Fault};
use quorate_common::ids::OrganizationId;
use quorate_core::{kinds, queries};
use serde_json::{Value, json};

use crate::golden;
use crate::house::{House, NOW, Person, Shown, public_key};
use crate::samples;

const HEAD: &str = "\
# Who may do what. Each type is tried with valid parameters by each kind of caller, through the front door.
#
#   permit              done at once
#   waits               waits for votes
#   denied              403; kept as a rejected activity
#   not yours           403; the caller has no part in this decision
#   other organization  400; the key belongs to another organization than the one acted upon
#   unknown key         401; the organization does not know the key
#   unknown passkey     401; the organization does not know the passkey
#   not the founder     401; a new organization is stamped by the passkey that it registers
#   expired             401; the key has come to its end
#   no stamp            401; a stamp is needed
#   refused             400; the rules refuse it, whoever asks there
#   not there           404; what it names is in another organization
#
# root 1 of 2   a member of a root quorum of two, one of whom is enough
# root 2 of 2   a member of a root quorum of two who must agree
# user          a user whom no policy names, acting on somebody else
# own           the same user, acting on credentials of their own
# allowed       a user whom a policy allows everything
# child root    a root user of a sub-organization, acting there
# parent        a root user of the parent, acting in a sub-organization
# sibling       a root user of another sub-organization
# expired       a user whose key has come to its end
# invited       somebody with the mailed key of an invitation
# founder       somebody with a passkey that is registered nowhere
# passkey       the user whom a policy allows everything, by a passkey
# session       somebody with a read-only session
";

/// A kind of caller.
struct Persona {
    name: &'static str,
    house: House,
    caller: Person,
    subject: Person,
    organization: OrganizationId,
    now: u64,
}

fn personas() -> Vec<Persona> {
    let strict = House::found(2);
    let easy = House::found(1);
    let mut policed = strict.clone();
    let consensus = format!("approvers.any(user, user.id == '{}')", policed.user.user);
    let policy = json!({"policyName": "all", "effect": "EFFECT_ALLOW", "consensus": consensus, "notes": ""});
    policed.agreed("ACTIVITY_TYPE_CREATE_POLICY_V3", &policy);
    let persona = |name, house: &House, caller: &Person, subject: &Person| Persona {
        name,
        house: house.clone(),
        caller: caller.clone(),
        subject: subject.clone(),
        organization: house.id,
        now: NOW,
    };
    let (user, spare) = (&strict.user, &strict.spare);
    let passkey = Person { shows: Shown::Passkey("user"), ..policed.user.clone() };
    let session = Person { shows: Shown::Session, ..user.clone() };
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
        persona("founder", &strict, &strict.founder, spare),
        persona("passkey", &policed, &passkey, &policed.spare),
        persona("session", &strict, &session, spare),
    ]
}

#[test]
fn the_golden_is_fresh() {
    let personas = personas();
    let mut text = HEAD.to_owned();
    let row = |text: &mut String, name: &str, cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:<20}")).collect();
        writeln!(text, "{}", format!("{name:<32}{}", cells.concat()).trim_end())
            .expect("a text can be written to");
    };
    let names: Vec<String> = personas.iter().map(|persona| persona.name.to_owned()).collect();
    text.push('\n');
    row(&mut text, "# activity", &names);
    for entry in kinds::all() {
        let cells: Vec<String> =
            personas.iter().map(|persona| submitted(entry.activity_type, persona)).collect();
        row(&mut text, entry.activity_type.trim_start_matches("ACTIVITY_TYPE_"), &cells);
    }
    text.push('\n');
    row(&mut text, "# query", &names);
    for query in queries::names() {
        let cells: Vec<String> = personas.iter().map(|persona| asked(query, persona)).collect();
        row(&mut text, query, &cells);
    }
    golden::check("authority.txt", &text);
}

fn submitted(activity_type: &str, persona: &Persona) -> String {
    let mut house = persona.house.clone();
    let mut parameters = samples::parameters(activity_type, &house, &persona.subject);
    // Nobody invites in another's name.
    if let Some(sender) = parameters.pointer_mut("/invitations/0/senderUserId") {
        *sender = json!(persona.caller.user);
    }
    let answer = house.submit(&persona.caller, persona.organization, activity_type, &parameters, persona.now);
    match answer {
        Ok(answer) => match answer["activity"]["status"].as_str() {
            Some("ACTIVITY_STATUS_COMPLETED") => "permit".to_owned(),
            // What was voted on may still wait for others: the vote itself was taken.
            Some("ACTIVITY_STATUS_CONSENSUS_NEEDED") if activity_type.ends_with("_ACTIVITY") => {
                "permit".to_owned()
            }
            Some("ACTIVITY_STATUS_CONSENSUS_NEEDED") => "waits".to_owned(),
            other => format!("{other:?}"),
        },
        Err(fault) => word(&fault),
    }
}

fn asked(query: &str, persona: &Persona) -> String {
    let house = &persona.house;
    let activity = house.memory.query(
        "list_activities",
        &stamped(house, &json!({"organizationId": house.id})).0,
        &stamped(house, &json!({"organizationId": house.id})).1,
        NOW,
    );
    let activity = activity.expect("a root user may list")["activities"][0]["id"].clone();
    let mut body = json!({
        "organizationId": persona.organization,
        "activityId": activity,
        "userId": persona.subject.user,
        "apiKeyId": persona.subject.keys[0],
        "walletId": house.wallet.0,
        "address": house.wallet.1,
        "privateKeyId": house.private_key,
        "policyId": house.policy,
        "authenticatorId": persona.subject.authenticator,
        "publicKey": public_key(13),
        "sessionProfileId": house.session_profile,
        "smartContractInterfaceId": house.interface,
        "filterType": if query == "list_verified_suborgs" { "EMAIL" } else { "" },
        "filterValue": "nobody@house.example",
    });
    if query == "get_api_keys"
        && let Some(members) = body.as_object_mut()
    {
        members.remove("userId");
    }
    let body = body.to_string().into_bytes();
    let answer = house.memory.query(query, &persona.caller.stamps(&body), &body, persona.now);
    match answer {
        Ok(_) => "permit".to_owned(),
        // A parent may look; what is asked for belongs to the parent itself and is not in the child.
        Err(fault) if fault.code == Code::NotFound && ["parent", "child root"].contains(&persona.name) => {
            "permit".to_owned()
        }
        Err(fault) => word(&fault),
    }
}

/// A query by the first root user.
fn stamped(house: &House, body: &Value) -> (quorate_core::authn::Credentials, Vec<u8>) {
    let body = body.to_string().into_bytes();
    (house.roots[0].stamps(&body), body)
}

fn word(fault: &Fault) -> String {
    let reason = fault.turnkey_error_code.as_deref();
    let detail = fault.details.first().and_then(|detail| detail["@type"].as_str()).unwrap_or_default();
    match (fault.code, reason) {
        (Code::PermissionDenied, _) if detail.ends_with("PolicyEnginePermissionError") => "denied".to_owned(),
        (Code::PermissionDenied, _) => "not yours".to_owned(),
        (_, Some("ORGANIZATION_MISMATCH")) => "other organization".to_owned(),
        (_, Some("PUBLIC_KEY_NOT_FOUND")) => "unknown key".to_owned(),
        (_, Some("CREDENTIAL_NOT_FOUND")) => "unknown passkey".to_owned(),
        (_, Some("SIGNATURE_INVALID")) => "not the founder".to_owned(),
        (_, Some("API_KEY_EXPIRED")) => "expired".to_owned(),
        (_, Some("SIGNATURE_MISSING")) => "no stamp".to_owned(),
        (Code::InvalidArgument, _) => "refused".to_owned(),
        (Code::NotFound | Code::ResourceExhausted, _) => "not there".to_owned(),
        (code, _) => format!("{code:?}: {}", fault.message),
    }
}
