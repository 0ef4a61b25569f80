//! `quorate schema`: the JSON Schema of what `--json` prints. Records of the daemon have the schema of their types; what
//! this program adds is described here. Members may be added later; none is removed or changed.

use quorate_common::console::custody::ShareOutcome;
use quorate_common::console::{
    ActivityRow, DaemonStatus, MessageEvent, Mode, OrganizationDetail, OrganizationHead, ParkedDeliveries,
    RetriedDelivery, WaitingDelivery, WebhookAttempt, WebhookReceiver,
};
use quorate_common::wire::{Policy, Wallet, WalletAccount};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::journal::Entry;
use crate::output::Answer;
use crate::published::time_name;

/// The commands that print each noun.
const NOUNS: [(&str, &str); 33] = [
    ("organization", "quorate org ls"),
    ("organizationDetail", "quorate org get"),
    ("credential", "quorate user ls"),
    ("wallet", "quorate wallet ls"),
    ("walletDetail", "quorate wallet get"),
    ("policy", "quorate policy ls, quorate policy get"),
    ("activity", "quorate activity ls"),
    ("approval", "quorate approvals ls"),
    ("review", "quorate review, quorate activity get, quorate activity wait, --dry-run"),
    ("vote", "quorate approve, quorate reject, and commands that propose"),
    ("type", "quorate propose --list"),
    ("typeMembers", "quorate propose TYPE --schema"),
    ("key", "quorate key ls, quorate key add"),
    ("registration", "quorate key registration"),
    ("knownKey", "quorate known-keys ls"),
    ("address", "quorate book ls"),
    ("decision", "quorate journal ls"),
    ("log", "quorate log verify"),
    ("contradictedLog", "quorate log verify, if it exits with 11"),
    ("acceptedLog", "quorate log accept"),
    ("message", "quorate messages ls"),
    ("webhook", "quorate webhook ls"),
    ("delivery", "quorate webhook deliveries"),
    ("retriedDelivery", "quorate webhook retry"),
    ("testedWebhook", "quorate webhook test"),
    ("parked", "quorate webhook parked"),
    ("context", "quorate context"),
    ("setting", "quorate config show"),
    ("finding", "quorate doctor"),
    ("event", "quorate watch"),
    ("identity", "quorate whoami"),
    ("share", "quorate share check, quorate share show"),
    ("givenShare", "quorate unseal"),
];

/// Returns the schema, or the definition of one noun with all that it refers to.
pub(super) fn run() -> Answer {
    let schema = schema();
    let text = format!("{schema:#}\n");
    Answer::file(schema, text)
}

/// Returns the schema of every noun.
fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut own = Map::new();
    of_daemon(&mut generator, &mut own);
    of_console(&mut own);
    let mut definitions = published(Value::Object(generator.take_definitions(true)));
    if let Value::Object(all) = &mut definitions {
        all.insert("Timestamp".to_owned(), time());
        for (noun, commands) in
            NOUNS.into_iter().chain([("status", "quorate status"), ("error", "every command that fails")])
        {
            if let Some(Value::Object(members)) = own.get_mut(noun) {
                members.insert("title".to_owned(), json!(commands));
            }
        }
        all.extend(own);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Output of quorate --json",
        "description": "One object, or one per line in lists. Times are in UTC (RFC 3339). Members may be added later.",
        "$defs": definitions,
    })
}

/// Adds what the daemon defines.
fn of_daemon(generator: &mut SchemaGenerator, all: &mut Map<String, Value>) {
    let wire = |schema: schemars::Schema| published(schema.to_value());
    all.insert("organization".to_owned(), wire(generator.subschema_for::<OrganizationHead>()));
    all.insert("organizationDetail".to_owned(), wire(generator.subschema_for::<OrganizationDetail>()));
    all.insert("wallet".to_owned(), wire(generator.subschema_for::<Wallet>()));
    let account = wire(generator.subschema_for::<WalletAccount>());
    let wallet = json!({"$ref": "#/$defs/wallet"});
    all.insert("walletDetail".to_owned(), with(&wallet, &[("accounts", list(&account))]));
    all.insert("activity".to_owned(), wire(generator.subschema_for::<ActivityRow>()));
    let message = wire(generator.subschema_for::<MessageEvent>());
    all.insert("message".to_owned(), with(&message, &[("state", text())]));
    let receiver = wire(generator.subschema_for::<WebhookReceiver>());
    let more = [("organizationId", text()), ("state", text()), ("countedSince", time())];
    all.insert("webhook".to_owned(), with(&receiver, &more));
    let attempt = wire(generator.subschema_for::<WebhookAttempt>());
    let waiting = wire(generator.subschema_for::<WaitingDelivery>());
    let deliveries = [waiting, attempt.clone()].map(|one| with(&one, &[("state", text())]));
    all.insert("delivery".to_owned(), json!({"anyOf": deliveries}));
    all.insert("retriedDelivery".to_owned(), wire(generator.subschema_for::<RetriedDelivery>()));
    all.insert("testedWebhook".to_owned(), with(&attempt, &[]));
    all.insert("parked".to_owned(), wire(generator.subschema_for::<ParkedDeliveries>()));
    let status = wire(generator.subschema_for::<DaemonStatus>());
    let more = [
        ("socket", text()),
        ("parkedWebhooks", or_null(&number())),
        ("parkedDestinations", or_null(&number())),
        ("clockApartMillis", number()),
    ];
    let local = with(&status, &more);
    let remote = [
        ("url", text()),
        ("transport", text()),
        ("mode", wire(generator.subschema_for::<Mode>())),
        ("version", text()),
        ("protocol", number()),
        ("quorumPublicKey", text()),
        ("strictDenyErrors", yes_or_no()),
        ("clockApartMillis", number()),
    ];
    // The second one is that of a daemon at a URL.
    all.insert("status".to_owned(), json!({"anyOf": [local, object(&remote, &[])]}));
    all.insert("givenShare".to_owned(), wire(generator.subschema_for::<ShareOutcome>()));
    all.insert("decision".to_owned(), wire(generator.subschema_for::<Entry>()));
    let policy = wire(generator.subschema_for::<Policy>());
    let policy = object(&[("policy", policy), ("words", text())], &[("findings", list(&json!(true)))]);
    all.insert("policy".to_owned(), policy);
}

/// Adds what this program defines.
fn of_console(all: &mut Map<String, Value>) {
    let mut add = |noun: &str, schema| all.insert(noun.to_owned(), schema);
    let share = [
        ("storeId", text()),
        ("set", text()),
        ("index", number()),
        ("threshold", number()),
        ("holders", number()),
        ("holder", text()),
        ("publicKey", text()),
        ("checksum", text()),
        ("checked", yes_or_no()),
    ];
    add("share", object(&share, &[]));
    add("review", object(&review(), &[("activity", json!(true))]));
    let heavy = ["message", "result", "failure", "fields", "facts", "changes"];
    let mut approval: Vec<_> = review().into_iter().filter(|(name, _)| !heavy.contains(name)).collect();
    approval.extend([("brief", text()), ("mine", yes_or_no())]);
    add("approval", object(&approval, &[]));
    let vote = [
        ("activityId", or_null(&text())),
        ("fingerprint", or_null(&text())),
        ("choice", text()),
        ("vote", text()),
        ("outcome", text()),
        ("status", text()),
        ("sentence", text()),
    ];
    add("vote", object(&vote, &[("result", json!(true)), ("failure", json!(true))]));
    let kind = [("name", text()), ("type", text()), ("title", text()), ("description", text())];
    add("type", object(&kind, &[]));
    let member =
        [("member", text()), ("isRequired", yes_or_no()), ("takes", text()), ("description", text())];
    let more = [("members", list(&object(&member, &[]))), ("parameters", json!(true))];
    let members: Vec<_> = kind.into_iter().chain(more).collect();
    add("typeMembers", object(&members, &[]));
    of_log(all);
    of_files(all);
}

/// Adds what commands report about the activity log.
fn of_log(all: &mut Map<String, Value>) {
    let mut add = |noun: &str, schema| all.insert(noun.to_owned(), schema);
    let log = [
        ("organizationId", text()),
        ("log", text()),
        ("entries", number()),
        ("root", text()),
        ("knownEntries", or_null(&number())),
    ];
    add("acceptedLog", object(&log, &[]));
    let contradicted = [
        ("organizationId", text()),
        ("contradiction", text()),
        ("known", json!(true)),
        ("stated", json!(true)),
    ];
    add("contradictedLog", object(&contradicted, &[]));
    let more = [
        ("verifierKey", text()),
        ("newestAt", time()),
        ("restoredAt", or_null(&time())),
        ("entriesBeforeRestore", or_null(&number())),
        ("entry", or_null(&number())),
    ];
    add("log", object(&log.into_iter().chain(more).collect::<Vec<_>>(), &[]));
}

/// Adds what the user's own files hold, and what commands report about this program.
fn of_files(all: &mut Map<String, Value>) {
    let mut add = |noun: &str, schema| all.insert(noun.to_owned(), schema);
    let key = [("curve", text()), ("publicKey", text()), ("comment", text()), ("error", text())];
    add("key", object(&[("name", text())], &key));
    add("registration", object(&[("authenticators", list(&json!(true)))], &[]));
    let known = [
        ("organizationId", text()),
        ("userId", text()),
        ("userName", or_null(&text())),
        ("publicKey", text()),
        ("firstSeenAt", time()),
        ("confirmed", yes_or_no()),
    ];
    add("knownKey", object(&known, &[("only", text())]));
    add(
        "address",
        object(
            &[("chain", text()), ("address", text()), ("name", text()), ("addedAt", time())],
            &[("decimals", number())],
        ),
    );
    add("credential", credential());
    let selected = |name| (name, or_null(&text()));
    let context = [
        ("name", text()),
        ("current", yes_or_no()),
        selected("socket"),
        selected("url"),
        selected("pin"),
        selected("caFile"),
        selected("organization"),
        selected("user"),
        selected("key"),
    ];
    add("context", object(&context, &[]));
    add("setting", object(&[("name", text()), selected("value"), ("origin", text())], &[]));
    add(
        "finding",
        object(&[("code", text()), ("level", text()), ("finding", text()), ("advice", text())], &[]),
    );
    let event = [
        ("organizationId", text()),
        ("organizationName", text()),
        ("activityId", text()),
        ("status", text()),
        selected("type"),
        ("version", number()),
    ];
    add("event", object(&[("what", text()), ("receivedAt", time()), ("token", text())], &event));
    let identity = [
        selected("context"),
        ("socket", text()),
        ("transport", text()),
        ("mode", text()),
        ("organizationId", text()),
        ("organizationName", text()),
        ("pinned", yes_or_no()),
        selected("userId"),
        selected("userName"),
        ("root", yes_or_no()),
        selected("key"),
        selected("publicKey"),
    ];
    add("identity", object(&identity, &[]));
    let error = [("code", text()), ("exit", number()), ("message", text()), ("details", json!(true))];
    add("error", object(&[("error", object(&error, &[]))], &[]));
}

fn review() -> Vec<(&'static str, Value)> {
    let selected = |name| (name, or_null(&text()));
    let named = || list(&object(&[("name", text()), ("value", text())], &[]));
    let flag = object(&[("name", text()), ("level", text()), ("text", text())], &[]);
    let check = object(&[("id", text()), ("mark", text()), ("text", text())], &[]);
    let change = object(&[("label", text()), ("now", text()), ("after", text()), ("note", text())], &[]);
    let proposer = object(&[("userId", text()), ("publicKey", text()), ("stampedAt", or_null(&time()))], &[]);
    vec![
        selected("activityId"),
        selected("address"),
        selected("outlook"),
        ("organizationId", text()),
        ("organizationName", text()),
        ("organizationVersion", number()),
        selected("fingerprint"),
        ("statedFingerprint", text()),
        selected("type"),
        ("statedType", text()),
        ("status", text()),
        ("statusWord", text()),
        ("title", text()),
        ("sentence", text()),
        ("transfer", or_null(&transfer())),
        selected("risk"),
        ("flags", list(&flag)),
        ("checks", list(&check)),
        ("fields", named()),
        ("facts", named()),
        ("changes", list(&change)),
        ("unknownMembers", list(&text())),
        ("proposer", or_null(&proposer)),
        ("votes", votes()),
        selected("message"),
        ("withheld", list(&text())),
        ("failure", json!(true)),
        ("result", json!(true)),
        ("blocked", yes_or_no()),
        selected("approveRefusal"),
        selected("rejectRefusal"),
    ]
}

/// What a transaction moves. Amounts are in the smallest unit of the asset.
fn transfer() -> Value {
    let payment = [
        ("asset", text()),
        ("amount", text()),
        ("text", text()),
        ("to", text()),
        ("recipient", text()),
        ("isKnown", yes_or_no()),
        ("isAllowance", yes_or_no()),
    ];
    let line = object(&[("label", text()), ("text", text())], &[]);
    let members = [
        ("headline", text()),
        ("from", text()),
        ("payments", list(&object(&payment, &[]))),
        ("lines", list(&line)),
    ];
    object(&members, &[])
}

fn votes() -> Value {
    let cast = [
        ("userId", text()),
        ("userName", or_null(&text())),
        ("selection", text()),
        ("publicKey", text()),
        ("castAt", or_null(&time())),
        ("signed", yes_or_no()),
        ("counts", yes_or_no()),
        ("expired", yes_or_no()),
        ("error", or_null(&text())),
        ("keyConfirmed", yes_or_no()),
        ("attested", json!(true)),
    ];
    object(
        &[
            ("counted", list(&text())),
            ("needed", number()),
            ("resumesWith", json!(true)),
            ("openTo", list(&text())),
            ("rule", or_null(&text())),
            ("reason", or_null(&text())),
            ("policyEvaluations", json!(true)),
            ("expiresAt", or_null(&time())),
            ("cast", list(&object(&cast, &[]))),
        ],
        &[],
    )
}

fn credential() -> Value {
    let mail = object(&[("state", text()), ("at", time())], &[("answer", or_null(&text()))]);
    let back = object(&[("at", time()), ("counter", number()), ("after", number())], &[]);
    let revocation = object(&[("type", text()), ("parameters", json!(true))], &[]);
    object(
        &[
            ("user", text()),
            ("userId", or_null(&text())),
            ("kind", text()),
            ("name", text()),
            ("id", text()),
            ("material", text()),
            ("addedAt", or_null(&time())),
            ("lastUsedAt", or_null(&time())),
            ("counterWentBack", or_null(&back)),
            ("mail", or_null(&mail)),
            ("expiresAt", or_null(&time())),
            ("remainingMillis", or_null(&number())),
            ("revocation", or_null(&revocation)),
        ],
        &[],
    )
}

fn text() -> Value {
    json!({"type": "string"})
}

fn time() -> Value {
    json!({"type": "string", "format": "date-time", "description": "Time in UTC (RFC 3339)."})
}

fn number() -> Value {
    json!({"type": "integer"})
}

fn yes_or_no() -> Value {
    json!({"type": "boolean"})
}

fn list(items: &Value) -> Value {
    json!({"type": "array", "items": items})
}

fn or_null(schema: &Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

/// Returns an object with members that are always there, and others.
fn object(always: &[(&str, Value)], sometimes: &[(&str, Value)]) -> Value {
    let members = always.iter().chain(sometimes).map(|(name, schema)| ((*name).to_owned(), schema.clone()));
    let required: Vec<&str> = always.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": members.collect::<Map<_, _>>(), "required": required})
}

/// Returns a schema with more members.
fn with(schema: &Value, more: &[(&str, Value)]) -> Value {
    json!({"allOf": [schema, object(more, &[])]})
}

/// Returns a schema of the wire as [`crate::published`] prints its values.
fn published(schema: Value) -> Value {
    match schema {
        Value::Object(members) => {
            let is_time = |name: &str| time_name(name).is_some();
            let members = members.into_iter().map(|(name, value)| match (name.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    let properties = properties.into_iter().map(|(name, value)| match time_name(&name) {
                        Some(short) if is_nullable(&value) => (short, or_null(&time())),
                        Some(short) => (short, time()),
                        None => (name, published(value)),
                    });
                    (name, Value::Object(properties.collect()))
                }
                ("required", Value::Array(names)) => {
                    let names = names.into_iter().map(|one| match one.as_str() {
                        Some(text) if is_time(text) => json!(time_name(text)),
                        _ => one,
                    });
                    (name, Value::Array(names.collect()))
                }
                (_, value) => (name, published(value)),
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(published).collect()),
        other => other,
    }
}

fn is_nullable(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_array).is_some_and(|types| types.contains(&json!("null")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use super::*;

    /// Returns all references of a schema.
    fn references(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_noun_and_every_reference_is_defined() {
        let schema = schema();
        let definitions = schema["$defs"].as_object().unwrap();
        for (noun, _) in NOUNS {
            assert!(definitions.contains_key(noun), "{noun}");
        }
        let mut found = Vec::new();
        references(&schema, &mut found);
        assert!(!found.is_empty());
        for reference in found {
            let name = reference.strip_prefix("#/$defs/").unwrap();
            assert!(definitions.contains_key(name), "{reference}");
        }
    }

    #[test]
    fn no_time_is_a_number() {
        let text = schema().to_string();
        assert!(!text.contains("AtMillis\"") && !text.contains("ueMillis\""), "a time in milliseconds");
        assert!(text.contains("\"lastUsedAt\""));
    }
}
