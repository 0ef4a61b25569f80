//! What happens to messages after they were queued, with a mail server that delays, rejects and disconnects, and how
//! clients and operators see it. Kills lose no mail and send none twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use quorate_tests::caller::Caller;
use quorate_tests::daemon::{Daemon, Options, POLL_INTERVAL};
use quorate_tests::http::TIMEOUT;
use quorate_tests::installation::Installation;
use quorate_tests::keys::Key;
use quorate_tests::mailbox::{Mail, Mailbox, Security};
use quorate_tests::operator::Operator;
use quorate_tests::requests;
use serde_json::{Value, json};
use std::time::Instant;
use turnkey_client::generated::services::coordinator::public::v1::ListEmailEventsResponse;

const INIT: &str = "ACTIVITY_TYPE_INIT_OTP";

async fn enable_mail(root: &Caller) {
    let feature = json!({"name": "FEATURE_NAME_OTP_EMAIL_AUTH"});
    root.completed("ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE", &feature).await;
}

/// Requests a code by mail, and returns the id of the activity.
async fn request(root: &Caller, contact: &str) -> String {
    let sent = root.completed(INIT, &json!({"otpType": "OTP_TYPE_EMAIL", "contact": contact})).await;
    sent["id"].as_str().expect("an id").to_owned()
}

async fn events(root: &Caller, contact: &str) -> Vec<Value> {
    let listed = root.fetch("list_email_events", json!({"email": contact})).await;
    // The types of the published client require almost all members.
    serde_json::from_value::<ListEmailEventsResponse>(listed.clone()).expect("the client reads the answer");
    listed["emailEvents"].as_array().expect("a list").clone()
}

/// Waits until the newest event of a contact has this type, and returns all of its events.
async fn until(root: &Caller, contact: &str, event_type: &str) -> Vec<Value> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let events = events(root, contact).await;
        if events.first().is_some_and(|newest| newest["eventType"] == event_type) {
            return events;
        }
        assert!(Instant::now() < deadline, "no {event_type} in time: {events:#?}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["eventType"].as_str().expect("a type")).collect()
}

fn code(mail: &Mail) -> &str {
    mail.text.lines().find_map(|line| line.strip_prefix("    ")).expect("a code").trim_end()
}

#[tokio::test]
async fn delays_bounces_and_deliveries_are_listed() {
    // The third server quotes the whole mail in its answer, as some filters do.
    let mailbox = Mailbox::answering(&["451 4.7.1 come back later", "drop", "550 5.7.1 spam: {text}"]);
    let daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let root = daemon.root(0);
    enable_mail(&root).await;
    let activity = request(&root, "bob@example.org").await;
    let mails: Vec<Mail> = (0..3).map(|_| mailbox.next()).collect();
    let bounced = until(&root, "bob@example.org", "Bounce").await;
    assert_eq!(types(&bounced), ["Bounce", "DeliveryDelay", "DeliveryDelay", "Send"]);
    let details = |index: usize, name: &str| bounced[index]["details"][name].as_str().expect("a text");
    assert_eq!(details(2, "diagnosticCode"), "smtp; 451 4.7.1 come back later");
    assert_eq!(details(2, "deliveryDelayType"), "General");
    assert_eq!(details(1, "deliveryDelayType"), "TransientCommunicationFailure");
    assert_eq!((details(0, "bounceType"), details(0, "bounceSubType")), ("Permanent", "General"));
    let diagnostic = details(0, "diagnosticCode");
    assert!(diagnostic.starts_with("smtp; 550 5.7.1 spam: "), "{diagnostic}");
    assert!(diagnostic.contains("[redacted]") && !diagnostic.contains(code(&mails[2])), "{diagnostic}");

    let warnings: Vec<String> = daemon
        .log()
        .lines()
        .filter(|line| line.contains("did not accept a mail"))
        .map(str::to_owned)
        .collect();
    let [_, _, bounce] = warnings.as_slice() else { panic!("{warnings:#?}") };
    for named in [&format!("activity=\"{activity}\""), "domain=\"example.org\"", "status=550"] {
        assert!(bounce.contains(named), "{named} is missing in {bounce}");
    }
    assert!(!daemon.log().contains("bob@example.org"), "the log contains no address");
    let metrics = root.call(hyper::Method::GET, "/metrics", &[], b"").await;
    let metrics = String::from_utf8_lossy(&metrics.body).into_owned();
    for (outcome, count) in [("queued", 1), ("delayed", 2), ("bounced", 1)] {
        let line = format!("quorate_messages_total{{channel=\"mail\",outcome=\"{outcome}\"}} {count}\n");
        assert!(metrics.contains(&line), "{line} is missing in {metrics}");
    }

    // All attempts are the same mail, and the bounced mail is not sent again before or after the next one.
    request(&root, "ann@example.org").await;
    let delivered = until(&root, "ann@example.org", "Delivery").await;
    assert_eq!(types(&delivered), ["Delivery", "Send"]);
    assert_eq!(delivered[0]["details"]["deliverySmtpResponse"], "250 2.0.0 OK: queued as 4");
    let millis = delivered[0]["details"]["deliveryProcessingTimeMillis"].as_str().expect("a number");
    assert!(millis.parse::<u64>().is_ok(), "{millis}");
    assert_eq!((mailbox.next().to, mailbox.accepted()), (vec!["ann@example.org".to_owned()], 1));
    for mail in &mails {
        assert_eq!(mail.to, ["bob@example.org"]);
        assert_eq!(mail.message_id, format!("<{activity}.0@localhost.localdomain>"));
    }
    for event in &bounced {
        assert_eq!(event["messageId"], format!("{activity}.0"));
        assert_eq!(
            (&event["toAddress"], &event["fromAddress"]),
            (&json!("bob@example.org"), &json!("quorate@localhost.localdomain"))
        );
    }
    // A bounce ends the mail, also for a daemon that starts again.
    assert_eq!(types(&events(&root, "bob@example.org").await).len(), 4);

    let operator = Operator::root(&daemon, 0);
    let listed = operator.run(&["messages", "ls"]).await.with(0).lines();
    let states: Vec<(&str, &str)> = listed
        .iter()
        .map(|one| (one["toAddress"].as_str().unwrap(), one["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("ann@example.org", "delivered"), ("bob@example.org", "bounced")]);
    let bounced = operator.run(&["messages", "ls", "--state", "bounced"]).await.with(0).lines();
    assert_eq!(bounced, listed[1..]);
    let shown = json!(listed).to_string() + &daemon.log();
    assert!(mails.iter().all(|mail| !shown.contains(code(mail))), "a code is shown");
}

#[tokio::test]
async fn a_killed_daemon_loses_no_mail_and_sends_none_twice() {
    let contacts: Vec<String> = (0..8).map(|number| format!("user{number}@example.org")).collect();
    // No mail is accepted before the last kill, so each kill is between queueing and delivery.
    let mailbox = Mailbox::closed();
    let mut daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    enable_mail(&daemon.root(0)).await;
    let mut sent = BTreeMap::new();
    for (number, contact) in contacts.iter().enumerate() {
        sent.insert(contact.clone(), request(&daemon.root(0), contact).await);
        // Some are killed before the first attempt, some after it.
        if number % 2 == 0 {
            until(&daemon.root(0), contact, "DeliveryDelay").await;
        }
        daemon.kill();
        daemon.restart().await;
    }
    mailbox.open();
    let root = daemon.root(0);
    for contact in &contacts {
        let events = until(&root, contact, "Delivery").await;
        let types = types(&events);
        assert_eq!((types[0], types[types.len() - 1]), ("Delivery", "Send"), "{contact}");
        assert!(
            types[1..types.len() - 1].iter().all(|kind| *kind == "DeliveryDelay"),
            "{contact}: {types:?}"
        );
    }
    let mut accepted = BTreeMap::new();
    while accepted.len() < contacts.len() {
        let mail = mailbox.next();
        if !mail.refused {
            let before = accepted.insert(mail.to[0].clone(), mail.message_id.clone());
            assert_eq!(before, None, "{} got a mail twice", mail.to[0]);
        }
    }
    assert_eq!(mailbox.accepted(), contacts.len());
    for (contact, activity) in sent {
        assert_eq!(accepted[&contact], format!("<{activity}.0@localhost.localdomain>"));
    }
}

/// Creates a sub-organization, and returns its root user.
async fn tenant(root: &Caller, name: &str) -> Caller {
    let key = Key::named(name);
    let users = [requests::root_user("root", &key)];
    let id = requests::create_sub_organization(root, name, &users, 1).await;
    root.with_key(&key).on(&id)
}

#[tokio::test]
async fn a_domain_that_does_not_answer_delays_its_own_mail_only() {
    let mailbox = Mailbox::answering(&[]);
    let mut daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let root = daemon.root(0);
    enable_mail(&root).await;
    // Users of one sub-organization may send 16 messages within three minutes.
    let mut noisy = Vec::new();
    for number in 0..4 {
        noisy.push(tenant(&root, &format!("noisy{number}")).await);
    }
    let quiet = tenant(&root, "quiet").await;
    let hanging: Vec<String> = (0..60)
        .map(|number| format!("user{number}@{}hangs.example", if number % 2 == 0 { "" } else { "mail." }))
        .collect();
    for (caller, contacts) in noisy.iter().zip(hanging.chunks(15)) {
        for contact in contacts {
            request(caller, contact).await;
        }
    }
    // Neither another domain of the same organization waits, nor another organization.
    for (caller, contact) in
        [(&noisy[0], "ann@example.org"), (&quiet, "bob@example.net"), (&root, "eve@example.com")]
    {
        request(caller, contact).await;
        assert_eq!(mailbox.next().to, [contact]);
    }
    assert_eq!(mailbox.accepted(), 3);
    // A kill while several mails are being sent loses none. Each is sent twice at most.
    daemon.kill();
    mailbox.open();
    daemon.restart().await;
    let mut arrived: BTreeMap<String, usize> = BTreeMap::new();
    // One of the three that were accepted may arrive again, since its outcome may not have been recorded.
    while !hanging.iter().all(|contact| arrived.contains_key(contact)) {
        *arrived.entry(mailbox.next().to[0].clone()).or_default() += 1;
    }
    assert!(
        hanging.iter().all(|contact| arrived.get(contact).is_some_and(|count| *count <= 2)),
        "{arrived:?}"
    );
    let contact = hanging.last().expect("a contact");
    until(&daemon.root(0), contact, "Delivery").await;
}

#[tokio::test]
async fn a_code_that_expired_while_the_server_was_down_is_not_sent() {
    let mailbox = Mailbox::closed();
    let daemon = Daemon::start(Options::quorum(1, 1).with_mail(mailbox.url())).await;
    let root = daemon.root(0);
    enable_mail(&root).await;
    let short = json!({"otpType": "OTP_TYPE_EMAIL", "contact": "bob@example.org", "expirationSeconds": "1"});
    root.completed(INIT, &short).await;
    let expired = until(&root, "bob@example.org", "Bounce").await;
    let details = &expired[0]["details"];
    assert_eq!(
        (&details["bounceType"], &details["diagnosticCode"]),
        (&json!("Transient"), &json!("x-quorate; expired before the server took it"))
    );
    mailbox.open();
    request(&root, "ann@example.org").await;
    until(&root, "ann@example.org", "Delivery").await;
    assert_eq!(mailbox.accepted(), 1);
    let operator = Operator::root(&daemon, 0);
    let listed = operator.run(&["messages", "ls", "--state", "expired"]).await.with(0).lines();
    assert_eq!((listed.len(), &listed[0]["toAddress"]), (1, &json!("bob@example.org")));
}

#[tokio::test]
async fn an_outage_of_the_server_is_reported_until_it_ends() {
    // Nobody listens on the port.
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("a port").port();
    let daemon = Daemon::start(Options::quorum(1, 1).with_mail(format!("smtp://127.0.0.1:{port}"))).await;
    let root = daemon.root(0);
    enable_mail(&root).await;
    request(&root, "ann@example.org").await;
    until(&root, "ann@example.org", "DeliveryDelay").await;
    let since = mail_figures(&daemon).await["unavailableSince"].clone();
    assert!(since.is_object(), "{since}");
    // The same is reported between attempts and while one is made.
    let metric = "quorate_messages_total{channel=\"mail\",outcome=\"delayed\"} 3";
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let figures = mail_figures(&daemon).await;
        assert_eq!((&figures["waiting"], &figures["unavailableSince"]), (&json!(1), &since), "{figures}");
        let metrics =
            daemon.http().exchange(b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        if metrics.contains(metric) {
            break;
        }
        assert!(Instant::now() < deadline, "no third attempt in time: {metrics}");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let found = Operator::root(&daemon, 0).run(&["doctor"]).await.with(7).lines();
    let finding = found.iter().find(|one| one["code"] == "mail-unavailable").expect("a finding");
    assert_eq!(finding["level"], "problem", "{finding}");
}

async fn mail_figures(daemon: &Daemon) -> Value {
    let mut connection = daemon.socket().connect().await.expect("a connection");
    let reply = connection.call(hyper::Method::GET, "/console/v1/health", &[], b"").await.expect("an answer");
    reply.success()["mail"].clone()
}

/// Creates a certificate authority, and a certificate for localhost.
fn create_certificates(folder: &Path) {
    let openssl = |arguments: &[&str]| {
        let run =
            Command::new("openssl").args(arguments).current_dir(folder).output().expect("openssl can be run");
        assert!(run.status.success(), "{run:?}");
    };
    let ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
    let ca = ["req", "-x509", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test authority"];
    openssl(&[&ca[..], &ec].concat());
    let more =
        ["req", "-x509", "-CA", "ca.pem", "-CAkey", "ca.key", "-keyout", "server.key", "-out", "server.pem"];
    let names = [
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ];
    openssl(&[&more[..], &ec, &names].concat());
}

#[tokio::test]
async fn mail_is_sent_after_starttls_and_a_login() {
    const NAME: &str = "operators";
    let installation = Installation::new("file = \"root.key\"");
    let folder = installation.path("");
    create_certificates(&folder);
    let (certificate, key) = (installation.path("server.pem"), installation.path("server.key"));
    let security =
        Security { certificate: &certificate, key: &key, user: "quorate", password: "right password" };
    let mailbox = Mailbox::secured(security);
    let configuration = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    installation.configure(&format!(
        "{configuration}\n[mail]\nserver = \"smtp://localhost:{}\"\nfrom = \"Quorate <quorate@example.org>\"\n\
         username = \"quorate\"\npassword_file = \"password\"\n",
        mailbox.port()
    ));
    let root_key = Key::named(NAME);
    let id = installation.create_organization(NAME, &root_key).await;
    let authority = installation.path("ca.pem").display().to_string();
    let trust = [("SSL_CERT_FILE", authority.as_str())];
    let start = async |password: &str, trust: &[(&str, &str)]| {
        installation.write_secret("password", password);
        let running = installation.serve_with(trust).await;
        let root = running.caller(&id, root_key.clone());
        (running, root)
    };
    // A server whose certificate is not trusted gets nothing, and a wrong password delays the mail.
    let (running, root) = start("right password", &[]).await;
    enable_mail(&root).await;
    request(&root, "ann@example.org").await;
    let delayed = until(&root, "ann@example.org", "DeliveryDelay").await;
    assert_eq!(delayed[0]["details"]["deliveryDelayType"], "TransientCommunicationFailure", "{delayed:#?}");
    drop(running);
    let (running, root) = start("wrong password", &trust).await;
    request(&root, "bob@example.org").await;
    let delayed = until(&root, "bob@example.org", "DeliveryDelay").await;
    let diagnostic = delayed[0]["details"]["diagnosticCode"].as_str().expect("a text");
    assert!(diagnostic.starts_with("smtp; 535 "), "{diagnostic}");
    assert_eq!(mailbox.accepted(), 0);
    drop(running);
    let (_running, root) = start("right password", &trust).await;
    for contact in ["ann@example.org", "bob@example.org"] {
        until(&root, contact, "Delivery").await;
        let mail = mailbox.next();
        assert_eq!((mail.tls, mail.login.as_deref()), (true, Some("quorate")));
    }
    assert_eq!(mailbox.accepted(), 2);
}

#[tokio::test]
async fn a_mail_server_without_starttls_is_reported_as_such() {
    let installation = Installation::new("file = \"root.key\"");
    let mailbox = Mailbox::start(0);
    let configuration = std::fs::read_to_string(installation.path("quorated.toml")).expect("a configuration");
    installation.configure(&format!(
        "{configuration}\n[mail]\nserver = \"{}\"\nfrom = \"Quorate <quorate@example.org>\"\n",
        mailbox.url()
    ));
    let root_key = Key::named("root");
    let id = installation.create_organization("team", &root_key).await;
    let running = installation.serve().await;
    let root = running.caller(&id, root_key.clone());
    enable_mail(&root).await;
    request(&root, "ann@example.org").await;
    let delayed = until(&root, "ann@example.org", "DeliveryDelay").await;
    let diagnostic = delayed[0]["details"]["diagnosticCode"].as_str().expect("a text");
    let reason =
        "the mail server does not offer STARTTLS: use smtps:// in mail.server, or set mail.allow_plain";
    assert!(diagnostic.contains(reason), "{diagnostic}");
}
