//! The JSON of every command that lists or shows something: it is as `quorate schema` describes it, and the schema is
//! that of `assets/commands.schema.json`. `BLESS=1` rewrites the file.

use std::fs;
use std::process::Command;
use std::time::Instant;

use quorate_tests::book;
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL};
use quorate_tests::http::TIMEOUT;
use quorate_tests::keys::Key;
use quorate_tests::operator::Operator;
use quorate_tests::paths;
use quorate_tests::receiver::{Answer, Delivery, Receiver};
use quorate_tests::requests::{self, CREATE_WALLET};
use serde_json::{Value, json};

const FILE: &str = "assets/commands.schema.json";

/// Reports how a value differs from a schema. A member that the schema does not describe is a difference, too.
fn differences(root: &Value, schemas: &[&Value], value: &Value, path: &str, found: &mut Vec<String>) {
    let mut all = Vec::new();
    for schema in schemas {
        expand(root, schema, value, &mut all);
    }
    if all.iter().any(|schema| **schema == json!(true) || is_open(schema)) {
        return;
    }
    for schema in &all {
        if !has_type(schema, value) {
            found.push(format!("{path}: expected {}, found {value}", schema["type"]));
        }
        if schema["format"] == "date-time" && !is_time(value) {
            found.push(format!("{path}: not a time: {value}"));
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            if value.get(name.as_str().expect("a name")).is_none() {
                found.push(format!("{path}: {name} is missing"));
            }
        }
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let described: Vec<&Value> = all.iter().filter_map(|schema| schema["properties"].get(name)).collect();
        let others: Vec<&Value> =
            all.iter().filter_map(|schema| schema.get("additionalProperties")).collect();
        match (described.is_empty(), others.is_empty()) {
            (true, true) => found.push(format!("{path}.{name}: not described")),
            (true, false) => differences(root, &others, member, &format!("{path}.{name}"), found),
            _ => differences(root, &described, member, &format!("{path}.{name}"), found),
        }
    }
    for item in value.as_array().into_iter().flatten() {
        let items: Vec<&Value> = all.iter().filter_map(|schema| schema.get("items")).collect();
        differences(root, &items, item, &format!("{path}[]"), found);
    }
}

/// Adds the schemas that together describe a value: references are followed, and of alternatives the first that fits.
fn expand<'a>(root: &'a Value, schema: &'a Value, value: &Value, all: &mut Vec<&'a Value>) {
    all.push(schema);
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").expect("a definition");
        expand(root, &root["$defs"][name], value, all);
    }
    for one in schema["allOf"].as_array().into_iter().flatten() {
        expand(root, one, value, all);
    }
    for alternatives in ["anyOf", "oneOf"] {
        let fits = |one: &&Value| {
            let mut found = Vec::new();
            differences(root, &[one], value, "", &mut found);
            found.is_empty()
        };
        if let Some(options) = schema[alternatives].as_array() {
            let chosen = options.iter().find(fits).or_else(|| options.first());
            expand(root, chosen.expect("an alternative"), value, all);
        }
    }
}

/// Returns whether a schema describes a value only as something.
fn is_open(schema: &Value) -> bool {
    schema.as_object().is_some_and(|members| {
        members.keys().all(|name| ["title", "description", "default"].contains(&name.as_str()))
            || members.get("additionalProperties") == Some(&json!(true))
    })
}

fn has_type(schema: &Value, value: &Value) -> bool {
    if let Some(values) = schema["enum"].as_array() {
        return values.contains(value);
    }
    if let Some(constant) = schema.get("const") {
        return constant == value;
    }
    let is = |name: &str| match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => value.is_null(),
    };
    match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => true,
    }
}

/// Returns whether a value is a time in UTC (RFC 3339).
fn is_time(value: &Value) -> bool {
    let pattern = "dddd-dd-ddTdd:dd:dd";
    value.as_str().is_some_and(|text| {
        let (time, rest) = text.split_at_checked(pattern.len()).unwrap_or_default();
        let is_like = |(letter, wanted): (char, char)| {
            if wanted == 'd' { letter.is_ascii_digit() } else { letter == wanted }
        };
        time.chars().zip(pattern.chars()).all(is_like)
            && time.len() == pattern.len()
            && rest.ends_with('Z')
            && rest
                .trim_end_matches('Z')
                .trim_start_matches('.')
                .chars()
                .all(|letter| letter.is_ascii_digit())
    })
}

/// Checks that values which differ from the schema are found.
fn check_wrong_values(schema: &Value) {
    let wrong = [
        json!({"name": "a"}),
        json!({"name": 1, "value": null, "origin": ""}),
        json!({"name": "a", "value": null, "origin": "", "more": 1}),
    ];
    for value in wrong {
        let mut found = Vec::new();
        differences(schema, &[&schema["$defs"]["setting"]], &value, "setting", &mut found);
        assert!(!found.is_empty(), "{value} is not a setting");
    }
}

#[tokio::test]
async fn the_output_of_commands_is_as_the_schema_describes_it() {
    let daemon = Daemon::start(Options::demo()).await;
    let bob = Operator::root(&daemon, 1);
    let schema = bob.run_raw(&["schema"], "").await.with(0).output;
    if std::env::var_os("BLESS").is_some() {
        fs::write(book::root().join(FILE), &schema).expect("the schema can be written");
    }
    let golden = fs::read_to_string(book::root().join(FILE)).expect("the schema can be read");
    assert!(golden == schema, "{FILE} is not current; BLESS=1 rewrites it, and read the difference");
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    check_wrong_values(&schema);

    bob.configure("[contexts.here]\nuser = \"jo\"\n");
    drop(bob.run_raw(&["key", "add", "laptop"], "correct horse battery\n").await.with(0));
    let address = "0x9858EfFD232B4033E47d90003D41EC34EcaEda94";
    drop(bob.run_raw(&["book", "add", "ethereum", address, "cold"], "").await.with(0));
    let waiting = bob.run(&["approvals", "ls"]).await.with(0).lines();
    let one = waiting.iter().find(|row| row["risk"] != "HIGH").expect("an activity").clone();
    let text = |name: &str| one[name].as_str().expect("a text").to_owned();
    let (id, fingerprint) = (text("activityId"), text("fingerprint"));
    let wallets = bob.run(&["wallet", "ls"]).await.with(0).lines();
    let wallet = wallets[0]["walletName"].as_str().expect("a name").to_owned();
    let wallet_id = wallets[0]["walletId"].as_str().expect("an id").to_owned();
    let here = format!("quorate://{}", daemon.credentials().organization_id);
    assert_eq!(text("address"), format!("{here}/activity/{id}"));
    let approve = ["approve", &id, "--expect-sha256", &fingerprint];
    let commands: [(&str, &[&str]); 31] = [
        ("organization", &["org", "ls"]),
        ("organizationDetail", &["org", "get"]),
        ("credential", &["user", "ls"]),
        ("wallet", &["wallet", "ls"]),
        ("walletDetail", &["wallet", "get", &wallet]),
        ("policy", &["policy", "ls"]),
        ("activity", &["activity", "ls"]),
        ("approval", &["approvals", "ls"]),
        ("review", &["review", &id]),
        ("review", &["activity", "get", &id]),
        ("vote", &approve),
        ("review", &["activity", "wait", &id]),
        ("type", &["propose", "--list"]),
        ("typeMembers", &["propose", "create-wallet", "--schema"]),
        ("key", &["key", "ls"]),
        ("knownKey", &["known-keys", "ls"]),
        ("address", &["book", "ls"]),
        ("decision", &["journal", "ls"]),
        ("log", &["log", "verify"]),
        ("context", &["context", "ls"]),
        ("context", &["context", "use", "here"]),
        ("setting", &["config", "show"]),
        ("finding", &["doctor"]),
        ("identity", &["whoami"]),
        ("status", &["status"]),
        ("review", &["open", &format!("{here}/activity/{id}")]),
        ("organizationDetail", &["open", &here]),
        ("walletDetail", &["open", &format!("{here}/wallet/{wallet_id}")]),
        ("credential", &["open", &format!("{here}/user/{}", daemon.root_id(0))]),
        ("error", &["open", "quorate://nonsense"]),
        ("error", &["review", "nonsense"]),
    ];
    for (noun, words) in commands {
        let run = bob.run(words).await;
        let code = if noun == "error" { 2 } else { 0 };
        let lines = if words[0] == "doctor" { run.lines() } else { run.with(code).lines() };
        assert!(!lines.is_empty(), "{words:?} prints something");
        check(&schema, noun, &lines);
    }
    // At a URL, operators' figures are left out.
    let far = Operator::root(&daemon, 1).with_arguments(&["--url", &format!("http://{}", daemon.address())]);
    let status = far.run(&["status"]).await.with(0).lines();
    assert_eq!(status[0]["transport"], "HTTP on this host", "{status:#?}");
    check(&schema, "status", &status);
}

/// Checks that each of these objects is as the schema describes a noun.
fn check(schema: &Value, noun: &str, lines: &[Value]) {
    assert!(schema["$defs"][noun].is_object(), "{noun} is not in the schema");
    for line in lines {
        let mut found = Vec::new();
        differences(schema, &[&schema["$defs"][noun]], line, noun, &mut found);
        assert!(found.is_empty(), "{noun}: {found:#?}\n{line:#}");
    }
}

#[tokio::test]
async fn the_output_about_webhooks_is_as_the_schema_describes_it() {
    let (daemon, receiver) = (Daemon::start(Options::quorum(1, 1)).await, Receiver::start().await);
    let (root, operator) = (daemon.root(0), Operator::root(&daemon, 0));
    let schema = operator.run_raw(&["schema"], "").await.with(0).output;
    let schema: Value = serde_json::from_str(&schema).expect("the schema is JSON");
    let lines = async |words: &[&str], code: i32| {
        let mut all = vec!["webhook"];
        all.extend(words);
        operator.run(&all).await.with(code).lines()
    };
    let endpoint = json!({"name": "ops", "url": receiver.url("/ops"),
        "subscriptions": [{"eventType": "ACTIVITY_UPDATES"}]});
    root.result("ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT", &endpoint).await;
    // One delivery waits after its first attempt.
    receiver.answer(Answer::Status(503));
    let activity = root.completed(CREATE_WALLET, &requests::wallet("late")).await;
    let activity = activity["id"].as_str().expect("an id");
    let posted = |posted: &[Delivery]| posted.iter().any(|one| one.body["id"] == activity);
    receiver.until("an attempt", posted).await;
    let deadline = Instant::now() + TIMEOUT;
    let deliveries = loop {
        let found = lines(&["deliveries", "ops"], 0).await;
        let has =
            |state: &str| found.iter().any(|one| one["state"] == state && one["activityId"] == activity);
        if has("waiting") && has("failed") {
            break found;
        }
        assert!(Instant::now() < deadline, "{found:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    };
    check(&schema, "delivery", &deliveries);
    let waiting = deliveries.iter().find(|one| one["state"] == "waiting").expect("a delivery");
    assert!(is_time(&waiting["dueAt"]), "{waiting:#}");
    let receivers = lines(&["ls"], 0).await;
    assert!(is_time(&receivers[0]["countedSince"]) && is_time(&receivers[0]["nextDueAt"]), "{receivers:#?}");
    check(&schema, "webhook", &receivers);
    check(&schema, "testedWebhook", &lines(&["test", "ops"], 1).await);
    receiver.answer(Answer::Status(200));
    loop {
        // An attempt may be under way.
        let retried = operator.run(&["webhook", "retry", "ops", activity]).await;
        if retried.code == 0 {
            check(&schema, "retriedDelivery", &retried.lines());
            break;
        }
        check(&schema, "error", &retried.lines());
        assert!(Instant::now() < deadline, "{retried:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

#[tokio::test]
async fn lists_have_a_header_a_summary_and_names() {
    let daemon = Daemon::start(Options::demo()).await;
    let bob = Operator::root(&daemon, 1);
    let plain = async |words: &[&str]| {
        let identity = bob.identity();
        let all: Vec<&str> = identity.iter().map(String::as_str).chain(words.iter().copied()).collect();
        bob.run_raw(&all, "").await.with(0)
    };
    let listed = plain(&["org", "ls"]).await.output;
    let lines: Vec<&str> = listed.lines().collect();
    assert!(lines[0].starts_with("NAME") && lines[0].ends_with("REGISTERED"), "{listed}");
    assert_eq!(lines[2], "1 organization", "{listed}");
    let wide = plain(&["org", "ls", "-o", "wide"]).await.output;
    assert!(wide.lines().next().is_some_and(|header| header.ends_with("PARENT")), "{wide}");
    let id = daemon.credentials().organization_id.as_str();
    assert_eq!(plain(&["org", "ls", "-o", "name"]).await.output, format!("{id}\n"));
    let json = plain(&["org", "ls", "-o", "json"]).await.json();
    assert_eq!(json["organizationId"], id);
    // A list that is cut off states it, on standard error for scripts.
    let cut = plain(&["activity", "ls", "--limit", "1"]).await;
    assert!(cut.output.ends_with("1 activity; more exist: raise --limit\n"), "{cut:#?}");
    let cut = bob.run(&["activity", "ls", "--limit", "1"]).await.with(0);
    assert!(cut.lines().len() == 1 && cut.stderr.contains("raise --limit"), "{cut:#?}");
}

#[tokio::test]
async fn changes_are_watched() {
    let daemon = Daemon::start(Options::quorum(2, 3)).await;
    let bob = Operator::root(&daemon, 1);
    let changing = async {
        // The feed begins when the command is connected, so changes follow one another until it ends.
        for number in 0_u64.. {
            daemon.root(0).waiting(CREATE_WALLET, &requests::wallet(&format!("watched {number}"))).await;
        }
    };
    let watched = tokio::select! {
        watched = bob.run(&["watch", "--limit", "4"]) => watched.with(0).lines(),
        () = changing => Vec::new(),
    };
    assert_eq!(watched.len(), 4, "{watched:#?}");
    let schema = bob.run_raw(&["--json", "schema"], "").await.with(0).json();
    check(&schema, "event", &watched);
    let activity = watched.iter().find(|event| event["what"] == "ACTIVITY").expect("an activity");
    assert_eq!(
        (&activity["type"], &activity["organizationId"]),
        (&json!(CREATE_WALLET), &json!(daemon.credentials().organization_id))
    );
}

#[tokio::test]
async fn changes_of_sub_organizations_are_watched() {
    let daemon = Daemon::start(Options::quorum(1, 2)).await;
    let (root, client) = (daemon.root(0), Key::named("client"));
    let own = daemon.credentials().organization_id.as_str();
    let users = [requests::root_user("first", &client), requests::root_user("second", root.key())];
    let child = requests::create_sub_organization(&root, "client\u{202e} 1", &users, 2).await;
    let caller = root.with_key(&client).on(&child);
    let changing = async |name: &str| {
        for number in 0_u64.. {
            caller.waiting(CREATE_WALLET, &requests::wallet(&format!("{name} {number}"))).await;
        }
    };
    let bob = Operator::root(&daemon, 1);
    let watched = tokio::select! {
        watched = bob.run(&["watch", "--limit", "3"]) => watched.with(0).lines(),
        () = changing("json") => Vec::new(),
    };
    let schema = bob.run_raw(&["--json", "schema"], "").await.with(0).json();
    check(&schema, "event", &watched);
    assert_eq!(watched.len(), 3, "{watched:#?}");
    for event in &watched {
        assert_eq!(
            (&event["organizationId"], &event["organizationName"]),
            (&json!(child), &json!("client\u{202e} 1"))
        );
    }
    // As rows.
    let identity = bob.identity();
    let words: Vec<&str> = identity.iter().map(String::as_str).chain(["watch", "--limit", "2"]).collect();
    let rows = tokio::select! {
        rows = bob.run_raw(&words, "") => rows.with(0).output,
        () = changing("rows") => String::new(),
    };
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(
        rows.lines().all(|row| row.contains(&format!("client<U+202E> 1 {child}"))
            || row.contains(&format!("organization {child} client"))),
        "{rows}"
    );
    // A sub-organization has no changes of its parent.
    let reader = Operator::reading(&daemon.credentials().socket, &child);
    let both = async {
        for number in 0_u64.. {
            root.completed(CREATE_WALLET, &requests::wallet(&format!("own {number}"))).await;
            caller.waiting(CREATE_WALLET, &requests::wallet(&format!("both {number}"))).await;
        }
    };
    let watched = tokio::select! {
        watched = reader.run(&["watch", "--limit", "3"]) => watched.with(0).lines(),
        () = both => Vec::new(),
    };
    assert!(watched.len() == 3 && watched.iter().all(|event| event["organizationId"] != own), "{watched:#?}");
}

#[tokio::test]
async fn watching_continues_after_a_restart_of_the_daemon() {
    let mut daemon = Daemon::start(Options::quorum(2, 3)).await;
    let bob = Operator::root(&daemon, 1);
    let output = bob.home().join("output");
    let lines = || fs::read_to_string(&output).unwrap_or_default().lines().count();
    let changing = async {
        let mut number = 0_u64;
        let mut change = async |daemon: &Daemon| {
            number += 1;
            daemon.root(0).waiting(CREATE_WALLET, &requests::wallet(&format!("watched {number}"))).await;
        };
        while lines() == 0 {
            change(&daemon).await;
        }
        daemon.kill();
        daemon.restart().await;
        loop {
            change(&daemon).await;
        }
    };
    let watched = tokio::select! {
        watched = bob.run(&["watch", "--limit", "100"]) => watched.with(0),
        () = changing => unreachable!("changes never end"),
    };
    assert_eq!(watched.lines().len(), 100);
    assert!(watched.stderr.contains("connecting again in 1 s"), "{}", watched.stderr);
}

#[tokio::test]
async fn completions_and_manual_pages_are_made_from_the_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    for program in ["quorate", "quorated"] {
        let run = |words: &[&str]| {
            let output =
                Command::new(paths::program(program)).args(words).env("HOME", folder.path()).output();
            let output = output.expect("it can be started");
            assert!(output.status.success(), "{program} {words:?}: {output:#?}");
            String::from_utf8(output.stdout).expect("text")
        };
        for shell in ["bash", "zsh", "fish"] {
            assert!(run(&["completion", shell]).contains(program), "{program} {shell}");
        }
        let pages = folder.path().join(program);
        run(&["man", pages.to_str().expect("UTF-8")]);
        let page = fs::read_to_string(pages.join(format!("{program}.1"))).expect("a page");
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(folder.path().join("quorate/quorate-approvals-ls.1").exists());
    let json = Command::new(paths::program("quorate"))
        .args(["completion", "bash", "--json"])
        .env("HOME", folder.path())
        .output();
    let json: Value = serde_json::from_slice(&json.expect("it can be started").stdout).expect("JSON");
    assert!(json["script"].as_str().is_some_and(|script| script.contains("quorate")), "{json:#}");
}
